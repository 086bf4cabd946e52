package series

import (
	"maps"
	"slices"

	"swapkeep/priceapi/price"
)

// The row of a quarter or an hour is closed when it was made of all finer rows of its
// span after that ended. Whoever writes a finer row makes the candle anew (settle), or
// opens it again when the span has not ended. So a closed row agrees with the finer
// ones, and an open or missing one is what filling brought, which the finer override.

// settle brings the coarser rows of times in agreement with rows of r just written.
func (e *edit) settle(r price.Resolution, times []int64) error {
	for c := r + 1; c <= price.Hours; c++ {
		g := e.rings[c]
		starts := make([]int64, 0, len(times))
		for _, at := range times {
			starts = append(starts, floor(at, g.step))
		}
		slices.Sort(starts)
		for _, start := range slices.Compact(starts) {
			if err := e.agree(c, start); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *edit) agree(r price.Resolution, start int64) error {
	g := e.rings[r]
	if start+g.step <= e.now {
		return e.close(r, start)
	}
	if was, ok := g.get(e.tx, e.tokens, start); ok && was.is(flagClosed) {
		h, entries := e.widened(r, start)
		h.flags &^= flagClosed
		return e.put(h, entries)
	}
	return nil
}

// close makes the candles of a span of the next finer rows. Tokens that those do not
// have keep what is there.
func (e *edit) close(r price.Resolution, start int64) error {
	g, finer := e.rings[r], e.rings[r-1]
	bars := make([]bar, len(e.tokens.ids))
	for i := range bars {
		bars[i] = noBar
	}
	finer.each(e.tx, e.tokens, start, start+g.step-finer.step, func(w row) bool {
		w.each(func(token int, entry []byte) { bars[token].join(parseBar(finer.res, entry)) })
		return true
	})
	h, entries := e.widened(r, start)
	for i, b := range bars {
		if !b.none() {
			b.put(entries[i*candleSize:])
		}
	}
	h.flags |= flagClosed
	return e.put(h, entries)
}

// catchUp closes what ended since the last time, once in a quarter of an hour. It
// comes before the write that may take the place of the rows that it needs.
func (s *Store) catchUp(e *edit) error {
	now := quarterOf(e.now)
	if now == s.quarter {
		return nil
	}
	more, err := e.catchUp()
	if err == nil && !more {
		e.tx.OnCommit(func() { s.quarter = now })
	}
	return err
}

// catchUp closes all spans that ended and are not closed, as far as there are finer
// rows, for one commit's worth; more says that some are left.
func (e *edit) catchUp() (more bool, err error) {
	size := 0
	for _, r := range []price.Resolution{price.Quarters, price.Hours} {
		for _, start := range e.unclosed(r) {
			if size > maxCommit {
				return true, nil
			}
			if err := e.close(r, start); err != nil {
				return false, err
			}
			size += rowSize(r, len(e.tokens.ids))
		}
	}
	return false, nil
}

// unclosed lists the spans that should be closed, the oldest first: also quarters that
// are not kept any more, of which hours are made, unless their slots are taken.
func (e *edit) unclosed(r price.Resolution) []int64 {
	g, oldest := e.rings[r], e.rings[price.Hours].oldest(e.now)
	starts := map[int64]bool{}
	c := e.tx.Bucket(e.rings[r-1].bucket).Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		h, ok := parseHeader(v)
		if start := floor(h.at, g.step); ok && start >= oldest && start+g.step <= e.now {
			starts[start] = true
		}
	}
	b := e.tx.Bucket(g.bucket)
	maps.DeleteFunc(starts, func(start int64, _ bool) bool {
		was, ok := parseHeader(b.Get(g.key(start)))
		return ok && (was.at == start && was.is(flagClosed) || was.at > start && was.at <= e.now)
	})
	return slices.Sorted(maps.Keys(starts))
}
