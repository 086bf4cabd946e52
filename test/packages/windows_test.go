//go:build packages && linux

package packages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/manifest"
)

// A setup is a Windows package: how to install it silently, where to, and how to remove it.
type setup struct {
	name      string
	pattern   string
	install   func(path string) []string
	uninstall func(path, folder string) []string
	hive      string
	folder    string // below the drive; * is the user
}

func msiexec(flag string) func(string) []string {
	return func(path string) []string { return []string{"msiexec", flag, path, "/qn"} }
}

func msiremove(path, _ string) []string { return msiexec("/x")(path) }

var setups = []setup{
	{"msi for a user", "*-windows-amd64-user.unsigned.msi", msiexec("/i"), msiremove, "HKCU", "users/*/AppData/Local/swapkeep"},
	{"msi for the machine", "*-windows-amd64-system.unsigned.msi", msiexec("/i"), msiremove, "HKLM", "Program Files/swapkeep"},
	{"setup.exe", "*-windows-amd64-setup.unsigned.exe", func(path string) []string { return []string{path, "/S"} },
		func(_, folder string) []string { return []string{folder + `\uninstall.exe`, "/S"} }, "HKCU", "users/*/AppData/Local/swapkeep"},
}

// keysOf lists the registry keys by which browsers find the host.
var keysOf = map[string]manifest.Family{
	`Software\Google\Chrome\NativeMessagingHosts\app.swapkeep.host`:  manifest.Chromium,
	`Software\Chromium\NativeMessagingHosts\app.swapkeep.host`:       manifest.Chromium,
	`Software\Microsoft\Edge\NativeMessagingHosts\app.swapkeep.host`: manifest.Chromium,
	`Software\Mozilla\NativeMessagingHosts\app.swapkeep.host`:        manifest.Firefox,
}

// TestWindows installs each Windows package and follows the registry, as browsers do, to
// the release's own programs. These greet, create a wallet in Credential Manager and find
// it again. Removing the package leaves no trace.
func TestWindows(t *testing.T) {
	forEach(t, func(t *testing.T, w *wine, s setup) {
		before := w.snapshot()
		began := time.Now()
		w.run(s.install(packageFile(t, s.pattern))...)
		t.Logf("installed: %v", time.Since(began).Round(time.Millisecond))

		host := w.findHost(s)
		w.checkGreeting(host, s.hive)
		w.wallet(host)

		began = time.Now()
		w.run(s.uninstall(packageFile(t, s.pattern), filepath.ToSlash(installDir(host)))...)
		t.Logf("uninstalled: %v", time.Since(began).Round(time.Millisecond))
		w.checkUnchanged(before)
		if err := os.RemoveAll(w.unixPath(`C:\state`)); err != nil {
			t.Error(err)
		}
	})
}

// forEach runs a test for each Windows package.
func forEach(t *testing.T, test func(t *testing.T, w *wine, s setup)) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`) // outside the packages' directories
	w.warmUp()
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) { test(t, w.withT(t), s) })
	}
}

// browserKeys matches the registry keys of browsers.
var browserKeys = regexp.MustCompile(`(?i)\\\\(Google|Chromium|Mozilla|Edge|NativeMessagingHosts)(\\\\|$)`)

// warmUp installs and removes a package once, so that what Windows itself creates at a first
// installation is in the snapshot taken before each test.
func (w *wine) warmUp() {
	w.t.Helper()
	s, before := setups[0], w.registryKeys()
	w.run(s.install(packageFile(w.t, s.pattern))...)
	w.run(s.uninstall(packageFile(w.t, s.pattern), "")...)
	for _, key := range w.registryKeys() {
		if browserKeys.MatchString(key) && !slices.Contains(before, key) {
			w.t.Errorf("left behind: %s", key)
		}
	}
}

// withT returns the same machine for a subtest.
func (w *wine) withT(t *testing.T) *wine { return &wine{t: t, dir: w.dir, env: w.env} }

// installDir returns a package's directory from the path of a program in it.
func installDir(program string) string {
	return program[:strings.LastIndex(program, `\bin\`)]
}

// findHost returns the program that browsers start: it follows each browser's registry key
// and manifest, and checks that all name the same program.
func (w *wine) findHost(s setup) (program string) {
	w.t.Helper()
	for key, family := range keysOf {
		path := w.query(s.hive + `\` + key)
		if path == "" {
			w.t.Fatalf("%s\\%s is not there", s.hive, key)
		}
		text, err := os.ReadFile(w.unixPath(path))
		if err != nil {
			w.t.Fatal(err)
		}
		if err := manifest.Validate(family, "windows", key[strings.LastIndex(key, `\`)+1:], text); err != nil {
			w.t.Errorf("%s: %v", path, err)
		}
		var m struct{ Path string }
		if err := json.Unmarshal(text, &m); err != nil {
			w.t.Fatal(err)
		}
		found := path[:strings.LastIndex(path, `\`)+1] + m.Path // relative to the manifest
		if program != "" && found != program {
			w.t.Errorf("%s names %s, others %s", path, found, program)
		}
		program = found
		if inFolder, _ := filepath.Match(filepath.Join(w.dir, "drive_c", s.folder), filepath.Dir(filepath.Dir(w.unixPath(program)))); !inFolder {
			w.t.Errorf("installed to %s", program)
		}
		if _, err := os.Stat(w.unixPath(program)); err != nil {
			w.t.Error(err)
		}
		other := map[string]string{"HKCU": "HKLM", "HKLM": "HKCU"}[s.hive]
		if value := w.query(other + `\` + key); value != "" {
			w.t.Errorf("%s is also set: %s", other+`\`+key, value)
		}
	}
	return program
}

// checkGreeting starts the host as each browser family does on Windows. The first one starts the
// daemon and connects by the release's own named pipe.
func (w *wine) checkGreeting(program, hive string) {
	w.t.Helper()
	for _, family := range manifest.Families() {
		args := arguments(family, installDir(program)+`\app.swapkeep.host.`+string(family)+".json")
		if family == manifest.Chromium {
			args = append(args, "--parent-window=0")
		}
		began := time.Now()
		h := checkHost(w.t, w.command(append([]string{program}, args...)...))
		w.t.Logf("%s was greeted: %v", h.Connection.Origin, time.Since(began).Round(time.Millisecond))
	}
	stranger := w.command(program, manifest.ChromiumOrigin(strings.Repeat("a", 32)))
	if out, err := stranger.Output(); err == nil || !strings.Contains(string(out), "origin_refused") {
		w.t.Errorf("a stranger was told %q, %v", out, err)
	}
}

// wallet creates a wallet in Credential Manager, where a new daemon finds it.
func (w *wine) wallet(program string) {
	w.t.Helper()
	const password = "a password for wine, 1\n"
	ask := func(input string, into any, args ...string) {
		w.t.Helper()
		out := w.output(input, append([]string{program}, args...)...)
		if into == nil {
			return
		}
		if err := json.Unmarshal(out, into); err != nil {
			w.t.Fatalf("swapkeep %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	var made protocol.CreateResult
	ask(password, &made, "keys", "create", "--name", "wine", "--password-fd", "0", "--json")
	ask("", nil, "stop")
	w.startDaemon(program)
	var status protocol.KeysStatus
	ask("", &status, "keys", "status", "--json")
	if len(status.Wallets) != 1 || status.Wallets[0].ID != made.Wallet.ID {
		w.t.Errorf("made %+v, found %+v", made.Wallet, status)
	}
	ask(password, nil, "keys", "unlock", "--password-fd", "0")
	ask("", nil, "stop")
	w.waitIdle()
	store, err := os.ReadFile(filepath.Join(w.dir, "user.reg"))
	if err != nil || !strings.Contains(string(store), `Credential Manager\\Generic: swapkeep/`) || !strings.Contains(string(store), `:wallet/1`) {
		w.t.Errorf("the wallet is not in Credential Manager: %v", err)
	}
}

// TestSetupKeepsWallets checks, as home and programs share a directory on Windows, that
// removing the programs keeps the home, and that installing over an installation works.
func TestSetupKeepsWallets(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	s := setups[2]
	w.run(s.install(packageFile(t, s.pattern))...)
	program := w.findHost(s)
	w.checkGreeting(program, s.hive) // the daemon keeps running
	w.run(s.install(packageFile(t, s.pattern))...)
	w.checkGreeting(program, s.hive)
	folder := installDir(program)
	w.run(s.uninstall("", folder)...)
	w.waitIdle() // the remover continues in a copy of itself
	left, err := os.ReadDir(w.unixPath(folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if !slices.Contains(names, "orders.db") || slices.Contains(names, "bin") || slices.Contains(names, "LICENSE.txt") || slices.Contains(names, "uninstall.exe") {
		t.Errorf("left is %v", names)
	}
}
