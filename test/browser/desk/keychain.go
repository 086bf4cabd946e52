//go:build browser

package desk

import "swapkeep/test/keychain"

// ownKeychain starts the desk's keychain and returns its bus address.
func (d *Desk) ownKeychain() string {
	d.t.Helper()
	k, err := keychain.Start(d.makeDir("keychain"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(k.Close)
	d.keychain = k
	return k.Address()
}

// Keychain puts the desk's own keychain into a state.
func (d *Desk) Keychain(state keychain.State) {
	d.t.Helper()
	if d.keychain == nil {
		d.t.Fatal("the keychain is that of all desks: ask for one by Options.Keychain")
	}
	if err := d.keychain.SetState(state); err != nil {
		d.t.Fatal(err)
	}
}
