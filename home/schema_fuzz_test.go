package home

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// FuzzSchema checks that a database with a damaged schema version is never taken for a
// new one or a migrated one, and that a migrated one has the new version.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{"1", "2", "3", "0", "-1", "null", "01", "1.0", "1e0", `"1"`, "[1]", "", "99999999999999999999", " 1 "} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	db, err := bolt.Open(filepath.Join(dir, "swapkeep.db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(metaBucket)
			if err != nil {
				return err
			}
			return b.Put(versionKey, text)
		}); err != nil {
			t.Fatal(err)
		}
		ran := 0
		step := func(*bolt.Tx) error { ran++; return nil }
		err := migrate(db, filepath.Join(dir, "swapkeep.db"), []migration{step, step})
		var said int
		whole := json.Unmarshal(text, &said) == nil && said >= 1
		switch {
		case err == nil && (!whole || said > 3 || ran != 3-said):
			t.Fatalf("%q is migrated in %d steps", text, ran)
		case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer):
			t.Fatal(err)
		case err != nil && (whole && said <= 3 || ran > 0):
			t.Fatalf("%q after %d steps: %v", text, ran, err)
		}
		if version, again := schemaOf(db); err == nil && (again != nil || version != 3) {
			t.Fatalf("after migration it is of schema %d: %v", version, again)
		}
	})
}
