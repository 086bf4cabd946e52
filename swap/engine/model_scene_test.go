package engine

import (
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// scene plays one scripted case in the model, with the checks of the random ones.
func scene(t *testing.T, play func(m *model)) {
	oneGoroutine(t)
	path := filepath.Join(t.TempDir(), "orders.db")
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t, path, map[string]int{})
		defer func() { _ = m.db.Close() }()
		play(m)
		m.finish(0)
	})
}

// swapOn accepts a swap of 1e17 base units by the first account on the first chain.
func (m *model) swapOn(in, out common.Address) string {
	r, ok := m.review(swap.QuoteRequest{Account: m.who[0], SrcChain: 1, DstChain: 1, TokenIn: in, TokenOut: out, AmountIn: big.NewInt(1e17), SlippageBps: 50}, swap.DEX)
	if !ok {
		m.t.Fatal("no review")
	}
	m.execute(r, false)
	all := m.orders()
	return all[len(all)-1].ID
}

func (m *model) ended(id string, want swap.State) {
	if o := m.order(id); o.State != want {
		m.t.Fatalf("%s, want %s: %s", o.State, want, o.Reason)
	}
}

// TestRejectedIndistinguishable covers a wrap that every node refuses, so that its nonce is free
// again. A second wrap of the same amount has the same bytes, which fill one order only.
func TestRejectedIndistinguishable(t *testing.T) {
	scene(t, func(m *model) {
		c := m.chains[0]
		c.send = "refused"
		first := m.swapOn(chain.Native, c.net.WrappedNative)
		m.run(8)
		c.heal()
		time.Sleep(time.Second)
		second := m.swapOn(chain.Native, c.net.WrappedNative)
		m.settle(nil)
		if a, b := recordsOf(m.order(first), m.records()), recordsOf(m.order(second), m.records()); a[0].Last().Hash != b[0].Last().Hash {
			t.Fatal("not the same bytes")
		}
		m.check()
		m.ended(second, swap.Filled)
		m.finish(0)
		m.ended(first, swap.Expired)
	})
}

// TestDeadlinePassesWithinAMove checks that nothing is signed after the deadline,
// whichever request takes too long after the last check of the clock.
func TestDeadlinePassesWithinAMove(t *testing.T) {
	for _, auction := range []bool{false, true} {
		for place := 1; place <= 12; place++ {
			scene(t, func(m *model) {
				m.dealer.auction = auction
				id := m.swapOn(usdc, m.chains[0].net.WrappedNative)
				m.signer.locked = true
				m.run(8)
				time.Sleep(time.Until(m.order(id).Terms.Deadline) - time.Minute)
				m.signer.locked = false
				for o := m.order(id); o.Step == 0; o = m.order(id) { // up to its permit, or its signed order
					m.move(id)
					m.chains[0].mine(time.Now(), false)
				}
				time.Sleep(time.Until(m.order(id).Terms.Deadline) - time.Second)
				m.faults.actIn, m.faults.act = place, func(bool) { time.Sleep(2 * time.Second) }
				m.run(8)
				m.check()
			})
		}
	}
}

// oneGoroutine marks a test that moves orders one after the other in its own goroutine. The
// race detector's stage leaves it out, and the Makefile's WHOLE runs it. testing.Short would
// do the same, and also cut rapid's random tests to a tenth.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if os.Getenv("SKIP_ONE_GOROUTINE") != "" {
		t.Skip("moves orders in one goroutine: run without SKIP_ONE_GOROUTINE")
	}
}
