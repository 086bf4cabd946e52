package poll

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/rest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var errTest = errors.New("out of order")

// A memory is an in-memory History that keeps minutes only.
type memory struct {
	mu      sync.Mutex
	minutes []Minute
	filled  map[price.Resolution]map[price.ID][]price.Candle
	facts   map[price.ID]price.Facts
	fail    error
}

func (m *memory) Append(_ context.Context, x Minute) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.minutes = append(m.minutes, x)
	return nil
}

func (m *memory) Fill(_ context.Context, r price.Resolution, s price.Source, candles map[price.ID][]price.Candle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.filled == nil {
		m.filled = map[price.Resolution]map[price.ID][]price.Candle{}
	}
	if m.filled[r] == nil {
		m.filled[r] = map[price.ID][]price.Candle{}
	}
	maps.Copy(m.filled[r], candles)
	if r == price.Minutes {
		for id, cs := range candles {
			for _, c := range cs {
				m.minutes = append(m.minutes, Minute{At: c.At, Samples: map[price.ID]price.Sample{id: {Value: c.Close, At: c.At, Source: s}}})
			}
		}
	}
	return nil
}

func (m *memory) Near(_ context.Context, at time.Time, tolerance time.Duration) (map[price.ID]price.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out, off := map[price.ID]price.Sample{}, map[price.ID]time.Duration{}
	for _, x := range m.minutes {
		d := x.At.Sub(at).Abs()
		if d > tolerance {
			continue
		}
		for id, s := range x.Samples {
			if best, ok := off[id]; !ok || d < best {
				out[id], off[id] = s, d
			}
		}
	}
	return out, nil
}

func (m *memory) Last(context.Context) (map[price.ID]price.Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[price.ID]price.Sample{}
	for _, x := range m.minutes {
		maps.Copy(out, x.Samples)
	}
	return out, m.fail
}

func (m *memory) Chart(_ context.Context, id price.ID, p price.Period, _ time.Time) ([]price.Candle, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.filled[p.Raw][id], nil
}

func (m *memory) Coverages(context.Context, time.Time) ([]Coverage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	points := map[price.ID]map[string]int{}
	for r, name := range []string{"24h", "week", "month"} {
		for id, cs := range m.filled[price.Resolution(r)] {
			if points[id] == nil {
				points[id] = map[string]int{}
			}
			points[id][name] = len(cs)
		}
	}
	var out []Coverage
	for id, p := range points {
		out = append(out, Coverage{ID: id, Points: p})
	}
	return out, nil
}

func (m *memory) Facts(context.Context) (map[price.ID]price.Facts, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.facts), nil
}

func (m *memory) SetFacts(_ context.Context, f map[price.ID]price.Facts) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.facts == nil {
		m.facts = map[price.ID]price.Facts{}
	}
	maps.Copy(m.facts, f)
	return m.fail
}

func (m *memory) Totals(context.Context) (Totals, error) { return Totals{}, nil }
func (m *memory) Check(context.Context) error            { return m.fail }

// A fakeSource is a Source that returns the prices it is given.
type fakeSource struct {
	name   string
	source price.Source

	mu       sync.Mutex
	prices   map[price.ID]string
	at       func() time.Time
	fail     error
	requests int
	of       []price.ID // tokens of the last request
	ago      string
}

func (s *fakeSource) Name() string { return s.name }

func (s *fakeSource) Now(_ context.Context, ts []tokens.Token) ([]price.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.of = nil
	var out []price.Reading
	for _, t := range ts {
		id := price.IDOf(t)
		s.of = append(s.of, id)
		if v, ok := s.prices[id]; ok {
			r := price.Reading{ID: id, Sample: price.Sample{Value: value(v), At: s.at(), Source: s.source}}
			if s.ago != "" {
				r.DayAgo = value(s.ago)
			}
			out = append(out, r)
		}
	}
	return out, s.fail
}

func (s *fakeSource) setPrice(id price.ID, v string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prices == nil {
		s.prices = map[price.ID]string{}
	}
	s.prices[id] = v
}

// A bench is a poller with two leading sources and a further one.
type bench struct {
	*Poller
	memory              *memory
	first, second, last *fakeSource
	now                 time.Time
	noting              sync.Mutex
	noted               []Notice
}

var (
	eth  = tokens.Token{Chain: 1, Symbol: "ETH", Decimals: 18}
	wild = tokens.Token{Chain: 1, Symbol: "WILD", Decimals: 18, Address: common.HexToAddress("0x11")}
	seed = tokens.Token{Chain: 5330, Symbol: "ETH", Decimals: 18}
)

func newBench(t *testing.T, ts ...tokens.Token) *bench {
	t.Helper()
	b := &bench{memory: &memory{}, now: noon}
	clock := func() time.Time { return b.now }
	b.first = &fakeSource{name: "first", source: price.DefiLlama, at: clock}
	b.second = &fakeSource{name: "second", source: price.Chainlink, at: clock}
	b.last = &fakeSource{name: "last", source: price.CoinGecko, at: clock}
	b.Poller = New(Options{
		Tokens: func() (out []Watched) {
			for _, x := range ts {
				out = append(out, Watched{Token: x, Public: true})
			}
			return out
		},
		Leading: []Paced{{Source: b.first}, {Source: b.second, Trusted: true}}, Further: []Paced{{Source: b.last}}, History: b.memory, Feed: pricetable.NewFeed(), Now: clock,
		Log: func(n Notice) {
			b.noting.Lock()
			defer b.noting.Unlock()
			b.noted = append(b.noted, n)
		},
	})
	return b
}

// fetch fetches and moves the clock on by a minute.
func (b *bench) fetch(t *testing.T) {
	t.Helper()
	b.Fetch(t.Context())
	b.now = b.now.Add(time.Minute)
}

func (b *bench) row(t *testing.T, x tokens.Token) pricetable.Row {
	t.Helper()
	r, ok := b.o.Feed.Now().Row(price.IDOf(x))
	if !ok {
		t.Fatalf("no row of %s", x.Symbol)
	}
	return r
}

// TestEndedChain checks that no source is asked about a token on a chain that was shut down, and
// that its price is stale however new: the last one kept, or else that of the coin it followed.
func TestEndedChain(t *testing.T) {
	old := tokens.Token{Chain: 5330, Symbol: "SUPR", Decimals: 18, Address: common.HexToAddress("0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")}
	b := newBench(t)
	ended := false
	b.o.Tokens = func() []Watched {
		return []Watched{{Token: eth, Public: true}, {Token: seed, Public: true, Ended: ended}, {Token: old, Public: true, Ended: ended}}
	}
	b.first.setPrice(price.IDOf(eth), "3000")
	b.first.setPrice(price.IDOf(old), "0.01")
	b.second.setPrice(price.IDOf(old), "0.01")
	b.fetch(t)
	if r := b.row(t, old); r.Stale || !r.Oracle.Known() {
		t.Fatalf("before the end: %+v", r)
	}
	ended = true
	for _, s := range []*fakeSource{b.first, b.second, b.last} {
		s.of = nil
	}
	b.first.setPrice(price.IDOf(eth), "3030")
	b.first.setPrice(price.IDOf(old), "0.011")
	b.second.setPrice(price.IDOf(old), "0.011")
	b.fetch(t)
	if r := b.row(t, old); !r.Ended || !r.Stale || !r.StaleAt(b.now) || r.Oracle.Known() || r.Now.Value != value("0.01") || r.Has24h() {
		t.Errorf("afterwards: %+v", r)
	}
	if r := b.row(t, seed); !r.Stale || r.Now.Value != value("3000") {
		t.Errorf("the coin as it was: %+v", r)
	}
	fresh := newBench(t)
	fresh.o.Tokens = b.o.Tokens
	fresh.first.setPrice(price.IDOf(eth), "3060")
	fresh.fetch(t)
	if r := fresh.row(t, seed); !r.Stale || r.Now.Value != value("3060") || r.Now.Source != price.Canonical {
		t.Errorf("without a history: %+v", r)
	}
	if r := fresh.row(t, old); r.Now.Known() || r.Stale || !r.Ended {
		t.Errorf("without any price: %+v", r)
	}
	for _, s := range []*fakeSource{b.first, b.second, b.last, fresh.first, fresh.second, fresh.last} {
		if slices.ContainsFunc(s.of, func(x price.ID) bool { return x.Chain == 5330 }) {
			t.Errorf("%s was asked about %v", s.name, s.of)
		}
	}
}

func TestLiesAreNotShownAndExpire(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.second.setPrice(price.IDOf(eth), "3005")
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Value != value("3000") || r.Stale {
		t.Fatalf("shown %+v", r.Now)
	}
	b.first.setPrice(price.IDOf(eth), "30000")
	b.second.fail = errTest
	b.second.prices = nil
	for range 15 {
		b.fetch(t)
		if r := b.row(t, eth); r.Now.Value != value("3000") || r.Stale {
			t.Fatalf("after %s shown %s, stale %t", b.now.Sub(noon), r.Now.Value, r.Stale)
		}
	}
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Value != value("3000") || !r.Stale || r.Has24h() {
		t.Fatalf("an old price is shown as current: %+v", r)
	}
	b.last.setPrice(price.IDOf(eth), "29900") // an unrelated source corroborates it
	b.now = b.now.Add(unknownTTL)
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Value != value("30000") || r.Stale {
		t.Fatalf("agreed, and shown %+v", r)
	}
}

func TestFailover(t *testing.T) {
	b := newBench(t, eth, wild)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.second.setPrice(price.IDOf(eth), "3000")
	b.last.setPrice(price.IDOf(wild), "0.5")
	b.fetch(t)
	if len(b.last.of) != 1 || b.last.of[0] != price.IDOf(wild) {
		t.Errorf("the further source was asked for %v", b.last.of)
	}
	if r := b.row(t, wild); r.Now.Source != price.CoinGecko {
		t.Errorf("shown %+v", r.Now)
	}
	b.first.fail, b.first.prices, b.second.prices = errTest, nil, nil
	b.last.setPrice(price.IDOf(eth), "3001")
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Source != price.CoinGecko || r.Now.Value != value("3001") {
		t.Errorf("shown %+v", r.Now)
	}
	for range failuresAllowed { // then the pause is two minutes
		b.fetch(t)
	}
	before := b.first.requests
	b.fetch(t)
	if b.first.requests != before {
		t.Error("a source that failed three times is asked again at once")
	}
	if h := b.Health(); h.Sources["first"] != errTest.Error() || h.Sources["last"] != "" {
		t.Errorf("health %+v", h)
	}
}

func TestUnknownTokensAreNotAskedForAgain(t *testing.T) {
	b := newBench(t, wild)
	b.fetch(t)
	b.fetch(t)
	if b.last.requests != 1 || b.first.requests != 2 {
		t.Errorf("asked %d and %d times", b.last.requests, b.first.requests)
	}
	b.now = b.now.Add(unknownTTL)
	b.fetch(t)
	if b.last.requests != 2 {
		t.Error("never asked again")
	}
}

func TestAllDown(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	fetched := b.o.Feed.Now().Fetched
	for _, s := range []*fakeSource{b.first, b.second, b.last} {
		s.fail, s.prices = errTest, nil
	}
	for range 20 {
		b.fetch(t)
	}
	if now := b.o.Feed.Now(); !now.Fetched.Equal(fetched) || !b.row(t, eth).Stale || now.Seq < 20 {
		t.Errorf("fetched %s, row %+v", now.Fetched, b.row(t, eth))
	}
	if m := b.memory.minutes; len(m) != 21 || m[20].OK || !m[0].OK {
		t.Errorf("%d minutes", len(m))
	}
}

func TestClockJumps(t *testing.T) {
	b := newBench(t, eth)
	real := noon
	for _, s := range []*fakeSource{b.first, b.second, b.last} {
		s.at = func() time.Time { return real }
	}
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	b.now = noon.Add(365 * 24 * time.Hour)
	b.fetch(t)
	if r := b.row(t, eth); !r.Stale {
		t.Errorf("a year ahead of the sources, shown as current: %+v", r)
	}
	b.now, real = noon.Add(2*time.Minute), noon.Add(2*time.Minute)
	b.fetch(t)
	if r := b.row(t, eth); r.Stale {
		t.Errorf("back again, shown as stale: %+v", r)
	}
	b.now = noon.Add(-48 * time.Hour)
	b.fetch(t)
	if r := b.row(t, eth); !r.Stale {
		t.Errorf("two days behind the sources, shown as current: %+v", r)
	}
}

func TestRedeemableTokensFollowTheirOrigin(t *testing.T) {
	b := newBench(t, seed, eth)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	if r := b.row(t, seed); r.Now.Source != price.Canonical || r.Now.Value != value("3000") {
		t.Errorf("shown %+v", r.Now)
	}
}

func TestDayAgo(t *testing.T) {
	b := newBench(t, eth, wild)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.first.setPrice(price.IDOf(wild), "2")
	b.memory.minutes = []Minute{{At: noon.Add(-day - 20*time.Minute), Samples: map[price.ID]price.Sample{price.IDOf(eth): {Value: value("2500"), At: noon.Add(-day), Source: price.DefiLlama}}}}
	b.first.ago = "1.6"
	b.fetch(t)
	if r := b.row(t, eth); !r.Has24h() || r.DayAgo.Value != value("2500") {
		t.Errorf("a day ago %+v", r.DayAgo)
	}
	if r := b.row(t, wild); !r.Has24h() || r.DayAgo.Value != value("1.6") || r.DayAgo.Source != price.Derived {
		t.Errorf("as the source derives it %+v", r.DayAgo)
	}
	if by, fell, percent := b.row(t, eth).Change(); by != value("500") || fell || percent != 20 {
		t.Errorf("changed by %s, %t, %g", by, fell, percent)
	}
}

func TestFullDisk(t *testing.T) {
	b := newBench(t, eth)
	b.memory.fail = errTest
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	if r := b.row(t, eth); !r.Now.Known() || r.Stale {
		t.Error("a price that could not be kept is not shown")
	}
	if b.Health().History == nil {
		t.Error("health does not tell")
	}
	b.memory.fail = nil
	b.fetch(t)
	if err := b.Health().History; err != nil {
		t.Errorf("health after the fix: %v", err)
	}
}

func TestResume(t *testing.T) {
	b := newBench(t, eth)
	b.memory.minutes = []Minute{{At: noon.Add(-5 * time.Minute), Samples: map[price.ID]price.Sample{price.IDOf(eth): {Value: value("2500"), At: noon.Add(-5 * time.Minute), Source: price.DefiLlama}}}}
	b.Resume(t.Context())
	if r := b.row(t, eth); r.Now.Value != value("2500") || r.Stale {
		t.Errorf("taken up as %+v", r)
	}
	b.first.setPrice(price.IDOf(eth), "25000")
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Value != value("2500") {
		t.Errorf("a lie right after the start is shown: %+v", r.Now)
	}
}

// TestResumeAfterDays checks that the chart's last price is shown as stale and does not
// count against a new price.
func TestResumeAfterDays(t *testing.T) {
	b := newBench(t, eth)
	v := value("2400")
	b.memory.filled = map[price.Resolution]map[price.ID][]price.Candle{price.Hours: {price.IDOf(eth): {{At: noon.Add(-72 * time.Hour), Open: v, High: v, Low: v, Close: v}}}}
	b.Resume(t.Context())
	b.resumeOlder(t.Context())
	if r := b.row(t, eth); r.Now.Value != v || !r.Stale || r.Has24h() {
		t.Errorf("taken up as %+v", r)
	}
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	if r := b.row(t, eth); r.Now.Value != value("3000") || r.Stale {
		t.Errorf("after a fetch %+v", r)
	}
}

// A register is an Archive and an MetadataSource.
type register struct {
	mu       sync.Mutex
	requests []int // number of tokens per request
	points   int
	fail     error
	caps     map[price.ID]price.Value
}

func (a *register) Name() string { return "register" }

func (a *register) Past(_ context.Context, ts []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, len(ts))
	out := map[price.ID][]price.Candle{}
	for _, x := range ts {
		for i := range a.points {
			v := value("3000")
			out[price.IDOf(x)] = append(out[price.IDOf(x)], price.Candle{At: since.Add(time.Duration(i) * step), Open: v, High: v, Low: v, Close: v})
		}
	}
	return out, a.fail
}

func (a *register) MarketCaps(context.Context, []tokens.Token) (map[price.ID]price.Value, error) {
	return a.caps, a.fail
}

func (a *register) Holders(_ context.Context, ts []tokens.Token) (map[price.ID]uint64, error) {
	return map[price.ID]uint64{price.IDOf(ts[0]): 7}, a.fail
}

func TestBackfill(t *testing.T) {
	b := newBench(t, eth, wild)
	archive := &register{points: 200}
	b.o.Archives = []Archive{archive}
	fillAll := func(all bool) {
		for _, f := range backfills {
			b.fill(t.Context(), f, all, false, map[price.ID]time.Time{})
		}
	}
	archive.fail, archive.points = errTest, 0
	fillAll(false)
	if len(archive.requests) != 3 {
		t.Errorf("asked %v while it fails", archive.requests)
	}
	archive.fail, archive.points, archive.requests = nil, 200, nil
	fillAll(false)
	fillAll(false) // complete: nothing is requested again
	if !slices.Equal(archive.requests, []int{2, 2, 2}) {
		t.Errorf("asked %v", archive.requests)
	}
	fillAll(true) // after a gap
	if len(archive.requests) != 6 {
		t.Errorf("asked %v after a gap", archive.requests)
	}
}

func TestGapIsNoticed(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "3000")
	b.fetch(t)
	if b.takeGap() != 0 {
		t.Error("the first fetch is a gap")
	}
	b.now = b.now.Add(time.Hour)
	b.fetch(t)
	if gap := b.takeGap(); gap < time.Hour {
		t.Errorf("a gap of %s", gap)
	}
	select {
	case <-b.gapSeen:
	default:
		t.Error("nobody is woken")
	}
}

func TestFacts(t *testing.T) {
	b := newBench(t, eth)
	id := price.IDOf(eth)
	real, diluted := &register{caps: map[price.ID]price.Value{id: value("400")}}, &register{caps: map[price.ID]price.Value{id: value("900")}}
	b.o.MetadataSources = []MetadataConfig{{MetadataSource: real, Source: price.Blockscout}, {MetadataSource: diluted, Source: price.UniswapV3, Diluted: true}}
	b.Resume(t.Context()) // with an empty history
	if !b.fetchFacts(t.Context()) {
		t.Error("a round without a failure is called one")
	}
	if f := b.row(t, eth).Facts; f.MarketCap != value("400") || f.Diluted || f.Holders != 7 || f.CapSource != price.Blockscout {
		t.Errorf("facts %+v", f)
	}
	real.caps, real.fail = nil, errTest
	b.now = b.now.Add(capsEvery)
	if b.fetchFacts(t.Context()) {
		t.Error("a failure is not told")
	}
	if f := b.row(t, eth).Facts; f.MarketCap != value("900") || !f.Diluted {
		t.Errorf("without another source, facts %+v", f)
	}
	real.caps, real.fail = map[price.ID]price.Value{id: value("410")}, nil
	b.fetchFacts(t.Context())
	if f := b.row(t, eth).Facts; f.MarketCap != value("410") || f.Diluted {
		t.Errorf("once it answers again, facts %+v", f)
	}
	if kept := b.memory.facts[id]; kept.MarketCap != value("410") {
		t.Errorf("kept %+v", kept)
	}
}

// TestRun runs a whole poller until it is stopped.
func TestRun(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "3000")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	b.settleTime = 0
	b.Resume(ctx)
	go func() { b.Run(ctx); close(done) }()
	for now, newer := b.o.Feed.Next(); ; now, newer = b.o.Feed.Next() {
		if r, ok := now.Row(price.IDOf(eth)); ok && r.Now.Known() {
			break
		}
		<-newer
	}
	b.FetchSoon()
	for requests := 1; requests < 2; {
		_, newer := b.o.Feed.Next()
		<-newer
		b.first.mu.Lock()
		requests = b.first.requests
		b.first.mu.Unlock()
	}
	stop()
	<-done
}

// TestSlowDriftIsContradicted checks that a source that drifts a little every minute moves
// nothing while another contradicts it, and that in the end no price counts as current.
func TestSlowDriftIsContradicted(t *testing.T) {
	for _, further := range []bool{false, true} {
		b := newBench(t, eth)
		honest := b.second
		if further {
			honest = b.last
		}
		honest.setPrice(price.IDOf(eth), "1000")
		lie := 1000.0
		for range 90 {
			b.first.setPrice(price.IDOf(eth), strconv.FormatFloat(lie, 'f', 6, 64))
			b.fetch(t)
			if r := b.row(t, eth); !r.Stale && r.Now.Value.RelativeDiff(value("1000")) > 2*agreement {
				t.Fatalf("further %t: after %s %s is shown as current, and 1000 is true", further, b.now.Sub(noon), r.Now.Value)
			}
			lie *= 1.029
		}
	}
}

// TestFrozenSource checks that a source stuck on one price does not win for ever over one
// that follows the market.
func TestFrozenSource(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "1000")
	b.second.setPrice(price.IDOf(eth), "1000")
	b.fetch(t)
	b.second.setPrice(price.IDOf(eth), "850")
	for range int((referenceTTL + pricetable.StaleAfter).Minutes()) + 2 {
		b.fetch(t)
	}
	if r := b.row(t, eth); !r.Stale {
		t.Errorf("contradicted for an hour, shown as current: %+v", r.Now)
	}
}

// TestOneSourceIsConfirmed checks that a price from one leading source alone is compared
// with a further source from time to time, and when it moves.
func TestOneSourceIsConfirmed(t *testing.T) {
	b := newBench(t, eth)
	b.first.setPrice(price.IDOf(eth), "1000")
	b.last.setPrice(price.IDOf(eth), "1000")
	for range 30 {
		b.fetch(t)
		if r := b.row(t, eth); r.Stale {
			t.Fatalf("stale: %+v", r.Now)
		}
	}
	if b.last.requests != 3 {
		t.Errorf("asked %d times in half an hour", b.last.requests)
	}
	b.first.setPrice(price.IDOf(eth), "1200")
	before := b.last.requests
	b.fetch(t)
	if r := b.row(t, eth); b.last.requests != before+1 || r.Now.Value != value("1000") {
		t.Errorf("a move of one source: asked %d more, shown %s", b.last.requests-before, r.Now.Value)
	}
}

// TestSleep checks that prices are stale as soon as a machine wakes, before any fetch. The
// monotonic clock, which may stop during sleep, is not used.
func TestSleep(t *testing.T) {
	b := newBench(t, eth)
	b.now = time.Now() // has both clock readings
	b.first.setPrice(price.IDOf(eth), "3000")
	b.Fetch(t.Context())
	if r := b.row(t, eth); r.Stale || !r.Current(b.now) || r.AcceptedAt != b.now.Round(0) {
		t.Fatalf("not current by the wall clock: %+v", r)
	}
	b.now = b.now.Add(3 * time.Hour)
	if r := b.row(t, eth); r.Current(b.now) {
		t.Error("current after a sleep")
	}
	b.republishStale(t.Context())
	if r := b.row(t, eth); !r.Stale {
		t.Error("not flagged after a sleep")
	}
}

// TestPastIsNotThePresent checks that archive prices, which were never validated, are not
// current after a restart, are not a reference for new prices, and do not count as a fetch.
func TestPastIsNotThePresent(t *testing.T) {
	b := newBench(t, wild)
	archive := &register{points: 24*4 + 1} // up to now
	b.o.Archives = []Archive{archive}
	b.fill(t.Context(), backfills[0], true, false, map[price.ID]time.Time{})
	b.Resume(t.Context())
	if r := b.row(t, wild); r.Now.Known() && !r.Stale || !b.o.Feed.Now().Fetched.IsZero() {
		t.Errorf("an archive's price is shown as current: %+v", r)
	}
	b.first.setPrice(price.IDOf(wild), "3000")
	b.second.setPrice(price.IDOf(wild), "1000")
	b.fetch(t)
	if r := b.row(t, wild); !r.Stale {
		t.Errorf("measured by an archive's price, shown as current: %+v", r)
	}
}

// TestManyUnknownTokens checks that a further source is asked about a limited number of
// tokens at a time and eventually about all, even if it always fails.
func TestManyUnknownTokens(t *testing.T) {
	var many []tokens.Token
	for i := range 3 * furtherAtOnce {
		many = append(many, tokens.Token{Chain: 1, Address: common.BigToAddress(big.NewInt(int64(i + 1))), Decimals: 18})
	}
	b := newBench(t, many...)
	b.last.fail = errTest
	b.last.setPrice(price.IDOf(many[0]), "1")
	seen := map[price.ID]bool{}
	for range 4 {
		b.fetch(t)
		if len(b.last.of) > furtherAtOnce {
			t.Fatalf("asked for %d at once", len(b.last.of))
		}
		for _, id := range b.last.of {
			seen[id] = true
		}
	}
	if len(seen) != len(many) {
		t.Errorf("asked for %d of %d", len(seen), len(many))
	}
}

// TestLongFailures checks that a source's error text is cut before it reaches the status.
func TestLongFailures(t *testing.T) {
	b := newBench(t, eth)
	b.first.fail = errors.New(strings.Repeat("\xffé", 1<<20))
	b.fetch(t)
	if reason := b.Health().Sources["first"]; len(reason) < maxReason/2 || len(reason) > maxReason+len("…") || !utf8.ValidString(reason) {
		t.Errorf("%d bytes", len(reason))
	}
}

// TestPrivateTokensStayPrivate checks that only trusted sources are asked about private
// tokens.
func TestPrivateTokensStayPrivate(t *testing.T) {
	b := newBench(t, eth)
	almanac := &register{caps: map[price.ID]price.Value{}}
	b.o.MetadataSources = []MetadataConfig{{MetadataSource: almanac, Source: price.Blockscout}}
	b.o.Archives = []Archive{almanac}
	b.o.Tokens = func() []Watched { return []Watched{{Token: wild, Private: true}} }
	b.second.setPrice(price.IDOf(wild), "2")
	b.fetch(t)
	b.fetchFacts(t.Context())
	for _, f := range backfills {
		b.fill(t.Context(), f, true, false, map[price.ID]time.Time{})
	}
	if b.first.requests+b.last.requests+len(almanac.requests) != 0 || len(b.memory.facts) != 0 {
		t.Errorf("asked %d and %d times, for %v and %v", b.first.requests, b.last.requests, almanac.requests, b.memory.facts)
	}
	if r := b.row(t, wild); r.Now.Value != value("2") {
		t.Errorf("by whoever may be asked it is %+v", r.Now)
	}
}

// TestFollowersHaveTheirOriginsPast uses an archive that knows only the origin.
func TestFollowersHaveTheirOriginsPast(t *testing.T) {
	knows := onlyOf{&register{points: 96}, price.IDOf(eth)}
	got, err := fetchPast(t.Context(), knows, []tokens.Token{seed, wild}, noon.Add(-day), 15*time.Minute)
	if err != nil || len(got[price.IDOf(seed)]) != 96 || len(got[price.IDOf(wild)]) != 0 {
		t.Errorf("%d and %d points, %v", len(got[price.IDOf(seed)]), len(got[price.IDOf(wild)]), err)
	}
}

// onlyOf is an archive that knows one token.
type onlyOf struct {
	Archive
	id price.ID
}

func (a onlyOf) Past(ctx context.Context, ts []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error) {
	ts = slices.DeleteFunc(slices.Clone(ts), func(t tokens.Token) bool { return price.IDOf(t) != a.id })
	return a.Archive.Past(ctx, ts, since, step)
}

// TestRequestedPause checks that a requested pause is kept, up to an hour.
func TestRequestedPause(t *testing.T) {
	for requested, want := range map[time.Duration]time.Duration{10 * time.Minute: 10 * time.Minute, 24 * time.Hour: time.Hour} {
		b := newBench(t, eth)
		b.first.fail = &rest.Error{RetryAfter: requested}
		b.fetch(t)
		b.now = noon.Add(want - time.Second)
		b.fetch(t)
		if b.first.requests != 1 {
			t.Errorf("asked again within %s", want)
		}
		b.now = noon.Add(want)
		b.fetch(t)
		if b.first.requests != 2 {
			t.Errorf("not asked again after %s", want)
		}
	}
}

// TestFirst checks that First is closed even if no oracle can be read.
func TestFirst(t *testing.T) {
	b := newBench(t)
	select {
	case <-b.First():
		t.Fatal("told before anything was asked")
	default:
	}
	for range firstTries + 1 {
		b.Fetch(t.Context())
	}
	<-b.First()
}
