package series

import (
	"encoding/json"
	"fmt"
	"io"

	"swapkeep/internal/atomicfile"

	bolt "go.etcd.io/bbolt"
)

// Buckets other than the rings.
var (
	metaBucket  = []byte("meta")
	factsBucket = []byte("facts")
	// Tokens are stored twice, because rows are meaningless without them.
	tokenBuckets = [][]byte{[]byte("tokens"), []byte("tokens.copy")}
)

// Keys of the meta bucket.
var (
	versionKey = []byte("version")
	totalsKey  = []byte("totals")
	probeKey   = []byte("probe") // written by Check, never read
)

// A migration upgrades the file from one schema version to the next.
type migration func(*bolt.Tx) error

// migrations[i] upgrades from version i+1 to i+2. Versions start at 1; this program writes
// version len(migrations)+1.
var migrations []migration

// migrate upgrades the file to the current schema, after backing it up.
func migrate(db *bolt.DB, path string, steps []migration) error {
	version, latest := 0, len(steps)+1
	err := db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(metaBucket); b != nil {
			return json.Unmarshal(b.Get(versionKey), &version)
		}
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: schema version: %w", ErrDamaged, err)
	case version > latest:
		return fmt.Errorf("%w (schema %d, this program knows %d)", ErrNewer, version, latest)
	case version > 0 && version < latest:
		if err := backup(db, fmt.Sprintf("%s.v%d.bak", path, version)); err != nil {
			return fmt.Errorf("backup before migration: %w", err)
		}
	}
	if version == latest && hasBuckets(db) {
		return nil
	}
	return db.Update(func(tx *bolt.Tx) error {
		for v := version; v > 0 && v < latest; v++ {
			if err := steps[v-1](tx); err != nil {
				return fmt.Errorf("migration from schema %d: %w", v, err)
			}
		}
		for _, name := range append([][]byte{metaBucket, factsBucket}, tokenBuckets...) {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return fmt.Errorf("%w: bucket %s: %w", ErrDamaged, name, err)
			}
		}
		return tx.Bucket(metaBucket).Put(versionKey, fmt.Append(nil, latest))
	})
}

// backup copies the file as of its last commit.
func backup(db *bolt.DB, path string) error {
	return db.View(func(tx *bolt.Tx) error {
		return atomicfile.Write(path, func(w io.Writer) error {
			_, err := tx.WriteTo(w)
			return err
		})
	})
}

// hasBuckets reports whether all buckets exist.
func hasBuckets(db *bolt.DB) bool {
	return db.View(func(tx *bolt.Tx) error {
		for _, name := range append([][]byte{metaBucket, factsBucket}, tokenBuckets...) {
			if tx.Bucket(name) == nil {
				return errUnchanged
			}
		}
		return nil
	}) == nil
}

func (e *edit) probe() error {
	e.changed = true
	return e.tx.Bucket(metaBucket).Put(probeKey, fmt.Append(nil, e.tx.ID()))
}
