//go:build faults

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/transport"
	"swapkeep/installer/doctor"
	"swapkeep/manifest"
)

var update = flag.Bool("update", false, "write the doctor's golden files again")

// A doctorBuilds is the directories of the programs to examine, built with the faults tag,
// which lets them take a directory as the system's root. newer differs in version only.
type doctorBuilds struct{ package_, newer string }

var buildDoctors = sync.OnceValues(func() (doctorBuilds, error) {
	dir := filepath.Join(filepath.Dir(bin), "doctor")
	c := doctorBuilds{filepath.Join(dir, "package"), filepath.Join(dir, "newer")}
	for _, args := range [][]string{
		{"-ldflags", "-s -w", "-o", c.package_ + "/", ".", "../swapkeepd"},
		{"-ldflags", "-s -w -X main.version=0.2.0", "-o", c.newer + "/", "."},
	} {
		if out, err := exec.Command("go", append([]string{"build", "-tags", "faults"}, args...)...).CombinedOutput(); err != nil {
			return c, fmt.Errorf("go build %v: %w\n%s", args, err, out)
		}
	}
	return c, os.Link(filepath.Join(c.package_, "swapkeepd"), filepath.Join(c.newer, "swapkeepd"))
})

// A doctorFixture is a simulated machine with one user, on which swapkeep is installed.
type doctorFixture struct {
	t       *testing.T
	root    string
	home    string // the user's
	program string // runs the doctor
	place   transport.Instance
	env     []string
	wrapper []string // command prefix that runs a program in its own environment
	doctorBuilds
}

const fixtureConfig = `[keys]
backend = "file"
[prices]
listen = "off"
[prices.sources]
defillama.disabled = true
onchain.disabled = true
geckoterminal.disabled = true
coingecko.disabled = true
dexscreener.disabled = true
blockscout.disabled = true
goplus.disabled = true
`

func newDoctorFixture(t *testing.T) *doctorFixture {
	t.Helper()
	c, err := buildDoctors()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "doctor") // the path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	w := &doctorFixture{t: t, root: root, home: filepath.Join(root, "home/ann"), doctorBuilds: c}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	w.place = transport.Instance{Home: w.at(".local/state/swapkeep")}
	w.env = []string{"HOME=" + w.home, "USER=ann", "PATH=/usr/bin:/bin", "SWAPKEEP_ROOT=" + root, "XDG_RUNTIME_DIR=" + root}
	w.write(".config/swapkeep/config.toml", fixtureConfig)
	w.write("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n")
	w.inProfile(chromiumID, "")
	w.inFirefox(firefoxID)
	w.package_, w.newer = w.unpack(w.package_, "unpacked"), w.unpack(w.newer, "newer")
	w.program = filepath.Join(w.package_, "swapkeep")
	w.run("install", "--extension-id", chromiumID, "--extension-id", firefoxID)
	w.program = w.at(".local/lib/swapkeep/current/swapkeep")
	t.Cleanup(w.stopDaemon)
	return w
}

// unpack links programs into a directory, as if unpacked there, and returns its path.
func (w *doctorFixture) unpack(dir, name string) string {
	w.folder(name)
	for _, program := range []string{"swapkeep", "swapkeepd"} {
		w.ok(os.Link(filepath.Join(dir, program), filepath.Join(w.at(name), program)))
	}
	return w.at(name)
}

func (w *doctorFixture) stopDaemon() { (&machine{t: w.t, place: w.place}).stopDaemon() }

// at returns a path in the user's home or, with a leading slash, in the system.
func (w *doctorFixture) at(path string) string {
	if strings.HasPrefix(path, "/") {
		return filepath.Join(w.root, path)
	}
	return filepath.Join(w.home, path)
}

func (w *doctorFixture) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *doctorFixture) folder(path string) { w.ok(os.MkdirAll(w.at(path), 0o755)) }

func (w *doctorFixture) write(path, text string) {
	w.t.Helper()
	w.ok(os.MkdirAll(filepath.Dir(w.at(path)), 0o755))
	w.ok(os.WriteFile(w.at(path), []byte(text), 0o644))
}

func (w *doctorFixture) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.at(path))
	w.ok(err)
	return string(b)
}

func (w *doctorFixture) edit(path, old, now string) {
	w.t.Helper()
	text := w.read(path)
	if !strings.Contains(text, old) {
		w.t.Fatalf("%s has no %q: %s", path, old, text)
	}
	w.write(path, strings.ReplaceAll(text, old, now))
}

func (w *doctorFixture) remove(path string) { w.ok(os.RemoveAll(w.at(path))) }
func (w *doctorFixture) chmod(path string, m os.FileMode) {
	w.t.Helper()
	w.ok(os.Chmod(w.at(path), m))
}

func (w *doctorFixture) command(args ...string) *exec.Cmd {
	words := slices.Concat(w.wrapper, []string{w.program}, args)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = w.env
	return cmd
}

func (w *doctorFixture) run(args ...string) {
	w.t.Helper()
	if out, err := w.command(args...).CombinedOutput(); err != nil {
		w.t.Fatalf("swapkeep %v: %v\n%s", args, err, out)
	}
}

// daemon starts the installed daemon and returns its process id.
func (w *doctorFixture) daemon() int {
	w.t.Helper()
	conn, err := owner.Ensure(w.t.Context(), owner.Launch{Place: w.place, Exe: w.at(".local/lib/swapkeep/current/swapkeepd"), Env: w.env})
	w.ok(err)
	peer, err := transport.PeerOf(conn)
	w.ok(errors.Join(err, conn.Close()))
	return peer.PID
}

// connect keeps a connection to the daemon until the test ends.
func (w *doctorFixture) connect() {
	w.t.Helper()
	conn, err := transport.Dial(w.t.Context(), w.place)
	w.ok(err)
	c, err := client.Terminal(w.t.Context(), conn, "0.1.0")
	w.ok(err)
	w.t.Cleanup(func() { _ = c.Close() })
	w.ok(c.Call(w.t.Context(), "host.hello", nil, nil))
}

// doctor runs the doctor and returns its findings, except those that are OK or ordinary.
func (w *doctorFixture) doctor(args ...string) string {
	w.t.Helper()
	cmd := w.command(append([]string{"doctor", "--json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || errs.Len() > 0 {
		w.t.Fatalf("swapkeep doctor: %v\n%s", err, errs.String())
	}
	var said doctorOutput
	if err := json.Unmarshal(out.Bytes(), &said); err != nil {
		w.t.Fatalf("%v in %s", err, out.String())
	}
	text := fmt.Sprintf("exit status %d\n", cmd.ProcessState.ExitCode())
	for _, f := range append(said.Fixed, said.Findings...) {
		if f.Title == "" { // the daemon's checks get theirs from the doctor's table
			w.t.Errorf("%s has no title", f.ID)
		}
		if f.ID == "environment" && f.Evidence == ownVariable || f.Status == doctor.OK || ordinary[f.Evidence] {
			continue
		}
		text += findingText(f)
	}
	return w.normal(text)
}

// ownVariable is the doctor's remark about the variable with which tests move the root.
const ownVariable = "variables set only in this terminal may make browsers use another instance: SWAPKEEP_ROOT"

// ordinary are findings that also appear on a healthy system.
var ordinary = map[string]bool{
	"no browser is sandboxed (Flatpak or Snap)": true, "none answers": true, "checked with --online": true,
	"no file has a future date; compare with the networks by --online": true,
}

func findingText(f doctor.Finding) string {
	about := ""
	if f.About != "" {
		about = f.About + ": "
	}
	switch {
	case f.Fixed != "":
		return fmt.Sprintf("fixed %s: %s%s\n", f.ID, about, f.Fixed)
	case f.Unfixed != "":
		return fmt.Sprintf("not fixed %s: %s%s\n", f.ID, about, f.Unfixed)
	case f.Remedy == "":
		return fmt.Sprintf("%-4s %s: %s%s\n", f.Status, f.ID, about, f.Evidence)
	}
	return fmt.Sprintf("%-4s %s: %s%s\n     %s\n", f.Status, f.ID, about, f.Evidence, f.Remedy)
}

// numbers are replaced because they differ between runs.
var numbers = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b(process|pid|kill) \d+`), "$1 N"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\d+ MiB are free`), "N MiB are free"},
	{regexp.MustCompile(`(cannot query the session bus): .*`), "$1: WHY"},
	{regexp.MustCompile(`at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "at TIME"},
}

func (w *doctorFixture) normal(text string) string {
	text = strings.ReplaceAll(text, w.root, "")
	for _, n := range numbers {
		text = n.form.ReplaceAllString(text, n.as)
	}
	return text
}

const (
	chromiumFile = ".config/chromium/NativeMessagingHosts/app.swapkeep.host.json"
	firefoxFile  = ".mozilla/native-messaging-hosts/app.swapkeep.host.json"
	programFile  = ".local/lib/swapkeep/0.1.0/swapkeep"
	strangerID   = "ponmlkjihgfedcbaponmlkjihgfedcba"
)

// inProfile creates a Chromium profile with an unpacked extension.
func (w *doctorFixture) inProfile(id, more string) {
	w.write("extension/manifest.json", `{"name":"__MSG_app_name__","default_locale":"en"}`)
	w.write("extension/_locales/en/messages.json", `{"app_name":{"message":"Swapkeep"}}`)
	w.write(".config/chromium/Default/Preferences", fmt.Sprintf(`{"extensions":{"settings":{%q:{"path":%q,"state":1%s}}}}`, id, w.at("extension"), more))
}

// inFirefox creates a Firefox profile with an extension.
func (w *doctorFixture) inFirefox(id string) {
	w.write(".mozilla/firefox/ann.default/extensions.json", fmt.Sprintf(`{"addons":[{"id":%q,"active":true,"defaultLocale":{"name":"Swapkeep"}}]}`, id))
}

// system writes the manifest for all users' browsers that read a directory.
func (w *doctorFixture) system(folder, program string) {
	file, err := manifest.Render(manifest.Chromium, "linux", program, []string{chromiumID})
	w.ok(err)
	w.write(folder+"/native-messaging-hosts/app.swapkeep.host.json", string(file))
}

// systemToo also installs for all users.
func (w *doctorFixture) systemToo() {
	w.system("/etc/chromium", w.at(".local/lib/swapkeep/current/swapkeep"))
}

// packaged creates the files of a system package, without receipts.
func (w *doctorFixture) packaged() {
	w.program = filepath.Join(w.package_, "swapkeep")
	w.run("uninstall")
	w.unpack(w.package_, "/usr/lib/swapkeep")
	w.program = w.at("/usr/lib/swapkeep/swapkeep")
	w.write(".config/swapkeep/config.toml", fixtureConfig+fmt.Sprintf("[extensions]\nchromium = [%q]\n", chromiumID))
	w.remove(".mozilla")
	w.system("/etc/chromium", w.program)
}

// broken are broken installations, and how they got so. The doctor's output for each,
// with and after --fix, is in testdata/doctor.
var broken = map[string]func(*doctorFixture){
	"healthy":      func(*doctorFixture) {},
	"no-extension": func(w *doctorFixture) { w.remove(".config/chromium/Default/Preferences"); w.remove(".mozilla/firefox") },

	"manifest-removed":  func(w *doctorFixture) { w.remove(chromiumFile) },
	"manifest-bom":      func(w *doctorFixture) { w.write(chromiumFile, "\xef\xbb\xbf"+w.read(chromiumFile)) },
	"manifest-no-json":  func(w *doctorFixture) { w.write(chromiumFile, `{"name": "app.swapkeep.host",`) },
	"manifest-key":      func(w *doctorFixture) { w.edit(firefoxFile, `"name"`, `"comment": "mine", "name"`) },
	"manifest-name":     func(w *doctorFixture) { w.edit(chromiumFile, `"app.swapkeep.host"`, `"App.Swapkeep.Host"`) },
	"manifest-relative": func(w *doctorFixture) { w.edit(chromiumFile, w.at(".local/lib"), ".local/lib") },
	"manifest-origin":   func(w *doctorFixture) { w.edit(chromiumFile, chromiumID+"/", chromiumID) },
	"wrong-path":        func(w *doctorFixture) { w.edit(chromiumFile, "/current/", "/old/") },
	"browser-removed":   func(w *doctorFixture) { w.remove(".config/chromium") },
	"wrong-owner": func(w *doctorFixture) {
		w.write("/owners", w.at(chromiumFile)+" 12345\n")
	},
	"open-folder": func(w *doctorFixture) { w.chmod(filepath.Dir(chromiumFile), 0o777) },
	"foreign-manifest": func(w *doctorFixture) {
		w.systemToo()
		w.write(chromiumFile, `{"name":"app.swapkeep.host","description":"x","type":"stdio","path":"/opt/other/host","allowed_origins":["`+origin+`"]}`)
	},
	"two-copies": func(w *doctorFixture) {
		w.write("other/swapkeep", w.read(programFile)+"another build")
		w.chmod("other/swapkeep", 0o755)
		w.edit(chromiumFile, w.at(".local/lib/swapkeep/current/swapkeep"), w.at("other/swapkeep"))
	},
	"system-too": (*doctorFixture).systemToo,
	"packaged":   (*doctorFixture).packaged,

	"moved": func(w *doctorFixture) {
		w.program = filepath.Join(w.package_, "swapkeep")
		w.ok(os.Rename(w.at(".local/lib/swapkeep/0.1.0"), w.at("elsewhere")))
	},
	"link-removed": func(w *doctorFixture) {
		w.program = w.at(programFile)
		w.remove(".local/lib/swapkeep/current")
	},
	"no-program": func(w *doctorFixture) {
		w.program = filepath.Join(w.package_, "swapkeep")
		w.remove(programFile)
	},
	"no-daemon": func(w *doctorFixture) { w.remove(".local/lib/swapkeep/0.1.0/swapkeepd") },
	"not-our-program": func(w *doctorFixture) {
		w.write(".ssh/swapkeep", "a key")
		w.chmod(".ssh/swapkeep", 0o600)
		w.edit(chromiumFile, w.at(".local/lib/swapkeep/current/swapkeep"), w.at(".ssh/swapkeep"))
	},
	"tampered-program": func(w *doctorFixture) { // changed, although no other user can write it
		w.program = filepath.Join(w.newer, "swapkeep")
		w.write(programFile, "#!/bin/sh\n")
		w.remove(chromiumFile)
	},
	"not-executable": func(w *doctorFixture) { w.program = filepath.Join(w.package_, "swapkeep"); w.chmod(programFile, 0o644) },
	"open-program":   func(w *doctorFixture) { w.chmod(programFile, 0o777) },
	"group-program":  func(w *doctorFixture) { w.program = filepath.Join(w.package_, "swapkeep"); w.chmod(programFile, 0o664) },
	"changed-program": func(w *doctorFixture) {
		w.program = filepath.Join(w.package_, "swapkeep")
		w.write(programFile, "#!/bin/sh\n")
		w.chmod(programFile, 0o777)
	},
	"changed-daemon": func(w *doctorFixture) {
		w.write(".local/lib/swapkeep/0.1.0/swapkeepd", "#!/bin/sh\n")
		w.chmod(".local/lib/swapkeep/0.1.0/swapkeepd", 0o777)
	},
	"open-manifest": func(w *doctorFixture) { w.chmod(chromiumFile, 0o666) },
	"open-above":    func(w *doctorFixture) { w.chmod(".config", 0o777) },
	"umask-002":     func(w *doctorFixture) { w.chmod("", 0o775|os.ModeSetgid); w.chmod(".config", 0o775) },
	"downloads": func(w *doctorFixture) { // --fix installs nothing that replaces it
		w.unpack(w.package_, "Downloads")
		w.folder(".config/BraveSoftware/Brave-Browser")
		w.system("/etc/opt/chrome", w.at("Downloads/swapkeep"))
	},
	"noexec": func(w *doctorFixture) {
		w.write("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"+
			"30 22 8:2 / "+strings.ReplaceAll(w.home, " ", `\040`)+" rw,nosuid,noexec,relatime - ext4 /dev/sda2 rw\n")
	},

	"stranger":           func(w *doctorFixture) { w.inProfile(strangerID, "") },
	"not-in-manifest":    func(w *doctorFixture) { w.edit(chromiumFile, chromiumID, strangerID) },
	"extension-disabled": func(w *doctorFixture) { w.inProfile(chromiumID, `,"disable_reasons":[1]`) },
	"firefox-stranger":   func(w *doctorFixture) { w.inFirefox("other@swapkeep.invalid") },
	"blocked": func(w *doctorFixture) {
		w.write("/etc/chromium/policies/managed/company.json", `{"NativeMessagingBlocklist":["*"],"NativeMessagingAllowlist":["com.example.other"]}`)
		w.write("/etc/firefox/policies/policies.json", `{"policies":{"NativeMessagingUserLevelHosts":false}}`)
	},
	"flatpak-alone": func(w *doctorFixture) {
		w.inFlatpak()
		w.remove(".config/chromium")
		w.remove(".mozilla")
	},
	"flatpak": func(w *doctorFixture) {
		w.folder(".var/app/org.mozilla.firefox/.mozilla")
		w.folder("/var/lib/flatpak/app/org.mozilla.firefox")
	},
	"flatpak-left-over": func(w *doctorFixture) { // of an uninstalled Flatpak
		w.inFlatpak()
		w.remove("/var/lib/flatpak")
	},
	"flatpak-extension": (*doctorFixture).inFlatpak,
	"flatpak-opened":    func(w *doctorFixture) { w.flatpak(opened{home: w.place.Home, access: "read-only"}) },
	"flatpak-elsewhere": func(w *doctorFixture) { w.flatpak(opened{home: w.at("other"), access: "hidden"}) },
	"snap-refused":      (*doctorFixture).refusedSnap,

	"no-bus": func(w *doctorFixture) {
		w.edit(".config/swapkeep/config.toml", `"file"`, `"os"`)
		w.env = append(w.env, "DBUS_SESSION_BUS_ADDRESS=disabled:")
	},
	"locked-keychain": func(w *doctorFixture) {
		w.edit(".config/swapkeep/config.toml", `"file"`, `"os"`)
		w.lockedKeychain()
	},
	"garbage-config": func(w *doctorFixture) { w.write(".config/swapkeep/config.toml", "[keys]\nbackend = paper\n") },
	"open-home":      func(w *doctorFixture) { w.chmod(".local/state/swapkeep", 0o777) },
	"other-mode": func(w *doctorFixture) {
		w.run("doctor")
		w.edit(".local/state/swapkeep/home.json", `"sandbox":false`, `"sandbox":true`)
	},
	"damaged-stamp": func(w *doctorFixture) { w.run("doctor"); w.write(".local/state/swapkeep/home.json", "{}") },
	"damaged-database": func(w *doctorFixture) {
		w.run("doctor")
		w.write(".local/state/swapkeep/orders.db", strings.Repeat("not a database ", 4096))
	},
	"cut-database": func(w *doctorFixture) {
		w.run("doctor")
		w.ok(os.Truncate(w.at(".local/state/swapkeep/orders.db"), 8192))
	},
	"full-disk": func(w *doctorFixture) {
		w.edit(".config/swapkeep/config.toml", `listen = "off"`, "disabled = true")
		pid := w.daemon()
		w.ok(unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 8192, Max: 8192}, nil))
	},
	"small-disk": (*doctorFixture).onASmallDisk,
	"port-taken": func(w *doctorFixture) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		w.ok(err)
		w.t.Cleanup(func() { _ = l.Close() })
		w.edit(".config/swapkeep/config.toml", `"off"`, `"`+l.Addr().String()+`"`)
	},
	"clock": func(w *doctorFixture) {
		w.run("doctor")
		later := time.Now().Add(49 * time.Hour)
		w.ok(os.Chtimes(w.at(".local/state/swapkeep/home.json"), later, later))
	},
	"stale-socket": func(w *doctorFixture) {
		w.run("doctor")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.place.SocketPath(), Net: "unix"})
		w.ok(err)
		l.SetUnlinkOnClose(false)
		w.ok(l.Close())
	},
	"open-socket": func(w *doctorFixture) { w.daemon(); w.ok(os.Chmod(w.place.SocketPath(), 0o666)) },
	"stuck-daemon": func(w *doctorFixture) {
		own, err := owner.Acquire(w.place)
		w.ok(err)
		w.t.Cleanup(func() { _ = own.Close() })
	},
	"old-daemon": func(w *doctorFixture) { w.daemon(); w.program = filepath.Join(w.newer, "swapkeep") },
	"old-daemon-in-use": func(w *doctorFixture) {
		w.program = filepath.Join(w.newer, "swapkeep")
		w.run("install")
		w.program = w.at(".local/lib/swapkeep/current/swapkeep")
		w.daemon()
		w.connect()
	},
	"old-daemon-and-link": func(w *doctorFixture) {
		w.folder(".local/bin")
		w.program = filepath.Join(w.newer, "swapkeep")
		w.run("install")
		w.program = w.at(".local/lib/swapkeep/current/swapkeep")
		w.folder(".config/BraveSoftware/Brave-Browser") // swapkeep is not installed for it
		w.remove(".local/bin/swapkeep")
		w.daemon()
	},
	"last-words": func(w *doctorFixture) {
		w.write(".local/state/swapkeep/swapkeepd.log", "swapkeepd: another process uses the order database; stop it\n")
	},
	"log-error": func(w *doctorFixture) {
		w.write(".local/state/swapkeep/swapkeepd.log", fmt.Sprintf(`{"level":"error","error":"no space left on device","time":%q,"message":"close the price history"}`+"\n", time.Now().Format(time.RFC3339)))
	},

	"damaged-receipts": func(w *doctorFixture) { w.write(".local/state/swapkeep/receipts.json", "[]") },
	"old-version":      func(w *doctorFixture) { w.write(".local/lib/swapkeep/0.0.9/swapkeep", "old") },
	"old-version-runs": func(w *doctorFixture) {
		w.unpack(w.package_, ".local/lib/swapkeep/0.0.9")
		conn, err := owner.Ensure(w.t.Context(), owner.Launch{Place: w.place, Exe: w.at(".local/lib/swapkeep/0.0.9/swapkeepd"), Env: w.env})
		w.ok(err)
		w.ok(conn.Close())
	},
	"other-version": func(w *doctorFixture) { // the doctor is an older version than the installed one
		w.program = filepath.Join(w.newer, "swapkeep")
		w.run("install")
		w.program = filepath.Join(w.package_, "swapkeep")
		w.remove(chromiumFile)
	},
	"autostart-removed": func(w *doctorFixture) {
		w.program = filepath.Join(w.package_, "swapkeep")
		w.run("install", "--autostart")
		w.remove(".config/systemd/user/swapkeepd.service")
	},
	"autostart-disabled": func(w *doctorFixture) { // as systemctl disable does
		w.program = filepath.Join(w.package_, "swapkeep")
		w.run("install", "--autostart")
		w.remove(".config/systemd/user/default.target.wants")
	},
	"autostart-stray": func(w *doctorFixture) {
		w.program = filepath.Join(w.package_, "swapkeep")
		w.run("install", "--autostart")
		w.program = w.at(".local/lib/swapkeep/current/swapkeep")
		unit := ".config/systemd/user/swapkeepd.service"
		w.edit(unit, w.at(".local/lib/swapkeep/current/swapkeepd"), w.at("elsewhere/swapkeepd"))
	},
}

// The doctor reports what is wrong with a remedy, repairs what is safe to repair, and
// reports what is left.
func TestDoctor(t *testing.T) {
	for name, breaks := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDoctorFixture(t)
			breaks(w)
			before := w.doctor()
			after := w.doctor("--fix")
			if after == before {
				after = "as before\n"
			}
			golden(t, name, "$ swapkeep doctor\n"+before+"\n$ swapkeep doctor --fix\n"+after)
		})
	}
}

// The doctor neither starts nor hides a program that others could have replaced.
func TestDoctorStartsNothingThatOthersCouldHaveReplaced(t *testing.T) {
	for _, program := range []string{"swapkeep", "swapkeepd"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			w := newDoctorFixture(t)
			file := ".local/lib/swapkeep/0.1.0/" + program
			w.write(file, "#!/bin/sh\necho >"+w.at("ran")+"\n")
			w.chmod(file, 0o777)
			if program == "swapkeep" {
				w.program = filepath.Join(w.package_, "swapkeep")
			}
			for _, args := range [][]string{nil, {"--fix"}, nil} {
				w.doctor(args...)
				if _, err := os.Stat(w.at("ran")); err == nil {
					t.Fatalf("doctor %v starts it", args)
				}
			}
			if info, err := os.Stat(w.at(file)); err != nil || info.Mode().Perm() != 0o777 {
				t.Errorf("it looks safe: %v, %v", info.Mode(), err)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata/doctor", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v: the doctor does not say what %s says: run go test ./cmd/swapkeep -run TestDoctor -update and read the difference\n%s", err, file, got)
	}
}

var wrapped = regexp.MustCompile(`\n {20,}`)

// Output for people.
func TestDoctorForPeople(t *testing.T) {
	w := newDoctorFixture(t)
	w.remove(chromiumFile)
	out, err := w.command("doctor").Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitChecksFailed {
		t.Errorf("ended with %v", err)
	}
	text := wrapped.ReplaceAllString(string(out), " ") // line breaks depend on the length of the directory
	golden(t, "table", w.normal(text))
}

// The socket of a dead daemon is removed while no daemon can listen on it.
func TestDoctorRemovesASocket(t *testing.T) {
	w := newDoctorFixture(t)
	broken["stale-socket"](w)
	w.remove(chromiumFile) // otherwise the daemon of a launch would replace the socket first
	w.remove(firefoxFile)
	if got := w.doctor("--fix"); !strings.Contains(got, "fixed daemon.socket: removed ") {
		t.Errorf("it is not removed:\n%s", got)
	}
}

// The doctor stops a daemon that it started, but not one that was already running.
func TestDoctorLeavesTheDaemonAsItWas(t *testing.T) {
	w := newDoctorFixture(t)
	w.doctor()
	if _, held := owner.Holder(w.place); held {
		t.Error("the daemon that the doctor started goes on")
	}
	pid := w.daemon()
	w.doctor("--fix")
	if now, held := owner.Holder(w.place); !held || now != pid {
		t.Errorf("the daemon was %d and is %d", pid, now)
	}
}

// The doctor detects a host that behaves in a way that browsers do not accept.
func TestDoctorLaunch(t *testing.T) {
	for name, row := range map[string]struct{ script, want string }{
		"silent":    {"exec sleep 20", "no answer in 5s"},
		"talkative": {`echo "warning: old library" >&2; exec "$REAL" "$@"`, "wrote to the browser's log: warning: old library"},
		"lingering": {`"$REAL" "$@"; sleep 1`, "to exit after the browser closed its port"},
		"dying":     {"echo cannot open display >&2; exit 3", "ended: cannot open display"},
		"chatting":  {"echo hello", "ended without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDoctorFixture(t)
			w.remove(firefoxFile) // one launch is enough
			w.ok(os.Rename(w.at(programFile), w.at("real")))
			w.ok(os.Symlink(w.at(".local/lib/swapkeep/0.1.0/swapkeepd"), w.at("swapkeepd")))
			w.remove(".local/state/swapkeep/receipts.json") // a changed program would not be started
			w.write(programFile, "#!/bin/sh\nREAL="+w.at("real")+"\n"+row.script+"\n")
			w.chmod(programFile, 0o755)
			w.program = w.at("real")
			if got := w.doctor(); !strings.Contains(got, row.want) {
				t.Errorf("no word of it:\n%s", got)
			}
		})
	}
}
