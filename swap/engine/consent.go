package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/plan"
)

const (
	// restartInterval is the least time between two restarts of one order: a fresh quote, a
	// proposal, or an approval that is needed after all.
	restartInterval = 5 * time.Second
)

// stale reports whether o needs a fresh quote before step s: the rest of the plan depends
// on a price, and the quote, or the order made from it, has expired or is about to.
// Approvals never do.
func (e *Engine) stale(o swap.Order, s swap.Step) bool {
	if s.Effect.Kind == swap.Approve || !o.Priced() {
		return false
	}
	end := o.Offer.Expires
	if s.Effect.Kind == swap.Signed {
		end = earlier(end, s.Effect.Deadline)
	}
	return e.Now().Add(minValidity[s.Effect.Kind]).After(end)
}

// refresh replaces an expired quote by a fresh one under the same consent: the same
// effects, and a minimum received no lower than accepted. The wallet's own steps keep
// their place and results, so nothing is wrapped twice. The other steps start over, so a
// permit whose call was never signed is signed again. Anything else fails with
// ConsentNeeded. An order that is already signed is never replaced (errOrderSigned).
func (e *Engine) refresh(ctx context.Context, p swap.Provider, o *swap.Order) (swap.Cause, error) {
	if o.OrderSigned() {
		return swap.NoCause, errOrderSigned
	}
	if !e.mayRestart(o.ID) {
		return swap.NoCause, errors.New("there was a fresh quote a moment ago")
	}
	offers, err := e.Planner.FreshOffers(ctx, p, *o)
	if err != nil {
		return swap.NoCause, err
	}
	e.markRestart(o.ID)
	offer, plan, err := e.Planner.Rebuild(ctx, p, *o, offers)
	if err != nil {
		return swap.NoCause, err
	}
	offer.ID = o.Offer.ID + "'"
	if err := e.resealPlan(o, offer, plan, cmp.Or(o.SlippageBps, o.Offer.Request.SlippageBps)); err != nil {
		return swap.NoCause, err
	}
	rewind(o, o.OwnSteps())
	return swap.NewCause(swap.QuoteRefreshed), nil
}

// errOrderSigned refuses to replace a signed order; no path should lead there.
var errOrderSigned = errors.New("an order is signed already, and may live")

// markRestart records that an order restarted. The time is not stored.
func (e *Engine) markRestart(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inProgress(id).restarted = e.Now()
}

// mayRestart reports whether an order's last restart was at least restartInterval ago.
func (e *Engine) mayRestart(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.Now().Before(e.inProgress(id).restarted.Add(restartInterval))
}

// rewind makes step the next one. Nothing from there on may have been sent.
func rewind(o *swap.Order, step int) {
	o.Results, o.Step = o.Results[:min(step, len(o.Results)):min(step, len(o.Results))], min(step, o.Step)
	o.Condition = swap.NoCondition
	o.SetCause(swap.NoCause)
}

// awaitsConsent reports whether o is left alone: while its proposal is valid, or without one
// until it has rested. After that the accepted terms are tried again, and a new proposal
// is made if they still cannot be met.
func (e *Engine) awaitsConsent(o swap.Order) bool {
	switch {
	case o.Condition != swap.NeedsConsent:
		return false
	case o.Proposal == nil:
		return !e.mayRestart(o.ID)
	}
	return !e.Now().After(plan.ProposalEnds(*o.Proposal))
}

// propose makes o wait for consent to other terms, because of why. An error that no
// consent could fix ends the order; a temporary one of the provider leaves it waiting
// without a proposal, to be tried again.
func (e *Engine) propose(ctx context.Context, o *swap.Order, why *swap.Refusal) (swap.Cause, error) {
	e.markRestart(o.ID)
	if o.Proposal != nil && e.checkSeal(o.Proposal.Seal, proposalOf(*o)) != nil {
		o.Proposal = nil // also if the keys are locked and nobody can tell: the next proposal must not copy a forged one
	}
	fresh, err := e.freshProposal(ctx, *o, why)
	var refused *swap.Refusal
	switch {
	case errors.As(err, &refused) && (refused.Code == swap.JournalFailed || refused.Code == swap.RecordChanged):
		return swap.NoCause, err
	case errors.As(err, &refused) && !refused.Code.Temporary() && !retried(*o, refused):
		o.Condition = swap.NoCondition
		return e.abandon(o, refused)
	case err != nil:
		e.Log(*o, err)
	}
	c := swap.OfRefusal(swap.Refused, why)
	o.Condition, o.Proposal = swap.NeedsConsent, fresh
	if fresh != nil {
		if fresh.Seal, err = e.seal(proposalOf(*o), swap.UserAct{Action: "propose", ActedAt: fresh.Made}); err != nil {
			o.Proposal = nil // without a seal it could not be accepted
			return swap.NoCause, err
		}
	}
	o.SetCause(c)
	return c.WithText("needs consent: " + why.Reason), nil
}

// freshProposal makes a proposal for an order that is as its user accepted it.
func (e *Engine) freshProposal(ctx context.Context, o swap.Order, why *swap.Refusal) (*swap.Proposal, error) {
	p, err := e.provider(&o)
	if err != nil {
		return nil, err
	}
	if err := e.checkAccepted(o); err != nil {
		return nil, err
	}
	return e.Planner.Proposal(ctx, p, o, why)
}
