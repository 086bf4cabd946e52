//go:build faults && linux

package soak

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/internal/failpoint"
	"swapkeep/test/await"
	"swapkeep/test/programs"
)

const patience = 30 * time.Second // real time; enough for any event on a busy machine

// A home is the home of a running daemon.
type home struct {
	*programs.Home
	t      *testing.T
	daemon *exec.Cmd
	stderr bytes.Buffer
}

// startHome starts a daemon whose log is almost full, so that it will be rotated.
func startHome(t *testing.T, more ...string) *home {
	t.Helper()
	dir, err := os.MkdirTemp(world.root, "home")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{Home: programs.NewHome(dir, filepath.Join(world.root, "world", "config.toml")), t: t}
	h.Bin = binDir()
	if err := os.MkdirAll(h.Instance.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "SWAPKEEP_KEYS_BACKEND=file", "SWAPKEEP_CHEAP_KDF=1")
	h.Env = append(h.Env, more...)
	line := []byte(`{"level":"info","message":"as of yesterday"}` + "\n")
	if err := os.WriteFile(h.Instance.LogPath(), bytes.Repeat(line, (owner.MaxLog-4<<10)/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	t.Cleanup(h.close)
	return h
}

// start returns when the daemon listens: otherwise a relay would start one itself.
func (h *home) start() {
	h.t.Helper()
	measured, err := h.FiguresEnv()
	if err != nil {
		h.t.Fatal(err)
	}
	h.daemon = h.Daemon(measured, "SWAPKEEP_CLOCK_PACE="+world.pace)
	h.daemon.Stderr = &h.stderr
	if err := h.daemon.Start(); err != nil {
		h.t.Fatal(err)
	}
	if !await.Holds(patience, func() bool {
		var c net.Conn
		if c, err = transport.Dial(h.t.Context(), h.Instance); err == nil {
			_ = c.Close()
		}
		return err == nil
	}) {
		h.t.Fatalf("the daemon does not listen: %v\n%s", err, h.stderr.String())
	}
}

// close stops the daemon and shows its log if the test failed.
func (h *home) close() {
	h.stop()
	if h.t.Failed() {
		h.t.Log(h.Log())
	}
}

// stop stops the daemon, which has to exit cleanly.
func (h *home) stop() {
	if err := h.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Error(err)
	}
	late := time.AfterFunc(patience, func() { _ = h.daemon.Process.Kill() })
	err := h.daemon.Wait()
	if late.Stop(); err != nil {
		h.t.Errorf("the daemon ended with %v: %s", err, h.stderr.String())
	}
}

// figures returns the daemon's current resource figures.
func (h *home) figures() failpoint.ResourceUsage {
	h.t.Helper()
	f, err := h.Figures(h.daemon.Process.Pid, patience)
	if err != nil {
		h.t.Fatalf("no figures: %v\n%s", err, h.Log())
	}
	return f
}

// size returns the size of a file in the home, or 0 if there is none.
func (h *home) size(name string) int64 {
	info, err := os.Stat(filepath.Join(h.Instance.Home, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// A window is a browser window: a relay and the page that uses it.
type window struct {
	*home
	*client.Process
}

func (h *home) window() *window {
	h.t.Helper()
	p, _, err := h.Browse(patience)
	if err != nil {
		h.t.Fatalf("%v\n%s%s", err, h.Log(), h.stderr.String())
	}
	return &window{h, p}
}

func (w *window) closeWindow() {
	if _, err := w.Stop(); err != nil {
		w.t.Errorf("window: %v", err)
	}
}

func (w *window) ask(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	if err := w.Call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (w *window) must(method string, params, result any) {
	w.t.Helper()
	if err := w.ask(method, params, result); err != nil {
		w.t.Fatalf("%v\n%s", err, w.Log())
	}
}

// status returns the daemon's status, as the command line gets it.
func (h *home) status() protocol.StatusResult {
	h.t.Helper()
	s, err := h.Status()
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}
