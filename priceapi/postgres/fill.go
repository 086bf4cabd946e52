package postgres

import (
	"context"
	"maps"
	"slices"

	"swapkeep/priceapi/price"
)

// maxFillBlocks limits the blocks that one transaction of a Fill reads.
const maxFillBlocks = 20_000

// Fill implements [poll.History]. It is one transaction, unless it is large; then some of
// it may be written when an error occurs. Candles of the same row are joined; those ahead
// of the clock or older than the retention are left out. Errors are those of Append,
// without ErrTime.
func (t *Term) Fill(ctx context.Context, r price.Resolution, source price.Source, candles map[price.ID][]price.Candle) error {
	if int(r) >= len(layouts) || r == price.Minutes && source == price.Unknown {
		return nil
	}
	f := t.filling(r, source, candles)
	ids := slices.Collect(maps.Keys(f.candles))
	ats := slices.Sorted(maps.Keys(f.ats))
	at := max(1, maxFillBlocks/max(1, len(ids))) // times per transaction; at worst each token has its own block
	for part := range slices.Chunk(ats, at) {
		if err := t.update(ctx, func(ctx context.Context, e *edit) error {
			if err := e.catchUp(ctx); err != nil {
				return err
			}
			return e.fill(ctx, f, ids, part)
		}); err != nil {
			return err
		}
	}
	return nil
}

// A filling is the data of a Fill by token and time.
type filling struct {
	res     price.Resolution
	source  price.Source
	candles map[price.ID]map[int32]price.Candle
	ats     map[int32]bool
}

func (t *Term) filling(r price.Resolution, source price.Source, candles map[price.ID][]price.Candle) filling {
	f := filling{r, source, map[price.ID]map[int32]price.Candle{}, map[int32]bool{}}
	now := minuteOf(t.o.Now())
	for id, cs := range candles {
		if !storable(id) {
			continue
		}
		cs = slices.DeleteFunc(slices.Clone(cs), func(c price.Candle) bool {
			at := minuteOf(c.At)
			return c.Close.IsZero() || at > now || floor(at, layouts[r].step) < t.oldest(r, now)
		})
		slices.SortStableFunc(cs, func(a, b price.Candle) int { return a.At.Compare(b.At) })
		for i := range cs {
			cs[i], _ = completeCandle(cs[i])
		}
		for _, c := range fold(cs, layouts[r].step) {
			if f.candles[id] == nil {
				f.candles[id] = map[int32]price.Candle{}
			}
			f.candles[id][minuteOf(c.At)], f.ats[minuteOf(c.At)] = c, true
		}
	}
	return f
}

// fill writes the empty entries at some times.
func (e *edit) fill(ctx context.Context, f filling, ids []price.ID, ats []int32) error {
	if err := e.newly.addTokens(ctx, e.tx, slices.Clone(ids)); err != nil {
		return err
	}
	var where []int32
	for _, id := range ids {
		where = append(where, e.newly[id])
	}
	s := newBlockSet(f.res)
	if err := s.load(ctx, e.tx, ats, where); err != nil {
		return err
	}
	for i, id := range ids {
		for _, at := range ats {
			c, ok := f.candles[id][at]
			switch {
			case !ok || s.get(at, where[i]) != nil:
			case f.res == price.Minutes:
				putSample(s.put(at, where[i]), price.Sample{Value: c.Close, At: c.At, Source: f.source}, at)
			default:
				putCandle(s.put(at, where[i]), c)
			}
		}
	}
	if err := s.save(ctx, e.tx); err != nil {
		return err
	}
	return e.updateCoarser(ctx, f.res, s.times(), where)
}
