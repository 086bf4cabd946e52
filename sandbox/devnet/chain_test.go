package devnet

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLeavesNothing checks that a running chain has nothing on disk, so that nothing is
// left behind if it is killed.
func TestLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	c, err := Start(Config{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(made) > 0 {
		t.Errorf("it made %v, %v", made, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("what it was told went with it: %v", err)
	}
}
