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

// A Stamp identifies the instance that a directory belongs to.
type Stamp struct {
	Sandbox   bool
	Namespace string
}

// ReadStamp reads the stamp of dir and never writes one. Errors: ErrStamp, fs.ErrNotExist
// where no daemon was ever started.
func ReadStamp(dir string) (Stamp, error) {
	s, err := readStamp(dir)
	return Stamp{s.Sandbox, s.Namespace}, err
}

// LatestSchema returns the schema version that this program writes.
func LatestSchema() int { return len(migrations) + 1 }

// A DBInfo describes the state of a database file.
type DBInfo struct {
	Schema    int   // 0 = it has none
	Size      int64 // bytes
	FreePages int
	PageSize  int // bytes
}

// DBInfo examines the open order database.
func (h *Home) DBInfo() (DBInfo, error) { return dbInfoOf(h.DB) }

// Examine opens a database of dir read-only and examines it. It waits a second for a
// process that has it open for writing. Errors: ErrLocked, ErrDamaged, ErrReadOnly,
// fs.ErrNotExist.
func Examine(dir, name string) (c DBInfo, err error) {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return c, err
	}
	err = recoverDamage(func() error {
		if err := checkComplete(path); err != nil {
			return err
		}
		db, err := openToRead(path, true)
		if err != nil {
			return err
		}
		c, err = dbInfoOf(db)
		return errors.Join(err, db.Close())
	})
	return c, classify(err)
}

func openToRead(path string, freelist bool) (*bolt.DB, error) {
	return bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true, PreLoadFreelist: freelist})
}

// recoverDamage runs read and turns a panic or a memory fault into ErrDamaged: reading pages
// that are damaged, or cut off, would otherwise end the process.
func recoverDamage(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%w: a page of it cannot be read (%v)", ErrDamaged, why)
		}
	}()
	return read()
}

// checkComplete checks that the file has all pages that the database counts: one that was cut off
// can be opened, and read up to there. The freelist may be beyond the cut, and is not
// loaded.
func checkComplete(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() < 2*int64(os.Getpagesize()) { // shorter than the two metadata pages
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

func dbInfoOf(db *bolt.DB) (c DBInfo, err error) {
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
