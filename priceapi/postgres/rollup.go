package postgres

import (
	"context"
	"maps"
	"slices"

	"swapkeep/priceapi/price"
)

// Candles of ended spans are built from the next finer rows, up to a mark per resolution
// that only increases. Writing a finer row before the mark rebuilds the candle, so every
// candle before the mark agrees with the finer rows. After the mark, finer rows override
// what Fill wrote.

var rollups = []price.Resolution{price.Quarters, price.Hours}

// catchUp builds the candles of spans that ended since the last call.
func (e *edit) catchUp(ctx context.Context) error {
	for _, r := range rollups {
		l, ended := layouts[r], floor(e.now, layouts[r].step)
		if ended <= e.rolledUp[r] {
			continue
		}
		finer, err := timesOf(ctx, e.tx, r-1, e.rolledUp[r], ended)
		if err != nil {
			return err
		}
		starts := map[int32]bool{}
		for _, t := range finer {
			starts[floor(t.at, l.step)] = true
		}
		for _, start := range slices.Sorted(maps.Keys(starts)) {
			if err := e.rollUp(ctx, r, []int32{start}, e.newly.all()); err != nil {
				return err
			}
		}
		e.rolledUp[r] = ended
		if _, err := e.tx.Exec(ctx, "UPDATE head SET "+l.table+" = $1", ended); err != nil {
			return err
		}
	}
	return nil
}

// updateCoarser rebuilds the coarser candles of rows written before the mark.
func (e *edit) updateCoarser(ctx context.Context, wrote price.Resolution, ats, where []int32) error {
	for _, r := range rollups {
		if r <= wrote {
			continue
		}
		starts := map[int32]bool{}
		for _, at := range ats {
			if start := floor(at, layouts[r].step); start < e.rolledUp[r] {
				starts[start] = true
			}
		}
		if err := e.rollUp(ctx, r, slices.Sorted(maps.Keys(starts)), where); err != nil {
			return err
		}
	}
	return nil
}

// rollUp builds the candles of some spans and tokens. Tokens without finer rows keep their
// entry.
func (e *edit) rollUp(ctx context.Context, r price.Resolution, starts, where []int32) error {
	if len(starts) == 0 || len(where) == 0 {
		return nil
	}
	finer, coarse := newBlockSet(r-1), newBlockSet(r)
	var ats []int32
	for _, start := range starts {
		for at := start; at < start+coarse.step; at += finer.step {
			ats = append(ats, at)
		}
	}
	if err := finer.load(ctx, e.tx, ats, where); err != nil {
		return err
	}
	if err := coarse.load(ctx, e.tx, starts, where); err != nil {
		return err
	}
	for _, place := range where {
		var candles []price.Candle
		for _, at := range ats {
			if c, ok := candleOf(finer.res, finer.get(at, place), at); ok {
				candles = append(candles, c)
			}
		}
		for _, c := range fold(candles, coarse.step) {
			putCandle(coarse.put(minuteOf(c.At), place), c)
		}
	}
	return coarse.save(ctx, e.tx)
}
