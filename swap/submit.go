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
	// submitTime is how long an order waits for its provider's answer before the chain is
	// watched as well.
	submitTime = 30 * time.Second
	// submitRest is the pause after the first try. It doubles, up to longestRest.
	submitRest  = time.Second
	longestRest = time.Hour
)

// rest returns the pause between the last try and the next.
func (s *Submission) rest() time.Duration {
	rest := submitRest
	for range s.Tries - 1 {
		if rest = min(2*rest, longestRest); rest == longestRest {
			break
		}
	}
	return rest
}

// apart returns how far a recorded time is from now. A time in the future was recorded
// before the clock was set back, and counts as that long ago.
func apart(now, then time.Time) time.Duration { return now.Sub(then).Abs() }

// closed reports whether the outcome of the submission is known.
func (s *Submission) closed() bool { return s != nil && (s.Taken || s.Refused) }

// tellable reports whether the provider may still be told of o: of a deposit always,
// since it has the money; of a signed order until its deadline, unless the user wants it
// ended.
func (e *Engine) tellable(o Order) bool {
	f := o.Plan.last()
	return !o.Submission.closed() && (f.Kind != Signed || !o.Cancel && !e.Now().After(f.Deadline))
}

// submit hands o to its provider, which accepts it, refuses it or leaves that unknown. It
// goes on to Settling once the answer is known or submitTime has passed: whatever the
// answer, what was signed may have left the process, so the chain decides.
func (e *Engine) submit(ctx context.Context, o *Order) (Cause, error) {
	note, err := untold, error(nil)
	switch told := o.Submission; {
	case told.closed():
	case !e.tellable(*o) && told == nil:
		note = because(NotHandedOver)
		o.because(note)
		note = note.says("not submitted")
	case !e.tellable(*o):
		note = because(ProviderMissed)
	case told != nil && apart(e.Now(), told.First) >= submitTime:
		note = because(AnswerUnknown)
	default:
		if note, err = e.tell(ctx, o); err != nil || !o.Submission.closed() {
			return note, err
		}
	}
	return note, o.to(Settling)
}

// tell makes one try to hand o to its provider, if one is due. It first journals, in a
// commit of its own, that it is about to. From the second try on it asks the provider
// first, and repeats only if the provider certainly does not know the order.
func (e *Engine) tell(ctx context.Context, o *Order) (Cause, error) {
	s, err := e.settler(o)
	if err != nil {
		return untold, err
	}
	now := e.Now()
	if o.Submission == nil {
		o.Submission = &Submission{First: now}
	} else {
		if apart(now, o.Submission.Last) < o.Submission.rest() {
			return untold, nil
		}
		known, err := e.recall(ctx, s, o)
		if err != nil || known {
			return because(ProviderHasIt), err
		}
	}
	told := *o.Submission
	told.Last, told.Tries = now, told.Tries+1
	o.Submission, o.Updated = &told, now
	if err := e.Journal.Update(o, because(TellingProvider)); err != nil {
		return untold, err
	}
	failpoint.Point("engine.before_submit")
	ctx, kept := e.keepingOf(ctx, *o)
	ref, err := s.Submit(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_submit")
	return e.answered(o, ref, err)
}

// recall asks the provider whether it knows an order that it was told of.
func (e *Engine) recall(ctx context.Context, s Settler, o *Order) (known bool, err error) {
	failpoint.Point("engine.before_status")
	ctx, kept := e.keepingOf(ctx, *o)
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
	o.claimed(c)
	return true, nil
}

// answered records the provider's answer. A signed order that it refuses may still be
// filled, and is not signed again; a refused deposit is reported again, at growing
// intervals, since the provider has the money.
func (e *Engine) answered(o *Order, ref string, err error) (Cause, error) {
	told := *o.Submission
	var refused *Refusal
	switch certain := errors.As(err, &refused) && !refused.Code.temporary(); {
	case err == nil:
		told.Taken, o.Ref = true, ref
		o.Submission = &told
		o.because(untold)
		return because(Submitted), nil
	case !certain:
		return untold, err
	case o.Plan.last().Kind == Signed:
		told.Refused = true
		c := Claim{State: Failed, Reason: refused.Reason}.tidy()
		o.Submission, o.Claim = &told, &c
	}
	c := ofRefusal(RefusedByProvider, refused)
	o.because(c)
	return c.says("refused by the provider: " + refused.Reason), nil
}

// settling looks for the end of an order on the chain. It also tells the provider again
// of what it may not know, and invalidates a signed order that the user wants ended.
func (e *Engine) settling(ctx context.Context, o *Order) (Cause, error) {
	told := untold
	if o.Plan.Settlement == ByProvider && e.tellable(*o) {
		var err error
		if told, err = e.tell(ctx, o); unrecorded(err) {
			return untold, err
		} else if err != nil {
			e.Log(*o, err)
		}
	}
	note, err := e.settle(ctx, o)
	if note.Word == "" {
		note = told
	}
	if !o.voids() {
		return note, err
	}
	return e.void(ctx, o, note, err)
}

// unrecorded reports whether err leaves it open what the journal says.
func unrecorded(err error) bool {
	return errors.Is(err, errStale) || errors.Is(err, &Refusal{Code: JournalFailed})
}
