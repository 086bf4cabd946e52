package host

import (
	"encoding/json"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"
)

const anID = "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d01"

func TestFramesOutOfForm(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	raw := func(b ...byte) {
		if _, err := p.nc.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	raw(0, 0, 0, 0)
	if e := p.reply(); e.Error == nil || e.Error.Name != "frame_zero" || string(e.ID) != "null" {
		t.Errorf("reply = %s, want frame_zero with id null", e.raw)
	}
	long := make([]byte, 4+protocol.MaxRequest+1)
	long[0], long[1], long[2] = 1, 0, 16
	raw(long...)
	if e := p.reply(); e.Error == nil || e.Error.Name != "frame_too_long" || e.Error.Data["length"] != "1048577" {
		t.Errorf("reply = %s, want frame_too_long with length 1048577", e.raw)
	}
	p.must("swap.fees", nil)
	full := `{"jsonrpc":"2.0","id":9,"method":"swap.fees"}`
	p.write(full + strings.Repeat(" ", protocol.MaxRequest-len(full)))
	if m := p.reply(); m.Error != nil {
		t.Errorf("a message of exactly 1 MiB: %v", m.Error)
	}
	raw(0, 0, 0, 255) // 4 GB: too long to be skipped
	if e := p.reply(); e.Error == nil || e.Error.Name != "frame_too_long" {
		t.Errorf("reply = %s, want frame_too_long", e.raw)
	}
	if !p.closed() {
		t.Error("connection goes on after a frame that cannot be skipped")
	}
	cut := r.attach("extension")
	_, _ = cut.nc.Write([]byte{100, 0, 0, 0, '{'})
	_ = cut.nc.Close()
	r.attach("extension").must("swap.fees", nil)
}

func TestDuplicateIDs(t *testing.T) {
	r := newRig(t)
	r.networks.hold = make(chan struct{})
	p := r.attach("extension")
	body := `{"jsonrpc":"2.0","id":"x","method":"tokens.balances","params":{"account":"` + account.Hex() + `"}}`
	p.write(body)
	p.write(body)
	if m := p.reply(); m.Error == nil || m.Error.Name != "invalid_request" || string(m.ID) != `"x"` {
		t.Errorf("the second: %s", m.raw)
	}
	close(r.networks.hold)
	if m := p.reply(); m.Error != nil {
		t.Errorf("the first: %s", m.raw)
	}
	p.write(body) // the id is free again
	if m := p.reply(); m.Error != nil {
		t.Errorf("afterwards: %s", m.raw)
	}
}

func TestAttachComesFirstAndSoon(t *testing.T) {
	r := newRigWaiting(t, func(w *waits) { w.attach = 100 * time.Millisecond })
	late := r.dial()
	if m := late.reply(); m.Error == nil || m.Error.Name != "attach_required" || !late.closed() {
		t.Errorf("a silent caller: %s", m.raw)
	}
	for name, body := range map[string]string{
		"attach_required": `{"jsonrpc":"2.0","id":1,"method":"swap.fees"}`,
		"bad_json":        `{`,
		"bad_params":      `{"jsonrpc":"2.0","id":1,"method":"host.attach","params":{"kind":"browser"}}`,
		"origin_refused":  `{"jsonrpc":"2.0","id":1,"method":"host.attach","params":{"kind":"browser","origin":"a\u0007b","version":""}}`,
	} {
		p := r.dial()
		p.write(body)
		if m := p.reply(); m.Error == nil || m.Error.Name != name {
			t.Errorf("%s: %s", body, m.raw)
		}
		if !p.closed() {
			t.Errorf("%s: connection goes on", body)
		}
	}
	chosen := newRig(t, func(c *Config) { c.AllowOrigin = func(o string) bool { return o == "wallet@swapkeep.example" } })
	if m := chosen.dial().call("host.attach", attaches["extension"]); m.Error == nil || m.Error.Name != "origin_refused" {
		t.Errorf("an extension that is not allowed: %s", m.raw)
	}
	if m := chosen.dial().call("host.attach", protocol.AttachParams{Kind: "browser", Origin: "wallet@swapkeep.example"}); m.Error != nil {
		t.Errorf("an extension that is allowed: %s", m.raw)
	}
}

func TestStop(t *testing.T) {
	r := newRig(t)
	p := r.attach("terminal")
	p.must("host.stop", nil)
	select {
	case <-r.stopped:
	case <-time.After(5 * time.Second):
		t.Fatal("the server did not stop in time")
	}
	r.server.Close()
	r.server.Close()
	if !p.closed() {
		t.Error("connection outlives the server")
	}
	if m := r.dial().reply(); m.Error == nil || m.Error.Name != "stopping" {
		t.Errorf("a new caller: %s", m.raw)
	}
}

// TestContextEndsConnections checks that connections end with the daemon's context.
func TestContextEndsConnections(t *testing.T) {
	r := newRig(t)
	p := r.attach("terminal")
	r.cancel()
	if !p.closed() {
		t.Error("connection outlives the context")
	}
}

func TestStatusShowsWhatIsWrong(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Problems = func() []protocol.Problem { return []protocol.Problem{{Name: "prices", Message: "port 5330 is taken"}} }
	})
	p := r.attach("terminal")
	r.wallet.fail = errNoBus
	r.swaps.fail = &swap.Refusal{Code: swap.JournalFailed, Reason: "the order database cannot be read", Err: syscall.EROFS}
	var s protocol.StatusResult
	if err := json.Unmarshal(p.must("host.status", nil).Result, &s); err != nil {
		t.Fatal(err)
	}
	if s.Keys != "keychain_no_bus" || len(s.Problems) != 2 || s.Problems[1].Name != "database_readonly" || s.Problems[1].Remedy == "" {
		t.Errorf("status = %+v, want keychain_no_bus and a second problem, database_readonly", s)
	}
}

// TestStatusNamesUnreadableOrders checks that an order with an unreadable record is
// reported in the status and listed among the open orders, by its id.
func TestStatusNamesUnreadableOrders(t *testing.T) {
	r := newRig(t)
	r.swaps.pending, r.swaps.damaged = true, true
	p := r.attach("terminal")
	var s protocol.StatusResult
	if err := json.Unmarshal(p.must("host.status", nil).Result, &s); err != nil {
		t.Fatal(err)
	}
	if s.OpenOrders != 1 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "order-1") || s.Problems[0].Remedy == "" {
		t.Errorf("status = %+v, want one open order and a problem that names order-1", s)
	}
	r.swaps.long = 1 // a whole page of such orders
	var many protocol.StatusResult
	if err := json.Unmarshal(p.must("host.status", nil).Result, &many); err != nil {
		t.Fatal(err)
	}
	if n := len(many.Problems); n != maxNamedOrders+1 || !strings.Contains(many.Problems[n-1].Message, "more") {
		t.Errorf("%d problems: %+v", n, many.Problems)
	}
	r.swaps.long = 0
	var page protocol.OrdersResult
	if err := json.Unmarshal(p.must("swap.orders", map[string]any{"open": true}).Result, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Orders) != 1 || page.Orders[0].State != string(swap.Unreadable) || page.Orders[0].Final || !strings.Contains(page.Orders[0].Reason, "damaged") {
		t.Errorf("orders = %+v, want one, unreadable and not final", page)
	}
}

// TestConcurrentConnections uses many connections at once, for the race detector.
func TestConcurrentConnections(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	var peers []*peer
	for range 20 {
		peers = append(peers, r.session())
	}
	for _, p := range peers {
		wg.Go(func() {
			for range 20 {
				p.call("swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
				p.call("keys.lock", nil)
				p.call("keys.unlock", map[string]any{"password": password})
			}
		})
	}
	wg.Wait()
}
