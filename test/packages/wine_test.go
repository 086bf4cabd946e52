//go:build packages && linux

package packages

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/host/client"
	"swapkeep/manifest"
)

// wineTools maps the tools that the Windows tests need to their Debian packages.
var wineTools = map[string]string{
	"wine": "wine64 wine", "x86_64-w64-mingw32-gcc-posix": "gcc-mingw-w64-x86-64-posix",
	"msibuild": "msitools", "script": "bsdutils",
}

// A wine is a Windows machine in a directory. The programs in it are a release's own. Only
// a library that Go needs and wine 8 lacks is added.
type wine struct {
	t   *testing.T
	dir string
	env []string
}

// newWine returns nil, and logs why, if a tool is missing.
func newWine(t *testing.T) *wine {
	t.Helper()
	for tool, pkg := range wineTools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("not run: %s is missing (apt-get install %s)", tool, pkg)
			return nil
		}
	}
	began := time.Now()
	dir, err := os.MkdirTemp("", "swapkeep-wine-")
	if err != nil {
		t.Fatal(err)
	}
	w := &wine{t: t, dir: dir, env: append(os.Environ(), "WINEPREFIX="+dir, "WINEARCH=win64", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=", "HOME="+dir)}
	t.Cleanup(func() {
		w.waitIdle()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w.run("wineboot", "-i")
	w.waitIdle()
	shim := filepath.Join(dir, "drive_c/windows/system32/bcryptprimitives.dll")
	mustRun(t, exec.Command("x86_64-w64-mingw32-gcc-posix", "-shared", "-O2", "-s", "-o", shim, "testdata/bcryptprimitives.c", "-ladvapi32"))
	t.Logf("a new Windows by wine: %v", time.Since(began).Round(time.Millisecond))
	return w
}

// command returns a command that runs a Windows program.
func (w *wine) command(args ...string) *exec.Cmd {
	cmd := exec.Command("wine", args...)
	cmd.Env = w.env
	return cmd
}

// run runs a program, which has to succeed, and returns its output.
func (w *wine) run(args ...string) string {
	w.t.Helper()
	return strings.ReplaceAll(string(w.output("", args...)), "\r\n", "\n")
}

// fails runs a program that has to fail.
func (w *wine) fails(args ...string) {
	w.t.Helper()
	if err := w.command(args...).Run(); err == nil {
		w.t.Errorf("%s: did it", strings.Join(args, " "))
	}
}

// browser starts the host as a browser does and keeps it running until the test ends.
func (w *wine) browser(program string) *client.Process {
	w.t.Helper()
	p, err := client.Start(w.command(append([]string{program}, arguments(manifest.Chromium, "")...)...))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _, _ = p.Stop() })
	if err := p.Call(w.t.Context(), "host.hello", nil, nil); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// output runs a program, which has to succeed, and returns its output. Output goes to a file,
// because under wine a daemon that the program starts would keep a pipe open.
func (w *wine) output(input string, args ...string) []byte {
	w.t.Helper()
	out, err := os.CreateTemp(w.t.TempDir(), "said-")
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	cmd := w.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), out, out
	failed := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if failed != nil || err != nil {
		w.t.Fatalf("%s: %v, %v\n%s", strings.Join(args, " "), failed, err, text)
	}
	return text
}

// startDaemon starts the daemon and is its first client, which never gets an answer: wine
// connects it to the pipe instance by which the listener only reserves the name, which
// Windows 10 does not (go-winio, issue 173). A relay survives that; a command gives up.
func (w *wine) startDaemon(program string) {
	w.t.Helper()
	cmd := w.command(program, "keys", "status")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// waitIdle waits until all programs have ended and the registry is written. Programs that do
// not end fail the test and are killed.
func (w *wine) waitIdle() {
	server := "/usr/lib/wine/wineserver64" // Debian keeps it out of PATH
	if found, err := exec.LookPath("wineserver"); err == nil {
		server = found
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	wait := exec.CommandContext(ctx, server, "-w")
	wait.Env = w.env
	if err := wait.Run(); err != nil {
		w.t.Errorf("programs under wine do not end: %v", err)
		end := exec.Command(server, "-k")
		end.Env = w.env
		_ = end.Run()
	}
}

// unixPath converts a Windows path to a path of this system, ignoring case.
func (w *wine) unixPath(path string) string {
	at := filepath.Join(w.dir, "drive_c")
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.ReplaceAll(path, `\`, "/"), "C:/"), "/") {
		entries, _ := os.ReadDir(at)
		i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return strings.EqualFold(e.Name(), part) })
		if i >= 0 {
			part = entries[i].Name()
		}
		at = filepath.Join(at, part)
	}
	return at
}

// query returns a registry value, or "" if it does not exist.
func (w *wine) query(key string, value ...string) string {
	args := []string{"reg", "query", key, "/ve"}
	if len(value) > 0 {
		args = []string{"reg", "query", key, "/v", value[0]}
	}
	out, err := w.command(args...).Output()
	if err != nil {
		return ""
	}
	_, text, _ := strings.Cut(string(out), "REG_SZ")
	return strings.TrimSpace(text)
}

// productTrace matches traces of the product in registry and files. personal matches those that
// belong to the user and stay: wallets in Credential Manager, and the state directory of
// these tests. It also matches what Windows removes at its next start.
var (
	productTrace = regexp.MustCompile(`(?i)swapkeep`)
	userData     = regexp.MustCompile(`swapkeep/[0-9a-f]{16}:(index|wallet/\d+)|Credential Manager$|PendingFileRenameOperations|^/drive_c/state`)
)

// windowsKeys matches keys that Windows creates for the first package of a kind and keeps.
var windowsKeys = regexp.MustCompile(`(Installer|UserData\\\\S-1-5-18)\\\\(Components|Features|Products|UpgradeCodes)$|CurrentVersion\\\\Uninstall$`)

// registryKeys returns all registry keys except personal ones and Windows' own.
func (w *wine) registryKeys() []string {
	var found []string
	for name, line := range w.registry() {
		if key, _, is := strings.Cut(line, "] "); is && key[0] == '[' && !userData.MatchString(key) && !windowsKeys.MatchString(key) {
			found = append(found, name+": "+key[1:])
		}
	}
	return found
}

// registry returns the lines of the registry's files, each with the file's name.
func (w *wine) registry() iter.Seq2[string, string] {
	w.waitIdle()
	return func(yield func(name, line string) bool) {
		for _, name := range []string{"system.reg", "user.reg", "userdef.reg"} {
			text, err := os.ReadFile(filepath.Join(w.dir, name))
			if err != nil {
				w.t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if !yield(name, line) {
					return
				}
			}
		}
	}
}

// A snapshot is a snapshot: traces of the product, files and registry keys.
type snapshot struct{ traces, files, keys []string }

func (w *wine) snapshot() snapshot { return snapshot{w.traces(), w.files(), w.registryKeys()} }

// checkUnchanged checks that the machine has nothing it did not have before.
func (w *wine) checkUnchanged(before snapshot) {
	w.t.Helper()
	now := w.snapshot()
	for _, both := range [][2][]string{{before.traces, now.traces}, {before.files, now.files}, {before.keys, now.keys}} {
		for _, name := range both[1] {
			if !slices.Contains(both[0], name) && !userData.MatchString(name) {
				w.t.Errorf("left behind: %s", name)
			}
		}
	}
}

// traces returns registry lines and files that mention the product, except personal ones.
func (w *wine) traces() []string {
	var found []string
	for name, line := range w.registry() {
		if productTrace.MatchString(line) && !userData.MatchString(line) {
			found = append(found, name+": "+strings.TrimSpace(line))
		}
	}
	return append(found, w.productFiles()...)
}

// productFiles returns the files with the product's name in their path, except personal ones.
func (w *wine) productFiles() (found []string) {
	err := filepath.WalkDir(filepath.Join(w.dir, "drive_c"), func(path string, _ os.DirEntry, err error) error {
		if below := strings.TrimPrefix(path, w.dir); productTrace.MatchString(below) && !userData.MatchString(below) {
			found = append(found, below)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// files returns all files of the machine except temporary ones.
func (w *wine) files() []string {
	var all []string
	err := filepath.WalkDir(filepath.Join(w.dir, "drive_c"), func(path string, _ os.DirEntry, err error) error {
		if !strings.Contains(path, "/Temp/") {
			all = append(all, strings.TrimPrefix(path, w.dir))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}
