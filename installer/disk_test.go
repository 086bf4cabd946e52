package installer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/manifest"
)

// A file in the place of a directory is neither a sign of a browser nor searched for
// manifests.
func TestNotAFolder(t *testing.T) {
	e := newHomeFixture(t)
	programs := e.unpack("1.0")
	if err := os.WriteFile(e.path(".mozilla"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	e.Env = func(name string) string {
		return map[string]string{"PATH": filepath.Join(programs, "swapkeep") + ":/usr/bin"}[name]
	}
	plan, err := NewPlan(e.Machine, Options{
		Scope: manifest.User, Version: "1.0", Programs: programs,
		Allowed: map[manifest.Family][]string{manifest.Chromium: {chromiumTestID}, manifest.Firefox: {"a@b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(plan.Skipped, func(s Skip) bool { return s.Browser == "firefox" && !s.Absent }) {
		t.Errorf("skipped: %v", plan.Skipped)
	}
	if len(plan.Warnings) != 0 {
		t.Errorf("warned of what is not there: %v", plan.Warnings)
	}
	if _, err := Apply(t.Context(), e.Machine, plan); err != nil {
		t.Fatal(err)
	}
	if removal, err := PlanRemoval(e.Machine, manifest.User); err != nil || len(removal.Kept) != 0 {
		t.Errorf("PlanRemoval keeps something or fails: %+v, %v", removal, err)
	}
	e.uninstall()
}

const chromiumTestID = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
