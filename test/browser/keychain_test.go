//go:build browser

package browser

import (
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
	"swapkeep/test/keychain"
)

// keychainTroubles are what the popup says of a keychain that does not do its part.
var keychainTroubles = []struct {
	state keychain.State
	says  []string
}{
	{keychain.Gone, []string{"The system's keychain cannot be reached", "Log in to a desktop session"}},
	{keychain.Locked, []string{"The system's keychain is locked", "Unlock it, or answer its prompt."}},
	{keychain.Denied, []string{"The keychain refused access", "Allow Swapkeep in your system's prompt."}},
}

// TestKeychainFails: a keychain that is gone, locked or forbidden when a wallet is made
// and when it is unlocked. The popup says what is wrong and what to do; once that was
// done the same form goes on, and the wallet is the one that was made.
func TestKeychainFails(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Keychain: true})
		b := d.Browser(kind)
		locked := keychainTroubles[1] // one that only a person asks again
		d.Keychain(locked.state)
		p := b.Open("popup.html?view=tab#create")
		p.Find("heading", "Your wallet cannot be read") // it is not known whether there is one
		p.In("alert", "").See(locked.says...)
		p.Accessible("unread")
		d.Keychain(keychain.Open)
		p.Click("button", "Try again")
		p.Fill("Password", desk.Password)
		p.Fill("Repeat password", desk.Password)
		for _, trouble := range keychainTroubles {
			d.Keychain(trouble.state)
			p.Click("button", "Create wallet")
			p.In("alert", "").See(trouble.says...)
		}
		d.Keychain(keychain.Open)
		p.Click("button", "Create wallet")
		p.Find("heading", "Your words")
		check(t, p, wordsOf(p))
		p.Find("radiogroup", "Swap provider")
		made := d.Wallets()

		p.Click("button", "Lock the wallet")
		for _, trouble := range keychainTroubles {
			d.Keychain(trouble.state)
			p.Fill("Password", desk.Password)
			p.Press("Enter")
			p.In("alert", "").See(trouble.says...)
		}
		d.Keychain(keychain.Open)
		unlock(p)
		if now := d.Wallets(); len(made) != 1 || len(now) != 1 || now[0].ID != made[0].ID {
			t.Errorf("made was %v, and there is %v", made, now)
		}
	})
}
