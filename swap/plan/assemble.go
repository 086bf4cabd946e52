package plan

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// build has the provider build an offer's steps and decodes their effects from the bytes.
// The provider builds no approvals and no wrap that goes first: it names the spender, and
// this package makes those steps.
func (pl *Planner) build(ctx context.Context, p swap.Provider, o swap.Offer, t swap.Terms) (plan swap.Plan, err error) {
	ctx, kept := pl.KeepAnswer(ctx, p.Kind(), t.Accounts()...)
	defer func() { kept(err) }()
	built, err := p.Build(ctx, o, t)
	if err != nil {
		return swap.Plan{}, err
	}
	plan, err = decodeAll(p, t, built)
	if err != nil || t.Provider == swap.Wallet {
		return plan, err
	}
	if slices.ContainsFunc(plan.Steps, func(s swap.Step) bool { return t.IsWalletStep(s.Effect) }) {
		return plan, swap.Refuse(swap.NotAsAccepted, "the provider built an approval or a wrap; the wallet makes its own")
	}
	if err := checkSettled(p, plan); err != nil {
		return plan, err
	}
	if err := swap.CheckSpender(t, plan, p.Pins()); err != nil {
		return plan, err
	}
	return plan, pl.checkWrapped(t)
}

// An AnswerKeeper returns the context for a call of a provider, and a function to be
// called with the call's error. accounts are those that the request names.
type AnswerKeeper func(ctx context.Context, k swap.Kind, accounts ...common.Address) (in context.Context, done func(error))

// KeepAnswer has the provider's answer kept if it is refused: done must be called with the
// call's error.
func (pl *Planner) KeepAnswer(ctx context.Context, k swap.Kind, accounts ...common.Address) (in context.Context, done func(error)) {
	if pl.Keep == nil {
		return ctx, func(error) {}
	}
	return pl.Keep(ctx, k, accounts...)
}

// settlements says how each kind of spending step is settled: its own success proves the
// minimum received, or somebody else must deliver the output.
var settlements = map[swap.EffectKind]swap.SettledBy{
	swap.Swap: swap.ByOwnCall, swap.Wrap: swap.ByOwnCall, swap.Unwrap: swap.ByOwnCall,
	swap.Signed: swap.ByProvider, swap.Deposit: swap.ByProvider, swap.Opaque: swap.ByProvider,
}

// checkSettled fails unless plan is settled in the way of its last step.
func checkSettled(p swap.Provider, plan swap.Plan) error {
	want, known := settlements[plan.LastEffect().Kind]
	_, settles := p.(swap.Settler)
	switch {
	case known && plan.Settlement != want:
		return swap.RefuseField(swap.Undecodable, "settlement", "a plan of one %s is not settled by %q", plan.LastEffect().Kind, plan.Settlement)
	case want == swap.ByProvider && !settles:
		return swap.RefuseField(swap.Undecodable, "settlement", "the %s provider settles no orders", p.Kind())
	}
	return nil
}

// checkWrapped fails unless t.Wrap is the network's own wrapped coin.
func (pl *Planner) checkWrapped(t swap.Terms) error {
	if t.Wrap == (common.Address{}) {
		return nil
	}
	net, err := pl.Nodes.Network(t.SrcChain)
	if err != nil {
		return err
	}
	if net.WrappedNative != t.Wrap {
		return swap.RefuseField(swap.NotPinned, "wrap", "%s is not the wrapped %s of chain %d", t.Wrap, net.Symbol, t.SrcChain)
	}
	return nil
}

// CheckContract fails if a call would hand the input to an address without a contract, or
// if for an opaque call that contract holds other allowances of the account.
func (pl *Planner) CheckContract(ctx context.Context, t swap.Terms, f swap.Effect) error {
	if !swap.HandsOver(f.Kind) {
		return nil
	}
	there, err := pl.Nodes.IsContract(ctx, f.Chain, f.Target)
	switch {
	case err != nil:
		return refuseDisagreement(err)
	case !there:
		return swap.RefuseField(swap.NotAsAccepted, "to", "there is no contract at %s, so that whatever it is handed may be lost", f.Target)
	}
	return pl.checkNoOtherAllowances(ctx, t, f)
}

// A priorSteps is what an order has already done when its plan is made again; zero for an order
// that is not accepted yet.
type priorSteps struct {
	order   string
	done    []swap.Step // finished steps, which keep their place
	wrapped bool        // the input is wrapped already
}

// funded reports whether the isolated account has the input.
func (b priorSteps) funded(input common.Address) bool {
	return slices.ContainsFunc(b.done, func(s swap.Step) bool { return s.Effect.Kind == swap.Fund && s.Effect.Spends[0].Token == input })
}

// assemble turns an offer into a plan: built, decoded, completed with the approvals and
// the wrap that are still needed, checked against the terms and simulated as far as
// possible. Steps in b.done are not made again.
func (pl *Planner) assemble(ctx context.Context, p swap.Provider, o swap.Offer, t swap.Terms, b priorSteps) (swap.Plan, []swap.Finding, error) {
	plan, err := pl.build(ctx, p, o, t)
	if err != nil {
		return plan, nil, err
	}
	if t.Provider == swap.Wallet { // only revokes an allowance
		plan.Steps = slices.Concat(b.done, plan.Steps)
		return plan, nil, swap.Check(t, plan.Effects(), p.Pins())
	}
	x, own, err := pl.ownSteps(ctx, t, plan, b)
	if err != nil {
		return plan, nil, err
	}
	funds, err := pl.fundSteps(ctx, t, o, slices.Concat(own, plan.Steps), b.done)
	if err != nil {
		return plan, nil, err
	}
	plan.Steps = slices.Concat(b.done, funds, own, plan.Steps)
	if err := swap.Check(t, plan.Effects(), p.Pins()); err != nil {
		return plan, nil, err
	}
	if err := pl.CheckContract(ctx, t, plan.LastEffect()); err != nil {
		return plan, nil, err
	}
	if err := pl.CheckFunded(ctx, t, b.wrapped, b.funded(t.TokenIn)); err != nil {
		return plan, nil, err
	}
	found, err := pl.simulatePlan(ctx, t, remainingSteps(t, plan.Steps[len(b.done):], b.wrapped), x)
	return plan, append(found, pl.judgePlan(t, plan)...), err
}

// ownSteps returns the approvals and the wrap that the wallet makes before the provider's
// steps, and what simulations may show of the allowance.
func (pl *Planner) ownSteps(ctx context.Context, t swap.Terms, plan swap.Plan, b priorSteps) (x swap.Expected, own []swap.Step, err error) {
	x.Spender = plan.Spender
	if plan.Spender != (common.Address{}) {
		a, err := pl.Allowance(ctx, t, plan, b.order)
		if err != nil {
			return x, nil, err
		}
		x.Allowed = a.Present
		then := a
		if b.order == "" {
			then = a.afterPending()
		}
		granted := slices.ContainsFunc(b.done, func(s swap.Step) bool { return swap.GrantsAllowance(s.Effect) })
		if !granted && !then.Fits(plan, t.AmountIn) {
			if own, err = pl.Approvals(ctx, t, plan.Spender, a, b.done); err != nil {
				return x, nil, err
			}
		}
	}
	if t.Wrap != (common.Address{}) && !slices.ContainsFunc(b.done, func(s swap.Step) bool { return t.WrapsFirst(s.Effect) }) {
		own = append(own, swap.WrapStep(t))
	}
	return x, own, nil
}

// remainingSteps returns the steps that are still to be simulated and paid for: without the wrap
// if that is done, wherever it stands.
func remainingSteps(t swap.Terms, steps []swap.Step, wrapped bool) []swap.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s swap.Step) bool { return wrapped && t.WrapsFirst(s.Effect) })
}

// judgePlan notes that a plan wraps the coin first, and whom its last step trusts.
func (pl *Planner) judgePlan(t swap.Terms, plan swap.Plan) (found []swap.Finding) {
	last := plan.LastEffect()
	if t.Wrap != (common.Address{}) {
		symbol := "coin"
		if net, err := pl.Nodes.Network(t.SrcChain); err == nil {
			symbol = net.Symbol
		}
		found = append(found, swap.Finding{Code: "wraps_first", Severity: swap.Note,
			Text: fmt.Sprintf("the %s is wrapped first, by a transaction of the wallet's own; it stays wrapped if the order does not fill", symbol), Data: map[string]string{"wrapped": t.Wrap.Hex()}})
	}
	if !swap.HandsOver(last.Kind) {
		return found
	}
	return append(found, swap.Finding{Code: "settlement_trusted", Severity: swap.Note, Text: "no contract enforces the settlement: the provider is trusted with it", Data: map[string]string{"trustedTo": last.TrustedTo}})
}

// simulatePlan simulates together the calls up to the first step that is typed or deferred. If that
// leaves out more than a final signed order, a finding says so. Each call is simulated
// again before it is signed.
func (pl *Planner) simulatePlan(ctx context.Context, t swap.Terms, steps []swap.Step, x swap.Expected) ([]swap.Finding, error) {
	var calls []chain.Call
	for _, s := range steps {
		if s.Kind != swap.CallStep {
			break
		}
		calls, x.Effects = append(calls, *s.Call), append(x.Effects, s.Effect)
	}
	if len(calls) > 0 {
		err := pl.CheckSimulated(ctx, t, calls, x)
		if errors.Is(err, chain.ErrWouldRevert) {
			return nil, swap.RefuseRevert(err)
		}
		if err != nil {
			return nil, err
		}
	}
	if last := len(steps) - 1; len(calls) == len(steps) || len(calls) == last && steps[last].Effect.Kind == swap.Signed {
		return nil, nil // the contract that settles a signed order enforces it
	}
	return []swap.Finding{{Code: "not_simulated", Severity: swap.Note, Text: "the swap itself can be simulated only after what must be signed before it; it is not signed unless that shows what is accepted here", Data: nil}}, nil
}

// CheckFunded fails with InsufficientFunds if the input is missing: the coin or, once it is
// wrapped, the wrapped coin; once it was moved to the isolated account, there.
func (pl *Planner) CheckFunded(ctx context.Context, t swap.Terms, wrapped, moved bool) error {
	account := t.Account
	if moved {
		account = t.From()
	}
	token := t.TokenIn
	if wrapped {
		token = t.Input()
	}
	return pl.checkBalance(ctx, t.SrcChain, account, token, t.AmountIn)
}

// checkBalance fails with InsufficientFunds unless the balance covers amount plus what
// signed open orders may still take.
func (pl *Planner) checkBalance(ctx context.Context, chainID uint64, account, token common.Address, amount *big.Int) error {
	balance, err := pl.Nodes.Balance(ctx, chainID, account, token)
	if err != nil {
		return err
	}
	promised, err := pl.Orders.Promised(chainID, account, token, pl.Now())
	if err != nil {
		return err
	}
	return checkFunds(amount, balance, promised)
}
