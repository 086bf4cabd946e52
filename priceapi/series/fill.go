package series

import (
	"context"
	"maps"
	"slices"

	"swapkeep/priceapi/price"
)

// A piece is one candle of one token to fill in.
type piece struct {
	id price.ID
	bar
}

// Fill implements [poll.History]. It is one commit, unless its rows exceed 16 MiB; then
// some of them may be written when an error occurs. Candles of the same row are joined;
// those ahead of the clock or older than the retention are left out. Errors are those of
// Append, without ErrTime.
func (s *Store) Fill(ctx context.Context, r price.Resolution, source price.Source, candles map[price.ID][]price.Candle) error {
	if int(r) >= len(s.rings) || r == price.Minutes && source == price.Unknown {
		return nil
	}
	rows := s.rings[r].pieces(candles, minuteOf(s.clock()))
	times := slices.Sorted(maps.Keys(rows))
	for len(times) > 0 {
		done := 0
		if err := s.update(ctx, func(e *edit) (err error) {
			if err := s.catchUp(e); err != nil {
				return err
			}
			done, err = e.fill(r, source, times, rows)
			return err
		}); err != nil {
			return err
		}
		times = times[done:]
	}
	return nil
}

// pieces groups candles by the start of their rows.
func (g ring) pieces(candles map[price.ID][]price.Candle, now int64) map[int64][]piece {
	rows := map[int64][]piece{}
	for id, cs := range candles {
		cs = slices.Clone(cs)
		slices.SortStableFunc(cs, func(a, b price.Candle) int { return a.At.Compare(b.At) })
		for _, c := range cs {
			at, b := floor(minuteOf(c.At), g.step), pack(c)
			if id.Chain == 0 || b.none() || minuteOf(c.At) > now || at < g.oldest(now) {
				continue
			}
			if n := len(rows[at]); n > 0 && rows[at][n-1].id == id {
				rows[at][n-1].join(b)
			} else {
				rows[at] = append(rows[at], piece{id, b})
			}
		}
	}
	return rows
}

// fill writes as many rows as fit in one commit and returns how many times it handled.
func (e *edit) fill(r price.Resolution, source price.Source, times []int64, rows map[int64][]piece) (done int, err error) {
	n := max(1, maxCommit/rowSize(r, len(e.tokens.ids)))
	times = times[:min(n, len(times))]
	var ids []price.ID
	for _, at := range times {
		for _, p := range rows[at] {
			ids = append(ids, p.id)
		}
	}
	if err := e.addTokens(ids); err != nil {
		return 0, err
	}
	var wrote, young []int64
	for _, at := range times {
		h, entries := e.rowForAll(r, at)
		if !e.fillRow(r, source, at, entries, rows[at]) {
			continue
		}
		wrote = append(wrote, at)
		switch {
		case r == price.Minutes || at+e.rings[r].step > e.now:
		case at >= e.rings[r-1].oldest(e.now):
			young = append(young, at)
		default: // some finer rows are gone, and the row already contains them
			h.flags |= flagClosed
		}
		if err := e.put(h, entries); err != nil {
			return 0, err
		}
	}
	if len(young) > 0 {
		if err := e.updateCoarser(r-1, young); err != nil {
			return 0, err
		}
	}
	return len(times), e.updateCoarser(r, wrote)
}

// fillRow fills empty entries and reports whether there were any.
func (e *edit) fillRow(r price.Resolution, source price.Source, at int64, entries []byte, pieces []piece) (changed bool) {
	size := entrySizes[r]
	for _, p := range pieces {
		entry := entries[e.tokens.index[p.id]*size:][:size]
		switch {
		case !isEmpty(entry):
			continue
		case r == price.Minutes:
			sample{p.close, source, at}.put(entry, at)
		default:
			p.put(entry)
		}
		changed = true
	}
	return changed
}
