package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"swapkeep/config"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/relay"
	"swapkeep/manifest"
)

const stdin = 0

// runRelay serves one port of a browser until the browser closes it.
func runRelay(args []string) int {
	in := relay.Stdin()
	browser, err := relay.GuardStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "swapkeep:", err)
		return exitFailed
	}
	strayPrint()
	return relayExit(serveBrowser(args, in, browser))
}

func serveBrowser(args []string, in io.Reader, browser io.Writer) error {
	caller, cfg, err := admit(args)
	if err != nil {
		return errors.Join(err, relay.WriteFault(browser, refusal(err)))
	}
	launch, err := launchOf(cfg, os.Environ())
	if err != nil {
		return errors.Join(err, relay.WriteFault(browser, notStartable()))
	}
	return relay.Run(context.Background(), relay.Config{
		In:      in,
		Out:     browser,
		Connect: connectTo(launch),
		Attach:  protocol.AttachParams{Kind: protocol.KindBrowser, Origin: caller.Origin(), Version: version, Display: protocol.DisplayOf(os.Getenv)},
		Hangup:  relay.Hangup(stdin),
	})
}

// connectTo starts a daemon for a new browser port, and another if the daemon crashed,
// but not if the user stopped it.
func connectTo(launch owner.Launch) func(context.Context, bool) (net.Conn, error) {
	return func(ctx context.Context, again bool) (net.Conn, error) {
		reach := owner.Ensure
		if again {
			reach = owner.EnsureUnlessStopped
		}
		conn, err := reach(ctx, launch)
		if err != nil {
			return nil, errors.Join(startFault(err), err)
		}
		return conn, nil
	}
}

// startFaults maps the daemon's exit statuses to the protocol's error names.
var startFaults = map[int]string{
	owner.ExitLocked: "database_locked", owner.ExitReadOnly: "database_readonly", owner.ExitFull: "database_full", owner.ExitNewer: "database_newer",
}

// startFault returns the error sent to a browser if the daemon is unavailable. It
// contains no paths or log lines; those are printed on the terminal.
func startFault(err error) error {
	name := "daemon_lost"
	var failed *owner.StartError
	switch {
	case errors.As(err, &failed) && startFaults[failed.Exit] != "":
		name = startFaults[failed.Exit]
	case errors.Is(err, owner.ErrStopped):
		name = "daemon_stopped"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		name = "database_readonly"
	case errors.Is(err, syscall.ENOSPC):
		name = "database_full"
	}
	return protocol.New(name, "")
}

// admit checks the caller against the configured extensions.
func admit(args []string) (relay.Caller, config.Config, error) {
	cfg, err := config.Load(os.Environ())
	if err != nil {
		return relay.Caller{}, cfg, err
	}
	caller, err := relay.CallerOf(args)
	if errors.Is(err, relay.ErrNotABrowser) {
		caller, err = relay.Caller{}, nil // a portal: the origin is unknown
	}
	if err != nil {
		return caller, cfg, err
	}
	return caller, cfg, allowed(cfg).Check(caller)
}

func allowed(cfg config.Config) relay.AllowList {
	return relay.AllowList{
		Chromium: slices.Concat(manifest.Released[manifest.Chromium], cfg.Extensions.Chromium),
		Firefox:  slices.Concat(manifest.Released[manifest.Firefox], cfg.Extensions.Firefox),
		Unknown:  cfg.Extensions.AllowUnknown,
	}
}

// refusal returns the error sent to a browser. It does not contain the configuration
// error, which may quote the file.
func refusal(err error) *protocol.Error {
	if errors.Is(err, relay.ErrOriginRefused) {
		return protocol.New("origin_refused", "")
	}
	fault := protocol.New("internal", "invalid swapkeep configuration")
	fault.Retryable, fault.Remedy = false, "run swapkeep status in a terminal to see what is wrong"
	return fault
}

func notStartable() *protocol.Error {
	return protocol.New("daemon_lost", "the daemon cannot be started: no program or state directory for it")
}

// relayExit returns the relay's exit status, which browsers ignore and the doctor reads.
func relayExit(err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, relay.ErrOriginRefused) {
		return exitRefused
	}
	return exitFailed
}
