package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/internal/failpoint"
	"swapkeep/swap"
	"swapkeep/swap/journal"
)

const (
	// submitTimeout is how long an order waits for its provider's answer before the chain is
	// watched as well.
	submitTimeout = 30 * time.Second
	// firstSubmitPause is the pause after the first try. It doubles, up to maxSubmitPause.
	firstSubmitPause = time.Second
	maxSubmitPause   = time.Hour
)

// retryPause returns the pause between the last try and the next.
func retryPause(s *swap.Submission) time.Duration {
	rest := firstSubmitPause
	for range s.Tries - 1 {
		if rest = min(2*rest, maxSubmitPause); rest == maxSubmitPause {
			break
		}
	}
	return rest
}

// elapsed returns how far a recorded time is from now. A time in the future was recorded
// before the clock was set back, and counts as that long ago.
func elapsed(now, then time.Time) time.Duration { return now.Sub(then).Abs() }

// submittable reports whether the provider may still be told of o: of a deposit always,
// since it has the money; of a signed order until its deadline, unless the user wants it
// ended.
func (e *Engine) submittable(o swap.Order) bool {
	f := o.Plan.LastEffect()
	return !o.Submission.Closed() && (f.Kind != swap.Signed || !o.Cancel && !e.Now().After(f.Deadline))
}

// submit hands o to its provider, which accepts it, refuses it or leaves that unknown. It
// goes on to Settling once the answer is known or submitTimeout has passed: whatever the
// answer, what was signed may have left the process, so the chain decides.
func (e *Engine) submit(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	note, err := swap.NoCause, error(nil)
	switch told := o.Submission; {
	case told.Closed():
	case !e.submittable(*o) && told == nil:
		note = swap.NewCause(swap.NotSubmitted)
		o.SetCause(note)
		note = note.WithText("not submitted")
	case !e.submittable(*o):
		note = swap.NewCause(swap.ProviderUnreachable)
	case told != nil && elapsed(e.Now(), told.First) >= submitTimeout:
		note = swap.NewCause(swap.AnswerUnknown)
	default:
		if note, err = e.trySubmit(ctx, o); err != nil || !o.Submission.Closed() {
			return note, err
		}
	}
	return note, o.SetState(swap.Settling)
}

// trySubmit makes one try to hand o to its provider, if one is due. It first journals, in a
// commit of its own, that it is about to. From the second try on it asks the provider
// first, and repeats only if the provider certainly does not know the order.
func (e *Engine) trySubmit(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	s, err := e.settler(o)
	if err != nil {
		return swap.NoCause, err
	}
	now := e.Now()
	if o.Submission == nil {
		o.Submission = &swap.Submission{First: now}
	} else {
		if elapsed(now, o.Submission.Last) < retryPause(o.Submission) {
			return swap.NoCause, nil
		}
		known, err := e.providerKnows(ctx, s, o)
		if err != nil || known {
			return swap.NewCause(swap.ProviderReceived), err
		}
	}
	told := *o.Submission
	told.Last, told.Tries = now, told.Tries+1
	o.Submission, o.Updated = &told, now
	if err := e.Journal.Update(o, swap.NewCause(swap.ReasonSubmitting)); err != nil {
		return swap.NoCause, err
	}
	failpoint.Point("engine.before_submit")
	ctx, kept := e.keepOrderAnswer(ctx, *o)
	ref, err := s.Submit(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_submit")
	return e.recordAnswer(o, ref, err)
}

// providerKnows asks the provider whether it knows an order that it was told of.
func (e *Engine) providerKnows(ctx context.Context, s swap.Settler, o *swap.Order) (known bool, err error) {
	failpoint.Point("engine.before_status")
	ctx, kept := e.keepOrderAnswer(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_status")
	if errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether the provider has the order: %w", err)
	}
	told := *o.Submission
	told.Accepted = true
	o.Submission = &told
	recordClaim(o, c)
	return true, nil
}

// recordAnswer records the provider's answer. A signed order that it refuses may still be
// filled, and is not signed again; a refused deposit is reported again, at growing
// intervals, since the provider has the money.
func (e *Engine) recordAnswer(o *swap.Order, ref string, err error) (swap.Cause, error) {
	told := *o.Submission
	var refused *swap.Refusal
	switch certain := errors.As(err, &refused) && !refused.Code.Temporary(); {
	case err == nil:
		told.Accepted, o.ProviderOrderID = true, ref
		o.Submission = &told
		o.SetCause(swap.NoCause)
		return swap.NewCause(swap.Submitted), nil
	case !certain:
		return swap.NoCause, err
	case o.Plan.LastEffect().Kind == swap.Signed:
		told.Refused = true
		c := tidyClaim(swap.Claim{State: swap.Failed, Reason: refused.Reason})
		o.Submission, o.Claim = &told, &c
	}
	c := swap.OfRefusal(swap.RefusedByProvider, refused)
	o.SetCause(c)
	return c.WithText("refused by the provider: " + refused.Reason), nil
}

// pollSettling looks for the end of an order on the chain. It also tells the provider again
// of what it may not know, and invalidates a signed order that the user wants ended.
func (e *Engine) pollSettling(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	told := swap.NoCause
	if o.Plan.Settlement == swap.ByProvider && e.submittable(*o) {
		var err error
		if told, err = e.trySubmit(ctx, o); journalUncertain(err) {
			return swap.NoCause, err
		} else if err != nil {
			e.Log(*o, err)
		}
	}
	note, err := e.settle(ctx, o)
	if note.Reason == "" {
		note = told
	}
	if at, ok := o.UnwatchTime(); ok && o.State == swap.Settling && e.Now().After(at) && e.lookedLate(o.ID, err) {
		return e.closeByAge(o)
	}
	if !needsInvalidation(*o) {
		return note, err
	}
	return e.invalidateOrder(ctx, o, note, err)
}

// journalUncertain reports whether err leaves it open what the journal says.
func journalUncertain(err error) bool {
	return errors.Is(err, journal.ErrStale) || errors.Is(err, &swap.Refusal{Code: swap.JournalFailed})
}
