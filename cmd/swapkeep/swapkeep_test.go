//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/frame"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

const (
	chromiumID = "abcdefghijklmnopabcdefghijklmnop"
	firefoxID  = "test@swapkeep.invalid"
	origin     = "chrome-extension://" + chromiumID + "/"
)

// bin is swapkeep with a fake swapkeepd next to it; faulty is swapkeep built with the
// faults tag.
var bin, faulty string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if flag.Parse(); flag.Lookup("test.fuzz").Value.String() != "" { // no fuzz target starts a program
		return m.Run()
	}
	syscall.Umask(0o022) // with umask 002, configurations in t.TempDir() would be group-writable
	dir, err := os.MkdirTemp("", "swapkeep-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin, faulty = filepath.Join(dir, "swapkeep"), filepath.Join(dir, "swapkeep-faults")
	for _, args := range [][]string{
		{"build", "-o", bin, "."},
		{"build", "-tags", "faults", "-o", faulty, "."},
		{"build", "-o", filepath.Join(dir, "swapkeepd"), "../../test/fakedaemon"},
	} {
		build := exec.Command("go", args...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as released; the race detector's tests have it on
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %v: %v\n%s", args, err, out)
			return 1
		}
	}
	return m.Run()
}

// A machine is a home with its environment.
type machine struct {
	t     *testing.T
	place transport.Instance
	env   []string
}

func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	dir := t.TempDir()
	m := &machine{t: t, place: transport.Instance{Home: filepath.Join(dir, "home")}}
	m.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SWAPKEEP_HOME=" + m.place.Home,
		"SWAPKEEP_EXTENSIONS_CHROMIUM=" + chromiumID, "SWAPKEEP_EXTENSIONS_FIREFOX=" + firefoxID,
		"SWAPKEEP_PRICES_DISABLED=true", // the real services would be asked
	}, env...)
	t.Cleanup(m.stopDaemon)
	return m
}

// stopDaemon kills the daemon of this home by the process id that the kernel reports.
func (m *machine) stopDaemon() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := transport.Dial(ctx, m.place)
	if err != nil {
		return
	}
	peer, err := transport.PeerOf(conn)
	_ = conn.Close()
	if err == nil {
		_ = syscall.Kill(peer.PID, syscall.SIGTERM)
	}
	if err := owner.WaitFree(ctx, m.place); err != nil {
		m.t.Error(err)
	}
}

func (m *machine) command(exe string, args ...string) *exec.Cmd {
	cmd := exec.Command(exe, args...)
	cmd.Env = m.env
	return cmd
}

// browse starts the host as a browser does.
func (m *machine) browse(args ...string) *client.Process {
	m.t.Helper()
	return m.start(m.command(bin, args...))
}

// start starts a relay and makes sure that it ends before the daemon does.
func (m *machine) start(cmd *exec.Cmd) *client.Process {
	m.t.Helper()
	p, err := client.Start(cmd)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _, _ = p.Stop() })
	return p
}

// A reply is an answer of the fake daemon.
type reply struct {
	PID    int    `json:"pid"`
	Method string `json:"method"`
}

func inquire(t *testing.T, c *client.Client, method string) (reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	var r reply
	err := c.Call(ctx, method, nil, &r)
	return r, err
}

func greeting(t *testing.T, c *client.Client) protocol.Hello {
	t.Helper()
	select {
	case n := <-c.Notifications():
		var hello protocol.Hello
		if err := json.Unmarshal(n.Params, &hello); err != nil || n.Method != "host.hello" {
			t.Fatalf("%s %s, %v", n.Method, n.Params, err)
		}
		return hello
	case <-c.Done():
		t.Fatalf("no hello: %v", c.Err())
	case <-time.After(12 * time.Second):
		t.Fatal("no hello")
	}
	return protocol.Hello{}
}

func leave(t *testing.T, p *client.Process) {
	t.Helper()
	took, err := p.Stop()
	if err != nil || took > 100*time.Millisecond {
		t.Fatalf("left after %s: %v", took, err)
	}
}

func told(t *testing.T, c *client.Client) *protocol.Error {
	t.Helper()
	select {
	case f := <-c.Faults():
		return f
	case <-time.After(12 * time.Second):
		t.Fatal("no error came")
		return nil
	}
}

func TestAsChromiumAndAsFirefox(t *testing.T) {
	for name, tt := range map[string]struct {
		args   []string
		origin string
	}{
		"chromium":            {[]string{origin}, origin},
		"chromium on Windows": {[]string{origin, "--parent-window=0"}, origin},
		"firefox":             {[]string{"/x/app.swapkeep.host.json", firefoxID}, firefoxID},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			p := m.browse(tt.args...)
			if h := greeting(t, p.Client); h.Connection.Kind != "browser" || h.Connection.Origin != tt.origin || h.Connection.Version != version {
				t.Fatalf("attached as %+v", h.Connection)
			}
			if r, err := inquire(t, p.Client, "host.status"); err != nil || r.Method != "host.status" {
				t.Fatalf("%+v, %v", r, err)
			}
			leave(t, p)
			if _, err := transport.Dial(t.Context(), m.place); err != nil {
				t.Fatalf("the daemon left with its relay: %v", err)
			}
		})
	}
}

func TestStrangersAreRefused(t *testing.T) {
	tests := map[string][]string{
		"another extension": {"chrome-extension://" + strings.Repeat("a", 32) + "/"},
		"out of form":       {"chrome-extension://*/"},
		"another add-on":    {"/x/app.swapkeep.host.json", "other@swapkeep.invalid"},
		"no origin":         {},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			p := m.browse(args...)
			if f := told(t, p.Client); f.Name != "origin_refused" {
				t.Fatal(f)
			}
			if code := p.ExitCode(); code != exitRefused {
				t.Fatalf("exit status %d", code)
			}
			if _, err := os.Stat(m.place.Home); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("a stranger had a home made: %v", err)
			}
		})
	}
	t.Run("no origin, switched on", func(t *testing.T) {
		m := newMachine(t, "SWAPKEEP_EXTENSIONS_ALLOW_UNKNOWN=true")
		if h := greeting(t, m.browse().Client); h.Connection.Origin != protocol.UnknownOrigin {
			t.Fatalf("attached as %+v", h.Connection)
		}
	})
}

func TestStrayArguments(t *testing.T) {
	m := newMachine(t)
	for _, args := range [][]string{{"--parent-window=0"}, {"nonsense"}, {"chrome-extension:", "x"}} {
		p := m.browse(args...)
		if f := told(t, p.Client); f.Name != "invalid_request" || p.ExitCode() != exitUsage {
			t.Fatalf("%q: %v, exit status %d", args, f, p.ExitCode())
		}
	}
	out, err := m.command(bin, "nonsense").CombinedOutput() // no pipe on standard input, as for a user
	if !strings.Contains(string(out), `unknown command "nonsense"`) || err == nil {
		t.Fatalf("%s, %v", out, err)
	}
}

func TestBrokenConfiguration(t *testing.T) {
	m := newMachine(t, "SWAPKEEP_NO_SUCH_KEY=hunter2")
	f := told(t, m.browse(origin).Client)
	if f.Name != "internal" || strings.Contains(f.Error(), "hunter2") || !strings.Contains(f.Remedy, "swapkeep status") {
		t.Fatal(f)
	}
	out, _ := m.command(bin, "status").CombinedOutput()
	if !strings.Contains(string(out), "SWAPKEEP_NO_SUCH_KEY") {
		t.Fatalf("%s", out)
	}
}

func TestNoDaemonToStart(t *testing.T) {
	m := newMachine(t)
	alone := filepath.Join(t.TempDir(), "swapkeep")
	exe, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, exe, 0o700); err != nil {
		t.Fatal(err)
	}
	p := m.start(m.command(alone, origin))
	if f := told(t, p.Client); f.Name != "daemon_lost" || p.ExitCode() != exitFailed {
		t.Fatalf("%v, exit status %d", f, p.ExitCode())
	}
}

// After boot a browser may open many ports at once.
func TestTwentyFromCold(t *testing.T) {
	m := newMachine(t)
	ports := make([]*client.Process, 20)
	for n := range ports {
		ports[n] = m.browse(origin)
	}
	pids := make([]int, len(ports))
	var wg sync.WaitGroup
	for n, p := range ports {
		wg.Go(func() {
			r, err := inquire(t, p.Client, "host.status")
			if err != nil {
				t.Error(err)
			}
			pids[n] = r.PID
		})
	}
	wg.Wait()
	if slices.Sort(pids); pids[0] == 0 || pids[0] != pids[len(pids)-1] {
		t.Fatalf("answers from the daemons %v", pids)
	}
	if served := m.noted("served"); len(served) != 1 || served[0] != strconv.Itoa(pids[0]) {
		t.Fatalf("daemons that served: %v", served)
	}
	for _, p := range ports {
		leave(t, p)
	}
}

func (m *machine) noted(name string) []string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.place.Home, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestDaemonKilled(t *testing.T) {
	m := newMachine(t)
	p, q := m.browse(origin), m.browse(origin)
	first := greeting(t, p.Client).StateDirID
	greeting(t, q.Client)
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := greeting(t, p.Client).StateDirID
	if second == first || greeting(t, q.Client).StateDirID != second {
		t.Fatalf("daemons %s and %s", first, second)
	}
	if r, err := inquire(t, p.Client, "host.status"); err != nil || strconv.Itoa(r.PID) != second {
		t.Fatalf("%+v, %v", r, err)
	}
	leave(t, p)
	leave(t, q)
}

func TestRelayKilled(t *testing.T) {
	m := newMachine(t)
	p := m.browse(origin)
	daemon := greeting(t, p.Client).StateDirID
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	q := m.browse(origin)
	if again := greeting(t, q.Client).StateDirID; again != daemon {
		t.Fatalf("the daemon %s was replaced by %s", daemon, again)
	}
	if _, err := inquire(t, q.Client, "host.status"); err != nil {
		t.Fatal(err)
	}
	leave(t, q)
	if left := children(t, p.PID()); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// children returns the processes whose parent is pid.
func children(t *testing.T, pid int) []string {
	t.Helper()
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(pid)).Output()
	var none *exec.ExitError
	if err != nil && !errors.As(err, &none) {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// Ten thousand requests are written before the first answer is read.
func TestTenThousandAtOnce(t *testing.T) {
	m := newMachine(t)
	cmd := m.command(bin, origin)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const many = 10_000
	out, in := frame.NewWriter(stdin), frame.NewReader(stdout)
	pad := strings.Repeat("x", 1000)
	go func() {
		for n := range many {
			_ = out.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m","params":{"pad":%q}}`, n, pad))
		}
	}()
	time.Sleep(300 * time.Millisecond) // until the pipes are full
	seen := 0
	for seen < many {
		body, err := in.Read()
		if err != nil {
			t.Fatalf("after %d answers: %v", seen, err)
		}
		if bytes.Contains(body, []byte(`"host.hello"`)) {
			continue
		}
		if !bytes.Contains(body, fmt.Appendf(nil, `"id":%d,`, seen)) {
			t.Fatalf("answer %d is %s", seen, body)
		}
		seen++
	}
	peak := peakMemory(t, cmd.Process.Pid)
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("peak resident size of the relay: %d kB", peak)
	if peak > 40<<10 {
		t.Fatalf("the relay grew to %d kB", peak)
	}
}

func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

// Neither the relay nor the daemon that it starts dumps core.
func TestNoCoreDumps(t *testing.T) {
	m := newMachine(t)
	p := m.browse(origin)
	daemon, err := strconv.Atoi(greeting(t, p.Client).StateDirID)
	if err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]int{"relay": p.PID(), "daemon": daemon} {
		wantNoCores(t, name, pid)
	}
	leave(t, p)
}

func wantNoCores(t *testing.T, name string, pid int) {
	t.Helper()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, core, _ := strings.Cut(string(limits), "Max core file size")
	if got := strings.Fields(core)[:2]; got[0] != "0" || got[1] != "0" { // soft and hard limit
		t.Errorf("%s: core files of %q bytes", name, got)
	}
}

// A stray print does not reach the browser, and a closed browser kills no relay.
func TestStrayPrint(t *testing.T) {
	m := newMachine(t, "SWAPKEEP_FAILPOINT=stray-print", "SWAPKEEP_DAEMON="+filepath.Join(filepath.Dir(bin), "swapkeepd"))
	cmd := m.command(faulty, origin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	p := m.start(cmd)
	greeting(t, p.Client)
	if _, err := inquire(t, p.Client, "host.status"); err != nil {
		t.Fatal(err)
	}
	leave(t, p)
	for _, line := range []string{"hello from a library\n", "hello from C\n"} {
		if !strings.Contains(stderr.String(), line) {
			t.Errorf("%q went missing: %q", line, stderr.String())
		}
	}
}

// Chromium closes both pipes at once. Writing afterwards must not end the process by a
// signal.
func TestBrokenPipeIsNoSignal(t *testing.T) {
	m := newMachine(t)
	cmd := m.command(bin, origin)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = write.Close(), read.Close()
	if err := cmd.Wait(); err != nil { // the hello meets a closed pipe while the input is still open
		t.Fatalf("ended with %v", err)
	}
	_ = stdin.Close()
}

func TestDescriptorsOfTheDaemon(t *testing.T) {
	m := newMachine(t)
	cmd := m.command(bin, origin)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = read.Close(), write.Close() }()
	cmd.ExtraFiles = []*os.File{write} // Firefox leaves a pipe on descriptor 3
	p := m.start(cmd)
	greeting(t, p.Client)
	leave(t, p)
	for _, line := range m.noted("descriptors") {
		if strings.Contains(line, "pipe:") {
			t.Errorf("the daemon holds %s", line)
		}
	}
}

// A signal ends the relay like any program, since it has nothing to clean up, and the
// daemon keeps running.
func TestSignalEndsTheRelay(t *testing.T) {
	m := newMachine(t)
	p := m.browse(origin)
	before := greeting(t, p.Client)
	if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Exited():
	case <-time.After(time.Second):
		t.Fatal("SIGTERM was not heard")
	}
	again := m.browse(origin)
	if after := greeting(t, again.Client); after.Instance != before.Instance {
		t.Errorf("another daemon: %s, %s", before.Instance, after.Instance)
	}
	leave(t, again)
}

func TestCommands(t *testing.T) {
	m := newMachine(t)
	steps := []struct {
		args []string
		exit int
		want string
	}{
		{[]string{"status"}, exitNoDaemon, "swapkeepd is not running"},
		{[]string{"status", "--json"}, exitNoDaemon, `"state": "not running"`},
		{[]string{"stop"}, exitOK, "swapkeepd is not running"},
		{[]string{"version"}, exitOK, "swapkeep " + version},
		{[]string{"version", "--json"}, exitOK, `"protocol"`},
		{[]string{"--version"}, exitOK, version},
		{[]string{"help"}, exitOK, "Swaps:"},
		{nil, exitOK, "Swaps:"},
		{[]string{"status", "more"}, exitUsage, "takes no argument"},
		{[]string{"status", "--no-such-flag"}, exitUsage, "unknown flag"},
		{[]string{"frobnicate", "--json"}, exitUsage, `"name": "usage"`},
		{[]string{"--home", "relative", "status"}, exitUsage, "absolute"},
		{[]string{"--config", "/no/such/file", "status"}, exitUsage, "/no/such/file"},
		{[]string{"manifest", "chromium"}, exitOK, "chrome-extension://" + chromiumID + "/"},
		{[]string{"manifest", "firefox"}, exitOK, firefoxID},
		{[]string{"manifest", "netscape"}, exitUsage, "choose a browser family"},
	}
	for _, step := range steps {
		out, code := m.do(step.args...)
		if code != step.exit || !strings.Contains(out, step.want) {
			t.Errorf("swapkeep %q: exit status %d, want %d and %q:\n%s", step.args, code, step.exit, step.want, out)
		}
	}
}

func (m *machine) do(args ...string) (string, int) {
	m.t.Helper()
	out, err := m.command(bin, args...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return string(out), exitOK
	case errors.As(err, &exit):
		return string(out), exit.ExitCode()
	}
	m.t.Fatal(err)
	return "", 0
}

func TestStatusAndStop(t *testing.T) {
	m := newMachine(t)
	p := m.browse(origin)
	daemon := greeting(t, p.Client).StateDirID
	leave(t, p)
	if out, code := m.do("status"); code != exitOK || !strings.Contains(out, "pid "+daemon) {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	if out, code := m.do("version"); code != exitOK || !strings.Contains(out, "daemon ") {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	if out, code := m.do("stop", "--json"); code != exitOK || !strings.Contains(out, `"stopped"`) {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	if _, code := m.do("status"); code != exitNoDaemon {
		t.Fatalf("exit status %d after stop", code)
	}
}

// A daemon that holds the home's lock without listening, because it is starting or
// exiting, is not treated as absent.
func TestDaemonThatDoesNotListen(t *testing.T) {
	m := newMachine(t)
	o, err := owner.Acquire(m.place)
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(os.Getpid())
	if out, code := m.do("status"); code != exitNoDaemon || !strings.Contains(out, "does not answer: pid "+pid) {
		t.Errorf("status: exit status %d:\n%s", code, out)
	}
	if out, code := m.do("status", "--json"); code != exitNoDaemon || !strings.Contains(out, `"no_answer"`) {
		t.Errorf("status: exit status %d:\n%s", code, out)
	}
	if out, _ := m.do("version"); !strings.Contains(out, "daemon not answering") {
		t.Errorf("version:\n%s", out)
	}
	gone := make(chan error, 1)
	time.AfterFunc(300*time.Millisecond, func() { gone <- o.Close() })
	out, code := m.do("stop")
	select {
	case err := <-gone:
		if err != nil || code != exitOK {
			t.Errorf("stop: exit status %d, %v:\n%s", code, err, out)
		}
	default:
		t.Errorf("stop did not wait: exit status %d:\n%s", code, out)
		<-gone
	}
}

// Status reports a home that is refused, with the remedy.
func TestStatusTellsOfAnUnsafeHome(t *testing.T) {
	m := newMachine(t)
	if err := os.Mkdir(m.place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(m.place.Home, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, code := m.do("status"); code != exitNoDaemon || !strings.Contains(out, "chmod 700") {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}

// After a stop, a port that is still open does not restart the daemon.
func TestStopHolds(t *testing.T) {
	m := newMachine(t)
	p := m.browse(origin)
	greeting(t, p.Client)
	if out, code := m.do("stop"); code != exitOK {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	time.Sleep(500 * time.Millisecond)
	if out, code := m.do("status"); code != exitNoDaemon {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	q := m.browse(origin)
	if greeting(t, q.Client).Instance != greeting(t, p.Client).Instance {
		t.Fatal("the old port and the new one see different daemons")
	}
	leave(t, p)
	leave(t, q)
}

func TestManifestIntoAFolder(t *testing.T) {
	m, dir := newMachine(t), t.TempDir()
	if out, code := m.do("manifest", "chromium", "--dir", dir); code != exitOK {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
	var file struct{ Path string }
	b, err := os.ReadFile(filepath.Join(dir, "app.swapkeep.host.json"))
	if err != nil || json.Unmarshal(b, &file) != nil || file.Path != bin {
		t.Fatalf("%s, %v", b, err)
	}
	m.env = slices.DeleteFunc(m.env, func(s string) bool { return strings.HasPrefix(s, "SWAPKEEP_EXTENSIONS") })
	if out, code := m.do("manifest", "firefox"); code != exitUsage || !strings.Contains(out, "extensions") {
		t.Fatalf("exit status %d:\n%s", code, out)
	}
}

// A release cannot be made to start another daemon.
func TestReleaseIgnoresTheFaultsVariable(t *testing.T) {
	m := newMachine(t, "SWAPKEEP_DAEMON=/bin/false")
	greeting(t, m.browse(origin).Client)
}

func TestExitStatuses(t *testing.T) {
	tests := map[string]int{
		"internal": exitFailed, "bad_params": exitUsage, "origin_refused": exitRefused, "busy": exitNoDaemon,
		"timed_out": exitIncomplete, "wrong_password": exitKeys, "wrong_chain": exitNetwork,
		"database_full": exitStorage, "quote_expired": exitSwap, "terminal_only": exitRefused,
	}
	for name, want := range tests {
		if got := exitOf(fmt.Errorf("asked: %w", protocol.New(name, ""))); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	for _, row := range protocol.Errors {
		if row.Name != "internal" && exitOf(protocol.New(row.Name, "")) == exitFailed {
			t.Errorf("%s has no class", row.Name)
		}
	}
}

func TestModeOf(t *testing.T) {
	known := commandKnown(newRoot(os.Stdout, os.Stderr))
	tests := []struct {
		args  []string
		pipes bool
		want  mode
	}{
		{[]string{origin}, false, relayMode},
		{[]string{"chrome-extension://x"}, true, relayMode},
		{[]string{"/x/app.swapkeep.host.json", firefoxID}, true, relayMode},
		{nil, true, relayMode},
		{nil, false, commandMode},
		{[]string{"status"}, true, commandMode},
		{[]string{"--json", "status"}, true, commandMode},
		{[]string{"--home", "/x", "status"}, true, commandMode},
		{[]string{"--help"}, true, commandMode},
		{[]string{"help", "status"}, true, commandMode},
		{[]string{"--parent-window=0"}, true, strayMode},
		{[]string{"nonsense"}, true, strayMode},
		{[]string{"nonsense"}, false, commandMode},
		{[]string{""}, true, strayMode},
	}
	for _, tt := range tests {
		if got := modeOf(tt.args, tt.pipes, known); got != tt.want {
			t.Errorf("%q, pipes %v: %d, want %d", tt.args, tt.pipes, got, tt.want)
		}
	}
}
