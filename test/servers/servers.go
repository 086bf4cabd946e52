//go:build hosted

// Package servers starts private PostgreSQL and Redis servers for tests: each in its own
// directory, never as root, with a password, on loopback and a Unix socket. They end with
// the test process, however it ends.
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

	"swapkeep/test/await"
)

// startTimeout limits how long a server may take to answer.
const startTimeout = 30 * time.Second

// supervise is a shell script that runs a server, prints its process id, and waits for the
// end of its standard input, which comes at the latest when the starting process ends. It
// then sends SIGCONT to the server and its children, because PostgreSQL waits for stopped
// ones, and ends the server by a signal. Its arguments are the signal and the server's
// command.
const supervise = `signal=$1; shift; "$@" & pid=$!; echo $pid; read -r _; kill -CONT $pid $(ps -o pid= --ppid $pid); kill -$signal $pid; wait $pid`

// A process is a running server.
type process struct {
	shell *exec.Cmd
	stdin interface{ Close() error }
	pid   int
}

// run starts a server as the owner and waits until it answers.
func run(dir, signal string, ready func() error, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	as, err := asServerUser()
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
	if !await.Holds(startTimeout, func() bool { err = ready(); return err == nil }) { // another project's program, so there is no event to wait for
		p.end()
		said, _ := os.ReadFile(filepath.Join(dir, "log"))
		return nil, fmt.Errorf("%s does not answer: %w\n%s", args[0], err, said)
	}
	return p, nil
}

// end stops the server and waits for its exit.
func (p *process) end() {
	_ = p.stdin.Close()
	_ = p.shell.Wait() // the exit status of a server stopped by a signal
}

// serverUser returns the user that servers run as, which is never root.
func serverUser() (*user.User, error) {
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

// asServerUser returns the command prefix that runs a program as the owner.
func asServerUser() ([]string, error) {
	u, err := serverUser()
	if err != nil || os.Getuid() != 0 {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}, nil
}

// privateDir creates a directory that only the owner may enter. Its path is short because of
// the limit on socket paths.
func privateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	chownToServerUser(t, dir)
	return dir
}

// chownToServerUser makes the owner the owner of a file.
func chownToServerUser(t testing.TB, path string) {
	t.Helper()
	u, err := serverUser()
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
}

// freePort returns a TCP port that is free now.
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

// writePrivate writes a file that only the owner may read.
func writePrivate(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	chownToServerUser(t, path)
}
