package host

import (
	"encoding/json"
	"testing"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/engine"
)

func (r *rig) lastListed() engine.AllowancesRequest {
	r.swaps.mu.Lock()
	defer r.swaps.mu.Unlock()
	return r.swaps.listed[len(r.swaps.listed)-1]
}

// TestRevokesArePreparedForThoseWhoMayAct checks that revokes are prepared only where
// they can be consented to: on the active network, for a caller that may act.
func TestRevokesArePreparedForThoseWhoMayAct(t *testing.T) {
	r := newRig(t, func(c *Config) { c.AllowUnknown = true })
	for _, c := range []struct {
		caller  string
		chain   uint64
		prepare bool
	}{{"extension", 0, true}, {"terminal", 1, true}, {"extension", 8453, false}, {"unknown", 0, false}} {
		p := r.attach(c.caller)
		var got protocol.ApprovalsResult
		m := p.must("approvals.list", map[string]any{"account": account.Hex(), "chainId": c.chain})
		if err := json.Unmarshal(m.Result, &got); err != nil {
			t.Fatal(err)
		}
		asked := r.lastListed()
		if asked.Prepare != c.prepare || (got.Allowances[0].Digest != "") != c.prepare || asked.Account != account {
			t.Errorf("%s on chain %d: asked %+v, digest %q", c.caller, c.chain, asked, got.Allowances[0].Digest)
		}
		for _, token := range asked.Tokens {
			if token == stranger {
				t.Error("a token that nobody here chose is looked at")
			}
		}
	}
}

// TestRevokesOfANetworkThatIsLeft checks that plans are dropped if the network changes
// while they are prepared.
func TestRevokesOfANetworkThatIsLeft(t *testing.T) {
	r := newRig(t)
	p := r.session()
	dropped := r.swaps.drops()
	r.swaps.during = func() { _ = r.settings.SetActiveNetwork(8453) }
	p.refused("network_not_active", "approvals.list", map[string]any{"account": account.Hex()})
	if r.swaps.drops() != dropped+1 {
		t.Error("the plans were not forgotten")
	}
}

// acts are the requests that need consent, with valid parameters.
var acts = map[string]map[string]any{
	"swap.execute":     {"request": anID, "digest": digest.Hex()},
	"swap.accept":      {"request": anID, "order": "order-1", "digest": digest.Hex()},
	"swap.close":       {"request": anID, "order": "order-1", "digest": digest.Hex()},
	"swap.cancel":      {"request": anID, "order": "order-1", "digest": digest.Hex()},
	"swap.speedup":     {"request": anID, "order": "order-1", "digest": digest.Hex(), "tier": "fast", "gasCeiling": "60000000000000000"},
	"approvals.revoke": {"request": anID, "digest": digest.Hex()},
}

// TestActionsNeedASession checks that every act is refused without a session of its own
// connection, without a uuid or digest, and for read-only callers.
func TestActionsNeedASession(t *testing.T) {
	r := newRig(t, func(c *Config) { c.AllowUnknown = true })
	locked := r.attach("extension")
	for method, params := range acts {
		locked.refused("locked", method, params)
	}
	session, other, reader := r.session(), r.attach("terminal"), r.attach("unknown")
	for method, params := range acts {
		other.refused("session_required", method, params)
		reader.refused("read_only", method, params)
		for _, name := range []string{"request", "digest"} {
			less := map[string]any{}
			for k, v := range params {
				if k != name {
					less[k] = v
				}
			}
			session.refused("bad_params", method, less)
		}
		session.must(method, params)
	}
	r.swaps.mu.Lock()
	defer r.swaps.mu.Unlock()
	if len(r.swaps.revoked) != 1 || len(r.swaps.sped) != 1 {
		t.Fatalf("%d revokes, %d speed-ups", len(r.swaps.revoked), len(r.swaps.sped))
	}
	revoke, speedup := r.swaps.revoked[0], r.swaps.sped[0]
	if revoke.Request != anID || revoke.Digest != digest || revoke.Session == "" || revoke.Origin != extension {
		t.Errorf("revoke %+v", revoke)
	}
	if speedup.Request != anID || speedup.Digest != digest || speedup.Session == "" || speedup.Tier != chain.Fast || speedup.GasCeiling.Int64() != 6e16 || speedup.Order != "order-1" {
		t.Errorf("speed-up %+v", speedup)
	}
}

// TestAllowanceInUseNamesTheOrder checks that refusals arrive with the order and figures
// that they name.
func TestAllowanceInUseNamesTheOrder(t *testing.T) {
	r := newRig(t)
	p := r.session()
	r.swaps.fail = &swap.Refusal{Code: swap.AllowanceInUse, Reason: "an open order still needs this allowance", Data: map[string]string{"order": "order-1", "reserved": "5"}}
	if e := p.refused("allowance_in_use", "approvals.revoke", acts["approvals.revoke"]); e.Data["order"] != "order-1" || e.Data["reserved"] != "5" {
		t.Errorf("error = %+v, want order order-1 and share 5", e)
	}
	r.swaps.fail = swap.Refuse(swap.RequestConflict, "this request id was used for something else")
	p.refused("request_conflict", "swap.speedup", acts["swap.speedup"])
}
