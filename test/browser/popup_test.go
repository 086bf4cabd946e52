//go:build browser

package browser

import (
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestPopupOpens checks that the popup opens and follows what happens elsewhere.
func TestPopupOpens(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		p := d.Browser(kind).Open("popup.html")
		p.AwaitText("SANDBOX")
		p.Find("button", "Create wallet")
		p.Accessible("welcome")
		d.Wallet()
		p.Find("textbox", "Password")
		p.Find("button", "Unlock")
		p.Accessible("unlock")
	})
}
