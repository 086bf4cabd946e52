//go:build faults && linux

package crash

import (
	"errors"
	"testing"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/processes"
)

// hung are flows whose provider takes the order and does not answer. Nothing of the
// daemon's is passed while it waits, so that no point is there to kill it at.
var hung = []struct{ flow, endpoint string }{
	{"jam", "jam/order"},
	{"rfq", "rfq/order"},
	{"dutch_v2", "/order"},
	{"intent_native", "/v1/deposit/submit"},
	{"bridge_native", "/transactions/index"},
}

// TestKilledWhileProviderHangs: after the restart the provider is asked whether it
// has the order, and is not given another.
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
			if _, err := p.awaitOrder(p.id, final); err != nil { // locked: all is signed
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

// hang has the endpoint do what it is asked for and not answer, and kills the daemon
// that waits for it.
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
