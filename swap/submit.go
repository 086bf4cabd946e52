package swap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/fault"
)

// A Submission is what an order remembers of telling its provider. It is written
// down before each time, so that after a crash the provider is asked whether it
// has the order before it is told again.
type Submission struct {
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Tries   int       `json:"tries"`
	Taken   bool      `json:"taken,omitempty"`   // the provider has it
	Refused bool      `json:"refused,omitempty"` // of a signed order: certainly not taken, and not told again
}

const (
	// submitTime is how long an order waits for its provider's answer before the
	// chain is watched beside.
	submitTime = 30 * time.Second
	// submitRest is the pause after the first try to tell a provider. It doubles,
	// up to longestRest.
	submitRest  = time.Second
	longestRest = time.Hour
)

// rest is how long after it was told the provider is not told again.
func (s *Submission) rest() time.Duration {
	rest := submitRest
	for range s.Tries - 1 {
		if rest = min(2*rest, longestRest); rest == longestRest {
			break
		}
	}
	return rest
}

// apart is how far a recorded moment is from now. One that lies ahead was recorded before
// the clock was set back, and as far ahead of it: it is past, then.
func apart(now, then time.Time) time.Duration { return now.Sub(then).Abs() }

// closed reports whether what became of telling the provider is known.
func (s *Submission) closed() bool { return s != nil && (s.Taken || s.Refused) }

// tellable reports whether the provider may be told of o now: of a deposit always,
// since it has the money; of a signed order as long as that is good and wanted.
func (e *Engine) tellable(o Order) bool {
	f := o.Plan.last()
	return !o.Submission.closed() && (f.Kind != Signed || !o.Cancel && !e.Now().After(f.Deadline))
}

// submit tells the provider, which answers accepted, refused or unknown, and goes
// on to settling once that is known or takes its time: what was signed may have
// left the process whatever the answer is, so that the chain decides.
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

// tell has one try at telling the provider of o, if it is time for one. What is
// recorded first, in a commit of its own, is that it is about to be told; from the
// second try on it is asked what it knows, and told again only where it says for
// certain that it does not know the order.
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
	fault.Point("engine.before_submit")
	ctx, kept := e.keepingOf(ctx, *o)
	ref, err := s.Submit(ctx, *o)
	kept(err)
	fault.Point("engine.after_submit")
	return e.answered(o, ref, err)
}

// recall asks whether the provider knows an order of which it was told.
func (e *Engine) recall(ctx context.Context, s Settler, o *Order) (known bool, err error) {
	fault.Point("engine.before_status")
	ctx, kept := e.keepingOf(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	fault.Point("engine.after_status")
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

// answered takes over what the provider said. A signed order that it refuses may
// live all the same, and is not signed again; a deposit that it refuses to know is
// told of again, ever more slowly, since it has the money.
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

// settling looks for the end of an order on the chain. Beside that the provider is
// told again of what it may not know, and a signed order that the user wants ended
// is made void.
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

// unrecorded reports whether an error leaves open what the journal says.
func unrecorded(err error) bool {
	return errors.Is(err, errStale) || errors.Is(err, &Refusal{Code: JournalFailed})
}
