//go:build faults

package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"swapkeep/installer"
)

// With SWAPKEEP_ROOT all writes go into that directory, also those of root.
func TestRootTakesWrites(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(outside)), 0o755); err != nil {
		t.Fatal(err)
	}
	r := rooted{installer.Disk{}, root}
	file, link, moved := filepath.Join(outside, "file"), filepath.Join(outside, "link"), filepath.Join(outside, "moved")
	unlock, err := r.Lock(outside)
	if err := errors.Join(err, r.Mkdir(outside, 0o755), r.Write(file, []byte("text"), 0o600), r.Symlink("file", link), r.Rename(file, moved)); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is outside of the root: %v", err)
	}
	if left, err := treeOf(filepath.Join(root, outside)); err != nil || left != "Lrwxrwxrwx link -> file\n-rw------- moved\n" {
		t.Errorf("%v: %s", err, left)
	}
	if err := errors.Join(r.Remove(link), r.Remove(moved), r.Remove(outside)); err != nil {
		t.Error(err)
	}
}
