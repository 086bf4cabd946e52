//go:build browser

package browser

import (
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// pendingSwap pays half an ether for USDC and waits until a node has the transaction but its
// chain, which is paused, does not mine it.
func (p *trader) pendingSwap() protocol.Order {
	p.t.Helper()
	p.receive("USDC")
	p.amount("0.5")
	p.review()
	p.d.Chain(desk.Base).Pause()
	p.Click("button", "Swap now")
	p.Find("heading", "Swap in progress")
	return p.d.AwaitOrder("sent", func(o protocol.Order) bool { return len(o.Attempts) > 0 })
}

// checkFilledOnce resumes mining and checks that there is one filled order with one signed
// transaction, which the chain has once.
func (p *trader) checkFilledOnce(o protocol.Order) {
	p.t.Helper()
	p.d.Chain(desk.Base).Resume()
	done := p.d.AwaitState("filled")
	if all := p.d.Orders(); len(all) != 1 || done.ID != o.ID || done.Digest != o.Digest {
		p.t.Fatalf("of %s there are %d orders, the newest is %s", o.ID, len(all), done.ID)
	}
	if sent := p.sentTransactions(); len(sent) != 1 || !sent[string(done.Verdict.Evidence.Tx)] {
		p.t.Errorf("signed and sent was %v, the end is by %s", sent, done.Verdict.Evidence.Tx)
	}
	if p.d.Balance(desk.Base, p.w.Address, "USDC").Cmp(p.d.Units(desk.Base, "USDC", "20000")) <= 0 {
		p.t.Error("nothing arrived")
	}
}

// sentTransactions returns the account's transactions that any node was sent, mined or not.
func (p *trader) sentTransactions() map[string]bool {
	p.t.Helper()
	all := map[string]bool{}
	for _, raw := range p.d.Chain(desk.Base).Transactions() {
		var tx types.Transaction
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			p.t.Fatal(err)
		}
		if from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx); err == nil && from == p.w.Address {
			all[tx.Hash().Hex()] = true
		}
	}
	return all
}

// TestDaemonKilled kills the daemon while the payment is pending. The relay starts another,
// which continues without another signature.
func TestDaemonKilled(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := tradingIn(t, desk.New(t, desk.Options{}), kind)
		o := p.pendingSwap()
		p.d.KillDaemon()
		p.AwaitText("Unlock your wallet", "1 swap continues in the background.") // the key was in the daemon's memory
		p.checkFilledOnce(o)
		p.AwaitNoText("continues in the background")
		unlock(p.Page)
		open(p.Page, "Activity")
		p.Click("button", "/^0.5 ETH → /")
		p.AwaitText("USDC received", "You received")
	})
}

// TestDaemonKilledAtConsent kills the daemon after it has journaled the consent and before
// it answers. The popup finds the order in the list of orders and does not ask for another.
func TestDaemonKilledAtConsent(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := tradingIn(t, desk.New(t, desk.Options{Faults: true, Env: []string{"SWAPKEEP_FAILPOINT=journal.after_accepted:1"}}), kind)
		p.receive("USDC")
		p.amount("0.5")
		p.review()
		p.Click("button", "Swap now")
		p.AwaitText("Unlock your wallet", "1 swap")
		unlock(p.Page)
		p.checkFilledOnce(p.d.Orders()[0])
		p.In("navigation", "Wallet").AwaitText("Activity")
	})
}

// TestBrowserKilled checks that orders go on, whatever happens to the browser.
func TestBrowserKilled(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := tradingIn(t, desk.New(t, desk.Options{}), kind)
		draftKept(p)
		o := p.pendingSwap()
		p.Browser().Kill()
		b := p.d.Browser(kind)
		p = p.inWindow(b.Open("popup.html"))
		p.AwaitText("1 swap continues in the background.")
		unlock(p.Page)
		if amount := p.Value("/^You pay on /"); amount != "" {
			t.Errorf("the browser ended and the draft is %q", amount)
		}
		p.Await("button", "/^Activity/", "counting", func(e ui.Element) bool { return e.Name == "Activity 1" })
		open(p.Page, "Activity")
		p.In("region", "In progress").Click("button", "/^0.5 ETH → /")
		p.AwaitText("Swap 0.5 ETH")
		p.Close()
		p.checkFilledOnce(o)
		awaitBadge(t, b, "1")
		p = p.inWindow(b.Open("popup.html"))
		p.AwaitText("1 order ended since your last visit. Received")
		p.Accessible("ended")
		awaitBadge(t, b, "1") // nobody has looked yet
		p.Click("button", "/^1 order ended/")
		p.AwaitText("USDC received")
		awaitBadge(t, b, "")
		open(p.Page, "Swap")
		p.AwaitNoText("since your last visit")
	})
}

// draftKept closes the popup, as a click outside it does, and opens it again.
func draftKept(p *trader) {
	p.t.Helper()
	p.provider("Gasless")
	p.amount("0.25")
	p.Close()
	p.Page = p.Browser().Open("popup.html")
	p.Await("radio", "Gasless", "chosen still", func(e ui.Element) bool { return e.Checked })
	if amount := p.Value("/^You pay on /"); amount != "0.25" {
		p.t.Errorf("the popup was closed and the draft is %q", amount)
	}
	p.provider("DEX")
}

// awaitBadge waits for the number on the toolbar icon.
func awaitBadge(t *testing.T, b *ui.Browser, wanted string) {
	t.Helper()
	var text string
	if !await.Holds(10*time.Second, func() bool { text = b.Badge(); return text == wanted }) {
		t.Errorf("the badge says %q, not %q", text, wanted)
	}
}
