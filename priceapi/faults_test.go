package priceapi_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	"swapkeep/rest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/pricesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/tokens"

	"golang.org/x/time/rate"
)

// chains of these tests. Superseed has few sources.
var chains = []uint64{1, 10, 56, 5330}

// A service is the complete price service, without the HTTP port, on a sandbox.
type service struct {
	*sandbox.Sandbox
	t       *testing.T
	hub     *chain.MultiClient
	history *series.Store
	feed    *pricetable.Feed
	shift   time.Duration // of our clock
	prices  map[price.ID]price.Value
}

// TestFaults checks that no wrong price is shown as current, whatever sources, nodes and
// clocks do.
func TestFaults(t *testing.T) {
	box := sandboxtest.Start(t, chains...)
	for _, f := range []struct {
		name string
		test func(*testing.T, *service)
	}{
		{"each source in trouble", eachSourceInTrouble}, {"leading source gone", leadingSourceGone}, {"oracles in trouble", oraclesInTrouble},
		{"all down", allDown}, {"clock jumps", clockJumps}, {"market moves", marketMoves},
	} {
		t.Run(f.name, func(t *testing.T) {
			if err := box.Reset(); err != nil {
				t.Fatal(err)
			}
			f.test(t, newService(t, box))
		})
	}
}

func newService(t *testing.T, box *sandbox.Sandbox) *service {
	s := &service{Sandbox: box, t: t, feed: pricetable.NewFeed()}
	var endpoints []chain.Endpoint
	for _, id := range chains {
		endpoints = append(endpoints, chain.Endpoint{Chain: id, URLs: []string{s.Chain(id).RPC()}})
	}
	var err error
	if s.hub, err = chain.NewMultiClient(endpoints, chain.Options{Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.hub.Close)
	if s.history, err = series.Open(filepath.Join(t.TempDir(), "prices.db"), series.Options{Now: s.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.history.Close(); err != nil {
			t.Error(err)
		}
	})
	s.fetch(s.poller())
	s.prices = map[price.ID]price.Value{}
	for _, r := range s.feed.Now().Rows {
		if r.Now.Known() {
			s.prices[r.ID()] = r.Now.Value
		}
	}
	if len(s.prices) < 60 {
		t.Fatalf("only %d tokens have a price", len(s.prices))
	}
	return s
}

func (s *service) now() time.Time { return time.Now().Add(s.shift) }

// poller returns a new poller, whose circuits are all closed.
func (s *service) poller() *poll.Poller {
	s.t.Helper()
	settings := priceapi.Settings{
		Of: map[string]priceapi.Setting{}, Local: true, Reach: rest.LoopbackOnly, Chain: s.hub, Now: s.now,
		Key:    func(context.Context, string) (string, error) { return "key", nil },
		Limits: rest.Limits{Attempt: 300 * time.Millisecond, Call: 700 * time.Millisecond, Rate: rate.Inf, Backoff: time.Millisecond},
	}
	for _, kind := range pricesim.Kinds() {
		settings.Of[kind] = priceapi.Setting{Base: s.BaseURL(kind)}
	}
	sources, err := settings.Open()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(sources.Close)
	return poll.New(poll.Options{
		Tokens: watched, Leading: sources.Leading, Further: sources.Further, Archives: sources.Archives, MetadataSources: sources.MetadataSources,
		History: s.history, Feed: s.feed, Now: s.now,
	})
}

// watched returns the verified tokens of the chains.
func watched() (all []poll.Watched) {
	for _, t := range tokens.Builtin().Tokens() {
		if t.Verified && slices.Contains(chains, t.Chain) {
			all = append(all, poll.Watched{Token: t, Public: true})
		}
	}
	return all
}

func (s *service) fetch(p *poll.Poller) {
	s.t.Helper()
	p.Resume(s.t.Context())
	p.Fetch(s.t.Context())
}

// honest fails the test if a wrong price is shown as current, and returns the number of
// current prices.
func (s *service) honest(what string) (current int) {
	s.t.Helper()
	for _, r := range s.feed.Now().Rows {
		if !r.Now.Known() || r.Stale {
			continue
		}
		current++
		want, ok := s.prices[r.ID()]
		if !ok || r.Now.Value.RelativeDiff(want) > 0.03 {
			s.t.Errorf("%s: %s on %d is shown as %s of %s, and is %s", what, r.Token.Symbol, r.Token.Chain, r.Now.Value.Fixed(6), r.Now.Source, want.Fixed(6))
		}
	}
	return current
}

// A trouble is a way for an HTTP source to fail or to lie.
type trouble struct {
	name     string
	rule     *inject.Rule
	settings func(*pricesim.Settings)
}

func fails(name string, r inject.Rule) trouble {
	r.Target = "*"
	return trouble{name: name, rule: &r}
}

func lies(name string, set func(*pricesim.Settings)) trouble {
	return trouble{name: name, settings: set}
}

var troubles = []trouble{
	fails("down", inject.Rule{Kind: inject.Drop}),
	fails("out of order", inject.Rule{Kind: inject.HTTP, Status: 502}),
	fails("too many requests", inject.Rule{Kind: inject.HTTP, Status: 429, RetryAfter: 3600}),
	fails("slow", inject.Rule{Kind: inject.Delay, DelayMS: 2000}),
	fails("a trickle", inject.Rule{Kind: inject.Trickle, DelayMS: 2000}),
	fails("cut off", inject.Rule{Kind: inject.Cut}),
	fails("truncated", inject.Rule{Kind: inject.Truncate}),
	fails("not JSON", inject.Rule{Kind: inject.Garbage}),
	fails("too large", inject.Rule{Kind: inject.Oversize}),
	lies("tenfold", func(s *pricesim.Settings) { s.Factor = 10 }),
	lies("a tenth", func(s *pricesim.Settings) { s.Factor = 0.1 }),
	lies("half more", func(s *pricesim.Settings) { s.Factor = 1.5 }),
	lies("below zero", func(s *pricesim.Settings) { s.Factor = -1 }),
	lies("zero", func(s *pricesim.Settings) { s.Factor = 0 }),
	lies("no number", func(s *pricesim.Settings) { s.Price = "NaN" }),
	lies("an endless number", func(s *pricesim.Settings) { s.Price = "1e400" }),
	lies("old", func(s *pricesim.Settings) { s.Stale = 2 * 3600 }),
}

// begin makes a source misbehave until it is reset.
func (s *service) begin(kind string, tr trouble) {
	s.t.Helper()
	if tr.rule != nil {
		if _, err := s.Faults(kind).Add(*tr.rule); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	settings := s.Prices(kind).Settings()
	tr.settings(&settings)
	if err := s.Prices(kind).Set(settings); err != nil {
		s.t.Fatal(err)
	}
}

// eachSourceInTrouble checks that one bad source causes no wrong current price and that the
// others replace it.
func eachSourceInTrouble(t *testing.T, s *service) {
	all := s.honest("nobody in trouble")
	for _, kind := range pricesim.Kinds() {
		for _, tr := range troubles {
			what := fmt.Sprintf("%s %s", kind, tr.name)
			s.begin(kind, tr)
			s.fetch(s.poller())
			if current := s.honest(what); current < all {
				t.Errorf("%s: %d of %d prices are current", what, current, all)
			}
			s.Prices(kind).Reset()
		}
	}
}

// leadingSourceGone checks that without the widest source its tokens are priced by others
// or stale.
func leadingSourceGone(t *testing.T, s *service) {
	all := s.honest("nobody in trouble")
	for _, tr := range troubles {
		s.begin("defillama", tr)
		s.shift = 0
		p := s.poller()
		s.fetch(p)
		s.honest("defillama " + tr.name)
		s.Prices("defillama").Reset()
	}
	s.begin("defillama", troubles[0])
	p := s.poller()
	s.fetch(p)
	sources := map[price.Source]int{}
	for _, r := range s.feed.Now().Rows {
		sources[r.Now.Source]++
	}
	if len(sources) < 3 {
		t.Errorf("without it prices come from %v", sources)
	}
	if current := s.honest("defillama gone"); current < all*9/10 {
		t.Errorf("without it %d of %d prices are current", current, all)
	}
}

// oraclesInTrouble tests oracle contracts that lie or fail.
func oraclesInTrouble(t *testing.T, s *service) {
	all := s.honest("nobody in trouble")
	for _, mode := range []string{"stale", "zero", "negative", "revert", "tenfold"} {
		for _, id := range chains {
			_ = s.Market().SetOracles(t.Context(), id, market.Change{At: "all", Mode: mode}) // some chains have no oracle that can do this
		}
		s.fetch(s.poller())
		if current := s.honest("oracles " + mode); current < all {
			t.Errorf("oracles %s: %d of %d prices are current", mode, current, all)
		}
		s.begin("defillama", troubles[0])
		s.fetch(s.poller())
		s.honest("oracles " + mode + ", and no defillama")
		s.Prices("defillama").Reset()
	}
}

// allDown checks that the last good prices stay and become stale, that nothing is made up,
// and that all prices are current again once the sources are back.
func allDown(t *testing.T, s *service) {
	all := s.honest("nobody in trouble")
	fetched := s.feed.Now().Fetched
	for _, kind := range pricesim.Kinds() {
		s.begin(kind, troubles[0])
	}
	for _, id := range chains {
		if _, err := s.Chain(id).Faults.Add(inject.Rule{Target: "*", Kind: inject.Drop}); err != nil {
			t.Fatal(err)
		}
	}
	p := s.poller()
	s.fetch(p)
	if current := s.honest("all down"); current != all {
		t.Errorf("at once %d of %d prices are current", current, all)
	}
	s.shift = 16 * time.Minute
	p.Fetch(t.Context())
	now := s.feed.Now()
	if current := s.honest("all down"); current != 0 || now.Fetched.After(fetched) {
		t.Errorf("after a quarter of an hour %d prices are current, fetched at %s, not %s", current, now.Fetched, fetched)
	}
	for _, r := range now.Rows {
		if want, ok := s.prices[r.ID()]; ok && (r.Now.Value != want || r.Has24h()) {
			t.Errorf("%s: the last price was %s and is shown as %s, %+v", r.Token.Symbol, want, r.Now.Value, r.DayAgo)
		}
	}
	s.shift = 0
	for _, kind := range pricesim.Kinds() {
		s.Prices(kind).Reset()
	}
	for _, id := range chains {
		s.Chain(id).Faults.Reset()
	}
	s.fetch(s.poller())
	if current := s.honest("back again"); current != all {
		t.Errorf("back again %d of %d prices are current", current, all)
	}
}

// clockJumps checks that with a wrong clock no wrong price is shown as current and sources
// that give a time are not used, and that everything is current again once the clock is
// right.
func clockJumps(t *testing.T, s *service) {
	all := s.honest("the clock is right")
	for _, jump := range []time.Duration{400 * 24 * time.Hour, -400 * 24 * time.Hour, 3 * time.Hour, -3 * time.Hour} {
		s.shift = jump
		p := s.poller()
		s.fetch(p)
		if current := s.honest(fmt.Sprintf("the clock is off by %s", jump)); current > all/10 {
			t.Errorf("off by %s, %d of %d prices are called current", jump, current, all)
		}
		s.shift = 0
		s.fetch(s.poller())
		if current := s.honest("the clock is right again"); current != all {
			t.Errorf("after a jump of %s %d of %d prices are current", jump, current, all)
		}
	}
}

// marketMoves checks that a move that all sources see is followed, up and down, even a
// crash.
func marketMoves(t *testing.T, s *service) {
	eth := price.ID{Chain: 1}
	for _, micro := range []int64{3_100_000_000, 1_500_000_000, 2_900_000_000} {
		if err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: micro}); err != nil {
			t.Fatal(err)
		}
		s.fetch(s.poller())
		r, _ := s.feed.Now().Row(eth)
		if want := float64(micro) / 1e6; r.Stale || r.Now.Value.Float() < want*0.99 || r.Now.Value.Float() > want*1.01 {
			t.Errorf("ETH went to %g and is shown as %s of %s", want, r.Now.Value.Fixed(2), r.Now.Source)
		}
	}
}
