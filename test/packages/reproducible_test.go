//go:build packages && linux

package packages

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTwoBuilds builds the same source again in another directory, time zone, locale,
// temporary directory and umask, with other file times: the bytes are the same.
func TestTwoBuilds(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "elsewhere")
	files := strings.Split(strings.Trim(mustRun(t, exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")), "\x00"), "\x00")
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but still in the index
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(copied, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again := filepath.Join(t.TempDir(), "again")
	mask := umask(0o077)
	out, err := build(copied, again, "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "TMPDIR="+t.TempDir())
	umask(mask)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	first, second := sums(t, packagesDir), sums(t, again)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if first[name] != second[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(first) != len(second) || len(first) < 20 {
		t.Errorf("%d files and %d", len(first), len(second))
	}
}

func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
