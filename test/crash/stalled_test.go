//go:build faults && linux

package crash

import (
	"testing"

	"swapkeep/sandbox/inject"
	"swapkeep/test/await"
	"swapkeep/test/processes"
)

// stalledFlows lists flows whose provider takes the order and does not answer. The daemon passes no
// point while it waits, so it cannot be killed at one.
var stalledFlows = []struct{ flow, endpoint string }{
	{"jam", "jam/order"},
	{"rfq", "rfq/order"},
	{"dutch_v2", "/order"},
	{"intent_native", "/v1/deposit/submit"},
	{"bridge_native", "/transactions/index"},
}

// TestKilledWhileProviderHangs checks that after the restart the provider is asked whether
// it has the order, and is not sent another.
func TestKilledWhileProviderHangs(t *testing.T) {
	for _, h := range stalledFlows {
		t.Run(h.flow, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, takeLane(t))
			d.open()
			p := begin(d, flowNamed(h.flow), "")
			p.stallAndKill(h.endpoint)
			d.expectKilled("the daemon was not killed", p.drive())
			d.awaitSuccessor()
			if _, err := p.awaitOrder(p.id, ended); err != nil { // while locked, as everything is signed
				t.Fatal(err)
			}
			p.checkOutcome()
			d.unlock()
			p.checkNextSwap(uint64(len(p.flow.mined)))
			d.shut()
			p.checkAudit()
		})
	}
}

// stallAndKill makes the endpoint act without answering, and kills the daemon while it waits.
func (p *flowRun) stallAndKill(endpoint string) {
	p.t.Helper()
	faults, pid := p.lane.Faults(p.flow.provider()), p.pid()
	rule, err := faults.Add(inject.Rule{Target: endpoint, Kind: inject.Stall})
	if err != nil {
		p.t.Fatal(err)
	}
	doomed := p.watch()
	p.dying = doomed
	go func() {
		defer faults.Remove(rule)
		if await.Holds(longTimeout, func() bool { return faults.Held() > 0 }) {
			_ = processes.Kill(pid)
			<-doomed.done
		}
	}()
}
