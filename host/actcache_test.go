package host

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
)

// TestRequestsRunOnce checks that one uuid makes one wallet, even if it is sent again
// before the first request is done.
func TestRequestsRunOnce(t *testing.T) {
	r := newRig(t)
	r.wallet.slow = make(chan struct{})
	a, b := r.attach("extension"), r.attach("terminal")
	create := map[string]any{"request": anID, "password": password}
	first, second := a.send("keys.create", create), b.send("keys.create", create)
	await.Until(t, 10*time.Second, "one create under way", func() bool {
		r.wallet.mu.Lock()
		defer r.wallet.mu.Unlock()
		return len(r.wallet.secrets) == 1
	})
	b.refused("request_conflict", "keys.create", map[string]any{"request": anID, "password": password, "words": 24})
	close(r.wallet.slow)
	words := 0
	for _, m := range []message{a.reply(), b.reply()} {
		var made protocol.CreateResult
		if err := json.Unmarshal(m.Result, &made); err != nil || made.Wallet.ID != "w1" {
			t.Fatalf("%s: %v", m.raw, err)
		}
		if made.Words != nil {
			words++
		}
	}
	if r.wallet.made != 1 || words != 1 {
		t.Errorf("%d wallets made, words shown %d times (requests %s and %s)", r.wallet.made, words, first, second)
	}
}

func TestFailedActionMayBeRepeated(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	create := map[string]any{"request": anID, "password": password}
	r.wallet.fail = fmt.Errorf("set item: %w", errNoBus)
	if e := p.refused("keychain_no_bus", "keys.create", create); e.Message != errNoBus.Error() {
		t.Errorf("message %q tells more than the sentinel", e.Message)
	}
	r.wallet.fail = nil
	p.must("keys.create", create)
	if r.wallet.made != 1 {
		t.Errorf("made %d", r.wallet.made)
	}
}

func TestActionCacheIsBounded(t *testing.T) {
	m := newActMemory(2)
	c := &call{conn: &conn{s: &Server{acts: m}}}
	for i := range 5 {
		id := protocol.UUID(strconv.Itoa(i))
		if _, err := c.once(t.Context(), id, &protocol.AddParams{}, func() (any, any, error) { return i, i, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.acts) != 2 || len(m.order) != 2 {
		t.Errorf("%d acts are remembered, want 2", len(m.acts))
	}
	got, err := c.once(t.Context(), "4", &protocol.AddParams{}, func() (any, any, error) { return "again", nil, nil })
	if err != nil || got != 4 {
		t.Errorf("the newest gave %v, %v", got, err)
	}
}

// TestActionsOutliveTheConnection checks that an accepted act continues after the
// connection, and a query does not.
func TestActionsOutliveTheConnection(t *testing.T) {
	r := newRig(t)
	r.swaps.hold = make(chan struct{})
	r.networks.hold = make(chan struct{})
	release := sync.OnceFunc(func() { close(r.swaps.hold) })
	defer release() // a failure must not leave the daemon waiting
	p := r.session()
	p.send("swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
	p.send("tokens.balances", map[string]any{"account": account.Hex()})
	await.Until(t, 10*time.Second, "execute under way", func() bool {
		r.swaps.mu.Lock()
		defer r.swaps.mu.Unlock()
		return len(r.swaps.executed) == 1
	})
	await.Until(t, 10*time.Second, "the question under way", func() bool { return r.networks.asked.Load() == 1 })
	_ = p.nc.Close()
	await.Until(t, 10*time.Second, "the question was cancelled", func() bool { return strings.Contains(r.log.String(), `"method":"tokens.balances"`) })
	release()
	await.Until(t, 10*time.Second, "execute returned", func() bool {
		r.swaps.mu.Lock()
		defer r.swaps.mu.Unlock()
		return len(r.swaps.ended) == 1
	})
	if r.swaps.ended[0] != nil {
		t.Errorf("its context ended: %v", r.swaps.ended[0])
	}
}
