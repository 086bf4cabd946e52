package host

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/test/await"
)

// TestClientNumbers checks that all connections of a process share one client number as long as
// it has any. Other processes, connections of unknown processes and a later process with
// the same id get others.
func TestClientNumbers(t *testing.T) {
	var process atomic.Int64
	var mu sync.Mutex
	var last uint64
	r := newRig(t, func(c *Config) {
		c.Process = func(net.Conn) int { return int(process.Load()) }
		c.WithClient = func(ctx context.Context, asker uint64) context.Context {
			mu.Lock()
			defer mu.Unlock()
			last = asker
			return ctx
		}
	})
	asker := func(p *peer) uint64 {
		t.Helper()
		p.must("keys.status", nil)
		mu.Lock()
		defer mu.Unlock()
		return last
	}
	open := func(of int64) (*peer, uint64) {
		t.Helper()
		process.Store(of)
		p := r.attach("terminal")
		return p, asker(p)
	}
	one, first := open(1234)
	two, same := open(1234)
	_, other := open(5678)
	_, unknown := open(0)
	_, unknownToo := open(0)
	if first != same || asker(one) != first || first == other || unknown == unknownToo || unknown == first || unknownToo == other {
		t.Errorf("%d and %d of one, %d of another, %d and %d of who is not known", first, same, other, unknown, unknownToo)
	}
	_ = one.nc.Close()
	if again := asker(two); again != first {
		t.Errorf("after one connection ended: %d, was %d", again, first)
	}
	_ = two.nc.Close()
	await.Until(t, 10*time.Second, "both are gone", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return r.server.connectionsOf(1234) == 0
	})
	if _, later := open(1234); later == first {
		t.Errorf("a later process of the same id is %d too", later)
	}
}
