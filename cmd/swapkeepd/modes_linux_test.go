package main

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// Everything that the daemon creates in its home is accessible to the user only, even
// with umask 0.
func TestEverythingInTheHomeIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	u := someone(t)
	u.start("daemon", func(*bufio.Reader) error { return u.daemonReady() })
	var seen []string
	err := filepath.WalkDir(u.home(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		seen = append(seen, entry.Name())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"home.json", "orders.db", "prices.db", "daemon.lock", "swapkeepd.log", "run", "keys"} {
		if !slices.Contains(seen, name) {
			t.Errorf("there is no %s, only %v", name, seen)
		}
	}
}
