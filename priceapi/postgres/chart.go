package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"swapkeep/priceapi/price"

	"github.com/jackc/pgx/v5"
)

// chartSQL reads a token's entries of a resolution from $3 to $4, plus finer ones from the
// point up to which candles have been built. It is one statement, so that it sees one state
// of the database. It looks up the place each time, because a restored database may have
// assigned it to another token.
var chartSQL = func() (all [len(layouts)]string) {
	for r := range all {
		var parts []string
		for of := 0; of <= r; of++ {
			l, from := layouts[of], "$3"
			if of < r {
				from = "greatest($3, (SELECT " + layouts[of+1].table + " FROM head))"
			}
			parts = append(parts, fmt.Sprintf("SELECT %d, at, substr(data, (SELECT place FROM t) %% %d * %d + 1, %d) FROM %s"+
				" WHERE block = (SELECT place FROM t) / %d AND at >= %s AND at <= $4", of, l.per, l.size, l.size, l.table, l.per, from))
		}
		all[r] = "WITH t AS (SELECT place FROM tokens WHERE chain = $1 AND address = $2) " + strings.Join(parts, " UNION ALL ") + " ORDER BY 1, 2"
	}
	return all
}()

// firstOf returns the start of a period's first step; its last step contains now.
func firstOf(p price.Period, now int32) int32 {
	span, step := int32(p.Span/time.Minute), int32(p.Step/time.Minute)
	return max(0, floor(now, step)-span+step)
}

// Chart implements [poll.History].
func (s *Store) Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error) {
	if !storable(id) || int(p.Raw) >= len(layouts) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	until := minuteOf(now)
	rows, err := s.pool.Query(ctx, chartSQL[p.Raw], int64(id.Chain), id.Address.Bytes(), firstOf(p, until), until)
	if err != nil {
		return nil, wrapErr(err)
	}
	var candles [len(layouts)][]price.Candle
	var of, at int32
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&of, &at, &data}, func() error {
		r := price.Resolution(of)
		if l := layouts[r]; len(data) != l.size || isEmpty(data) {
			return nil
		}
		if c, ok := candleOf(r, data, at); ok {
			candles[r] = append(candles[r], c)
		}
		return nil
	})
	if err != nil {
		return nil, wrapErr(err)
	}
	all := candles[price.Minutes]
	for r := price.Quarters; r <= p.Raw; r++ {
		all = overlay(candles[r], fold(all, layouts[r].step))
	}
	return fold(all, int32(p.Step/time.Minute)), nil
}

// overlay merges candles in order of time; a finer one replaces a coarse one of the same time.
func overlay(coarse, finer []price.Candle) []price.Candle {
	if len(finer) == 0 {
		return coarse
	}
	in := map[time.Time]bool{}
	for _, c := range finer {
		in[c.At] = true
	}
	all := slices.Clone(finer)
	for _, c := range coarse {
		if !in[c.At] {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b price.Candle) int { return a.At.Compare(b.At) })
	return all
}
