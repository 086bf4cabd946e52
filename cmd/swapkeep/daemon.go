package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"swapkeep/config"
	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/internal/failpoint"
)

// placeOf returns the home that a configuration selects.
func placeOf(cfg config.Config) (transport.Instance, error) {
	if cfg.Home != "" {
		return transport.Instance{Home: cfg.Home}, nil
	}
	home, err := transport.DefaultHome(os.Getenv)
	return transport.Instance{Home: home}, err
}

// launchOf returns how to start the daemon of that home.
func launchOf(cfg config.Config, environ []string) (owner.Launch, error) {
	place, err := placeOf(cfg)
	if err != nil {
		return owner.Launch{}, err
	}
	exe, err := daemonExe()
	if err != nil {
		return owner.Launch{}, err
	}
	return owner.Launch{Place: place, Exe: exe, Env: environ}, nil
}

// daemonExe returns the daemon next to this program, in the currently installed version.
// It never comes from PATH or the environment, which others may set.
func daemonExe() (string, error) {
	if named := os.Getenv("SWAPKEEP_DAEMON"); failpoint.Enabled && named != "" {
		return named, nil
	}
	exe, err := installer.OwnProgram()
	if err != nil {
		return "", err
	}
	return installer.DaemonBeside(exe), nil
}

// errSilent means that a process holds the daemon's lock and does not answer.
var errSilent = errors.New("swapkeepd does not answer")

func silent(pid int) error {
	return fmt.Errorf("%w: pid %d is starting, stopping or stuck; wait a moment, then end that process if it persists", errSilent, pid)
}

// dialDaemon connects to a running daemon and returns its process id, 0 if unknown. It
// returns transport.ErrNoDaemon, errSilent, or an error of client.Terminal.
func dialDaemon(ctx context.Context, place transport.Instance) (*client.Client, int, error) {
	conn, err := transport.Dial(ctx, place)
	if notRunning(err) {
		if pid, held := owner.Holder(place); held {
			return nil, pid, silent(pid)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	pid := daemonPID(conn)
	c, err := client.Terminal(ctx, conn, version)
	if errors.Is(err, context.DeadlineExceeded) {
		err = silent(pid)
	}
	return c, pid, err
}

func daemonPID(conn net.Conn) int {
	peer, err := transport.PeerOf(conn)
	if err != nil {
		return 0
	}
	return peer.PID
}

func notRunning(err error) bool { return errors.Is(err, transport.ErrNoDaemon) }
