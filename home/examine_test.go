package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamine checks what is reported with and without a daemon, and that nothing is
// created or changed.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	if _, err := Examine(dir, "orders.db"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a database: %v", err)
	}
	if _, err := ReadStamp(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a stamp: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("looking made %v, %v", left, err)
	}
	h, err := Open(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	open, err := h.DBInfo()
	if err != nil || open.Schema != LatestSchema() || open.Size == 0 || open.PageSize == 0 {
		t.Errorf("open: %+v, %v", open, err)
	}
	if _, err := Examine(dir, "orders.db"); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is open: %v", err)
	}
	for range 20 { // overwritten pages become free
		if err := h.Probe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	closed, err := Examine(dir, "orders.db")
	if err != nil || closed.Schema != LatestSchema() || closed.FreePages == 0 {
		t.Errorf("closed: %+v, %v", closed, err)
	}
	if s, err := ReadStamp(dir); err != nil || !s.Sandbox || len(s.Namespace) != 16 {
		t.Errorf("stamp: %+v, %v", s, err)
	}
	if contents(t, dir) != before {
		t.Error("looking changed something")
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	all := ""
	for _, name := range []string{"orders.db", "home.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}

// TestDamaged checks that neither examining nor opening a damaged file ends the process,
// and that both return an error. Examine takes an empty one for damaged; Open creates a
// new database in its place.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut":      func(p string) error { return os.Truncate(p, 8192) },
		"cut off":  func(p string) error { return os.Truncate(p, 5000) },
		"cut late": func(p string) error { return os.Truncate(p, 4*4096) },
		"text":     func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("no database ", 4096)), 0o600) },
		"zeroes":   func(p string) error { return overwrite(p, 0, make([]byte, 8192)) },
	} {
		dir := damaged(t, damage)
		if c, err := Examine(dir, "orders.db"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		before := contents(t, dir)
		if h, err := Open(dir, true); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is opened: %v, %v", name, h, err)
		}
		if contents(t, dir) != before {
			t.Errorf("%s: opening changed it", name)
		}
	}
	if _, err := Examine(damaged(t, func(p string) error { return os.Truncate(p, 0) }), "orders.db"); err == nil {
		t.Error("an empty file is a database")
	}
	failed := 0
	for page := int64(2); page < 6; page++ { // some of them are free
		dir := damaged(t, func(p string) error { return overwrite(p, 4096*page, []byte(strings.Repeat("\xff", 4096))) })
		if _, err := Examine(dir, "orders.db"); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damaged page was noticed")
	}
}

// damaged returns the directory of a home whose database was damaged.
func damaged(t *testing.T, damage func(path string) error) string {
	t.Helper()
	dir := t.TempDir()
	h, err := Open(dir, true)
	if err == nil {
		err = errors.Join(h.Close(), damage(filepath.Join(dir, "orders.db")))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func overwrite(path string, at int64, with []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(with, at)
	return errors.Join(err, f.Close())
}
