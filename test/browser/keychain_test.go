//go:build browser

package browser

import (
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
	"swapkeep/test/keychain"
)

// keychainTroubles lists what the popup says about a failing keychain.
var keychainTroubles = []struct {
	state keychain.State
	says  []string
}{
	{keychain.Gone, []string{"The system's keychain cannot be reached", "Log in to a desktop session"}},
	{keychain.Locked, []string{"The system's keychain is locked", "Unlock it, or answer its prompt."}},
	{keychain.Denied, []string{"The keychain refused access", "Allow Swapkeep in your system's prompt."}},
}

// TestKeychainFails covers a keychain that is gone, locked or denied while a wallet is
// created and unlocked. The popup says what is wrong and what to do. Once that is done the
// same form works, and the wallet is the one that was created.
func TestKeychainFails(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Keychain: true})
		b := d.Browser(kind)
		locked := keychainTroubles[1] // tried again only by the user
		d.Keychain(locked.state)
		p := b.Open("popup.html?view=tab#create")
		p.Find("heading", "Cannot read your wallet") // it is unknown whether there is a wallet
		p.In("alert", "").AwaitText(locked.says...)
		p.Accessible("unread")
		d.Keychain(keychain.Open)
		p.Click("button", "Try again")
		p.Fill("Password", desk.Password)
		p.Fill("Repeat password", desk.Password)
		for _, trouble := range keychainTroubles {
			d.Keychain(trouble.state)
			p.Click("button", "Create wallet")
			p.In("alert", "").AwaitText(trouble.says...)
		}
		d.Keychain(keychain.Open)
		p.Click("button", "Create wallet")
		p.Find("heading", "Your recovery words")
		confirmWords(t, p, wordsOf(p))
		p.Find("radiogroup", "Swap provider")
		made := d.Wallets()

		p.Click("button", "Lock the wallet")
		for _, trouble := range keychainTroubles {
			d.Keychain(trouble.state)
			p.Fill("Password", desk.Password)
			p.Press("Enter")
			p.In("alert", "").AwaitText(trouble.says...)
		}
		d.Keychain(keychain.Open)
		unlock(p)
		if now := d.Wallets(); len(made) != 1 || len(now) != 1 || now[0].ID != made[0].ID {
			t.Errorf("made was %v, and there is %v", made, now)
		}
	})
}
