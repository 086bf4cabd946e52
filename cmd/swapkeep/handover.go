package main

import (
	"context"
	"fmt"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/installer"
)

// handoverTime bounds what a daemon may take to finish what it signs and acts, and the
// next one to start.
const handoverTime = protocol.RequestTimeout + 30*time.Second

// A handover is a running daemon that gave way to the installed version.
type handover struct {
	From       string `json:"from"` // its version
	To         string `json:"to"`
	OpenOrders int    `json:"open_orders"` // that go on
	Locked     bool   `json:"locked"`      // the wallet was unlocked, and has to be again
}

// handOver has a daemon that runs give way to that of an installation, if it is of
// another version or its program was replaced. It finishes what is being signed; the
// browsers' relays wait for the next one. nil: there was nothing to do.
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
	c, pid, err := dialDaemon(ctx, launch.Place)
	if notRunning(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	var running protocol.StatusResult
	if err := c.Call(ctx, "host.status", nil, &running); err != nil || running.Version == version && !plan.ReplacesPrograms() {
		return nil, err
	}
	if err := stopDaemon(ctx, launch.Place, c, pid); err != nil {
		return nil, err
	}
	h := &handover{From: running.Version, OpenOrders: running.OpenOrders, Locked: running.Keys == protocol.KeysUnlocked}
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

func (t *terminal) tellHandover(h *handover) {
	if h == nil {
		return
	}
	t.result.Line(fmt.Sprintf("The daemon of %s gave way to that of %s; open orders: %d.", h.From, h.To, h.OpenOrders))
	if h.Locked {
		t.result.Words(screen.Warn, "Unlock your wallet again: orders that still need a signature wait for it.")
	}
}
