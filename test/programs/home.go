//go:build linux

// Package programs builds the real programs for tests, runs them in a home of their own,
// and queries the running ones for their identity and resources.
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
	// Extension is the id of the only extension that a Home allows.
	Extension = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	// Origin is the origin of Extension as its browser states it.
	Origin = "chrome-extension://" + Extension + "/"
)

// A Home is one user on one machine, with programs of its own.
type Home struct {
	Dir      string // the user's home directory
	Bin      string // directory of the programs to start
	Instance transport.Instance
	Env      []string
	RunAs    *syscall.Credential // nil: the user who runs the test
}

// NewHome describes a home in dir with the given configuration and starts nothing. dir must
// be short, as the path of the socket has a limit.
func NewHome(dir, config string) *Home {
	h := &Home{Dir: dir, Instance: transport.Instance{Home: filepath.Join(dir, "state")}}
	h.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SWAPKEEP_HOME=" + h.Instance.Home, "SWAPKEEP_CONFIG=" + config,
		"SWAPKEEP_EXTENSIONS_CHROMIUM=" + Extension,
	}
	return h
}

// Install links the programs into a directory of the home. A daemon hides everything else
// about itself, so the path is how its processes are told apart from another home's.
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

// Command returns swapkeep with arguments; extra adds to its environment and its daemon's.
func (h *Home) Command(extra []string, args ...string) *exec.Cmd {
	return h.command(relay, extra, args)
}

// Daemon returns the command that starts swapkeepd directly.
func (h *Home) Daemon(extra ...string) *exec.Cmd { return h.command(daemon, extra, nil) }

func (h *Home) command(program string, extra, args []string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.Bin, program), args...)
	cmd.Env = slices.Concat(h.Env, extra)
	if h.RunAs != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.RunAs}
	}
	return cmd
}

// PID returns the listening daemon's process id, as the kernel reports it for the socket.
func (h *Home) PID(ctx context.Context) (int, error) {
	conn, err := transport.Dial(ctx, h.Instance)
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

// Status returns the daemon's status, as the command line gets it.
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

// Log returns the end of the daemons' log, for the message of a failed test.
func (h *Home) Log() string {
	const most = 6000
	b, err := os.ReadFile(h.Instance.LogPath())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-most):])
}
