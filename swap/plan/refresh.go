package plan

import (
	"context"
	"errors"
	"swapkeep/internal/clock"
	"swapkeep/swap"
	"sync"
	"time"
)

// requoteIntervals are the pauses between an answer of a provider and the next request, while
// somebody looks: within the life of its offers, and far below its rate limit.
var requoteIntervals = map[swap.Kind]time.Duration{
	swap.DEX:     20 * time.Second, // offers live 30 s; six calls a second
	swap.Bridge:  25 * time.Second, // offers live 30 s; 50 quotes a minute
	swap.Intent:  25 * time.Second, // a route with less than 30 s left is not executable
	swap.Gasless: 20 * time.Second, // makers mind frequent requests
}

// maxRequoteInterval bounds the pauses after failures, which double; a provider may ask for
// more.
const maxRequoteInterval = 2 * time.Minute

// errDropped means that all offers were dropped meanwhile: the wallet was locked, or the
// account or network changed.
var errDropped = errors.New("the offers were dropped")

// Requote continues after [Quoter.Quote]: it asks each provider again at its cadence,
// first one pause from now, and calls each with every new answer. A request that is
// watched more than once is sent once. Before each request it waits for awake, which
// returns when somebody looks, or with an error that ends the refresh. A provider that
// cannot serve the request, or has no valid key, is not asked again. Requote returns when
// ctx ends, with awake's error, with errDropped, or with nil once no provider is left.
func (q *Quoter) Requote(ctx context.Context, r swap.QuoteRequest, kinds []swap.Kind, awake func(context.Context) error, each func(QuoteUpdate)) error {
	if err := checkRequest(&r); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b := q.newRanking(ctx, r, each)
	loop := &requote{s: q, ranking: b, drops: b.drops, awake: awake, stop: stop}
	var wg sync.WaitGroup
	for _, k := range kindsOrAll(kinds) {
		wg.Go(func() { loop.run(ctx, k) })
	}
	wg.Wait()
	return context.Cause(ctx)
}

type requote struct {
	s       *Quoter
	ranking *ranking
	drops   uint64
	awake   func(context.Context) error
	stop    context.CancelCauseFunc
}

// run asks one provider repeatedly.
func (q *requote) run(ctx context.Context, k swap.Kind) {
	same, leave := q.s.watch(k, q.ranking.request)
	defer leave()
	for pause := requoteIntervals[k]; ; {
		select {
		case <-ctx.Done():
			return
		case <-clock.After(pause):
		}
		err := q.awake(ctx)
		if err == nil && q.s.Generation() != q.drops {
			err = errDropped
		}
		if err != nil {
			q.stop(err)
			return
		}
		offers, age, err := same.ask(ctx, requoteIntervals[k], q.drops, func() ([]swap.Offer, error) {
			return q.s.ask(ctx, q.ranking, k, func() error { return nil })
		})
		refused := asRefusal(err)
		if ctx.Err() != nil {
			return
		}
		if q.s.Generation() != q.drops {
			q.stop(errDropped)
			return
		}
		q.ranking.setAnswer(k, offers, refused)
		switch {
		case refused == nil:
			pause = requoteIntervals[k] - age
		case refused.Code == swap.ProviderKey || !refused.Code.Temporary() && refused.Code != swap.NoRoute:
			return
		default:
			pause = max(min(2*pause, maxRequoteInterval), swap.RetryDelay(refused))
		}
	}
}
