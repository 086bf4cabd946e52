//go:build faults && linux

package crash

import (
	"cmp"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/test/audit"
)

// Kinds of provider.
const (
	dex     = "dex"
	bridge  = "bridge"
	intent  = "intent"
	gasless = "gasless"
)

// orderEndpoints lists the endpoints that take orders, by the names under which calls are counted.
var orderEndpoints = map[string][]string{dex: {"/order"}, bridge: {"/transactions/index"}, intent: {"/v1/deposit/submit"}, gasless: {"jam/order", "rfq/order"}}

// settledByProvider reports whether somebody else settles the flow's order.
func (f flow) settledByProvider() bool { return slices.Contains(f.states, "submitting") }

func (f flow) provider() string { return cmp.Or(f.kind, dex) }

// providerOrders returns the orders that the flow's provider has, and how often it was told of one.
func (p *flowRun) providerOrders() (all []audit.Entry, times int) {
	p.t.Helper()
	kind := p.flow.provider()
	all, err := audit.ProviderOrders[kind](p.t.Context(), p.lane.Sandbox)
	if err != nil {
		p.t.Fatal(err)
	}
	counts := p.lane.Faults(kind).Counts()
	for _, endpoint := range orderEndpoints[kind] {
		times += counts[endpoint]
	}
	return all, times
}

// checkProviderOnce checks that the provider has exactly the one order and was told of it as often
// as expected, and that the account signed once for each signature step.
func (p *flowRun) checkProviderOnce(s observation, r protocol.OrderResult) {
	p.t.Helper()
	all, told := p.providerOrders()
	if !p.flow.settledByProvider() {
		if len(all) != 0 || told != 0 {
			p.t.Errorf("the provider has %d orders and was told of one %d times; the account settles it by itself", len(all), told)
		}
		return
	}
	if len(all) != 1 {
		p.t.Fatalf("the provider has %d orders, and was told %d times", len(all), told)
	}
	h, most := all[0], max(p.flow.submissions, 1)
	if told > most || told < most && h.Deposit == (common.Hash{}) { // the provider may see a deposit before it is told
		p.t.Errorf("the provider was told %d times, want %d", told, most)
	}
	if r.Order.ProviderOrderID != h.Ref {
		p.t.Errorf("the order is %q at the provider, which has %q", r.Order.ProviderOrderID, h.Ref)
	} else if h.Deposit != (common.Hash{}) && h.Deposit != s.mined[len(s.mined)-1].Hash() {
		p.t.Errorf("the provider has deposit %s, mined last was %s", h.Deposit, s.mined[len(s.mined)-1].Hash())
	}
	signatures, signed := 0, 0
	for _, step := range p.steps() {
		if step.Kind == "typed" {
			signatures++
		}
	}
	for _, e := range r.History {
		if e.Cause != nil && e.Cause.Reason == "signed" {
			signed++
		}
	}
	if signed != signatures {
		p.t.Errorf("%d signatures are on record, want %d", signed, signatures)
	}
}

// checkProviderUnaware checks that the provider never heard of the account.
func (p *flowRun) checkProviderUnaware() {
	p.t.Helper()
	if all, told := p.providerOrders(); len(all) != 0 || told != 0 {
		p.t.Errorf("without consent the provider has %d orders, and was told %d times", len(all), told)
	}
}
