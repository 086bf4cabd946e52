package installer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
)

func TestOlder(t *testing.T) {
	inOrder := []string{"0.1.0", "0.2.0-1", "0.2.0-rc", "0.2.0~rc.2", "0.2.0-rc.10", "0.2.0-rc.x", "0.2.0", "0.2.1+build", "0.10.0", "1", "1.0.1"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if Older(a, b) != (i < j) {
				t.Errorf("%s before %s: %v", a, b, Older(a, b))
			}
		}
	}
	for _, c := range [][2]string{{"1.2", "1.2.0"}, {"1.2.0+a", "1.2.0+b"}, {"dev", "1.0"}, {"1.0", "fake"}, {"", "1.0"}, {"1.0", "1..1"}, {"1.0", "99999999999.0"}} {
		if Older(c[0], c[1]) || Older(c[1], c[0]) {
			t.Errorf("%q and %q are not alike", c[0], c[1])
		}
	}
}

// TestNewer: an installed newer version is in the way of an older one.
func TestNewer(t *testing.T) {
	e := newHomeFixture(t)
	if newer, err := Newer(e.Machine, manifest.User, "1.0"); newer != nil || err != nil {
		t.Errorf("nothing is installed: %v, %v", newer, err)
	}
	e.install("1.5")
	for version, want := range map[string]bool{"1.0": true, "1.5": false, "2.0": false} {
		newer, err := Newer(e.Machine, manifest.User, version)
		if err != nil || (newer != nil) != want {
			t.Errorf("%s: %v, %v; want a newer one in the way: %t", version, newer, err, want)
		}
		if newer != nil && (newer.Path != e.current() || !strings.Contains(newer.Reason, "1.5") || !strings.Contains(newer.Reason, version) || !strings.Contains(newer.Reason, "Going back")) {
			t.Errorf("%s: %v, want 1.5 at %s, and that it would go back", version, newer, e.current())
		}
	}
	if err := os.RemoveAll(e.path(".local", "lib", "swapkeep", "1.5")); err != nil {
		t.Fatal(err)
	}
	if newer, err := Newer(e.Machine, manifest.User, "1.0"); newer != nil || err != nil {
		t.Errorf("it is gone: %v, %v", newer, err)
	}
}

// TestOld: a plan names the directories that are removed after it.
func TestOld(t *testing.T) {
	e := newHomeFixture(t)
	old, present := e.install("1.0"), e.install("1.5")
	plan, err := NewPlan(e.Machine, Options{
		Scope: manifest.User, Browsers: []string{"chromium"}, Version: "2.0", Programs: e.unpack("2.0"),
		Allowed: map[manifest.Family][]string{manifest.Chromium: {strings.Repeat("a", 32)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	busy := ""
	running := func(dir string) (bool, error) { return dir == busy, nil }
	for dir, want := range map[string][]string{"": {old, present}, present: {old}} {
		busy = dir
		if got, err := plan.Old(e.Machine, running); err != nil || !slices.Equal(got, want) {
			t.Errorf("while %q is in use: %v, %v", dir, got, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(present)); err != nil || len(left) != 3 {
		t.Errorf("something was changed: %v, %v", left, err)
	}
}
