package series

import (
	"context"
	"slices"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// A snapshot is a reader's view of the store.
type snapshot struct {
	tx     *bolt.Tx
	tokens *table
	rings  rings
	now    int64
}

func (s *Store) snapshot(tx *bolt.Tx, now time.Time) snapshot {
	return snapshot{tx, s.tokens.Load(), s.rings, minuteOf(now)}
}

// first returns the start of a period's first step; its last step contains now.
func first(p price.Period, now int64) int64 {
	span, step := int64(p.Span/time.Minute), int64(p.Step/time.Minute)
	return floor(now, step) - span + step
}

// Chart implements [poll.History].
func (s *Store) Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) (candles []price.Candle, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		candles = nil
		v := s.snapshot(tx, now)
		token, ok := v.tokens.index[id]
		if !ok || int(p.Raw) >= len(v.rings) {
			return nil
		}
		candles = v.chart(token, p)
		return nil
	})
	return candles, err
}

func (v snapshot) chart(token int, p price.Period) []price.Candle {
	from, step := first(p, v.now), int64(p.Step/time.Minute)
	raw := v.rings[p.Raw].step
	steps := make([]bar, p.Span/p.Step)
	for i := range steps {
		steps[i] = noBar
	}
	for i, b := range v.bars(p.Raw, token, from) {
		steps[int64(i)*raw/step].join(b)
	}
	candles := make([]price.Candle, 0, len(steps))
	for i, b := range steps {
		if c, ok := b.unpack(from + int64(i)*step); ok && !b.none() {
			candles = append(candles, c)
		}
	}
	return candles
}

// bars returns one bar per row of a resolution from a time until now. Rows that are not
// closed are built from the finer ones.
func (v snapshot) bars(r price.Resolution, token int, from int64) []bar {
	g := v.rings[r]
	n := (floor(v.now, g.step)-from)/g.step + 1
	if n <= 0 {
		return nil
	}
	bars, closed := make([]bar, n), make([]bool, n)
	for i := range bars {
		bars[i] = noBar
	}
	g.each(v.tx, v.tokens, from, floor(v.now, g.step), func(w row) bool {
		i := (w.at - from) / g.step
		if entry := w.entry(token); entry != nil {
			bars[i] = parseBar(r, entry)
		}
		closed[i] = w.is(flagClosed) && w.at+g.step <= v.now
		return true
	})
	if open := slices.Index(closed, false); r > price.Minutes && open >= 0 {
		v.override(bars, closed, r, token, from, from+int64(open)*g.step)
	}
	return bars
}

// override replaces bars that are not closed by those of the finer rows. open is the start
// of the first such bar.
func (v snapshot) override(bars []bar, closed []bool, r price.Resolution, token int, from, open int64) {
	g, finer := v.rings[r], v.rings[r-1]
	open = max(open, finer.oldest(v.now))
	last := int64(-1)
	for i, b := range v.bars(finer.res, token, open) {
		at := (open + int64(i)*finer.step - from) / g.step
		switch {
		case closed[at] || b.none():
		case at != last:
			bars[at], last = b, at
		default:
			bars[at].join(b)
		}
	}
}

// Coverages implements [poll.History]. Tokens without any data are absent.
func (s *Store) Coverages(ctx context.Context, now time.Time) (all []poll.Coverage, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		v := s.snapshot(tx, now)
		marks := make([]coverage, len(v.tokens.ids))
		for _, g := range v.rings {
			v.cover(g, marks)
		}
		all = nil
		for i, m := range marks {
			if m.since > 0 && v.tokens.ids[i].Chain != 0 {
				all = append(all, poll.Coverage{ID: v.tokens.ids[i], Since: timeOf(m.since), Points: m.points()})
			}
		}
		return nil
	})
	return all, err
}
