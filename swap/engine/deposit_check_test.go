package engine

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	reactor = common.HexToAddress("0x00000011F84B9aa48e5f8aA8B9897600006289Be")
	depot   = common.HexToAddress("0x4cD00E387622C35bDDB9b4c962C136462338BC31")
	unknown = common.HexToAddress("0x1111111111111111111111111111111111111111") // not built in anywhere
)

// handPins are the pins of a provider with every kind of plan that others settle.
var handPins = swap.Pins{{Chain: 1, Role: swap.Router, Address: router}, {Chain: 1, Role: swap.Wrapper, Address: weth}, {Chain: 1, Role: swap.Spender, Address: permit2}, {Chain: 1, Role: swap.Spender, Address: unknownSpender}, {Chain: 1, Role: swap.Verifier, Address: permit2}, {Chain: 1, Role: swap.Settlement, Address: reactor}, {Chain: 1, Role: swap.Depot, Address: depot},
	{Chain: 56, Role: swap.Depot, Address: depot}, {Chain: 56, Role: swap.Router, Address: router}, {Chain: 10, Role: swap.Settlement, Address: unknown}}

// unknownSpender may be approved but not called.
var unknownSpender = common.HexToAddress("0x2222222222222222222222222222222222222222")

// handed returns a plan whose input others settle: a token, approved first, or with
// native the coin.
func handed(k swap.EffectKind, native bool) (swap.Terms, []swap.Effect) {
	t, effects := erc20()
	t.Provider = swap.Intent
	f := swap.Effect{Kind: k, Chain: 1, Target: depot, Spends: []swap.Spend{{Token: usdc, Amount: big.NewInt(1000)}}, TrustedTo: "X"}
	spender := depot
	switch {
	case k == swap.Signed:
		f = effects[2]
		f.Kind, f.Target, f.Settler, spender = swap.Signed, permit2, reactor, permit2
	case k == swap.Deposit:
		f.DepositID, t.DstChain = common.Hash{7}, 10
	default:
		t.DstChain = 10
	}
	if native {
		t.TokenIn, f.Spends[0].Token = common.Address{}, common.Address{}
		return t, []swap.Effect{f}
	}
	approve := effects[0]
	approve.Approves[0].Spender = spender
	return t, []swap.Effect{approve, f}
}
