package swap

import (
	"bytes"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// wrapDeposit is the selector of deposit() of the wrapped coin (WETH9, on every chain).
var wrapDeposit = []byte{0xd0, 0xe3, 0x0d, 0xb0}

// WrapStep returns the call by which the wallet wraps a native input first, for a
// provider that takes tokens only. It needs terms with Wrap.
func WrapStep(t Terms) Step {
	c := chain.Call{ChainID: t.SrcChain, From: t.Account, To: t.Wrap, Value: t.AmountIn, Data: slices.Clone(wrapDeposit)}
	return Step{Kind: CallStep, Call: &c, Effect: wrapEffect(c)}
}

// wrapEffect returns the effect of a wrapping call.
func wrapEffect(c chain.Call) Effect {
	return Effect{Kind: Wrap, Chain: c.ChainID, Target: c.To, Spends: []Spend{{chain.Native, c.Value}}, Receives: []Receive{{c.To, c.From, c.Value}}}
}

// isWrapFirst reports whether a call is that of [WrapStep], whatever value it sends.
func (t Terms) isWrapFirst(c chain.Call) bool {
	return t.Wrap != (common.Address{}) && c.To == t.Wrap && bytes.Equal(c.Data, wrapDeposit)
}

// wrapsFirst reports whether an effect is the wrap that precedes the rest of the plan.
func (t Terms) wrapsFirst(f Effect) bool { return t.Wrap != (common.Address{}) && f.Kind == Wrap }

// isWalletStep reports whether the wallet makes a step by itself: an approval, or the wrap that
// goes first.
func (t Terms) isWalletStep(f Effect) bool { return f.Kind == Approve || t.wrapsFirst(f) }

// checkWrapFirst refuses a wrap that does not give the account exactly the amount.
func checkWrapFirst(s checkContext, f Effect) error {
	t := s.t
	one := func(token common.Address, amount *big.Int) bool {
		return amount != nil && amount.Cmp(t.AmountIn) == 0 && token == t.Wrap
	}
	switch {
	case len(f.Spends) != 1 || f.Spends[0].Token != chain.Native || !one(t.Wrap, f.Spends[0].Amount):
		return refuseField(NotAsAccepted, "amountIn", "the wrap does not take exactly the amount of the coin")
	case len(f.Receives) != 1 || f.Receives[0].To != t.Account || !one(f.Receives[0].Token, f.Receives[0].Min):
		return refuseField(NotAsAccepted, "receives", "the wrap does not give the account exactly what it takes")
	case len(f.Approves) != 0 || len(f.Pays) != 0 || !f.Deadline.IsZero():
		return refuseField(NotAsAccepted, "pays", "the wrap does more than to wrap")
	}
	return nil
}
