package installer_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// Only one process at a time changes an installation; a second one waits, and fails after
// too long. A lock leaves no file.
func TestLock(t *testing.T) {
	m := installer.Machine{OS: "linux", Home: t.TempDir(), Files: installer.Disk{}, Env: os.Getenv}
	unlock, err := m.Lock(t.Context(), manifest.User)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.TryLock(manifest.User); !errors.Is(err, installer.ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Lock(cancelled, manifest.User); !errors.Is(err, context.Canceled) {
		t.Errorf("one that is given up: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		second, err := m.Lock(t.Context(), manifest.User)
		if err == nil {
			second()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Errorf("the second one did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	unlock()
	if err := <-got; err != nil {
		t.Errorf("after the first: %v", err)
	}
	if left, err := os.ReadDir(m.Home); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	m.Home += "/not/there"
	if unlock, err := m.Lock(t.Context(), manifest.User); err != nil {
		t.Errorf("of a home that is not made yet: %v", err)
	} else {
		unlock()
	}
}
