// Package series stores the price history in one bbolt file: a ring of packed rows for each
// resolution, and a few facts per token.
package series

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/poll"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Errors that need action by a caller or the user; each names the remedy.
var (
	ErrLocked   = errors.New("another process holds the price history; stop it")
	ErrReadOnly = errors.New("the price history cannot be written; fix its permissions")
	ErrFull     = errors.New("no space left for the price history; free some")
	ErrNewer    = errors.New("the price history was written by a newer version; update swapkeep")
	// ErrDamaged means that the file became damaged while open and could not be replaced.
	ErrDamaged = errors.New("the price history is damaged; restart swapkeep")
	ErrTokens  = errors.New("the price history has no room for more tokens; it holds 50000")
	// ErrTime means that a minute is too old to be stored, or ahead of the clock.
	ErrTime   = errors.New("the minute is not of the last 25 hours")
	ErrClosed = errors.New("the price history is closed")
	ErrDays   = errors.New("hours are kept for 31 to 366 days")
)

const (
	minDays, maxDays, defaultDays = 31, 366, 32
	// maxTokens limits the number of token indices ever assigned.
	maxTokens = 50_000
	// maxCommit limits the bytes of rows in one commit, approximately.
	maxCommit = 16 << 20
	// maxRepairs limits how often a running store reopens a damaged file.
	maxRepairs = 3
)

// Options of Open.
type Options struct {
	Days int              // how long one-hour candles are kept, 31 to 366; 0 = 32
	Now  func() time.Time // nil = clock.Now
}

// A Store is an open history. It is safe for concurrent use.
type Store struct {
	path  string
	clock func() time.Time
	rings rings

	// mu guards the database handle: held for reading to use it, for writing to replace it.
	mu      sync.RWMutex
	db      *bolt.DB // nil after Close, or if reopening failed
	dbErr   error    // why db is nil
	repairs int
	damage  string

	tokens atomic.Pointer[table]

	// writing is held by the writer and guards the fields below.
	writing  sync.Mutex
	reread   bool  // a commit failed, so the table may differ from the file
	quarter  int64 // quarter of the last catchUp
	written  time.Time
	writeErr error
}

var _ poll.History = (*Store)(nil)

// Open opens the history or creates it. The caller holds the daemon's lock. A damaged file
// is set aside and a new one begun: see [Store.Damage]. Errors: ErrLocked,
// ErrReadOnly, ErrFull, ErrNewer, ErrDays; others are the system's.
func Open(path string, o Options) (*Store, error) {
	if o.Days == 0 {
		o.Days = defaultDays
	}
	if o.Days < minDays || o.Days > maxDays {
		return nil, fmt.Errorf("%w, not %d", ErrDays, o.Days)
	}
	if o.Now == nil {
		o.Now = clock.Now
	}
	s := &Store{path: path, clock: o.Now, rings: newRings(o.Days)}
	if err := s.open(nil); err != nil {
		return nil, classify(err)
	}
	return s, nil
}

// open checks the file, sets it aside if damaged, and starts it. broken is the damage already
// known, nil if none.
func (s *Store) open(broken error) error {
	a, err := inspect(s.path, broken == nil)
	if err != nil {
		return err
	}
	problem := a.problem
	if problem == nil && a.empty {
		problem = broken // the file had content before
	}
	if problem == nil && a.empty {
		if err := s.noteAside(); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if problem == nil {
		if problem = s.start(); !errors.Is(problem, ErrDamaged) {
			return problem
		}
	}
	if err := s.setAside(problem); err != nil {
		return err
	}
	return s.start()
}

// start opens a file that passed the inspection.
func (s *Store) start() (err error) {
	var db *bolt.DB
	err = recoverDamage(func() error {
		if db, err = openFile(s.path); err != nil {
			return err
		}
		if err := migrate(db, s.path, migrations); err != nil {
			return err
		}
		return s.rings.create(db)
	})
	if err == nil {
		s.db, s.dbErr = db, nil
		err = recoverDamage(func() error { return s.load(db) })
	}
	if err != nil {
		s.db, s.dbErr = nil, ErrDamaged
		forceClose(db)
	}
	return err
}

// load reads the tokens, moves rows to rings of the current sizes, and builds the candles
// that ended while the program was not running.
func (s *Store) load(db *bolt.DB) error {
	if err := db.View(func(tx *bolt.Tx) error {
		s.tokens.Store(readTable(tx))
		return nil
	}); err != nil {
		return err
	}
	if err := s.rings.resize(db); err != nil {
		return err
	}
	for more := true; more; {
		err := db.Update(func(tx *bolt.Tx) (err error) {
			e := &edit{tx: tx, rings: s.rings, tokens: s.tokens.Load(), now: minuteOf(s.clock())}
			if more, err = e.catchUp(); err == nil && !e.changed {
				err = errUnchanged
			}
			return err
		})
		if err != nil && !errors.Is(err, errUnchanged) {
			return err
		}
	}
	s.quarter, s.reread = quarterOf(minuteOf(s.clock())), false
	return nil
}

// Close closes the file. It may be repeated.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	db := s.db
	s.db, s.dbErr = nil, ErrClosed
	if db == nil {
		return nil
	}
	return recoverDamage(db.Close)
}

// Damage describes what was set aside at Open or since; "" = nothing.
func (s *Store) Damage() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.damage
}

// openFile opens the database. The freelist is synced to disk. Otherwise bbolt would
// rebuild it, at open and after a failed commit, in a goroutine of its own, where a damaged
// page crashes the process.
func openFile(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if err == nil {
		db.AllocSize = 4 << 20 // the file grows in steps of this size
	}
	return db, err
}

// classify wraps errors that the user can fix in this package's own.
func classify(err error) error {
	for _, c := range []struct{ is, as error }{
		{berrors.ErrTimeout, ErrLocked}, {os.ErrPermission, ErrReadOnly}, {syscall.EROFS, ErrReadOnly}, {berrors.ErrDatabaseReadOnly, ErrReadOnly},
		{syscall.ENOSPC, ErrFull}, {syscall.EDQUOT, ErrFull}, {syscall.EFBIG, ErrFull},
	} {
		if errors.Is(err, c.is) && !errors.Is(err, c.as) {
			return fmt.Errorf("%w: %w", c.as, err)
		}
	}
	return err
}

// Check reports whether the history can be read and written now. It commits only if the
// last commit failed or is older than two minutes.
func (s *Store) Check(ctx context.Context) error {
	if _, err := s.Totals(ctx); err != nil {
		return err
	}
	s.writing.Lock()
	age := s.clock().Sub(s.written)
	fresh := s.writeErr == nil && age >= 0 && age < 2*time.Minute
	s.writing.Unlock()
	if fresh {
		return nil
	}
	return s.update(ctx, func(e *edit) error { return e.probe() })
}
