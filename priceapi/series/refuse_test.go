package series

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// TestRefusals checks that failures other than damage are not treated as damage.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		prep func(t *testing.T, path string)
		want error
	}{
		{"file of a newer version", func(t *testing.T, path string) { setVersion(t, path, "2") }, ErrNewer},
		{"damaged file of a newer version", func(t *testing.T, path string) {
			setVersion(t, path, "99")
			ok(t, os.Truncate(path, int64(8*os.Getpagesize()-1)))
		}, ErrNewer},
		{"file locked by another process", func(t *testing.T, path string) { open(t, path, newFakeClock(noon)) }, ErrLocked},
		{"in no directory", func(t *testing.T, path string) { ok(t, os.RemoveAll(filepath.Dir(path))) }, os.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "home", "prices.db")
			ok(t, os.Mkdir(filepath.Dir(path), 0o700))
			s := open(t, path, newFakeClock(noon))
			appended(t, s, minute(noon, 3))
			ok(t, s.Close())
			c.prep(t, path)
			if _, err := Open(path, Options{}); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if aside, _ := filepath.Glob(path + damagedSuffix + "*"); len(aside) > 0 {
				t.Errorf("set aside: %v", aside)
			}
		})
	}
}

func setVersion(t *testing.T, path, version string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	ok(t, err)
	ok(t, db.Update(func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put(versionKey, []byte(version)) }))
	ok(t, db.Close())
}

// TestReadOnly is mostly skipped for root, who may write everything.
func TestReadOnly(t *testing.T) {
	if err := classify(os.ErrPermission); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if os.Getuid() == 0 {
		t.Skip("the rest is not run: nothing is read-only for root")
	}
	path := filepath.Join(t.TempDir(), "prices.db")
	ok(t, open(t, path, newFakeClock(noon)).Close())
	for _, mode := range []os.FileMode{0o400, 0} {
		ok(t, os.Chmod(path, mode))
		if _, err := Open(path, Options{}); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

// TestMigration checks that an older file is upgraded after a copy is made, and that a
// failing step changes nothing.
func TestMigration(t *testing.T) {
	s, _ := begin(t)
	mark := func(name string) migration {
		return func(tx *bolt.Tx) error { _, err := tx.CreateBucket([]byte(name)); return err }
	}
	has := func(db *bolt.DB, name string) (has bool) {
		ok(t, db.View(func(tx *bolt.Tx) error { has = tx.Bucket([]byte(name)) != nil; return nil }))
		return has
	}
	fail := errors.New("step failed")
	if err := migrate(s.db, s.path, []migration{mark("two"), func(*bolt.Tx) error { return fail }}); !errors.Is(err, fail) || has(s.db, "two") {
		t.Fatalf("half a migration: %v", err)
	}
	ok(t, migrate(s.db, s.path, []migration{mark("two"), mark("three")}))
	old, err := bolt.Open(s.path+".v1.bak", 0o600, nil)
	ok(t, err)
	defer old.Close()
	if !has(s.db, "three") || has(old, "three") || !has(old, "meta") {
		t.Error("the file is not migrated, or the copy is")
	}
	if err := migrate(s.db, s.path, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("opened by an older program: %v", err)
	}
}

// TestTogether checks that concurrent readers only see whole minutes. Run it with -race.
func TestTogether(t *testing.T) {
	s, h := begin(t)
	run(t, s, h, 40, noon.Add(20*time.Minute))
	done := make(chan struct{})
	var readers sync.WaitGroup
	reads := []func(now time.Time) error{
		func(now time.Time) error {
			_, err := s.Near(t.Context(), now, time.Minute)
			return err
		},
		func(now time.Time) error {
			_, err := s.Coverages(t.Context(), now)
			return err
		},
		func(now time.Time) error {
			week, _ := price.PeriodNamed("week")
			got, err := s.Chart(t.Context(), token(3), week, now)
			if err == nil && (len(got) == 0 || got[0].Open != worth(3, noon)) {
				err = errors.New("not what was written")
			}
			return err
		},
		func(time.Time) error {
			last, err := s.Last(t.Context())
			minutes := map[time.Time]bool{}
			for _, p := range last {
				minutes[p.At] = true
			}
			if err == nil && len(minutes) != 1 {
				err = errors.New("half a minute was seen")
			}
			return err
		},
		func(time.Time) error { return s.Check(t.Context()) },
		func(time.Time) error {
			return s.SetFacts(t.Context(), map[price.ID]price.Facts{token(1): {Holders: 1}})
		},
		func(time.Time) error { _, err := s.Facts(t.Context()); return err },
	}
	for _, read := range reads {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := read(h.now()); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 100 {
		h.move(time.Minute)
		appended(t, s, minute(h.now(), 40))
	}
	close(done)
	readers.Wait()
}
