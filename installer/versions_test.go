package installer_test

import (
	"slices"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// TestSweepForAll: an installation for all users is updated like a user's own.
func TestSweepForAll(t *testing.T) {
	b := newBench("linux", manifest.System)
	o := b.fewer(manifest.System)
	b.apply(t, o)
	o.Version = "1.3.0"
	b.apply(t, o)
	const old = "/usr/local/lib/swapkeep/1.2.3"
	for _, busy := range []bool{true, false, false} {
		want := []string{old}
		if info, err := b.Files.Stat(old); busy || info == nil || err != nil {
			want = nil
		}
		swept, err := installer.Sweep(b.Machine, manifest.System, func(dir string) (bool, error) { return busy && dir == old, nil })
		if err != nil || !slices.Equal(swept, want) {
			t.Errorf("while it is in use is %v: swept %v, %v; want %v", busy, swept, err, want)
		}
	}
	if _, err := b.Files.Stat(old); err == nil {
		t.Error("the old version stays")
	}
	b.uninstall(t, manifest.System)
}

// TestNewerWithoutLinks: if versions replace each other, the receipts tell which one is
// installed.
func TestNewerWithoutLinks(t *testing.T) {
	b := newBench("windows", manifest.User)
	b.apply(t, b.fewer(manifest.User))
	for version, want := range map[string]bool{"1.2.2": true, "1.2.3": false, "1.10.0": false} {
		if newer, err := installer.Newer(b.Machine, manifest.User, version); err != nil || (newer != nil) != want {
			t.Errorf("%s: %v, %v", version, newer, err)
		}
	}
	b.uninstall(t, manifest.User)
	if newer, err := installer.Newer(b.Machine, manifest.User, "1.2.2"); err != nil || newer != nil {
		t.Errorf("nothing is installed: %v, %v", newer, err)
	}
}
