//go:build browser

package browser

import (
	"testing"
	"time"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// unlocked opens the popup and unlocks the wallet in it.
func unlocked(d *desk.Desk, b *ui.Browser) *ui.Page {
	p := b.Open("popup.html")
	p.Fill("/^[Pp]assword$/", desk.Password)
	p.Press("Enter")
	p.See("SANDBOX", "Swap")
	return p
}

// receive chooses a token to be received.
func receive(p *ui.Page, symbol string) {
	p.Click("button", "/^You receive on .*: (choose|change)/")
	p.Fill("Search by name or address", symbol)
	p.Click("button", "/^"+symbol+" /")
}

func TestSwapThroughTheDEX(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		w := d.RichWallet(desk.Base)
		d.Swapkeep("networks", "select", "8453")
		p := unlocked(d, d.Browser(kind))
		receive(p, "USDC")
		p.Fill("You pay on Base", "0.5")
		p.Click("button", "Review swap")
		p.See("You get at least")
		p.Click("button", "Swap now")
		p.For(40 * time.Second).See("Filled")
		d.AwaitState("filled")
		if d.Balance(desk.Base, w.Address, "USDC").Cmp(d.Units(desk.Base, "USDC", "20000")) <= 0 {
			t.Error("nothing arrived")
		}
	})
}
