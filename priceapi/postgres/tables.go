package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// PutTable stores the newest encoded price table for the other processes. Numbers
// increase; from 1<<63 on, the column holds them as negative. Errors: ErrDeposed, the server's.
// It may be repeated.
func (t *Term) PutTable(ctx context.Context, seq uint64, data []byte) error {
	return t.update(ctx, func(ctx context.Context, e *edit) error {
		_, err := e.tx.Exec(ctx, "INSERT INTO board (seq, data) VALUES ($1, $2) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, data = excluded.data", int64(seq), data)
		return err
	})
}

// Table returns the newest price table unless its number is known; no data if it is, or if there
// is none, as after a crash of the server until the next price table.
func (s *Store) Table(ctx context.Context, known uint64) (seq uint64, data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	var number int64
	err = s.pool.QueryRow(ctx, "SELECT seq, CASE WHEN seq <> $1 THEN data END FROM board", int64(known)).Scan(&number, &data)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil, nil
	}
	return uint64(number), data, wrapErr(err)
}
