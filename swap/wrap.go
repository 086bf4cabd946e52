package swap

import (
	"bytes"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// WrapDeposit is the selector of deposit() of the wrapped coin (WETH9, on every chain).
var WrapDeposit = []byte{0xd0, 0xe3, 0x0d, 0xb0}

// WrapStep returns the call by which the wallet wraps a native input first, for a
// provider that takes tokens only. It needs terms with Wrap.
func WrapStep(t Terms) Step {
	c := chain.Call{ChainID: t.SrcChain, From: t.Account, To: t.Wrap, Value: t.AmountIn, Data: slices.Clone(WrapDeposit)}
	return Step{Kind: CallStep, Call: &c, Effect: WrapEffect(c)}
}

// WrapEffect returns the effect of a wrapping call.
func WrapEffect(c chain.Call) Effect {
	return Effect{Kind: Wrap, Chain: c.ChainID, Target: c.To, Spends: []Spend{{chain.Native, c.Value}}, Receives: []Receive{{c.To, c.From, c.Value}}}
}

// IsWrapFirst reports whether a call is that of [WrapStep], whatever value it sends.
func (t Terms) IsWrapFirst(c chain.Call) bool {
	return t.Wrap != (common.Address{}) && c.To == t.Wrap && bytes.Equal(c.Data, WrapDeposit)
}

// WrapsFirst reports whether an effect is the wrap that precedes the rest of the plan.
func (t Terms) WrapsFirst(f Effect) bool { return t.Wrap != (common.Address{}) && f.Kind == Wrap }

// IsWalletStep reports whether the wallet makes a step by itself: a transfer to the isolated
// account, an approval, or the wrap that goes first.
func (t Terms) IsWalletStep(f Effect) bool {
	return f.Kind == Fund || f.Kind == Approve || t.WrapsFirst(f)
}

// checkWrapFirst refuses a wrap that does not give the account exactly the amount.
func checkWrapFirst(s checkContext, f Effect) error {
	t := s.t
	one := func(token common.Address, amount *big.Int) bool {
		return amount != nil && amount.Cmp(t.AmountIn) == 0 && token == t.Wrap
	}
	switch {
	case len(f.Spends) != 1 || f.Spends[0].Token != chain.Native || !one(t.Wrap, f.Spends[0].Amount):
		return RefuseField(NotAsAccepted, "amountIn", "the wrap does not take exactly the amount of the coin")
	case len(f.Receives) != 1 || f.Receives[0].To != t.Account || !one(f.Receives[0].Token, f.Receives[0].Min):
		return RefuseField(NotAsAccepted, "receives", "the wrap does not give the account exactly what it takes")
	case len(f.Approves) != 0 || len(f.Pays) != 0 || !f.Deadline.IsZero():
		return RefuseField(NotAsAccepted, "pays", "the wrap does more than to wrap")
	}
	return nil
}

// Slippage bounds in bps; the spec has them in percent, 0 < s <= 50.
const (
	MinSlippageBps     = 1
	MaxSlippageBps     = 5000
	DefaultSlippageBps = 50
)

// IsWrap reports whether r only wraps or unwraps the native coin, one to one.
func IsWrap(r QuoteRequest, wrapped common.Address) bool {
	native := common.Address{}
	return r.SrcChain == r.DstChain && wrapped != native &&
		(r.TokenIn == native && r.TokenOut == wrapped || r.TokenIn == wrapped && r.TokenOut == native)
}
