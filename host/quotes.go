package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"swapkeep/fault"
	"swapkeep/host/protocol"
	"swapkeep/swap"
)

// swapQuote is ended from its first look at the parameters on: what the password was
// given for before a lock must not be watched after it.
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
	done, err := c.s.placeToQuote(ctx, c.caller().Origin)
	if err != nil {
		return nil, err
	}
	defer done()
	id := json.RawMessage(c.id)
	each := func(q swap.Quoted) { c.notify("swap.quoted", c.s.quotedOf(id, q)) }
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

func (s *Server) quotedOf(id json.RawMessage, q swap.Quoted) protocol.Quoted {
	out := protocol.Quoted{Call: id, Provider: string(q.Provider), Offers: list(q.Offers, s.valuedOffer), Done: q.Done, Order: append([]string{}, q.Order...)}
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
	until := w.look(fault.Now()).UTC()
	return protocol.WatchResult{Watching: true, Until: &until}, nil
}

// placeToQuote waits for one of an origin's places, for a quote or a plan: however many
// windows it opens, it does not take the providers' time from another origin's, or from
// a terminal.
func (s *Server) placeToQuote(ctx context.Context, origin string) (done func(), err error) {
	s.mu.Lock()
	p := s.quoting[origin]
	if p == nil {
		p = &quotePlaces{taken: make(chan struct{}, protocol.MaxQuoting)}
		s.quoting[origin] = p
	}
	p.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.users--; p.users == 0 {
			delete(s.quoting, origin) // origins are any number
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

// quotePlaces are one origin's, while it uses or waits for one.
type quotePlaces struct {
	taken chan struct{}
	users int // Server.mu is held
}

// quotes are what a connection asked of the providers and still wants.
type quotes struct {
	running map[*quoteRun]struct{} // under way
	watch   *quoteWatch            // nil: none
	watched uint64                 // number of the last request for a watch
	stopped uint64                 // number of the last request that ended what was asked before
}

// A quoteRun is a quote under way.
type quoteRun struct {
	number uint64 // of its request
	watch  bool   // it is to be watched
	cancel context.CancelFunc
}

// over tells whether a later request has ended q.
func (all *quotes) over(q *quoteRun) bool {
	return q.number < all.stopped || q.watch && q.number < all.watched
}

// endOver ends what a later request has. The watch itself goes on until a newer quote
// is answered.
func (all *quotes) endOver() {
	for q := range all.running {
		if all.over(q) {
			q.cancel()
		}
	}
	if all.watch != nil && all.watch.number < all.stopped {
		all.endWatch()
	}
}

func (all *quotes) endWatch() {
	if all.watch != nil {
		all.watch.cancel()
		all.watch = nil
	}
}

// beginQuote makes a quote one that stopQuotes ends, and a newer one that is to be
// watched too: of these the last that was asked for has the watch, in whichever order
// they are answered.
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
	c.quotes.endOver()
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.quotes.running, q)
		cancel()
	}
}

// stopQuotes ends the quotes under way and the watch that were asked for before the
// request of that number.
func (c *conn) stopQuotes(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quotes.stopped = max(c.quotes.stopped, number)
	c.quotes.endOver()
}

// dropQuotes ends all quotes under way and the watch.
func (c *conn) dropQuotes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for q := range c.quotes.running {
		q.cancel()
	}
	c.quotes.endWatch()
}

// dropPlans forgets all offers and plans, and ends what asks for more of them.
func (s *Server) dropPlans() {
	s.Swaps.DropPlans()
	s.mu.Lock()
	all := s.list()
	s.mu.Unlock()
	for _, c := range all {
		c.dropQuotes()
	}
}

// keepQuoting goes on with a quote, the request of that number, that has not been
// ended: it asks again and again, in place of what this connection watched before,
// until it ends or nobody wants it. While nobody looks it pauses.
func (c *conn) keepQuoting(quote context.Context, number uint64, r swap.QuoteRequest, kinds []swap.Kind, each func(swap.Quoted)) {
	ctx, cancel := context.WithCancel(c.ctx)
	w := &quoteWatch{number: number, cancel: cancel, looked: make(chan struct{}), gone: make(chan struct{})}
	w.look(fault.Now())
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
		defer close(w.gone)
		defer cancel()
		if err := c.s.Swaps.Requote(ctx, r, kinds, w.awake, each); err != nil && !errors.Is(err, context.Canceled) {
			c.s.Log.Debug().Err(err).Msg("quotes are not refreshed any more")
		}
	})
}

// A quoteWatch refreshes a quote as long as somebody looks at it.
type quoteWatch struct {
	number uint64 // of the request
	cancel context.CancelFunc
	gone   chan struct{} // closed when it has ended

	mu     sync.Mutex
	until  time.Time
	looked chan struct{} // closed when somebody looks again: all providers' rounds wait for it
}

// look says that somebody looks now, and until when that holds.
func (w *quoteWatch) look(now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = now.Add(protocol.LookTime)
	close(w.looked)
	w.looked = make(chan struct{})
	return w.until
}

func (w *quoteWatch) ended() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// awake returns when somebody looks, or with the end of ctx.
func (w *quoteWatch) awake(ctx context.Context) error {
	for {
		w.mu.Lock()
		looks, again := fault.Now().Before(w.until), w.looked
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
