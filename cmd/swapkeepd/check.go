package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// errChecksFailed means that a check failed; the result has already been printed.
var errChecksFailed = errors.New("some checks failed")

// check examines the home of a daemon that is not running; it creates nothing there.
func check(ctx context.Context, out io.Writer, args, environ []string) error {
	asked := func(flag string) bool {
		i := slices.Index(args, flag)
		if i >= 0 {
			args = slices.Delete(args, i, i+1)
		}
		return i >= 0
	}
	asJSON, online := asked("--json"), asked("--online")
	cfg, err := load(environ, args)
	if err != nil {
		return err
	}
	place := transport.Instance{Home: cfg.Home}
	if pid, held := owner.Holder(place); held {
		return fmt.Errorf("the daemon runs (pid %d), and examines itself: run swapkeep doctor", pid)
	}
	d := protocol.Diagnosis{Version: version, Checks: examined{cfg: cfg, place: place, online: online}.examine(ctx)}
	if asJSON {
		return json.NewEncoder(out).Encode(d)
	}
	for _, c := range d.Checks {
		fmt.Fprintf(out, "%-7s  %-16s %s\n", c.Status, c.ID, c.Evidence)
		if c.Remedy != "" {
			fmt.Fprintf(out, "         %-16s what to do: %s\n", "", c.Remedy)
		}
	}
	if slices.ContainsFunc(d.Checks, func(c protocol.Check) bool { return c.Status == protocol.CheckFail }) {
		return errChecksFailed
	}
	return nil
}
