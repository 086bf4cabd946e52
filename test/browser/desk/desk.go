//go:build browser

// Package desk is one user on one machine, for tests of the extension: a temporary home,
// the real programs and a real keychain, a browser that finds the host, and the sandbox as
// the outside world. Tests run it as
//
//	scripts/with-keyring.sh go test -tags browser ./test/browser/... [-args -bin=DIR]
//
// where DIR has the programs under test; without it they are built.
package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/host/transport"
	"swapkeep/manifest"
	"swapkeep/test/await"
	"swapkeep/test/browser/ui"
	"swapkeep/test/keychain"
	"swapkeep/test/processes"
)

const (
	patience = time.Minute // for anything to happen, even on a busy machine
	soon     = 10 * time.Second
)

// Options says how a desk differs from the default.
type Options struct {
	// Chains are started for this desk alone, instead of the shared world.
	Chains []uint64
	// Extension names the directories of another extension than ours.
	Extension map[ui.Kind]string
	// OtherExtension is the directory of another extension in the browser. Chromium only.
	OtherExtension string
	// NoExtensionAllowed leaves the extensions out of the configuration, so that none is allowed yet.
	NoExtensionAllowed bool
	// Keychain gives the desk a keychain of its own, for Desk.Keychain.
	Keychain bool
	// Faults builds the programs with fault points and a clock that SetClock sets.
	Faults bool
	// Daemon is the package of a program that replaces swapkeepd, such as
	// ./test/fakedaemon, from the module's root.
	Daemon string
	// Env is added to the environment of all programs and of the browsers.
	Env []string
	// Config is appended to the daemon's configuration, in TOML.
	Config string
	// Look is the look of new pages.
	Look ui.Look
	// Language is the language of the browsers; "" is en.
	Language string
}

// A Desk is one user on one machine. Its methods fail the test.
type Desk struct {
	*World
	t       *testing.T
	options Options

	dir, bin  string
	extension map[ui.Kind]string
	instance  transport.Instance
	env       []string
	keychain  *keychain.Service // nil: the one of all desks
	logged    bool              // its log was printed
}

// New creates a home in which nothing runs. The sandbox belongs to this desk until the test
// ends. A process that the test leaves running fails it.
func New(t *testing.T, o Options) *Desk {
	t.Helper()
	if os.Getenv("SWAPKEEP_TEST_KEYRING") == "" {
		t.Fatal("there is no keychain for tests: run them by scripts/with-keyring.sh go test …")
	}
	d := &Desk{World: takeWorld(t, o.Chains), t: t, options: o, extension: o.Extension}
	var err error
	if d.dir, err = os.MkdirTemp(root, "d"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.cleanUp)
	d.instance = transport.Instance{Home: filepath.Join(d.dir, "state")}
	d.install()
	if d.extension == nil {
		d.extension = d.builtExtension(t)
	}
	if err := d.WriteKeys(d.dir); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(d.dir, "config.toml")
	if err := os.WriteFile(config, d.config(), 0o600); err != nil {
		t.Fatal(err)
	}
	bus := os.Getenv(keychain.BusVariable)
	if o.Keychain {
		bus = d.ownKeychain()
	}
	d.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "XDG_RUNTIME_DIR=" + d.makeDir("run"), "TMPDIR=" + d.makeDir("tmp"),
		keychain.BusVariable + "=" + bus,
		"SWAPKEEP_HOME=" + d.instance.Home, "SWAPKEEP_CONFIG=" + config,
	}, o.Env...)
	if o.Faults { // other programs refuse the variable
		d.env = append(d.env, "SWAPKEEP_CLOCK_SHIFT=@"+d.clockFile())
	}
	return d
}

// config returns the sandbox's configuration with these extensions.
func (d *Desk) config() []byte {
	d.t.Helper()
	chromium, err := ui.ChromiumID(d.extension[ui.Chromium])
	if err != nil {
		d.t.Fatal(err)
	}
	firefox, err := ui.FirefoxID(d.extension[ui.Firefox])
	if err != nil {
		d.t.Fatal(err)
	}
	if d.options.NoExtensionAllowed {
		return fmt.Appendf(d.Config(), "\n%s", d.options.Config)
	}
	return fmt.Appendf(d.Config(), "\n[extensions]\nchromium = [%q]\nfirefox = [%q]\n\n%s", chromium, firefox, d.options.Config)
}

// makeDir creates a private directory in the desk.
func (d *Desk) makeDir(path string) string {
	d.t.Helper()
	full := filepath.Join(d.dir, path)
	if err := os.MkdirAll(full, 0o700); err != nil {
		d.t.Fatal(err)
	}
	return full
}

// manifests is where each browser looks for the host's manifest, below the desk.
var manifests = map[ui.Kind]string{ui.Chromium: "chromium/NativeMessagingHosts", ui.Firefox: ".mozilla/native-messaging-hosts"}

// Manifests returns the directory in which a browser looks for hosts' manifests.
func (d *Desk) Manifests(kind ui.Kind) string {
	d.t.Helper()
	return d.makeDir(manifests[kind])
}

// InstallHost lets a browser find the host.
func (d *Desk) InstallHost(kind ui.Kind) {
	d.t.Helper()
	d.Swapkeep("manifest", string(kind), "--dir", d.Manifests(kind))
}

// RemoveHost removes the host's manifest from a browser.
func (d *Desk) RemoveHost(kind ui.Kind) {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.Manifests(kind), manifest.FileName)); err != nil {
		d.t.Fatal(err)
	}
}

// InstallProgram lets a browser find another program as the native host of a name, by its
// package from the module's root. It returns the program's path, in the directory of the
// real ones.
func (d *Desk) InstallProgram(kind ui.Kind, name, pkg string) string {
	d.t.Helper()
	built, err := build(pkg, "")
	if err != nil {
		d.t.Fatal(err)
	}
	path := filepath.Join(d.bin, filepath.Base(pkg))
	if err := linkOrCopy(built, path); err != nil {
		d.t.Fatal(err)
	}
	id, idOf := "", map[ui.Kind]func(string) (string, error){ui.Chromium: ui.ChromiumID, ui.Firefox: ui.FirefoxID}
	if id, err = idOf[kind](d.extension[kind]); err != nil {
		d.t.Fatal(err)
	}
	text, err := manifest.Render(manifest.Family(kind), runtime.GOOS, path, []string{id})
	if err != nil {
		d.t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(manifest.HostName), []byte(name))
	if err := os.WriteFile(filepath.Join(d.Manifests(kind), name+".json"), text, 0o600); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// ModifyExtension gives this desk's next browser of the kind a copy of the extension that change has
// modified. It returns the copy's directory.
func (d *Desk) ModifyExtension(kind ui.Kind, change func(folder string) error) string {
	d.t.Helper()
	folder := d.makeDir("extension-" + string(kind))
	if err := errors.Join(os.CopyFS(folder, os.DirFS(d.extension[kind])), change(folder)); err != nil {
		d.t.Fatal(err)
	}
	d.extension[kind] = folder
	return folder
}

// Browser installs the host and starts a browser. The next one of the kind has its profile.
func (d *Desk) Browser(kind ui.Kind) *ui.Browser {
	d.t.Helper()
	d.InstallHost(kind)
	return d.BrowserAlone(kind)
}

// BrowserAlone starts a browser without installing the host.
func (d *Desk) BrowserAlone(kind ui.Kind) *ui.Browser {
	d.t.Helper()
	shots := os.Getenv("SWAPKEEP_SHOTS")
	if shots == "" {
		shots = d.t.ArtifactDir()
	}
	return ui.Start(d.t, ui.Setup{
		Kind: kind, Profile: d.makeDir(string(kind)), Extension: d.extension[kind], OtherExtension: d.options.OtherExtension, Env: d.env,
		Look: d.options.Look, Language: d.options.Language, ScreenshotDir: shots, Log: d.Log,
	})
}

// command returns a swapkeep command for this desk.
func (d *Desk) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(d.bin, "swapkeep"), args...)
	cmd.Env = d.env
	return cmd
}

// Swapkeep runs a command, which has to succeed, and returns its output.
func (d *Desk) Swapkeep(args ...string) []byte {
	d.t.Helper()
	return d.SwapkeepWith("", args...)
}

// SwapkeepWith is Swapkeep with an input.
func (d *Desk) SwapkeepWith(input string, args ...string) []byte {
	d.t.Helper()
	cmd := d.command(args...)
	var words strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &words
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("swapkeep %q: %v\n%s%s\n%s", args, err, out, &words, d.Log())
	}
	return out
}

// ask runs a command with --json and decodes its output.
func ask[T any](d *Desk, input string, args ...string) (v T) {
	d.t.Helper()
	out := d.SwapkeepWith(input, append([]string{"--json"}, args...)...)
	if err := json.Unmarshal(out, &v); err != nil {
		d.t.Fatalf("swapkeep %q: %v\n%s", args, err, out)
	}
	return v
}

// Shell runs lines as the user would in a terminal, in the home directory and with the
// programs on PATH. They have to succeed; it returns their output.
func (d *Desk) Shell(lines string) string {
	d.t.Helper()
	cmd := exec.Command("sh", "-euc", lines)
	cmd.Dir, cmd.Env = d.dir, append(slices.Clone(d.env), "PATH="+d.bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", lines, err, out)
	}
	return string(out)
}

// Log returns the end of the daemon's log, for a failed test.
func (d *Desk) Log() string {
	d.logged = true
	b, err := os.ReadFile(d.instance.LogPath())
	if err != nil {
		return "the daemon has no log: " + err.Error()
	}
	return "the daemon's log ends:\n" + string(b[max(0, len(b)-4000):])
}

// remaining returns processes of this desk's unpacked and installed programs that outlast wait.
func (d *Desk) remaining(wait time.Duration) (all []int) {
	for _, folder := range []string{d.bin, filepath.Join(d.dir, ".local", "lib", "swapkeep", "current")} {
		left, err := processes.StillRunning(folder, wait)
		if err != nil {
			d.t.Error(err)
		}
		all = append(all, left...)
	}
	return all
}

// cleanUp stops the daemon, after the browsers have been closed, and kills what is
// left, which fails the test.
func (d *Desk) cleanUp() {
	if d.t.Failed() && !d.logged {
		d.t.Log(d.Log())
	}
	if len(d.remaining(0)) > 0 {
		if out, err := d.command("stop").CombinedOutput(); err != nil {
			d.t.Errorf("stop the daemon: %v\n%s", err, out)
		}
	}
	for _, pid := range d.remaining(soon) {
		d.t.Errorf("process %d was left behind", pid)
		_ = processes.Kill(pid)
	}
	if err := removeAll(d.dir); err != nil {
		d.t.Errorf("the desk stays: %v", err)
	}
}

// removeAll retries while a killed process still writes.
func removeAll(dir string) (err error) {
	await.Holds(soon, func() bool { err = os.RemoveAll(dir); return err == nil })
	return err
}

// install gives the desk programs at a path of its own, by which its processes are told
// apart from another desk's.
func (d *Desk) install() {
	d.t.Helper()
	from, err := programs(d.options)
	if err != nil {
		d.t.Fatal(err)
	}
	d.bin = d.makeDir("bin")
	for program, at := range from {
		if err := linkOrCopy(at, filepath.Join(d.bin, program)); err != nil {
			d.t.Fatal(err)
		}
	}
}

func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	b, err := os.ReadFile(from) // on another file system
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

// builtExtension returns our extension for both browsers, built for the current sandbox.
func (w *World) builtExtension(t *testing.T) map[ui.Kind]string {
	t.Helper()
	dirs, err := w.extension()
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(dirs)
}
