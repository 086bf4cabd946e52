package engine

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// depositedOrder accepts a swap of the broker's across the two chains and moves it until its
// input is deposited and the broker informed.
func (m *model) depositedOrder(in, out common.Address) string {
	r, ok := m.review(swap.QuoteRequest{Account: m.who[0], SrcChain: 1, DstChain: 8453, TokenIn: in, TokenOut: out, AmountIn: big.NewInt(1e17), SlippageBps: 50}, swap.Intent)
	if !ok {
		m.t.Fatal("no review")
	}
	m.execute(r, false)
	all := m.orders()
	id := all[len(all)-1].ID
	for range 12 {
		if o := m.order(id); o.State == swap.Settling {
			return id
		}
		m.run(8)
		m.restart()
		for _, c := range m.chains {
			c.mine(time.Now(), false)
		}
	}
	m.t.Fatalf("never told: %+v", m.order(id))
	return id
}

// TestDepositedOnce checks that the input is deposited once, however often the process ends,
// and that a solver's payment ends the order while a stranger's does not.
func TestDepositedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		in    common.Address
		wraps bool
	}{"token": {usdc, false}, "token with a reset": {usdt, false}, "coin": {chain.Native, false}, "coin, wrapped": {chain.Native, true}} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []swap.State{swap.Filled, swap.Refunded} {
				scene(t, func(m *model) {
					m.broker.wraps = tc.wraps
					id := m.depositedOrder(tc.in, usdt)
					m.advance(time.Minute)
					o := m.order(id)
					if m.chainOutcomeOf(o, m.records()).taken != 1 || o.State != swap.Settling || o.Wrapped != tc.wraps {
						t.Fatalf("%s, handed over %d times", o.State, m.chainOutcomeOf(o, m.records()).taken)
					}
					x := m.fillOf(o)
					if end == swap.Refunded {
						x = m.refundOf(o)
					}
					by := x.by
					x.by, x.hash = thief, bidHash("a stranger's")
					x.chain.paid(x)
					m.advance(time.Minute)
					m.ended(id, swap.Settling)
					x.by, x.hash = by, bidHash("the solver's")
					x.chain.paid(x)
					m.advance(time.Minute)
					m.ended(id, end)
					if v := m.order(id).Verdict; v.BelowMinimum || v.Received.Amount.Uint64() != x.amount {
						t.Errorf("%+v", v)
					}
				})
			}
		})
	}
}

// TestHostLiesForTheBroker checks that a call that takes something else is not reviewed
// if one of the two hosts lies for the broker, whichever and about whatever.
func TestHostLiesForTheBroker(t *testing.T) {
	for mood, lie := range brokerMoods {
		if lie.call == nil {
			continue
		}
		for _, about := range modelLies {
			for liar := 1; liar <= len(modelHosts); liar++ {
				scene(t, func(m *model) {
					c := m.chains[0]
					if strings.HasPrefix(mood, "greedy") { // gives it something to take
						m.sendFromOtherWallet(c, 0, 0, 100, usdt, allowsTheVault)
						c.mine(time.Now(), false)
					}
					m.broker.mood, c.liar, c.about = mood, liar, about
					for _, in := range []common.Address{usdc, chain.Native} {
						if _, ok := m.review(swap.QuoteRequest{Account: m.who[0], SrcChain: 1, DstChain: 8453, TokenIn: in, TokenOut: usdt, AmountIn: big.NewInt(1e17), SlippageBps: 50}, swap.Intent); ok {
							t.Errorf("%s, and host %d lies about %q: reviewed", mood, liar, about)
						}
					}
					m.broker.mood = ""
				})
			}
		}
	}
}
