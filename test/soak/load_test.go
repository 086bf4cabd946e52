//go:build faults && linux

package soak

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/failpoint"
	"swapkeep/test/await"
)

const (
	relays   = 50
	inFlight = 200 // requests in flight per relay
)

// scaled returns the size of a load, a tenth in the short form.
func scaled(n int) int {
	if *short {
		return n / 10
	}
	return n
}

// questions are requests that the daemon answers without asking other services.
var questions = []question{
	{"host.hello", func(int) any { return protocol.HelloParams{} }, anything},
	{"tokens.search", func(n int) any { return protocol.SearchParams{Query: "USD", Limit: 1 + n%2} }, func(n int, result json.RawMessage) bool {
		var r protocol.SearchResult
		return json.Unmarshal(result, &r) == nil && len(r.Tokens) == 1+n%2
	}},
	{"prices.list", func(n int) any { return protocol.PricesParams{Limit: 1 + n%5} }, func(n int, result json.RawMessage) bool {
		var r protocol.PricesResult
		return json.Unmarshal(result, &r) == nil && len(r.Prices) == 1+n%5
	}},
	{"networks.list", none, anything},
	{"keys.status", none, anything},
	{"swap.orders", func(int) any { return protocol.OrdersParams{} }, anything},
	{"settings.get", func(int) any { return protocol.SettingsParams{} }, anything},
}

func none(int) any                           { return struct{}{} }
func anything(_ int, r json.RawMessage) bool { return len(r) > 0 }

// startUnderLoad starts a world and a daemon at real pace, and returns once there are prices.
func startUnderLoad(t *testing.T) *home {
	t.Helper()
	startWorld(t)
	setPace(t, 1)
	h := startHome(t)
	w := h.window()
	defer w.closeWindow()
	if !await.Holds(patience, func() bool {
		var r protocol.PricesResult
		w.must("prices.list", protocol.PricesParams{ChainID: mainnet}, &r)
		return len(r.Prices) > 5 && !r.Fetched.IsZero()
	}) {
		t.Fatalf("no prices\n%s", h.Log())
	}
	return h
}

// idleFigures returns the daemon's figures once its start-up work is done.
func (h *home) idleFigures() (now failpoint.ResourceUsage) {
	h.t.Helper()
	last, same := h.figures(), 0
	for end := time.Now().Add(patience); same < 3 && time.Now().Before(end); last = now {
		time.Sleep(time.Second)
		now = h.figures()
		if same++; now.Heap > last.Heap+mebi/16 || now.Goroutines > last.Goroutines {
			same = 0
		}
	}
	return last
}

// awaitRelease waits until the daemon's figures are back near before. The heap may be 2 MiB
// larger, because Go keeps 480 bytes for each goroutine of the highest number there ever
// was: 1.5 MiB for what 50 relays may have running at once, however many requests there
// were.
func (h *home) awaitRelease(before failpoint.ResourceUsage) (now failpoint.ResourceUsage) {
	h.t.Helper()
	if !await.Holds(patience, func() bool {
		now = h.figures()
		return now.Goroutines <= before.Goroutines+12 && now.Descriptors <= before.Descriptors+8 && now.Heap <= before.Heap+2*mebi && now.RSS <= before.RSS+16*mebi
	}) {
		h.t.Errorf("it was %s\nand stays %s", formatFigures(before), formatFigures(now))
	}
	return now
}

func formatFigures(f failpoint.ResourceUsage) string {
	return fmt.Sprintf("RSS %s (peak %s), heap %s, %d goroutines, %d descriptors", mib(float64(f.RSS)), mib(float64(f.Peak)), mib(float64(f.Heap)), f.Goroutines, f.Descriptors)
}

// TestLoad checks that 50 relays with 200 requests in flight get every answer exactly once.
func TestLoad(t *testing.T) {
	h := startUnderLoad(t)
	runLoads(t, h, loadsOf(relays, inFlight)) // so that one-time allocations are made
	before := h.idleFigures()
	loads := loadsOf(relays, scaled(4000))
	took, lasted := runLoads(t, h, loads)
	results, busy := 0, 0
	for _, l := range loads {
		results, busy = results+l.count(""), busy+l.count("busy")
	}
	if results+busy != len(took) || busy > 0 {
		t.Errorf("%d results and %d busy of %d requests: as many as may wait are in flight, and none is to be refused", results, busy, len(took))
	}
	after := h.awaitRelease(before)
	logTable(t, fmt.Sprintf("%d relays, %d requests in flight each: %d answers, %.0f/s; %s\nbefore: %s\nafter: %s\n",
		relays, inFlight, len(took), float64(len(took))/lasted.Seconds(), took, formatFigures(before), formatFigures(after)))
}

func loadsOf(n, total int) (all []*load) {
	for range n {
		all = append(all, &load{total: total, inFlight: inFlight, questions: questions})
	}
	return all
}

// checkServed checks that every request got a result: an error would be a fast answer too.
func checkServed(t *testing.T, loads []*load) {
	t.Helper()
	for i, l := range loads {
		if n := l.count(""); n != l.total {
			t.Errorf("relay %d has %d results of %d, and %d times busy", i, n, l.total, l.count("busy"))
		}
	}
}

// TestLoadTooMuch checks that requests over a connection's limit are refused as busy and
// all others are answered, those of other connections too.
func TestLoadTooMuch(t *testing.T) {
	h := startUnderLoad(t)
	before := h.idleFigures()
	slow := []question{{"tokens.balances", func(n int) any {
		return protocol.BalancesParams{Account: protocol.Address(world.Accounts()[n%5].Address.Hex()), ChainID: mainnet}
	}, func(n int, result json.RawMessage) bool {
		var r protocol.BalancesResult
		return json.Unmarshal(result, &r) == nil && len(r.Balances) > 0
	}}}
	const over = 2 * (protocol.MaxRunning + protocol.MaxQueued)
	greedy := &load{total: over, inFlight: over, questions: slow}
	modest := loadsOf(5, scaled(4000))
	took, _ := runLoads(t, h, append(slices.Clone(modest), greedy))
	if results, busy := greedy.count(""), greedy.count("busy"); results+busy != over || busy == 0 || results < protocol.MaxRunning {
		t.Errorf("%d results and %d busy of %d requests", results, busy, over)
	}
	checkServed(t, modest)
	after := h.awaitRelease(before)
	logTable(t, fmt.Sprintf("one relay with %d slow requests in flight: %d answered, %d refused as busy; five others beside it: %s\nafter: %s\n",
		over, greedy.count(""), greedy.count("busy"), took[:len(took)-over], formatFigures(after)))
}
