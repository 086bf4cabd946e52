package swap

import (
	"context"
	"errors"
	"slices"
	"time"

	"swapkeep/internal/clock"

	"golang.org/x/time/rate"
)

// A pace is how often a provider is asked for quotes, by all windows together.
type pace struct {
	every time.Duration
	burst int
}

// paces stay below each provider's rate limit, so that quotes never use up the requests
// that orders in progress need.
var paces = map[Kind]pace{
	DEX:     {500 * time.Millisecond, 6},  // limit: six calls a second
	Bridge:  {1500 * time.Millisecond, 6}, // limit: 50 quotes a minute
	Intent:  {500 * time.Millisecond, 6},  // limit not published
	Gasless: {500 * time.Millisecond, 6},  // makers mind frequent requests
}

// building is how often any provider may be asked to build the plan of an offer.
var building = pace{500 * time.Millisecond, 10}

// A queue has the rate limiters of one provider's quotes and plans.
type queue struct{ quotes, plans *rate.Limiter }

func newQueues() map[Kind]queue {
	limiter := func(p pace) *rate.Limiter { return rate.NewLimiter(rate.Every(p.every), p.burst) }
	out := map[Kind]queue{}
	for k, p := range paces {
		out[k] = queue{limiter(p), limiter(building)}
	}
	return out
}

// turn waits until provider k may be asked again. If ctx's deadline does not leave time
// for that it returns ProviderBusy at once. It also does so if the deadline passes during
// the wait, since the queue used up the time.
func turn(ctx context.Context, k Kind, pace *rate.Limiter) error {
	err := clock.Wait(ctx, pace)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return Refuse(ProviderBusy, "too much is asked of the %s provider at once; close other windows, or try again shortly", k)
}

// A question identifies a quote request to one provider.
type question struct {
	kind    Kind
	request string
}

// A shared question is repeated while it is watched. However many windows watch it, the
// provider is asked once.
type shared struct {
	turn     chan struct{} // held while the provider is asked
	watchers int           // guarded by Service.mu

	at     time.Time // time of the last answer; zero: none was kept yet
	drops  uint64
	offers []Offer
	err    error
}

// watch registers a watcher of a quote request. leave removes it and must be called once.
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

// ask returns the answer to a shared question, and its age. It reuses another watcher's
// answer that is less than half a pause old.
func (w *shared) ask(ctx context.Context, pause time.Duration, drops uint64, ask func() ([]Offer, error)) (offers []Offer, age time.Duration, err error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	if age = clock.Now().Sub(w.at); w.drops == drops && !w.at.IsZero() && age < pause/2 {
		return slices.Clone(w.offers), age, w.err
	}
	offers, err = ask()
	if ctx.Err() == nil {
		w.at, w.drops, w.offers, w.err = clock.Now(), drops, slices.Clone(offers), err
	}
	return offers, 0, err
}
