//go:build faults

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/host/owner"
	"swapkeep/test/await"
)

const flatpakData = ".var/app/org.mozilla.firefox/.mozilla/"

// inFlatpak creates a Firefox in a Flatpak with the extension.
func (w *doctorFixture) inFlatpak() {
	w.folder("/var/lib/flatpak/app/org.mozilla.firefox")
	w.write(flatpakData+"firefox/ann.default/extensions.json", w.read(".mozilla/firefox/ann.default/extensions.json"))
}

// opened is what a Flatpak lets the host access.
type opened struct{ home, access string }

// flatpak creates a Firefox in a Flatpak that swapkeep is installed for, and a flatpak
// command that prints its permissions in the real command's format.
func (w *doctorFixture) flatpak(o opened) {
	w.inFlatpak()
	current := w.program
	w.program = filepath.Join(w.package_, "swapkeep")
	w.run("install")
	w.program = current
	w.says("flatpak", fmt.Sprintf(`case "$*" in
"info --show-permissions org.mozilla.firefox") printf '[Context]\nshared=network;ipc;\nfilesystems=xdg-download;\n\n[Environment]\nSWAPKEEP_HOME=%%s\n' '%s' ;;
"info --file-access="*" org.mozilla.firefox") echo %s ;;
*) exit 1 ;;
esac`, o.home, o.access))
}

// refusedSnap creates a Firefox in a Snap whose portal question the user refused.
func (w *doctorFixture) refusedSnap() {
	w.folder("snap/firefox")
	w.says("flatpak", `case "$*" in
"permissions webextensions app.swapkeep.host") printf 'webextensions\tapp.swapkeep.host\tsnap.firefox\tno\t0x00\n' ;;
*) exit 1 ;;
esac`)
}

// says puts a script on the PATH.
func (w *doctorFixture) says(name, script string) {
	w.write("commands/"+name, "#!/bin/sh\n"+script+"\n")
	w.chmod("commands/"+name, 0o755)
	w.env = append(w.env, "PATH="+w.at("commands")+":/usr/bin:/bin")
}

// onASmallDisk mounts a file system of 8 MiB on the state directory, visible only to
// programs run in the fixture.
func (w *doctorFixture) onASmallDisk() {
	const script = `cp "$0/receipts.json" "$0.receipts" && mount -t tmpfs -o size=8m,mode=700 none "$0" && cp "$0.receipts" "$0/receipts.json" && exec "$@"`
	w.wrapper = []string{"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, w.place.Home}
	if out, err := exec.Command(w.wrapper[0], append(w.wrapper[1:], "true")...).CombinedOutput(); err != nil {
		w.t.Skipf("NOT RUN: this machine lets nobody mount: %v, %s", err, out)
	}
}

// lockedKeychain starts a Secret Service with a locked collection of an earlier session,
// and without a display for its prompt.
func (w *doctorFixture) lockedKeychain() {
	end := w.keychain("before", "fixture")
	await.Until(w.t, 10*time.Second, "a collection", func() bool {
		kept, _ := filepath.Glob(w.at(".local/share/keyrings/*.keyring"))
		return len(kept) > 0
	})
	end()
	w.t.Cleanup(w.keychain("now", ""))
}

// keychain starts a session with a Secret Service on its own bus, which stays locked
// without a password. Programs run in the fixture use it.
func (w *doctorFixture) keychain(session, password string) (end func()) {
	run := w.at("/" + session)
	w.ok(os.Mkdir(run, 0o700))
	bus := "DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(run, "bus")
	env := append(slices.Clone(w.env), bus, "XDG_RUNTIME_DIR="+run)
	w.env = append(w.env, bus)
	endBus := w.begin(env, "", "dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path="+filepath.Join(run, "bus"))
	await.Until(w.t, 10*time.Second, "a bus", func() bool { _, err := os.Stat(filepath.Join(run, "bus")); return err == nil })
	args := []string{"--foreground", "--components=secrets"}
	if password != "" {
		args = append(args, "--unlock")
	}
	endService := w.begin(env, password, "gnome-keyring-daemon", args...)
	await.Until(w.t, 10*time.Second, "a Secret Service", func() bool {
		ask := exec.Command("dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.secrets")
		ask.Env = env
		out, _ := ask.Output()
		return bytes.Contains(out, []byte("boolean true"))
	})
	return func() { endService(); endBus() }
}

// begin starts a program that end stops.
func (w *doctorFixture) begin(env []string, input, name string, args ...string) (end func()) {
	w.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdin = env, strings.NewReader(input)
	w.ok(cmd.Start())
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// The doctor does not stop its daemon if a browser has connected to it meanwhile.
func TestDoctorLeavesABrowserItsDaemon(t *testing.T) {
	w := newDoctorFixture(t)
	w.remove(firefoxFile) // one launch is enough
	w.ok(os.Rename(w.at(programFile), w.at("real")))
	w.ok(os.Symlink(w.at(".local/lib/swapkeep/0.1.0/swapkeepd"), w.at("swapkeepd")))
	w.ok(unix.Mkfifo(w.at("port"), 0o600))
	port, err := os.OpenFile(w.at("port"), os.O_RDWR, 0)
	w.ok(err)
	t.Cleanup(func() { // before the daemon ends, otherwise the browser's host would start another
		_ = port.Close()
		await.Until(w.t, 10*time.Second, "end of the browser's host", func() bool { _, err := os.Stat(w.at("left")); return err == nil })
	})
	w.remove(".local/state/swapkeep/receipts.json") // a changed program would not be started
	w.write(programFile, "#!/bin/sh\ncd "+w.home+`
{ ./real "$@" <port; : >left; } >/dev/null 2>&1 & # the browser
sleep 2
exec ./real "$@"
`)
	w.chmod(programFile, 0o755)
	w.program = w.at("real")
	if got := w.doctor(); strings.Contains(got, "goes on") {
		t.Errorf("it is not the doctor's any more:\n%s", got)
	}
	if _, held := owner.Holder(w.place); !held {
		t.Error("the daemon was stopped while a browser had it")
	}
}
