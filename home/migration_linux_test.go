package home

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// Bytes that a database holds before its migration, so that a copy takes space, and that
// the migration adds.
const (
	filledBytes   = 1 << 20
	migratedBytes = 4 << 20
)

var dataBucket = []byte("data")

// An accident happens to the migrating process.
type accident struct {
	name  string
	limit uint64            // size limit of its files; 0 = none
	step  func(*bolt.Tx)    // after the step's change, before the commit
	ended func(error) bool  // whether the process ended as it should
	told  error             // the error that it reports; nil = any: bbolt's own text names no cause
	kept  func(string) bool // whether the backup is, or is not, there as it should be
}

var accidents = []accident{
	{name: "killed in a step", step: func(*bolt.Tx) { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }, ended: wasKilled, kept: exists},
	{name: "no room for the backup", limit: filledBytes, ended: isExit, told: ErrFull, kept: missing},
	{name: "no room for the migration", limit: filledBytes + migratedBytes/2, ended: isExit, kept: exists},
}

func wasKilled(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

func isExit(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}

func exists(path string) bool  { _, err := os.Stat(path); return err == nil }
func missing(path string) bool { return !exists(path) }

// bigger is a migration that takes additional space.
func (a accident) bigger(tx *bolt.Tx) error {
	b, err := tx.CreateBucket([]byte("two"))
	if err == nil {
		err = b.Put([]byte("more"), make([]byte, migratedBytes))
	}
	if err == nil && a.step != nil {
		a.step(tx)
	}
	return err
}

// TestMigrationAccidents checks that, whatever happens to a migration, the old database
// stays complete: the next start of this program migrates it, and an older program can go
// on with it.
func TestMigrationAccidents(t *testing.T) {
	if dir := os.Getenv("HOME_TEST_MIGRATE"); dir != "" {
		migrateAsChild(dir)
	}
	for _, a := range accidents {
		t.Run(a.name, func(t *testing.T) {
			dir := t.TempDir()
			h := openFirst(t, dir)
			if err := h.DB.Update(func(tx *bolt.Tx) error {
				b, err := tx.CreateBucket(dataBucket)
				if err != nil {
					return err
				}
				return b.Put([]byte("order"), make([]byte, filledBytes))
			}); err != nil {
				t.Fatal(err)
			}
			_ = h.Close()

			child := exec.Command(os.Args[0], "-test.run=^TestMigrationAccidents$")
			child.Env = append(os.Environ(), "HOME_TEST_MIGRATE="+dir, "HOME_TEST_ACCIDENT="+a.name)
			out, err := child.CombinedOutput()
			if !a.ended(err) || a.told != nil && !strings.Contains(string(out), a.told.Error()) {
				t.Fatalf("the migration ended with %v: %s", err, out)
			}
			path := filepath.Join(dir, "orders.db")
			if !a.kept(path + ".v1.bak") {
				t.Error("the backup is not as it should be")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			older := openFirst(t, dir)
			if has(t, older.DB, "two") || !has(t, older.DB, "data") {
				t.Error("the old database is not as it was")
			}
			if err := migrate(older.DB, path, []migration{accident{}.bigger}); err != nil || !has(t, older.DB, "two") || !has(t, older.DB, "data") {
				t.Errorf("the next start: %v", err)
			}
		})
	}
}

// migrateAsChild runs in the process that the accident happens to.
func migrateAsChild(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	var a accident
	for _, row := range accidents {
		if row.name == os.Getenv("HOME_TEST_ACCIDENT") {
			a = row
		}
	}
	if a.limit > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: a.limit, Max: a.limit}); err != nil {
			panic(err)
		}
	}
	migrations = []migration{a.bigger}
	h, err := Open(dir, false)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_ = h.Close()
	os.Exit(0)
}
