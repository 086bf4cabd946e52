package installer

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLasting: the path that browsers are given stays valid for the next version.
func TestLasting(t *testing.T) {
	e := newHomeFixture(t)
	old, present := e.install("1.0"), e.install("2.0")
	unpacked := e.path("Downloads", "2.0")
	moved := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(e.Home, moved); err != nil {
		t.Fatal(err)
	}
	byLink := e.Machine
	byLink.Home = moved // differs from the path with links resolved
	for program, want := range map[string]string{
		present: e.current(), old: e.current(), unpacked: unpacked,
	} {
		for _, m := range []Machine{e.Machine, byLink} {
			if got := m.StablePath(filepath.Join(program, "swapkeep")); got != filepath.Join(want, "swapkeep") {
				t.Errorf("%s: %s", program, got)
			}
		}
	}
	if err := os.Remove(e.current()); err != nil {
		t.Fatal(err)
	}
	if got := e.StablePath(filepath.Join(present, "swapkeep")); got != filepath.Join(present, "swapkeep") {
		t.Errorf("without the link: %s", got)
	}
}
