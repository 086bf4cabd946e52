//go:build browser

package desk_test

import (
	"math/big"
	"os"
	"testing"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

func TestMain(m *testing.M) { os.Exit(desk.Main(m)) }

// anyExtension serves desks without a browser.
var anyExtension = map[ui.Kind]string{ui.Chromium: "testdata/chromium", ui.Firefox: "testdata/firefox"}

func newDesk(t *testing.T, o desk.Options) *desk.Desk {
	t.Helper()
	began := time.Now()
	o.Extension = anyExtension
	d := desk.New(t, o)
	t.Logf("desk after %s", time.Since(began).Round(time.Millisecond))
	return d
}

func TestWalletAndWorld(t *testing.T) {
	d := newDesk(t, desk.Options{})
	began := time.Now()
	w := d.RichWallet(desk.Mainnet, desk.Base, desk.Arbitrum)
	t.Logf("rich wallet after %s", time.Since(began).Round(time.Millisecond))
	if got := d.Balance(desk.Base, w.Address, "USDC"); got.Cmp(big.NewInt(20_000e6)) != 0 {
		t.Errorf("it holds %s", got)
	}
	if got := d.Units(desk.Base, "", "0.5"); got.Cmp(big.NewInt(5e17)) != 0 {
		t.Errorf("half an ether is %s", got)
	}
	d.Price("ETH", 3000)
	d.Control("POST", "/intent", map[string]any{"quoteSeconds": 7}, nil)
	var intent struct{ QuoteSeconds int }
	if d.Control("GET", "/intent", nil, &intent); intent.QuoteSeconds != 7 {
		t.Errorf("the setting is %+v", intent)
	}
	end := d.Lie("rpc-8453", "eth_chainId", "/result", "0x2")
	d.Fault("dex", inject.Rule{Target: "/quote", Kind: inject.HTTP, Status: 503})
	if rules := d.Chain(desk.Base).Faults.Rules(); len(rules) != 1 {
		t.Errorf("the faults are %v", rules)
	}
	end()
	if rules := d.Chain(desk.Base).Faults.Rules(); len(rules) != 0 {
		t.Errorf("the faults are %v", rules)
	}
	d.Chain(desk.Base).Pause()
	before := d.Chain(desk.Base).Head().Number.Uint64()
	if d.Mine(desk.Base, 3); d.Chain(desk.Base).Head().Number.Uint64() != before+3 {
		t.Error("no three blocks were made")
	}
}

// TestAsNew checks that the world keeps nothing from the test before.
func TestAsNew(t *testing.T) {
	d := newDesk(t, desk.Options{})
	if rules := d.Faults("dex").Rules(); len(rules) != 0 || d.Chain(desk.Base).Paused() {
		t.Errorf("left over are %v", rules)
	}
}

func TestDaemon(t *testing.T) {
	for name, o := range map[string]desk.Options{"release": {}, "faults": {Faults: true}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, o)
			w := d.TestWallet()
			if w.Address != d.Accounts()[0].Address {
				t.Errorf("the test wallet is %s", w.Address)
			}
			before := d.Status()
			if !before.Sandbox || len(d.Orders()) != 0 {
				t.Errorf("the status is %+v", before)
			}
			d.KillDaemon()
			if len(d.Orders()) != 0 || d.Status().PID == before.PID {
				t.Error("the daemon was not killed")
			}
			d.StopDaemon()
			if d.Log() == "" {
				t.Error("the daemon has no log")
			}
		})
	}
}
