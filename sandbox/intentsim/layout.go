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

// maxPadding is how many words without a meaning a deposit may carry; it has at
// least one.
const maxPadding = 4

// A Layout is how the deposit contract of one chain reads its calldata: which
// selector it listens to, how many words follow, and where among them the
// arguments are. The real one is not published. Nothing but the contract and
// the simulator may know it.
type Layout struct {
	Selector [4]byte
	Words    int
	At       [arguments]int // token, amount, id, deadline
}

// reserved are selectors that mean something else to the contract or to those
// who look at its calldata.
var reserved = [][]byte{
	selector("solver()"), selector("release(address,address,uint256)"),
	selector("approve(address,uint256)"), selector("transfer(address,uint256)"), selector("transferFrom(address,address,uint256)"),
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// NewLayout draws the layout of a chain's deposit contract. The seed is new
// with every run of the sandbox; the same seed and chain give the same layout.
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

// Args are the constructor's arguments of the contract IntentDeposit with this
// layout, of which only solver can move what it holds.
func (l Layout) Args(solver common.Address) []any {
	at := [arguments]*big.Int{}
	for i, n := range l.At {
		at[i] = big.NewInt(int64(n))
	}
	return []any{solver, l.Selector, big.NewInt(int64(l.Words)), at}
}

// A deposit is what a depositor hands over, and for which route.
type deposit struct {
	token    common.Address // zero: the native coin
	amount   *big.Int
	id       common.Hash
	deadline uint64 // Unix seconds
}

// calldata is the call that makes the deposit. The words that mean nothing are
// different each time.
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
