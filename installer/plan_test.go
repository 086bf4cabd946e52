package installer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

const (
	packageFolder = `C:\Users\ann\AppData\Local\swapkeep`
	packageFile   = packageFolder + `\app.swapkeep.host.chromium.json`
)

// packagedOnWindows returns a machine with the files of a package for one user.
func packagedOnWindows(t *testing.T) *bench {
	t.Helper()
	b := newBench("windows", manifest.User)
	for _, name := range []string{"swapkeep.exe", "swapkeepd.exe"} {
		b.files.File(packageFolder+`\bin\`+name, name)
	}
	for _, f := range manifest.Families() {
		text, err := manifest.Render(f, "windows", `bin\swapkeep.exe`, released[f])
		if err != nil {
			t.Fatal(err)
		}
		b.files.File(packageFolder+`\`+manifest.WindowsFileName(f), string(text))
	}
	return b
}

// fromPackage returns options for browsers that the package serves.
func (b *bench) fromPackage() installer.Options {
	o := b.options(manifest.User)
	o.All, o.Browsers, o.Autostart, o.Programs = false, []string{"chrome", "firefox"}, true, packageFolder+`\bin`
	return o
}

// The files of a package stay its own, however often something else is installed.
func TestPackageOfWindowsTwice(t *testing.T) {
	b := packagedOnWindows(t)
	before, o := b.list(), b.fromPackage()
	p := b.apply(t, o)
	if len(p.Foreign) != 0 || slices.ContainsFunc(p.Changes, func(c installer.Change) bool { return !strings.HasPrefix(c.Path, `HKCU\`) }) {
		t.Errorf("foreign %v, changes %+v", p.Foreign, p.Changes)
	}
	if again := b.apply(t, o); len(again.Changes) != 0 {
		t.Errorf("a second time: %+v", again.Changes)
	}
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

// The package's manifests are updated when another extension is allowed, without asking,
// because they start this very program.
func TestPackageOfWindowsFollows(t *testing.T) {
	b := packagedOnWindows(t)
	o := b.fromPackage()
	o.IDs = []string{otherID}
	p := b.apply(t, o)
	if len(p.Foreign) != 0 {
		t.Errorf("foreign: %v", p.Foreign)
	}
	if text, err := b.files.ReadFile(packageFile); err != nil || !strings.Contains(string(text), otherID) {
		t.Errorf("%s is %q, %v; want it to allow %s", packageFile, text, err, otherID)
	}
	b.uninstall(t, manifest.User)
	if _, err := b.files.Stat(packageFolder + `\bin\swapkeep.exe`); err != nil {
		t.Error(err)
	}
}

func TestRelativeManifests(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{`{"path":"other\\swapkeep.exe"}`, `starts another copy, C:\Users\ann\AppData\Local\swapkeep\other\swapkeep.exe`},
		{`{"path":"BIN\\swapkeep.exe","comment":"mine"}`, "was changed"},
	} {
		b := packagedOnWindows(t)
		b.files.File(packageFile, c.text)
		if p := b.plan(t, b.fromPackage()); len(p.Foreign) != 1 || !strings.Contains(p.Foreign[0].String(), c.says) {
			t.Errorf("%s: foreign: %v", c.text, p.Foreign)
		}
	}
}

// Each refusal names a remedy that is not refused itself.
func TestLettingIn(t *testing.T) {
	none := func(o *installer.Options) { o.Allowed = nil }
	id := func(o *installer.Options) { o.IDs = []string{otherID} }
	nowhere := func(o *installer.Options) { id(o); o.ExtensionsFile = "" }
	for _, c := range []struct {
		scope      manifest.Scope
		set        func(*installer.Options)
		want       error
		says, lies string
	}{
		{manifest.User, none, installer.ErrNoIDs, "give its id with --extension-id", "--user"},
		{manifest.System, none, installer.ErrNoIDs, "swapkeep install --user --extension-id", "name it"},
		{manifest.System, id, installer.ErrCannotAllow, "swapkeep install --user --extension-id", "not the id"},
		{manifest.User, nowhere, installer.ErrCannotAllow, "absolute path", "not the id"},
	} {
		b := newBench("linux", c.scope)
		o := b.options(c.scope)
		c.set(&o)
		_, err := installer.NewPlan(b.Machine, o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), c.lies) {
			t.Errorf("%s: %v, want %q", c.scope, err, c.says)
		}
	}
}

// Paths that receipts and manifests cannot express are refused beforehand.
func TestInexpressiblePaths(t *testing.T) {
	for name, prep := range map[string]func(b *bench, o *installer.Options){
		"a home that is not UTF-8": func(b *bench, _ *installer.Options) { b.Home = "/home/b\xe4r"; b.files.Folder(b.Home) },
		"a home of two lines":      func(b *bench, _ *installer.Options) { b.Home = "/home/a\nb"; b.files.Folder(b.Home) },
		"a configuration that is not UTF-8": func(_ *bench, o *installer.Options) {
			o.IDs, o.ExtensionsFile = []string{otherID}, "/home/ann/.config/\xff/extensions.json"
		},
		"an odd place for state": func(b *bench, _ *installer.Options) {
			b.Env = func(name string) string { return map[string]string{"XDG_STATE_HOME": "/home/ann/\x01"}[name] }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench("linux", manifest.User)
			o := b.options(manifest.User)
			prep(b, &o)
			before := b.list()
			if _, err := installer.NewPlan(b.Machine, o); err == nil || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("error %v", err)
			}
			unlike(t, before, b.list())
		})
	}
}

// With receipts that name different paths, everything would look gone: an uninstall would
// forget what it has not removed.
func TestInexpressibleHome(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.Home = "/home/b\xe4r"
	b.files.File(b.Home+"/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"user","entries":[]}`)
	if _, err := installer.PlanRemoval(b.Machine, manifest.User); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("error %v", err)
	}
}

// Windows directories that are redirected to a share are accepted.
func TestRedirectedFolders(t *testing.T) {
	b := newBench("windows", manifest.User)
	env := b.Env
	b.Env = func(name string) string {
		if name == "APPDATA" {
			return `\\files\home\ann`
		}
		return env(name)
	}
	b.files.Folder(`\\files\home\ann`)
	before, o := b.list(), b.fewer(manifest.User)
	o.ExtensionsFile = `\\files\home\ann\swapkeep\extensions.json`
	b.apply(t, o)
	if again := b.apply(t, o); len(again.Changes) != 0 {
		t.Errorf("a second time: %+v", again.Changes)
	}
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}
