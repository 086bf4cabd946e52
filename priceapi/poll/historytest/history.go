package historytest

import (
	"context"
	"flag"
	"math/big"
	"slices"
	"strconv"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"
)

// Open makes an empty history that uses the given clock and keeps hours for [Days] days.
// end closes it.
type Open func(now func() time.Time) (h poll.History, end func(), err error)

// Run performs random operations of pollers and readers and compares every result with the
// model's. It does so checks times unless the flag rapid.checks is set.
func Run(t *testing.T, checks int, open Open) {
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(checks)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(f.DefValue) }() // restore the default
	}
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(2026, 11, 20, 10, 7, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 3600).Draw(t, "start")) * time.Second)
		r := &run{m: newModel(start), ctx: context.Background()}
		h, end, err := open(func() time.Time { return r.m.now })
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		r.h = h
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				r.checkCharts(t, rapid.SampledFrom(ids).Draw(t, "charts of"))
			},
			"append": r.append, "late": r.late, "again": r.again, "idle": r.idle,
			"fill minutes":  func(t *rapid.T) { r.fill(t, price.Minutes) },
			"fill quarters": func(t *rapid.T) { r.fill(t, price.Quarters) },
			"fill hours":    func(t *rapid.T) { r.fill(t, price.Hours) },
			"facts":         r.facts,
			"near":          r.near, "last": r.checkLast, "coverages": r.checkCoverages, "kept": r.checkKept,
		})
		for _, id := range ids {
			r.checkCharts(t, id)
		}
		r.checkLast(t)
		r.checkCoverages(t)
		r.checkKept(t)
	})
}

// A run is one history and its model.
type run struct {
	ctx context.Context
	h   poll.History
	m   *model
}

// ids are the tokens: one address on two chains, a native coin, and another token.
var ids = []price.ID{
	{Chain: 1, Address: common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")},
	{Chain: 8453, Address: common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")},
	{Chain: 5330},
	{Chain: 56, Address: common.HexToAddress("0x55d398326f99059fF775485246999027B3197955")},
}

// value draws a price from 1e-18 to almost 1e19 dollars, mostly a common one.
func value(t *rapid.T) price.Value {
	mantissa := rapid.Uint64Range(1, 99_999_999_999_999_999).Draw(t, "mantissa")
	exponent := rapid.SampledFrom([]int64{0, 1, 2, 3, 10, 20}).Draw(t, "exponent")
	n := new(big.Int).Mul(new(big.Int).SetUint64(mantissa), new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil))
	v, err := price.FromRatio(n, big.NewInt(1e18))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func duration(t *rapid.T, label string, maximum time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(maximum/time.Second)).Draw(t, label)) * time.Second
}

// strides are how far the clock moves before a fetch.
var strides = []time.Duration{time.Minute, time.Minute, time.Minute, 4 * time.Minute, 20 * time.Minute, time.Hour, 3 * time.Hour, 20 * time.Hour, 27 * time.Hour, 9 * 24 * time.Hour, 33 * 24 * time.Hour}

func (r *run) minute(t *rapid.T, at time.Time) poll.Minute {
	m := poll.Minute{At: at, Took: duration(t, "took", time.Minute), OK: rapid.Bool().Draw(t, "ok"), Samples: map[price.ID]price.Sample{}}
	for _, id := range ids {
		if rapid.Bool().Draw(t, "has") {
			age := rapid.SampledFrom([]time.Duration{0, 0, 0, 30 * time.Second, 3 * time.Minute, 40 * time.Minute, 5 * time.Hour, -time.Minute}).Draw(t, "age")
			m.Samples[id] = price.Sample{Value: value(t), At: at.Add(-age), Source: price.Source(rapid.IntRange(1, int(price.Derived)).Draw(t, "source"))}
		}
	}
	return m
}

func (r *run) keep(t *rapid.T, m poll.Minute) {
	if err := r.h.Append(r.ctx, m); err != nil {
		t.Fatalf("append %s at %s: %v", m.At, r.m.now, err)
	}
	r.m.append(m)
}

func (r *run) append(t *rapid.T) {
	r.m.now = r.m.now.Add(rapid.SampledFrom(strides).Draw(t, "stride"))
	r.keep(t, r.minute(t, r.m.now))
}

// late appends a minute older than the newest.
func (r *run) late(t *rapid.T) {
	r.keep(t, r.minute(t, r.m.now.Add(-duration(t, "late", 24*time.Hour))))
}

// again appends a second fetch of the same minute.
func (r *run) again(t *rapid.T) { r.keep(t, r.minute(t, r.m.now)) }

// idle lets time pass without a fetch.
func (r *run) idle(t *rapid.T) { r.m.now = r.m.now.Add(duration(t, "idle", 90*time.Minute)) }

func (r *run) fill(t *rapid.T, of price.Resolution) {
	source := price.Source(rapid.IntRange(1, int(price.Derived)).Draw(t, "source"))
	spacing := rapid.SampledFrom([]time.Duration{time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour}).Draw(t, "spacing")
	all := map[price.ID][]price.Candle{}
	for _, id := range ids {
		at := r.m.now.Add(-duration(t, "since", keeps[of]+2*time.Hour))
		for range rapid.IntRange(0, 6).Draw(t, "candles") {
			all[id] = append(all[id], candle(t, at))
			at = at.Add(spacing)
		}
	}
	for range 1 + rapid.IntRange(0, 1).Draw(t, "repeated") {
		if err := r.h.Fill(r.ctx, of, source, all); err != nil {
			t.Fatal(err)
		}
	}
	for id, candles := range all {
		r.m.fill(of, source, id, slices.DeleteFunc(candles, func(c price.Candle) bool { return c.At.Truncate(time.Minute).After(r.m.now) }))
	}
}

func candle(t *rapid.T, at time.Time) price.Candle {
	v := []price.Value{value(t), value(t), value(t), value(t)}
	slices.SortFunc(v, price.Value.Cmp)
	c := price.Candle{At: at, Low: v[0], Open: v[1], Close: v[2], High: v[3]}
	if rapid.Bool().Draw(t, "fell") {
		c.Open, c.Close = c.Close, c.Open
	}
	return c
}

func (r *run) facts(t *rapid.T) {
	some := map[price.ID]price.Facts{}
	for _, id := range ids {
		if rapid.Bool().Draw(t, "has") {
			some[id] = price.Facts{
				MarketCap: value(t), Diluted: rapid.Bool().Draw(t, "diluted"), CapSource: price.GoPlus, CapAt: r.m.now.Truncate(time.Millisecond),
				Holders: rapid.Uint64().Draw(t, "holders"),
			}
		}
	}
	if err := r.h.SetFacts(r.ctx, some); err != nil {
		t.Fatal(err)
	}
	for id, f := range some {
		r.m.facts[id] = f
	}
}

func (r *run) near(t *rapid.T) {
	at := r.m.now.Add(-duration(t, "ago", 25*time.Hour))
	tolerance := rapid.SampledFrom([]time.Duration{0, time.Minute, 30 * time.Minute, 25 * time.Hour}).Draw(t, "tolerance")
	got, err := r.h.Near(r.ctx, at, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		best := r.m.near(id, at, tolerance)
		s, ok := got[id]
		if ok != (len(best) > 0) || ok && !slices.ContainsFunc(best, func(b price.Sample) bool { return sameSample(s, b) }) {
			t.Fatalf("near %s within %s, %v: got %v %v, want one of %v", at, tolerance, id, ok, s, best)
		}
	}
}

func (r *run) checkCharts(t *rapid.T, id price.ID) {
	for _, p := range price.Periods() {
		got, err := r.h.Chart(r.ctx, id, p, r.m.now)
		if err != nil {
			t.Fatal(err)
		}
		if want := r.m.chart(id, p); !sameCandles(got, want) {
			t.Fatalf("%s of %v at %s:\ngot  %v\nwant %v", p.Name, id, r.m.now, got, want)
		}
	}
}

// checkKept compares facts and totals.
func (r *run) checkKept(t *rapid.T) {
	facts, err := r.h.Facts(r.ctx)
	if err != nil || len(facts) != len(r.m.facts) {
		t.Fatalf("facts: %v, %v", facts, err)
	}
	for id, f := range facts {
		if want := r.m.facts[id]; !f.CapAt.Equal(want.CapAt) || f.MarketCap != want.MarketCap || f.Holders != want.Holders ||
			f.Diluted != want.Diluted || f.CapSource != want.CapSource || !f.HoldersAt.IsZero() {
			t.Fatalf("facts of %v: got %+v, want %+v", id, f, want)
		}
	}
	if got, err := r.h.Totals(r.ctx); err != nil || got != r.m.totals {
		t.Fatalf("totals: got %+v %v, want %+v", got, err, r.m.totals)
	}
	if err := r.h.Check(r.ctx); err != nil {
		t.Fatal(err)
	}
}

func (r *run) checkLast(t *rapid.T) {
	last, err := r.h.Last(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		want, ok := r.m.last(id)
		if got, has := last[id]; has != ok || ok && !sameSample(got, want) {
			t.Fatalf("last of %v at %s: got %v %v, want %v %v", id, r.m.now, has, got, ok, want)
		}
	}
}

// checkCoverages allows Since to be the start of the candle that the oldest sample was
// merged into.
func (r *run) checkCoverages(t *rapid.T) {
	all, err := r.h.Coverages(r.ctx, r.m.now)
	if err != nil {
		t.Fatal(err)
	}
	of := map[price.ID]poll.Coverage{}
	for _, c := range all {
		of[c.ID] = c
	}
	for _, id := range ids {
		since, ok := r.m.since(id)
		got, has := of[id]
		if has != ok || ok && (got.Since.Before(since) || got.Since.After(since.Add(time.Hour))) {
			t.Fatalf("coverage of %v at %s: got %v %v, want %v %v", id, r.m.now, has, got, ok, since)
		}
		for _, p := range price.Periods() {
			if want := len(r.m.chart(id, p)); got.Points[p.Name] != want {
				t.Fatalf("%s of %v at %s: %d points, want %d", p.Name, id, r.m.now, got.Points[p.Name], want)
			}
		}
	}
}
