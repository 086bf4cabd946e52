//go:build browser

package browser

import (
	"cmp"
	"math/big"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// A swapped is one swap through a provider, and what is to be seen of it.
type swapped struct {
	name, provider  string
	in, amount, out string
	to              uint64 // 0 = the same chain
	routing         string // of the offer
	route           string // what the review has to say of it
	way             string // what the popup calls it, where it is chosen among several
	approve         []allowance
	confirm         string // the review's button
	settings        map[string]map[string]any
}

// carryOut swaps from the form to the end and looks at screen, chain and book.
func (p *trader) carryOut(s swapped) {
	p.t.Helper()
	for path, body := range s.settings {
		p.d.Control("POST", path, body, nil)
	}
	chain := cmp.Or(s.to, desk.Base)
	p.align(chain)
	symbolIn, symbolOut := held(s.in), held(s.out)
	before, in, out := p.d.Orders(), p.d.Balance(desk.Base, p.w.Address, symbolIn), p.d.Balance(chain, p.w.Address, symbolOut)
	p.provider(s.provider)
	p.amount(s.amount)
	if s.way != "" {
		p.Click("radio", "/^"+s.way+" /")
	}
	p.review()
	p.In("region", "Terms").See(s.amount+" "+s.in, "Provider "+s.provider, s.route)
	p.confirm(s.confirm)
	p.approve(s.approve...)
	o := p.end(before, "filled")
	if s.routing != "" && o.Offer.Routing != s.routing {
		p.t.Errorf("%s: went by %s", s.name, o.Offer.Routing)
	}
	got := new(big.Int).Sub(p.d.Balance(chain, p.w.Address, symbolOut), out)
	if got.Cmp(o.Terms.FloorOut.Int()) < 0 {
		p.t.Errorf("%s: %s arrived, the floor is %s", s.name, got, o.Terms.FloorOut)
	}
	paid := new(big.Int).Sub(in, p.d.Balance(desk.Base, p.w.Address, symbolIn))
	if symbolIn != "" && paid.Cmp(p.d.Units(desk.Base, symbolIn, s.amount)) != 0 {
		p.t.Errorf("%s: %s left the account", s.name, paid)
	}
	if symbolOut == "USDC" || symbolOut == "USDT" {
		p.See(spelled(got, 6, s.out) + " arrived")
	}
	p.another()
}

// held is the sandbox's name for a token; the coin has none.
func held(symbol string) string {
	if symbol == "ETH" {
		return ""
	}
	return symbol
}

// TestSwapsOnOneNetwork: the DEX by pools, by an auction and over a pool of v4, and the gasless
// provider, each with an exact allowance of which nothing is left.
func TestSwapsOnOneNetwork(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.pay("WETH")
		p.receive("USDC")
		p.compare()
		for _, s := range []swapped{
			{name: "pools", provider: "DEX", in: "WETH", amount: "0.1", out: "USDC", routing: "CLASSIC", confirm: "Approve and swap",
				approve:  []allowance{{"0.1 WETH", false}, {"0.1 WETH", true}},
				settings: map[string]map[string]any{"/dex": {"auctions": "never"}}},
			{name: "auction", provider: "DEX", in: "WETH", amount: "0.25", out: "USDC", routing: "DUTCH_V3", way: "Auction", confirm: "Approve and swap",
				approve:  []allowance{{"0.25 WETH", false}},
				settings: map[string]map[string]any{"/dex": {"auctions": "always"}}},
			{name: "signed order", provider: "Gasless", in: "WETH", amount: "0.3", out: "USDC", confirm: "Approve and swap",
				approve: []allowance{{"0.3 WETH", false}}},
		} {
			p.carryOut(s)
		}
		p.pay("USDC")
		p.receive("DAI")
		p.carryOut(swapped{name: "v4", provider: "DEX", in: "USDC", amount: "150", out: "DAI", routing: "CLASSIC", route: "Uniswap v4", confirm: "Approve and swap",
			approve: []allowance{{"150 USDC", false}, {"150 USDC", true}}, settings: map[string]map[string]any{"/dex": {"auctions": "never"}}})
	})
}

// compare changes the provider by the selector, and by another's offer in the list that
// compares all; what stands in the form stays.
func (p *trader) compare() {
	p.t.Helper()
	p.amount("0.05")
	kept := func(provider string) {
		p.t.Helper()
		p.Await("radio", provider, "chosen", func(e ui.Element) bool { return e.Checked })
		p.Find("button", "You pay on Base: WETH, choose another token")
		p.Find("button", "You receive on Base: USDC, choose another token")
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

// reported swaps by a deposit whose end nobody proves.
func (p *trader) reported(amount, ending string, stranger bool, condition string) {
	p.t.Helper()
	p.d.Control("POST", "/intent", map[string]any{"outcome": map[string]any{"ending": ending, "stranger": stranger}}, nil)
	p.align(desk.Arbitrum)
	p.amount(amount)
	p.review()
	p.confirm("Approve and swap")
	p.approve(allowance{amount + " USDC", false})
	o := p.d.AwaitOrder(condition, func(o protocol.Order) bool { return o.Condition == condition })
	if o.Final || !o.Reported {
		p.t.Errorf("the order is %s", o.State)
	}
}

// TestSwapsToAnotherNetwork: the bridge, the intent provider by a route that is not
// its first, a deposit that comes back, and two whose end is told and not proven.
func TestSwapsToAnotherNetwork(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.d.Control("POST", "/intent", map[string]any{"pacePercent": 0}, nil)
		p.pay("USDC")
		p.provider("Bridge")
		p.to("Arbitrum")
		p.receive("USDC")
		p.carryOut(swapped{name: "bridge", provider: "Bridge", in: "USDC", amount: "120", out: "USDC", to: desk.Arbitrum, confirm: "Approve and swap",
			approve: []allowance{{"120 USDC", false}}})
		p.carryOut(swapped{name: "intent", provider: "Intent", in: "USDC", amount: "150", out: "USDC", to: desk.Arbitrum, routing: "Hyperstream", way: "Hyperstream", confirm: "Approve and swap",
			approve: []allowance{{"150 USDC", false}}})
		p.d.Control("POST", "/intent", map[string]any{"outcome": map[string]any{"ending": "refund"}}, nil)
		before, in := p.d.Orders(), p.d.Balance(desk.Base, p.w.Address, "USDC")
		p.amount("200.25")
		p.review()
		p.confirm("Approve and swap")
		p.approve(allowance{"200.25 USDC", false})
		o := p.end(before, "refunded")
		if got := p.d.Balance(desk.Base, p.w.Address, "USDC"); got.Cmp(in) != 0 {
			t.Errorf("of %s there is %s after the refund", in, got)
		}
		p.See("200.25 USDC came back", "To Account 1 on Base.", "came back to you after your deposit")
		p.Find("link", "/^Refund "+short(o.Verdict.Evidence.Tx)+" /")
		p.another()

		p.reported("60", "fill", true, "reported, transfer seen")
		card := p.In("region", "Reported, transfer seen")
		card.See("Intent says: it is done.", "USDC came from", "on Arbitrum One", "What is not proven", "What you can do")
		card.Find("link", "/^Transfer that was seen /")
		p.Find("heading", "Swap in progress")
		p.another()

		p.reported("70", "claim", false, "reported, unproven")
		p.In("region", "Reported, unproven").See("Intent says: it is done.", "No chain that Swapkeep can read shows the payment on Arbitrum One.")
		p.Find("heading", "Swap in progress")
	})
}
