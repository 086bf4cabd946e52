package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"swapkeep/priceapi/poll"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A Term is the time for which this process leads and alone may write. Leadership is an
// advisory lock held by a dedicated connection. The lock is released when the connection
// ends, and the server ends a connection that is silent for the lease, so neither a dead
// nor a suspended process keeps it. Every write carries the term's number as a fencing
// token, and the database rejects writes of an old term: a suspended leader that resumes
// cannot overwrite the work of the next.
type Term struct {
	*Store
	Number int64

	ctx    context.Context
	end    context.CancelCauseFunc
	ended  chan struct{}
	places places // as of the last write; nil = must be read
	write  sync.Mutex
}

var _ poll.History = (*Term)(nil)

// ErrResigned is the cause when a term ends by Resign.
var ErrResigned = errors.New("resigned")

// Lead waits until this process leads, or ctx ends. The term ends with ctx at the latest.
// Errors are the server's or the network's; Lead may be retried.
func (s *Store) Lead(ctx context.Context) (*Term, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, wrapErr(err)
	}
	number, err := s.elect(ctx, conn)
	if err != nil {
		closeConn(conn)
		return nil, wrapErr(err)
	}
	t := &Term{Store: s, Number: number, ended: make(chan struct{})}
	t.ctx, t.end = context.WithCancelCause(ctx)
	go t.keepAlive(conn)
	return t, nil
}

// connect opens a connection that the server ends if it is silent.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	c := s.pool.Config().ConnConfig
	c.RuntimeParams["idle_session_timeout"] = millis(s.o.Lease)
	c.RuntimeParams["statement_timeout"] = "0" // the wait for the lock has its own timeout
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	return pgx.ConnectConfig(ctx, c)
}

// elect waits for the lock in rounds and starts a term. Numbers follow the clock too, so
// that a database restored from a backup does not repeat them.
func (s *Store) elect(ctx context.Context, conn *pgx.Conn) (number int64, err error) {
	for {
		turn, cancel := context.WithTimeout(ctx, s.o.Deadline+connectTime)
		_, err := conn.Exec(turn, "SELECT pg_advisory_lock($1)", int64(leaderLock))
		cancel()
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "55P03" && ctx.Err() == nil { // lock_timeout
			continue
		}
		if err != nil {
			return 0, err
		}
		break
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	err = conn.QueryRow(ctx, "UPDATE head SET term = greatest(term + 1, extract(epoch FROM clock_timestamp())::bigint) RETURNING term").Scan(&number)
	return number, err
}

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server frees the lock either way
}

// keepAlive keeps the connection alive, and ends the term when it is lost.
func (t *Term) keepAlive(conn *pgx.Conn) {
	defer close(t.ended)
	defer closeConn(conn)
	for {
		err := t.listen(conn)
		if t.ctx.Err() != nil {
			return
		}
		if err == nil {
			err = t.ping(conn)
		}
		if err != nil {
			t.end(wrapErr(err))
			return
		}
	}
}

// listen waits a quarter of the lease; an error means that the connection is lost.
func (t *Term) listen(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.o.Lease/4)
	defer cancel()
	_, err := conn.WaitForNotification(ctx)
	var slow net.Error
	if ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout()) {
		return nil
	}
	return err
}

func (t *Term) ping(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.o.Lease/4)
	defer cancel()
	return conn.Ping(ctx)
}

// Context ends with the term; its cause says why.
func (t *Term) Context() context.Context { return t.ctx }

// Resign ends the term and waits until the lock is released.
func (t *Term) Resign() {
	t.end(ErrResigned)
	<-t.ended
}
