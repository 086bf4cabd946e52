//go:build browser

package browser

import (
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestSwapByKeyboard swaps without a mouse, from the password to the result.
func TestSwapByKeyboard(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		w := d.RichWallet(desk.Base)
		d.Fund(desk.Base, w.Address, "WETH", "1")
		d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
		d.Swapkeep("networks", "select", "8453")
		p := &trader{Page: d.Browser(kind).Open("popup.html"), t: t, d: d, w: w}
		p.Await("textbox", "Password", "focused", func(e ui.Element) bool { return e.Focused })
		p.Type(desk.Password)
		p.Press("Enter")
		p.Find("radiogroup", "Swap provider")

		p.Reach("Tab", "button", "/^You pay on Base: /")
		p.checkFocusVisible()
		p.pickByKeys("WETH")
		p.Reach("Tab", "button", "/^You receive on Base: /")
		p.Press("Enter")
		p.checkFocusTrap("searchbox", "Search by name or address")
		p.Press("Escape")
		p.focused("button", "/^You receive on Base: /")
		p.pickByKeys("USDC")
		p.Reach("Shift+Tab", "textbox", "You pay on Base")
		p.Type("0.1")
		p.ready()
		p.checkTabOrder("You pay on Base", "You pay on Base: WETH, select another token", "Use 25 % of the balance", "Use 50 % of the balance", "Use the maximum",
			"Switch tokens", "You receive on Base: USDC, select another token")
		p.press("Review swap", "Enter")
		p.focused("heading", "Review swap")
		p.press("Approve and swap", "Enter")
		p.checkFocusTrap("heading", "/^Approve spending \\(1 of 2\\)$/")
		before := d.Orders()
		p.press("Approve this amount", "Enter")
		p.focused("heading", "/\\(2 of 2\\)$/")
		p.press("Allow this amount", "Space")
		p.awaitEnd(before, "filled")
		p.focused("heading", "Swap ended")
		p.press("New swap", "Enter")
		p.Find("radiogroup", "Swap provider")
	})
}

// press moves the focus to a button and presses it by a key once it is enabled.
func (p *trader) press(button, key string) {
	p.t.Helper()
	p.Reach("Tab", "button", button)
	p.checkFocusVisible()
	p.Await("button", button, "enabled", func(e ui.Element) bool { return !e.Disabled })
	p.Press(key)
}

// pickByKeys opens the picker of the focused button and selects a token, after which the
// button must have the focus again.
func (p *trader) pickByKeys(symbol string) {
	p.t.Helper()
	from := p.Focused()
	p.Press("Enter")
	p.focused("searchbox", "Search by name or address")
	p.Type(symbol)
	p.Find("button", "/^"+symbol+" /")
	p.Press("ArrowDown", "Enter")
	p.AwaitAbsent("dialog", "")
	if now := p.Focused(); now.Role != from.Role {
		p.t.Errorf("after the picker the focus is on %s, before it was on %s", now, from)
	}
}

// focused waits until an element has the focus.
func (p *trader) focused(role, name string) {
	p.t.Helper()
	p.Await(role, name, "focused", func(e ui.Element) bool { return e.Focused })
}

// checkFocusVisible checks that the page shows which element has the focus.
func (p *trader) checkFocusVisible() {
	p.t.Helper()
	var seen bool
	p.Eval(`(() => {
		const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
		return e.matches(":focus-visible") && s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.top >= 0 && r.bottom <= innerHeight;
	})()`, &seen)
	if !seen {
		p.t.Errorf("the focus on %s is not to be seen", p.Focused())
		p.Screenshot("focus")
	}
}

// checkFocusTrap waits until the focus is in a dialog and checks that it stays there: elements
// behind the dialog cannot be reached, by Tab or otherwise.
func (p *trader) checkFocusTrap(role, name string) {
	p.t.Helper()
	p.focused(role, name)
	p.Press("Tab", "Tab", "Shift+Tab")
	var inside bool
	p.Eval(`(() => {
		for (const e of document.querySelectorAll("button, input, a")) if (!e.closest("dialog")) e.focus();
		return document.activeElement.closest("dialog:modal") !== null;
	})()`, &inside)
	if !inside {
		p.t.Errorf("the focus leaves the dialog, to %s", p.Focused())
	}
}

// checkTabOrder checks that Tab leads through elements of these names, from the focused one on.
func (p *trader) checkTabOrder(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if e := p.Focused(); e.Name != name {
			p.t.Errorf("the focus is on %s, and not on %q", e, name)
		}
		p.Press("Tab")
	}
	p.Press("Shift+Tab")
}
