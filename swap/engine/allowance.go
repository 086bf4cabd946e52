package engine

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
)

// acceptedOrders is the journal's orders as the planner sees them.
type acceptedOrders struct {
	*journal.Journal
	engine *Engine
}

// AcceptedUses returns what open orders need of an allowance. Records that are not as their
// users accepted them are skipped, since they could raise an approval or hide one. Each order
// counts once, and no longer than its sealed deadlines allow, so the sum never exceeds
// what the user recently accepted, whatever the unsealed fields of a record say.
func (a acceptedOrders) AcceptedUses(k journal.AllowanceKey) ([]journal.Use, error) {
	lines, err := a.Uses(k)
	var uses []journal.Use
	for _, line := range lines {
		o, unread := a.Get(line.Order)
		u, open := journal.UseOf(o, k)
		if unread != nil || !open || !o.MayPull(a.engine.Now()) || sealMismatch(a.engine.checkAccepted(o)) {
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

// alignApprovals compares the allowance with what o needs before step s and adapts the plan's
// approvals: it skips one that is not needed any more, goes back to a skipped one that is
// needed after all, and adjusts the amount to the shares. ready means that s may be
// signed; x then says what its simulation may show. o.Holds must be true.
func (e *Engine) alignApprovals(ctx context.Context, o *swap.Order, s swap.Step) (x swap.Expected, ready bool, note swap.Cause, err error) {
	x.Spender = o.Plan.Spender
	a, err := e.Planner.Allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		return x, false, swap.NoCause, err
	}
	x.Allowed = a.Present
	fits := a.Fits(o.Plan, o.Terms.AmountIn)
	switch {
	case s.Effect.Kind == swap.Approve && (fits || !swap.GrantsAllowance(s.Effect) && a.Present.Sign() == 0):
		note, err = e.finish(o, swap.Result{Skipped: true}, swap.NewCause(swap.ApprovalSkipped))
		return x, false, note, err
	case s.Effect.Kind == swap.Approve:
		note, err = e.replaceApprovals(ctx, o, a)
		return x, err == nil && note.Reason == "", note, err
	case fits:
		return x, true, swap.NoCause, nil
	}
	for i, r := range o.Results[:min(o.OwnSteps(), len(o.Results))] {
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
			return x, false, swap.NewCause(swap.ApprovalRestored), nil
		default: // a node is behind, or the approval's block was reorganised away and Poll resends it
			_, _, err = e.Sender.Poll(ctx, stepKey(*o, i))
			note = swap.NewCause(swap.ApprovalNotVisible)
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
func (e *Engine) replaceApprovals(ctx context.Context, o *swap.Order, a plan.Allowance) (swap.Cause, error) {
	first, last := o.Step, o.Step
	for first > 0 && o.Results[first-1].Skipped {
		first--
	}
	for last < len(o.Plan.Steps) && o.Plan.Steps[last].Effect.Kind == swap.Approve {
		last++
	}
	fresh, err := e.Planner.Approvals(ctx, o.Terms, o.Plan.Spender, a, o.Plan.Steps[:first])
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

// Leftovers returns the allowance that an ended order granted and did not use, so that it
// can be revoked. An order that filled, or whose own call was mined and took the input,
// left none; one that filled in part left the rest. What an isolated account granted cannot
// be revoked, and lets nobody take anything but what is left there. It does no I/O.
func Leftovers(o swap.Order) []swap.Approval {
	if o.Terms.IsIsolated() {
		return nil
	}
	return unusedAllowance(o)
}

// unusedAllowance is Leftovers, also of an isolated account.
func unusedAllowance(o swap.Order) []swap.Approval {
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

// noteTakenAllowance adds to the end of an order that handed nothing over how much of the allowance
// it granted is gone: an approved contract can take the amount without the call that was
// to follow.
func (e *Engine) noteTakenAllowance(ctx context.Context, o *swap.Order) {
	left := unusedAllowance(*o)
	if len(left) == 0 || !swap.HandsOver(o.Plan.LastEffect().Kind) || o.Verdict == nil {
		return
	}
	a, err := e.Planner.Allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		e.Log(*o, err)
		o.SetCause(swap.NewCause(swap.AllowanceUnchecked, "spender", left[0].Spender.Hex()))
		return
	}
	gone := new(big.Int).Sub(a.Need(left[0].Amount), a.Present)
	if gone.Sign() <= 0 {
		return
	}
	o.SetCause(swap.NewCause(swap.AllowanceSpent, "spent", gone.String(), "allowed", left[0].Amount.String(), "spender", left[0].Spender.Hex()))
}
