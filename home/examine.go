package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A Stamp says whose a directory is.
type Stamp struct {
	Sandbox   bool
	Namespace string
}

// StampOf reads the stamp of dir and makes none. Errors: ErrStamp,
// fs.ErrNotExist where no daemon was ever started.
func StampOf(dir string) (Stamp, error) {
	s, err := readStamp(dir)
	return Stamp{s.Sandbox, s.Namespace}, err
}

// Newest is the schema version that this program writes.
func Newest() int { return len(migrations) + 1 }

// A Condition is what a database file is like inside.
type Condition struct {
	Schema    int   // 0 = it has none
	Size      int64 // bytes
	FreePages int
	PageSize  int // bytes
}

// Condition examines the open database of orders.
func (h *Home) Condition() (Condition, error) { return conditionOf(h.DB) }

// Examine opens a database of dir to read it and looks. It waits a second for
// whoever writes it. Errors: ErrLocked, ErrDamaged, ErrReadOnly, fs.ErrNotExist.
func Examine(dir, name string) (c Condition, err error) {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return c, err
	}
	err = guarded(func() error {
		if err := whole(path); err != nil {
			return err
		}
		db, err := openToRead(path, true)
		if err != nil {
			return err
		}
		c, err = conditionOf(db)
		return errors.Join(err, db.Close())
	})
	return c, classify(err)
}

func openToRead(path string, freelist bool) (*bolt.DB, error) {
	return bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true, PreLoadFreelist: freelist})
}

// guarded runs what reads a database. Pages that are damaged, or cut off, end in a panic
// or a fault of the process otherwise.
func guarded(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%w: a page of it cannot be read (%v)", ErrDamaged, why)
		}
	}()
	return read()
}

// whole says whether the file holds all pages that the database counts: one that was cut
// off can be opened, and read up to there. What is free may be beyond it, and is not read.
func whole(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() < 2*int64(os.Getpagesize()) { // its first two pages say all else
		return fmt.Errorf("%w: it is cut off after %d bytes", ErrDamaged, info.Size())
	}
	db, err := openToRead(path, false)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		err = db.View(func(tx *bolt.Tx) error {
			if info.Size() < tx.Size() {
				return fmt.Errorf("%w: it is cut off after %d of %d bytes", ErrDamaged, info.Size(), tx.Size())
			}
			return nil
		})
	}
	return errors.Join(err, db.Close())
}

func conditionOf(db *bolt.DB) (c Condition, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		c.Size, c.PageSize = tx.Size(), db.Info().PageSize
		return nil
	})
	if err == nil {
		c.Schema, err = schemaOf(db)
	}
	c.FreePages = db.Stats().FreePageN
	return c, err
}
