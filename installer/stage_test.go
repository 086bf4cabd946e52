package installer_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// stateOf returns the directory of the receipts.
func stateOf(b *bench) string {
	path, _ := installer.ReceiptsPath(b.Machine, manifest.User)
	return strings.TrimRight(strings.TrimSuffix(path, "receipts.json"), `/\`)
}

// If the receipts cannot be written nothing is changed, and nothing is left for the next
// run.
func TestNoSpaceForReceipts(t *testing.T) {
	b := newBench("linux", manifest.User)
	before := b.list()
	b.files.Fail = func(op, path string) error {
		if op == "write" {
			return syscall.ENOSPC
		}
		return nil
	}
	if _, err := installer.Apply(t.Context(), b.Machine, b.plan(t, b.options(manifest.User))); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	unlike(t, before, b.list())
}

// A user's state directory is private on every system that has file modes.
func TestStateIsPrivate(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		b := newBench(system, manifest.User)
		b.apply(t, b.options(manifest.User))
		if info, err := b.files.Stat(stateOf(b)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", system, info, err)
		}
		s := newBench(system, manifest.System)
		s.apply(t, s.options(manifest.System))
		path, _ := installer.ReceiptsPath(s.Machine, manifest.System)
		if info, err := s.files.Stat(strings.TrimSuffix(path, "/receipts.json")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s for all: %v, %v", system, info, err)
		}
	}
}
