//go:build packages && linux

package packages

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swapkeep/installer/doctor"
	"swapkeep/manifest"
)

// msi runs a query on an MSI's database.
func msi(t *testing.T, path, query string) {
	t.Helper()
	mustRun(t, exec.Command("msibuild", path, "-q", query))
}

// unpackMSI extracts the programs of the MSI into a directory, as from an archive.
func (w *wine) unpackMSI() (folder string) {
	w.t.Helper()
	dir := w.t.TempDir()
	mustRun(w.t, exec.Command("msiextract", "-C", dir, packageFile(w.t, setups[0].pattern)))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".exe" {
			text, read := os.ReadFile(path)
			if read != nil {
				return read
			}
			err = w.write(`C:\unpacked\`+filepath.Base(path), text)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return `C:\unpacked`
}

func (w *wine) write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(w.unixPath(path)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(w.unixPath(path), text, 0o755)
}

// TestInstall runs swapkeep install on Windows. It installs from a directory, also over
// running programs, which it moves aside; the doctor reports no failure; and uninstall
// removes everything it made, registry keys included.
func TestInstall(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`)
	from := w.unpackMSI()
	before := w.snapshot()
	install := []string{from + `\swapkeep.exe`, "install", "--browser", "chrome", "--browser", "firefox"}
	w.run(install...)
	program := w.localAppData("swapkeep", "bin", "swapkeep.exe")
	for _, key := range []string{`Google\Chrome`, "Mozilla"} {
		path := w.query(`HKCU\Software\` + key + `\NativeMessagingHosts\app.swapkeep.host`)
		text, err := os.ReadFile(w.unixPath(path))
		var m struct{ Path string }
		if err := json.Unmarshal(text, &m); err != nil || !strings.EqualFold(m.Path, program) {
			t.Errorf("%s: %s names %q, %v", key, path, m.Path, err)
		}
		if err != nil {
			t.Error(err)
		}
	}
	w.checkGreeting(program, "HKCU")
	w.run(program, "stop")
	w.checkReplace(install, program)
	w.checkDoctor(program)
	w.run(program, "stop")
	w.run(from+`\swapkeep.exe`, "uninstall")
	w.checkUnchanged(before)
}

// localAppData returns a path below %LOCALAPPDATA%.
func (w *wine) localAppData(elem ...string) string {
	w.t.Helper()
	dir := strings.TrimSpace(w.run("cmd", "/c", "echo %LOCALAPPDATA%"))
	return strings.Join(append([]string{dir}, elem...), `\`)
}

// checkReplace installs other programs while a host of another home runs from the same
// directory. That one is moved aside and runs until it ends; the next daemon deletes it.
func (w *wine) checkReplace(install []string, program string) {
	w.t.Helper()
	other := w.withT(w.t)
	other.env = append(slices.Clone(w.env), `SWAPKEEP_HOME=C:\state\other`)
	held := other.browser(program)
	for _, name := range []string{"swapkeep.exe", "swapkeepd.exe"} {
		path := `C:\unpacked\` + name
		text, err := os.ReadFile(w.unixPath(path))
		if err == nil {
			err = w.write(path, append(text, "another build"...))
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.run(install...)
	text, err := os.ReadFile(w.unixPath(program))
	if err != nil || !strings.HasSuffix(string(text), "another build") {
		w.t.Errorf("the programs in place are the old ones, %v", err)
	}
	if aside := w.movedAside(); len(aside) != 2 {
		w.t.Errorf("aside are %v", aside)
	}
	if err := held.Call(w.t.Context(), "host.hello", nil, nil); err != nil {
		w.t.Errorf("what ran is gone: %v", err)
	}
	_, _ = held.Stop()
	other.run(program, "stop")
	w.checkGreeting(program, "HKCU")
	if left := w.movedAside(); len(left) > 0 {
		w.t.Errorf("not swept: %v", left)
	}
}

// checkDoctor runs the doctor: there is no browser, and no finding fails.
func (w *wine) checkDoctor(program string) {
	w.t.Helper()
	out, _ := w.command(program, "doctor", "--json").Output() // its exit status depends on the findings
	var said struct{ Findings []doctor.Finding }
	if err := json.Unmarshal(out, &said); err != nil || len(said.Findings) < 20 {
		w.t.Fatalf("%d findings, %v: %s", len(said.Findings), err, out)
	}
	for _, f := range said.Findings {
		if f.Status == doctor.Fail {
			w.t.Errorf("%s: %s: %s", f.ID, f.About, f.Evidence)
		}
	}
}

// TestLetIn checks that the MSI's manifest, which names the programs by a relative path,
// does not count as another copy's: another extension can be allowed without force.
func TestLetIn(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`)
	w.warmUp()
	before := w.snapshot()
	s, id := setups[0], strings.Repeat("abcdefghijklmnop", 2)
	w.run(s.install(packageFile(t, s.pattern))...)
	program := w.findHost(s)
	w.run(program, "install", "--browser", "chrome", "--extension-id", id)
	text, err := os.ReadFile(w.unixPath(installDir(program) + `\` + manifest.WindowsFileName(manifest.Chromium)))
	if err != nil || !strings.Contains(string(text), manifest.ChromiumOrigin(id)) {
		t.Errorf("%s, %v", text, err)
	}
	w.run(program, "uninstall")
	w.uninstall(s, program)
	w.checkUnchanged(before)
}

// TestConsole checks that the daemon, which is linked as a GUI program, still writes to the
// terminal it was started in, and to a file.
func TestConsole(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`)
	daemon := w.unpackMSI() + `\swapkeepd.exe`
	terminal := exec.Command("script", "-qec", `wine cmd /c start /wait '`+daemon+`' version`, "/dev/null")
	terminal.Env = append(w.env, "TERM=xterm")
	if said := mustRun(t, terminal); !strings.Contains(said, "swapkeepd "+version) {
		t.Errorf("a terminal shows %q", said)
	}
	if said := w.run("cmd", "/c", daemon+` version > C:\said.txt & type C:\said.txt`); !strings.Contains(said, "swapkeepd "+version) {
		t.Errorf("a file holds %q", said)
	}
	if said := string(w.output("", daemon, "check")); !strings.Contains(said, "keychain") {
		t.Errorf("check said %q", said)
	}
}
