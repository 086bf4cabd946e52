package plan

import (
	"context"
	"errors"
	"slices"
	"swapkeep/internal/clock"
	"swapkeep/swap"
	"time"

	"golang.org/x/time/rate"
)

// A rateGate is how often a provider is asked for quotes, by all windows together.
type rateGate struct {
	every time.Duration
	burst int
}

// quoteRates stay below each provider's rate limit, so that quotes never use up the requests
// that orders in progress need.
var quoteRates = map[swap.Kind]rateGate{
	swap.DEX:     {500 * time.Millisecond, 6},  // limit: six calls a second
	swap.Bridge:  {1500 * time.Millisecond, 6}, // limit: 50 quotes a minute
	swap.Intent:  {500 * time.Millisecond, 6},  // limit not published
	swap.Gasless: {500 * time.Millisecond, 6},  // makers mind frequent requests
}

// planRate is how often any provider may be asked to build the plan of an offer.
var planRate = rateGate{500 * time.Millisecond, 10}

// A providerLimiters has the rate limiters of one provider's quotes and plans.
type providerLimiters struct{ quotes, plans *rate.Limiter }

func newProviderLimiters() map[swap.Kind]providerLimiters {
	limiter := func(p rateGate) *rate.Limiter { return rate.NewLimiter(rate.Every(p.every), p.burst) }
	out := map[swap.Kind]providerLimiters{}
	for k, p := range quoteRates {
		out[k] = providerLimiters{limiter(p), limiter(planRate)}
	}
	return out
}

// waitQuota waits until provider k may be asked again. If ctx's deadline does not leave time
// for that it returns ProviderBusy at once. It also does so if the deadline passes during
// the wait, since the queue used up the time.
func waitQuota(ctx context.Context, k swap.Kind, pace *rate.Limiter) error {
	err := clock.Wait(ctx, pace)
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	}
	return swap.Refuse(swap.ProviderBusy, "too much is asked of the %s provider at once; close other windows, or try again shortly", k)
}

// A quoteKey identifies a quote request to one provider.
type quoteKey struct {
	kind    swap.Kind
	request string
}

// A sharedQuote question is repeated while it is watched. However many windows watch it, the
// provider is asked once.
type sharedQuote struct {
	sem      chan struct{} // held while the provider is asked
	watchers int           // guarded by Quoter.mu

	at     time.Time // time of the last answer; zero: none was kept yet
	drops  uint64
	offers []swap.Offer
	err    error
}

// watch registers a watcher of a quote request. leave removes it and must be called once.
func (q *Quoter) watch(k swap.Kind, r swap.QuoteRequest) (w *sharedQuote, leave func()) {
	key := quoteKey{k, string(swap.MustJSON(r))}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.watches[key] == nil {
		q.watches[key] = &sharedQuote{sem: make(chan struct{}, 1)}
	}
	w = q.watches[key]
	w.watchers++
	return w, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if w.watchers--; w.watchers == 0 {
			delete(q.watches, key)
		}
	}
}

// ask returns the answer to a shared question, and its age. It reuses another watcher's
// answer that is less than half a pause old.
func (w *sharedQuote) ask(ctx context.Context, pause time.Duration, drops uint64, ask func() ([]swap.Offer, error)) (offers []swap.Offer, age time.Duration, err error) {
	select {
	case w.sem <- struct{}{}:
		defer func() { <-w.sem }()
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
