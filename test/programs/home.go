//go:build linux

// Package programs builds the real programs for tests, gives them a home of their own,
// and asks those that run there who they are and what they hold.
package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

const (
	// Extension is the one that homes know.
	Extension = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	// Origin is what its browser calls it.
	Origin = "chrome-extension://" + Extension + "/"
)

// A Home is one user at one machine, with programs of his own.
type Home struct {
	Dir   string // what is his
	Bin   string // folder of the programs that are started
	Place transport.Place
	Env   []string
	As    *syscall.Credential // nil: whoever runs the test
}

// NewHome is one in a folder, where nothing is started yet, with a configuration. A
// socket's path takes a short folder.
func NewHome(dir, config string) *Home {
	h := &Home{Dir: dir, Place: transport.Place{Home: filepath.Join(dir, "state")}}
	h.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SWAPKEEP_HOME=" + h.Place.Home, "SWAPKEEP_CONFIG=" + config,
		"SWAPKEEP_EXTENSIONS_CHROMIUM=" + Extension,
	}
	return h
}

// Install gives the home programs at a path of its own, which tells its processes from
// another home's: a daemon hides all else about itself.
func (h *Home) Install(from string) error {
	h.Bin = filepath.Join(h.Dir, filepath.Base(from))
	if err := os.Mkdir(h.Bin, 0o755); err != nil {
		return err
	}
	for _, program := range []string{relay, daemon} {
		if err := os.Link(filepath.Join(from, program), filepath.Join(h.Bin, program)); err != nil {
			return err
		}
	}
	return nil
}

// Command is swapkeep with arguments; extra goes into its environment, and into that of
// a daemon it starts.
func (h *Home) Command(extra []string, args ...string) *exec.Cmd {
	return h.command(relay, extra, args)
}

// Daemon is the daemon by itself.
func (h *Home) Daemon(extra ...string) *exec.Cmd { return h.command(daemon, extra, nil) }

func (h *Home) command(program string, extra, args []string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.Bin, program), args...)
	cmd.Env = slices.Concat(h.Env, extra)
	if h.As != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.As}
	}
	return cmd
}

// PID is the daemon's that listens, by the kernel's word on its socket.
func (h *Home) PID(ctx context.Context) (int, error) {
	conn, err := transport.Dial(ctx, h.Place)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	peer, err := transport.PeerOf(conn)
	if err == nil && (peer.PID <= 1 || peer.PID == os.Getpid()) {
		err = fmt.Errorf("process %d is no daemon", peer.PID)
	}
	return peer.PID, err
}

// Status is the daemon's health, as a terminal is told.
func (h *Home) Status() (s protocol.StatusResult, err error) {
	out, err := h.Command(nil, "--json", "status").Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		err = fmt.Errorf("status: %w\n%s", err, out)
	}
	return s, err
}

// Log is the end of what daemons said, for a test that fails.
func (h *Home) Log() string {
	const most = 6000
	b, err := os.ReadFile(h.Place.LogPath())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-most):])
}
