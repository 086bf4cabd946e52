//go:build browser

package browser

import (
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestTwoWindows checks that two windows show the same wallet, that offers go to the window
// used last, and that a plan is executed once, whichever window asks.
func TestTwoWindows(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := tradingIn(t, desk.New(t, desk.Options{}), kind)
		p.receive("USDC")
		p.amount("0.5")
		p.Find("button", "Review swap")
		q := p.inWindow(p.Browser().Open("popup.html?view=tab"))
		q.Find("button", "Review swap") // with the draft of the first
		p.Click("button", "Quotes are running in another window – continue here")
		p.Find("button", "Review swap")
		q.Find("button", "Quotes are running in another window – continue here")

		samePlanTwice(p, q)

		q.amount("0.1")
		q.Find("button", "Review swap")
		p.Click("button", "/^Network: /")
		p.Click("button", "/^Arbitrum/")
		q.Await("button", "/^Network: /", "Arbitrum", func(e ui.Element) bool { return e.Name == "Network: Arbitrum One" })
		q.AwaitText("You pay on Arbitrum", "Balance 0")
		q.AwaitAbsent("button", "Review swap")
		q.AwaitAbsent("region", "Offer")
	})
}

// samePlanTwice reviews and consents in one window; then the other asks the daemon for the
// same plan under a request of its own, which is refused.
func samePlanTwice(p, q *trader) {
	p.t.Helper()
	p.review()
	p.Click("button", "Swap now")
	p.Find("heading", "Swap ended")
	o := p.d.AwaitState("filled")
	var refusal struct{ Name, Order string }
	q.Eval(`new Promise((resolve) => {
		const port = chrome.runtime.connect({ name: "dex" });
		port.onMessage.addListener((m) => m.id === 1 && resolve({ name: m.error?.data.name, order: m.error?.data.details?.order ?? "" }));
		port.postMessage({ id: 1, method: "swap.execute", params: { request: crypto.randomUUID(), digest: `+"`"+string(o.Digest)+"`"+`, acknowledge: [] } });
	})`, &refusal)
	if refusal.Name != "plan_executed" || refusal.Order != o.ID {
		p.t.Errorf("the same plan from another window got %+v", refusal)
	}
	if all := p.d.Orders(); len(all) != 1 {
		p.t.Errorf("there are %d orders of one plan", len(all))
	}
	p.another()
}

// TestNetworkSwitch checks that a swap starts on the network in the header: balances and
// tokens are of the new network, and the button says what a provider does not support.
func TestNetworkSwitch(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Env: []string{"SWAPKEEP_PROVIDERS_GASLESS_DISABLED=true"}})
		p := tradingIn(t, d, kind)
		d.Fund(desk.Arbitrum, p.w.Address, "", "7")
		p.receive("USDC")
		p.amount("0.5")
		p.AwaitText("Balance 10")
		p.Find("button", "Review swap")
		p.provider("Gasless")
		p.Find("button", "/^(Switched off|Not available|Provider not set up)/")
		p.provider("DEX")

		p.Click("button", "/^Network: /")
		p.Find("heading", "Networks")
		p.Click("button", "/^Arbitrum/")
		p.Find("button", "Network: Arbitrum One")
		p.Click("button", "Back")
		p.AwaitText("You pay on Arbitrum", "Balance 7")
		p.Find("button", "Select a token")
		if amount := p.Value("/^You pay on /"); amount != "" { // it was of another coin
			t.Errorf("the amount is %q", amount)
		}
		p.receive("USDC")
		p.amount("0.5")
		p.review()
		p.AwaitText("on Arbitrum One")
		d.Swapkeep("networks", "select", "1")
		p.AwaitText("You pay on Ethereum", "Balance 0")
		p.AwaitAbsent("heading", "Review swap")
	})
}
