package installer_test

import (
	"slices"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

func idle(string) (bool, error) { return false, nil }

// updated returns a machine with an earlier version, and that version's directory.
func updated(t *testing.T) (b *bench, before []string, old string) {
	t.Helper()
	b = newBench("linux", manifest.User)
	before = b.list()
	o := b.fewer(manifest.User)
	b.apply(t, o)
	o.Version = "1.3.0"
	b.apply(t, o)
	return b, before, "/home/ann/.local/lib/swapkeep/1.2.3"
}

// A version is swept completely or not at all, and foreign files stay.
func TestSweepWhole(t *testing.T) {
	b, _, old := updated(t)
	b.files.File(old+"/swapkeep", "mine")
	if swept, err := installer.Sweep(b.Machine, manifest.User, idle); err != nil || len(swept) != 0 {
		t.Errorf("swept %v, %v", swept, err)
	}
	if _, err := b.files.Stat(old + "/swapkeepd"); err != nil {
		t.Errorf("it was swept in part: %v", err)
	}
}

func TestSweepLeavesStrangers(t *testing.T) {
	b, before, old := updated(t)
	b.files.File(old+"/swapkeep"+installer.Unfinished, "half")
	b.files.File(old+"/notes", "mine")
	if swept, err := installer.Sweep(b.Machine, manifest.User, idle); err != nil || !slices.Equal(swept, []string{old}) {
		t.Errorf("swept %v, %v", swept, err)
	}
	left := slices.DeleteFunc(b.list(), func(line string) bool { return !strings.HasPrefix(line, old+"/") })
	if len(left) != 1 || !strings.Contains(left[0], "/notes ") {
		t.Errorf("left: %v", left)
	}
	if again, err := installer.Sweep(b.Machine, manifest.User, idle); err != nil || len(again) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
	_ = b.files.Remove(old + "/notes")
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

// After a crash at any change, the receipts name everything that is left.
func TestCrashInASweep(t *testing.T) {
	for at, killed := 0, 1; killed > 0; at++ {
		b, before, _ := updated(t)
		killed = 0
		b.killAt(at, &killed)
		_, _ = installer.Sweep(b.Machine, manifest.User, idle)
		b.killAt(-1, nil)
		if r := b.uninstall(t, manifest.User); len(r.Kept) != 0 {
			t.Errorf("kept: %+v", r.Kept)
		}
		if unlike(t, before, b.list()); t.Failed() {
			t.Fatalf("killed at change %d", at)
		}
	}
}

// A file that was in use on Windows is removed later, from wherever it was moved to.
func TestSweepAside(t *testing.T) {
	const temp = `C:\Users\ann\AppData\Local\Temp`
	b := newBench("windows", manifest.User)
	env := b.Env
	b.Env = func(name string) string {
		if name == "TEMP" {
			return temp
		}
		return env(name)
	}
	b.apply(t, b.fewer(manifest.User))
	kept := temp + `\swapkeep-notes.old`
	b.files.File(kept, "mine")
	want := b.list()
	for _, path := range []string{temp + `\swapkeep.exe.1.old`, temp + `\swapkeepd.exe.dq2p8w.old`, packageFolder + `\swapkeep.exe.dq2p8w.old`, `C:\Users\ann\AppData\Local\receipts.json.dq2p8w.old`} {
		b.files.File(path, "old")
	}
	if _, err := installer.Sweep(b.Machine, manifest.User, idle); err != nil {
		t.Error(err)
	}
	unlike(t, want, b.list())
}
