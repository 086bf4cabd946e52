package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/test/await"
)

// unprivileged returns a machine of an unprivileged user, because root can read
// everything. If the tests do not run as root, it is the user's own.
func unprivileged(t *testing.T) (m *machine, as *syscall.SysProcAttr) {
	t.Helper()
	m = newMachine(t)
	if os.Getuid() != 0 {
		return m, nil
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "skm") // the test's own directory is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endServed(t, m.place.Home)
		_ = os.RemoveAll(dir)
	})
	for _, err := range []error{os.Chown(dir, nobody, nobody), os.Chmod(filepath.Dir(bin), 0o711)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	m.place.Home = filepath.Join(dir, "home")
	m.env = append(m.env, "HOME="+dir, "SWAPKEEP_HOME="+m.place.Home)
	return m, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// endServed stops the daemon of a home by the process id in its file "served": root is
// refused at the socket of another user's daemon.
func endServed(t *testing.T, home string) {
	pid := 0
	if !await.Holds(10*time.Second, func() bool { // it may still be starting
		text, _ := os.ReadFile(filepath.Join(home, "served"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 1
	}) {
		t.Error("the relay started no daemon")
		return
	}
	_ = syscall.Kill(pid, syscall.SIGTERM)
}

// held waits for a process to lock the program at a path, as its relays do.
func held(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	return await.Holds(10*time.Second, func() bool {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
			return true
		}
		_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
		return false
	})
}

// hidden reports whether another process of that user cannot read /proc of pid. The
// kernel makes the same check for attaching.
func hidden(t *testing.T, pid int, as *syscall.SysProcAttr) bool {
	t.Helper()
	denied := 0
	for _, name := range []string{"environ", "maps"} {
		cmd := exec.Command("cat", fmt.Sprintf("/proc/%d/%s", pid, name))
		cmd.SysProcAttr = as
		out, err := cmd.CombinedOutput()
		if err != nil && strings.Contains(string(out), "ermission denied") {
			denied++
		}
	}
	return denied == 2
}

// Other processes of the same user cannot read the memory of the relay or of a command
// that waits for a password, while they can read that of a program without such
// protection. Neither process dumps core.
func TestMemoryOfRelayAndCommandsIsHidden(t *testing.T) {
	m, as := unprivileged(t)
	start := func(exe string, args ...string) int {
		cmd := m.command(exe, args...)
		cmd.Dir, cmd.SysProcAttr = "/", as
		in, err := cmd.StdinPipe()
		if err == nil {
			cmd.Stdout = io.Discard
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	if other := start("sleep", "60"); hidden(t, other, as) {
		t.Fatal("any process is hidden: the test proves nothing")
	}
	for name, pid := range map[string]int{"relay": start(bin, origin), "command": start(bin, "keys", "unlock", "--password-fd", "0")} {
		await.Until(t, 10*time.Second, name+": its memory cannot be read", func() bool { return hidden(t, pid, as) })
		wantNoCores(t, name, pid)
		if name == "relay" && !held(t, bin) {
			t.Error("a newer version would take its folder away: nothing tells which program it is")
		}
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("%s: it has ended: %v", name, err)
		}
	}
}
