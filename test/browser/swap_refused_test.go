//go:build browser

package browser

import (
	"fmt"
	"testing"

	"swapkeep/sandbox/inject"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

const thief = "0x00000000000000000000000000000000000BaD00"

// lies are provider answers that must be refused, and what the popup says: which field was
// wrong, and that nothing was signed. Lies in a quote are reported before there is an
// offer, the others when the plan is built.
var lies = []struct {
	provider, in            string
	server, target, pointer string
	value                   any
	plan                    string // the intent simulator's own way to fail
	quoted                  bool
	read                    string
}{
	{"DEX", "ETH", "dex", "/swap", "/swap/to", thief, "", false, "Swapkeep does not know the contract called"},
	{"DEX", "ETH", "dex", "/swap", "/swap/value", "0x6f05b59d3b20000", "", false, "The provider changed the coins sent with it."},
	{"Bridge", "ETH", "bridge", "/quote/v2", "/details/recipient", thief, "", true, "The provider changed the recipient."},
	{"Bridge", "ETH", "bridge", "/quote/v2", "/details/currencyOut/minimumAmount", "1", "", true, "The provider changed the minimum received."},
	{"Gasless", "WETH", "gasless", "rfq/quote", "/toSign/receiver", thief, "", true, "The provider changed the recipient."},
	{"Intent", "WETH", "", "", "", nil, "stranger_spender", false, "The provider changed the spender."},
	{"Intent", "WETH", "", "", "", nil, "unlimited_approve", false, "The provider changed the approval."},
}

// TestHostileAnswersAreRefused checks that the popup names the wrong field, and that there
// is no order and no transaction.
func TestHostileAnswersAreRefused(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
		p.d.Control("POST", "/gasless", map[string]any{"jam": map[string]any{"down": true}}, nil)
		p.receive("USDC")
		paid := ""
		for i, lie := range lies {
			if lie.in != paid {
				paid = lie.in
				p.pay(paid)
			}
			p.provider(lie.provider)
			if !lie.quoted {
				p.amount(fmt.Sprintf("0.2%d", i))
				p.ready()
			}
			truth := p.lieUntil(lie.server, lie.target, lie.pointer, lie.value, lie.plan)
			if lie.quoted {
				p.amount(fmt.Sprintf("0.2%d", i))
				p.Find("button", "/try again$/")
			} else {
				p.Click("button", "Review swap")
			}
			p.In("alert", "").AwaitText(lie.read, "Nothing was signed.")
			if !p.alertVisible() {
				t.Errorf("%s: the reason is not in sight", lie.read)
				p.Screenshot(fmt.Sprint("refused-", i))
			}
			truth()
		}
		nonce, err := p.d.Chain(desk.Base).Client().PendingNonceAt(t.Context(), p.w.Address)
		if all := p.d.Orders(); err != nil || nonce != 0 || len(all) != 0 {
			t.Errorf("there are %d orders and %d transactions: %v", len(all), nonce, err)
		}
	})
}

// alertVisible reports whether the first line of the alert is visible and not covered.
func (p *trader) alertVisible() (seen bool) {
	p.t.Helper()
	p.Eval(`(() => {
		const alert = document.querySelector("[role=alert]"), at = alert.getBoundingClientRect();
		return alert.contains(document.elementFromPoint(at.left + at.width / 2, at.top + 20));
	})()`, &seen)
	return seen
}

// lieUntil makes a provider lie until the returned function is called.
func (p *trader) lieUntil(server, target, pointer string, value any, plan string) func() {
	p.t.Helper()
	if plan == "" {
		return p.d.Lie(server, target, pointer, value)
	}
	p.d.Control("POST", "/intent", map[string]any{"plan": plan}, nil)
	return func() { p.d.Control("POST", "/intent", map[string]any{"plan": ""}, nil) }
}

// expensiveGas makes gas cost 3 gwei until end is called, also on a chain whose base fee has fallen
// because of empty blocks: the node answers like one without fee history.
func expensiveGas(d *desk.Desk) (end func()) {
	history := d.Fault("rpc-8453", inject.Rule{Target: "eth_feeHistory", Kind: inject.Error, Code: -32601, Message: "no such method"})
	tip := d.Lie("rpc-8453", "eth_maxPriorityFeePerGas", "/result", "0xb2d05e00")
	return func() { tip(); history() }
}

// TestGas checks that missing gas is shown before and in the review, and that gas above
// half of the value must be confirmed.
func TestGas(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		w := d.Wallet()
		d.Fund(desk.Base, w.Address, "", "0.00001")
		d.Fund(desk.Base, w.Address, "USDC", "100")
		d.Swapkeep("networks", "select", "8453")
		expensiveGas(d)
		p := &trader{Page: unlocked(d, d.Browser(kind)), t: t, d: d, w: w}
		p.pay("USDC")
		p.receive("ETH")
		p.amount("50")
		if b := p.Await("button", "/^You need 0\\.000[0-9]+ ETH more for the network fee$/", "disabled", func(e ui.Element) bool { return e.Disabled }); b.Name == "" {
			t.Error("the button has no name")
		}
		p.provider("Gasless")
		p.receive("WETH")
		p.review()
		p.In("alert", "").AwaitText("ETH more for the network fee", "you have 0.00001 ETH")
		if b := p.Find("button", "Not enough for the network fee"); !b.Disabled {
			t.Error("a swap without gas can be confirmed")
		}
		p.Click("button", "Back")
		d.Fund(desk.Base, w.Address, "", "1")
		p.Reload() // reads the balances again
		p.provider("DEX")
		p.pay("ETH")
		p.receive("USDC")
		p.amount("0.0001")
		p.review()
		p.AwaitText("The network fee is more than half of what you swap")
		before := d.Orders()
		p.confirm("Swap anyway")
		p.awaitEnd(before, "filled")
	})
}
