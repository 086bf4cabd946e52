//go:build faults && linux

package crash

import (
	"errors"
	"testing"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/processes"
)

// hung lists flows whose provider takes the order and does not answer. The daemon passes no
// point while it waits, so it cannot be killed at one.
var hung = []struct{ flow, endpoint string }{
	{"jam", "jam/order"},
	{"rfq", "rfq/order"},
	{"dutch_v2", "/order"},
	{"intent_native", "/v1/deposit/submit"},
	{"bridge_native", "/transactions/index"},
}

// TestKilledWhileProviderHangs checks that after the restart the provider is asked whether
// it has the order, and is not sent another.
func TestKilledWhileProviderHangs(t *testing.T) {
	for _, h := range hung {
		t.Run(h.flow, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, takeLane(t))
			d.open()
			p := begin(d, flowNamed(h.flow), "")
			p.hang(h.endpoint)
			if err := p.drive(); !errors.Is(err, errLost) {
				t.Fatalf("the daemon was not killed: %v", err)
			}
			if err := p.doomed.killed(patience); err != nil {
				t.Fatal(err)
			}
			p.doomed = nil
			if err := greeted(d.relay); err != nil {
				t.Fatal(err)
			}
			if _, err := p.awaitOrder(p.id, final); err != nil { // while locked, as everything is signed
				t.Fatal(err)
			}
			p.asPromised()
			d.unlock()
			p.goesOn(uint64(len(p.flow.mined)))
			d.shut()
			p.journalHolds()
		})
	}
}

// hang makes the endpoint act without answering, and kills the daemon while it waits.
func (p *passage) hang(endpoint string) {
	p.t.Helper()
	faults, pid := p.lane.Faults(p.flow.provider()), p.pid()
	rule, err := faults.Add(inject.Rule{Target: endpoint, Kind: inject.Stall})
	if err != nil {
		p.t.Fatal(err)
	}
	doomed := p.watch()
	p.doomed = doomed
	go func() {
		defer faults.Remove(rule)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if faults.Held() > 0 {
				_ = processes.Kill(pid)
				<-doomed.done
				return
			}
		}
	}()
}
