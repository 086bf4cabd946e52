//go:build faults && linux

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swapkeep/fault"
	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

const (
	extension = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	password  = "correct horse battery staple"
	patience  = 30 * time.Second // of real time, for anything to happen on a busy machine
)

// A home is where a daemon lives.
type home struct {
	t      *testing.T
	dir    string
	place  transport.Place
	env    []string
	daemon *exec.Cmd
	said   bytes.Buffer
}

// open starts a daemon. Its log is almost full, so that it turns.
func open(t *testing.T, more ...string) *home {
	t.Helper()
	dir, err := os.MkdirTemp(world.root, "home")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, place: transport.Place{Home: filepath.Join(dir, "state")}}
	if err := os.MkdirAll(h.place.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SWAPKEEP_HOME=" + h.place.Home, "SWAPKEEP_CONFIG=" + filepath.Join(world.root, "world", "config.toml"),
		"SWAPKEEP_EXTENSIONS_CHROMIUM=" + extension, "SWAPKEEP_KEYS_BACKEND=file",
		"SWAPKEEP_CHEAP_KDF=1",
	}
	h.env = append(h.env, more...)
	line := []byte(`{"level":"info","message":"as of yesterday"}` + "\n")
	if err := os.WriteFile(h.place.LogPath(), bytes.Repeat(line, (owner.MaxLog-4<<10)/len(line)), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	t.Cleanup(h.close)
	return h
}

// start returns when the daemon listens: a relay would else start one of its own.
func (h *home) start() {
	h.t.Helper()
	h.daemon = exec.Command(filepath.Join(world.root, "swapkeepd"))
	h.daemon.Env = append([]string{"SWAPKEEP_FAULT_FIGURES=" + h.figuresPath(), "SWAPKEEP_CLOCK_PACE=" + world.pace}, h.env...)
	h.daemon.Stderr = &h.said
	if err := h.daemon.Start(); err != nil {
		h.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		c, err := transport.Dial(h.t.Context(), h.place)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("the daemon does not listen: %v\n%s", err, h.said.String())
		}
	}
}

// close stops the daemon for good.
func (h *home) close() {
	h.stop()
	if h.t.Failed() {
		h.t.Log(h.log())
	}
}

// stop wants the daemon to end well.
func (h *home) stop() {
	if err := h.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		h.t.Error(err)
	}
	late := time.AfterFunc(patience, func() { _ = h.daemon.Process.Kill() })
	err := h.daemon.Wait()
	if late.Stop(); err != nil {
		h.t.Errorf("the daemon ended with %v: %s", err, h.said.String())
	}
}

// log is the end of what the daemon said.
func (h *home) log() string {
	b, err := os.ReadFile(h.place.LogPath())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-6000):])
}

func (h *home) figuresPath() string { return filepath.Join(h.dir, "figures") }

// figures are what the daemon holds now.
func (h *home) figures() (f fault.Figures) {
	h.t.Helper()
	if err := os.Remove(h.figuresPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		b, err := os.ReadFile(h.figuresPath())
		if err == nil {
			err = json.Unmarshal(b, &f)
		}
		if err == nil {
			return f
		}
		if time.Now().After(end) {
			h.t.Fatalf("no figures: %v\n%s", err, h.log())
		}
	}
}

// size of a file in the home, 0 if there is none.
func (h *home) size(name string) int64 {
	info, err := os.Stat(filepath.Join(h.place.Home, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// A window is a browser's: a relay, and the page behind it.
type window struct {
	*home
	*client.Process
}

func (h *home) window() *window {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(world.root, "swapkeep"), "chrome-extension://"+extension+"/")
	cmd.Env = h.env
	p, err := client.Start(cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	w := &window{h, p}
	for late := time.After(patience); ; {
		select {
		case n := <-p.Notifications():
			if n.Method == "host.hello" {
				return w
			}
		case <-p.Done():
			h.t.Fatalf("%v\n%s%s", p.Err(), h.log(), h.said.String())
		case <-late:
			h.t.Fatalf("no hello\n%s", h.log())
		}
	}
}

func (w *window) shut() {
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
		w.t.Fatalf("%v\n%s", err, w.log())
	}
}

// status is what a terminal is told.
func (h *home) status() (s protocol.StatusResult) {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(world.root, "swapkeep"), "--json", "status")
	cmd.Env = h.env
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		h.t.Fatalf("status: %v\n%s", err, out)
	}
	return s
}
