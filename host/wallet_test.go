package host

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
)

// TestAWalletWithAnOpenOrderStays checks that a wallet with an open order is not removed,
// because nothing else could end the order.
func TestAWalletWithAnOpenOrderStays(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	remove := map[string]any{"request": anID, "wallet": "w1", "password": password}
	r.swaps.pending = true
	if e := p.refused("open_orders", "keys.remove", remove); e.Data["order"] != "order-1" || r.wallet.removed != 0 {
		t.Errorf("%+v, removed %d", e, r.wallet.removed)
	}
	r.swaps.damaged = true
	if e := p.refused("record_damaged", "keys.remove", remove); e.Data["order"] != "order-1" || !strings.Contains(e.Remedy, "--damaged") || r.wallet.removed != 0 {
		t.Errorf("%+v, removed %d", e, r.wallet.removed)
	}
	r.swaps.damaged = false
	anyway := map[string]any{"request": "5f2b9c1e-0000-4000-8000-0000000000aa", "wallet": "w1", "password": password, "damaged": true}
	p.refused("open_orders", "keys.remove", anyway)
	r.swaps.pending = false
	for range 2 { // repeating is the same act
		var deleted protocol.WalletResult
		if err := json.Unmarshal(p.must("keys.remove", remove).Result, &deleted); err != nil || deleted.Wallet.ID != "w1" {
			t.Errorf("removed %+v, %v", deleted, err)
		}
	}
	if r.wallet.removed != 1 || r.swaps.dropped == 0 {
		t.Errorf("removed %d times, plans dropped %d times", r.wallet.removed, r.swaps.dropped)
	}
	r.swaps.pending, r.swaps.damaged = true, true
	p.must("keys.remove", anyway)
	removed := r.wallet.removed
	r.swaps.pending, r.swaps.damaged = false, false
	r.swaps.fail = errNoBus
	p.refused("keychain_no_bus", "keys.remove", map[string]any{"request": strings.Replace(anID, "0", "1", 1), "wallet": "w1", "password": password})
	if r.wallet.removed != removed || removed != 2 {
		t.Error("removed without knowing the orders")
	}
}

// TestExportsAreWipedAndUnlogged checks that an exported secret is in the answer and
// nowhere else afterwards.
func TestExportsAreWipedAndUnlogged(t *testing.T) {
	r := newRig(t)
	p := r.attach("terminal")
	var out protocol.ExportResult
	export := map[string]any{"format": "keystore", "account": account.Hex(), "password": password, "keystorePassword": "of the file, long"}
	if err := json.Unmarshal(p.must("keys.export", export).Result, &out); err != nil || string(out.Secret) != testWords {
		t.Fatalf("exported %d bytes, %v", len(out.Secret), err)
	}
	p.must("keys.import", map[string]any{"request": anID, "keystore": "{}", "keystorePassword": "of the file, long", "password": password})
	await.Until(t, 10*time.Second, "all secrets wiped", func() bool {
		r.wallet.mu.Lock()
		defer r.wallet.mu.Unlock()
		for _, s := range r.wallet.secrets {
			if strings.Trim(string(s), "\x00") != "" {
				return false
			}
		}
		return len(r.wallet.secrets) == 6
	})
	for _, s := range []string{password, "of the file", "junk"} {
		if strings.Contains(r.log.String(), s) {
			t.Errorf("the log holds %q", s)
		}
	}
	r.attach("extension").refused("terminal_only", "keys.export", export)
}

// TestDiscoveryReportsProgress checks that a search reports its progress to every window, with an
// error of the protocol's table if it failed, and does not drop prepared plans.
func TestDiscoveryReportsProgress(t *testing.T) {
	r := newRig(t)
	p, other := r.session(), r.attach("terminal")
	p.must("keys.discover", map[string]any{"request": anID})
	var changed protocol.KeysChanged
	if err := json.Unmarshal(other.note().Params, &changed); err != nil {
		t.Fatal(err)
	}
	if changed.Cause != protocol.CauseDiscovered || changed.Discovery == nil || !changed.Discovery.Done || len(changed.Discovery.Found) != 1 || changed.Discovery.Error != "" {
		t.Errorf("notification = %+v, want discovered, done, with one account found", changed)
	}
	if r.swaps.dropped != 0 {
		t.Errorf("plans dropped %d times", r.swaps.dropped)
	}
	r.wallet.watch(WalletChange{Cause: protocol.CauseDiscovered, Discovery: &protocol.Discovery{Wallet: "w1", Done: true}, Err: errNoBus})
	if err := json.Unmarshal(other.note().Params, &changed); err != nil || changed.Discovery.Error != "keychain_no_bus" {
		t.Errorf("notification = %+v, %v, want the error keychain_no_bus", changed.Discovery, err)
	}
}

// TestClearing checks that only a terminal can clear the keychain, and that it gets the
// error if that fails.
func TestClearing(t *testing.T) {
	r := newRig(t)
	r.attach("extension").refused("terminal_only", "keys.clear", nil)
	p := r.attach("terminal")
	p.must("keys.clear", nil)
	r.wallet.fail = errNoBus
	p.refused("keychain_no_bus", "keys.clear", nil)
	if r.wallet.cleared != 2 {
		t.Errorf("cleared %d times", r.wallet.cleared)
	}
}
