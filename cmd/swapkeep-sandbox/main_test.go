package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/test/await"
)

// asMain makes the test binary run the real main function.
const asMain = "SWAPKEEP_SANDBOX_TEST_MAIN"

// asParent makes the test binary start the real main as its child and wait.
const asParent = "SWAPKEEP_SANDBOX_TEST_PARENT"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asMain) != "":
		main()
		os.Exit(0) // as the runtime does after main
	case os.Getenv(asParent) != "":
		parent()
	default:
		os.Exit(m.Run())
	}
}

func parent() {
	child := exec.Command(os.Args[0], append(os.Args[1:], "--with-parent")...)
	child.Env = append(os.Environ(), asMain+"=1")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		os.Exit(1)
	}
	time.Sleep(time.Hour) // blocking without cgo would be reported as a deadlock
}

type ready struct {
	Event   string
	PID     int
	Dir     string
	Control string
}

// process is a running main and the ready line it printed.
type process struct {
	*exec.Cmd
	ready  ready
	rest   *bufio.Reader
	stderr *bytes.Buffer
	took   time.Duration
}

func command(t *testing.T, env string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), env+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

func start(t *testing.T, env string, args ...string) *process {
	t.Helper()
	cmd, stderr := command(t, env, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := &process{Cmd: cmd, rest: bufio.NewReader(stdout), stderr: stderr}
	line, err := p.rest.ReadBytes('\n')
	p.took = time.Since(began)
	if err != nil {
		t.Fatalf("no ready line: %v; stderr: %s", err, stderr)
	}
	if err := json.Unmarshal(line, &p.ready); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return p
}

func manifest(t *testing.T, dir string) sandbox.Manifest {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m sandbox.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// urls returns all addresses in a manifest.
func urls(m sandbox.Manifest) []string {
	list := []string{m.Control}
	for _, p := range m.Providers {
		list = append(list, p.BaseURL)
	}
	for _, p := range m.Prices {
		list = append(list, p.BaseURL)
	}
	for _, c := range m.Chains {
		list = append(list, c.RPC)
	}
	return list
}

func open(t *testing.T, raw string) bool {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func TestReadyFilesAndEnd(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		dir := filepath.Join(t.TempDir(), "new")
		p := start(t, asMain, "--dir", dir)
		t.Logf("four chains ready after %v", p.took)
		if p.ready.Event != "ready" || p.ready.PID != p.Process.Pid || p.ready.Dir != dir {
			t.Errorf("ready line %+v", p.ready)
		}
		m := manifest(t, dir)
		if m.Control != p.ready.Control || len(m.Chains) != 4 {
			t.Errorf("manifest: control %s, %d chains", m.Control, len(m.Chains))
		}
		config, err := os.ReadFile(filepath.Join(dir, "config.toml"))
		if err != nil || !bytes.Contains(config, []byte(m.Chains[1].RPC)) {
			t.Errorf("config.toml: %v\n%s", err, config)
		}
		for _, u := range urls(m) {
			if !open(t, u) {
				t.Errorf("%s is closed", u)
			}
		}
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(p.rest)
		if err != nil || len(rest) > 0 {
			t.Errorf("more on stdout: %q, %v", rest, err)
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %v; stderr: %s", signal, err, p.stderr)
		}
		for _, u := range urls(m) {
			if open(t, u) {
				t.Errorf("%s is open after the end", u)
			}
		}
	}
}

func TestEndsWithItsParent(t *testing.T) {
	dir := t.TempDir()
	p := start(t, asParent, "--dir", dir, "--chains", "1")
	m := manifest(t, dir)
	if p.ready.PID == p.Process.Pid {
		t.Fatal("the ready line is the parent's")
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if !await.Holds(10*time.Second, func() bool { return !open(t, m.Control) }) {
		if child, err := os.FindProcess(p.ready.PID); err == nil {
			_ = child.Kill()
		}
		t.Fatal("outlived its parent")
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	cases := []struct {
		name string
		args []string
		code int
		says string
	}{
		{"no directory", nil, 2, "--dir is required"},
		{"stray argument", []string{"--dir", dir, "x"}, 2, "only flags are allowed"},
		{"unknown flag", []string{"--nope"}, 2, "nope"},
		{"no chain id", []string{"--dir", dir, "--chains", "base"}, 2, "not a chain id"},
		{"unknown chain", []string{"--dir", dir, "--chains", "137"}, 1, "no such chain; it has 1, 10, 56"},
		{"reachable address", []string{"--dir", dir, "--listen", "0.0.0.0"}, 1, "loopback addresses only"},
		{"no contracts", []string{"--dir", dir, "--contracts", dir}, 1, "make contracts"},
	}
	for _, tc := range cases {
		cmd, stderr := command(t, asMain, tc.args...)
		stdout, err := cmd.Output()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != tc.code || !strings.Contains(stderr.String(), tc.says) {
			t.Errorf("%s: %v; stderr: %s", tc.name, err, stderr)
		}
		if len(stdout) > 0 {
			t.Errorf("%s: stdout %q", tc.name, stdout)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("files were written: %v, %v", entries, err)
	}
}
