//go:build browser

package browser

import (
	"encoding/json"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestConfirmOutside swaps from the popup with the confirmation outside of it, by a terminal, as there
// is no display: one swap is approved, one declined.
func TestConfirmOutside(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		(&tour{t, kind, func(p *ui.Page, name string) { inspect(t, p, name) }}).visit("outside")
	})
}

func (o *tour) outside() {
	p := newTraderAt(o.t, o.kind, desk.Options{Look: noAnimation})
	p.d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
	p.d.SwapkeepWith(desk.Password+"\n", "settings", "set", "confirm", "outside", "--password-fd", "0")
	before := p.d.Orders()
	p.receive("USDC")
	p.provider("DEX")

	p.amount("0.25")
	p.review()
	p.AwaitText("You confirm this outside the browser, in these words", "Pay 0.25 ETH on Base", "To your own account "+p.w.Address.Hex())
	o.look(p.Page, "outside-review")
	p.confirm("Swap now")
	p.AwaitText("Waiting for your confirmation outside the browser", "swapkeep approve")
	o.look(p.Page, "outside-waiting")
	p.decide(true)
	p.AwaitAbsent("status", "/outside the browser/")
	if end := p.awaitEnd(before, "filled"); end.Confirmed == nil || end.Confirmed.By != "terminal" {
		o.t.Errorf("confirmed: %+v", end.Confirmed)
	}
	p.another()

	before = p.d.Orders()
	p.amount("0.3")
	p.review()
	p.confirm("Swap now")
	p.AwaitText("Waiting for your confirmation outside the browser")
	p.decide(false)
	p.AwaitText("You declined. Nothing was signed.")
	if after := p.d.Orders(); len(after) != len(before) {
		o.t.Errorf("%d orders, want %d", len(after), len(before))
	}
}

// decide decides at a terminal on the one act that waits.
func (p *trader) decide(approve bool) {
	p.t.Helper()
	var r protocol.PendingResult
	await.Until(p.t, 20*time.Second, "an act that waits", func() bool {
		return json.Unmarshal(p.d.Swapkeep("--json", "approve"), &r) == nil && len(r.Waiting) == 1
	})
	args := []string{"approve", r.Waiting[0].ID, "--password-fd", "0"}
	if !approve {
		args = append(args, "--decline")
	}
	p.d.SwapkeepWith(desk.Password+"\n", args...)
}
