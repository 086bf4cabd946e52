package intent

import (
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A deposit is the one transaction that takes the input.
type deposit struct {
	to    common.Address
	value *big.Int
	data  []byte
}

// call is the deposit as it is signed: gas and fees are the wallet's own.
func (d deposit) call(t swap.Terms) *chain.Call {
	return &chain.Call{ChainID: t.SrcChain, From: t.Account, To: d.to, Value: d.value, Data: d.data}
}

// check binds a deposit: with exactly the input where that is the native coin, with
// nothing otherwise, and never to a party of the swap or one of its tokens. What it
// moves, package swap reads off a simulation.
func (d deposit) check(t swap.Terms) error {
	value := new(big.Int)
	if t.TokenIn == chain.Native {
		value = t.AmountIn
	}
	none := []common.Address{{}, t.Account, t.Recipient, t.RefundTo, t.FeeReceiver, t.TokenIn, t.TokenOut, permit2}
	switch {
	case len(d.data) < selectorLen || len(d.data) > maxData:
		return refuse(swap.NotUnderstood, "data", "built a deposit with %d bytes of data", len(d.data))
	case slices.Contains(ofTokens, [selectorLen]byte(d.data)):
		return refuse(swap.NotAsAccepted, "data", "built a call of a token where the deposit should be")
	case slices.Contains(none, d.to):
		return refuse(swap.NotAsAccepted, "to", "built a deposit to %s, which takes none", d.to)
	case d.value == nil || d.value.Cmp(value) != 0:
		return refuse(swap.NotAsAccepted, "value", "built a deposit that does not send exactly the amount of the coin").Amounts(swap.OfCoin, d.value, value)
	}
	return nil
}

const selectorLen = 4

// approve is approve(address,uint256) (EIP-20).
var approve = [selectorLen]byte{0x09, 0x5e, 0xa7, 0xb3}

// ofTokens are calls of tokens, NFTs and Permit2 that give something away. No
// deposit has one of their selectors: what they would do is known, and not wanted.
var ofTokens = [][selectorLen]byte{
	approve,
	{0xa9, 0x05, 0x9c, 0xbb}, // transfer(address,uint256)
	{0x23, 0xb8, 0x72, 0xdd}, // transferFrom(address,address,uint256)
	{0x39, 0x50, 0x93, 0x51}, // increaseAllowance(address,uint256)
	{0xa2, 0x2c, 0xb4, 0x65}, // setApprovalForAll(address,bool)
	{0x42, 0x84, 0x2e, 0x0e}, // safeTransferFrom(address,address,uint256)
	{0xb8, 0x8d, 0x4f, 0xde}, // safeTransferFrom(address,address,uint256,bytes)
	{0xf2, 0x42, 0x43, 0x2a}, // safeTransferFrom(address,address,uint256,uint256,bytes)
	{0xd5, 0x05, 0xac, 0xcf}, // permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
	{0x87, 0x51, 0x7c, 0x45}, // approve(address,address,uint160,uint48)
}

var permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
