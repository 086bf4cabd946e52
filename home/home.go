// Package home opens the daemon's own directory: its stamp, which says whether it belongs
// to the sandbox, and the order database with its schema version.
package home

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"swapkeep/internal/atomicfile"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Errors that a person must act on; each text names the remedy.
var (
	ErrMode     = errors.New("this home was created for the other mode (sandbox or real); set SWAPKEEP_HOME to another directory")
	ErrStamp    = errors.New("home.json is damaged; restore it from a backup")
	ErrLocked   = errors.New("another process uses the order database; stop it")
	ErrReadOnly = errors.New("cannot write to the order database; fix its permissions")
	ErrFull     = errors.New("no disk space left for the order database; free some")
	ErrNewer    = errors.New("the order database was written by a newer version; update swapkeep")
	ErrDamaged  = errors.New("the order database is damaged; restore it from a backup")
)

// A Home is the daemon's directory, opened.
type Home struct {
	Dir       string
	Sandbox   bool
	Namespace string // names the keychain items; never reused by another home
	DB        *bolt.DB
}

// maxStamp bounds the size of a stamp, in bytes.
const maxStamp = 1 << 10

// A stamp is the content of home.json.
type stamp struct {
	Version   int    `json:"version"`
	Sandbox   bool   `json:"sandbox"`
	Namespace string `json:"namespace"`
}

// Open makes dir a home if it is not one yet, and opens it. The caller holds the daemon's
// lock.
func Open(dir string, sandbox bool) (*Home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, classify(err)
	}
	_ = atomicfile.RemoveUnfinished(dir) // files left behind do no harm
	s, err := readStamp(dir)
	if errors.Is(err, os.ErrNotExist) {
		s, err = writeStamp(dir, sandbox)
	}
	if err != nil {
		return nil, err
	}
	if s.Sandbox != sandbox {
		return nil, fmt.Errorf("%w (sandbox = %t, configured %t)", ErrMode, s.Sandbox, sandbox)
	}
	db, err := openOrders(filepath.Join(dir, "orders.db"))
	if err != nil {
		return nil, err
	}
	return &Home{Dir: dir, Sandbox: sandbox, Namespace: s.Namespace, DB: db}, nil
}

// Close closes the database.
func (h *Home) Close() error { return h.DB.Close() }

func readStamp(dir string) (s stamp, err error) {
	b, err := atomicfile.Read(filepath.Join(dir, "home.json"), maxStamp)
	switch {
	case errors.Is(err, atomicfile.ErrNotRegular):
		return s, fmt.Errorf("%w: %w", ErrStamp, err)
	case err != nil:
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil || s.Version != 1 || len(s.Namespace) != 16 {
		return s, ErrStamp
	}
	return s, nil
}

// writeStamp creates the stamp of a new home. It refuses a directory that already holds
// orders without a stamp.
func writeStamp(dir string, sandbox bool) (stamp, error) {
	if _, err := os.Stat(filepath.Join(dir, "orders.db")); err == nil {
		return stamp{}, ErrStamp
	}
	name := make([]byte, 8)
	if _, err := rand.Read(name); err != nil {
		return stamp{}, err
	}
	s := stamp{Version: 1, Sandbox: sandbox, Namespace: hex.EncodeToString(name)}
	b, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	// Written in one step: only the stamp says where the keys are in the keychain.
	return s, classify(atomicfile.Write(filepath.Join(dir, "home.json"), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}))
}

var (
	metaBucket = []byte("meta")
	versionKey = []byte("version")
	probeKey   = []byte("probe") // written by Probe, never read
)

// Probe proves that the database can be written, by one commit. It may be repeated.
// Errors: ErrFull, ErrReadOnly, else the database's.
func (h *Home) Probe() error {
	return classify(h.DB.Update(func(tx *bolt.Tx) error {
		return tx.Bucket(metaBucket).Put(probeKey, fmt.Append(nil, time.Now().UnixNano()))
	}))
}

// A migration takes the database from one schema version to the next.
type migration func(*bolt.Tx) error

// migrations[i] leads from version i+1 to i+2. Version 1 is the first, and this program
// writes the one after the last migration.
var migrations = []migration{sealed}

// sealed leads to the version whose orders carry seals. Existing orders have none: what
// one of them still needs signed is consented to anew. The new version keeps programs
// without seals from going on with sealed orders, which they would change.
func sealed(*bolt.Tx) error { return nil }

// openOrders opens the database and migrates it to the current schema, after a backup
// next to it.
func openOrders(path string) (*bolt.DB, error) {
	db, err := openComplete(path)
	if err != nil {
		return nil, classify(err)
	}
	if err := migrate(db, path, migrations); err != nil {
		_ = db.Close()
		return nil, classify(err)
	}
	return db, nil
}

// openComplete opens the database if it is complete, or creates one. Only this part reports
// damage: what follows may fail by a mistake of ours.
func openComplete(path string) (db *bolt.DB, err error) {
	err = recoverDamage(func() error {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 { // else bbolt creates it
			if err := checkComplete(path); err != nil {
				return err
			}
		}
		if db, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType}); err != nil {
			return err
		}
		_, err = schemaOf(db)
		return err
	})
	if err != nil && db != nil {
		_ = db.Close()
	}
	return db, err
}

// schemaOf returns the schema version; 0 if there is none.
func schemaOf(db *bolt.DB) (version int, err error) {
	err = db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			return nil
		}
		if err := json.Unmarshal(meta.Get(versionKey), &version); err != nil {
			return fmt.Errorf("%w: schema version: %w", ErrDamaged, err)
		}
		if version < 1 { // it would count as new and be marked as migrated
			return fmt.Errorf("%w: schema version %d", ErrDamaged, version)
		}
		return nil
	})
	return version, err
}

func migrate(db *bolt.DB, path string, steps []migration) error {
	version, err := schemaOf(db)
	latest := len(steps) + 1
	switch {
	case err != nil:
		return err
	case version > latest:
		return fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, version, latest)
	case version == latest:
		return nil
	case version > 0:
		if err := backup(db, fmt.Sprintf("%s.v%d.bak", path, version)); err != nil {
			return fmt.Errorf("backup before migration: %w", err)
		}
	}
	return db.Update(func(tx *bolt.Tx) error {
		for v := version; v > 0 && v < latest; v++ {
			if err := steps[v-1](tx); err != nil {
				return fmt.Errorf("migration from schema %d: %w", v, err)
			}
		}
		b, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		return b.Put(versionKey, fmt.Append(nil, latest))
	})
}

// backup copies the database as of its last commit.
func backup(db *bolt.DB, path string) error {
	return db.View(func(tx *bolt.Tx) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := tx.WriteTo(w)
			return err
		})
	})
}

// classify maps failures that a person can fix to the errors above.
func classify(err error) error {
	for _, c := range []struct{ is, as error }{
		{berrors.ErrTimeout, ErrLocked}, {berrors.ErrInvalid, ErrDamaged}, {berrors.ErrVersionMismatch, ErrDamaged}, {berrors.ErrChecksum, ErrDamaged},
		{os.ErrPermission, ErrReadOnly}, {syscall.EROFS, ErrReadOnly}, {syscall.ENOSPC, ErrFull}, {syscall.EDQUOT, ErrFull}, {syscall.EFBIG, ErrFull},
	} {
		if errors.Is(err, c.is) && !errors.Is(err, c.as) {
			return fmt.Errorf("%w: %w", c.as, err)
		}
	}
	return err
}
