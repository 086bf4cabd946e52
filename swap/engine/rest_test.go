package engine

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/test/await"
)

// TestOrdersAtRest checks that a waiting order keeps little in memory, however long its
// provider's data is.
func TestOrdersAtRest(t *testing.T) {
	const (
		many      = 100
		words     = 64 << 10
		mostStack = 8 << 10   // a poll takes 16 KiB and more
		mostHeap  = words / 2 // the chain runs in this process too
	)
	b := newEngineFixture(t)
	b.service.engine.Pause = func(time.Duration) time.Duration { return time.Hour }
	b.signer.locked.Store(true)
	rest := func(n int) {
		var ids []string
		for range n {
			ids = append(ids, b.order(func(_ *swap.Terms, o *swap.Offer) { o.Raw = json.RawMessage(`"` + strings.Repeat("x", words) + `"`) }).ID)
		}
		for _, id := range ids {
			b.waitUntil(id, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
		}
	}
	inUse := func() (m runtime.MemStats) {
		for range 6 { // each halves the stacks that are too large
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m
	}
	rest(1) // things that are made only once
	before := inUse()
	rest(many)
	var stack, heap int64
	little := await.Holds(5*time.Second, func() bool { // polls may still be running; what waits stays
		after := inUse()
		stack, heap = (int64(after.StackInuse)-int64(before.StackInuse))/many, (int64(after.HeapAlloc)-int64(before.HeapAlloc))/many
		return stack <= mostStack && heap <= mostHeap
	})
	t.Logf("%d bytes of stack and %d of heap for each of %d orders", stack, heap, many)
	if !little {
		t.Errorf("each order that rests takes %d bytes of stack and %d of heap", stack, heap)
	}
}
