// Package series is the history of prices in one bbolt file: a ring of packed rows
// for each resolution, and what little is kept of each token beside them.
package series

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"swapkeep/fault"
	"swapkeep/priceapi/poll"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Errors that a caller or a person must act on; each names the remedy.
var (
	ErrLocked   = errors.New("another process holds the price history; stop it")
	ErrReadOnly = errors.New("the price history cannot be written; mend its permissions")
	ErrFull     = errors.New("no space left for the price history; free some")
	ErrNewer    = errors.New("the price history was written by a newer version; update swapkeep")
	// ErrDamaged means that the file broke while it was open and could not be replaced.
	ErrDamaged = errors.New("the price history is damaged; restart swapkeep")
	ErrTokens  = errors.New("the price history has no room for more tokens; it holds 50000")
	// ErrTime means that a minute is too old to be kept, or ahead of the clock.
	ErrTime   = errors.New("the minute is not of the last 25 hours")
	ErrClosed = errors.New("the price history is closed")
	ErrDays   = errors.New("hours are kept for 31 to 366 days")
)

const (
	minDays, maxDays, defaultDays = 31, 366, 32
	// maxTokens bounds the indices that are ever given.
	maxTokens = 50_000
	// maxCommit bounds the bytes of rows in a commit, more or less.
	maxCommit = 16 << 20
	// maxMends bounds how often a running store replaces its file.
	maxMends = 3
)

// Options of Open.
type Options struct {
	Days int              // how long candles of an hour are kept, 31 to 366; 0 = 32
	Now  func() time.Time // nil = fault.Now
}

// A Store is the open history. It is safe for concurrent use.
type Store struct {
	path  string
	clock func() time.Time
	rings rings

	// mu guards the database handle: who works with it holds it for reading, who
	// replaces it for writing.
	mu     sync.RWMutex
	db     *bolt.DB // nil after Close, and when mending failed
	why    error    // why db is nil
	mends  int
	damage string

	tokens atomic.Pointer[table]

	// writing is held by the one that writes; it guards what follows.
	writing  sync.Mutex
	reread   bool  // the table may differ from the file: a commit failed
	quarter  int64 // of the last catching up
	written  time.Time
	writeErr error
}

var _ poll.History = (*Store)(nil)

// Open opens the history, or begins it. The caller holds the daemon's lock. What is
// damaged is set aside, and what can be read of it is kept: see [Store.Damage].
// Errors: ErrLocked, ErrReadOnly, ErrFull, ErrNewer, ErrDays; others are the system's.
func Open(path string, o Options) (*Store, error) {
	if o.Days == 0 {
		o.Days = defaultDays
	}
	if o.Days < minDays || o.Days > maxDays {
		return nil, fmt.Errorf("%w, not %d", ErrDays, o.Days)
	}
	if o.Now == nil {
		o.Now = fault.Now
	}
	s := &Store{path: path, clock: o.Now, rings: newRings(o.Days)}
	if err := s.open(nil); err != nil {
		return nil, classify(err)
	}
	return s, nil
}

// open brings the file up; broken is how it is known to be damaged, if it is.
func (s *Store) open(broken error) error {
	replaced, err := finishReplacing(s.path)
	if err != nil {
		return err
	}
	if replaced {
		s.damage = filepath.Base(s.path) + " was damaged; it was set aside, and what could be read of it was kept"
	}
	for try := 0; ; try++ {
		a, err := inspect(s.path, broken == nil)
		if err != nil {
			return err
		}
		problem := a.problem
		if problem == nil && a.empty && try == 0 {
			problem = broken // there was something
		}
		if problem == nil {
			if err := a.close(); err != nil {
				return err
			}
			problem = s.start()
			if try > 0 || !errors.Is(problem, ErrDamaged) {
				return problem
			}
		}
		if err := s.replace(a, problem); err != nil {
			return err
		}
	}
}

// start opens a file that passed the inspection.
func (s *Store) start() (err error) {
	var db *bolt.DB
	err = guarded(func() error {
		if db, err = openFile(s.path); err != nil {
			return err
		}
		if err := migrate(db, s.path, migrations); err != nil {
			return err
		}
		return s.rings.create(db)
	})
	if err == nil {
		s.db, s.why = db, nil
		err = guarded(func() error { return s.load(db) })
	}
	if err != nil {
		s.db, s.why = nil, ErrDamaged
		abandon(db)
	}
	return err
}

// load reads the tokens, moves rows to rings of the present sizes, and makes the
// candles that ended while nobody was here.
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
	s.db, s.why = nil, ErrClosed
	if db == nil {
		return nil
	}
	return guarded(db.Close)
}

// Damage says what was set aside, when the history was opened or since; "" = nothing.
func (s *Store) Damage() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.damage
}

// openFile opens the database. The list of free pages is on disk: bbolt would else
// look for them at open and after a failed commit in a goroutine of its own, where a
// damaged page ends the process.
func openFile(path string) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if err == nil {
		db.AllocSize = 4 << 20 // the file grows in steps of this
	}
	return db, err
}

// classify names the failures that a person can mend.
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

// Check reports whether the history can be read and written now. It commits only
// where the last commit is older than two minutes, or failed.
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
