package swap

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// build has the provider make an offer's steps and gives each the effect that
// its bytes have. Approvals are not the provider's to make: it names the
// spender, which must be pinned.
func (e *Engine) build(ctx context.Context, p Provider, o Offer, t Terms) (Plan, error) {
	built, err := p.Build(ctx, o, t)
	if err != nil {
		return Plan{}, err
	}
	plan, err := decodeAll(p, t, built)
	if err != nil || t.Provider == Wallet {
		return plan, err
	}
	switch {
	case slices.ContainsFunc(plan.Steps, func(s Step) bool { return s.Effect.Kind == Approve }):
		return plan, Refuse(NotAsAccepted, "the provider built an approval; the wallet makes its own")
	case plan.Spender == common.Address{}:
	case t.TokenIn == chain.Native:
		return plan, refuseField(NotAsAccepted, "spender", "%s would have to be approved, and the input is no token", plan.Spender)
	case !p.Pins().Allows(t.SrcChain, Spender, plan.Spender):
		return plan, refuseField(NotPinned, "spender", "%s may not be approved: it is not a built-in spender on chain %d", plan.Spender, t.SrcChain)
	}
	return plan, nil
}

// assemble turns an offer into a plan for order ("" for one that is not accepted
// yet): built, decoded, with the approvals that it needs now, checked against the
// terms and simulated as far as that can be done. done are steps that the order
// has behind it; its approvals are not made twice.
func (e *Engine) assemble(ctx context.Context, p Provider, o Offer, t Terms, order string, done []Step) (Plan, []Finding, error) {
	plan, err := e.build(ctx, p, o, t)
	if err != nil {
		return plan, nil, err
	}
	if t.Provider == Wallet { // it takes an allowance away, and nothing else
		plan.Steps = slices.Concat(done, plan.Steps)
		return plan, nil, Check(t, plan.Effects(), p.Pins())
	}
	x := Expected{Spender: plan.Spender}
	var approvals []Step
	if plan.Spender != (common.Address{}) {
		a, err := e.allowance(ctx, t, plan.Spender, order)
		if err != nil {
			return plan, nil, err
		}
		x.Allowed = a.present
		then := a
		if order == "" {
			then = a.later()
		}
		granted := slices.ContainsFunc(done, func(s Step) bool { return grants(s.Effect) })
		if !granted && !then.enough(t.AmountIn) {
			if approvals, err = e.approvals(ctx, t, plan.Spender, a, len(done) > 0); err != nil {
				return plan, nil, err
			}
		}
	}
	plan.Steps = slices.Concat(done, approvals, plan.Steps)
	if err := Check(t, plan.Effects(), p.Pins()); err != nil {
		return plan, nil, err
	}
	if err := checkBalance(ctx, e.Nodes, e.Journal, t.SrcChain, t.Account, t.TokenIn, t.AmountIn); err != nil {
		return plan, nil, err
	}
	found, err := e.try(ctx, t, plan.Steps[len(done):], x)
	return plan, found, err
}

// try simulates the steps whose bytes exist now, together, up to the first that
// needs a signature; what has to wait is a finding. Every step is simulated on
// its own once more before it is signed.
func (e *Engine) try(ctx context.Context, t Terms, steps []Step, x Expected) ([]Finding, error) {
	var calls []chain.Call
	for _, s := range steps {
		if s.Kind != CallStep {
			break
		}
		calls, x.Effects = append(calls, *s.Call), append(x.Effects, s.Effect)
	}
	if len(calls) > 0 {
		sim, err := e.Nodes.Simulate(ctx, calls)
		if errors.Is(err, chain.ErrWouldRevert) {
			return nil, &Refusal{Code: WouldRevert, Reason: "the transaction would fail: " + err.Error() + "; get a new quote", Err: err}
		}
		if err == nil {
			err = CheckSimulation(t, x, sim)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(calls) == len(steps) {
		return nil, nil
	}
	return []Finding{{"not_simulated", Note, "the swap itself can be simulated only after what must be signed before it; it is not signed unless that shows what is accepted here", nil}}, nil
}

// checkBalance wants the amount to be there beside what signed open orders may
// still take.
func checkBalance(ctx context.Context, n Nodes, j *Journal, chainID uint64, account, token common.Address, amount *big.Int) error {
	balance, err := n.Balance(ctx, chainID, account, token)
	if err != nil {
		return err
	}
	promised, err := j.Promised(chainID, account, token)
	if err != nil {
		return err
	}
	return checkFunds(amount, balance, promised)
}
