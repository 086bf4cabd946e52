package home

import (
	"encoding/json"
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
	// Pages that are damaged, or cut off, end in a panic or a fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: it is cut off, or a page of it", ErrDamaged)
		}
	}()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return c, classify(err)
	}
	c, err = conditionOf(db)
	return c, errors.Join(err, db.Close())
}

func conditionOf(db *bolt.DB) (c Condition, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		c.Size, c.PageSize = tx.Size(), db.Info().PageSize
		meta := tx.Bucket(metaBucket)
		if meta == nil || meta.Get(versionKey) == nil {
			return nil
		}
		if err := json.Unmarshal(meta.Get(versionKey), &c.Schema); err != nil {
			return fmt.Errorf("%w: schema version: %w", ErrDamaged, err)
		}
		return nil
	})
	c.FreePages = db.Stats().FreePageN
	return c, err
}
