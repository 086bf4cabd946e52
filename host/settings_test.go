package host

import (
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/host/settings"
)

// TestSlippageIsASetting checks that a quote without slippage uses the setting.
func TestSlippageIsASetting(t *testing.T) {
	r := newRig(t)
	p := r.session()
	quote := map[string]any{"account": account.Hex(), "tokenIn": protocol.Native, "amountIn": "1", "tokenOut": usdc.Hex()}
	p.must("swap.quote", quote)
	p.must("settings.set", map[string]any{"key": "swap.slippage", "value": "1.5"})
	p.must("swap.quote", quote)
	quote["slippage"] = 2
	p.must("swap.quote", quote)
	r.swaps.mu.Lock()
	defer r.swaps.mu.Unlock()
	for i, want := range []int{50, 150, 200} {
		if got := r.swaps.asked[i].SlippageBps; got != want {
			t.Errorf("quote %d: %d, want %d", i, got, want)
		}
	}
}

// TestSettingsOfASession checks which values a session may set without the password, and
// that a terminal's session needs none.
func TestSettingsOfASession(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	own, err := settings.Open(db, config.Default(), settings.Options{Chains: []uint64{1, 8453}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { c.Settings = own })
	browser, term := r.session(), r.attach("terminal")
	term.must("keys.unlock", map[string]any{"password": password})
	for _, c := range []struct {
		key, value, refused string // error without the password
		with                string // error with it; "" = accepted
	}{
		{"swap.slippage", "5", "", ""},
		{"swap.slippage", "5.1", "bad_params", ""},
		{"swap.slippage", "50", "slippage_terminal", "slippage_terminal"},
		{"keys.auto_lock", "1h", "", ""},
		{"keys.auto_lock", "24h", "bad_params", ""},
		{"log.level", "warn", "", ""},
		{"log.level", "debug", "bad_params", ""},
		{"limits.hourly_worth", "1000000", "bad_params", ""},
		{"limits.unpriced_day", "0", "bad_params", ""},
		{"limits.open_orders", "5", "bad_params", ""},
		{"prices.disabled", "true", "bad_params", ""},
		{"prices.sources.defillama.disabled", "true", "bad_params", ""},
		{"prices.ask_imported", "true", "bad_params", ""},
	} {
		p := map[string]any{"key": c.key, "value": c.value}
		set := func(refused string) {
			if refused == "" {
				browser.must("settings.set", p)
			} else {
				browser.refused(refused, "settings.set", p)
			}
		}
		set(c.refused)
		p["password"] = "not the password"
		if c.refused == "bad_params" {
			set("wrong_password")
		}
		p["password"] = password
		set(c.with)
		p["value"], p["reset"] = nil, true
		browser.must("settings.set", p)
	}
	term.must("settings.set", map[string]any{"key": "swap.slippage", "value": "50"})
	quote := map[string]any{"account": account.Hex(), "tokenIn": protocol.Native, "amountIn": "1", "tokenOut": usdc.Hex()}
	browser.refused("slippage_terminal", "swap.quote", quote) // the quote names no slippage
	term.must("swap.quote", quote)
	quote["slippage"] = 15.01
	browser.refused("slippage_terminal", "swap.quote", quote)
	quote["slippage"] = 15
	browser.must("swap.quote", quote)
}

// TestProviderKeyIsSecret checks that a provider's key is stored, wiped and never shown.
func TestProviderKeyIsSecret(t *testing.T) {
	const key = "token-of-this-installation"
	r := newRig(t)
	p, other := r.session(), r.attach("terminal")
	reply := p.must("providers.set_key", map[string]any{"provider": "dex", "key": key, "password": password})
	p.refused("wrong_password", "providers.set_key", map[string]any{"provider": "dex", "key": key, "password": "not the password"})
	for _, method := range []string{"settings.get", "swap.providers", "host.status"} {
		if raw := other.must(method, nil).raw; strings.Contains(string(raw), key) {
			t.Errorf("%s tells the key", method)
		}
	}
	if strings.Contains(string(reply.raw), key) || strings.Contains(r.log.String(), key) {
		t.Error("the reply contains the key")
	}
	r.provided.mu.Lock()
	defer r.provided.mu.Unlock()
	if r.provided.kept["dex"] != key || len(r.provided.seen) != 1 {
		t.Errorf("kept %d keys", len(r.provided.seen))
	}
	for _, seen := range r.provided.seen {
		if strings.Trim(string(seen), "\x00") != "" {
			t.Error("the key was not wiped")
		}
	}
}

// TestPasswordEachTime checks that an open session does not replace the password: each
// change of an RPC URL requires it, before anything is tried.
func TestPasswordEachTime(t *testing.T) {
	r := newRig(t)
	p := r.session()
	rpc := func(password string) map[string]any {
		return map[string]any{"key": "networks.1.rpc", "values": []string{"https://mine.example"}, "password": password}
	}
	p.must("settings.set", rpc(password))
	p.refused("wrong_password", "settings.set", rpc("not the password"))
	p.refused("bad_params", "settings.set", rpc(""))
	p.must("settings.set", rpc(password))
	p.must("keys.lock", nil)
	p.must("settings.set", rpc(password)) // needs no session
	p.refused("locked", "settings.set", map[string]any{"key": "swap.slippage", "value": "1"})
}

// TestFilesAreForTerminals checks that file paths are shown to terminals only.
func TestFilesAreForTerminals(t *testing.T) {
	r := newRig(t)
	for caller, shown := range map[string]bool{"terminal": true, "extension": false} {
		raw := string(r.attach(caller).must("settings.get", nil).raw)
		if strings.Contains(raw, "/etc/swapkeep.toml") != shown {
			t.Errorf("%s: %s", caller, raw)
		}
	}
}

// TestSettingNotWritten checks that a failed write is an error and is not broadcast.
func TestSettingNotWritten(t *testing.T) {
	r := newRig(t)
	p := r.session()
	r.settings.fail = protocol.New("database_full", "")
	p.notes = nil
	p.refused("database_full", "settings.set", map[string]any{"key": "swap.slippage", "value": "1"})
	r.tokens.fail = protocol.New("database_full", "")
	p.refused("database_full", "tokens.import", map[string]any{"address": foo.Hex()})
	p.refused("database_full", "tokens.remove", map[string]any{"address": usdc.Hex()})
	for _, n := range p.notes {
		if n.Method == "settings.changed" || n.Method == "tokens.changed" {
			t.Errorf("notification = %s, want none: nothing was stored", n.raw)
		}
	}
}
