//go:build browser

package desk

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const busVariable = "DBUS_SESSION_BUS_ADDRESS"

// A KeychainState is what becomes of a desk's own keychain.
type KeychainState string

// The states. What the keychain holds stays in all of them.
const (
	KeychainOpen   KeychainState = "open"
	KeychainLocked KeychainState = "locked" // and nobody answers its prompt
	KeychainDenied KeychainState = "denied" // its bus lets nobody ask it
	KeychainGone   KeychainState = "gone"
)

// busConfig is a bus that starts no service by itself: its socket, and more rules.
const busConfig = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>%s</policy></busconfig>`

// keychain is a Secret Service on a bus of its own.
type keychain struct {
	t       *testing.T
	dir     string
	env     []string
	bus     *exec.Cmd
	service *exec.Cmd // nil = it does not run
}

// ownKeychain begins the desk's keychain and returns its bus's address.
func (d *Desk) ownKeychain() string {
	d.t.Helper()
	k := &keychain{t: d.t, dir: d.folder("keychain")}
	address := "unix:path=" + k.socket()
	k.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.dir, "XDG_RUNTIME_DIR=" + k.dir, busVariable + "=" + address}
	k.allow("")
	k.bus = k.run("", "dbus-daemon", "--config-file="+k.config(), "--nofork", "--nopidfile")
	d.t.Cleanup(func() { k.end(k.service); k.end(k.bus) })
	k.until("bus", func() bool { _, err := os.Stat(k.socket()); return err == nil })
	d.keychain = k
	d.Keychain(KeychainOpen)
	return address
}

// Keychain has the desk's own keychain be in a state from now on.
func (d *Desk) Keychain(state KeychainState) {
	d.t.Helper()
	k := d.keychain
	if k == nil {
		d.t.Fatal("the keychain is that of all desks: ask for one by Options.Keychain")
	}
	k.end(k.service)
	k.service = nil
	k.allow("")
	switch state {
	case KeychainOpen:
		k.serve("--unlock")
	case KeychainLocked:
		k.serve()
	case KeychainDenied:
		k.serve("--unlock")
		k.allow(`<deny send_destination="org.freedesktop.secrets"/>`)
	}
}

func (k *keychain) socket() string { return filepath.Join(k.dir, "bus") }
func (k *keychain) config() string { return filepath.Join(k.dir, "bus.conf") }

// serve starts the Secret Service; unlocked, if its arguments say so.
func (k *keychain) serve(args ...string) {
	k.t.Helper()
	k.service = k.run("desk", "gnome-keyring-daemon", append([]string{"--foreground", "--components=secrets"}, args...)...)
	k.until("keychain", func() bool { return k.ask("NameHasOwner", "string:org.freedesktop.secrets") })
}

// allow sets the bus's rules besides those that allow all.
func (k *keychain) allow(rules string) {
	k.t.Helper()
	if err := os.WriteFile(k.config(), fmt.Appendf(nil, busConfig, k.socket(), rules), 0o600); err != nil {
		k.t.Fatal(err)
	}
	if k.bus != nil && !k.ask("ReloadConfig") {
		k.t.Fatal("the bus does not take its rules")
	}
}

// ask calls the bus itself, and reports whether it answers and does not say false.
func (k *keychain) ask(method string, args ...string) bool {
	cmd := exec.Command("dbus-send", append([]string{"--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus." + method}, args...)...)
	cmd.Env = k.env
	out, err := cmd.Output()
	return err == nil && !bytes.Contains(out, []byte("boolean false"))
}

// run starts a program that ends with the test's process, whatever becomes of that.
func (k *keychain) run(input, name string, args ...string) *exec.Cmd {
	k.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdin = k.env, strings.NewReader(input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return cmd
}

func (k *keychain) end(cmd *exec.Cmd) {
	if cmd == nil {
		return
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (k *keychain) until(what string, is func() bool) {
	k.t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(pause) {
		if time.Now().After(end) {
			k.t.Fatalf("there is no %s in %s", what, patience)
		}
	}
}
