//go:build browser

package browser

import (
	"strings"
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestSwitches checks that a switch acts when it is turned. One that needs the password
// asks for it first, and turns back if it is not given.
func TestSwitches(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		p := tradingIn(t, d, kind)
		holds := func(key, value string) {
			t.Helper()
			if got := string(d.Swapkeep("settings", "get", key)); !strings.Contains(got, value) {
				t.Errorf("%s is not %s, but %s", key, value, got)
			}
		}
		stands := func(name string, on bool) {
			t.Helper()
			p.Await("switch", name, "turned", func(e ui.Element) bool { return e.Checked == on })
		}
		open(p.Page, "Settings")
		p.Click("button", "/^Prices/")
		const asks = "Fetch prices of imported tokens"
		stands(asks, false)
		p.Click("switch", asks) // prices bound what may be moved, so each price setting needs the password
		p.Fill("Password", desk.Password)
		p.Press("Enter")
		p.AwaitAbsent("dialog", "")
		p.AwaitText("Set here.", "Applies after a restart.")
		stands(asks, true)
		holds("prices.ask_imported", "true")

		p.Click("button", "Back")
		p.Click("button", "/^Providers/")
		const bridge = "Bridge (Relay): Enabled"
		p.Click("switch", bridge)
		p.Find("button", "Turn off")
		p.Press("Escape")
		p.AwaitAbsent("dialog", "")
		stands(bridge, true)
		p.Click("switch", bridge)
		p.Fill("Password", "wrong password")
		p.Press("Enter")
		p.AwaitText("Wrong password")
		p.Fill("Password", desk.Password)
		p.Press("Enter")
		p.AwaitAbsent("dialog", "")
		stands(bridge, false)
		holds("providers.bridge.disabled", "true")
	})
}
