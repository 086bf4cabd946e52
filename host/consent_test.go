package host

import (
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap/engine"
	"swapkeep/test/await"
)

// acting are the methods that end in a signature, with parameters that the fakes accept.
var acting = map[string]map[string]any{
	"swap.execute":     {"request": anID, "digest": digest.Hex()},
	"swap.accept":      {"request": anID, "order": "order-1", "digest": digest.Hex()},
	"swap.cancel":      {"request": anID, "order": "order-1", "digest": digest.Hex()},
	"swap.speedup":     {"request": anID, "order": "order-1", "digest": digest.Hex(), "tier": string(chain.Fast)},
	"approvals.revoke": {"request": anID, "digest": digest.Hex()},
}

// TestPasswordWithAnAction checks that a password with an act is verified and wiped, and that
// the service learns whether there was one, who the caller is and whether its session is
// still open.
func TestPasswordWithAnAction(t *testing.T) {
	for method, params := range acting {
		t.Run(method, func(t *testing.T) {
			r := newRig(t)
			with := func(password string) map[string]any {
				p := map[string]any{}
				for k, v := range params {
					p[k] = v
				}
				if password != "" {
					p["password"] = password
				}
				return p
			}
			browser, term := r.session(), r.attach("terminal")
			term.must("keys.unlock", map[string]any{"password": password})
			browser.must(method, with(""))
			browser.refused("wrong_password", method, with("not the password"))
			browser.must(method, with(password))
			term.must(method, with(""))
			r.swaps.mu.Lock()
			callers := r.swaps.callers
			r.swaps.mu.Unlock()
			if len(callers) != 3 {
				t.Fatalf("%d calls", len(callers))
			}
			for i, want := range []struct{ terminal, password bool }{{false, false}, {false, true}, {true, false}} {
				if c := callers[i]; c.Terminal != want.terminal || c.Password != want.password || !c.Present() {
					t.Errorf("call %d: %+v", i, c)
				}
			}
			_ = term.nc.Close()
			await.Until(t, 10*time.Second, "the end of a session", func() bool { return !callers[2].Present() })
			browser.must("keys.lock", nil)
			browser.must("keys.unlock", map[string]any{"password": password})
			if callers[0].Present() {
				t.Error("another session stands for the one that asked")
			}
			r.wallet.mu.Lock()
			defer r.wallet.mu.Unlock()
			for i, s := range r.wallet.secrets {
				if strings.Trim(string(s), "\x00") != "" {
					t.Errorf("secret %d was not wiped", i)
				}
			}
			if strings.Contains(r.log.String(), password) {
				t.Error("the log holds the password")
			}
		})
	}
}

// TestReviewSaysWhatItRequires checks that a review tells browsers the reasons for a
// password, and terminals that the amount must be repeated.
func TestReviewSaysWhatItRequires(t *testing.T) {
	r := newRig(t)
	r.swaps.takes = []engine.Reason{engine.ForUnpriced, engine.ForHour}
	browser := string(r.session().must("swap.prepare", map[string]any{"offer": "offer-1"}).raw)
	if !strings.Contains(browser, `"passwordFor":["unpriced","hourly_limit"]`) || strings.Contains(browser, "amountAgain") {
		t.Error(browser)
	}
	term := string(r.attach("terminal").must("swap.prepare", map[string]any{"offer": "offer-1"}).raw)
	if !strings.Contains(term, `"amountAgain":true`) || strings.Contains(term, "passwordFor") {
		t.Error(term)
	}
}
