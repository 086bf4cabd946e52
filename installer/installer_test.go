package installer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/installer"
	"swapkeep/installer/installertest"
	"swapkeep/manifest"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	chromiumID = "abcdefghijklmnopabcdefghijklmnop"
	otherID    = "ponmlkjihgfedcbaponmlkjihgfedcba"
	firefoxID  = "test@swapkeep.invalid"
)

var released = map[manifest.Family][]string{manifest.Chromium: {chromiumID}, manifest.Firefox: {firefoxID}}

// A ground is an operating system with what every machine of it has.
type ground struct {
	home, unpacked, extensions string
	env                        map[string]string
	folders, keys              []string
}

var grounds = map[string]ground{
	"linux": {
		home: "/home/ann", unpacked: "/home/ann/Downloads/swapkeep", extensions: "/home/ann/.config/swapkeep/extensions.json",
		env:     map[string]string{"PATH": "/usr/bin"},
		folders: []string{"/home/ann/.local/bin", "/home/ann/.config", "/etc", "/usr/local/bin", "/usr/local/lib", "/usr/lib", "/var/lib", "/usr/bin"},
	},
	"darwin": {
		home: "/Users/ann", unpacked: "/Users/ann/Downloads/swapkeep", extensions: "/Users/ann/Library/Application Support/swapkeep/extensions.json",
		folders: []string{"/Users/ann/Library/Application Support", "/Users/ann/Library/LaunchAgents", "/Library/Application Support", "/usr/local/bin"},
	},
	"windows": {
		home: `C:\Users\ann`, unpacked: `C:\Users\ann\Downloads\swapkeep`, extensions: `C:\Users\ann\AppData\Roaming\swapkeep\extensions.json`,
		env: map[string]string{
			"LOCALAPPDATA": `C:\Users\ann\AppData\Local`, "APPDATA": `C:\Users\ann\AppData\Roaming`, "ProgramFiles": `C:\Program Files`,
		},
		folders: []string{`C:\Users\ann\AppData\Local`, `C:\Users\ann\AppData\Roaming`, `C:\Program Files`},
		keys:    []string{`HKCU\Software`, `HKCU\SOFTWARE`, `HKLM\Software`, `HKLM\SOFTWARE`, `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`},
	},
}

// A bench is a machine in memory.
type bench struct {
	installer.Machine
	files    *installertest.Files
	registry *installertest.Registry
	ground   ground
}

func newBench(system string, scope manifest.Scope) *bench {
	g := grounds[system]
	b := &bench{files: installertest.NewFiles(g.folders...), ground: g}
	b.Machine = installer.Machine{
		OS: system, Home: g.home, Env: func(name string) string { return g.env[name] }, Root: scope == manifest.System, Files: b.files,
	}
	ending := ""
	if system == "windows" {
		b.registry = installertest.NewRegistry(g.keys...)
		b.Registry, ending = b.registry, ".exe"
	}
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		b.files.File(b.unpacked(name+ending), name+" of 1.2.3")
	}
	return b
}

func (b *bench) unpacked(name string) string {
	if b.OS == "windows" {
		return b.ground.unpacked + `\` + name
	}
	return b.ground.unpacked + "/" + name
}

// options are those of swapkeep install --all.
func (b *bench) options(scope manifest.Scope) installer.Options {
	o := installer.Options{
		Scope: scope, All: true, Allowed: released, Version: "1.2.3", Programs: b.ground.unpacked, Time: time.Unix(1_700_000_000, 0),
	}
	if scope == manifest.User {
		o.ExtensionsFile, o.Home = b.ground.extensions, b.ground.home+"/state"
	}
	return o
}

// fewer are options for only a few browsers, of both families.
func (b *bench) fewer(scope manifest.Scope) installer.Options {
	o := b.options(scope)
	o.All, o.Browsers = false, []string{"chrome", "edge", "firefox"}
	if scope == manifest.User {
		o.IDs, o.Autostart = []string{otherID}, true
	}
	return o
}

func (b *bench) plan(t *testing.T, o installer.Options) *installer.Plan {
	t.Helper()
	p, err := installer.NewPlan(b.Machine, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) apply(t *testing.T, o installer.Options) *installer.Plan {
	t.Helper()
	p := b.plan(t, o)
	if _, err := installer.Apply(t.Context(), b.Machine, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) uninstall(t *testing.T, scope manifest.Scope) *installer.Removal {
	t.Helper()
	r, err := installer.PlanRemoval(b.Machine, scope)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := installer.Remove(t.Context(), b.Machine, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// list returns everything on the machine.
func (b *bench) list() []string {
	out := b.files.List()
	if b.registry != nil {
		out = append(out, b.registry.List()...)
	}
	return out
}

// unlike fails with the differences between two listings.
func unlike(t *testing.T, before, after []string) {
	t.Helper()
	for _, line := range after {
		if !slices.Contains(before, line) {
			t.Errorf("left behind: %.200s", line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("lost: %.200s", line)
		}
	}
}

// everywhere runs a test for each system and scope.
func everywhere(t *testing.T, do func(t *testing.T, system string, scope manifest.Scope)) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
			t.Run(system+"-"+string(scope), func(t *testing.T) { do(t, system, scope) })
		}
	}
}

// The dry runs for every browser on every system.
func TestPlans(t *testing.T) {
	everywhere(t, func(t *testing.T, system string, scope manifest.Scope) {
		b := newBench(system, scope)
		o := b.options(scope)
		if scope == manifest.User {
			o.IDs, o.Autostart = []string{otherID}, true
		}
		before := b.list()
		got := described(b.plan(t, o))
		unlike(t, before, b.list())
		golden := filepath.Join("testdata", fmt.Sprintf("plan-%s-%s.golden", system, scope))
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("the plan is not that of %s: run go test ./installer -update and read the difference\n%s", golden, got)
		}
	})
}

// described formats a plan, with the written content last.
func described(p *installer.Plan) string {
	var out strings.Builder
	written := map[string]bool{}
	var contents []string
	for _, c := range p.Changes {
		line := fmt.Sprintf("%-10s %s", c.Kind, strings.TrimSpace(c.Path+" "+c.Name))
		if c.To != "" {
			line += " -> " + c.To
		}
		if len(c.Browsers) > 0 {
			line += " for " + strings.Join(c.Browsers, ", ")
		}
		fmt.Fprintln(&out, line)
		if c.Content != "" && !written[c.Content] {
			written[c.Content] = true
			contents = append(contents, fmt.Sprintf("\n--- %s\n%s", c.Path, c.Content))
		}
	}
	for _, s := range p.Skipped {
		fmt.Fprintln(&out, "skipped   ", s)
	}
	return out.String() + strings.Join(contents, "")
}

// What was installed exists with the right modes, a second installation changes nothing,
// and after an uninstall the machine is as before.
func TestThereAndBack(t *testing.T) {
	everywhere(t, func(t *testing.T, system string, scope manifest.Scope) {
		b := newBench(system, scope)
		before, o := b.list(), b.options(scope)
		if scope == manifest.User {
			o.IDs, o.Autostart = []string{otherID}, true
		}
		p := b.apply(t, o)
		for _, c := range p.Changes {
			want := map[installer.Kind]fs.FileMode{
				installer.Directory: 0o755, installer.Program: 0o755, installer.Manifest: 0o644, installer.Extensions: 0o644, installer.Autostart: 0o644,
			}[c.Kind]
			info, err := b.files.Lstat(c.Path)
			private := c.Kind == installer.Directory && scope == manifest.User && c.Path == stateOf(b)
			if want != 0 && (err != nil || info.Mode().Perm() != want && !private) {
				t.Errorf("%s: %v, %v", c.Path, info, err)
			}
		}
		after := b.list()
		again := b.apply(t, o)
		if len(again.Changes) != 0 || len(again.InPlace) == 0 {
			t.Errorf("a second time: %+v", again.Changes)
		}
		unlike(t, after, b.list())
		b.uninstall(t, scope)
		unlike(t, before, b.list())
		if r := b.uninstall(t, scope); !r.Empty() {
			t.Errorf("a second uninstall: %+v", r)
		}
		unlike(t, before, b.list())
	})
}

var errCrash = errors.New("crash")

// An installation that was killed between any two changes, or during one, is completely
// uninstalled, and so is one whose uninstall was killed.
func TestCrashAnywhere(t *testing.T) {
	everywhere(t, func(t *testing.T, system string, scope manifest.Scope) {
		passages, killed := 0, 0
		for at := 0; at == 0 || killed > 0; at++ {
			b := newBench(system, scope)
			before, o := b.list(), b.fewer(scope)
			killed = 0
			b.killAt(at, &killed)
			p := b.plan(t, o)
			_, installErr := installer.Apply(t.Context(), b.Machine, p)
			if killed == 0 && installErr != nil {
				t.Fatal(installErr)
			}
			if killed == 0 { // the installation completed: kill the uninstall instead
				r, err := installer.PlanRemoval(b.Machine, scope)
				if err != nil {
					t.Fatal(err)
				}
				b.killAt(at-passages, &killed)
				_, err = installer.Remove(t.Context(), b.Machine, r)
				if killed == 0 && err != nil {
					t.Fatal(err)
				}
			} else {
				passages = at + 1
			}
			b.killAt(-1, nil)
			b.uninstall(t, scope)
			unlike(t, before, b.list())
			if t.Failed() {
				t.Fatalf("killed at change %d", at)
			}
		}
		if passages < 10 {
			t.Errorf("there were only %d changes", passages)
		}
	})
}

// killAt makes every change from the nth on fail, as if the process had died.
func (b *bench) killAt(n int, killed *int) {
	count := 0
	fail := func(string, string) error {
		count++
		if n < 0 || count <= n {
			return nil
		}
		*killed++
		return errCrash
	}
	b.files.Fail = fail
	if b.registry != nil {
		b.registry.Fail = fail
	}
}

// An installation that was stopped anywhere is continued by the next one.
func TestGoOn(t *testing.T) {
	everywhere(t, func(t *testing.T, system string, scope manifest.Scope) {
		for at, killed := 0, 1; killed > 0; at++ {
			b := newBench(system, scope)
			before, o := b.list(), b.fewer(scope)
			killed = 0
			b.killAt(at, &killed)
			_, err := installer.Apply(t.Context(), b.Machine, b.plan(t, o))
			var stopped *installer.Stopped
			if killed > 0 && !errors.Is(err, errCrash) || errors.As(err, &stopped) && stopped.Failed.Path == "" {
				t.Fatalf("error %v", err)
			}
			b.killAt(-1, nil)
			b.apply(t, o)
			if p := b.plan(t, o); len(p.Changes) != 0 {
				t.Fatalf("killed at change %d, still to do: %+v", at, p.Changes)
			}
			receipts, err := installer.ReadReceipts(b.Machine, scope)
			if err != nil || slices.ContainsFunc(receipts.Entries, func(r installer.Receipt) bool { return r.Pending }) {
				t.Fatalf("killed at change %d: %+v, %v", at, receipts, err)
			}
			b.uninstall(t, scope)
			if unlike(t, before, b.list()); t.Failed() {
				t.Fatalf("killed at change %d", at)
			}
		}
	})
}

// An update that was killed anywhere is completely uninstalled together with the version
// before, and none of it counts as foreign.
func TestCrashInAnUpdate(t *testing.T) {
	for at, killed := 0, 1; killed > 0; at++ {
		b := newBench("linux", manifest.User)
		before, o := b.list(), b.fewer(manifest.User)
		o.IDs = nil
		b.apply(t, o)
		o.Version, o.IDs = "1.3.0", []string{otherID}
		killed = 0
		b.killAt(at, &killed)
		if _, err := installer.Apply(t.Context(), b.Machine, b.plan(t, o)); killed > 0 != (err != nil) {
			t.Fatal(err)
		}
		b.killAt(-1, nil)
		o.Version = "1.4.0"
		if p := b.plan(t, o); len(p.Foreign) != 0 {
			t.Errorf("foreign: %v", p.Foreign)
		}
		if r := b.uninstall(t, manifest.User); len(r.Kept) != 0 {
			t.Errorf("kept: %+v", r.Kept)
		}
		if unlike(t, before, b.list()); t.Failed() {
			t.Fatalf("killed at change %d", at)
		}
	}
}

func TestCancelled(t *testing.T) {
	b := newBench("linux", manifest.User)
	before := b.list()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := installer.Apply(ctx, b.Machine, b.plan(t, b.options(manifest.User))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

// Another version replaces the first one, and both are uninstalled.
func TestAnotherVersion(t *testing.T) {
	b := newBench("linux", manifest.User)
	before, o := b.list(), b.options(manifest.User)
	b.apply(t, o)
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		b.files.File(b.unpacked(name), name+" of 1.3.0")
	}
	o.Version = "1.3.0"
	for _, c := range b.apply(t, o).Changes {
		if c.Kind == installer.Manifest {
			t.Errorf("a manifest was written again: %s", c.Path)
		}
	}
	if to, err := b.files.Readlink("/home/ann/.local/lib/swapkeep/current"); to != "1.3.0" || err != nil {
		t.Errorf("current is %q, %v", to, err)
	}
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		b.files.File(b.unpacked(name), name+" of 1.2.3")
	}
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

func TestRefused(t *testing.T) {
	user, system := manifest.User, manifest.System
	for _, c := range []struct {
		name  string
		scope manifest.Scope
		prep  func(b *bench, o *installer.Options)
		want  error
		says  string
	}{
		{"sudo for a user", user, func(b *bench, _ *installer.Options) { b.Root, b.Sudo = true, true }, installer.ErrSudoUser, "without sudo"},
		{"root in another's home", user, func(b *bench, _ *installer.Options) { b.Root = true; b.files.Chown(b.Home, 1000) }, installer.ErrSudoUser, "user 1000"},
		{"the system without rights", system, func(b *bench, _ *installer.Options) { b.Root = false }, installer.ErrNeedsRoot, "sudo"},
		{"no home", user, func(b *bench, _ *installer.Options) { b.Home = "" }, nil, "set HOME"},
		{"no id", user, func(_ *bench, o *installer.Options) { o.Allowed = nil }, installer.ErrNoIDs, "--extension-id"},
		{"bad id", user, func(_ *bench, o *installer.Options) { o.IDs = []string{"*"} }, installer.ErrBadID, "32 letters"},
		{"autostart for all users", system, func(_ *bench, o *installer.Options) { o.Autostart = true }, installer.ErrNoAutostart, "each user"},
		{"unknown browser", user, func(_ *bench, o *installer.Options) { o.All, o.Browsers = false, []string{"netscape"} }, manifest.ErrUnknownBrowser, "chromium"},
		{"unknown browser and no id", user, func(_ *bench, o *installer.Options) {
			o.All, o.Browsers, o.Allowed = false, []string{"netscape"}, nil
		}, manifest.ErrUnknownBrowser, "netscape"},
		{"no daemon", user, func(b *bench, _ *installer.Options) { _ = b.files.Remove(b.unpacked("swapkeepd")) }, installer.ErrPrograms, "swapkeepd"},
		{"odd version", user, func(_ *bench, o *installer.Options) { o.Version = "../1" }, nil, "name of a folder"},
		{"a file for a folder", user, func(b *bench, o *installer.Options) {
			o.All, o.Browsers = false, []string{"firefox"}
			b.files.File("/home/ann/.mozilla", "")
		}, nil, "is not a folder"},
		{"another's link on root's way", system, func(b *bench, _ *installer.Options) {
			b.files.Folder("/home/eve")
			b.files.Link("/etc/opt", "/home/eve")
			b.files.Chown("/etc/opt", 1001)
		}, installer.ErrLink, "/etc/opt"},
		{"receipts of another", system, func(b *bench, _ *installer.Options) {
			b.files.File("/var/lib/swapkeep/receipts.json", "{}")
			b.files.Chown("/var/lib/swapkeep/receipts.json", 1001)
		}, installer.ErrReceipts, "user 1001"},
		{"malformed receipts", user, func(b *bench, _ *installer.Options) {
			b.files.File("/home/ann/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"user","entries":[],"more":1}`)
		}, installer.ErrReceipts, "unknown field"},
		{"receipts that others can write", user, func(b *bench, _ *installer.Options) {
			const path = "/home/ann/.local/state/swapkeep/receipts.json"
			b.files.File(path, `{"format":1,"scope":"user","entries":[]}`)
			b.files.Chmod(path, 0o666)
		}, installer.ErrReceipts, "others can write"},
		{"receipts of another scope", user, func(b *bench, _ *installer.Options) {
			b.files.File("/home/ann/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"system","entries":[]}`)
		}, installer.ErrReceipts, "scope"},
		{"receipts with an odd path", user, func(b *bench, _ *installer.Options) {
			b.files.File("/home/ann/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"user","entries":[{"kind":"manifest","path":"x"}]}`)
		}, installer.ErrReceipts, `"x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench("linux", c.scope)
			o := b.options(c.scope)
			c.prep(b, &o)
			before := b.list()
			_, err := installer.NewPlan(b.Machine, o)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %v with %q", err, c.want, c.says)
			}
			unlike(t, before, b.list())
		})
	}
}

const chromeManifest = "/home/ann/.config/google-chrome/NativeMessagingHosts/app.swapkeep.host.json"

// A manifest of another copy is replaced only with --force, and something that was
// changed stays after an uninstall.
func TestForeign(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"another copy", `{"path":"/opt/other/swapkeep"}`, "starts another copy, /opt/other/swapkeep"},
		{"a changed manifest", `{"path":"/home/ann/.local/lib/swapkeep/current/swapkeep"}`, "was changed"},
		{"no manifest", "hello", "is none of this installation's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench("linux", manifest.User)
			b.files.File(chromeManifest, c.text)
			before := b.list()
			p := b.plan(t, b.options(manifest.User))
			if len(p.Foreign) != 1 || !strings.Contains(p.Foreign[0].String(), c.says) {
				t.Fatalf("foreign: %v", p.Foreign)
			}
			if _, err := installer.Apply(t.Context(), b.Machine, p); !errors.Is(err, installer.ErrForeign) || !strings.Contains(err.Error(), chromeManifest) {
				t.Errorf("error %v", err)
			}
			unlike(t, before, b.list())
			p.Force = true
			if _, err := installer.Apply(t.Context(), b.Machine, p); err != nil {
				t.Fatal(err)
			}
			if text, err := b.files.ReadFile(chromeManifest); err != nil || !strings.Contains(string(text), chromiumID) {
				t.Errorf("%s is %q, %v; want it to allow %s", chromeManifest, text, err, chromiumID)
			}
		})
	}
}

// After a crash before something foreign was replaced, the uninstall leaves it alone.
func TestForeignSurvivesACrash(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.files.File(chromeManifest, `{"path":"/opt/other/swapkeep"}`)
	before := b.list()
	p := b.plan(t, b.options(manifest.User))
	p.Force = true
	b.files.Fail = func(op, path string) error {
		if strings.HasPrefix(path, chromeManifest) {
			return errCrash
		}
		return nil
	}
	if _, err := installer.Apply(t.Context(), b.Machine, p); !errors.Is(err, errCrash) {
		t.Fatalf("error %v", err)
	}
	b.files.Fail = nil
	if r := b.uninstall(t, manifest.User); len(r.Kept) != 1 || r.Kept[0].Path != chromeManifest {
		t.Errorf("kept: %+v", r.Kept)
	}
	unlike(t, before, b.list())
}

func TestChangedStays(t *testing.T) {
	b := newBench("linux", manifest.User)
	before := b.list()
	b.apply(t, b.options(manifest.User))
	b.files.File(chromeManifest, "mine now")
	other := "/home/ann/.config/vivaldi/NativeMessagingHosts/somebody.json"
	b.files.File(other, "{}")
	r := b.uninstall(t, manifest.User)
	if len(r.Kept) != 1 || r.Kept[0].Path != chromeManifest {
		t.Errorf("kept: %+v", r.Kept)
	}
	for _, path := range []string{chromeManifest, other} {
		before = append(before, filesAround(b, path)...)
	}
	unlike(t, before, b.list())
}

// What other copies installed for the same users is reported, and stays.
func TestOthersStay(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.apply(t, b.fewer(manifest.User))
	b.files.File("/home/ann/.config/vivaldi/NativeMessagingHosts/app.swapkeep.host.json", "{}")
	b.files.File("/etc/chromium/native-messaging-hosts/app.swapkeep.host.json", "{}")
	r := b.uninstall(t, manifest.User)
	if len(r.Kept) != 1 || !strings.Contains(r.Kept[0].Path, "vivaldi") {
		t.Errorf("kept: %+v", r.Kept)
	}
	if _, err := b.files.Stat(r.Kept[0].Path); err != nil {
		t.Error(err)
	}
}

// A program that changed after the plan was made is not copied.
func TestProgramThatChanges(t *testing.T) {
	b := newBench("linux", manifest.User)
	before := b.list()
	p := b.plan(t, b.fewer(manifest.User))
	b.files.File(b.unpacked("swapkeepd"), "another")
	if _, err := installer.Apply(t.Context(), b.Machine, p); err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
		t.Errorf("error %v", err)
	}
	b.files.File(b.unpacked("swapkeepd"), "swapkeepd of 1.2.3")
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

// filesAround returns the lines of a listing for a file and its new directories.
func filesAround(b *bench, path string) (out []string) {
	for _, line := range b.list() {
		if name, _, _ := strings.Cut(line, " "); name == path || strings.HasPrefix(path, name+"/") && strings.Count(name, "/") > 3 {
			out = append(out, line)
		}
	}
	return out
}

// Nothing is copied from a package's directory into a home.
func TestManaged(t *testing.T) {
	b := newBench("linux", manifest.User)
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		b.files.File("/usr/lib/swapkeep/"+name, name)
	}
	o := b.options(manifest.User)
	o.Programs = "/usr/lib/swapkeep"
	p := b.plan(t, o)
	if p.Launch != "/usr/lib/swapkeep/swapkeep" || slices.ContainsFunc(p.Changes, func(c installer.Change) bool { return c.Kind == installer.Program || c.Kind == installer.Link }) {
		t.Errorf("launch %s, %+v", p.Launch, p.Changes)
	}
	// Manifests of the package itself belong to it: no receipt, no removal.
	s := newBench("linux", manifest.System)
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		s.files.File("/usr/lib/swapkeep/"+name, name)
	}
	content, err := manifest.Render(manifest.Chromium, "linux", "/usr/lib/swapkeep/swapkeep", released[manifest.Chromium])
	if err != nil {
		t.Fatal(err)
	}
	s.files.File("/etc/chromium/native-messaging-hosts/app.swapkeep.host.json", string(content))
	before := s.list()
	so := s.options(manifest.System)
	so.Programs = "/usr/lib/swapkeep"
	if p := s.apply(t, so); !slices.Contains(p.InPlace, "/etc/chromium/native-messaging-hosts/app.swapkeep.host.json") {
		t.Errorf("in place: %v", p.InPlace)
	}
	s.uninstall(t, manifest.System)
	unlike(t, before, s.list())
}

// A Windows package installs to the same place: what it put there is its own.
func TestPackageOfWindows(t *testing.T) {
	b := newBench("windows", manifest.User)
	const bin = `C:\Users\ann\AppData\Local\Swapkeep\bin` // with capitals
	for _, name := range []string{"swapkeep.exe", "swapkeepd.exe"} {
		b.files.File(strings.Replace(bin, "Swapkeep", "swapkeep", 1)+`\`+name, name)
		b.files.File(bin+`\`+name, name) // names are not case-sensitive there
	}
	const key = `HKCU\Software\Mozilla\NativeMessagingHosts\app.swapkeep.host`
	b.registry.Put(key, "", `C:\Users\ann\AppData\Local\swapkeep\app.swapkeep.host.firefox.json`)
	before, o := b.list(), b.fewer(manifest.User)
	o.Programs = bin
	p := b.apply(t, o)
	if !slices.Contains(p.InPlace, key) || slices.ContainsFunc(p.Changes, func(c installer.Change) bool { return c.Kind == installer.Program }) {
		t.Errorf("in place %v, changes %+v", p.InPlace, p.Changes)
	}
	b.uninstall(t, manifest.User)
	unlike(t, before, b.list())
}

// By default the browsers that have a footprint are chosen.
func TestDetected(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.files.Folder("/home/ann/.config/vivaldi")
	b.files.File("/usr/bin/firefox", "")
	o := b.options(manifest.User)
	o.All = false
	var written []string
	p := b.plan(t, o)
	for _, c := range p.Changes {
		if c.Kind == installer.Manifest {
			written = append(written, c.Browsers...)
		}
	}
	if slices.Sort(written); !slices.Contains(written, "vivaldi") || !slices.Contains(written, "firefox") || slices.Contains(written, "chrome") {
		t.Errorf("for %v", written)
	}
	if !slices.ContainsFunc(p.Skipped, func(s installer.Skip) bool { return s.Browser == "chrome" && s.Absent }) {
		t.Errorf("skipped: %v", p.Skipped)
	}
	// A browser without an allowed extension of its family is skipped, with a remedy.
	o.Allowed = map[manifest.Family][]string{manifest.Chromium: {chromiumID}}
	p = b.plan(t, o)
	if !slices.ContainsFunc(p.Skipped, func(s installer.Skip) bool {
		return s.Browser == "firefox" && strings.Contains(s.Remedy, "--extension-id")
	}) {
		t.Errorf("skipped: %v", p.Skipped)
	}
}

// A sandboxed browser gets its manifest, and the user is told what opens the sandbox.
func TestSandboxed(t *testing.T) {
	b := newBench("linux", manifest.User)
	for _, dir := range []string{"/home/ann/.var/app/org.mozilla.firefox", "/home/ann/snap/chromium/common/chromium"} {
		b.files.Folder(dir)
	}
	o := b.options(manifest.User)
	o.All = false
	p := b.plan(t, o)
	got := map[manifest.Box]installer.Sandboxed{}
	for _, s := range p.Sandboxed {
		got[s.Box] = s
	}
	if s := got[manifest.Flatpak]; !s.Written || len(s.Commands) == 0 || !strings.Contains(s.Commands[0], "--filesystem=/home/ann/.local/lib/swapkeep:ro") {
		t.Errorf("flatpak: %+v", s)
	}
	if s := got[manifest.Snap]; s.Written || len(s.Needs) == 0 {
		t.Errorf("snap: %+v", s)
	}
	if !slices.ContainsFunc(p.Changes, func(c installer.Change) bool {
		return c.Path == "/home/ann/.var/app/org.mozilla.firefox/.mozilla/native-messaging-hosts/app.swapkeep.host.json"
	}) {
		t.Errorf("no manifest in the box: %+v", p.Changes)
	}
}
