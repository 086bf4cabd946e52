package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"swapkeep/config"
	"swapkeep/home"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/keys"
)

// probeTime limits each call to the keychain.
const probeTime = 4 * time.Second

// A examined is what is examined: a running daemon, or the home of one that is not
// running.
type examined struct {
	cfg    config.Config
	place  transport.Instance
	daemon *daemon // nil if none is running
	online bool

	probes func() ([]probedNetwork, error) // of the networks, made once
}

// examinations are the checks that need swapkeepd.
var examinations = []struct {
	id  string
	run func(examined, context.Context) protocol.Check
}{
	{"home.directory", examined.directory},
	{"home.stamp", examined.stamp},
	{"database.orders", examined.orders},
	{"database.prices", examined.history},
	{"keychain", examined.keychain},
	{"prices.port", examined.port},
	{"providers", examined.refusedAnswers},
	{"clock", examined.clock},
	{"networks", examined.networks},
	{"networks.hosts", examined.hosts},
}

// diagnose implements host.diagnose.
func (d *daemon) diagnose(ctx context.Context, online bool) []protocol.Check {
	return examined{cfg: d.cfg, place: transport.Instance{Home: d.home.Dir}, daemon: d, online: online}.examine(ctx)
}

func (s examined) examine(ctx context.Context) []protocol.Check {
	s.probes = sync.OnceValues(func() ([]probedNetwork, error) { return s.probe(ctx) })
	out := make([]protocol.Check, len(examinations))
	var all sync.WaitGroup
	for i, e := range examinations {
		all.Go(func() {
			out[i] = e.run(s, ctx)
			out[i].ID = e.id
		})
	}
	all.Wait()
	return out
}

func finding(status, evidence, remedy string) protocol.Check {
	return protocol.Check{Status: status, Evidence: evidence, Remedy: remedy}
}

const neverStarted = "no daemon was started here yet"

// directory checks the permissions of the state directory.
func (s examined) directory(context.Context) protocol.Check {
	dir := s.place.Home
	err := transport.Check(s.place)
	var unsafe *transport.UnsafeDirectoryError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding(protocol.CheckOK, dir+" does not exist: "+neverStarted, "")
	case errors.As(err, &unsafe):
		return finding(protocol.CheckFail, unsafe.Dir+" "+unsafe.Reason, unsafe.Remedy)
	case err != nil:
		return finding(protocol.CheckFail, err.Error(), "fix the permissions of "+dir)
	}
	return finding(protocol.CheckOK, dir+", accessible only to this user", "")
}

// stamp checks whether the home has the configuration's mode, sandbox or real.
func (s examined) stamp(context.Context) protocol.Check {
	stamp, err := home.ReadStamp(s.place.Home)
	mode := map[bool]string{true: "sandbox", false: "real"}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding(protocol.CheckOK, neverStarted, "")
	case errors.Is(err, home.ErrStamp):
		return finding(protocol.CheckFail, "home.json is damaged", "restore "+filepath.Join(s.place.Home, "home.json")+" from a backup: it names the keychain items of your wallets")
	case err != nil:
		return finding(protocol.CheckFail, err.Error(), "fix the permissions of "+s.place.Home)
	case stamp.Sandbox != s.cfg.Sandbox:
		return finding(protocol.CheckFail, fmt.Sprintf("this home is %s, but the configuration is %s", mode[stamp.Sandbox], mode[s.cfg.Sandbox]),
			"set sandbox = "+fmt.Sprint(stamp.Sandbox)+" in the configuration, or SWAPKEEP_HOME to another directory")
	}
	return finding(protocol.CheckOK, mode[stamp.Sandbox], "")
}

// keychain writes, reads and deletes an item next to the wallets' items.
func (s examined) keychain(ctx context.Context) protocol.Check {
	stamp, err := home.ReadStamp(s.place.Home)
	if err != nil {
		stamp = home.Stamp{Sandbox: s.cfg.Sandbox, Namespace: "new"}
	}
	if s.cfg.Keys.Backend == "file" {
		if _, err := os.Stat(filepath.Join(s.place.Home, "keys")); errors.Is(err, fs.ErrNotExist) {
			return finding(protocol.CheckOK, "encrypted files (keys.backend): none yet", "")
		}
	}
	store, err := keysOf(s.cfg, stamp, s.place.Home, ".probe", keys.Limits{Call: probeTime, Prompt: probeTime})
	if err == nil {
		err = store.Probe(ctx)
	}
	switch {
	case errors.Is(err, keys.ErrKeychainLocked):
		return finding(protocol.CheckWarn, keys.ErrKeychainLocked.Error()+": it will prompt before use", keys.Remedy(err))
	case err != nil:
		return finding(protocol.CheckFail, oneLine(err), keys.Remedy(err))
	}
	return finding(protocol.CheckOK, map[string]string{"os": "the system's keychain", "file": "encrypted files"}[s.cfg.Keys.Backend]+": wrote, read and deleted an item", "")
}

// port checks whether the price API is served or its port is free.
func (s examined) port(ctx context.Context) protocol.Check {
	at := s.cfg.Prices.Listen
	if s.cfg.Prices.Disabled || at == config.NoListener {
		return finding(protocol.CheckOK, "disabled in the configuration", "")
	}
	if s.daemon != nil {
		return s.servedPort()
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		p := portProblem(at, err)
		return finding(protocol.CheckWarn, p.Message, p.Remedy)
	}
	_ = l.Close()
	return finding(protocol.CheckOK, at+" is free", "")
}

func (s examined) servedPort() protocol.Check {
	if p := s.daemon.prices.port.Load(); p != nil {
		return finding(protocol.CheckWarn, p.Message, p.Remedy)
	}
	if at := s.daemon.prices.Status().URL; at != "" {
		return finding(protocol.CheckOK, "served by the daemon at "+at, "")
	}
	return finding(protocol.CheckSkipped, "not served yet, or the price history is unusable", "")
}
