package host

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"
)

// swapQuote is ended from its first look at the parameters on: what the password was
// given for before a lock must not be watched after it.
func (c *call) swapQuote(ctx context.Context, p *protocol.QuoteParams) (any, error) {
	ctx, end := c.beginQuote(ctx)
	defer end()
	out, err := c.quote(ctx, p)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, protocol.New("quote_unknown", "the quote was ended meanwhile: it was stopped, or the wallet was locked or switched")
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
		c.keepQuoting(ctx, r, kinds, each)
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
		c.stopQuotes()
		return protocol.WatchResult{}, nil
	}
	c.mu.Lock()
	w := c.quotes.watch
	c.mu.Unlock()
	if w == nil || w.ended() {
		return protocol.WatchResult{}, nil
	}
	until := w.look(time.Now()).UTC()
	return protocol.WatchResult{Watching: true, Until: &until}, nil
}

// placeToQuote waits for one of an origin's places, for a quote or a plan: however many
// windows it opens, it does not take the providers' time from another origin's, or from
// a terminal.
func (s *Server) placeToQuote(ctx context.Context, origin string) (done func(), err error) {
	s.mu.Lock()
	places := s.quoting[origin]
	if places == nil {
		places = make(chan struct{}, protocol.MaxQuoting)
		s.quoting[origin] = places
	}
	s.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// quotes are what a connection asked of the providers and still wants.
type quotes struct {
	running map[*context.CancelFunc]struct{} // under way
	watch   *quoteWatch                      // nil: none
}

// beginQuote makes a quote one that stopQuotes ends.
func (c *conn) beginQuote(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quotes.running == nil {
		c.quotes.running = map[*context.CancelFunc]struct{}{}
	}
	c.quotes.running[&cancel] = struct{}{}
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.quotes.running, &cancel)
		cancel()
	}
}

// stopQuotes ends the quotes under way and the watch.
func (c *conn) stopQuotes() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.quotes.running {
		(*cancel)()
	}
	if c.quotes.watch != nil {
		c.quotes.watch.cancel()
		c.quotes.watch = nil
	}
}

// dropPlans forgets all offers and plans, and ends what asks for more of them.
func (s *Server) dropPlans() {
	s.Swaps.DropPlans()
	s.mu.Lock()
	all := s.list()
	s.mu.Unlock()
	for _, c := range all {
		c.stopQuotes()
	}
}

// keepQuoting goes on with a quote that has not been ended: it asks again and again,
// in place of what this connection watched before, until it ends or nobody wants it.
// While nobody looks it pauses.
func (c *conn) keepQuoting(quote context.Context, r swap.QuoteRequest, kinds []swap.Kind, each func(swap.Quoted)) {
	ctx, cancel := context.WithCancel(c.ctx)
	w := &quoteWatch{cancel: cancel, looked: make(chan struct{}), gone: make(chan struct{})}
	w.look(time.Now())
	c.mu.Lock()
	ended := quote.Err() != nil
	if !ended {
		if c.quotes.watch != nil {
			c.quotes.watch.cancel()
		}
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
		looks, again := time.Now().Before(w.until), w.looked
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
