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

// handoverTime limits how long the old daemon may take to finish what it is signing and
// sending, and the new one to start.
const handoverTime = protocol.RequestTimeout + 30*time.Second

// A handover is a running daemon that was replaced by the installed version, or will be.
type handover struct {
	From       string `json:"from"` // version of the old daemon
	To         string `json:"to"`
	OpenOrders int    `json:"open_orders"` // orders that the new daemon continues
	Locked     bool   `json:"locked"`      // the wallet was unlocked and must be unlocked again

	daemon *client.Client
	pid    int
}

// downgrade returns an obstacle if the plan is older than the running daemon; otherwise nil.
func (h *handover) downgrade(plan *installer.Plan) *installer.Foreign {
	if h == nil {
		return nil
	}
	return installer.Downgrade("the daemon that runs", h.From, plan.Version)
}

// outdatedDaemon connects to a daemon that the plan replaces: one of another version, or whose
// program the plan replaces. It returns nil if there is none.
func outdatedDaemon(ctx context.Context, place transport.Instance, plan *installer.Plan) (*handover, error) {
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

// daemonToReplace returns the daemon that an installation would replace, without stopping it.
func (t *terminal) daemonToReplace(ctx context.Context, plan *installer.Plan) (*handover, error) {
	place, err := t.place()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	h, err := outdatedDaemon(ctx, place, plan)
	if h != nil {
		_ = h.daemon.Close()
	}
	return h, err
}

// handOver replaces a running daemon by the installed one, if necessary. The old daemon
// finishes what it is signing; the browsers' relays wait for the new one. It returns nil
// if there was nothing to do.
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
	h, err := outdatedDaemon(ctx, launch.Place, plan)
	if h == nil {
		return nil, err
	}
	defer func() { _ = h.daemon.Close() }()
	if err := stopDaemon(ctx, launch.Place, h.daemon, h.pid); err != nil {
		return nil, err
	}
	h.To, err = startDaemon(ctx, launch)
	if err != nil {
		return nil, fmt.Errorf("swapkeep %s is installed, the daemon of %s was stopped, and the new one did not start: %w", plan.Version, h.From, err)
	}
	return h, nil
}

// startDaemon starts the daemon and returns its version.
func startDaemon(ctx context.Context, launch owner.Launch) (string, error) {
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
