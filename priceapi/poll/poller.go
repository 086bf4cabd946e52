package poll

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"swapkeep/fault"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// Cadences (reference of the price sources, §2; the spec's fetch interval).
const (
	fetchEvery   = time.Minute
	fetchTime    = 50 * time.Second // of one fetch with all its sources
	agoTolerance = 30 * time.Minute
	day          = 24 * time.Hour
	ignoreFor    = 15 * time.Minute // a token that a further source does not know

	settleTime    = 2 * time.Second
	furtherAtOnce = 200 // tokens that one fetch asks a further source for
)

// A Watched token is one whose price is kept.
type Watched struct {
	tokens.Token
	Public bool // shown by the REST API
	// Private: that somebody asks about it would tell a stranger what is held. Only
	// sources that know it anyway are asked.
	Private bool
}

// A Paced source is asked at most so often; 0 = at every fetch.
type Paced struct {
	Source
	Every time.Duration
	// Trusted: it may be asked about private tokens, as a node that is asked for their
	// balances is.
	Trusted bool
}

// Options of a Poller.
type Options struct {
	// Tokens lists what is watched. It is asked before each fetch.
	Tokens func() []Watched
	// Leading are asked for every token at every fetch, all at once, in the order in
	// which they are preferred: each is also the others' witness.
	Leading []Paced
	// Further are asked one after the other for what is not decided yet.
	Further  []Paced
	Archives []Archive
	Almanacs []Volume
	History  History
	Feed     *pricetable.Feed
	Now      func() time.Time // nil = fault.Now
	// Log hears of sources that fail and of prices that are not believed, from several
	// goroutines; nil = nobody.
	Log func(Notice)
}

// told is what a source may be asked about.
func told(watched []Watched, trusted bool) []tokens.Token {
	ts := make([]tokens.Token, 0, len(watched))
	for _, w := range watched {
		if trusted || !w.Private {
			ts = append(ts, w.Token)
		}
	}
	return ts
}

// A Notice is something to log. ID is zero where it is about a whole source.
type Notice struct {
	From string
	ID   price.ID
	Err  error
}

// A Poller keeps a history and a feed current. One at a time may run on a history.
type Poller struct {
	o        Options
	circuits map[string]*circuit

	mu      sync.Mutex
	beliefs map[price.ID]belief
	asked   map[string]time.Time              // when a paced source was asked last
	ignored map[string]map[price.ID]time.Time // what a source did not know, and when
	facts   map[price.ID]price.Facts
	taken   time.Time // when the last fetch that brought prices ended
	seq     uint64
	health  Health

	poke       chan struct{}
	settleTime time.Duration // after a poke
	first      chan struct{} // closed after the first fetches
	firms      int           // prices of oracles after the last of these
	fetched    sync.Once

	turn    int           // of fetches; Fetch alone has it
	gap     time.Duration // the longest time without prices that is not filled yet
	gapSeen chan struct{}
}

// Health is how a poller does.
type Health struct {
	Fetched time.Time         // the last fetch that brought prices; zero = none
	History error             // of the last write or read; nil = fine
	Sources map[string]string // why a source failed last, by name; absent = fine
}

// New makes a poller, which does nothing until it runs.
func New(o Options) *Poller {
	if o.Now == nil {
		o.Now = fault.Now
	}
	if o.Log == nil {
		o.Log = func(Notice) {}
	}
	clock := o.Now
	o.Now = func() time.Time { return clock().Round(0) } // ages are by the wall clock: the other one stands still while a machine sleeps
	return &Poller{o: o, circuits: map[string]*circuit{}, beliefs: map[price.ID]belief{}, asked: map[string]time.Time{},
		ignored: map[string]map[price.ID]time.Time{}, facts: map[price.ID]price.Facts{}, poke: make(chan struct{}, 1), settleTime: settleTime, first: make(chan struct{}),
		gapSeen: make(chan struct{}, 1)}
}

// Run polls until ctx ends. It reads what the history has first, so that the last good
// prices are there at once, flagged as what they are.
func (p *Poller) Run(ctx context.Context) {
	p.Resume(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { p.keepFacts(ctx) })
	beside.Go(func() { p.keepPast(ctx) })
	beside.Go(func() { p.keepFlags(ctx) })
	tick := fault.NewTicker(fetchEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.Fetch(ctx)
		select {
		case <-ctx.Done():
		case <-p.again():
		case <-tick.C:
		case <-p.poke:
			select { // several changes in a row are one fetch
			case <-ctx.Done():
			case <-fault.After(p.settleTime):
			}
		}
	}
}

// Poke asks for a fetch soon, as after a change of the tokens.
func (p *Poller) Poke() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// Resume takes up what was known when the last poller ended.
func (p *Poller) Resume(ctx context.Context) {
	last, err := p.o.History.Last(ctx)
	if err == nil {
		err = p.older(ctx, last)
	}
	facts, factsErr := p.o.History.Facts(ctx)
	p.mu.Lock()
	for id, s := range last {
		if s.Source == price.Derived {
			p.beliefs[id] = belief{sample: s} // never judged: it is stale
			continue
		}
		p.beliefs[id] = believed(s, s.At)
		if s.At.After(p.taken) {
			p.taken = s.At
		}
	}
	maps.Copy(p.facts, facts)
	p.health.History = errors.Join(err, factsErr)
	p.mu.Unlock()
	p.publish(ctx)
}

// older adds what charts end with for the tokens that no minute of the last day is kept
// of, as after days without power or without a source: shown, and never current.
func (p *Poller) older(ctx context.Context, last map[price.ID]price.Sample) error {
	month, _ := price.PeriodNamed("month")
	now := p.o.Now()
	for _, w := range p.o.Tokens() {
		id := price.IDOf(w.Token)
		if _, known := last[id]; known {
			continue
		}
		candles, err := p.o.History.Chart(ctx, id, month, now)
		if err != nil {
			return err
		}
		if n := len(candles); n > 0 {
			last[id] = price.Sample{Value: candles[n-1].Close, At: candles[n-1].At, Source: price.Derived}
		}
	}
	return nil
}

// Fetch asks the sources once, writes down what is believed, and publishes it.
func (p *Poller) Fetch(ctx context.Context) {
	watched := p.o.Tokens()
	began := p.o.Now()
	asking, cancel := context.WithTimeout(ctx, fetchTime)
	round := p.ask(asking, watched, began)
	cancel()
	if ctx.Err() != nil {
		return // ended in the middle: what came is not all
	}
	now := p.o.Now()
	m := Minute{At: now, Took: max(0, now.Sub(began)), OK: len(round.believed) > 0, Samples: round.samples()}
	p.believe(round, now)
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
	if known := p.firmKnown(); p.turn >= firstTries || known > 0 && known == p.firms {
		p.fetched.Do(func() { close(p.first) })
	} else {
		p.firms = known
	}
}

// The first fetches of a process that begins with the machine or a browser may find no
// node of a network ready: until no more oracles are read than before, a few follow soon.
const (
	firstTries = 5
	firstAgain = 2 * time.Second
)

// again is when to fetch before the next minute; nil = not before.
func (p *Poller) again() <-chan time.Time {
	select {
	case <-p.first:
		return nil
	default:
		return fault.After(firstAgain)
	}
}

// firmKnown is how many prices there are that a swap may be judged by.
func (p *Poller) firmKnown() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.beliefs {
		if b.firm.Known() {
			n++
		}
	}
	return n
}

// First is closed once the prices that swaps may be judged by are there, as far as the
// first few fetches since this process began brought any.
func (p *Poller) First() <-chan struct{} { return p.first }

func (p *Poller) believe(r round, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, v := range r.believed {
		p.beliefs[id] = p.beliefs[id].next(v, now)
	}
	if len(r.believed) > 0 {
		p.noteGap(p.taken, now)
		p.taken = now
	}
}

// fillAgo keeps what sources said of a day ago where nothing of our own is near.
func (p *Poller) fillAgo(ctx context.Context, r round, now time.Time) error {
	then := now.Add(-day)
	own, err := p.o.History.Near(ctx, then, agoTolerance)
	if err != nil {
		return err
	}
	derived := map[price.ID][]price.Candle{}
	for id, v := range r.believed {
		if _, has := own[id]; !has && !v.ago.IsZero() {
			derived[id] = []price.Candle{{At: then, Open: v.ago, High: v.ago, Low: v.ago, Close: v.ago}}
		}
	}
	if len(derived) == 0 {
		return nil
	}
	return p.o.History.Fill(ctx, price.Minutes, price.Derived, derived)
}

// Health is how the poller does now.
func (p *Poller) Health() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := Health{Fetched: p.taken, History: p.health.History, Sources: map[string]string{}}
	for name, c := range p.circuits {
		if err := c.state(); err != nil {
			h.Sources[name] = brief(err)
		}
	}
	return h
}

// maxReason bounds what is told of a failure, part of which a source may have said.
const maxReason = 500

func brief(err error) string {
	text := strings.ToValidUTF8(err.Error(), "")
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "…"
}
