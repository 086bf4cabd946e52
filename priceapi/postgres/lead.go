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

// A Term is the time for which this process leads: it alone may write. Leadership is
// a lock that a connection of its own holds. When the connection ends the lock is
// free, and a connection that says nothing for the lease is ended by the server, so
// that neither a dead process nor a stopped one keeps it. Every write carries the
// term's number, and the database refuses those of a term that is over: a leader that
// was stopped and goes on writes nothing over the work of the next.
type Term struct {
	*Store
	Number int64

	ctx    context.Context
	lose   context.CancelCauseFunc
	ended  chan struct{}
	places places // as of the last write; nil = to be read
	write  sync.Mutex
}

var _ poll.History = (*Term)(nil)

// ErrResigned is why a term ended that nobody else ended.
var ErrResigned = errors.New("resigned")

// Lead waits until this process leads, or ctx ends. The term ends with ctx at the
// latest. Errors are the server's or the network's; it may be tried again.
func (s *Store) Lead(ctx context.Context) (*Term, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return nil, said(err)
	}
	number, err := s.elect(ctx, conn)
	if err != nil {
		hangUp(conn)
		return nil, said(err)
	}
	t := &Term{Store: s, Number: number, ended: make(chan struct{})}
	t.ctx, t.lose = context.WithCancelCause(ctx)
	go t.hold(conn)
	return t, nil
}

// connect opens a connection that the server ends when nothing is heard of it.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	c := s.pool.Config().ConnConfig
	c.RuntimeParams["idle_session_timeout"] = millis(s.o.Lease)
	c.RuntimeParams["statement_timeout"] = "0" // the wait for the lock has its own
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	return pgx.ConnectConfig(ctx, c)
}

// elect waits for the lock, in turns, and begins a term. Numbers grow with the clock
// too: a database that was restored from a backup does not repeat them.
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

func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // the server frees the lock either way
}

// hold keeps the connection, and ends the term as soon as it is lost.
func (t *Term) hold(conn *pgx.Conn) {
	defer close(t.ended)
	defer hangUp(conn)
	for {
		err := t.listen(conn)
		if t.ctx.Err() != nil {
			return
		}
		if err == nil {
			err = t.ping(conn)
		}
		if err != nil {
			t.lose(said(err))
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

// Resign ends the term and waits until another process may lead.
func (t *Term) Resign() {
	t.lose(ErrResigned)
	<-t.ended
}
