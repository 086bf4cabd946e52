//go:build browser

package browser

import (
	"slices"
	"strings"
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// tradingIn gives a desk a wallet with coins on Base, which is active, and opens the popup.
func tradingIn(t *testing.T, d *desk.Desk, kind ui.Kind) *trader {
	t.Helper()
	w := d.RichWallet(desk.Base)
	d.Swapkeep("networks", "select", "8453")
	return &trader{Page: unlocked(d, d.Browser(kind)), t: t, d: d, w: w}
}

// inWindow is the same user in another window.
func (p *trader) inWindow(q *ui.Page) *trader { return &trader{Page: q, t: p.t, d: p.d, w: p.w} }

// wordsOf reads the words of a new wallet from the page.
func wordsOf(p *ui.Page) []string {
	var words []string
	for i, field := range strings.Fields(p.Text("list", "Your recovery words")) {
		if i%2 == 1 { // they are numbered
			words = append(words, field)
		}
	}
	return words
}

// wordsLeft returns the words of a wallet that a page still has: in its document, its fields
// or the browser's storage.
func wordsLeft(p *ui.Page, words []string) []string {
	var all string
	p.Eval(`[document.documentElement.outerHTML, ...[...document.querySelectorAll("input, textarea")].map((e) => e.value),
		JSON.stringify([await chrome.storage.local.get(), await chrome.storage.session.get()])].join(" ")`, &all)
	there := strings.FieldsFunc(all, func(r rune) bool { return r < 'a' || r > 'z' })
	var found []string
	for _, word := range words {
		if slices.Contains(there, word) {
			found = append(found, word)
		}
	}
	return found
}

// openViews returns the paths of the extension's open pages.
func openViews(p *ui.Page) (views []string) {
	p.Eval(`chrome.extension.getViews({ type: "tab" }).map((w) => w.location.href.slice(location.origin.length + 1))`, &views)
	return views
}

// open opens one of the wallet's main screens.
func open(p *ui.Page, tab string) {
	p.In("navigation", "Wallet").Click("button", "/^"+tab+"/")
	if tab != "Swap" {
		p.Find("heading", tab)
	}
}
