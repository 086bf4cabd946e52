package installer_test

import (
	"errors"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// Whatever fails, a program is left with which the uninstall can be repeated, and before
// the state is removed nothing is left that starts a daemon.
func TestOwnProgramGoesLast(t *testing.T) {
	everywhere(t, func(t *testing.T, system string, scope manifest.Scope) {
		b := newBench(system, scope)
		before := b.list()
		p := b.apply(t, b.fewer(scope))
		var programs []string // the user's program and the daemon
		for _, c := range p.Changes {
			if c.Kind == installer.Program {
				programs = append(programs, c.Path)
			}
		}
		there := func(path string) bool { _, err := b.files.Stat(path); return err == nil }
		r, err := installer.PlanRemoval(b.Machine, scope)
		if err != nil {
			t.Fatal(err)
		}
		confirmed := false
		r.BeforeFolders = func() error {
			confirmed = true
			for _, e := range r.Remove {
				if e.Kind == installer.Manifest && there(e.Path) {
					t.Errorf("%s still starts it", e.Path)
				}
			}
			if there(programs[1]) || !there(p.Launch) {
				t.Errorf("daemon %t, program %t", there(programs[1]), there(p.Launch))
			}
			return errCrash
		}
		if _, err := installer.Remove(t.Context(), b.Machine, r); !errors.Is(err, errCrash) || !confirmed {
			t.Errorf("error %v", err)
		}
		r.BeforeFolders = nil
		for err = errCrash; err != nil; { // allow one more change at each attempt
			killed := 0
			b.killAt(1, &killed)
			_, err = installer.Remove(t.Context(), b.Machine, r)
			b.killAt(-1, nil)
			if there(programs[0]) {
				continue
			}
			for _, e := range r.Remove {
				if state, err := e.State(b.Machine); e.Kind != installer.Directory && (err != nil || state != installer.Gone) {
					t.Errorf("the program is gone, and %s is not: %v", e.Path, err)
				}
			}
		}
		b.uninstall(t, scope)
		unlike(t, before, b.list())
	})
}

// A link that the user put in the place of the state directory stays.
func TestLinkedStateStays(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.apply(t, b.fewer(manifest.User))
	state, moved := stateOf(b), "/home/ann/elsewhere"
	if err := b.files.Rename(state, moved); err != nil {
		t.Fatal(err)
	}
	b.files.Link(state, moved)
	r := b.uninstall(t, manifest.User)
	if len(r.Kept) != 1 || r.Kept[0].Path != state {
		t.Errorf("kept: %+v", r.Kept)
	}
	if to, err := b.files.Readlink(state); err != nil || to != moved {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if _, err := b.files.Stat(moved + "/receipts.json"); err == nil {
		t.Error("the receipts are left")
	}
}
