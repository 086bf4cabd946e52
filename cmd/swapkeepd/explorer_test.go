package main

import (
	"encoding/json"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/requests"
)

// discovered waits for the end of a discovery.
func (term terminal) discovered() protocol.Discovery {
	term.t.Helper()
	late := time.After(30 * time.Second)
	for {
		select {
		case n := <-term.Notifications():
			var c protocol.KeysChanged
			if n.Method != "keys.changed" {
				continue
			}
			if err := json.Unmarshal(n.Params, &c); err != nil {
				term.t.Fatal(err)
			}
			if c.Discovery != nil && c.Discovery.Done {
				return *c.Discovery
			}
		case <-late:
			term.t.Fatal("no end of the search")
		}
	}
}

// Importing a mnemonic finds the accounts that were used on the sandbox's chains: by
// native coin, and by a token on only one of them. A network that is down is reported.
func TestImportFindsAccountsOfTheChains(t *testing.T) {
	world := sandboxtest.Start(t)
	who, err := sandbox.Accounts(13) // the first ten hold coins
	if err != nil {
		t.Fatal(err)
	}
	base := world.Chain(8453)
	if err := base.Fund(t.Context(), who[12].Address, base.Network.Tokens[0].Address, big.NewInt(1)); err != nil {
		t.Fatal(err)
	}
	_, term, _ := begin(t, world, filepath.Join(t.TempDir(), "home"), func(c *config.Config) {
		c.Networks["10"] = config.Network{RPC: []string{"http://127.0.0.1:1"}, Depth: 1}
	})
	var made protocol.CreateResult
	term.must("keys.import", protocol.ImportParams{
		Request: requests.NewUUID(), Mnemonic: protocol.Secret(sandbox.Mnemonic), Password: protocol.Secret(passphrase),
	}, &made)
	if len(made.Wallet.Accounts) != 1 {
		t.Errorf("%d accounts at once", len(made.Wallet.Accounts))
	}
	var want []protocol.Address
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12} {
		want = append(want, protocol.Address(who[n].Address.Hex()))
	}
	d := term.discovered()
	var found []protocol.Address
	for _, a := range d.Found {
		found = append(found, a.Address)
	}
	if !slices.Equal(found, want) || !slices.Equal(d.Unreachable, []uint64{10}) || d.Error != "" || d.Checked != 12+20 {
		t.Errorf("looked at %d, found %v, silent %v, %q", d.Checked, found, d.Unreachable, d.Error)
	}
	// A second discovery finds nothing new, and the accounts found can be used.
	term.must("keys.unlock", protocol.UnlockParams{Password: protocol.Secret(passphrase)}, nil)
	term.must("keys.discover", protocol.DiscoverParams{Request: requests.NewUUID()}, &d)
	var all protocol.AccountsResult
	term.must("keys.accounts", nil, &all)
	if len(d.Found) != 0 || !slices.Equal(d.Unreachable, []uint64{10}) || len(all.Accounts) != 11 {
		t.Errorf("again: %+v; %d accounts", d, len(all.Accounts))
	}
}
