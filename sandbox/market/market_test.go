package market

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"swapkeep/sandbox/network"
)

var began = time.Unix(1_800_000_000, 0)

func TestStartingPricesAreThoseOfTheChains(t *testing.T) {
	prices := NewPrices(1, began).Current()
	for _, n := range network.All() {
		for _, tok := range append(append([]network.Token{n.Wrapped}, n.Tokens...), n.Oracles().ExtraTokens...) {
			if prices[tok.Symbol] != tok.MicroUSD {
				t.Errorf("chain %d: %s is worth %d here and %d in the pools", n.ID, tok.Symbol, prices[tok.Symbol], tok.MicroUSD)
			}
		}
		if prices[n.Native] != n.Wrapped.MicroUSD {
			t.Errorf("chain %d: %s is worth %d", n.ID, n.Native, prices[n.Native])
		}
		for _, f := range n.Oracles().Feeds {
			if prices[f.Symbol] == 0 {
				t.Errorf("chain %d: nobody says what %s is worth", n.ID, f.Symbol)
			}
		}
	}
	for _, a := range Assets() {
		if prices[a.Symbol] != a.Start() || a.Start() <= 0 || a.Cap() <= 0 {
			t.Errorf("%s: %d, starts at %d, cap %d", a.Symbol, prices[a.Symbol], a.Start(), a.Cap())
		}
	}
}

// TestMoves checks that followers keep their ratio to an asset, and that a follower can
// be moved alone.
func TestMoves(t *testing.T) {
	at := func(moves ...Move) map[string]int64 {
		t.Helper()
		r, err := starting().afterMoves(moves)
		if err != nil {
			t.Fatal(err)
		}
		return r.prices()
	}
	for _, tc := range []struct {
		name  string
		moves []Move
		want  map[string]int64
	}{
		{"followers follow", []Move{{"ETH", 3100 * dollar}}, map[string]int64{"ETH": 3100 * dollar, "WETH": 3100 * dollar, "wstETH": 3_797_500_000, "BTC": 90_000 * dollar}},
		{"there and back", []Move{{"ETH", 7}, {"ETH", 3000 * dollar}}, starting().prices()},
		{"the wrapped coin is the coin", []Move{{"WBNB", 950 * dollar}}, map[string]int64{"BNB": 950 * dollar, "WBNB": 950 * dollar}},
		{"one leaves", []Move{{"USDC.e", 900_000}}, map[string]int64{"USDC.e": 900_000, "USDC": dollar}},
		{"and keeps its new ratio", []Move{{"wstETH", 3000 * dollar}, {"ETH", 1500 * dollar}}, map[string]int64{"wstETH": 1500 * dollar}},
	} {
		got := at(tc.moves...)
		for symbol, want := range tc.want {
			if got[symbol] != want {
				t.Errorf("%s: %s is worth %d, want %d", tc.name, symbol, got[symbol], want)
			}
		}
	}
	for _, bad := range []Move{{"DOGE", 1}, {"ETH", 0}, {"ETH", -1}, {"ETH", MaxMicroUSD + 1}, {"", 1}} {
		if _, err := starting().afterMoves([]Move{bad}); !errors.Is(err, ErrMove) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestThePast checks that past prices are reproducible, do not depend on moves, lead up
// to the starting price and vary plausibly.
func TestThePast(t *testing.T) {
	p, again, other := NewPrices(1, began), NewPrices(1, began), NewPrices(2, began)
	p.put(must(starting().afterMoves([]Move{{"ETH", 4000 * dollar}})), began.Add(time.Hour))
	p.put(must(starting().afterMoves([]Move{{"ETH", 2000 * dollar}})), began.Add(2*time.Hour))
	for _, tc := range []struct {
		after time.Duration
		want  float64
	}{{0, 3000}, {59 * time.Minute, 3000}, {time.Hour, 4000}, {119 * time.Minute, 4000}, {2 * time.Hour, 2000}, {9000 * time.Hour, 2000}} {
		if got, ok := p.At("ETH", began.Add(tc.after)); !ok || got != tc.want*dollar {
			t.Errorf("%v after the start: %v", tc.after, got)
		}
	}
	if just, _ := p.At("ETH", began.Add(-time.Second)); math.Abs(just/(3000*dollar)-1) > 1e-4 {
		t.Errorf("the past ends in %v", just)
	}
	low, high, differs := math.Inf(1), 0.0, false
	for h := range 24 * 30 {
		at := began.Add(-time.Duration(h) * time.Hour)
		a, _ := p.At("ETH", at)
		b, _ := again.At("ETH", at)
		c, _ := other.At("ETH", at)
		calm, _ := p.At("USDC", at)
		follower, _ := p.At("wstETH", at)
		low, high, differs = min(low, a), max(high, a), differs || a != c
		if a != b || math.Abs(calm/dollar-1) > 0.01 || math.Abs(follower/a-1.225) > 1e-9 {
			t.Fatalf("%v: %v and %v, USDC %v, wstETH %v", at, a, b, calm, follower)
		}
	}
	if !differs || high/low < 1.02 || high/low > 3 {
		t.Errorf("a month from %v to %v; with another seed otherwise: %v", low, high, differs)
	}
	if _, ok := p.At("DOGE", began); ok {
		t.Error("a price of what there is not")
	}
}

// TestTheLogIsBounded checks that the log is bounded and keeps its first and latest
// records.
func TestTheLogIsBounded(t *testing.T) {
	p := NewPrices(1, began)
	for i := range 3 * maxRecords {
		p.put(must(starting().afterMoves([]Move{{"ETH", int64(i+1) * dollar}})), began.Add(time.Duration(i+1)*time.Second))
	}
	if len(p.log) > maxRecords || !p.log[0].since.Equal(began) {
		t.Errorf("%d records from %v on", len(p.log), p.log[0].since)
	}
	for i := 3*maxRecords - 100; i < 3*maxRecords; i++ {
		if got, _ := p.At("ETH", began.Add(time.Duration(i+1)*time.Second)); got != float64(i+1)*dollar {
			t.Fatalf("record %d: %v", i, got)
		}
	}
	for i, r := range p.log[1:] {
		if !r.since.After(p.log[i].since) {
			t.Fatalf("record %d is not after the one before", i+1)
		}
	}
}

// TestRecordsStayInOrder checks that records stay in order if the clock goes back.
func TestRecordsStayInOrder(t *testing.T) {
	p := NewPrices(1, began)
	p.put(must(starting().afterMoves([]Move{{"ETH", 5 * dollar}})), began.Add(time.Hour))
	p.put(must(starting().afterMoves([]Move{{"ETH", 6 * dollar}})), began)
	if got, _ := p.At("ETH", began.Add(time.Hour)); got != 6*dollar {
		t.Errorf("ETH is at %v, want 6 dollars", got)
	}
}

func TestDriftStaysInItsBand(t *testing.T) {
	d := Drift{BpsPerMinute: 1000, BandBps: 300, EverySeconds: 60, Seed: 7}
	walk := func(seed uint64) (rates, float64) {
		random := rand.New(rand.NewPCG(seed, 1))
		r, far := starting(), 0.0
		for range 2000 {
			next := d.step(r, random)
			for i, a := range assets {
				if a.Follows != "" {
					if next[i] != r[i] {
						t.Fatalf("%s left what it follows", a.Symbol)
					}
					continue
				}
				band := 0.03
				if a.Calm {
					band *= calmFactor
				}
				off := math.Abs(next[i]/float64(a.Rate) - 1)
				if off > band+1e-12 {
					t.Fatalf("%s is off by %v", a.Symbol, off)
				}
				if a.Symbol == eth {
					far = max(far, off)
				}
			}
			r = next
		}
		return r, far
	}
	a, far := walk(1)
	b, _ := walk(1)
	c, _ := walk(2)
	if far < 0.02 {
		t.Errorf("it goes no further than %v", far)
	}
	same := true
	for i := range a {
		if a[i] != b[i] {
			t.Fatal("the same seed walks otherwise")
		}
		same = same && a[i] == c[i]
	}
	if same {
		t.Error("another seed walks alike")
	}
	// A price beyond the band returns to its edge.
	r := d.step(must(starting().afterMoves([]Move{{"ETH", 9000 * dollar}})), rand.New(rand.NewPCG(1, 1)))
	if got := r[index[eth]]; got != 3090*dollar {
		t.Errorf("back to %v", got)
	}
	for _, bad := range []Drift{
		{BpsPerMinute: -1, BandBps: 1, EverySeconds: 1}, {BpsPerMinute: math.NaN(), BandBps: 1, EverySeconds: 1}, {BpsPerMinute: 2000, BandBps: 1, EverySeconds: 1},
		{BandBps: 0, EverySeconds: 1}, {BandBps: 10_000, EverySeconds: 1}, {BandBps: 1}, {BandBps: 1, EverySeconds: 4000},
	} {
		if bad.check() == nil {
			t.Errorf("%+v is fine", bad)
		}
	}
}

func must(r rates, err error) rates {
	if err != nil {
		panic(err)
	}
	return r
}
