package host

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// A quote that names no slippage has the one that was set.
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

// A provider's key is kept, wiped, and told nobody.
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
		t.Error("the key is told")
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

// An open session stands in for no password: each change of an RPC or a
// provider's key is checked by itself, before anything is tried.
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
	p.must("settings.set", rpc(password)) // it needs no session
	p.refused("locked", "settings.set", map[string]any{"key": "swap.slippage", "value": "1"})
}

// Where files are is for terminals.
func TestFilesAreForTerminals(t *testing.T) {
	r := newRig(t)
	for caller, shown := range map[string]bool{"terminal": true, "extension": false} {
		raw := string(r.attach(caller).must("settings.get", nil).raw)
		if strings.Contains(raw, "/etc/swapkeep.toml") != shown {
			t.Errorf("%s: %s", caller, raw)
		}
	}
}

// A change that cannot be written is an error, and nobody is told of it.
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
			t.Errorf("told: %s", n.raw)
		}
	}
}
