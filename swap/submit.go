package swap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/internal/failpoint"
)

// A Submission records the handing of an order to its provider. It is journaled before
// every try, so that after a crash the provider is asked whether it has the order before
// it is handed over again.
type Submission struct {
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Tries   int       `json:"tries"`
	Taken   bool      `json:"taken,omitempty"`   // the provider has it
	Refused bool      `json:"refused,omitempty"` // of a signed order: certainly not taken, and not handed over again
}

const (
	// submitTimeout is how long an order waits for its provider's answer before the chain is
	// watched as well.
	submitTimeout = 30 * time.Second
	// firstSubmitPause is the pause after the first try. It doubles, up to maxSubmitPause.
	firstSubmitPause = time.Second
	maxSubmitPause   = time.Hour
)

// retryPause returns the pause between the last try and the next.
func (s *Submission) retryPause() time.Duration {
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

// closed reports whether the outcome of the submission is known.
func (s *Submission) closed() bool { return s != nil && (s.Taken || s.Refused) }

// submittable reports whether the provider may still be told of o: of a deposit always,
// since it has the money; of a signed order until its deadline, unless the user wants it
// ended.
func (e *Engine) submittable(o Order) bool {
	f := o.Plan.lastEffect()
	return !o.Submission.closed() && (f.Kind != Signed || !o.Cancel && !e.Now().After(f.Deadline))
}

// submit hands o to its provider, which accepts it, refuses it or leaves that unknown. It
// goes on to Settling once the answer is known or submitTimeout has passed: whatever the
// answer, what was signed may have left the process, so the chain decides.
func (e *Engine) submit(ctx context.Context, o *Order) (Cause, error) {
	note, err := noReason, error(nil)
	switch told := o.Submission; {
	case told.closed():
	case !e.submittable(*o) && told == nil:
		note = newCause(NotHandedOver)
		o.setCause(note)
		note = note.withText("not submitted")
	case !e.submittable(*o):
		note = newCause(ProviderMissed)
	case told != nil && elapsed(e.Now(), told.First) >= submitTimeout:
		note = newCause(AnswerUnknown)
	default:
		if note, err = e.trySubmit(ctx, o); err != nil || !o.Submission.closed() {
			return note, err
		}
	}
	return note, o.setState(Settling)
}

// trySubmit makes one try to hand o to its provider, if one is due. It first journals, in a
// commit of its own, that it is about to. From the second try on it asks the provider
// first, and repeats only if the provider certainly does not know the order.
func (e *Engine) trySubmit(ctx context.Context, o *Order) (Cause, error) {
	s, err := e.settler(o)
	if err != nil {
		return noReason, err
	}
	now := e.Now()
	if o.Submission == nil {
		o.Submission = &Submission{First: now}
	} else {
		if elapsed(now, o.Submission.Last) < o.Submission.retryPause() {
			return noReason, nil
		}
		known, err := e.providerKnows(ctx, s, o)
		if err != nil || known {
			return newCause(ProviderHasIt), err
		}
	}
	told := *o.Submission
	told.Last, told.Tries = now, told.Tries+1
	o.Submission, o.Updated = &told, now
	if err := e.Journal.Update(o, newCause(TellingProvider)); err != nil {
		return noReason, err
	}
	failpoint.Point("engine.before_submit")
	ctx, kept := e.keepOrderAnswer(ctx, *o)
	ref, err := s.Submit(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_submit")
	return e.recordAnswer(o, ref, err)
}

// providerKnows asks the provider whether it knows an order that it was told of.
func (e *Engine) providerKnows(ctx context.Context, s Settler, o *Order) (known bool, err error) {
	failpoint.Point("engine.before_status")
	ctx, kept := e.keepOrderAnswer(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_status")
	if errors.Is(err, &Refusal{Code: OrderUnknown}) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("whether the provider has the order: %w", err)
	}
	told := *o.Submission
	told.Taken = true
	o.Submission = &told
	o.recordClaim(c)
	return true, nil
}

// recordAnswer records the provider's answer. A signed order that it refuses may still be
// filled, and is not signed again; a refused deposit is reported again, at growing
// intervals, since the provider has the money.
func (e *Engine) recordAnswer(o *Order, ref string, err error) (Cause, error) {
	told := *o.Submission
	var refused *Refusal
	switch certain := errors.As(err, &refused) && !refused.Code.temporary(); {
	case err == nil:
		told.Taken, o.Ref = true, ref
		o.Submission = &told
		o.setCause(noReason)
		return newCause(Submitted), nil
	case !certain:
		return noReason, err
	case o.Plan.lastEffect().Kind == Signed:
		told.Refused = true
		c := Claim{State: Failed, Reason: refused.Reason}.tidy()
		o.Submission, o.Claim = &told, &c
	}
	c := ofRefusal(RefusedByProvider, refused)
	o.setCause(c)
	return c.withText("refused by the provider: " + refused.Reason), nil
}

// pollSettling looks for the end of an order on the chain. It also tells the provider again
// of what it may not know, and invalidates a signed order that the user wants ended.
func (e *Engine) pollSettling(ctx context.Context, o *Order) (Cause, error) {
	told := noReason
	if o.Plan.Settlement == ByProvider && e.submittable(*o) {
		var err error
		if told, err = e.trySubmit(ctx, o); journalUncertain(err) {
			return noReason, err
		} else if err != nil {
			e.Log(*o, err)
		}
	}
	note, err := e.settle(ctx, o)
	if note.Word == "" {
		note = told
	}
	if !o.needsInvalidation() {
		return note, err
	}
	return e.invalidateOrder(ctx, o, note, err)
}

// journalUncertain reports whether err leaves it open what the journal says.
func journalUncertain(err error) bool {
	return errors.Is(err, errStale) || errors.Is(err, &Refusal{Code: JournalFailed})
}
