//go:build browser

package browser

import (
	"net/http"
	"testing"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/await"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// outage makes a provider answer 503 to everything until over is called.
func (p *trader) outage(server string) (over func()) {
	p.t.Helper()
	return p.d.Fault(server, inject.Rule{Target: "*", Kind: inject.HTTP, Status: http.StatusServiceUnavailable})
}

// requests returns how many requests a provider got.
func (p *trader) requests(server string) (all int) {
	p.t.Helper()
	var counts struct{ Requests map[string]int }
	p.d.Control("GET", "/counts/"+server, nil, &counts)
	for _, n := range counts.Requests {
		all += n
	}
	return all
}

// TestOutage covers one provider that is down. The form says which, and shows the others'
// offers. An order whose provider goes down meanwhile is still followed and never called
// failed. Both recover.
func TestOutage(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.d.Control("POST", "/intent", map[string]any{"pacePercent": 0}, nil) // so that the comparison need not wait
		p.pay("USDC")
		p.receive("WETH")
		over := p.outage("dex")
		p.amount("50")
		p.Find("button", "/try again$/")
		p.In("alert", "").AwaitText("The provider does not answer", "dex provider is down", "Try again later, or choose another provider.")
		p.Click("button", "/^3 other offers/")
		p.Click("button", "/^Gasless /")
		p.ready()
		p.Click("button", "/^2 other offers/")
		p.Click("button", "1 provider has no offer")
		p.AwaitText("DEX (Uniswap) The provider does not answer")
		over()

		p.orderInOutage()

		p.provider("DEX")
		p.receive("WETH")
		p.amount("60")
		p.resumed()
	})
}

// resumed tries again, as the button says, until there is an offer: a provider that failed
// often is not asked for some seconds.
func (p *trader) resumed() {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		p.Await("button", "/^Review swap$|try again$/", "sure", func(e ui.Element) bool { return !e.Disabled })
		if len(p.All("button", "Review swap")) > 0 {
			return
		}
		p.Click("button", "/try again$/")
		time.Sleep(time.Second)
	}
	p.t.Fatal("it has no offer any more")
}

// orderInOutage bridges while the bridge is down from the deposit until after the payment.
func (p *trader) orderInOutage() {
	p.t.Helper()
	p.provider("Bridge")
	p.to("Arbitrum")
	p.receive("USDC")
	p.align(desk.Arbitrum)
	p.amount("120")
	p.review()
	before := p.d.Orders()
	p.d.Chain(desk.Arbitrum).Pause()
	p.confirm("Approve and swap")
	p.approve(allowance{"120 USDC", false})
	p.d.AwaitState("settling")
	over := p.outage("bridge")
	asked := p.requests("bridge")
	await.Until(p.t, 10*time.Second, "the bridge is asked about its order", func() bool { return p.requests("bridge") >= asked+2 })
	p.Find("heading", "Swap in progress")
	p.AwaitText("Awaiting settlement")
	p.AwaitNoText("failed")
	if o := p.d.Orders()[0]; o.Final || o.State != "settling" || o.Condition != "" {
		p.t.Errorf("the order is %s, %q", o.State, o.Condition)
	}
	p.d.Chain(desk.Arbitrum).Resume()
	p.awaitEnd(before, "filled") // the chain proves it, whatever the bridge says
	over()
	p.another()
}
