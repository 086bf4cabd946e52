// Package postgres stores the price history in PostgreSQL for the processes of one hosted
// service: all of them read it, and the leader writes it.
//
// Samples and candles are packed: a row holds those of up to 128 tokens at one time. A
// minute of a thousand tokens is eight rows, and a chart of one token reads one row per
// time. Only the leader may write: see [Store.Lead].
package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"swapkeep/internal/clock"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Errors that need action by a caller or the operator; each names the remedy.
var (
	// ErrURL never repeats the URL, which contains a password.
	ErrURL   = errors.New("the PostgreSQL URL cannot be read; write it as postgres://user@host/database")
	ErrPlain = errors.New("PostgreSQL off this machine is reached by TLS with a checked certificate only; add sslmode=verify-full to its URL")
	ErrOld   = errors.New("PostgreSQL is too old; version 14 or later is needed")
	ErrNewer = errors.New("the price history was written by a newer version; update swapkeep-server")
	// ErrTime means that a minute is too old to be stored, or ahead of the clock.
	ErrTime   = errors.New("the minute is not of the last 25 hours")
	ErrTokens = errors.New("the price history has no room for more tokens; it holds 50000")
	ErrDays   = errors.New("hours are kept for 31 to 366 days")
	// ErrDeposed means that another process leads now; nothing was written.
	ErrDeposed = errors.New("another process polls the prices by now")
)

// Limits and defaults.
const (
	minDays, maxDays, defaultDays = 31, 366, 32

	maxTokens = 50_000 // number of places ever assigned

	defaultConnections = 8
	defaultDeadline    = 10 * time.Second // of one call of this package
	defaultLease       = 8 * time.Second
	connectTime        = 3 * time.Second
	oldestServer       = 14_00_00 // the first with idle_session_timeout
)

// Options of Open.
type Options struct {
	// URL is a libpq connection string.
	URL         string
	Days        int           // how long one-hour candles are kept, 31 to 366; 0 = 32
	Connections int           // open at once, besides the leader's own; 0 = 8
	Deadline    time.Duration // of one call; 0 = 10 s
	// Lease is how long a leader may be silent before the server ends its leadership; 0 = 8
	// s.
	Lease time.Duration
	Now   func() time.Time // nil = clock.Now
}

// withDefaults fills the zero fields and checks Days.
func (o Options) withDefaults() (Options, error) {
	for _, d := range []struct{ at, to *int }{{&o.Days, ptr(defaultDays)}, {&o.Connections, ptr(defaultConnections)}} {
		if *d.at == 0 {
			*d.at = *d.to
		}
	}
	if o.Days < minDays || o.Days > maxDays {
		return o, fmt.Errorf("%w, not %d", ErrDays, o.Days)
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.Now == nil {
		o.Now = clock.Now
	}
	return o, nil
}

func ptr[T any](v T) *T { return &v }

// A Store reads the history. It is safe for concurrent use.
type Store struct {
	o      Options
	pool   *pgxpool.Pool
	secret []byte
}

// Open connects and migrates the database to the current schema. If several processes do
// so, one does the work. Errors: ErrURL, ErrPlain, ErrOld, ErrNewer, ErrDays; others are
// the server's or the network's, and Open may be retried.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c, err := configure(o)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, wrapErr(err)
	}
	s := &Store{o: o, pool: pool}
	if err := s.start(ctx); err != nil {
		pool.Close()
		return nil, wrapErr(err)
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	var text string
	if err := s.pool.QueryRow(ctx, "SHOW server_version_num").Scan(&text); err != nil {
		return err
	}
	if n, err := strconv.Atoi(text); err != nil || n < oldestServer {
		return fmt.Errorf("%w, not %s", ErrOld, text)
	}
	if err := migrate(ctx, s.pool, migrations); err != nil {
		return err
	}
	return s.pool.QueryRow(ctx, "SELECT secret FROM head").Scan(&s.secret)
}

// Close closes all connections except a leader's own.
func (s *Store) Close() { s.pool.Close() }

// Secret returns 32 random bytes, created with the schema, that only the processes of the
// service know.
func (s *Store) Secret() []byte { return append([]byte(nil), s.secret...) }

// configure parses the URL. It hides the parser's errors, which may repeat parts of it.
func configure(o Options) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(o.URL)
	if err != nil || o.URL == "" {
		return nil, ErrURL
	}
	if err := checkReach(&c.ConnConfig.Config); err != nil {
		return nil, err
	}
	c.MaxConns, c.MinConns = int32(o.Connections), 0
	c.MaxConnLifetime, c.MaxConnIdleTime = time.Hour, 5*time.Minute
	c.ConnConfig.ConnectTimeout = connectTime
	for name, value := range map[string]string{
		"application_name": "swapkeep-server prices", "search_path": schema, "timezone": "UTC",
		"statement_timeout": millis(o.Deadline), "lock_timeout": millis(o.Deadline), "idle_in_transaction_session_timeout": millis(o.Deadline),
	} {
		c.ConnConfig.RuntimeParams[name] = value
	}
	return c, nil
}

func millis(d time.Duration) string { return strconv.FormatInt(max(1, d.Milliseconds()), 10) }

// checkReach rejects all connections to another machine without TLS that verifies the
// server.
func checkReach(c *pgconn.Config) error {
	ways := []*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}
	for _, w := range append(ways, c.Fallbacks...) {
		network, _ := pgconn.NetworkAddress(w.Host, w.Port)
		if network != "unix" && !loopback(w.Host) && !verifiesServer(w.TLSConfig) {
			return ErrPlain
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// verifiesServer reports whether TLS verifies the server. With sslmode=verify-ca the check is
// VerifyPeerCertificate.
func verifiesServer(c *tls.Config) bool {
	return c != nil && (!c.InsecureSkipVerify || c.VerifyPeerCertificate != nil)
}

// wrapErr adds "postgresql:" to errors that are not this package's own.
func wrapErr(err error) error {
	for _, own := range []error{ErrURL, ErrPlain, ErrOld, ErrNewer, ErrTime, ErrTokens, ErrDays, ErrDeposed} {
		if errors.Is(err, own) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgresql: %w", err)
}

// read runs f with a deadline on one snapshot of the database.
func (s *Store) read(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	return wrapErr(pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return f(ctx, tx)
	}))
}

// Check reports whether the history can be read and written now. It fails if the server is
// down, a standby, or has a full disk. It writes at most once in ten seconds.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.o.Deadline)
	defer cancel()
	_, err := s.pool.Exec(ctx, "UPDATE probe SET at = now() WHERE at < now() - interval '10 seconds' OR at > now()")
	return wrapErr(err)
}
