//go:build linux || darwin

package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roles are the processes of another user that the test binary can act as.
var roles = map[string]func(path string) error{
	"dial-as-other":   dialAsOther,
	"listen-as-other": listenAsOther,
}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		if role, ok := roles[os.Args[1]]; ok {
			if err := role(os.Args[2]); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func dialAsOther(path string) error {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	_, _ = conn.Write([]byte("let me in"))
	answer, _ := io.ReadAll(conn)
	fmt.Printf("%d bytes\n", len(answer))
	return nil
}

func listenAsOther(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return err
	}
	fmt.Println("listening")
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	received, _ := io.ReadAll(conn)
	fmt.Printf("%d bytes\n", len(received))
	return nil
}

const nobody = 65534

func asNobody(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	// Run by its magic link, because the binary's own directory is closed to others.
	cmd := exec.CommandContext(ctx, "/proc/self/exe", role, path)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

func place(t *testing.T) Instance {
	t.Helper()
	return Instance{Home: filepath.Join(t.TempDir(), "home")}
}

func serve(t *testing.T, l net.Listener) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello\n"))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

func greeted(t *testing.T, p Instance) net.Conn {
	t.Helper()
	conn, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != "hello\n" {
		t.Fatalf("read %q, %v, want hello", got, err)
	}
	return conn
}

func TestRoundTrip(t *testing.T) {
	p := place(t)
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrNoDaemon) {
		t.Fatalf("before a daemon: %v", err)
	}
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	conn := greeted(t, p)
	if peer, err := PeerOf(conn); err != nil || peer.PID != os.Getpid() || peer.UID != os.Getuid() {
		t.Fatalf("peer %+v, %v", peer, err)
	}
	for path, want := range map[string]os.FileMode{p.Home: 0o700, p.RunDir(): 0o700, p.SocketPath(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	_ = l.Close()
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrNoDaemon) {
		t.Fatalf("after the daemon: %v", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	p := place(t)
	if err := Prepare(p); err != nil {
		t.Fatal(err)
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.SocketPath()})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	_ = dead.Close()
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrNoDaemon) {
		t.Fatalf("dead socket: %v", err)
	}
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	if _, err := Dial(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// TestLongHome checks that a home of any length works and can be dialed without
// environment variables.
func TestLongHome(t *testing.T) {
	for _, tt := range []struct{ name, runtime string }{
		{"runtime directory", t.TempDir()}, {"none", ""}, {"too long as well", "/" + strings.Repeat("r", 200)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Instance{Home: filepath.Join(t.TempDir(), strings.Repeat("h", 120))}
			t.Setenv("XDG_RUNTIME_DIR", tt.runtime)
			l, err := Listen(p)
			if err != nil {
				t.Fatal(err)
			}
			serve(t, l)
			target, err := os.Readlink(p.SocketPath())
			if err != nil || !fitsSocketAddress(target) {
				t.Fatalf("link to %q, %v", target, err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(target)) })
			t.Setenv("XDG_RUNTIME_DIR", "/nowhere")
			greeted(t, p)
		})
	}
}

func TestSocketPathLimit(t *testing.T) {
	if !fitsSocketAddress(strings.Repeat("x", maxSocketPath-1)) || fitsSocketAddress(strings.Repeat("x", maxSocketPath)) {
		t.Fatal("the limit counts the closing NUL")
	}
}

func TestUnsafePlaces(t *testing.T) {
	tests := []struct {
		name string
		spot func(p Instance) string
		mode os.FileMode
	}{
		{"home writable by the group", func(p Instance) string { return p.Home }, 0o770},
		{"home writable by all", func(p Instance) string { return p.Home }, 0o777},
		{"run writable by the group", Instance.RunDir, 0o720},
		{"open above", func(p Instance) string { return filepath.Dir(p.Home) }, 0o777},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := place(t)
			if err := Prepare(p); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(tt.spot(p), tt.mode); err != nil {
				t.Fatal(err)
			}
			if err := Prepare(p); !errors.Is(err, ErrUnsafeDirectory) {
				t.Fatalf("Prepare: %v", err)
			}
			if err := Check(p); !errors.Is(err, ErrUnsafeDirectory) {
				t.Fatalf("Check: %v", err)
			}
			if _, err := Listen(p); !errors.Is(err, ErrUnsafeDirectory) {
				t.Fatalf("Listen: %v", err)
			}
			if err := os.Chmod(tt.spot(p), tt.mode|os.ModeSticky); err != nil {
				t.Fatal(err)
			}
			if err := Prepare(p); (err == nil) != (tt.name == "open above") {
				t.Fatalf("with the sticky bit: %v", err)
			}
		})
	}
}

// TestCheckOnlyLooks checks that Check creates and changes nothing.
func TestCheckOnlyLooks(t *testing.T) {
	p := place(t)
	if err := Check(p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a home: %v", err)
	}
	if _, err := os.Lstat(p.Home); !errors.Is(err, os.ErrNotExist) {
		t.Error("it made the home")
	}
	if err := os.MkdirAll(p.RunDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Check(p); err != nil {
		t.Errorf("a folder that others can read: error %v", err)
	}
	if info, err := os.Stat(p.RunDir()); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("it narrowed it: %v, %v", info.Mode(), err)
	}
}

func TestReadableRunDirIsNarrowed(t *testing.T) {
	p := place(t)
	if err := os.MkdirAll(p.RunDir(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrUnsafeDirectory) {
		t.Fatalf("Dial into an open directory: %v", err)
	}
	if err := Prepare(p); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(p.RunDir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("mode of the run directory = %v, %v, want 0700", info.Mode(), err)
	}
}

func TestNotADirectory(t *testing.T) {
	p := place(t)
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), p.RunDir()); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(p); !errors.Is(err, ErrUnsafeDirectory) {
		t.Fatalf("run is a link: %v", err)
	}
	if err := Prepare(Instance{Home: "relative"}); !errors.Is(err, ErrNoHome) {
		t.Fatalf("relative home: %v", err)
	}
}

func TestForeignPeerIsRefused(t *testing.T) {
	p := place(t)
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	conn, err := Dial(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameUserAs(conn, os.Getuid()+1); !errors.Is(err, ErrForeignPeer) {
		t.Fatalf("a peer of another uid: %v", err)
	}
	pipe, other := net.Pipe()
	defer func() { _, _ = pipe.Close(), other.Close() }()
	if err := sameUser(pipe); !errors.Is(err, ErrForeignPeer) {
		t.Fatalf("a peer that nobody vouches for: %v", err)
	}
	t.Run("dialing", rootOnly(otherDials))
	t.Run("listening", rootOnly(otherListens))
}

// rootOnly skips a test that needs two users unless run as root.
func rootOnly(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("not run: only root can be two users")
		}
		test(t)
	}
}

// openPlace returns a place in a directory that every user can reach, and a function that
// changes the mode of all its directories.
func openPlace(t *testing.T) (Instance, func(os.FileMode)) {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "swapkeep-peer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p := Instance{Home: filepath.Join(base, "home")}
	if err := Prepare(p); err != nil {
		t.Fatal(err)
	}
	return p, func(mode os.FileMode) {
		for _, dir := range []string{base, p.Home, p.RunDir()} {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// otherDials lets another user reach the socket file, so that only the uid check remains.
func otherDials(t *testing.T) {
	p, open := openPlace(t)
	l, err := Listen(p)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l)
	open(0o711)
	if err := os.Chmod(p.SocketPath(), 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := asNobody(t, "dial-as-other", p.SocketPath()).CombinedOutput()
	if err != nil || string(out) != "0 bytes\n" {
		t.Fatalf("another user heard %q, %v", out, err)
	}
}

// otherListens puts another user's socket at our socket path.
func otherListens(t *testing.T) {
	p, open := openPlace(t)
	open(0o777)
	cmd := asNobody(t, "listen-as-other", p.SocketPath())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	if line, err := lines.ReadString('\n'); line != "listening\n" {
		t.Fatalf("read %q, %v, want listening", line, err)
	}
	open(0o700)
	if _, err := Dial(t.Context(), p); !errors.Is(err, ErrForeignPeer) {
		t.Errorf("dialed another user's daemon: %v", err)
	}
	if line, err := lines.ReadString('\n'); line != "0 bytes\n" {
		t.Errorf("another user's daemon heard %q, %v", line, err)
	}
	_ = cmd.Wait()
}

func TestForeignHomeIsRefused(t *testing.T) {
	p := place(t)
	if err := Prepare(p); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(p.Home)
	if err != nil {
		t.Fatal(err)
	}
	info.Sys().(*syscall.Stat_t).Uid++
	if err := checkOwner(p.Home, info, othersWrite); !errors.Is(err, ErrUnsafeDirectory) {
		t.Fatalf("another user's home: %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("the rest is not run: only root can be two users")
	}
	if err := os.Chown(p.Home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(p); !errors.Is(err, ErrUnsafeDirectory) {
		t.Fatalf("another user's home: %v", err)
	}
}

func TestDefaultHome(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	tests := []struct {
		system string
		env    func(string) string
		want   string
	}{
		{"linux", env("SWAPKEEP_HOME", "/a/b/"), "/a/b"},
		{"linux", env("HOME", "/u", "XDG_STATE_HOME", "/s"), "/s/swapkeep"},
		{"linux", env("HOME", "/u", "XDG_STATE_HOME", "s"), "/u/.local/state/swapkeep"},
		{"darwin", env("HOME", "/u", "XDG_STATE_HOME", "/s"), "/u/Library/Application Support/swapkeep"},
		{"linux", env("SWAPKEEP_HOME", "here", "HOME", "/u"), ""},
		{"linux", env(), ""},
		{"plan9", env("HOME", "/u"), ""},
	}
	for _, tt := range tests {
		got, err := homeOn(tt.system, tt.env)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, %v; want %q", tt.system, got, err, tt.want)
		}
	}
	if _, err := DefaultHome(env("SWAPKEEP_HOME", "/x")); err != nil {
		t.Error(err)
	}
}
