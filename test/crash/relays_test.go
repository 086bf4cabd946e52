//go:build faults && linux

package crash

import (
	"sync"
	"testing"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/test/await"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
)

const manyRelays = 20

// startRelays starts relays all at once and returns them, with the instance id of the one daemon
// that greeted them all.
func (d *desk) startRelays(n int) ([]*client.Process, protocol.UUID) {
	d.t.Helper()
	relays, instances, errs := make([]*client.Process, n), make([]protocol.UUID, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var h protocol.Hello
			relays[i], h, errs[i] = d.Browse(longTimeout)
			instances[i] = h.Instance
		})
	}
	wg.Wait()
	for i := range n {
		if errs[i] != nil || instances[i] != instances[0] {
			d.t.Fatalf("relay %d: daemon %q, %v; the first has %q", i, instances[i], errs[i], instances[0])
		}
	}
	return relays, instances[0]
}

// TestManyRelaysFromCold checks that all relays share one daemon, which outlives every
// relay, and that an accepted order is paid exactly once, whichever of them crash.
func TestManyRelaysFromCold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	relays, first := d.startRelays(manyRelays)
	d.checkOneDaemon(manyRelays)
	d.relay = relays[0]
	p := begin(d, flowNamed("wrap"), "")
	chain := d.lane.Chain(p.flow.chain)
	chain.Pause()
	p.acceptedAndSent()

	// Half of the browsers crash, and so does the daemon.
	for _, r := range relays[manyRelays/2:] {
		d.crash(r.PID())
		<-r.Exited()
	}
	d.checkOneDaemon(manyRelays / 2)
	d.crash(d.pid())
	second := protocol.UUID("")
	for i, r := range relays[:manyRelays/2] {
		h, err := programs.AwaitHello(r, longTimeout)
		if err != nil || h.Instance == first || second != "" && h.Instance != second {
			t.Fatalf("relay %d came back to daemon %q, %v; before it was %q, of others it is %q", i, h.Instance, err, first, second)
		}
		second = h.Instance
	}
	d.checkOneDaemon(manyRelays / 2)

	// The others crash too, so that no relay is connected when the swap is mined.
	for _, r := range relays[:manyRelays/2] {
		d.crash(r.PID())
		<-r.Exited()
	}
	d.checkOneDaemon(0)
	chain.Resume()
	time.Sleep(3 * time.Second)
	if s := p.observe(); len(s.mined) != 1 {
		t.Errorf("%d transactions mined with no browser there", len(s.mined))
	}
	d.relay = nil
	d.open()
	if r, err := d.order(p.id); err != nil || r.Order.State != "filled" {
		t.Errorf("the order is %s, %v", r.Order.State, err)
	}
	p.checkOutcome()
	d.unlock()
	p.checkNextSwap(1)
	d.shut()
	p.checkAudit()
}

// acceptedAndSent executes the flow's plan and waits until a node has the transaction.
func (p *flowRun) acceptedAndSent() {
	p.t.Helper()
	if err := p.look(); err != nil {
		p.t.Fatal(err)
	}
	var o protocol.Order
	p.must("swap.execute", protocol.ExecuteParams{Request: p.request, Digest: p.digest, Acknowledge: priceAcks, Password: []byte(requests.Password)}, &o)
	p.id = o.ID
	if err := p.awaitOffered(1); err != nil {
		p.t.Fatal(err)
	}
}

func (d *desk) crash(pid int) {
	d.t.Helper()
	if err := processes.Kill(pid); err != nil {
		d.t.Fatal(err)
	}
}

// checkOneDaemon checks that soon there are that many relays and a single daemon in this home.
func (d *desk) checkOneDaemon(relays int) {
	d.t.Helper()
	var n int
	if !await.Holds(5*time.Second, func() bool { n = len(d.processes()); return n == relays+1 }) {
		d.t.Fatalf("%d processes for %d relays and a daemon", n, relays)
	}
	if s := d.status(); len(s.Connections) != relays+1 { // the status command is a connection itself
		d.t.Errorf("the daemon counts %d connections, want %d", len(s.Connections), relays+1)
	}
}
