//go:build faults && linux

package crash

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
	"swapkeep/test/requests"
)

// refused is a swap whose transaction no node accepts. A node may have lied, so the order
// stays open until its bytes are too late to be sent, which is longer than a test can wait:
// the daemon is then started with a clock that is ahead.
var refused = func() flow {
	f := flowNamed("swap")
	f.name, f.states, f.mined = "refused", []string{"accepted", "executing", "expired"}, nil
	return f
}()

const clockLater = "SWAPKEEP_CLOCK_SHIFT=30m"

// Moments of a refused transaction.
var (
	beforeRefusal = onDisk{consented: true, note: "signed; nobody said no"}
	afterRefusal  = onDisk{consented: true, note: "signed; refused"}
	afterEnd      = onDisk{consented: true, note: "ended"}
)

// TestRefusedKilledAtEveryPoint checks that bytes are sent again unless their refusal is on
// disk; if it is, they are not, and their nonce is free again.
func TestRefusedKilledAtEveryPoint(t *testing.T) {
	var table resultTable
	seen := map[string]bool{}
	t.Run("trace", func(t *testing.T) { traceRefused(t, seen) })
	t.Run("kill", func(t *testing.T) {
		for _, k := range []kill{{refused, "sender.before_reject", 1, beforeRefusal}, {refused, "sender.after_reject", 1, afterRefusal}} {
			for _, way := range []string{unlockAtOnce, unlockLater} {
				t.Run(fmt.Sprintf("%s/%s", k.point, strings.Fields(way)[0]), func(t *testing.T) {
					t.Parallel()
					table.note(t, k, way, func() string { return surviveRefusal(t, k, way == unlockLater) })
				})
			}
		}
		for _, k := range []kill{{refused, "journal.before_expired", 1, afterRefusal}, {refused, "journal.after_expired", 1, afterEnd}} {
			t.Run(k.point, func(t *testing.T) {
				t.Parallel()
				table.note(t, k, unlockLater, func() string { return surviveExpiry(t, k) })
			})
		}
	})
	expected(t, "TestRefusedKilledAtEveryPoint", seen)
	t.Log("\n" + table.String())
}

// runRefused executes the flow while nodes accept nothing.
func (p *flowRun) runRefused() error {
	if err := p.look(); err != nil {
		return err
	}
	_, err := p.chain().Faults.Add(inject.Rule{Target: "eth_sendRawTransaction", Kind: inject.Error, Message: "insufficient funds for gas * price + value"})
	if err != nil {
		return err
	}
	var o protocol.Order
	if err := p.ask("swap.execute", protocol.ExecuteParams{Request: p.request, Digest: p.digest, Acknowledge: priceAcks, Password: []byte(requests.Password)}, &o); err != nil {
		return err
	}
	p.id = o.ID
	_, err = p.awaitOrder(p.id, isRefused)
	return err
}

func isRefused(o protocol.Order) bool { return o.Cause != nil && o.Cause.Reason == "not_broadcast" }

// expire ends the order by a clock that is ahead and checks that nothing is left of it: the
// next swap takes its nonce.
func (p *flowRun) expire() {
	p.t.Helper()
	p.shut()
	p.open(clockLater)
	if _, err := p.awaitOrder(p.id, ended); err != nil {
		p.t.Fatal(err)
	}
	p.shut()
	p.open()
	p.expired()
}

func (p *flowRun) expired() {
	p.t.Helper()
	r, err := p.order(p.id)
	if err != nil || r.Order.State != "expired" || !slices.Equal(passed(r.History), refused.states) {
		p.t.Fatalf("the order is %s after %v, %v", r.Order.State, passed(r.History), err)
	}
	if s := p.observe(); len(s.mined) != 0 || s.pending != 0 {
		p.t.Errorf("%d transactions are mined, and the pending nonce is %d", len(s.mined), s.pending)
	}
	p.unlock()
	p.checkNextSwap(0)
	p.shut()
	p.checkAudit()
}

func traceRefused(t *testing.T, seen map[string]bool) {
	d := newDesk(t, takeLane(t))
	path := d.openTraced()
	p := begin(d, refused, "")
	if err := p.runRefused(); err != nil {
		t.Fatal(err)
	}
	p.resetWorld()
	d.shut()
	d.openTraced(clockLater)
	if _, err := p.awaitOrder(p.id, ended); err != nil {
		t.Fatal(err)
	}
	d.shut()
	d.open()
	p.expired()
	for _, point := range readTrace(t, path) {
		seen[point] = true
	}
}

func surviveRefusal(t *testing.T, k kill, stayLocked bool) string {
	d := newDesk(t, takeLane(t))
	d.open(k.env())
	p := begin(d, k.flow, "")
	d.dying = d.watch()
	d.expectKilled("refused", p.runRefused())
	p.resetWorld()
	d.awaitSuccessor()
	p.id = p.orders()[0].ID
	if !stayLocked {
		d.unlock()
	}
	if k.when == beforeRefusal {
		if _, err := p.awaitOrder(p.id, ended); err != nil {
			t.Fatal(err)
		}
		p.flow.states, p.flow.mined = filled, []string{"call"}
		p.checkOutcome()
		d.unlock()
		p.checkNextSwap(1)
		d.shut()
		p.checkAudit()
		return "filled: call"
	}
	if _, err := p.awaitOrder(p.id, isRefused); err != nil {
		t.Fatal(err)
	}
	if _, err := p.checkStays(""); err != nil {
		t.Fatal(err)
	}
	p.expire()
	return "expired, nothing mined"
}

func surviveExpiry(t *testing.T, k kill) string {
	d := newDesk(t, takeLane(t))
	d.open()
	p := begin(d, k.flow, "")
	if err := p.runRefused(); err != nil {
		t.Fatal(err)
	}
	p.resetWorld()
	d.shut()
	d.runUntilKilled(clockLater, k.env())
	d.open()
	if k.when == afterEnd {
		p.expired()
		return "expired, nothing mined"
	}
	if _, err := p.awaitOrder(p.id, isRefused); err != nil {
		t.Fatal(err)
	}
	p.expire()
	return "open, then expired, nothing mined"
}

// runUntilKilled starts a daemon without a relay, which would restart it, and waits for its SIGKILL.
func (d *desk) runUntilKilled(extra ...string) {
	d.t.Helper()
	cmd := d.Daemon(extra...)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	late := time.AfterFunc(longTimeout, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		d.t.Fatalf("it lives on\n%s", d.Log())
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err == nil || !ok || s.Signal() != syscall.SIGKILL {
		d.t.Fatalf("the daemon ended with %v", err)
	}
}
