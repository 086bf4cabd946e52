package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"swapkeep/internal/atomicfile"

	bolt "go.etcd.io/bbolt"
)

func open(t *testing.T, dir string, sandbox bool) *Home {
	t.Helper()
	h, err := Open(dir, sandbox)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestStampStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	h := open(t, dir, true)
	name := h.Namespace
	_ = h.Close()
	if _, err := Open(dir, false); !errors.Is(err, ErrMode) {
		t.Errorf("a sandbox home opened for real: %v", err)
	}
	if again := open(t, dir, true); again.Namespace != name {
		t.Errorf("namespace changed from %s to %s", name, again.Namespace)
	}
	if i, err := os.Stat(filepath.Join(dir, "orders.db")); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("orders.db: %v, %v", i.Mode(), err)
	}
}

// TestUnfinishedFilesAreSwept checks that the next start removes the files that a killed
// daemon left unfinished, and no others.
func TestUnfinishedFilesAreSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	_ = open(t, dir, false).Close()
	write(t, dir, atomicfile.TempPrefix+"12345", "half")
	write(t, dir, "mine.new-1", "somebody's")
	_ = open(t, dir, false).Close()
	if left, err := filepath.Glob(filepath.Join(dir, "*new-*")); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		prep func(t *testing.T, dir string)
		want error
	}{
		{"damaged stamp", func(t *testing.T, dir string) { write(t, dir, "home.json", "{") }, ErrStamp},
		{"orders without a stamp", func(t *testing.T, dir string) { write(t, dir, "orders.db", "") }, ErrStamp},
		{"damaged database", func(t *testing.T, dir string) {
			_ = open(t, dir, false).Close()
			b := make([]byte, 16384)
			for i := range b {
				b[i] = 0xa5
			}
			write(t, dir, "orders.db", string(b))
		}, ErrDamaged},
		{"database of a newer version", func(t *testing.T, dir string) {
			h := open(t, dir, false)
			if err := h.DB.Update(func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(versionKey, []byte("99")) }); err != nil {
				t.Fatal(err)
			}
			_ = h.Close()
		}, ErrNewer},
		{"held by another", func(t *testing.T, dir string) { open(t, dir, false) }, ErrLocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prep(t, dir)
			h, err := Open(dir, false)
			if err == nil {
				_ = h.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestMigration checks that an older database is migrated and a copy of it kept, and that
// a failing step leaves it as it was.
func TestMigration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "orders.db")
	h := openFirst(t, dir)
	mark := func(name string) migration {
		return func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte(name)); return err }
	}
	fail := errors.New("step failed")
	if err := migrate(h.DB, path, []migration{mark("two"), func(*bolt.Tx) error { return fail }}); !errors.Is(err, fail) {
		t.Fatalf("error %v", err)
	}
	if has(t, h.DB, "two") {
		t.Error("half a migration stayed")
	}
	if err := migrate(h.DB, path, []migration{mark("two"), mark("three")}); err != nil {
		t.Fatal(err)
	}
	old, err := bolt.Open(path+".v1.bak", 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for _, c := range []struct {
		db   *bolt.DB
		want bool
	}{{h.DB, true}, {old, false}} {
		if has(t, c.db, "three") != c.want || !has(t, c.db, "meta") {
			t.Errorf("%s: migrated %t, want %t", c.db.Path(), !c.want, c.want)
		}
	}
	if err := migrate(h.DB, path, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("opened by an older program: %v", err)
	}
}

// openFirst opens a home as a program with the first schema does.
func openFirst(t *testing.T, dir string) *Home {
	t.Helper()
	now := migrations
	migrations = nil
	defer func() { migrations = now }()
	return open(t, dir, false)
}

// TestSealsAreKept checks that a database whose orders have no seals is copied and
// migrated to a version that a program without seals refuses.
func TestSealsAreKept(t *testing.T) {
	dir := t.TempDir()
	if err := openFirst(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	h := open(t, dir, false)
	if c, err := h.DBInfo(); err != nil || c.Schema != 2 {
		t.Errorf("schema %d, %v", c.Schema, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "orders.db.v1.bak")); err != nil {
		t.Error(err)
	}
	if err := migrate(h.DB, filepath.Join(dir, "orders.db"), nil); !errors.Is(err, ErrNewer) {
		t.Errorf("opened by a program that knows of no seals: %v", err)
	}
}

func has(t *testing.T, db *bolt.DB, bucket string) (ok bool) {
	t.Helper()
	if err := db.View(func(tx *bolt.Tx) error { ok = tx.Bucket([]byte(bucket)) != nil; return nil }); err != nil {
		t.Fatal(err)
	}
	return ok
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
