package poll

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/tokens"
)

// Intervals (reference of the price sources, §2; the spec's fetch interval).
const (
	fetchEvery   = time.Minute
	fetchTime    = 50 * time.Second // limit of one fetch, all sources included
	agoTolerance = 30 * time.Minute
	day          = 24 * time.Hour
	unknownTTL   = 15 * time.Minute // how long a further source is not asked about a token it does not know

	settleTime    = 2 * time.Second
	furtherAtOnce = 200 // most tokens that one fetch asks a further source about
	slowEvery     = 5   // fetches; well within pricetable.StaleAfter
)

// A Watched token is one whose price is kept current.
type Watched struct {
	tokens.Token
	Public bool // shown by the REST API
	// Private tokens would tell a third party what the user holds. Only trusted sources are
	// asked about them.
	Private bool
	// Ended: the token's chain was shut down. No source is asked; the last price stays, or
	// else that of the coin the token was redeemable for, and is always stale.
	Ended bool
	// Slow tokens, of which there are many, are asked about at every slowEvery-th fetch, and
	// less often about facts.
	Slow bool
}

// A Paced source is asked at most once per Every; 0 = at every fetch.
type Paced struct {
	Source
	Every time.Duration
	// Trusted sources may be asked about private tokens: the node is already asked for
	// their balances.
	Trusted bool
}

// Options of a Poller.
type Options struct {
	// Tokens lists the watched tokens. It is called before each fetch.
	Tokens func() []Watched
	// Leading sources are asked about every token at every fetch, concurrently. They are
	// listed in order of preference and confirm each other's prices.
	Leading []Paced
	// Further sources are asked one after another about tokens that are still undecided.
	Further         []Paced
	Archives        []Archive
	MetadataSources []MetadataConfig
	History         History
	Feed            *pricetable.Feed
	Now             func() time.Time // nil = clock.Now
	// Log receives failures of sources and rejected prices, from several goroutines; nil =
	// not logged.
	Log func(Notice)
}

// askable returns the tokens that a source may be asked about.
func askable(watched []Watched, trusted bool) []tokens.Token {
	ts := make([]tokens.Token, 0, len(watched))
	for _, w := range watched {
		if !w.Ended && (trusted || !w.Private) {
			ts = append(ts, w.Token)
		}
	}
	return ts
}

// A Notice is something to log. ID is zero if it concerns a whole source.
type Notice struct {
	From string
	ID   price.ID
	Err  error
}

// A Poller keeps a history and a feed current. Only one may run on a history at a time.
type Poller struct {
	o        Options
	circuits map[string]*circuitBreaker

	mu           sync.Mutex
	lastAccepted map[price.ID]lastAccepted
	lastRequest  map[string]time.Time              // last request to each paced source
	unknown      map[string]map[price.ID]time.Time // tokens that a source did not know, and when it was asked
	facts        map[price.ID]price.Facts
	taken        time.Time // when the last fetch that brought prices ended
	seq          uint64
	health       Health

	fetchSoon   chan struct{}
	settleTime  time.Duration // wait after a poke
	first       chan struct{} // closed after the first fetches
	oracleCount int           // number of oracle prices after the previous one of these
	fetched     sync.Once

	fetchCount int           // counts fetches; used by Fetch only
	fetching   sync.Mutex    // one fetch at a time
	factsRound int           // counts rounds of facts; used by fetchFacts only
	gap        time.Duration // longest time without prices that is not backfilled yet
	gapSeen    chan struct{}
}

// Health is a poller's state.
type Health struct {
	Fetched time.Time         // last fetch that brought prices; zero = none
	History error             // of the last write or read; nil = fine
	Sources map[string]string // latest failure by source; absent = fine
}

// New makes a poller, which does nothing until Resume, Run or Fetch.
func New(o Options) *Poller {
	if o.Now == nil {
		o.Now = clock.Now
	}
	if o.Log == nil {
		o.Log = func(Notice) {}
	}
	clock := o.Now
	o.Now = func() time.Time { return clock().Round(0) } // wall clock only: the monotonic clock may stop while the machine sleeps
	return &Poller{o: o, circuits: map[string]*circuitBreaker{}, lastAccepted: map[price.ID]lastAccepted{}, lastRequest: map[string]time.Time{},
		unknown: map[string]map[price.ID]time.Time{}, facts: map[price.ID]price.Facts{}, fetchSoon: make(chan struct{}, 1), settleTime: settleTime, first: make(chan struct{}),
		gapSeen: make(chan struct{}, 1)}
}

// Run polls until ctx ends, after [Poller.Resume].
func (p *Poller) Run(ctx context.Context) {
	p.resumeOlder(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { p.factsLoop(ctx) })
	background.Go(func() { p.backfillLoop(ctx) })
	background.Go(func() { p.staleLoop(ctx) })
	tick := clock.NewTicker(fetchEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.Fetch(ctx)
		select {
		case <-ctx.Done():
		case <-p.earlyFetch():
		case <-tick.C:
		case <-p.fetchSoon:
			select { // several changes in a row cause one fetch
			case <-ctx.Done():
			case <-clock.After(p.settleTime):
			}
		}
	}
}

// FetchSoon requests a fetch soon, for instance after the tokens changed.
func (p *Poller) FetchSoon() {
	select {
	case p.fetchSoon <- struct{}{}:
	default:
	}
}

// Resume loads what the previous poller stored of the last day and publishes it, so that the
// last good prices are available at once, flagged as stale where they are.
func (p *Poller) Resume(ctx context.Context) {
	last, err := p.o.History.Last(ctx)
	facts, factsErr := p.o.History.Facts(ctx)
	p.mu.Lock()
	for id, s := range last {
		if s.Source == price.Derived {
			p.lastAccepted[id] = lastAccepted{sample: s} // never validated, so it is stale
			continue
		}
		p.lastAccepted[id] = newAccepted(s, s.At)
		if s.At.After(p.taken) {
			p.taken = s.At
		}
	}
	maps.Copy(p.facts, facts)
	p.health.History = errors.Join(err, factsErr)
	p.mu.Unlock()
	p.publish(ctx)
}

// resumeOlder publishes the last candle of the month chart for tokens without a sample from
// the last day, for instance after days offline. Such prices are always stale. It is apart
// from Resume because it reads a chart for each of them.
func (p *Poller) resumeOlder(ctx context.Context) {
	month, _ := price.PeriodNamed("month")
	now := p.o.Now()
	for _, w := range p.o.Tokens() {
		id := price.IDOf(w.Token)
		p.mu.Lock()
		_, known := p.lastAccepted[id]
		p.mu.Unlock()
		if known {
			continue
		}
		candles, err := p.o.History.Chart(ctx, id, month, now)
		n := len(candles)
		p.mu.Lock()
		if p.health.History = errors.Join(p.health.History, err); n > 0 {
			p.lastAccepted[id] = lastAccepted{sample: price.Sample{Value: candles[n-1].Close, At: candles[n-1].At, Source: price.Derived}}
		}
		p.mu.Unlock()
		if err != nil {
			break
		}
	}
	p.publish(ctx)
}

// Fetch polls the sources once, stores the accepted prices and publishes them.
func (p *Poller) Fetch(ctx context.Context) {
	p.fetching.Lock()
	defer p.fetching.Unlock()
	watched := p.o.Tokens()
	began := p.o.Now()
	asking, cancel := context.WithTimeout(ctx, fetchTime)
	round := p.ask(asking, p.inTurn(watched), began)
	cancel()
	if ctx.Err() != nil {
		return // interrupted, so the answers are incomplete
	}
	now := p.o.Now()
	m := Minute{At: now, Took: max(0, now.Sub(began)), OK: len(round.accepted) > 0, Samples: round.samples()}
	p.accept(round, now)
	err := p.o.History.Append(ctx, m)
	if err == nil {
		err = p.fillAgo(ctx, round, now)
	}
	p.mu.Lock()
	p.health.History = err
	p.mu.Unlock()
	if err != nil {
		p.o.Log(Notice{From: "history", Err: err})
	}
	p.publish(ctx)
	if known := p.countOraclePrices(); p.fetchCount >= firstTries || known > 0 && known == p.oracleCount {
		p.fetched.Do(func() { close(p.first) })
	} else {
		p.oracleCount = known
	}
}

// The first fetches of a process that starts with the machine or browser may find no node
// ready. They are repeated every firstInterval, up to firstTries in all, until the number of
// oracle prices no longer grows.
const (
	firstTries    = 5
	firstInterval = 2 * time.Second
	firstFurther  = 500 * time.Millisecond // for the further sources at the very first fetch
)

// earlyFetch returns a channel for fetching early during the first fetches; nil afterwards.
func (p *Poller) earlyFetch() <-chan time.Time {
	select {
	case <-p.first:
		return nil
	default:
	}
	return clock.After(firstInterval)
}

// countOraclePrices counts the prices that swaps may be judged by.
func (p *Poller) countOraclePrices() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.lastAccepted {
		if b.oracle.Known() {
			n++
		}
	}
	return n
}

// First is closed after the first few fetches, once the prices that swaps may be judged by
// are as complete as those fetches could make them.
func (p *Poller) First() <-chan struct{} { return p.first }

func (p *Poller) accept(r round, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, v := range r.accepted {
		p.lastAccepted[id] = p.lastAccepted[id].next(v, now)
	}
	if len(r.accepted) > 0 {
		p.noteGap(p.taken, now)
		p.taken = now
	}
}

// fillAgo stores the 24-hour-old prices that sources report where the history has none near
// that time.
func (p *Poller) fillAgo(ctx context.Context, r round, now time.Time) error {
	then := now.Add(-day)
	own, err := p.o.History.Near(ctx, then, agoTolerance)
	if err != nil {
		return err
	}
	derived := map[price.ID][]price.Candle{}
	for id, v := range r.accepted {
		if _, has := own[id]; !has && !v.dayAgo.IsZero() {
			derived[id] = []price.Candle{{At: then, Open: v.dayAgo, High: v.dayAgo, Low: v.dayAgo, Close: v.dayAgo}}
		}
	}
	if len(derived) == 0 {
		return nil
	}
	return p.o.History.Fill(ctx, price.Minutes, price.Derived, derived)
}

// Health returns the current state.
func (p *Poller) Health() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := Health{Fetched: p.taken, History: p.health.History, Sources: map[string]string{}}
	for name, c := range p.circuits {
		if err := c.lastError(); err != nil {
			h.Sources[name] = brief(err)
		}
	}
	return h
}

// maxReason limits the text of a failure, in bytes, because a source may have written part
// of it.
const maxReason = 500

func brief(err error) string {
	text := strings.ToValidUTF8(err.Error(), "")
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "…"
}
