//go:build browser

package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swapkeep/test/await"
	"swapkeep/test/browser/ui"
)

// quoteRequests returns how often the DEX was asked for a quote.
func (p *trader) quoteRequests() int {
	p.t.Helper()
	var counts struct{ Requests map[string]int }
	p.d.Control("GET", "/counts/dex", nil, &counts)
	return counts.Requests["/quote"]
}

// setClockAhead sets how far the popup's clock is ahead.
func (p *trader) setClockAhead(d time.Duration) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(() => {
		const clock = (window.wrappedJSObject ?? window).Date; // the page's own, in Firefox too
		clock.real ??= clock.now;
		clock.now = () => clock.real() + %d;
	})()`, d.Milliseconds()), nil)
}

// ready waits for an offer that can be reviewed.
func (p *trader) ready() {
	p.t.Helper()
	p.Await("button", "Review swap", "enabled", func(e ui.Element) bool { return !e.Disabled })
}

// TestQuotesExpire lets the last offer of a provider expire that has since returned
// garbage: the entries stay, and the button asks again. Nothing is watched while the window
// is hidden.
func TestQuotesExpire(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		p := newTrader(t, kind)
		p.pay("USDC")
		p.receive("WETH")
		p.amount("77.5")
		p.ready()

		truth := p.d.Lie("dex", "/quote", "/quote/output/amount", "nothing") // not a 503, after some of which the provider is not asked for a while
		p.setClockAhead(31 * time.Second)
		p.Find("button", "Get new quote")
		p.In("region", "Offer").AwaitText("Expired")
		p.Click("button", "Get new quote")
		p.Find("button", "/try again$/")
		if got := p.Value("You pay on Base"); got != "77.5" {
			t.Errorf("the amount is %q", got)
		}
		p.Find("button", "You pay on Base: USDC, select another token")
		p.Find("button", "You receive on Base: WETH, select another token")
		truth()
		p.setClockAhead(0)
		p.Click("button", "/try again$/")
		p.ready()

		const watch = `"method":"swap.watch"`
		if strings.Contains(p.d.Log(), watch) {
			t.Error("the watch was stopped before")
		}
		p.Hide()
		await.Until(t, 10*time.Second, "the watch stops while the window is hidden", func() bool { return strings.Contains(p.d.Log(), watch) })
		before := p.quoteRequests()
		p.setClockAhead(time.Minute) // the offers have expired by then
		p.Unhide()
		p.setClockAhead(0)
		await.Until(t, 10*time.Second, "a quote request once the window is seen again", func() bool { return p.quoteRequests() != before })
		p.ready()
	})
}
