package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/test/await"
)

// asRole makes the test binary run as another program of the same user.
const asRole = "TEST_BINARY_AS"

var roles = map[string]func(){
	"daemon": main,
	"victim": victim,
	"thief":  thief,
	"crowd":  crowd,
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(asRole)]; role != nil {
		role()
		os.Exit(0)
	}
	syscall.Umask(0o022) // with umask 002, configurations in t.TempDir() would be group-writable
	os.Exit(m.Run())
}

// victim is a program that does not protect its memory.
func victim() {
	_ = unix.Prctl(unix.PR_SET_PTRACER, unix.PR_SET_PTRACER_ANY, 0, 0, 0) // so that Yama does not protect it
	fmt.Println("ready")
	time.Sleep(time.Hour) // blocking without cgo would be reported as a deadlock
}

// thefts are the ways to read another process's memory.
var thefts = []struct {
	name string
	do   func(pid int) error
}{
	{"mem", func(pid int) error { return readable(pid, "mem") }},
	{"environ", func(pid int) error { return readable(pid, "environ") }},
	{"maps", func(pid int) error { return readable(pid, "maps") }},
	{"ptrace", unix.PtraceAttach},
	{"process_vm_readv", func(pid int) error {
		local := []unix.Iovec{{Base: new(byte), Len: 1}}
		_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
		return err
	}},
}

// readable returns an error if a file of the process in /proc cannot be read.
func readable(pid int, name string) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil || name == "mem" { // address 0 is not mapped, so nothing can be read
		return err
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 64))
	if n == 0 && err == nil {
		return unix.EACCES
	}
	return err
}

// thief tries all thefts on the process of its argument and prints which are denied.
func thief() {
	pid, _ := strconv.Atoi(os.Args[1])
	for _, t := range thefts {
		err := t.do(pid)
		denied := os.IsPermission(err) || err == unix.EPERM
		fmt.Println(t.name, denied, err)
	}
}

// crowd opens that many connections at once, prints how many the daemon keeps, and holds
// them open.
func crowd() {
	many, _ := strconv.Atoi(os.Args[1])
	kept, all := 0, []net.Conn{} // keeps the connections from being collected and closed
	for range many {
		conn, err := transport.Dial(context.Background(), transport.Instance{Home: os.Getenv("SWAPKEEP_HOME")})
		if err != nil {
			fmt.Println(err)
			return
		}
		all = append(all, conn)
		attach := `{"jsonrpc":"2.0","id":1,"method":"host.attach","params":{"kind":"terminal","origin":"terminal","version":"test"}}`
		if err := frame.NewWriter(conn).Write([]byte(attach)); err != nil {
			continue // already refused
		}
		if answer, err := frame.NewReader(conn).Read(); err == nil && strings.Contains(string(answer), `"result"`) {
			kept++
		}
	}
	fmt.Println(kept)
	_, _ = io.ReadAll(os.Stdin)
	for _, conn := range all {
		_ = conn.Close()
	}
}

// user is an unprivileged user with a directory of their own.
type user struct {
	t    *testing.T
	dir  string
	cred *syscall.Credential // nil: the user who runs the test
}

func someone(t *testing.T) *user {
	t.Helper()
	dir, err := os.MkdirTemp("", "skd") // the test's own directory is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	u := &user{t: t, dir: dir}
	if os.Getuid() == 0 {
		const nobody = 65534
		u.cred = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u *user) command(role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(u.t.Context(), "/proc/self/exe", args...) // the binary's directory is closed to other users
	cmd.Dir = "/"
	cmd.Env = []string{asRole + "=" + role, "HOME=" + u.dir, "SWAPKEEP_HOME=" + u.home(), "SWAPKEEP_KEYS_BACKEND=file", "SWAPKEEP_SANDBOX=true", "SWAPKEEP_PRICES_LISTEN=off"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.cred}
	return cmd
}

func (u *user) home() string { return filepath.Join(u.dir, "home") }

// start runs a role until the test ends.
func (u *user) start(role string, ready func(*bufio.Reader) error) int {
	u.t.Helper()
	cmd := u.command(role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := ready(bufio.NewReader(out)); err != nil {
		u.t.Fatalf("%s: %v", role, err)
	}
	return cmd.Process.Pid
}

// denied returns the thefts from pid that fail.
func (u *user) denied(pid int) (names []string) {
	u.t.Helper()
	out, err := u.command("thief", strconv.Itoa(pid)).CombinedOutput()
	if err != nil {
		u.t.Fatalf("%v\n%s", err, out)
	}
	u.t.Logf("from process %d:\n%s", pid, out)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); f[1] == "true" {
			names = append(names, f[0])
		}
	}
	return names
}

// No program of the same user can read the daemon's memory or attach to it, while it
// could with an unprotected process. As root the test runs both as an unprivileged user,
// because root can read everything.
func TestMemoryIsNotReadable(t *testing.T) {
	u := someone(t)
	var all []string
	for _, theft := range thefts {
		all = append(all, theft.name)
	}
	daemon := u.start("daemon", func(*bufio.Reader) error { return u.daemonReady() })
	if denied := u.denied(daemon); !slices.Equal(denied, all) {
		t.Errorf("of %v only %v are denied", all, denied)
	}
	other := u.start("victim", func(out *bufio.Reader) error { _, err := out.ReadString('\n'); return err })
	if denied := u.denied(other); len(denied) != 0 {
		t.Errorf("%v are denied of any process: the test proves nothing", denied)
	}
}

// daemonReady waits until the daemon's log says that it is ready.
func (u *user) daemonReady() error {
	place := transport.Instance{Home: u.home()}
	var log []byte
	if !await.Holds(20*time.Second, func() bool {
		log, _ = os.ReadFile(place.LogPath())
		return strings.Contains(string(log), `"ready"`)
	}) {
		return fmt.Errorf("not ready: %s", log)
	}
	return nil
}

// At the real daemon's socket, one process cannot take up all connections.
func TestOneProcessDoesNotTakeAllConnections(t *testing.T) {
	u := someone(t)
	u.start("daemon", func(*bufio.Reader) error { return u.daemonReady() })
	kept := func(many int) (n int) {
		cmd := u.command("crowd", strconv.Itoa(many))
		in, err := cmd.StdinPipe() // the crowd ends when its input is closed
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		line, _ := bufio.NewReader(out).ReadString('\n')
		if n, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatalf("the crowd said %q", line)
		}
		return n
	}
	if n := kept(protocol.MaxConnections + 1); n != protocol.MaxPerProcess {
		t.Errorf("one process keeps %d connections, want %d", n, protocol.MaxPerProcess)
	}
	if n := kept(1); n != 1 {
		t.Error("another process has none")
	}
}
