package chain

import (
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/test/await"
)

// watching collects the prices that a watcher gets.
type watching struct {
	mu     sync.Mutex
	prices []GasPrice
	more   chan struct{}
}

func watch(t *testing.T, h *MultiClient, id uint64) (*watching, context.CancelFunc) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &watching{more: make(chan struct{}, 100)}
	if err := h.WatchGas(ctx, id, func(g GasPrice) {
		w.mu.Lock()
		w.prices = append(w.prices, g)
		w.mu.Unlock()
		w.more <- struct{}{}
	}); err != nil {
		t.Fatal(err)
	}
	return w, stop
}

// next waits for the next price.
func (w *watching) next(t *testing.T) GasPrice {
	t.Helper()
	select {
	case <-w.more:
	case <-time.After(5 * time.Second):
		t.Fatal("no gas price arrived")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prices[len(w.prices)-1]
}

// TestWatchGas checks that all watchers of a network share one poller and get each new
// head once, and that they get nothing without a new head or after they stop.
func TestWatchGas(t *testing.T) {
	key := newTestKey(t, "gas")
	alloc := funded(key.addr)
	alloc[gasPriceOracle] = types.Account{Balance: new(big.Int), Code: constantCode(bigHash(4321))}
	c := newTestChain(t, base, alloc)
	h := newTestClient(t, base, 1, c.serve(t))
	h.watches.every = 2 * time.Millisecond
	if err := h.WatchGas(t.Context(), 1, func(GasPrice) {}); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("no network: %v", err)
	}
	// A watcher that never returns from its first price delays no other.
	stuck := make(chan struct{})
	if err := h.WatchGas(t.Context(), base, func(GasPrice) { <-stuck }); err != nil {
		t.Fatal(err)
	}
	defer close(stuck)
	a, stopA := watch(t, h, base)
	defer stopA()
	first := a.next(t)
	if first.Chain != base || first.Block != 1 || first.BaseFee.Sign() <= 0 || first.NextBaseFee.Sign() <= 0 || first.Time.IsZero() || first.L1 != L1FeeOP || first.L1Fee.Int64() != 4321 {
		t.Errorf("first = %+v", first)
	}
	network, _ := NetworkByID(base)
	checkTiers(t, network, first)
	b, stopB := watch(t, h, base)
	if got := b.next(t); got.Block != first.Block {
		t.Errorf("the second watcher begins with block %d", got.Block)
	}
	histories := c.count("eth_feeHistory")
	time.Sleep(20 * time.Millisecond) // time for something that must not happen
	if n := c.count("eth_feeHistory"); n != histories {
		t.Errorf("%d prices for a head that stands", n-histories)
	}
	c.Commit()
	for _, w := range []*watching{a, b} {
		if got := w.next(t); got.Block != 2 {
			t.Errorf("pushed block %d", got.Block)
		}
	}
	if n := c.count("eth_feeHistory") - histories; n != 1 {
		t.Errorf("%d prices for one head and three watchers", n)
	}
	stopB()
	c.Commit()
	if got := a.next(t); got.Block != 3 || len(b.more) != 0 {
		t.Errorf("block %d; %d for who has left", got.Block, len(b.more))
	}
}

// TestWatchGasEnds checks that the poller ends with its last watcher, and with the hub.
func TestWatchGasEnds(t *testing.T) {
	c := newTestChain(t, base, types.GenesisAlloc{})
	h := newTestClient(t, base, 1, c.serve(t))
	h.watches.every = time.Millisecond
	w, stop := watch(t, h, base)
	w.next(t)
	stop()
	ended := func() bool {
		h.watches.mu.Lock()
		defer h.watches.mu.Unlock()
		return len(h.watches.running) == 0
	}
	await.Until(t, 10*time.Second, "the poller's end", ended)
	h.watches.pollers.Wait()
	w, stop = watch(t, h, base)
	defer stop()
	if g := w.next(t); g.Block == 0 {
		t.Errorf("watching again: %+v", g)
	}
	h.Close()
	if !ended() {
		t.Error("the poller goes on after the hub is closed")
	}
	if err := h.WatchGas(t.Context(), base, func(GasPrice) {}); err == nil {
		t.Error("WatchGas on a closed client succeeded")
	}
}

// TestWatchGasSurvivesAnOutage checks that nothing is pushed without a node, and that the
// next head after the outage is.
func TestWatchGasSurvivesAnOutage(t *testing.T) {
	c := newTestChain(t, base, types.GenesisAlloc{})
	h := newTestClient(t, base, 1, c.serve(t))
	h.watches.every = 2 * time.Millisecond
	w, stop := watch(t, h, base)
	defer stop()
	w.next(t)
	heads, networks := c.count("eth_getBlockByNumber"), c.count("eth_chainId")
	c.set(down, nil)
	c.Commit()
	await.Until(t, 10*time.Second, "two questions in the outage", func() bool { // after the first, its network is asked again
		return c.count("eth_getBlockByNumber") > heads && c.count("eth_chainId") > networks
	})
	c.set(nil, nil)
	if g := w.next(t); g.Block != 2 {
		t.Errorf("block %d", g.Block)
	}
}
