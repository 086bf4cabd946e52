//go:build unix

package home

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipesInPlaceOfFiles checks that a pipe in place of one of our files is refused, and
// does not make the start wait for a writer.
func TestPipesInPlaceOfFiles(t *testing.T) {
	for _, name := range []string{"home.json", "orders.db"} {
		dir := filepath.Join(t.TempDir(), "home")
		if name == "orders.db" {
			_ = open(t, dir, false).Close()
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, "")
		if err := errors.Join(os.Remove(filepath.Join(dir, name)), syscall.Mkfifo(filepath.Join(dir, name), 0o600)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			h, err := Open(dir, false)
			if err == nil {
				_ = h.Close()
			}
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || name == "home.json" && !errors.Is(err, ErrStamp) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the start waits", name)
		}
	}
}
