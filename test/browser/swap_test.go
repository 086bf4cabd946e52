//go:build browser

package browser

import (
	"cmp"
	"fmt"
	"math/big"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// A swapCase is one swap through a provider, and what it must show.
type swapCase struct {
	name, provider  string
	in, amount, out string
	chain           uint64 // 0: Base
	to              uint64 // 0: the same chain
	routing         string // of the offer
	route           string // what the review must say about it
	offerName       string // the popup's name for it, to choose it among several
	fee             string // what the review says about the wallet's fee
	paid            int64  // basis points of the output that the fee's receiver gets on the chain
	approve         []allowance
	confirm         string // the review's button
	settings        map[string]map[string]any
	likely          bool // nothing links the payment to the order
}

// runSwap swaps from the form to the end and checks screen, chain and orders.
func (p *trader) runSwap(s swapCase) {
	p.t.Helper()
	for path, body := range s.settings {
		p.d.Control("POST", path, body, nil)
	}
	from, to := cmp.Or(s.chain, desk.Base), cmp.Or(s.to, s.chain, desk.Base)
	p.align(to)
	symbolIn, symbolOut := sandboxSymbol(s.in), sandboxSymbol(s.out)
	before, in, out := p.d.Orders(), p.d.Balance(from, p.w.Address, symbolIn), p.d.Balance(to, p.w.Address, symbolOut)
	feeIn, feeOut := p.d.Balance(from, sandbox.FeeReceiver, symbolIn), p.d.Balance(to, sandbox.FeeReceiver, symbolOut)
	p.provider(s.provider)
	p.amount(s.amount)
	if s.offerName != "" {
		p.Click("radio", "/^"+s.offerName+" /")
	}
	p.review()
	p.In("region", "Terms").AwaitText(s.amount+" "+s.in, "Provider "+s.provider, s.route, "Wallet fee "+s.fee+" Slippage")
	p.confirm(s.confirm)
	p.approve(s.approve...)
	var o protocol.Order
	if s.likely {
		o = p.awaitLikely(before)
	} else {
		o = p.awaitEnd(before, "filled")
	}
	if s.routing != "" && o.Offer.Routing != s.routing {
		p.t.Errorf("%s: went by %s", s.name, o.Offer.Routing)
	}
	got := new(big.Int).Sub(p.d.Balance(to, p.w.Address, symbolOut), out)
	if got.Cmp(o.Terms.MinimumReceived.Int()) < 0 {
		p.t.Errorf("%s: %s arrived, the floor is %s", s.name, got, o.Terms.MinimumReceived)
	}
	paid := new(big.Int).Sub(in, p.d.Balance(from, p.w.Address, symbolIn))
	if symbolIn != "" && paid.Cmp(p.d.Units(from, symbolIn, s.amount)) != 0 {
		p.t.Errorf("%s: %s left the account", s.name, paid)
	}
	feeIn.Sub(p.d.Balance(from, sandbox.FeeReceiver, symbolIn), feeIn)
	feeOut.Sub(p.d.Balance(to, sandbox.FeeReceiver, symbolOut), feeOut)
	p.t.Logf("%s: the review says of the fee %q; on the chain %s reached its receiver and %s the account", s.name, s.fee, feeOut, got)
	if feeIn.Sign() != 0 || !isPart(feeOut, s.paid, new(big.Int).Add(got, feeOut)) {
		p.t.Errorf("%s: %s of what was paid and %s of the output reached the fee's receiver", s.name, feeIn, feeOut)
	}
	switch {
	case s.likely:
		card := p.In("region", "Received, as reported by Intent (Hyperstream); not linked to this order")
		card.AwaitText(formatAmount(got, 6, s.out)+" came from", "Intent (Hyperstream) reports: completed.", "nothing in it names the order", "Nothing, if the amount is in the receiving account.")
		card.Find("link", "/^Transfer found /")
	case symbolOut == "USDC" || symbolOut == "USDT":
		p.AwaitText(formatAmount(got, 6, s.out) + " received")
	}
	p.another()
}

// isPart reports whether fee is bps basis points of whole, to a hundredth of one.
func isPart(fee *big.Int, bps int64, whole *big.Int) bool {
	off := new(big.Int).Mul(fee, big.NewInt(10_000))
	off.Sub(off, new(big.Int).Mul(whole, big.NewInt(bps))).Abs(off)
	return off.Mul(off, big.NewInt(100)).Cmp(whole) <= 0
}

// sandboxSymbol returns the sandbox's symbol of a token; the coin has none.
func sandboxSymbol(symbol string) string {
	if symbol == "ETH" {
		return ""
	}
	return symbol
}

// TestSwapsOnOneNetwork swaps by the DEX's pools, an auction, a v4 pool, a v3 pool followed
// by a v2 pool, and both protocols of the gasless provider. Each has an exact allowance
// that is used up, and the fee that its review states.
func TestSwapsOnOneNetwork(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.pay("WETH")
		p.receive("USDC")
		p.compare()
		for _, s := range []swapCase{
			{name: "pools", provider: "DEX", in: "WETH", amount: "0.1", out: "USDC", routing: "CLASSIC", confirm: "Approve and swap", fee: "0.2 %", paid: 20,
				approve:  []allowance{{"0.1 WETH", false}, {"0.1 WETH", true}},
				settings: map[string]map[string]any{"/dex": {"auctions": "never"}}},
			{name: "auction", provider: "DEX", in: "WETH", amount: "0.25", out: "USDC", routing: "DUTCH_V3", offerName: "Auction", confirm: "Approve and swap", fee: "0.2 %", paid: 20,
				approve:  []allowance{{"0.25 WETH", false}},
				settings: map[string]map[string]any{"/dex": {"auctions": "always"}}},
			{name: "signed order, JAM", provider: "Gasless", in: "WETH", amount: "0.3", out: "USDC", routing: "JAM", confirm: "Approve and swap", fee: "0.4 %", paid: 40,
				approve:  []allowance{{"0.3 WETH", false}},
				settings: map[string]map[string]any{"/gasless": {"rfq": map[string]any{"down": true}}}},
			{name: "signed order, RFQ", provider: "Gasless", in: "WETH", amount: "0.2", out: "USDC", routing: "RFQ", confirm: "Approve and swap", fee: "none",
				approve:  []allowance{{"0.2 WETH", false}},
				settings: map[string]map[string]any{"/gasless": {"jam": map[string]any{"down": true}, "rfq": map[string]any{"down": false}}}},
		} {
			p.runSwap(s)
		}
		p.pay("USDC")
		p.receive("DAI")
		p.runSwap(swapCase{name: "v4", provider: "DEX", in: "USDC", amount: "150", out: "DAI", routing: "CLASSIC", route: "Uniswap v4", confirm: "Approve and swap", fee: "0.2 %", paid: 20,
			approve: []allowance{{"150 USDC", false}, {"150 USDC", true}}, settings: map[string]map[string]any{"/dex": {"auctions": "never"}}})

		p.d.Fund(desk.Mainnet, p.w.Address, "", "1")
		p.d.Fund(desk.Mainnet, p.w.Address, "DAI", "500")
		p.d.Swapkeep("networks", "select", "1")
		p.AwaitText("You pay on Ethereum")
		p.pay("DAI")
		p.receive("USDC")
		p.runSwap(swapCase{name: "v3 and then v2", provider: "DEX", in: "DAI", amount: "150", out: "USDC", chain: desk.Mainnet, routing: "CLASSIC", route: "Uniswap v2 + v3 · 0.05 % → 0.3 %", confirm: "Approve and swap", fee: "0.2 %", paid: 20,
			approve: []allowance{{"150 DAI", false}, {"150 DAI", true}}, settings: map[string]map[string]any{"/dex": {"auctions": "never", "mixed": true}}})
	})
}

// compare changes the provider by the selector and by another's offer in the list of
// offers. The form's entries stay.
func (p *trader) compare() {
	p.t.Helper()
	p.amount("0.05")
	kept := func(provider string) {
		p.t.Helper()
		p.Await("radio", provider, "chosen", func(e ui.Element) bool { return e.Checked })
		p.Find("button", "You pay on Base: WETH, select another token")
		p.Find("button", "You receive on Base: USDC, select another token")
		if got := p.Value("You pay on Base"); got != "0.05" {
			p.t.Errorf("%s: the amount is %q", provider, got)
		}
	}
	for _, provider := range []string{"Bridge", "Intent", "Gasless", "DEX"} {
		p.provider(provider)
		kept(provider)
	}
	p.Click("button", "/^3 other offers/")
	p.Click("button", "/^Gasless /")
	kept("Gasless")
	p.ready()
}

// swapUnproven swaps by a deposit to Arbitrum whose end nothing proves.
func (p *trader) swapUnproven(amount, provider string, outcome map[string]any, condition string) protocol.Order {
	p.t.Helper()
	p.d.Control("POST", "/"+provider, map[string]any{"outcome": outcome}, nil)
	p.align(desk.Arbitrum)
	p.amount(amount)
	p.review()
	p.confirm("Approve and swap")
	p.approve(allowance{amount + " USDC", false})
	o := p.d.AwaitOrder(condition, func(o protocol.Order) bool { return o.Condition == condition })
	if o.Final || !o.Reported || o.Ended != (condition == "likely_paid") {
		p.t.Errorf("the order is %s", o.State)
	}
	return o
}

// closeTime is longer than an order must wait before it can be closed.
const closeTime = 9 * time.Hour

// stopWaiting closes an order that nothing proves, once it may be closed.
func (p *trader) stopWaiting(o protocol.Order) {
	p.t.Helper()
	p.AwaitText("If nothing is proven until then, you can stop waiting from ")
	p.AwaitAbsent("button", "Stop waiting")
	p.d.SetClock(closeTime)
	p.Eval(fmt.Sprintf("void (window.Date.now = ((real) => () => real() + %d)(window.Date.now))", closeTime.Milliseconds()), nil)
	lookAtClock(p.Page, "5m")
	p.AwaitText("Unlock your wallet")
	p.Fill("Password", desk.Password)
	p.Press("Enter")
	p.AwaitAbsent("button", "Unlock")
	p.Click("button", "/in progress/")
	p.Click("button", "/ Awaiting confirmation /")
	p.Click("button", "Stop waiting")
	dialog := p.In("dialog", "Stop waiting for this order?")
	dialog.AwaitText("Nothing is signed or moved, and your deposit stays with", "Swapkeep still looks for a proof.")
	p.Click("button", "Keep waiting")
	p.AwaitAbsent("dialog", "")
	p.Click("button", "Stop waiting")
	p.Click("button", "Close order")
	card := p.In("region", "Closed without proof")
	card.AwaitText("You stopped waiting for it on", "reports: completed.", "Swapkeep still looks for a proof, for 30 days from the deposit.", "Check the receiving account on Arbitrum One.")
	card.Find("link", "/^Your deposit /")
	p.AwaitAbsent("button", "Stop waiting")
	if all := p.d.Orders(); all[0].ID != o.ID || all[0].State != "closed" || !all[0].Ended || all[0].Final || all[0].Closing == nil || all[0].Closing.By != "person" {
		p.t.Errorf("the order is %s, %+v", all[0].State, all[0].Closing)
	}
}

// TestSwapsToAnotherNetwork swaps by the bridge, also when a stranger pays; by a route of the
// intent provider that is not its first, whose payment nothing links to the order; by a deposit
// that is refunded; and by those whose end is reported and not proven, the last of which is
// closed.
func TestSwapsToAnotherNetwork(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTraderAt(t, kind, desk.Options{Faults: true})
		p.d.Control("POST", "/intent", map[string]any{"pacePercent": 0}, nil)
		p.pay("USDC")
		p.provider("Bridge")
		p.to("Arbitrum")
		p.receive("USDC")
		p.runSwap(swapCase{name: "bridge", provider: "Bridge", in: "USDC", amount: "120", out: "USDC", to: desk.Arbitrum, confirm: "Approve and swap", fee: "0.4 %, according to the provider",
			approve: []allowance{{"120 USDC", false}}})
		p.runSwap(swapCase{name: "bridge, paid by a stranger", provider: "Bridge", in: "USDC", amount: "110", out: "USDC", to: desk.Arbitrum, confirm: "Approve and swap", fee: "0.4 %, according to the provider",
			approve: []allowance{{"110 USDC", false}}, settings: map[string]map[string]any{"/bridge": {"outcome": map[string]any{"kind": "fill", "stranger": true}}}})
		p.runSwap(swapCase{name: "intent", provider: "Intent", in: "USDC", amount: "150", out: "USDC", to: desk.Arbitrum, routing: "Hyperstream", offerName: "Hyperstream", confirm: "Approve and swap", likely: true, fee: "0.4 % requested; the provider does not confirm that it charges it",
			approve: []allowance{{"150 USDC", false}}})
		p.d.Control("POST", "/intent", map[string]any{"outcome": map[string]any{"ending": "refund", "reserve": true}}, nil)
		before, in := p.d.Orders(), p.d.Balance(desk.Base, p.w.Address, "USDC")
		p.amount("200.25")
		p.review()
		p.confirm("Approve and swap")
		p.approve(allowance{"200.25 USDC", false})
		o := p.awaitEnd(before, "refunded")
		if got := p.d.Balance(desk.Base, p.w.Address, "USDC"); got.Cmp(in) != 0 {
			t.Errorf("of %s there is %s after the refund", in, got)
		}
		p.AwaitText("200.25 USDC refunded", "To Account 1 on Base.", "refunded you after your deposit")
		p.Find("link", "/^Refund "+short(o.Verdict.Evidence.Tx)+" /")
		p.another()

		p.swapUnproven("60", "intent", map[string]any{"ending": "refund", "reserve": false}, "payment_seen") // by nobody the wallet knows
		p.In("region", "Payment seen, not yet confirmed").AwaitText("Intent (Hyperstream) reports: refunded.", "60 USDC came from", "on Base", "What is not proven")
		p.Find("heading", "Swap in progress")
		p.another()

		o = p.swapUnproven("70", "intent", map[string]any{"ending": "claim"}, "awaiting_proof")
		p.In("region", "Awaiting confirmation").AwaitText("Intent (Hyperstream) reports: completed.", "Swapkeep cannot verify the payment on Arbitrum One.")
		p.Find("heading", "Swap in progress")
		p.stopWaiting(o)
	})
}
