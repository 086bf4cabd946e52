package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/swap"
	"swapkeep/swap/plan"
)

// swapQuote runs cancellable from before its parameters are checked: a quote whose
// password was checked before a lock must not be watched after it.
func (c *call) swapQuote(ctx context.Context, p *protocol.QuoteParams) (any, error) {
	ctx, end := c.beginQuote(ctx, c.number, p.Watch)
	defer end()
	out, err := c.quote(ctx, p)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, protocol.New("quote_unknown", "the quote was ended meanwhile: it was stopped, a newer one took its place, or the wallet was locked or switched")
	}
	return out, err
}

func (c *call) quote(ctx context.Context, p *protocol.QuoteParams) (any, error) {
	r, kinds, err := c.quoteOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := c.confirmForeign(ctx, p); err != nil {
		return nil, err
	}
	done, err := c.s.acquireQuoteSlot(ctx, c.caller().Origin)
	if err != nil {
		return nil, err
	}
	defer done()
	id := json.RawMessage(c.id)
	each := func(q plan.QuoteUpdate) { c.notify("swap.quoted", c.s.quotedOf(id, q)) }
	res, err := c.s.Swaps.Quote(ctx, r, kinds, each)
	if err != nil {
		return nil, err
	}
	if p.Watch {
		c.keepQuoting(ctx, c.number, r, kinds, each)
	}
	out := protocol.QuoteResult{Offers: list(res.Offers, c.s.valuedOffer), Failures: map[string]*protocol.Error{}}
	for k, failure := range res.Failures {
		out.Failures[string(k)] = c.s.refusalOf(failure)
	}
	return out, nil
}

func (s *Server) quotedOf(id json.RawMessage, q plan.QuoteUpdate) protocol.Quoted {
	out := protocol.Quoted{Call: id, Provider: string(q.Provider), Offers: list(q.Offers, s.valuedOffer), Done: q.Done, Order: list(q.Ranked, offerID)}
	if q.Failure != nil {
		out.Failure = s.refusalOf(q.Failure)
	}
	return out
}

func (c *call) swapWatch(_ context.Context, p *protocol.WatchParams) (any, error) {
	if p.Stop {
		c.stopQuotes(c.number)
		return protocol.WatchResult{}, nil
	}
	c.mu.Lock()
	w := c.quotes.watch
	c.mu.Unlock()
	if w == nil || w.ended() {
		return protocol.WatchResult{}, nil
	}
	until := w.extend(clock.Now()).UTC()
	return protocol.WatchResult{Watching: true, Until: &until}, nil
}

// acquireQuoteSlot waits for one of the origin's MaxQuoting slots for quotes and plans.
// However many windows an origin opens, it cannot use up the providers' time of other
// origins or of a terminal.
func (s *Server) acquireQuoteSlot(ctx context.Context, origin string) (done func(), err error) {
	s.mu.Lock()
	p := s.quoteSlots[origin]
	if p == nil {
		p = &quotePlaces{taken: make(chan struct{}, protocol.MaxQuoting)}
		s.quoteSlots[origin] = p
	}
	p.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.users--; p.users == 0 {
			delete(s.quoteSlots, origin) // origins are any number
		}
	}
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// quotePlaces are one origin's slots for quotes, kept while any is in use or waited for.
type quotePlaces struct {
	taken chan struct{}
	users int // guarded by Server.mu
}

// connQuotes are the quotes that a connection has requested.
type connQuotes struct {
	running map[*quoteRun]struct{} // in progress
	watch   *quoteWatch            // nil: none
	watched uint64                 // number of the last request with watch
	stopped uint64                 // number of the last request that ended earlier ones
}

// A quoteRun is a quote in progress.
type quoteRun struct {
	number uint64 // of its request
	watch  bool   // to be watched afterwards
	cancel context.CancelFunc
}

// superseded reports whether a later request has ended q.
func (all *connQuotes) superseded(q *quoteRun) bool {
	return q.number < all.stopped || q.watch && q.number < all.watched
}

// cancelSuperseded cancels quotes and a watch that later requests have ended. A newer quote ends
// the watch only once it is answered.
func (all *connQuotes) cancelSuperseded() {
	for q := range all.running {
		if all.superseded(q) {
			q.cancel()
		}
	}
	if all.watch != nil && all.watch.number < all.stopped {
		all.endWatch()
	}
}

func (all *connQuotes) endWatch() {
	if all.watch != nil {
		all.watch.cancel()
		all.watch = nil
	}
}

// beginQuote registers a quote, so that stopQuotes or a newer quote with watch can cancel
// it. Among quotes with watch the last one requested wins, in whatever order they are
// answered.
func (c *conn) beginQuote(ctx context.Context, number uint64, watch bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	q := &quoteRun{number, watch, cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quotes.running == nil {
		c.quotes.running = map[*quoteRun]struct{}{}
	}
	c.quotes.running[q] = struct{}{}
	if watch {
		c.quotes.watched = max(c.quotes.watched, number)
	}
	c.quotes.cancelSuperseded()
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.quotes.running, q)
		cancel()
	}
}

// stopQuotes ends the watch and the quotes in progress that were requested before request
// number.
func (c *conn) stopQuotes(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quotes.stopped = max(c.quotes.stopped, number)
	c.quotes.cancelSuperseded()
}

// dropQuotes ends the watch and all quotes in progress.
func (c *conn) dropQuotes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for q := range c.quotes.running {
		q.cancel()
	}
	c.quotes.endWatch()
}

// dropPlans drops all offers and plans, and ends all quotes and watches.
func (s *Server) dropPlans() {
	s.Swaps.DropPlans()
	s.mu.Lock()
	all := s.list()
	s.mu.Unlock()
	for _, c := range all {
		c.dropQuotes()
	}
}

// keepQuoting keeps refreshing the quote of request number, unless it has been ended, and
// replaces the connection's previous watch. It pauses while nobody looks.
func (c *conn) keepQuoting(quote context.Context, number uint64, r swap.QuoteRequest, kinds []swap.Kind, each func(plan.QuoteUpdate)) {
	ctx, cancel := context.WithCancel(c.ctx)
	w := &quoteWatch{number: number, cancel: cancel, extended: make(chan struct{}), done: make(chan struct{})}
	w.extend(clock.Now())
	c.mu.Lock()
	ended := quote.Err() != nil
	if !ended {
		c.quotes.endWatch()
		c.quotes.watch = w
	}
	c.mu.Unlock()
	if ended {
		cancel()
		return
	}
	c.wg.Go(func() {
		defer close(w.done)
		defer cancel()
		if err := c.s.Swaps.Requote(ctx, r, kinds, w.waitActive, each); err != nil && !errors.Is(err, context.Canceled) {
			c.s.Log.Debug().Err(err).Msg("stopped refreshing quotes")
		}
	})
}

// A quoteWatch refreshes a quote as long as somebody looks at it.
type quoteWatch struct {
	number uint64 // of the request
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended

	mu       sync.Mutex
	until    time.Time
	extended chan struct{} // closed by the next look; paused refreshes wait for it
}

// extend extends the watch and returns its new end.
func (w *quoteWatch) extend(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = now.Add(protocol.WatchTimeout)
	close(w.extended)
	w.extended = make(chan struct{})
	return w.until
}

func (w *quoteWatch) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// waitActive blocks while the watch is paused. It returns ctx's error if ctx ends first.
func (w *quoteWatch) waitActive(ctx context.Context) error {
	for {
		w.mu.Lock()
		looks, again := clock.Now().Before(w.until), w.extended
		w.mu.Unlock()
		if looks {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again:
		}
	}
}
