package postgres

import (
	"context"
	"slices"
	"time"

	"swapkeep/priceapi/price"

	"github.com/jackc/pgx/v5"
)

// Near implements [poll.History]. It compares the time when a price was valid, to the
// minute, not when it was fetched.
func (s *Store) Near(ctx context.Context, at time.Time, tolerance time.Duration) (map[price.ID]price.Sample, error) {
	now := minuteOf(s.o.Now())
	from := max(minuteOf(at.Add(-tolerance)), s.oldest(price.Minutes, now))
	to := min(minuteOf(at.Add(tolerance)), now)
	var ids []price.ID
	var best []price.Sample
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		where, err := placesOf(ctx, tx)
		if err != nil {
			return err
		}
		ids = where.byPlace()
		best = make([]price.Sample, len(ids))
		off := make([]int64, len(ids)) // in seconds
		for i := range off {
			off[i] = int64(tolerance/time.Second) + 1
		}
		return eachEntry(ctx, tx, layouts[price.Minutes].blocksOf(where.all()), from, to, func(place, minute int32, entry []byte) {
			taken := 60 * int64(minute-int32(entry[9]))
			away := max(taken-at.Unix(), at.Unix()-taken)
			if int(place) >= len(off) || away >= off[place] {
				return
			}
			if p, ok := sampleOf(entry, minute); ok {
				best[place], off[place] = p, away
			}
		})
	})
	return byToken(best, ids), err
}

// eachEntry calls f with the entries of some blocks from one minute to another, both
// inclusive, oldest first.
func eachEntry(ctx context.Context, q querier, blocks []int32, from, to int32, f func(place, minute int32, entry []byte)) error {
	rows, err := q.Query(ctx, "SELECT block, at, data FROM minutes WHERE block = ANY($1) AND at >= $2 AND at <= $3 ORDER BY at", blocks, from, to)
	if err != nil {
		return err
	}
	l := layouts[price.Minutes]
	var block, at int32
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&block, &at, &data}, func() error {
		if len(data) == int(l.per)*l.size {
			l.each(block, data, func(place int32, entry []byte) { f(place, at, entry) })
		}
		return nil
	})
	return err
}

// byToken turns samples by place into samples by token.
func byToken(samples []price.Sample, ids []price.ID) map[price.ID]price.Sample {
	all := make(map[price.ID]price.Sample, len(samples))
	for place, p := range samples {
		if p.Known() && ids[place].Chain != 0 {
			all[ids[place]] = p
		}
	}
	return all
}

// lookback are the time windows, in minutes, that Last searches in order for tokens not
// found yet.
var lookback = []int32{15, 2 * hour, keepMinutes}

// Last implements [poll.History]: each token's sample from its newest row.
func (s *Store) Last(ctx context.Context) (map[price.ID]price.Sample, error) {
	now := minuteOf(s.o.Now())
	var ids []price.ID
	var found []price.Sample
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		where, err := placesOf(ctx, tx)
		if err != nil {
			return err
		}
		ids = where.byPlace()
		found = make([]price.Sample, len(ids))
		missing, to := where.all(), now
		for _, back := range lookback {
			from := max(0, now-back)
			window := make([]price.Sample, len(ids))
			if err := eachEntry(ctx, tx, layouts[price.Minutes].blocksOf(missing), from, to, func(place, minute int32, entry []byte) {
				if p, ok := sampleOf(entry, minute); ok && int(place) < len(window) {
					window[place] = p
				}
			}); err != nil {
				return err
			}
			missing = slices.DeleteFunc(missing, func(place int32) bool {
				if !window[place].Known() {
					return false
				}
				found[place] = window[place]
				return true
			})
			to = from - 1
		}
		return nil
	})
	return byToken(found, ids), err
}
