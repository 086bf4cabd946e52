package host

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"swapkeep/host/protocol"
)

func TestSessionBelongsToItsConnection(t *testing.T) {
	r := newRig(t)
	a, b := r.session(), r.attach("extension")
	execute := map[string]any{"request": anID, "digest": digest.Hex()}
	b.refused("session_required", "swap.execute", execute)
	a.must("swap.execute", execute)
	b.refused("wrong_password", "keys.unlock", map[string]any{"password": "guess"})
	b.refused("session_required", "swap.execute", execute)
	b.must("keys.unlock", map[string]any{"password": password})
	b.must("swap.execute", execute)

	_ = a.nc.Close()
	c := r.attach("extension")
	c.refused("session_required", "swap.execute", execute)
	if !r.wallet.Unlocked() {
		t.Error("a connection's end locked the wallet: accepted orders would stop")
	}
	sessions := map[string]bool{}
	for _, e := range r.swaps.executed {
		sessions[e.Session] = true
		if e.Origin != extension || e.Session == "" {
			t.Errorf("executed as %+v", e)
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%d sessions were named, want 2", len(sessions))
	}
}

func TestLockEndsEverySessionAndDropsPlans(t *testing.T) {
	for name, lock := range map[string]func(*rig, *peer){
		"locked by a client":  func(_ *rig, p *peer) { p.must("keys.lock", nil) },
		"locked by the timer": func(r *rig, _ *peer) { r.wallet.lock(true) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a, b := r.session(), r.session()
			before := r.swaps.drops()
			lock(r, a)
			if r.swaps.drops() != before+1 {
				t.Error("plans were not dropped")
			}
			for _, p := range []*peer{a, b} {
				p.refused("locked", "swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
			}
			a.must("keys.unlock", map[string]any{"password": password})
			b.refused("session_required", "swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
		})
	}
}

// TestLockDuringUnlock checks that a lock between the check of the password and the
// opening of the session wins.
func TestLockDuringUnlock(t *testing.T) {
	r := newRig(t)
	r.wallet.unlocked = r.wallet.Lock
	p := r.attach("extension")
	p.refused("locked", "keys.unlock", map[string]any{"password": password})
	if c := r.server.attached()[0]; c.sessionOf() != nil {
		t.Error("a session is open on a locked wallet")
	}
}

func TestPlansDieOnNetworkAndAccountChange(t *testing.T) {
	r := newRig(t)
	p, other := r.session(), r.attach("terminal")
	p.must("networks.select", map[string]any{"chainId": 1})
	if r.swaps.drops() != 0 {
		t.Error("selecting the active network dropped plans")
	}
	p.must("networks.select", map[string]any{"chainId": 8453})
	if r.swaps.drops() != 1 {
		t.Error("plans outlived a network change")
	}
	if n := other.note(); n.Method != "networks.changed" || string(n.Params) != `{"active":8453}` {
		t.Errorf("other windows were told %s", n.raw)
	}
	p.refused("network_not_active", "swap.prepare", map[string]any{"offer": "offer-1"}) // an offer of chain 1
	p.must("keys.add", map[string]any{"request": anID})
	if r.swaps.drops() != 3 {
		t.Errorf("dropped %d times, want 3: network, offer of another network, account", r.swaps.drops())
	}
	r.settings.fail = fmt.Errorf("write: %w", syscall.ENOSPC)
	p.refused("database_full", "networks.select", map[string]any{"chainId": 1})
	if active, _ := r.server.activeNetwork(); active != 8453 {
		t.Error("a failed write changed the network")
	}
}

// TestForeignRecipientIsConfirmedPerSession checks that the password for a foreign
// address counts for that address and session only.
func TestForeignRecipientIsConfirmedPerSession(t *testing.T) {
	r := newRig(t)
	p := r.session()
	quote := map[string]any{"account": account.Hex(), "tokenIn": protocol.Native, "amountIn": "1", "tokenOut": usdc.Hex()}
	with := func(extra ...string) map[string]any {
		q := map[string]any{}
		for k, v := range quote {
			q[k] = v
		}
		for i := 0; i < len(extra); i += 2 {
			q[extra[i]] = extra[i+1]
		}
		return q
	}
	p.must("swap.quote", quote)
	p.refused("password_required", "swap.quote", with("recipient", stranger.Hex()))
	p.must("swap.quote", with("recipient", stranger.Hex(), "password", password))
	p.must("swap.quote", with("recipient", stranger.Hex()))
	p.must("swap.quote", with("refundTo", stranger.Hex()))
	p.refused("password_required", "swap.quote", with("recipient", router.Hex()))
	r.session().refused("password_required", "swap.quote", with("recipient", stranger.Hex()))
	p.must("keys.lock", nil)
	p.must("keys.unlock", map[string]any{"password": password})
	p.refused("password_required", "swap.quote", with("recipient", stranger.Hex()))
	if got := r.swaps.asked[0]; got.Recipient != account || got.RefundTo != account || got.SlippageBps != 50 || got.FeeBps != 0 || got.DstChain != 1 {
		t.Errorf("defaults: %+v", got)
	}
	if got := r.swaps.asked[1]; got.Recipient != stranger || got.RefundTo != account {
		t.Errorf("asked %+v", got)
	}
}

func TestSecretsAreWipedAndNeverLogged(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	p.must("keys.create", map[string]any{"request": anID, "password": password})
	p.must("keys.import", map[string]any{"request": "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d02", "password": password, "mnemonic": testWords})
	p.refused("wrong_password", "keys.unlock", map[string]any{"password": "wrong horse"})
	r.swaps.panics = true
	p.refused("internal", "swap.providers", nil)
	p.must("swap.fees", nil)
	if len(r.wallet.secrets) != 4 {
		t.Fatalf("%d secrets", len(r.wallet.secrets))
	}
	for i, s := range r.wallet.secrets {
		if len(s) == 0 || strings.Trim(string(s), "\x00") != "" {
			t.Errorf("secret %d was not wiped", i)
		}
	}
	for _, secret := range []string{password, "wrong horse", "junk", "umbrella"} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(r.log.String(), `"method":"keys.unlock"`) || !strings.Contains(r.log.String(), `"error":"wrong_password"`) {
		t.Errorf("the log says too little: %s", r.log)
	}
}

func TestTouchFollowsUse(t *testing.T) {
	r := newRig(t)
	p := r.session()
	p.must("swap.orders", nil)
	p.must("keys.status", nil)
	if r.wallet.touched != 0 {
		t.Error("looking counts as use: a popup that polls would keep the wallet open")
	}
	p.must("swap.prepare", map[string]any{"offer": "offer-1"})
	if r.wallet.touched != 1 {
		t.Errorf("touched %d times, want 1", r.wallet.touched)
	}
	r.attach("extension").must("swap.prepare", map[string]any{"offer": "offer-1"})
	if r.wallet.touched != 1 {
		t.Error("a connection without session counts as use")
	}
}
