package intent

import (
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A deposit is the one transaction that spends the input.
type deposit struct {
	to    common.Address
	value *big.Int
	data  []byte
}

// call is the deposit as a call without gas and fees, which the wallet sets.
func (d deposit) call(t swap.Terms) *chain.Call {
	return &chain.Call{ChainID: t.SrcChain, From: t.From(), To: d.to, Value: d.value, Data: d.data}
}

// check refuses a deposit that does not go to a built-in contract of the source chain, unless
// an isolated account makes it, or whose value is not exactly the input for the native coin
// and zero for a token. What it moves is read off a simulation by package swap.
func (d deposit) check(t swap.Terms, depots []depositContract) error {
	value := new(big.Int)
	if t.TokenIn == chain.Native {
		value = t.AmountIn
	}
	switch {
	case len(d.data) < selectorLen || len(d.data) > maxData:
		return refuse(swap.Undecodable, "data", "built a deposit with %d bytes of data", len(d.data))
	case !t.IsIsolated() && !slices.Contains(depots, depositContract{t.SrcChain, d.to}):
		return refuse(swap.NotPinned, "to", "built a deposit to %s, which is no built-in contract on chain %d; choose another route", d.to, t.SrcChain)
	case d.value == nil || d.value.Cmp(value) != 0:
		return refuse(swap.NotAsAccepted, "value", "built a deposit that does not send exactly the amount of the coin").WithAmounts(swap.OfCoin, d.value, value)
	}
	return nil
}

const selectorLen = 4

// approveSelector is the selector of approve(address,uint256) (EIP-20).
var approveSelector = [selectorLen]byte{0x09, 0x5e, 0xa7, 0xb3}
