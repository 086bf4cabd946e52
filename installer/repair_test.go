package installer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/manifest"
)

// An homeFixture is a real home directory that contains only an installation.
type homeFixture struct {
	*testing.T
	Machine
}

func newHomeFixture(t *testing.T) homeFixture {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, ".config", "chromium"), 0o755); err != nil {
		t.Fatal(err)
	}
	return homeFixture{t, Machine{OS: "linux", Home: home, Env: nothingSet, UID: os.Geteuid(), Files: Disk{}}}
}

func (e homeFixture) path(elem ...string) string {
	return filepath.Join(append([]string{e.Home}, elem...)...)
}

// unpack puts programs of a version where a user unpacks them.
func (e homeFixture) unpack(version string) string {
	e.Helper()
	dir := e.path("Downloads", version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		e.Fatal(err)
	}
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+" "+version), 0o755); err != nil {
			e.Fatal(err)
		}
	}
	return dir
}

// install installs a version and returns the directory of its programs.
func (e homeFixture) install(version string) string {
	e.Helper()
	plan, err := NewPlan(e.Machine, Options{
		Scope: manifest.User, Browsers: []string{"chromium"}, Version: version, Programs: e.unpack(version), Time: time.Now(),
		Allowed: map[manifest.Family][]string{manifest.Chromium: {strings.Repeat("a", 32)}},
	})
	if err != nil {
		e.Fatal(err)
	}
	if _, err := Apply(context.Background(), e.Machine, plan); err != nil {
		e.Fatal(err)
	}
	return e.path(".local", "lib", "swapkeep", version)
}

func (e homeFixture) manifest() string {
	return e.path(".config", "chromium", "NativeMessagingHosts", manifest.FileName)
}

func (e homeFixture) current() string { return e.path(".local", "lib", "swapkeep", "current") }

// rewrite changes a file as a user would.
func (e homeFixture) rewrite(path string, change func(string) string) {
	e.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(change(string(text))), 0o644)
	}
	if err != nil {
		e.Fatal(err)
	}
}

func (e homeFixture) read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// uninstall checks that everything that was installed is removed.
func (e homeFixture) uninstall() {
	e.Helper()
	removal, err := PlanRemoval(e.Machine, manifest.User)
	if err != nil {
		e.Fatal(err)
	}
	if _, err := Remove(context.Background(), e.Machine, removal); err != nil {
		e.Fatal(err)
	}
	for _, dir := range []string{".local", ".config/chromium/NativeMessagingHosts"} {
		if _, err := os.Lstat(e.path(dir)); !errors.Is(err, os.ErrNotExist) {
			e.Errorf("%s is left", dir)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name   string
		harm   func(e homeFixture, old, present string)
		runs   func(e homeFixture, present string) string // "" = the current version
		want   func(e homeFixture, r Repair) bool
		starts string // content of the program that browsers start in the end
		keeps  bool   // an uninstall leaves something
	}{
		{name: "nothing", harm: func(homeFixture, string, string) {}, starts: "swapkeep 2.0",
			want: func(_ homeFixture, r Repair) bool {
				return len(r.Repaired)+len(r.Broken)+len(r.Changed)+len(r.Gone) == 0
			}},
		{name: "somebody led the link nowhere", harm: func(e homeFixture, _, _ string) {
			_ = errors.Join(os.Remove(e.current()), os.Symlink("1.5", e.current()))
		}, want: func(e homeFixture, r Repair) bool {
			return slices.Equal(r.Changed, []string{e.current()}) && slices.Equal(r.Broken, []string{e.manifest()}) && len(r.Repaired) == 0
		}, keeps: true},
		{name: "the version of the link is gone", harm: func(e homeFixture, old, _ string) {
			e.install("1.0") // back to the older version
			_ = os.RemoveAll(old)
		}, starts: "swapkeep 2.0", want: func(e homeFixture, r Repair) bool {
			return slices.Equal(r.Repaired, []string{e.current()}) && len(r.Gone) > 0
		}},
		{name: "a stranger's program runs", harm: func(e homeFixture, old, _ string) {
			e.install("1.0")
			_ = os.RemoveAll(old)
		}, runs: func(e homeFixture, _ string) string { return e.path("Downloads", "2.0") },
			want: func(e homeFixture, r Repair) bool {
				return len(r.Repaired) == 0 && slices.Contains(r.Broken, e.current())
			}},
		{name: "a changed program runs", harm: func(e homeFixture, old, present string) {
			e.install("1.0")
			_ = os.RemoveAll(old)
			e.rewrite(filepath.Join(present, "swapkeepd"), func(string) string { return "evil" })
		}, want: func(e homeFixture, r Repair) bool {
			return len(r.Repaired) == 0 && slices.Contains(r.Broken, e.current())
		}, keeps: true},
		{name: "a manifest was changed and leads nowhere", harm: func(e homeFixture, _, _ string) {
			e.rewrite(e.manifest(), func(s string) string { return strings.ReplaceAll(s, "current", "nowhere") })
		}, want: func(e homeFixture, r Repair) bool {
			return len(r.Repaired) == 0 && slices.Equal(r.Changed, []string{e.manifest()}) && strings.Contains(e.read(e.manifest()), "nowhere")
		}, keeps: true},
		{name: "a manifest was removed", harm: func(e homeFixture, _, _ string) { _ = os.Remove(e.manifest()) },
			want: func(e homeFixture, r Repair) bool {
				return slices.Equal(r.Gone, []string{e.manifest()}) && len(r.Repaired) == 0
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newHomeFixture(t)
			old, present := e.install("1.0"), e.install("2.0")
			c.harm(e, old, present)
			running := present
			if c.runs != nil {
				running = c.runs(e, present)
			}
			r, err := RepairLinks(e.Machine, "2.0", running)
			if err != nil || r.Entries == 0 || !c.want(e, r) {
				t.Errorf("RepairLinks = %+v, %v", r, err)
			}
			if c.starts != "" {
				if got := e.read(filepath.Join(e.current(), "swapkeep")); got != c.starts {
					t.Errorf("browsers start %q", got)
				}
			}
			again, err := RepairLinks(e.Machine, "2.0", running)
			if err != nil || len(again.Repaired) != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
			if !c.keeps {
				e.uninstall()
			}
		})
	}
}

// TestMendManifest: browsers have the path of a removed package, and a copy in the home
// is running.
func TestMendManifest(t *testing.T) {
	e := newHomeFixture(t)
	present := e.install("2.0")
	receipts, err := ReadReceipts(e.Machine, manifest.User)
	if err != nil {
		t.Fatal(err)
	}
	missing := "/nonexistent/swapkeep"
	text, err := manifest.Render(manifest.Chromium, "linux", missing, []string{strings.Repeat("a", 32)})
	if err != nil {
		t.Fatal(err)
	}
	want := e.read(e.manifest())
	e.rewrite(e.manifest(), func(string) string { return string(text) })
	entry, _ := receipts.find(Manifest, e.manifest(), "")
	entry.SHA256, entry.Owner = Sum(text), missing
	receipts.put(entry)
	if err := receipts.write(e.Machine, e.path(".local", "state", "swapkeep", "receipts.json")); err != nil {
		t.Fatal(err)
	}
	r, err := RepairLinks(e.Machine, "2.0", present)
	if err != nil || !slices.Equal(r.Repaired, []string{e.manifest()}) || e.read(e.manifest()) != want {
		t.Errorf("%+v, %v: %s", r, err, e.read(e.manifest()))
	}
	e.uninstall()
}

func TestSweep(t *testing.T) {
	e := newHomeFixture(t)
	oldest, old, present := e.install("1.0"), e.install("1.5"), e.install("2.0")
	busy := map[string]bool{old: true}
	running := func(dir string) (bool, error) { return busy[dir], nil }
	for _, want := range [][]string{{oldest}, nil} {
		if swept, err := Sweep(e.Machine, manifest.User, running); err != nil || !slices.Equal(swept, want) {
			t.Fatalf("swept %v, %v; want %v", swept, err, want)
		}
	}
	busy = nil
	e.rewrite(filepath.Join(old, "swapkeep"), func(string) string { return "mine" })
	if swept, err := Sweep(e.Machine, manifest.User, running); err != nil || swept != nil || e.read(filepath.Join(old, "swapkeep")) != "mine" {
		t.Errorf("what was changed: %v, %v", swept, err)
	}
	e.rewrite(filepath.Join(old, "swapkeep"), func(string) string { return "swapkeep 1.5" })
	if swept, err := Sweep(e.Machine, manifest.User, running); err != nil || !slices.Equal(swept, []string{old}) {
		t.Errorf("swept %v, %v", swept, err)
	}
	left, err := os.ReadDir(filepath.Dir(present))
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
	e.uninstall()
}

func TestDaemonBeside(t *testing.T) {
	e := newHomeFixture(t)
	old, present := e.install("1.0"), e.install("2.0")
	unpacked := e.path("Downloads", "1.0")
	for program, want := range map[string]string{
		old: e.current(), present: e.current(), e.current(): e.current(), unpacked: unpacked,
	} {
		if got := e.daemonBeside(filepath.Join(program, "swapkeep")); got != filepath.Join(want, "swapkeepd") {
			t.Errorf("%s starts %s", program, got)
		}
	}
	if err := errors.Join(os.Remove(e.current()), os.Symlink("/elsewhere", e.current())); err != nil {
		t.Fatal(err)
	}
	if got := e.daemonBeside(filepath.Join(old, "swapkeep")); got != filepath.Join(old, "swapkeepd") {
		t.Errorf("through a link elsewhere: %s", got)
	}
	if err := os.Symlink("2.0", e.path("Downloads", "current")); err != nil { // anybody could create such a link
		t.Fatal(err)
	}
	if got := e.daemonBeside(filepath.Join(unpacked, "swapkeep")); got != filepath.Join(unpacked, "swapkeepd") {
		t.Errorf("through somebody's link: %s", got)
	}
}

// An update that was stopped left the older manifest, which points to nothing. If the
// repair is killed too, the manifest still counts as ours.
func TestRepairAfterAStop(t *testing.T) {
	e := newHomeFixture(t)
	present := e.install("2.0")
	path := e.path(".local", "state", "swapkeep", "receipts.json")
	receipts, err := ReadReceipts(e.Machine, manifest.User)
	if err != nil {
		t.Fatal(err)
	}
	const missing = "/nonexistent/swapkeep"
	text, err := manifest.Render(manifest.Chromium, "linux", missing, []string{strings.Repeat("a", 32)})
	if err != nil {
		t.Fatal(err)
	}
	e.rewrite(e.manifest(), func(string) string { return string(text) })
	entry, _ := receipts.find(Manifest, e.manifest(), "")
	entry.SHA256, entry.Before, entry.Pending, entry.Owner = Sum([]byte("never written")), Sum(text), true, missing
	receipts.put(entry)
	if err := receipts.write(e.Machine, path); err != nil {
		t.Fatal(err)
	}
	m := e.Machine
	m.Files = full{Disk{}, e.manifest()}
	if r, err := RepairLinks(m, "2.0", present); !errors.Is(err, syscall.ENOSPC) || len(r.Repaired) != 0 {
		t.Fatalf("RepairLinks on a full disk = %+v, %v; want ENOSPC and nothing repaired", r, err)
	}
	if receipts, err = ReadReceipts(e.Machine, manifest.User); err != nil {
		t.Fatal(err)
	}
	entry, _ = receipts.find(Manifest, e.manifest(), "")
	if state, err := entry.State(e.Machine); err != nil || state != Same {
		t.Errorf("what is there counts as %s, %v", state, err)
	}
	e.uninstall()
}

// full is a disk without space for one file.
type full struct {
	Disk
	path string
}

func (f full) Write(path string, content []byte, mode fs.FileMode) error {
	if path == f.path {
		return syscall.ENOSPC
	}
	return f.Disk.Write(path, content, mode)
}
