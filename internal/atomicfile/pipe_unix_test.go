//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestReadWaitsForNoPipe checks that anything but a file of that length is refused at
// once.
func TestReadWaitsForNoPipe(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(syscall.Mkfifo(path("pipe"), 0o600), os.Symlink(path("pipe"), path("link")), os.WriteFile(path("four"), []byte("four"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"pipe": ErrNotRegular, "link": ErrNotRegular, ".": ErrNotRegular, "none": os.ErrNotExist, "four": nil} {
		done := make(chan error, 1)
		go func() {
			b, err := Read(path(name), 4)
			if err == nil && string(b) != name {
				err = errors.New(string(b))
			}
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s is waited for", name)
		}
	}
	if _, err := Read(path("four"), 3); !errors.Is(err, ErrNotRegular) {
		t.Errorf("too long: %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if b, err := Read("/proc/self/status", 4); !errors.Is(err, ErrNotRegular) || b != nil { // its reported size is 0
		t.Errorf("longer than it was: %q, %v", b, err)
	}
}
