package swap

import (
	"context"
	"errors"
	"slices"
	"time"

	"swapkeep/fault"

	"golang.org/x/time/rate"
)

// A pace is how often a provider is asked for quotes, by all windows together.
type pace struct {
	every time.Duration
	burst int
}

// paces stay below what each provider grants, so that nobody who asks for quotes
// keeps it from the orders that it settles.
var paces = map[Kind]pace{
	DEX:     {500 * time.Millisecond, 6},  // of six calls a second
	Bridge:  {1500 * time.Millisecond, 6}, // of 50 quotes a minute
	Intent:  {500 * time.Millisecond, 6},  // of a limit that is not published
	Gasless: {500 * time.Millisecond, 6},  // makers mind being asked often
}

// building is how often any provider may be asked to build the plan of an offer that
// somebody looks at.
var building = pace{500 * time.Millisecond, 10}

// A queue is where those wait who ask a provider for a quote, or for a plan.
type queue struct{ quotes, plans *rate.Limiter }

func newQueues() map[Kind]queue {
	limiter := func(p pace) *rate.Limiter { return rate.NewLimiter(rate.Every(p.every), p.burst) }
	out := map[Kind]queue{}
	for k, p := range paces {
		out[k] = queue{limiter(p), limiter(building)}
	}
	return out
}

// turn waits until provider k may be asked for more. Where that would take longer
// than there is time, it is refused at once: also where the turn comes with the
// deadline, for it was the queue that took the time.
func turn(ctx context.Context, k Kind, pace *rate.Limiter) error {
	err := fault.Wait(ctx, pace)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return Refuse(ProviderBusy, "too much is asked of the %s provider at once; close other windows, or try again shortly", k)
}

// A question is a request as one provider is asked it.
type question struct {
	kind    Kind
	request string
}

// A shared question is asked again and again. However many windows watch it, it is
// asked once.
type shared struct {
	turn     chan struct{} // held while it is asked
	watchers int           // s.mu is held

	at     time.Time // when it was answered last; zero: not yet, or to nobody
	drops  uint64
	offers []Offer
	err    error
}

// watch joins those who watch a question, until leave is called.
func (s *Service) watch(k Kind, r QuoteRequest) (w *shared, leave func()) {
	q := question{k, string(mustJSON(r))}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches[q] == nil {
		s.watches[q] = &shared{turn: make(chan struct{}, 1)}
	}
	w = s.watches[q]
	w.watchers++
	return w, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.watchers--; w.watchers == 0 {
			delete(s.watches, q)
		}
	}
}

// ask gives the answer to a shared question, and how old it is: another watcher's,
// if that is not older than half a pause.
func (w *shared) ask(ctx context.Context, pause time.Duration, drops uint64, ask func() ([]Offer, error)) (offers []Offer, age time.Duration, err error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	if age = fault.Now().Sub(w.at); w.drops == drops && !w.at.IsZero() && age < pause/2 {
		return slices.Clone(w.offers), age, w.err
	}
	offers, err = ask()
	if ctx.Err() == nil {
		w.at, w.drops, w.offers, w.err = fault.Now(), drops, slices.Clone(offers), err
	}
	return offers, 0, err
}
