package engine

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

// approveCall returns the call that sets spender's allowance on the input token to n.
func approveCall(t swap.Terms, spender common.Address, n *big.Int) chain.Call {
	data := slices.Concat(erc20Approve, pad(spender), common.BigToHash(n).Bytes())
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: t.Input(), Value: new(big.Int), Data: data}
}

// approveStep returns the plan step that approves n; shares is the part of n that other
// orders need.
func approveStep(t swap.Terms, spender common.Address, n, shares *big.Int) swap.Step {
	c := approveCall(t, spender, n)
	a := swap.Approval{Token: c.To, Spender: spender, Amount: new(big.Int).Set(n)}
	if shares.Sign() > 0 {
		a.Shares = shares
	}
	return swap.Step{Kind: swap.CallStep, Call: &c, Effect: swap.Effect{Kind: swap.Approve, Chain: t.SrcChain, Target: c.To, Approves: []swap.Approval{a}}}
}

func isApprove(c chain.Call) bool { return bytes.HasPrefix(c.Data, erc20Approve) }

// decodeApprove decodes the calldata of an approval. It accepts only the canonical
// encoding, on the input token and without value. shares comes from our own record of the
// step, since the calldata does not contain it.
func decodeApprove(t swap.Terms, c chain.Call, shares *big.Int) (swap.Effect, error) {
	w := words(c.Data[len(erc20Approve):])
	switch {
	case c.To != t.Input() || c.To == (common.Address{}):
		return swap.Effect{}, swap.RefuseField(swap.NotAsAccepted, "to", "the approval goes to %s, not to the input token", c.To)
	case len(w) != 2 || !isAddress(w[0]):
		return swap.Effect{}, swap.RefuseField(swap.NotUnderstood, "data", "the approval is not in its one canonical encoding")
	case c.Value == nil || c.Value.Sign() != 0:
		return swap.Effect{}, swap.RefuseField(swap.NotAsAccepted, "value", "the approval would also send the coin").WithAmounts(swap.OfCoin, c.Value, nil)
	}
	return swap.Effect{Kind: swap.Approve, Chain: c.ChainID, Target: c.To, Approves: []swap.Approval{{
		Token: c.To, Spender: common.BytesToAddress(w[0]), Amount: new(big.Int).SetBytes(w[1]), Shares: shares,
	}}}, nil
}

// decodeStep returns what a step would do, from its bytes: our own decoder reads
// approvals and the wrap that goes first, the provider's reads everything else. A late
// step is decoded as a call.
func decodeStep(p swap.Provider, t swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Call != nil {
		if err := checkCall(t, *s.Call); err != nil {
			return swap.Effect{}, err
		}
	}
	if s.Kind == swap.LateStep {
		s.Kind = swap.CallStep
	}
	if t.Provider != swap.Wallet && s.Kind == swap.CallStep && isApprove(*s.Call) {
		var shares *big.Int
		if len(s.Effect.Approves) == 1 {
			shares = s.Effect.Approves[0].Shares
		}
		return decodeApprove(t, *s.Call, shares)
	}
	if s.Kind == swap.CallStep && t.IsWrapFirst(*s.Call) {
		return swap.WrapEffect(*s.Call), nil
	}
	f, err := p.Decode(t, s)
	if err != nil {
		return f, err
	}
	if t.WrapsFirst(f) {
		return f, swap.RefuseField(swap.NotAsAccepted, "to", "the coin is wrapped by the wallet's own call only")
	}
	if s.Call != nil {
		if err = checkIsCall(f, *s.Call); err == nil {
			err = checkValue(*s.Call, f)
		}
	}
	return f, err
}

// checkValue fails unless a call's value equals the native coin that its effect spends.
func checkValue(c chain.Call, f swap.Effect) error {
	coins := new(big.Int)
	for _, s := range f.Spends {
		if s.Token == chain.Native && s.Amount != nil {
			coins.Add(coins, s.Amount)
		}
	}
	if c.Value.Cmp(coins) != 0 {
		return swap.RefuseField(swap.NotAsAccepted, "value", "the transaction sends another amount of the coin than its effect spends").WithAmounts(swap.OfCoin, c.Value, coins)
	}
	return nil
}

// An allowance is the present state of the allowance that a plan needs, in base units.
type allowance struct {
	present *big.Int // what the spender may pull now
	shares  *big.Int // the part of it needed by signed open orders
	pending *big.Int // the part of it needed by the other open orders
}

// allowance reads the allowance of p's spender, and how much of it orders other than
// order need.
func (e *Engine) allowance(ctx context.Context, t swap.Terms, p swap.Plan, order string) (a allowance, err error) {
	if a.present, err = e.currentAllowance(ctx, t, p); err != nil {
		return a, err
	}
	uses, err := e.uses(journal.AllowanceKey{Chain: t.SrcChain, Account: t.Account, Token: t.Input(), Spender: p.Spender})
	a.shares, a.pending = new(big.Int), new(big.Int)
	for _, u := range uses {
		switch {
		case u.Order == order:
		case u.Signed:
			a.shares.Add(a.shares, u.Amount)
		default:
			a.pending.Add(a.pending, u.Amount)
		}
	}
	return a, err
}

// uses returns what open orders need of an allowance. Records that are not as their users
// accepted them are skipped, since they could raise an approval or hide one. Each order
// counts once, and no longer than its sealed deadlines allow, so the sum never exceeds
// what the user recently accepted, whatever the unsealed fields of a record say.
func (e *Engine) uses(k journal.AllowanceKey) ([]journal.Use, error) {
	lines, err := e.Journal.Uses(k)
	var uses []journal.Use
	for _, line := range lines {
		o, unread := e.Journal.Get(line.Order)
		u, open := journal.UseOf(o, k)
		if unread != nil || !open || !o.MayPull(e.Now()) || sealMismatch(e.checkAccepted(o)) {
			continue
		}
		uses = append(uses, u)
	}
	return uses, err
}

// lapsed reports whether o is signed and can no longer be filled, but has no final state
// yet. Its part of the allowance is free again.
func lapsed(o swap.Order, now time.Time) bool {
	return o.OrderSigned() && !o.State.Final() && !o.MayPull(now)
}

// need returns the allowance required to pull amount and leave the shares.
func (a allowance) need(amount *big.Int) *big.Int { return new(big.Int).Add(amount, a.shares) }

// afterPending returns the allowance as it will be once the pending orders have pulled theirs.
func (a allowance) afterPending() allowance {
	a.present = new(big.Int).Sub(a.present, a.pending)
	if a.present.Sign() < 0 {
		a.present.SetInt64(0)
	}
	return a
}

// fits reports whether p can use the allowance as it is. A plan that hands its input over
// by a call needs exactly the amount, since the called contract could take the rest of a
// larger allowance.
func (a allowance) fits(p swap.Plan, amount *big.Int) bool {
	c := a.present.Cmp(a.need(amount))
	return c == 0 || c > 0 && !swap.HandsOver(p.LastEffect().Kind)
}

// approvals returns the steps that set the allowance to exactly what the plan and the
// shares need: the approval, preceded by a reset to zero if the simulation shows that the
// token refuses to change a nonzero allowance. reset says that an approval or reset is
// among the finished steps: then no other reset is made, since a node that does not show
// it yet is behind.
func (e *Engine) approvals(ctx context.Context, t swap.Terms, spender common.Address, a allowance, reset bool) ([]swap.Step, error) {
	approve := approveStep(t, spender, a.need(t.AmountIn), a.shares)
	if a.present.Sign() == 0 || reset {
		return []swap.Step{approve}, nil
	}
	_, err := e.Nodes.Simulate(ctx, []chain.Call{*approve.Call})
	switch {
	case err == nil:
		return []swap.Step{approve}, nil
	case errors.Is(err, chain.ErrWouldRevert):
		return []swap.Step{approveStep(t, spender, new(big.Int), new(big.Int)), approve}, nil
	}
	return nil, err
}

// alignApprovals compares the allowance with what o needs before step s and adapts the plan's
// approvals: it skips one that is not needed any more, goes back to a skipped one that is
// needed after all, and adjusts the amount to the shares. ready means that s may be
// signed; x then says what its simulation may show. o.Holds must be true.
func (e *Engine) alignApprovals(ctx context.Context, o *swap.Order, s swap.Step) (x swap.Expected, ready bool, note swap.Cause, err error) {
	x.Spender = o.Plan.Spender
	a, err := e.allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		return x, false, swap.NoCause, err
	}
	x.Allowed = a.present
	fits := a.fits(o.Plan, o.Terms.AmountIn)
	switch {
	case s.Effect.Kind == swap.Approve && (fits || !swap.GrantsAllowance(s.Effect) && a.present.Sign() == 0):
		note, err = e.finish(o, swap.Result{Skipped: true}, swap.NewCause(swap.ApprovalSkipped))
		return x, false, note, err
	case s.Effect.Kind == swap.Approve:
		note, err = e.replaceApprovals(ctx, o, a)
		return x, err == nil && note.Word == "", note, err
	case fits:
		return x, true, swap.NoCause, nil
	}
	for i, r := range o.Results[:min(ownStepCount(*o), len(o.Results))] {
		switch {
		case !swap.GrantsAllowance(o.Plan.Steps[i].Effect):
		case r.Skipped && !e.mayRestart(o.ID): // one of two nodes is behind
			return x, false, swap.NoCause, errAllowanceMoved
		case r.Skipped:
			e.markRestart(o.ID)
			if i > 0 && o.Results[i-1].Skipped { // its reset
				i--
			}
			rewind(o, i)
			return x, false, swap.NewCause(swap.ApprovalAgain), nil
		default: // a node is behind, or the approval's block was reorganised away and Poll resends it
			_, _, err = e.Sender.Poll(ctx, stepKey(*o, i))
			note = swap.NewCause(swap.ApprovalHidden)
			o.SetCause(note)
			return x, false, note, err
		}
	}
	return x, false, swap.NoCause, swap.AskConsent(swap.ApprovalNeeded)
}

// errAllowanceMoved is temporary: one of two nodes is behind, or another program changed it.
var errAllowanceMoved = errors.New("the allowance is not what it was a moment ago")

// replaceApprovals replaces o's approvals by those needed now: from the present step on, with
// the skipped ones before it, of which nothing was sent. The returned cause is empty if
// those from the present step on are the same.
func (e *Engine) replaceApprovals(ctx context.Context, o *swap.Order, a allowance) (swap.Cause, error) {
	first, last := o.Step, o.Step
	for first > 0 && o.Results[first-1].Skipped {
		first--
	}
	for last < len(o.Plan.Steps) && o.Plan.Steps[last].Effect.Kind == swap.Approve {
		last++
	}
	fresh, err := e.approvals(ctx, o.Terms, o.Plan.Spender, a, hasApproval(o.Plan.Steps[:first]))
	if err != nil {
		return swap.NoCause, err
	}
	sameCall := func(a, b swap.Step) bool { return bytes.Equal(a.Call.Data, b.Call.Data) }
	if slices.EqualFunc(fresh, o.Plan.Steps[o.Step:last], sameCall) {
		return swap.NoCause, nil
	}
	if first < o.Step {
		if !e.mayRestart(o.ID) {
			return swap.NoCause, errAllowanceMoved
		}
		e.markRestart(o.ID)
	}
	plan := o.Plan
	plan.Steps = slices.Concat(o.Plan.Steps[:first], fresh, o.Plan.Steps[last:])
	if swap.Digest(o.Terms, plan.Effects()) != o.Digest {
		return swap.NoCause, swap.AskConsent(swap.ApprovalChanged)
	}
	if err := e.resealPlan(o, o.Offer, plan, o.SlippageBps); err != nil {
		return swap.NoCause, err
	}
	if first < o.Step {
		rewind(o, first)
	}
	return swap.NewCause(swap.ApprovalsAdapted), nil
}

// hasApproval reports whether the finished steps include an approval or reset.
func hasApproval(done []swap.Step) bool {
	return slices.ContainsFunc(done, func(s swap.Step) bool { return s.Effect.Kind == swap.Approve })
}

// Leftovers returns the allowance that an ended order granted and did not use, so that it
// can be revoked. An order that filled, or whose own call was mined and took the input,
// left none; one that filled in part left the rest. It does no I/O.
func Leftovers(o swap.Order) []swap.Approval {
	if !o.State.Final() || o.State == swap.Filled && !o.Partly() || pulled(o) {
		return nil
	}
	unused := o.Terms.AmountIn
	if o.Partly() {
		unused = new(big.Int).Sub(unused, o.Verdict.Spent.Amount)
	}
	granted := granted(o)
	if len(granted) == 0 {
		return nil
	}
	a := granted[len(granted)-1]
	a.Amount, a.Shares = unused, nil // the shares belong to other orders
	return []swap.Approval{a}
}

// granted returns the approvals of o that were mined, oldest first.
func granted(o swap.Order) (all []swap.Approval) {
	for i, r := range o.Results {
		if i < len(o.Plan.Steps) && r.Evidence != nil && r.Evidence.Success && swap.GrantsAllowance(o.Plan.Steps[i].Effect) {
			all = append(all, o.Plan.Steps[i].Effect.Approves[0])
		}
	}
	return all
}

// pulled reports whether o's own call that takes the input was mined successfully. It is
// false for a signed order: only its verdict says what the settlement took.
func pulled(o swap.Order) bool {
	last := len(o.Plan.Steps) - 1
	return last >= 0 && len(o.Results) > last && o.Plan.Steps[last].Effect.Kind != swap.Signed && o.Results[last].Evidence != nil && o.Results[last].Evidence.Success
}
