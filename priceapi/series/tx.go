package series

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// errUnchanged ends a transaction that has nothing to write.
var errUnchanged = errors.New("nothing to write")

// recoverDamage runs f, which may read damaged pages: bbolt panics on those, and the mapped
// memory of a truncated file faults. Both become ErrDamaged.
func recoverDamage(f func() error) (err error) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// forceClose closes a database whose locks a panic may have left held. It waits a limited
// time; what remains open is closed when the process ends.
func forceClose(db *bolt.DB) {
	if db == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = recoverDamage(db.Close)
	}()
	select {
	case <-done:
	case <-time.After(250 * time.Millisecond):
	}
}

// view runs f on a snapshot, and a second time if the file had to be repaired.
func (s *Store) view(ctx context.Context, f func(tx *bolt.Tx) error) error {
	return s.retry(ctx, func(db *bolt.DB) error { return db.View(f) })
}

// An edit is a write transaction.
type edit struct {
	tx      *bolt.Tx
	rings   rings
	tokens  *table // including those it adds
	now     int64  // minute
	changed bool   // something was written
}

// update runs f in one commit, or without a commit if f changes nothing.
func (s *Store) update(ctx context.Context, f func(e *edit) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	err := s.retry(ctx, func(db *bolt.DB) error {
		var e *edit
		err := db.Update(func(tx *bolt.Tx) error {
			if s.reread { // unknown whether the last commit reached the file
				s.tokens.Store(readTable(tx))
			}
			e = &edit{tx: tx, rings: s.rings, tokens: s.tokens.Load(), now: minuteOf(s.clock())}
			if err := f(e); err != nil {
				return err
			}
			if !e.changed {
				return errUnchanged
			}
			return nil
		})
		switch {
		case errors.Is(err, errUnchanged):
			return nil
		case err != nil:
			s.reread = true
			return err
		}
		s.reread = false
		s.tokens.Store(e.tokens)
		s.written = s.clock()
		return nil
	})
	if !errors.Is(err, ErrTime) && !errors.Is(err, ErrTokens) {
		s.writeErr = err
	}
	return err
}

func (s *Store) retry(ctx context.Context, f func(db *bolt.DB) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for try := 0; ; try++ {
		db, err := s.once(f)
		if !errors.Is(err, ErrDamaged) || try > 0 {
			return classify(err)
		}
		if err := s.repair(db, err); err != nil {
			return classify(err)
		}
	}
}

func (s *Store) once(f func(db *bolt.DB) error) (*bolt.DB, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == nil {
		return nil, s.dbErr
	}
	return s.db, recoverDamage(func() error { return f(s.db) })
}

// repair reopens the file as at the start, after an operation found it broken. No reader uses
// the old handle any more, because readers hold mu.
func (s *Store) repair(db *bolt.DB, broken error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.db != db: // already reopened or closed
		return nil
	case s.db == nil:
		return s.dbErr
	}
	s.db, s.dbErr = nil, ErrDamaged
	forceClose(db)
	if s.repairs++; s.repairs > maxRepairs {
		return broken
	}
	if err := s.open(broken); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}
