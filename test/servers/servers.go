//go:build hosted

// Package servers starts private PostgreSQL and Redis servers for tests: in a
// directory of their own, never as root, with passwords, on this machine's loopback
// and a Unix socket. They end with the test process, however it ends.
package servers

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startTime bounds how long a server may take to answer.
const startTime = 30 * time.Second

// supervise runs a server until its standard input ends, as it does with the process
// that started it, tells the server's process id, and ends it by a signal. The last
// argument but those of the server is the signal. Before, what a test has stopped goes
// on, children too: PostgreSQL waits for them.
const supervise = `signal=$1; shift; "$@" & pid=$!; echo $pid; read -r _; kill -CONT $pid $(ps -o pid= --ppid $pid); kill -$signal $pid; wait $pid`

// A process is a server that runs.
type process struct {
	shell *exec.Cmd
	stdin interface{ Close() error }
	pid   int
}

// run starts a server as a user that may run it, and waits until it answers.
func run(dir, signal string, ready func() error, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	p := &process{shell: exec.Command("sh", append(append([]string{"-c", supervise, "sh", signal}, as...), args...)...)}
	p.shell.Dir, p.shell.Stderr = dir, log
	in, err := p.shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = in
	out, err := p.shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.shell.Start(); err != nil {
		return nil, err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if p.pid, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		p.end()
		return nil, err
	}
	for limit := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) { // a foreign program: there is nothing to wait for
		err := ready()
		if err == nil {
			return p, nil
		}
		if time.Now().After(limit) {
			p.end()
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("%s does not answer: %w\n%s", args[0], err, said)
		}
	}
}

// end ends the server and waits for its end.
func (p *process) end() {
	_ = p.stdin.Close()
	_ = p.shell.Wait() // the status of a server that was told to end
}

// owner is whom a server runs as: another user than root.
func owner() (*user.User, error) {
	if os.Getuid() != 0 {
		return user.Current()
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return u, nil
		}
	}
	return nil, fmt.Errorf("neither a user postgres nor nobody: as root no server can be started")
}

// unprivileged are the words before a command that run it as the owner.
func unprivileged() ([]string, error) {
	u, err := owner()
	if err != nil || os.Getuid() != 0 {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}, nil
}

// directory makes one that the owner alone may enter. Its path is short, as those of
// sockets must be.
func directory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	give(t, dir)
	return dir
}

// give makes a file the owner's.
func give(t testing.TB, path string) {
	t.Helper()
	u, err := owner()
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
}

// freePort is one that nobody listens on now.
func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func newPassword() string { return rand.Text() }

// write writes a file that the owner alone reads.
func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	give(t, path)
}
