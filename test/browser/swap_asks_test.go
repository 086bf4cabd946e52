//go:build browser

package browser

import (
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestOrdersAsk covers an order that asks for consent because the price moved after its
// approval, and one that waits because the wallet is locked at its next signature.
func TestOrdersAsk(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTraderAt(t, kind, desk.Options{Faults: true})
		p.d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
		p.pay("WETH")
		p.receive("USDC")
		before := p.d.Orders()

		p.approving("0.3")
		p.lockedOrder()
		p.Fill("Password", desk.Password)
		p.Press("Enter")
		p.AwaitAbsent("button", "Unlock")
		p.Click("button", "/in progress/")
		p.AwaitText("USDC received")
		if o := p.d.Orders()[0]; o.State != "filled" || len(p.d.Orders()) != len(before)+1 {
			t.Errorf("the order is %s", o.State)
		}
		open(p.Page, "Swap")

		before = p.d.Orders()
		o := p.approving("0.2")
		p.priceMoved()
		p.AwaitText("The terms you accepted are no longer available.", "Accepted", "New", "Minimum received", "(changed)")
		p.In("region", "Review new terms").AwaitText("Max provider fees", "Fee limit")
		if b := p.Find("button", "Accept new terms"); !b.Disabled {
			t.Error("new terms can be accepted before they were compared")
		}
		p.Click("checkbox", "I compared the terms and accept the new ones")
		p.Click("button", "Accept new terms")
		floor := o.Terms.MinimumReceived.Int()
		if o = p.awaitEnd(before, "filled"); o.Terms.MinimumReceived.Int().Cmp(floor) >= 0 {
			t.Errorf("the floor was %s and is %s", floor, o.Terms.MinimumReceived)
		}
	})
}

// lockedOrder locks the wallet before an approval is mined: the next signature waits.
func (p *trader) lockedOrder() {
	p.t.Helper()
	p.Click("button", "Lock the wallet")
	p.Find("button", "Unlock")
	p.d.Chain(desk.Base).Resume()
	p.d.AwaitOrder("waiting_unlock", func(o protocol.Order) bool { return o.Condition == "waiting_unlock" })
	p.AwaitText("1 swap needs you to unlock")
}

// priceMoved lets an approval be mined when the quote, valid for half a minute, is about to
// expire and its price no longer holds. From then on all quotes expire within seconds, as
// the daemon's clock is ahead of their expiry dates.
func (p *trader) priceMoved() {
	p.t.Helper()
	p.d.SetClock(22 * time.Second)
	p.d.Price("ETH", 2900) // which mines a block
	p.d.Chain(desk.Base).Resume()
}

// approving makes an order whose approval is pending.
func (p *trader) approving(amount string) protocol.Order {
	p.t.Helper()
	p.amount(amount)
	p.review()
	p.d.Chain(desk.Base).Pause()
	p.confirm("Approve and swap")
	p.approve(allowance{amount + " WETH", false}, allowance{amount + " WETH", true})
	p.Find("heading", "Swap in progress")
	p.AwaitText("Last check")
	return p.d.AwaitOrder("approving", func(o protocol.Order) bool { return o.State == "approving" && o.CurrentTx != "" })
}

// TestPasswordOfASwap checks that a swap beyond the hourly limit says so and needs the
// password with its consent, and that the next one needs it again.
func TestPasswordOfASwap(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTraderAt(t, kind, desk.Options{Env: []string{"SWAPKEEP_LIMITS_HOURLY_WORTH=1"}})
		p.receive("USDC")
		p.amount("0.5")
		for range 2 {
			before := p.d.Orders()
			p.review()
			p.AwaitText("This exceeds what may be moved in an hour without your password")
			if !p.Disabled("button", "Swap now") {
				t.Error("it can be carried out without the password")
			}
			p.Fill("Password", "not the password")
			p.Click("button", "Swap now")
			p.AwaitText("Wrong password")
			if len(p.d.Orders()) != len(before) {
				t.Error("it was carried out with a wrong password")
			}
			p.Fill("Password", desk.Password)
			p.Click("button", "Swap now")
			p.awaitEnd(before, "filled")
			p.another()
			p.receive("USDC")
			p.amount("0.5")
		}
	})
}
