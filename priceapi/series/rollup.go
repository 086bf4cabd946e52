package series

import (
	"maps"
	"slices"

	"swapkeep/priceapi/price"
)

// A row of a quarter or an hour is closed once it has been built from all finer rows of its
// span after the span ended. Writing a finer row rebuilds the candle (settle), or reopens
// it if the span has not ended. A closed row therefore agrees with the finer ones. An open
// or missing row has only what Fill wrote, and finer rows override it.

// updateCoarser updates the coarser rows after rows of r were written at the given times.
func (e *edit) updateCoarser(r price.Resolution, times []int64) error {
	for c := r + 1; c <= price.Hours; c++ {
		g := e.rings[c]
		starts := make([]int64, 0, len(times))
		for _, at := range times {
			starts = append(starts, floor(at, g.step))
		}
		slices.Sort(starts)
		for _, start := range slices.Compact(starts) {
			if err := e.updateCandle(c, start); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *edit) updateCandle(r price.Resolution, start int64) error {
	g := e.rings[r]
	if start+g.step <= e.now {
		return e.rollUp(r, start)
	}
	if was, ok := g.get(e.tx, e.tokens, start); ok && was.is(flagClosed) {
		h, entries := e.rowForAll(r, start)
		h.flags &^= flagClosed
		return e.put(h, entries)
	}
	return nil
}

// rollUp builds the candles of a span from the next finer rows. Tokens without data there
// keep their entry.
func (e *edit) rollUp(r price.Resolution, start int64) error {
	g, finer := e.rings[r], e.rings[r-1]
	bars := make([]bar, len(e.tokens.ids))
	for i := range bars {
		bars[i] = noBar
	}
	finer.each(e.tx, e.tokens, start, start+g.step-finer.step, func(w row) bool {
		w.each(func(token int, entry []byte) { bars[token].join(parseBar(finer.res, entry)) })
		return true
	})
	h, entries := e.rowForAll(r, start)
	for i, b := range bars {
		if !b.none() {
			b.put(entries[i*candleSize:])
		}
	}
	h.flags |= flagClosed
	return e.put(h, entries)
}

// catchUp closes the spans that ended since the last call, at most once per quarter of an
// hour. It runs before a write, which may overwrite the rows it needs.
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

// catchUp closes all ended spans that are not closed and have finer rows, up to one commit;
// more reports that some remain.
func (e *edit) catchUp() (more bool, err error) {
	size := 0
	for _, r := range []price.Resolution{price.Quarters, price.Hours} {
		for _, start := range e.unclosed(r) {
			if size > maxCommit {
				return true, nil
			}
			if err := e.rollUp(r, start); err != nil {
				return false, err
			}
			size += rowSize(r, len(e.tokens.ids))
		}
	}
	return false, nil
}

// unclosed lists the spans to close, oldest first. It includes quarters beyond their
// retention, from which hours are built, unless their slots are taken. A row up to an hour
// ahead takes its slot too: the clock was set back slightly since it was written.
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
		return ok && (was.at == start && was.is(flagClosed) || was.at > start && was.at <= e.now+hour)
	})
	return slices.Sorted(maps.Keys(starts))
}
