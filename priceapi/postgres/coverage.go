package postgres

import (
	"context"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/jackc/pgx/v5"
)

var periods = price.Periods()

// A tokenCoverage is a token's oldest row, and the number of chart steps with data for each period.
type tokenCoverage struct {
	since  int32
	points [3]int
}

// Coverages implements [poll.History]. Tokens without any data are absent.
func (s *Store) Coverages(ctx context.Context, now time.Time) ([]poll.Coverage, error) {
	until := minuteOf(now)
	var ids []price.ID
	var covers []tokenCoverage
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		where, err := placesOf(ctx, tx)
		if err != nil {
			return err
		}
		ids = where.byPlace()
		covers = make([]tokenCoverage, len(ids))
		steps := make([]map[int32]placeSet, len(periods))
		for i := range periods {
			steps[i] = map[int32]placeSet{}
		}
		for r := range layouts {
			if err := s.cover(ctx, tx, price.Resolution(r), until, covers, steps); err != nil {
				return err
			}
		}
		for i := range periods {
			for _, has := range steps[i] {
				has.each(func(place int32) {
					if int(place) < len(covers) {
						covers[place].points[i]++
					}
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return coverages(ids, covers), nil
}

// cover marks what a resolution covers. A chart step counts if it has any row of the
// chart's own resolution or a finer one.
func (s *Store) cover(ctx context.Context, q querier, r price.Resolution, until int32, covers []tokenCoverage, steps []map[int32]placeSet) error {
	rows, err := timesOf(ctx, q, r, s.oldest(r, until), until+1)
	if err != nil {
		return err
	}
	since := placeSet{}
	for _, row := range rows {
		row.has.without(since).each(func(place int32) {
			if int(place) < len(covers) && (covers[place].since == 0 || row.at < covers[place].since) {
				covers[place].since = row.at
			}
		})
		since = since.union(row.has)
		for i, p := range periods {
			if row.at >= firstOf(p, until) && p.Raw >= r {
				step := floor(row.at, int32(p.Step/time.Minute))
				steps[i][step] = steps[i][step].union(row.has)
			}
		}
	}
	return nil
}

func coverages(ids []price.ID, covers []tokenCoverage) (all []poll.Coverage) {
	for place, c := range covers {
		if c.since == 0 || ids[place].Chain == 0 {
			continue
		}
		points := make(map[string]int, len(periods))
		for i, p := range periods {
			points[p.Name] = c.points[i]
		}
		all = append(all, poll.Coverage{ID: ids[place], Since: timeOf(c.since), Points: points})
	}
	return all
}
