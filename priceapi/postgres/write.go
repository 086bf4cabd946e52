package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/jackc/pgx/v5"
)

// An edit is a write transaction. It locks the row of head, so there is only one at a time.
type edit struct {
	*Term
	tx       pgx.Tx
	now      int32 // minute
	rolledUp [3]int32
	newly    places
}

// update runs f in one transaction of this term. Errors: ErrDeposed, which ends the term;
// those of f; the server's.
func (t *Term) update(ctx context.Context, f func(ctx context.Context, e *edit) error) error {
	t.write.Lock()
	defer t.write.Unlock()
	if err := context.Cause(t.ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrDeposed, err)
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.Deadline)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	var e *edit
	err := pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) (err error) {
		if e, err = t.begin(ctx, tx); err != nil {
			return err
		}
		return f(ctx, e)
	})
	if errors.Is(err, ErrDeposed) {
		t.end(err)
	}
	if err != nil {
		t.places = nil // unknown whether the new places were stored
		return wrapErr(err)
	}
	t.places = e.newly
	return nil
}

// begin checks that the term is not over. The lock on head then keeps it from ending before
// the transaction does.
func (t *Term) begin(ctx context.Context, tx pgx.Tx) (*edit, error) {
	e := &edit{Term: t, tx: tx, now: minuteOf(t.o.Now())}
	var term int64
	var given int
	err := tx.QueryRow(ctx, "SELECT term, quarters, hours, (SELECT coalesce(max(place) + 1, 0) FROM tokens) FROM head FOR UPDATE").
		Scan(&term, &e.rolledUp[price.Quarters], &e.rolledUp[price.Hours], &given)
	if err == nil && term != t.Number {
		err = fmt.Errorf("%w: term %d is over, it is %d now", ErrDeposed, t.Number, term)
	}
	if err != nil {
		return nil, err
	}
	if e.newly = maps.Clone(t.places); e.newly == nil || len(e.newly) != given { // a backup was restored meanwhile
		e.newly, err = placesOf(ctx, tx)
	}
	return e, err
}

// Append implements [poll.History]. Errors: ErrTime, ErrTokens, ErrDeposed, the server's.
// With any of them nothing was written, unless the connection was lost during the commit.
// It may be repeated.
func (t *Term) Append(ctx context.Context, m poll.Minute) error {
	return t.update(ctx, func(ctx context.Context, e *edit) error {
		at := minuteOf(m.At)
		if at > e.now+maxAhead || at < e.oldest(price.Minutes, e.now) {
			return fmt.Errorf("%w: %s, and the clock says %s", ErrTime, m.At.UTC().Format(time.RFC3339), timeOf(e.now).Format(time.RFC3339))
		}
		if err := e.catchUp(ctx); err != nil {
			return err
		}
		if err := e.appendMinute(ctx, at, m); err != nil {
			return err
		}
		_, err := e.tx.Exec(ctx, "UPDATE head SET fetches = fetches + 1, successful = successful + $1, took = least(took::numeric + $2, 9223372036854775807)::bigint",
			map[bool]int{true: 1}[m.OK], int64(max(0, m.Took)))
		if err != nil {
			return err
		}
		return e.prune(ctx)
	})
}

func (e *edit) appendMinute(ctx context.Context, at int32, m poll.Minute) error {
	var ids []price.ID
	for id, s := range m.Samples {
		if s.Known() && s.Source != price.Unknown && storable(id) {
			ids = append(ids, id)
		}
	}
	if err := e.newly.addTokens(ctx, e.tx, slices.Clone(ids)); err != nil {
		return err
	}
	var where []int32
	for _, id := range ids {
		where = append(where, e.newly[id])
	}
	s := newBlockSet(price.Minutes)
	if err := s.load(ctx, e.tx, []int32{at}, where); err != nil {
		return err
	}
	for i, id := range ids {
		fresh := m.Samples[id]
		if minuteOf(fresh.At) > at {
			fresh.At = timeOf(at)
		}
		if was, ok := sampleOf(s.get(at, where[i]), at); !ok || minuteOf(was.At) <= max(minuteOf(fresh.At), at-maxAge) {
			putSample(s.put(at, where[i]), fresh, at)
		}
	}
	if err := s.save(ctx, e.tx); err != nil {
		return err
	}
	return e.updateCoarser(ctx, price.Minutes, s.times(), where)
}

// Totals implements [poll.History].
func (s *Store) Totals(ctx context.Context) (t poll.Totals, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	err = s.pool.QueryRow(ctx, "SELECT fetches, successful, took FROM head").Scan(&t.Fetches, &t.Successful, (*int64)(&t.Took))
	return t, wrapErr(err)
}

// pruneLimit limits how many times (rows of the table) one transaction deletes.
const pruneLimit = 240

// prune deletes some of the data beyond its retention.
func (e *edit) prune(ctx context.Context) error {
	for r, l := range layouts {
		rows, err := e.tx.Query(ctx, "DELETE FROM times WHERE (resolution, at) IN"+
			" (SELECT resolution, at FROM times WHERE resolution = $1 AND at < $2 ORDER BY at LIMIT $3) RETURNING at", r, e.oldest(price.Resolution(r), e.now), pruneLimit)
		if err != nil {
			return err
		}
		ats, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil || len(ats) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := e.tx.Exec(ctx, "DELETE FROM "+l.table+" WHERE block = ANY($1) AND at = ANY($2)", l.blocksOf(e.newly.all()), ats); err != nil {
			return err
		}
	}
	return nil
}
