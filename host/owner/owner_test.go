//go:build linux || darwin

package owner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/host/transport"
)

// roles are the daemons that the test binary can act as.
var roles = map[string]func(p transport.Instance) int{
	"daemon": daemon,
	"slow":   func(p transport.Instance) int { time.Sleep(200 * time.Millisecond); return daemon(p) },
	"broken": func(transport.Instance) int { fmt.Fprintln(os.Stderr, "first\ncannot read the journal"); return 3 },
	"dies-once": func(p transport.Instance) int {
		if _, err := os.Stat(filepath.Join(p.Home, "died")); err == nil {
			return daemon(p)
		}
		mark(p, "died")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour) // until the signal arrives; without cgo, waiting for nothing would be reported as a deadlock
		return 0
	},
	"never-ends": func(p transport.Instance) int { mark(p, "served"); time.Sleep(time.Minute); return 0 },
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && roles[os.Args[1]] != nil {
		os.Exit(roles[os.Args[1]](transport.Instance{Home: os.Getenv(transport.HomeVariable)}))
	}
	os.Exit(m.Run())
}

// daemon sends each caller its pid and records it in the home.
func daemon(p transport.Instance) int {
	o, err := Acquire(p)
	if errors.Is(err, ErrOwned) {
		return ExitOwned
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := o.Listen()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	mark(p, "served")
	report(p)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		select {
		case <-stop:
		case <-time.After(time.Minute):
		}
		_ = o.Close()
	}()
	for {
		conn, err := l.Accept()
		if err != nil {
			return 0
		}
		_, _ = fmt.Fprintln(conn, os.Getpid())
		_ = conn.Close()
	}
}

func mark(p transport.Instance, what string) {
	f, err := os.OpenFile(filepath.Join(p.Home, what), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(f, os.Getpid())
	_ = f.Close()
}

// report writes what the daemon inherited to a file.
func report(p transport.Instance) {
	var text bytes.Buffer
	entries, _ := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		target, err := os.Readlink("/dev/fd/" + entry.Name())
		if err == nil {
			fmt.Fprintf(&text, "fd %s %s\n", entry.Name(), target)
		}
	}
	cwd, _ := os.Getwd()
	sid, _ := unix.Getsid(0)
	fmt.Fprintf(&text, "cwd %s\nleader %t\n", cwd, sid == os.Getpid())
	for _, entry := range os.Environ() {
		fmt.Fprintf(&text, "env %s\n", entry)
	}
	_ = os.WriteFile(filepath.Join(p.Home, "report"), text.Bytes(), 0o666)
}

func launch(t *testing.T, role string) Launch {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Place: transport.Instance{Home: filepath.Join(t.TempDir(), "home")}, Exe: exe, Args: []string{role}, Env: os.Environ()}
	t.Cleanup(func() { stopDaemon(t, l.Place) })
	return l
}

func stopDaemon(t *testing.T, p transport.Instance) {
	t.Helper()
	conn, err := transport.Dial(context.Background(), p)
	if err != nil {
		return
	}
	peer, err := transport.PeerOf(conn)
	_ = conn.Close()
	if err == nil && peer.PID != os.Getpid() {
		_ = syscall.Kill(peer.PID, syscall.SIGTERM)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := WaitFree(ctx, p); err != nil {
		t.Error(err)
	}
}

func ensure(t *testing.T, l Launch) (int, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	conn, err := Ensure(ctx, l)
	if err != nil {
		return 0, err
	}
	return askPID(conn)
}

func askPID(conn net.Conn) (int, error) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

func marks(t *testing.T, p transport.Instance, what string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Home, what))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func TestAcquire(t *testing.T) {
	p := transport.Instance{Home: filepath.Join(t.TempDir(), "home")}
	first, err := Acquire(p)
	if err != nil {
		t.Fatal(err)
	}
	var owned *OwnedError
	if _, err := Acquire(p); !errors.As(err, &owned) || owned.PID != os.Getpid() || !errors.Is(err, ErrOwned) {
		t.Fatalf("second owner: %v", err)
	}
	if _, err := first.Listen(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Listen(); err == nil {
		t.Fatal("Listen succeeded twice")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(p.SocketPath()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("socket left behind: %v", err)
	}
	second, err := Acquire(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAcquireRace checks that of many concurrent callers at most one holds the home at
// any time.
func TestAcquireRace(t *testing.T) {
	p := transport.Instance{Home: filepath.Join(t.TempDir(), "home")}
	var holding, wins sync.Map
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for range 5 {
				o, err := Acquire(p)
				if errors.Is(err, ErrOwned) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if _, other := holding.LoadOrStore("home", n); other {
					t.Error("two owners at the same time")
				}
				wins.Store(n, true)
				holding.Delete("home")
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	acquired := 0
	wins.Range(func(any, any) bool { acquired++; return true })
	if acquired == 0 {
		t.Fatal("nobody ever owned the home")
	}
}

// TestReplacedLockFile checks that a lock on a removed or replaced file does not count.
func TestReplacedLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.lock")
	old, err := tryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := sameFileAtPath(old.file, path); err == nil {
		t.Fatal("a lock on a removed file counts")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sameFileAtPath(old.file, path); !errors.Is(err, errLocked) {
		t.Fatalf("a lock on a replaced file: %v", err)
	}
	_ = old.release()
}

func TestEnsureStartsOnce(t *testing.T) {
	l := launch(t, "daemon")
	first, err := ensure(t, l)
	if err != nil {
		t.Fatal(err)
	}
	second, err := ensure(t, l)
	if err != nil || first != second || first == os.Getpid() {
		t.Fatalf("pids %d and %d, %v", first, second, err)
	}
	info, err := os.Stat(filepath.Join(l.Place.Home, "served"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("a file made by the daemon has mode %v, %v", info.Mode(), err)
	}
}

func TestTwentyFromCold(t *testing.T) {
	for _, role := range []string{"daemon", "slow"} {
		t.Run(role, func(t *testing.T) {
			l := launch(t, role)
			pids := make([]int, 20)
			var wg sync.WaitGroup
			for n := range pids {
				wg.Go(func() {
					var err error
					if pids[n], err = ensure(t, l); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if slices.Sort(pids); pids[0] != pids[len(pids)-1] || pids[0] == 0 {
				t.Fatalf("answers from several daemons: %v", pids)
			}
			if served := marks(t, l.Place, "served"); len(served) != 1 {
				t.Fatalf("daemons that served: %v", served)
			}
		})
	}
}

func TestEnsureAfterKill(t *testing.T) {
	l := launch(t, "daemon")
	first, err := ensure(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := WaitFree(t.Context(), l.Place); err != nil { // its socket accepts connections until the process is gone
		t.Fatal(err)
	}
	second, err := ensure(t, l)
	if err != nil || second == first {
		t.Fatalf("pids %d and %d, %v", first, second, err)
	}
}

// TestRejoin checks that a client that lost its daemon starts another after a crash, and
// none after a stop.
func TestRejoin(t *testing.T) {
	l := launch(t, "daemon")
	pid, err := ensure(t, l)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		signal syscall.Signal
		comes  bool
	}{{syscall.SIGKILL, true}, {syscall.SIGTERM, false}} {
		if err := syscall.Kill(pid, tt.signal); err != nil {
			t.Fatal(err)
		}
		if err := WaitFree(t.Context(), l.Place); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		conn, err := EnsureUnlessStopped(ctx, l)
		cancel()
		if (err == nil) != tt.comes || err != nil && !errors.Is(err, ErrStopped) {
			t.Fatalf("after %s: %v", tt.signal, err)
		}
		if err == nil {
			if pid, err = askPID(conn); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := ensure(t, l); err != nil { // a new client starts it all the same
		t.Fatal(err)
	}
	if _, err := os.Lstat(l.Place.StoppedPath()); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the mark outlived the stop: %v", err)
	}
}

// TestMarkedBeforeTheTransportGoes checks that the stop is marked when the transport
// closes. The daemon may take seconds to end after that, and nobody may start another
// meanwhile.
func TestMarkedBeforeTheTransportGoes(t *testing.T) {
	l := launch(t, "daemon")
	o, err := Acquire(l.Place)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	listener, err := o.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(l.Place.StoppedPath()); err != nil {
		t.Errorf("without a transport and without the mark: %v", err)
	}
}

func TestEnsureTellsWhyNot(t *testing.T) {
	l := launch(t, "broken")
	started := time.Now()
	_, err := ensure(t, l)
	var failed *StartError
	if !errors.As(err, &failed) || failed.Exit != 3 || failed.Reason != "cannot read the journal" {
		t.Fatalf("got %v", err)
	}
	if time.Since(started) > 5*time.Second {
		t.Fatal("waited for a daemon that had ended")
	}
	l.Exe = filepath.Join(t.TempDir(), "absent")
	if _, err := ensure(t, l); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no such daemon: %v", err)
	}
}

// TestEnsureStartsAKilledDaemonAgain checks that a daemon killed while starting is
// started again.
func TestEnsureStartsAKilledDaemonAgain(t *testing.T) {
	l := launch(t, "dies-once")
	if _, err := ensure(t, l); err != nil {
		t.Fatal(err)
	}
	if n := len(marks(t, l.Place, "died")); n != 1 {
		t.Errorf("died %d times", n)
	}
}

// TestRejoinInNoTime checks that a dial cut off by the deadline returns ErrNoDaemon, and
// ErrStopped after a stop, even if the dial notices the deadline before the context does.
func TestRejoinInNoTime(t *testing.T) {
	l := launch(t, "daemon")
	pid, err := ensure(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := WaitFree(t.Context(), l.Place); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	for name, ctx := range map[string]context.Context{"already over": over, "reports its end late": lateContext{over, time.Now().Add(300 * time.Millisecond)}} {
		if _, err := EnsureUnlessStopped(ctx, l); !errors.Is(err, ErrStopped) || !errors.Is(err, transport.ErrNoDaemon) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// lateContext is a context that reports its end only after a delay.
type lateContext struct {
	context.Context
	reports time.Time
}

func (u lateContext) Done() <-chan struct{} {
	if time.Now().Before(u.reports) {
		return nil
	}
	return u.Context.Done()
}

func (u lateContext) Err() error {
	if time.Now().Before(u.reports) {
		return nil
	}
	return u.Context.Err()
}

func TestEnsureGivesUp(t *testing.T) {
	l := launch(t, "never-ends")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := Ensure(ctx, l); !errors.Is(err, transport.ErrNoDaemon) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	for _, pid := range marks(t, l.Place, "served") {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpawnSeesASignal(t *testing.T) {
	l := launch(t, "never-ends")
	if err := transport.Prepare(l.Place); err != nil {
		t.Fatal(err)
	}
	child, err := Spawn(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if <-child.done; child.err.Exit != -1 {
		t.Fatalf("exit status %d after a signal", child.err.Exit)
	}
}

// TestEnsureWaitsForTheOwner checks that a daemon that owns the home but does not listen
// yet is waited for. The process that is started meanwhile ends with ExitOwned.
func TestEnsureWaitsForTheOwner(t *testing.T) {
	l := launch(t, "daemon")
	o, err := Acquire(l.Place)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	time.AfterFunc(time.Second, func() {
		listener, err := o.Listen()
		if err != nil {
			t.Error(err)
			return
		}
		conn, err := listener.Accept()
		if err == nil {
			_, _ = fmt.Fprintln(conn, os.Getpid())
			_ = conn.Close()
		}
	})
	if pid, err := ensure(t, l); err != nil || pid != os.Getpid() {
		t.Fatalf("pid %d, %v", pid, err)
	}
}

func TestEnsureRefusesUnsafeHome(t *testing.T) {
	l := launch(t, "daemon")
	if err := os.MkdirAll(l.Place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.Place.Home, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := ensure(t, l); !errors.Is(err, transport.ErrUnsafeDirectory) {
		t.Fatalf("got %v", err)
	}
}

// TestSpawnHygiene checks that descriptors and variables of the browser do not reach the
// daemon.
func TestSpawnHygiene(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = read.Close(), write.Close() }()
	leaked, err := unix.Dup(int(write.Fd())) // not close-on-exec, like the one that Firefox leaves on 3
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leaked) }()
	l := launch(t, "daemon")
	l.Env = append(slices.Clone(l.Env), "GOOGLE_API_KEY=secret", "MOZ_CRASHREPORTER=1", "LD_PRELOAD=", "LC_ALL=C", busVariable+"="+noBus, "XDG_RUNTIME_DIR="+t.TempDir())
	if _, err := ensure(t, l); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(l.Place.Home, "report"))
	if err != nil {
		t.Fatal(err)
	}
	report := string(text)
	for _, want := range []string{
		"fd 0 /dev/null\n", "fd 1 /dev/null\n", "fd 2 " + l.Place.LogPath() + "\n", "cwd /\n", "leader true\n",
		"env LC_ALL=C\n", "env SWAPKEEP_HOME=" + l.Place.Home + "\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in the daemon", want)
		}
	}
	for _, never := range []string{"pipe:", "GOOGLE_API_KEY", "MOZ_", "LD_PRELOAD", "spawn.lock", noBus} {
		if strings.Contains(report, never) {
			t.Errorf("%q reached the daemon", never)
		}
	}
	if t.Failed() {
		t.Log(report)
	}
}

func TestSessionBus(t *testing.T) {
	dir := t.TempDir()
	if got := sessionBus(noBus, dir); got != "" {
		t.Fatalf("no bus there, yet %q", got)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for given, want := range map[string]string{
		"": "unix:path=" + dir + "/bus", noBus: "unix:path=" + dir + "/bus", "unix:path=/own": "unix:path=/own",
	} {
		if got := sessionBus(given, dir); got != want {
			t.Errorf("given %q: %q, want %q", given, got, want)
		}
	}
	if got := sessionBus("", "relative"); got != "" {
		t.Errorf("relative runtime directory: %q", got)
	}
}

func TestDaemonEnvironMakesConfigAbsolute(t *testing.T) {
	p := transport.Instance{Home: "/h"}
	env := daemonEnviron([]string{"SWAPKEEP_CONFIG=c.toml", "SWAPKEEP_HOME=/other", "noequals", "PATH=/a", "PATH=/b",
		"GODEBUG=http2debug=2", "GOTRACEBACK=crash", "LD_PRELOAD=/x"}, p)
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SWAPKEEP_CONFIG=" + filepath.Join(wd, "c.toml"), "SWAPKEEP_HOME=/h", "PATH=/b"}
	if !slices.Equal(env, want) {
		t.Fatalf("got %q, want %q", env, want)
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, file := range []string{path, path + ".1"} { // as another program may have left them
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := openLog(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0) // like the daemon's descriptor 2
	if err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if _, err := fmt.Fprintf(l, "record %03d %s\n", n, strings.Repeat(".", 38)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stderr.WriteString("panic\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = l.Close(), stderr.Close()
	now, err := os.ReadFile(path)
	if err != nil || len(now) > 1060 || !strings.HasSuffix(string(now), "panic\n") || strings.Contains(string(now), "\x00") {
		t.Fatalf("%d bytes, %v", len(now), err)
	}
	old, err := os.ReadFile(path + ".1")
	if err != nil || len(old) > 1060 || !strings.Contains(string(old)+string(now), "record 099") {
		t.Fatalf("%d bytes aside, %v", len(old), err)
	}
	for _, file := range []string{path, path + ".1"} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", file, info.Mode(), err)
		}
	}
}

// TestVacant checks that WithLock keeps a daemon out while it runs, and does nothing if
// there is one.
func TestVacant(t *testing.T) {
	p := transport.Instance{Home: filepath.Join(t.TempDir(), "home")}
	own, err := Acquire(p)
	if err != nil {
		t.Fatal(err)
	}
	did := false
	act := func() error {
		did = true
		if _, locked := Holder(p); !locked {
			t.Error("a daemon could start")
		}
		return nil
	}
	var owned *OwnedError
	if err := WithLock(p, act); !errors.As(err, &owned) || owned.PID != os.Getpid() || did {
		t.Errorf("beside a daemon: %v, acted %t", err, did)
	}
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	if err := WithLock(p, act); err != nil || !did {
		t.Errorf("%v, acted %t", err, did)
	}
	if _, locked := Holder(p); locked {
		t.Error("Holder still reports the lock afterwards")
	}
}

// FuzzPID checks that the text of the lock is read as a process id or 0.
func FuzzPID(f *testing.F) {
	for _, s := range []string{"1\n", " 42 ", "-1", "+7", "99999999999999999999", "12\n34", "0x10", "", "1\x00"} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "lock")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if pid := readPID(path); pid < 0 || pid > 0 && !strings.Contains(string(text), strconv.Itoa(pid)) && !strings.Contains(string(text), "0") {
			t.Fatalf("%q is process %d", text, pid)
		}
	})
}

// FuzzEnviron checks that from any environment the daemon gets each passed name once, no
// other name, and always its home.
func FuzzEnviron(f *testing.F) {
	for _, s := range []string{"PATH=/a\nPATH=/b", "SWAPKEEP_HOME=/other", "GODEBUG=http2debug=2\nGOTRACEBACK=crash\nLD_PRELOAD=/x", "=x", "noequals", "SWAPKEEP_CONFIG=c.toml", "swapkeep_home=/x", "DBUS_SESSION_BUS_ADDRESS=disabled:", "Path=/a\nhttp_proxy=b\nHTTP_PROXY=c", "XDG_=\nLC_=="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		env := daemonEnviron(strings.Split(text, "\n"), transport.Instance{Home: "/h"})
		names := map[string]bool{}
		for _, entry := range env {
			name, value, ok := strings.Cut(entry, "=")
			upper := strings.ToUpper(name)
			if !ok || names[name] || !isPassedOn(name) || strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "DYLD_") || slices.Contains([]string{"GODEBUG", "GOTRACEBACK"}, upper) {
				t.Fatalf("%q gets through as %q", text, env)
			}
			if names[name] = true; name == transport.HomeVariable && value != "/h" || name == "SWAPKEEP_CONFIG" && !filepath.IsAbs(value) && value != "" {
				t.Fatalf("%q gets through as %q", text, env)
			}
		}
		if !names[transport.HomeVariable] {
			t.Fatalf("the daemon is told of no home: %q", env)
		}
		if again := daemonEnviron(env, transport.Instance{Home: "/h"}); !slices.Equal(again, env) {
			t.Fatalf("%q, passed on once more, is %q", env, again)
		}
	})
}
