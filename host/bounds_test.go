package host

import (
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/test/await"
)

func TestConnectionsAreBounded(t *testing.T) {
	r := newRig(t)
	var peers []*peer
	for range protocol.MaxBrowsers {
		peers = append(peers, r.attach("extension"))
	}
	late := r.dial()
	late.send("host.attach", attaches["extension"])
	if m := late.reply(); m.Error == nil || m.Error.Name != "busy" || !strings.Contains(m.Error.Remedy, "close some windows") || !late.closed() {
		t.Errorf("one browser too many: %s", m.raw)
	}
	connected := func(n int) func() bool {
		return func() bool {
			r.server.mu.Lock()
			defer r.server.mu.Unlock()
			return len(r.server.conns) == n
		}
	}
	await.Until(t, 10*time.Second, "its place is free", connected(protocol.MaxBrowsers))
	for range protocol.MaxConnections - protocol.MaxBrowsers {
		peers = append(peers, r.attach("terminal"))
	}
	extra := r.dial()
	if m := extra.reply(); m.Error == nil || m.Error.Name != "busy" || !strings.Contains(m.Error.Remedy, "close some windows") || !extra.closed() {
		t.Errorf("one too many: %s", m.raw)
	}
	_ = peers[0].nc.Close()
	await.Until(t, 10*time.Second, "room for another", connected(protocol.MaxConnections-1))
	r.attach("terminal")
}

// TestConnectionsOfOneProcessAreBounded checks that one process cannot take the
// connections of others, and that its closed connections become available again.
func TestConnectionsOfOneProcessAreBounded(t *testing.T) {
	var process atomic.Int64
	r := newRig(t, func(c *Config) { c.Process = func(net.Conn) int { return int(process.Load()) } })
	process.Store(1234)
	greedy := []*peer{r.dial()} // silent: it does not even attach
	for len(greedy) < protocol.MaxPerProcess {
		greedy = append(greedy, r.attach("extension"))
	}
	await.Until(t, 10*time.Second, "all are held", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return r.server.connectionsOf(1234) == protocol.MaxPerProcess
	})
	extra := r.dial()
	if m := extra.reply(); m.Error == nil || m.Error.Name != "busy" || !strings.Contains(m.Error.Remedy, "close some windows") || !extra.closed() {
		t.Errorf("one too many: %s", m.raw)
	}
	process.Store(0) // an unknown process is accepted, up to the limit for all
	for range protocol.MaxPerProcess + 1 {
		r.attach("terminal")
	}
	process.Store(5678)
	r.attach("extension").must("swap.fees", nil)
	process.Store(1234)
	_ = greedy[1].nc.Close()
	await.Until(t, 10*time.Second, "one is free again", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return r.server.connectionsOf(1234) == protocol.MaxPerProcess-1
	})
	r.attach("extension")
}

// heap returns the live heap in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestFlood sends 10,000 requests at once and reads nothing before the last is sent. Each
// gets one answer, those above the limits at once, and memory stays small: a waiting
// request has no goroutine.
func TestFlood(t *testing.T) {
	const n = 10_000
	r := newRig(t)
	r.networks.hold = make(chan struct{})
	p := r.attach("extension")
	bystander := r.attach("terminal")
	before, threads := heap(), runtime.NumGoroutine()
	for range n {
		p.send("tokens.balances", map[string]any{"account": account.Hex()})
	}
	bystander.must("swap.fees", nil)
	grown, goroutines := int64(heap())-int64(before), runtime.NumGoroutine()-threads
	t.Logf("heap +%d KiB, %d goroutines more", grown>>10, goroutines)
	if grown > 16<<20 || goroutines > protocol.MaxAsking+10 {
		t.Errorf("heap grew by %d bytes and %d goroutines", grown, goroutines)
	}
	answers, busy := map[string]bool{}, 0
	for range n - protocol.MaxRunning - protocol.MaxQueued {
		m := p.reply()
		answers[string(m.ID)] = true
		if m.Error == nil || m.Error.Name != "busy" || !m.Error.Retryable {
			t.Fatalf("not busy: %s", m.raw)
		}
		busy++
	}
	close(r.networks.hold)
	for range protocol.MaxRunning + protocol.MaxQueued {
		m := p.reply()
		answers[string(m.ID)] = true
		if m.Error != nil {
			t.Fatalf("admitted, then %v", m.Error)
		}
	}
	if len(answers) != n {
		t.Errorf("%d answers to %d requests", len(answers), n)
	}
	p.must("swap.fees", nil)
	t.Logf("%d busy, %d answered", busy, n-busy)
}

// TestNetworkRequestsAreBounded checks that of many requests that call a network only MaxAsking run
// at once, that other requests are answered meanwhile, and that the rest ends with the
// connection.
func TestNetworkRequestsAreBounded(t *testing.T) {
	r := newRig(t)
	r.networks.hold = make(chan struct{})
	p, other := r.attach("extension"), r.attach("extension")
	for range protocol.MaxRunning + protocol.MaxQueued - 10 {
		p.send("tokens.balances", map[string]any{"account": account.Hex()})
	}
	await.Until(t, 10*time.Second, "as many as may ask do", func() bool { return r.networks.asked.Load() == protocol.MaxAsking })
	p.must("swap.fees", nil)
	other.must("swap.fees", nil)
	other.send("tokens.balances", map[string]any{"account": account.Hex()})
	await.Until(t, 10*time.Second, "another connection asks too", func() bool { return r.networks.asked.Load() == protocol.MaxAsking+1 })
	_ = p.nc.Close()
	await.Until(t, 10*time.Second, "its requests end", func() bool { return r.server.inFlight.Load() < 1000 })
	if n := r.networks.asked.Load(); n != protocol.MaxAsking+1 {
		t.Errorf("%d asked a network, %d of them for nobody", n, n-protocol.MaxAsking-1)
	}
	close(r.networks.hold)
	if m := other.reply(); m.Error != nil {
		t.Error(m.Error)
	}
}

// TestInboundBytesAreBounded checks that the bytes of unanswered requests are limited
// too, however few the requests, and released afterwards.
func TestInboundBytesAreBounded(t *testing.T) {
	r := newRig(t)
	r.networks.hold = make(chan struct{})
	body := func(id int) string {
		s := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tokens.balances","params":{"account":"%s"}}`, id, account.Hex())
		return s + strings.Repeat(" ", 1<<20-len(s))
	}
	var peers []*peer
	for range protocol.MaxInFlightAll/protocol.MaxInFlight + 1 {
		peers = append(peers, r.attach("extension"))
	}
	for i, p := range peers {
		want := protocol.MaxInFlight >> 20
		if i == len(peers)-1 {
			want = 0 // the other connections hold all that the daemon accepts
		}
		for id := range want + 1 {
			p.write(body(id))
		}
		if m := p.reply(); m.Error == nil || m.Error.Name != "busy" || string(m.ID) != strconv.Itoa(want) {
			t.Fatalf("connection %d: %s", i, m.raw)
		}
	}
	if got := r.server.inFlight.Load(); got != protocol.MaxInFlightAll {
		t.Errorf("%d bytes in flight", got)
	}
	close(r.networks.hold)
	for _, p := range peers[:len(peers)-1] {
		for range protocol.MaxInFlight >> 20 {
			if m := p.reply(); m.Error != nil {
				t.Fatal(m.Error)
			}
		}
	}
	await.Until(t, 10*time.Second, "all bytes given back", func() bool { return r.server.inFlight.Load() == 0 })
}

// TestClientThatDoesNotRead checks that a client that does not read loses its own
// connection, by too many unread bytes or by timeout, and affects nothing else.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Run("too much", func(t *testing.T) {
		r := newRig(t)
		p, other := r.attach("extension"), r.attach("terminal")
		before := heap()
		body := `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 60) + `"}`
		sent := 0
		for ; sent < 200_000; sent++ {
			if p.out.Write([]byte(body)) != nil {
				break
			}
		}
		if sent == 200_000 {
			t.Fatal("never dropped")
		}
		grown := int64(heap()) - int64(before)
		t.Logf("dropped after %d requests, heap +%d KiB", sent, grown>>10)
		if grown > 4<<20 {
			t.Errorf("%d bytes are still held", grown)
		}
		other.must("swap.fees", nil)
	})
	t.Run("too slow", func(t *testing.T) {
		r := newRigWaiting(t, func(w *waits) { w.write = 200 * time.Millisecond })
		p, other := r.attach("extension"), r.attach("terminal")
		r.swaps.long = 64 << 10
		for range 60 { // each answer is nearly 1 MiB: the outbox fills and handlers block
			p.send("swap.orders", map[string]any{"limit": 16})
		}
		await.Until(t, time.Minute, "dropped", func() bool { return strings.Contains(r.log.String(), "connection ended") })
		other.must("swap.fees", nil)
	})
	t.Run("notifications", func(t *testing.T) {
		r := newRig(t)
		r.attach("extension") // reads nothing from now on
		other := r.attach("terminal")
		r.swaps.long = 256 << 10
		for range 60 {
			r.swaps.watch(r.swaps.order("order-1", swap.Filled))
			if n := other.note(); n.Method != "swap.order" {
				t.Fatalf("got %s", n.raw[:100])
			}
		}
		await.Until(t, 10*time.Second, "only the reader is left", func() bool { return len(r.server.attached()) == 1 })
		if !strings.Contains(r.log.String(), "client does not read") {
			t.Errorf("log: %s", r.log)
		}
	})
}

func TestLargeResults(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	r.swaps.long = 300 << 10
	var page protocol.OrdersResult
	if err := json.Unmarshal(p.must("swap.orders", map[string]any{"limit": 16}).Result, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Orders) == 0 || len(page.Orders) > 3 || page.Cursor == "" {
		t.Errorf("%d orders of 300 KiB in a page, cursor %q", len(page.Orders), page.Cursor)
	}
	r.swaps.long = 2 << 20
	if e := p.refused("result_too_large", "swap.order", map[string]any{"order": "order-1"}); e.Data["most"] != "1048576" {
		t.Errorf("error = %+v, want most 1048576", e)
	}
	if err := json.Unmarshal(p.must("swap.orders", map[string]any{"limit": 3}).Result, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Orders) != 1 || page.Orders[0].State != string(swap.Unreadable) || page.Orders[0].ID != "order-1" || !page.Orders[0].Final || page.Cursor == "" {
		t.Errorf("an order that no message holds hides older ones: %+v", page)
	}
	r.swaps.watch(r.swaps.order("order-1", swap.Filled)) // too large to be sent, which must not break anything
	r.swaps.long, r.swaps.lines = 0, protocol.MaxHistory+5
	var shown protocol.OrderResult
	if err := json.Unmarshal(p.must("swap.order", map[string]any{"order": "order-1"}).Result, &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.History) != protocol.MaxHistory || shown.Omitted != 5 {
		t.Errorf("%d lines, %d left out", len(shown.History), shown.Omitted)
	}
	r.swaps.note = strings.Repeat("\u20ac", 1000) // a long text from a provider in each line
	if err := json.Unmarshal(p.must("swap.order", map[string]any{"order": "order-1"}).Result, &shown); err != nil {
		t.Fatal(err)
	}
	if n := len(shown.History); n < 100 || n+shown.Omitted != protocol.MaxHistory+5 {
		t.Errorf("%d lines, %d left out", n, shown.Omitted)
	}
}

func TestRequestTimesOut(t *testing.T) {
	r := newRigWaiting(t, func(w *waits) { w.request = 50 * time.Millisecond })
	r.networks.hold = make(chan struct{})
	r.attach("extension").refused("timed_out", "tokens.balances", map[string]any{"account": account.Hex()})
}
