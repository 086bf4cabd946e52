//go:build faults && linux

package soak

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
	"swapkeep/sandbox/market"
)

const (
	chartedSymbol  = "ETH" // whose candles are checked: mainnet's native coin
	priceStep      = 6e6   // at each visit, in millionths of a dollar
	fetchLag       = 10 * time.Minute
	priceTolerance = 2e-4 // relative to a price; a rise is ten times as much
)

// movePrice sets another price each round, so that candles of the wrong time have wrong values.
func (u *user) movePrice(round int) {
	u.t.Helper()
	if err := world.Market().Move(u.t.Context(), market.Move{Symbol: chartedSymbol, MicroUSD: 3000e6 + int64(round+1)*priceStep}); err != nil {
		u.t.Fatal(err)
	}
}

// priceRange returns the lowest and highest price that any service gave for the coin in a span.
// It starts earlier by told, as a fetch may have been in flight that long.
func priceRange(from, to time.Time) (least, most float64) {
	least = math.Inf(1)
	for at := from.Add(-fetchLag); !at.After(to); at = at.Add(time.Minute) {
		micro, _ := world.Market().At(chartedSymbol, at)
		least, most = min(least, micro/1e6), max(most, micro/1e6)
	}
	return least * (1 - priceTolerance), most * (1 + priceTolerance)
}

// A candle is a candle from any source.
type candle struct {
	at                     time.Time
	open, high, low, close float64
}

// A chart is a series of candles and the time it should cover.
type chart struct {
	name     string
	step     time.Duration
	candles  []candle
	from, to time.Time // the time since the run began; earlier prices are made up
}

// judge counts the steps that lie within the run and returns how many there should be. It
// also lists what is wrong with the candles: values that no service gave, and a newest one
// that ended more than two steps ago. Of a candle that began before the run only the close
// is checked.
func (c chart) judge(said func(from, to time.Time) (least, most float64)) (h expectation, wrong []string) {
	steps := int(c.to.Truncate(c.step).Sub(c.from.Add(c.step-1).Truncate(c.step)) / c.step)
	h = expectation{what: c.name + ": steps of " + minutes(c.step) + " with a price", least: max(steps, 0) * 8 / 10}
	if len(c.candles) == 0 {
		return h, []string{c.name + ": no candles"}
	}
	if last := c.candles[len(c.candles)-1]; c.to.Sub(last.at) > 3*c.step || !last.at.Add(c.step).After(c.from) {
		wrong = append(wrong, fmt.Sprintf("%s: the newest candle is of %s, and it is %s", c.name, last.at.UTC().Format(time.DateTime), c.to.UTC().Format(time.DateTime)))
	}
	for _, x := range c.candles {
		end, whole := x.at.Add(c.step), !x.at.Before(c.from)
		if !end.After(c.from.Add(fetchLag)) {
			continue
		}
		if whole && !end.After(c.to) {
			h.count++
		}
		values := []float64{x.close}
		if whole {
			values = append(values, x.open, x.high, x.low)
		}
		least, most := said(x.at, end)
		for _, v := range values {
			if !(v >= least && v <= most) {
				wrong = append(wrong, fmt.Sprintf("%s: the candle of %s has %g, and said was %g to %g", c.name, x.at.UTC().Format(time.DateTime), v, least, most))
				break
			}
		}
	}
	return h, wrong
}

func minutes(d time.Duration) string { return fmt.Sprintf("%.0f min", d.Minutes()) }

// charts returns the charts that a window shows.
func (w *window) charts(from time.Time) (all []chart) {
	w.t.Helper()
	for _, p := range price.Periods() {
		var r protocol.PriceHistory
		w.must("prices.history", protocol.PriceHistoryParams{ChainID: mainnet, Token: protocol.Address(native.Hex()), Period: p.Name}, &r)
		c := chart{name: "chart of " + p.Name, step: time.Duration(r.StepSeconds) * time.Second, from: from, to: clock.Now()}
		if c.step != p.Step {
			w.t.Fatalf("%s has steps of %s", c.name, c.step)
		}
		for _, x := range r.Candles {
			var of [4]float64
			for i, text := range []protocol.USD{x.Open, x.High, x.Low, x.Close} {
				v, err := price.Parse(string(text))
				if err != nil {
					w.t.Fatal(err)
				}
				of[i] = v.Float()
			}
			c.candles = append(c.candles, candle{x.Time, of[0], of[1], of[2], of[3]})
		}
		all = append(all, c)
	}
	return all
}

// storedCharts returns the quarters and hours in prices.db, for which it stops the daemon. It
// queries them for a later time, at which the finer rows, of which charts would otherwise
// be made, have expired. It opens the file with a clock by which no quarter or hour has
// ended, as opening it would otherwise roll them up.
func (h *home) storedCharts(from time.Time) (all []chart) {
	h.t.Helper()
	to := clock.Now()
	h.stop()
	defer h.start()
	s, err := series.Open(filepath.Join(h.Instance.Home, "prices.db"), series.Options{Now: func() time.Time { return from }})
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			h.t.Error(err)
		}
	}()
	for _, kept := range []struct {
		name  string
		of    price.Resolution
		later time.Duration
	}{{"quarters rolled up", price.Quarters, 27 * time.Hour}, {"hours rolled up", price.Hours, 9 * 24 * time.Hour}} {
		p := price.Period{Span: to.Sub(from).Truncate(time.Hour) + kept.later, Step: kept.of.Step(), Raw: kept.of}
		candles, err := s.Chart(h.t.Context(), price.ID{Chain: mainnet}, p, to.Add(kept.later))
		if err != nil {
			h.t.Fatal(err)
		}
		c := chart{name: kept.name, step: p.Step, from: from, to: to}
		for _, x := range candles {
			c.candles = append(c.candles, candle{x.At, x.Open.Float(), x.High.Float(), x.Low.Float(), x.Close.Float()})
		}
		all = append(all, c)
	}
	return all
}

// TestJudgeCandles checks that missing, old and misdated candles are found.
func TestJudgeCandles(t *testing.T) {
	const step = 15 * time.Minute
	from := time.Unix(1_800_000_000, 0).Truncate(time.Hour)
	worth := func(at time.Time) float64 { return 1000 + at.Sub(from).Minutes() }
	within := func(from, to time.Time) (float64, float64) { return worth(from), worth(to) }
	fresh := func() chart {
		c := chart{name: "chart", step: step, from: from.Add(-5 * time.Minute), to: from.Add(4*time.Hour + 3*time.Minute)}
		for n := -1; n <= 16; n++ {
			at := from.Add(time.Duration(n) * step)
			c.candles = append(c.candles, candle{at, worth(at), worth(at.Add(step)), worth(at), worth(at.Add(step))})
		}
		c.candles[0].low = 1 // from before the run
		return c
	}
	for name, x := range map[string]struct {
		change        func(*chart)
		missed, wrong int
	}{
		"as it is":             {func(*chart) {}, 0, 0},
		"none":                 {func(c *chart) { c.candles = nil }, 16, 1},
		"five of 16 missing":   {func(c *chart) { c.candles = append(c.candles[:5], c.candles[10:]...) }, 5, 0},
		"none of an hour past": {func(c *chart) { c.candles = c.candles[:14] }, 3, 1},
		"a low of before":      {func(c *chart) { c.candles[7].low = 1 }, 0, 1},
		"a later high":         {func(c *chart) { c.candles[7].high += 60 }, 0, 1},
		"an earlier hour's":    {func(c *chart) { c.candles[9].open, c.candles[9].close = c.candles[5].open, c.candles[5].close }, 0, 1},
		"the newest's close":   {func(c *chart) { c.candles[17].close = 1 }, 0, 1},
	} {
		c := fresh()
		x.change(&c)
		h, wrong := c.judge(within)
		if h.least != 12 || 16-h.count != x.missed || len(wrong) != x.wrong {
			t.Errorf("%s: %+v, %q", name, h, wrong)
		}
	}
}
