package main

import (
	"context"
	"fmt"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/installer"
)

// handoverTime bounds what a daemon may take to finish what it signs and acts, and the
// next one to start.
const handoverTime = protocol.RequestTimeout + 30*time.Second

// A handover is a running daemon that gave way to the installed version, or would.
type handover struct {
	From       string `json:"from"` // its version
	To         string `json:"to"`
	OpenOrders int    `json:"open_orders"` // that go on
	Locked     bool   `json:"locked"`      // the wallet was unlocked, and has to be again

	daemon *client.Client
	pid    int
}

// later is what stands in the way of a plan of an older version than the daemon's.
func (h *handover) later(plan *installer.Plan) *installer.Foreign {
	if h == nil {
		return nil
	}
	return installer.Later("the daemon that runs", h.From, plan.Version)
}

// outdated connects to a daemon that has to give way to a plan's: one of another
// version, or whose program is replaced. nil: there is none.
func outdated(ctx context.Context, place transport.Place, plan *installer.Plan) (*handover, error) {
	c, pid, err := dialDaemon(ctx, place)
	if notRunning(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var running protocol.StatusResult
	err = c.Call(ctx, "host.status", nil, &running)
	if err != nil || running.Version == plan.Version && !plan.ReplacesPrograms() {
		_ = c.Close()
		return nil, err
	}
	return &handover{
		From: running.Version, To: plan.Version, OpenOrders: running.OpenOrders, Locked: running.Keys == protocol.KeysUnlocked,
		daemon: c, pid: pid,
	}, nil
}

// outgoing is the daemon that an installation would have give way. It only asks.
func (t *terminal) outgoing(ctx context.Context, plan *installer.Plan) (*handover, error) {
	place, err := t.place()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	h, err := outdated(ctx, place, plan)
	if h != nil {
		_ = h.daemon.Close()
	}
	return h, err
}

// handOver has a daemon that runs give way to that of an installation, if it has to. It
// finishes what is being signed; the browsers' relays wait for the next one. nil: there
// was nothing to do.
func (t *terminal) handOver(ctx context.Context, plan *installer.Plan) (*handover, error) {
	cfg, err := t.load()
	if err != nil {
		return nil, err
	}
	launch, err := launchOf(cfg, t.environ())
	if err != nil {
		return nil, err
	}
	launch.Exe = installer.DaemonBeside(plan.Launch)
	ctx, cancel := context.WithTimeout(ctx, handoverTime)
	defer cancel()
	h, err := outdated(ctx, launch.Place, plan)
	if h == nil {
		return nil, err
	}
	defer func() { _ = h.daemon.Close() }()
	if err := stopDaemon(ctx, launch.Place, h.daemon, h.pid); err != nil {
		return nil, err
	}
	h.To, err = begin(ctx, launch)
	if err != nil {
		return nil, fmt.Errorf("swapkeep %s is installed, the daemon of %s was stopped, and the new one did not start: %w", plan.Version, h.From, err)
	}
	return h, nil
}

// begin starts the daemon and returns its version.
func begin(ctx context.Context, launch owner.Launch) (string, error) {
	conn, err := owner.Ensure(ctx, launch)
	if err != nil {
		return "", notStarted(launch.Place, err)
	}
	c, err := client.Terminal(ctx, conn, version)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	var hello protocol.Hello
	err = c.Call(ctx, "host.hello", protocol.HelloParams{}, &hello)
	return hello.Version, err
}
