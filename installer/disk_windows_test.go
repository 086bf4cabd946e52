package installer

import (
	"os"
	"path/filepath"
	"testing"
)

// A file in use is moved elsewhere on its disk if the temporary directory cannot take it,
// and only once.
func TestMovedAside(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMP", filepath.Join(dir, "missing"))
	path := filepath.Join(bin, "swapkeep.exe")
	if err := os.WriteFile(path, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	aside, err := moveAside(path)
	if err != nil || filepath.Dir(aside) != dir || !isAsideName(filepath.Base(aside)) {
		t.Fatalf("moved to %s, %v", aside, err)
	}
	openFile, err := os.Open(aside) // in use, so it cannot be removed
	if err != nil {
		t.Fatal(err)
	}
	_ = remove(aside)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 2 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := openFile.Close(); err != nil {
		t.Fatal(err)
	}
	if err := remove(aside); err != nil && !absent(err) {
		t.Error(err)
	}
}

// Which errors Windows returns for a file in the place of a directory.
func TestNothingInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(path, "x")); !absent(err) {
		t.Errorf("looking below a file: %v, want that it does not exist", err)
	}
}
