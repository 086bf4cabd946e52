// Package historytest tests any [poll.History] against a simple model that keeps
// everything.
package historytest

import (
	"slices"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
)

// Steps and retention of the resolutions.
var (
	steps = [...]time.Duration{price.Minutes: time.Minute, price.Quarters: 15 * time.Minute, price.Hours: time.Hour}
	keeps = [...]time.Duration{price.Minutes: 25 * time.Hour, price.Quarters: 8 * 24 * time.Hour, price.Hours: Days * 24 * time.Hour}
)

// Days is how long the histories under test must keep hours.
const Days = 32

// maxAge is the largest age of a sample relative to its minute; an older one is recorded
// with this age.
const maxAge = 255 * time.Minute

// A model is a reference implementation of a history.
type model struct {
	now     time.Time
	minutes map[time.Time]map[price.ID]price.Sample
	filled  [3]map[time.Time]map[price.ID]price.Candle // quarters and hours only
	facts   map[price.ID]price.Facts
	totals  poll.Totals
}

func newModel(now time.Time) *model {
	m := &model{now: now, minutes: map[time.Time]map[price.ID]price.Sample{}, facts: map[price.ID]price.Facts{}}
	for r := range m.filled {
		m.filled[r] = map[time.Time]map[price.ID]price.Candle{}
	}
	return m
}

// packed returns what remains of a value after storage.
func packed(v price.Value) price.Value {
	v, _ = v.Pack().Unpack()
	return v
}

func (m *model) oldest(r price.Resolution) time.Time { return m.now.Truncate(time.Hour).Add(-keeps[r]) }

func (m *model) append(min poll.Minute) {
	at := min.At.Truncate(time.Minute)
	for id, s := range min.Samples {
		s.Value, s.At = packed(s.Value), s.At.Truncate(time.Minute)
		if s.At.After(at) {
			s.At = at
		}
		if s.At.Before(at.Add(-maxAge)) {
			s.At = at.Add(-maxAge)
		}
		if was, ok := m.minutes[at][id]; ok && was.At.After(s.At) {
			continue
		}
		m.put(at, id, s)
	}
	m.totals.Fetches++
	if min.OK {
		m.totals.Successful++
	}
	m.totals.Took += min.Took
}

func (m *model) put(at time.Time, id price.ID, s price.Sample) {
	if m.minutes[at] == nil {
		m.minutes[at] = map[price.ID]price.Sample{}
	}
	m.minutes[at][id] = s
}

func (m *model) fill(r price.Resolution, source price.Source, id price.ID, candles []price.Candle) {
	for _, c := range fold(candles, steps[r]) {
		if c.At.Before(m.oldest(r)) || c.At.After(m.now) {
			continue
		}
		if r == price.Minutes {
			if _, has := m.minutes[c.At][id]; !has {
				m.put(c.At, id, price.Sample{Value: packed(c.Close), At: c.At, Source: source})
			}
			continue
		}
		if m.filled[r][c.At] == nil {
			m.filled[r][c.At] = map[price.ID]price.Candle{}
		}
		if _, has := m.filled[r][c.At][id]; !has {
			m.filled[r][c.At][id] = c
		}
	}
}

// fold joins candles of the same step.
func fold(candles []price.Candle, step time.Duration) (all []price.Candle) {
	for _, c := range candles {
		c.At = c.At.Truncate(step)
		if n := len(all); n > 0 && all[n-1].At.Equal(c.At) {
			all[n-1] = all[n-1].Join(c)
		} else {
			all = append(all, c)
		}
	}
	return all
}

// candle returns the candle of a span: built from finer ones, otherwise as filled.
func (m *model) candle(r price.Resolution, id price.ID, at time.Time) (c price.Candle, ok bool) {
	if r == price.Minutes {
		s, ok := m.minutes[at][id]
		return price.Candle{At: at, Open: s.Value, High: s.Value, Low: s.Value, Close: s.Value}, ok
	}
	for finer := at; finer.Before(at.Add(steps[r])); finer = finer.Add(steps[r-1]) {
		if next, has := m.candle(r-1, id, finer); has {
			next.At = at
			c, ok = c.Join(next), true
		}
	}
	if ok {
		return c, true
	}
	c, ok = m.filled[r][at][id]
	return c, ok
}

func (m *model) chart(id price.ID, p price.Period) []price.Candle {
	var all []price.Candle
	first := m.now.Truncate(p.Step).Add(p.Step - p.Span)
	for at := first; !at.After(m.now); at = at.Add(steps[p.Raw]) {
		if c, ok := m.candle(p.Raw, id, at); ok {
			all = append(all, c)
		}
	}
	return fold(all, p.Step)
}

// near returns all samples of a token with the smallest distance to at.
func (m *model) near(id price.ID, at time.Time, tolerance time.Duration) (best []price.Sample) {
	off := func(s price.Sample) time.Duration { return s.At.Sub(at.Truncate(time.Second)).Abs() }
	from, to := at.Add(-tolerance).Truncate(time.Minute), at.Add(tolerance)
	for minute, samples := range m.minutes {
		s, ok := samples[id]
		switch {
		case !ok || off(s) > tolerance || minute.Before(from) || minute.After(to) || minute.After(m.now) || minute.Before(m.oldest(price.Minutes)):
		case len(best) > 0 && off(s) > off(best[0]):
		case len(best) > 0 && off(s) == off(best[0]):
			best = append(best, s)
		default:
			best = []price.Sample{s}
		}
	}
	return best
}

func (m *model) last(id price.ID) (last price.Sample, ok bool) {
	newest := m.now.Truncate(time.Minute).Add(-keeps[price.Minutes] - time.Minute)
	for minute, samples := range m.minutes {
		if s, has := samples[id]; has && minute.After(newest) && !minute.After(m.now) {
			newest, last, ok = minute, s, true
		}
	}
	return last, ok
}

// since returns the start of the oldest span that has data.
func (m *model) since(id price.ID) (oldest time.Time, ok bool) {
	for r := range steps {
		for at := m.oldest(price.Resolution(r)); !at.After(m.now); at = at.Add(steps[r]) {
			if _, has := m.candle(price.Resolution(r), id, at); has {
				if !ok || at.Before(oldest) {
					oldest, ok = at, true
				}
				break
			}
		}
	}
	return oldest, ok
}

func sameCandles(a, b []price.Candle) bool {
	return slices.EqualFunc(a, b, func(x, y price.Candle) bool {
		return x.At.Equal(y.At) && x.Open == y.Open && x.High == y.High && x.Low == y.Low && x.Close == y.Close
	})
}

func sameSample(a, b price.Sample) bool {
	return a.Value == b.Value && a.At.Equal(b.At) && a.Source == b.Source
}
