//go:build packages && linux

package packages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/host/client"
	"swapkeep/test/await"
)

// TestRemoveWhileRunning removes each Windows package while a browser has the host running
// and the daemon runs. No trace is left.
func TestRemoveWhileRunning(t *testing.T) {
	forEach(t, func(t *testing.T, w *wine, s setup) {
		before := w.snapshot()
		w.run(s.install(packageFile(t, s.pattern))...)
		program := w.findHost(s)
		held := w.browser(program)
		began := time.Now()
		w.uninstall(s, program)
		t.Logf("removed: %v", time.Since(began).Round(time.Millisecond))
		select {
		case <-held.Exited():
		case <-time.After(20 * time.Second):
			t.Error("the relay runs on")
		}
		w.checkUnchanged(before)
	})
}

// TestHeldForLong removes a package while a program runs for longer than relays wait. The
// program is moved aside, and the next daemon deletes it. The removal succeeds all the
// same.
func TestHeldForLong(t *testing.T) {
	forEach(t, func(t *testing.T, w *wine, s setup) {
		w.run(s.install(packageFile(t, s.pattern))...)
		program := w.findHost(s)
		other := w.withT(t)
		other.env = append(slices.Clone(w.env), `SWAPKEEP_HOME=C:\state\other`) // so that stop does not reach its daemon
		held := other.browser(program)
		w.uninstall(s, program)
		if err := held.Call(t.Context(), "host.hello", nil, nil); err != nil {
			t.Errorf("the host that was held does not answer: %v", err)
		}
		aside := w.movedAside()
		if len(aside) != 2 {
			t.Errorf("aside are %v", aside)
		}
		w.run(s.install(packageFile(t, s.pattern))...)
		_, _ = held.Stop()
		other.run(program, "stop")
		w.checkGreeting(program, s.hive) // starts a daemon, which deletes what was moved aside
		w.run(program, "stop")
		if left := w.movedAside(); len(left) > 0 {
			t.Errorf("not swept: %v", left)
		}
		w.uninstall(s, program)
	})
}

// uninstall removes a package and waits for the end, as the setup program's remover continues
// in a copy of itself.
func (w *wine) uninstall(s setup, program string) {
	w.t.Helper()
	w.run(s.uninstall(packageFile(w.t, s.pattern), installDir(program))...)
	if !await.Holds(time.Minute, func() bool {
		_, bin := os.Stat(w.unixPath(installDir(program) + `\bin`))
		_, remover := os.Stat(w.unixPath(installDir(program) + `\uninstall.exe`))
		return os.IsNotExist(bin) && os.IsNotExist(remover)
	}) {
		w.t.Errorf("%s is there", installDir(program))
	}
}

// movedAside returns the programs that were moved aside.
func (w *wine) movedAside() []string {
	return slices.DeleteFunc(w.productFiles(), func(name string) bool { return !strings.HasSuffix(name, ".old") })
}

// TestNowhereAside covers a running program that cannot be moved: the setup program
// replaces neither program and reports failure, and its remover stays, to be run again.
func TestNowhereAside(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`)
	s := setups[2]
	before := w.snapshot()
	w.run(s.install(packageFile(t, s.pattern))...)
	program := w.findHost(s)
	daemon := strings.Replace(program, "swapkeep.exe", "swapkeepd.exe", 1)
	elsewhere, err := os.MkdirTemp("/dev/shm", "swapkeep-wine-") // on another file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(elsewhere)
	usual := w.setTempDir(`Z:` + strings.ReplaceAll(elsewhere, "/", `\`))
	other := w.withT(t)
	other.env = append(slices.Clone(w.env), `SWAPKEEP_HOME=C:\state\other`)
	held := other.browser(program)
	w.makeOld(program, daemon)
	w.fails(s.install(packageFile(t, s.pattern))...)
	if w.isOld(program) != w.isOld(daemon) || !w.isOld(program) {
		t.Error("a program was replaced")
	}
	if err := held.Call(t.Context(), "host.hello", nil, nil); err != nil {
		t.Error(err)
	}
	w.run(s.uninstall("", installDir(program))...)
	time.Sleep(30 * time.Second) // the remover continues in a copy of itself, and waits
	if _, err := os.Stat(w.unixPath(installDir(program) + `\uninstall.exe`)); err != nil || w.query(`HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Swapkeep`, "UninstallString") == "" {
		t.Errorf("there is no way back: %v", err)
	}
	_, _ = held.Stop()
	other.run(program, "stop")
	w.setTempDir(usual)
	w.uninstall(s, program)
	w.checkUnchanged(before)
}

// setTempDir sets the Windows directory for temporary files and returns the previous one.
func (w *wine) setTempDir(folder string) (before string) {
	w.t.Helper()
	before = w.query(`HKCU\Environment`, "TEMP")
	for _, name := range []string{"TEMP", "TMP"} {
		w.run("reg", "add", `HKCU\Environment`, "/v", name, "/d", folder, "/f")
	}
	return before
}

var old = time.Unix(1, 0)

// makeOld gives files an old modification time, which aged reports.
func (w *wine) makeOld(paths ...string) {
	w.t.Helper()
	for _, path := range paths {
		if err := os.Chtimes(w.unixPath(path), old, old); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *wine) isOld(path string) bool {
	w.t.Helper()
	info, err := os.Stat(w.unixPath(path))
	if err != nil {
		w.t.Fatal(err)
	}
	return info.ModTime().Equal(old)
}

// olderMSI returns a copy of an MSI with an earlier version.
func olderMSI(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "older.msi")
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for property, value := range map[string]string{"ProductVersion": "0.0.9", "ProductCode": "{00000000-0000-5000-8000-000000000009}"} {
		msi(t, to, "UPDATE `Property` SET `Value`='"+value+"' WHERE `Property`='"+property+"'")
	}
	return to
}

// TestUpdateWhileRunning checks that each Windows package replaces an earlier one while
// browsers have the host running, also one of two updates ago. Both programs in place are
// then the new ones.
func TestUpdateWhileRunning(t *testing.T) {
	forEach(t, func(t *testing.T, w *wine, s setup) {
		before := w.snapshot()
		first := packageFile(t, s.pattern)
		if strings.HasSuffix(first, ".msi") {
			first = olderMSI(t, first)
		}
		w.run(s.install(first)...)
		program := w.findHost(s)
		held := []*client.Process{w.browser(program)}
		w.update(s, program)
		if s.name == "setup.exe" {
			w.checkHandover(held[0])
			held = append(held, w.browser(program))
			w.update(s, program)
		}
		w.checkGreeting(program, s.hive)
		for _, p := range held {
			_, _ = p.Stop()
		}
		w.run(program, "stop")
		w.uninstall(s, program)
		w.checkUnchanged(before)
	})
}

// checkHandover checks that a relay finds the daemon that replaced its first.
func (w *wine) checkHandover(p *client.Process) {
	w.t.Helper()
	var err error
	if !await.Holds(30*time.Second, func() bool { err = p.Call(w.t.Context(), "host.hello", nil, nil); return err == nil }) {
		w.t.Errorf("the daemon did not hand over: %v", err)
	}
}

// update installs over an installation and checks that both programs were replaced.
func (w *wine) update(s setup, program string) {
	w.t.Helper()
	daemon := strings.Replace(program, "swapkeep.exe", "swapkeepd.exe", 1)
	w.makeOld(program, daemon)
	w.run(s.install(packageFile(w.t, s.pattern))...)
	for _, path := range []string{program, daemon} {
		if w.isOld(path) {
			w.t.Errorf("%s is not replaced", path)
		}
	}
}

// TestOneOfTwo checks that of the setup program and the user's MSI, which share a
// directory, the second refuses to install and changes nothing.
func TestOneOfTwo(t *testing.T) {
	w := newWine(t)
	if w == nil {
		return
	}
	w.env = append(w.env, `SWAPKEEP_HOME=C:\state`)
	w.warmUp()
	for _, two := range [][2]setup{{setups[0], setups[2]}, {setups[2], setups[0]}} {
		t.Run(two[1].name+" after "+two[0].name, func(t *testing.T) {
			w := w.withT(t)
			before := w.snapshot()
			w.run(two[0].install(packageFile(t, two[0].pattern))...)
			alone := w.snapshot()
			w.fails(two[1].install(packageFile(t, two[1].pattern))...)
			w.checkUnchanged(alone)
			program := w.findHost(two[0])
			w.checkGreeting(program, two[0].hive)
			w.uninstall(two[0], program)
			w.checkUnchanged(before)
		})
	}
}
