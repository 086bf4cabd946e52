//go:build browser

package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/test/await"
	"swapkeep/test/processes"
)

// Status waits until a daemon runs, without starting one, and returns its status.
func (d *Desk) Status() (s protocol.StatusResult) {
	d.t.Helper()
	var out []byte
	var err error
	if !await.Holds(patience, func() bool {
		if out, err = d.command("--json", "status").Output(); err == nil {
			err = json.Unmarshal(out, &s)
		}
		return err == nil
	}) {
		d.t.Fatalf("no daemon runs: %v: %s\n%s", err, out, d.Log())
	}
	return s
}

// KillDaemon kills the daemon and waits until it is gone. The browser's relay starts
// another.
func (d *Desk) KillDaemon() {
	d.t.Helper()
	pid := d.Status().PID
	if err := processes.Kill(pid); err != nil {
		d.t.Fatal(err)
	}
	if !await.Holds(soon, func() bool { return !d.ownsSocket(pid) }) {
		d.t.Fatalf("the daemon, %d, outlives SIGKILL", pid)
	}
}

// ownsSocket reports whether the desk's socket still belongs to the process: the kernel closes
// it a moment after the rest of the process is gone.
func (d *Desk) ownsSocket(pid int) bool {
	conn, err := transport.Dial(d.t.Context(), d.instance)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	peer, err := transport.PeerOf(conn)
	return err == nil && peer.PID == pid
}

// StopDaemon stops the daemon: the next port starts another, an existing relay does not.
func (d *Desk) StopDaemon() {
	d.t.Helper()
	d.Swapkeep("stop")
}

// Orders returns the daemon's orders, newest first.
func (d *Desk) Orders() (all []protocol.Order) {
	d.t.Helper()
	pages := json.NewDecoder(bytes.NewReader(d.Swapkeep("--json", "orders")))
	for {
		var page protocol.OrdersResult
		err := pages.Decode(&page)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			d.t.Fatalf("orders: %v", err)
		}
		all = append(all, page.Orders...)
	}
}

// AwaitOrder polls until the newest order is as wanted.
func (d *Desk) AwaitOrder(what string, wanted func(protocol.Order) bool) (o protocol.Order) {
	d.t.Helper()
	if await.Holds(patience, func() bool {
		all := d.Orders()
		if len(all) > 0 {
			o = all[0]
		}
		return len(all) > 0 && wanted(o)
	}) {
		return o
	}
	d.t.Fatalf("no order that is %s in %s; the newest is %s, %q (%s)\n%s", what, patience, o.State, o.Condition, o.Reason, d.Log())
	return o
}

// AwaitState polls until the newest order is in a state, such as filled.
func (d *Desk) AwaitState(state string) protocol.Order {
	d.t.Helper()
	return d.AwaitOrder(state, func(o protocol.Order) bool { return o.State == state })
}
