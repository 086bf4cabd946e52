package intentsim

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// The arguments of a deposit, in the order of Layout.At.
const (
	tokenWord = iota
	amountWord
	idWord
	deadlineWord
	arguments
)

// maxPadding limits the meaningless words of a deposit; there is at least one.
const maxPadding = 4

// A Layout is the calldata layout of a chain's deposit contract: its selector, the number
// of words and the positions of the arguments. The real one is not published, so only the
// contract and the simulator may know this one.
type Layout struct {
	Selector [4]byte
	Words    int
	At       [arguments]int // positions of token, amount, id and deadline
}

// reserved are selectors with another meaning for the contract or for readers of its
// calldata.
var reserved = [][]byte{
	selector("solver()"), selector("release(address,address,uint256)"),
	selector("approve(address,uint256)"), selector("transfer(address,uint256)"), selector("transferFrom(address,address,uint256)"),
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// NewLayout derives the layout of a chain's deposit contract from the seed, which differs
// in each run of the sandbox.
func NewLayout(seed, chainID uint64) Layout {
	r := rand.New(rand.NewPCG(seed, chainID))
	l := Layout{Words: arguments + 1 + r.IntN(maxPadding)}
	copy(l.At[:], r.Perm(l.Words))
	for {
		binary.BigEndian.PutUint32(l.Selector[:], r.Uint32())
		if !slices.ContainsFunc(reserved, func(taken []byte) bool { return [4]byte(taken) == l.Selector }) {
			return l
		}
	}
}

// Args returns the constructor arguments of the contract IntentDeposit for this layout.
// Only solver can move the contract's funds.
func (l Layout) Args(solver common.Address) []any {
	at := [arguments]*big.Int{}
	for i, n := range l.At {
		at[i] = big.NewInt(int64(n))
	}
	return []any{solver, l.Selector, big.NewInt(int64(l.Words)), at}
}

// A deposit holds the arguments of the contract's deposit call.
type deposit struct {
	token    common.Address // zero = the native coin
	amount   *big.Int
	id       common.Hash
	deadline uint64 // Unix seconds
}

// calldata encodes the deposit. The meaningless words are random.
func (l Layout) calldata(d deposit) []byte {
	words := make([]common.Hash, l.Words)
	for i := range words {
		for at := 0; at < common.HashLength; at += 8 {
			binary.BigEndian.PutUint64(words[i][at:], rand.Uint64())
		}
	}
	words[l.At[tokenWord]] = common.BytesToHash(d.token[:])
	words[l.At[amountWord]] = common.BigToHash(d.amount)
	words[l.At[idWord]] = d.id
	words[l.At[deadlineWord]] = common.BigToHash(new(big.Int).SetUint64(d.deadline))
	data := slices.Clone(l.Selector[:])
	for _, w := range words {
		data = append(data, w[:]...)
	}
	return data
}
