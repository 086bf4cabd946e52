package bridgesim

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Words of a router call: the fields of an order and meaningless ones.
const (
	fieldCount = 8
	wordCount  = fieldCount + 3
)

// A Layout is the calldata layout of a router or an approval proxy. The real ones are not
// published, so every contract in every run has a different one.
type Layout struct {
	Selector [4]byte
	// Order[n] is the index of the calldata word that holds field n of the contract's
	// BridgeOrder.
	Order [32]byte

	filler [wordCount]common.Hash
}

// LayoutOf returns the layout of a chain's contract, for the layout number of this run.
func LayoutOf(number, chain uint64, contract common.Address) Layout {
	where := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, number), chain)
	random := rand.New(rand.NewChaCha8(crypto.Keccak256Hash(where, contract[:])))
	var l Layout
	for i, word := range random.Perm(wordCount)[:fieldCount] {
		l.Order[i] = byte(word)
	}
	for i := range l.filler {
		binary.BigEndian.PutUint64(l.filler[i][24:], random.Uint64())
	}
	for l.Selector == ([4]byte{}) { // the contracts refuse a zero selector
		binary.BigEndian.PutUint32(l.Selector[:], random.Uint32())
	}
	return l
}

// A routerOrder holds the arguments of a router call, the contract's BridgeOrder.
type routerOrder struct {
	tokenIn   common.Address
	amountIn  *big.Int
	tokenOut  common.Address
	amountOut *big.Int
	minimum   *big.Int
	recipient common.Address
	depositor common.Address // if not zero, the output is deposited in this account's name
	id        common.Hash
}

func (o routerOrder) words() [fieldCount]common.Hash {
	return [fieldCount]common.Hash{
		common.BytesToHash(o.tokenIn[:]), common.BigToHash(o.amountIn),
		common.BytesToHash(o.tokenOut[:]), common.BigToHash(o.amountOut), common.BigToHash(o.minimum),
		common.BytesToHash(o.recipient[:]), common.BytesToHash(o.depositor[:]), o.id,
	}
}

// calldata encodes an order in this layout.
func (l Layout) calldata(o routerOrder) []byte {
	words := l.filler
	for field, value := range o.words() {
		words[l.Order[field]] = value
	}
	data := append([]byte{}, l.Selector[:]...)
	for _, w := range words {
		data = append(data, w[:]...)
	}
	return data
}

// String formats the layout for test messages.
func (l Layout) String() string { return fmt.Sprintf("%x %v", l.Selector, l.Order[:fieldCount]) }
