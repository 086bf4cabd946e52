package intent

import (
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// trusted names who must be trusted with a deposit, since its calldata format is not
// published.
const trusted = "intent_fillers"

// Decode says what a deposit would do, as far as its bytes show: spend the input at a
// contract that is trusted with it. What the call really moves is read off a simulation by
// package swap. Decode is pure.
func (p *Provider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	c := s.Call
	switch {
	case s.Kind != swap.CallStep || c == nil || s.TypedData != nil:
		return swap.Effect{}, refuse(swap.Undecodable, "kind", "builds deposits alone, and this step is none")
	case t.Provider != swap.Intent || t.Wrap != common.Address{}:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "provider", "has no such swap")
	case t.AmountIn == nil:
		return swap.Effect{}, refuse(swap.NotAsAccepted, "amountIn", "cannot take a deposit without an amount")
	case c.ChainID != t.SrcChain || c.From != t.From():
		return swap.Effect{}, refuse(swap.NotAsAccepted, "from", "built a deposit for another account or network")
	}
	if err := (deposit{c.To, c.Value, c.Data}).check(t, p.depositContracts); err != nil {
		return swap.Effect{}, err
	}
	return swap.Effect{
		Kind: swap.Opaque, Chain: c.ChainID, Target: c.To, TrustedTo: trusted,
		Spends: []swap.Spend{{Token: t.TokenIn, Amount: t.AmountIn}},
	}, nil
}

// depositOf is the deposit call of an order's plan.
func depositOf(o swap.Order) (*chain.Call, error) {
	last := len(o.Plan.Steps) - 1
	if last < 0 || o.Plan.Steps[last].Call == nil {
		return nil, refuse(swap.Undecodable, "plan", "needs a deposit, and the plan has none")
	}
	return o.Plan.Steps[last].Call, nil
}
