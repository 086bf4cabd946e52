package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/google/uuid"
)

// submittedBid accepts an order that others fill, of a token or of the coin, and moves it
// until it is submitted to the dealer.
func (m *model) submittedBid(coin bool) string {
	m.dealer.auction = true
	c := m.chains[0]
	in, out := usdc, c.net.WrappedNative
	if coin {
		in, out = chain.Native, usdc
	}
	id := m.swapOn(in, out)
	for range 10 {
		if m.order(id).Submission != nil {
			return id
		}
		m.run(8)
		c.mine(time.Now(), false)
	}
	m.t.Fatalf("never told: %+v", m.order(id))
	return id
}

// advance lets the model run for a while.
func (m *model) advance(d time.Duration) {
	for ; d > 0; d -= 10 * time.Second {
		time.Sleep(10 * time.Second)
		for _, c := range m.chains {
			c.mine(time.Now(), false)
		}
		m.run(8)
		m.check()
	}
}

func (m *model) cancelOrder(id string) error {
	o := m.order(id)
	_, err := m.service.Cancel(context.Background(), CancelRequest{Request: uuid.NewString(), Order: id, Digest: o.Digest, Caller: passwordCaller})
	return err
}

// TestSignedOrderFills checks that an order is signed once, and its coin wrapped once,
// even if the process restarts.
func TestSignedOrderFills(t *testing.T) {
	for name, coin := range map[string]bool{"token": false, "coin": true} {
		t.Run(name, func(t *testing.T) {
			scene(t, func(m *model) {
				id := m.submittedBid(coin)
				m.restart()
				if !m.chains[0].fill(m.chains[0].bids[0]) {
					t.Fatal("not filled")
				}
				m.advance(3 * time.Minute)
				m.ended(id, swap.Filled)
				if o := m.order(id); o.Wrapped != coin || len(m.chains[0].bids) != 1 {
					t.Errorf("%+v", o)
				}
			})
		})
	}
}

// TestWrappedAndNotFilled checks that an unfilled order says that its coin is wrapped.
func TestWrappedAndNotFilled(t *testing.T) {
	scene(t, func(m *model) {
		id := m.submittedBid(true)
		m.advance(20 * time.Minute)
		m.ended(id, swap.Expired)
		if o := m.order(id); !o.Wrapped {
			t.Error("not wrapped")
		}
	})
	scene(t, func(m *model) { // cancelled after its coin was wrapped and before it was signed
		m.dealer.auction = true
		id := m.swapOn(chain.Native, usdc)
		for !m.order(id).Wrapped {
			m.run(1)
			m.chains[0].mine(time.Now(), false)
		}
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.run(8)
		m.ended(id, swap.Cancelled)
		if o := m.order(id); !o.Wrapped || o.Verdict.Sources != swap.WrappedOnly {
			t.Errorf("wrapped: %t, by %q", o.Wrapped, o.Verdict.Sources)
		}
	})
}

// TestSubmittedOnce checks that the dealer has at most one bid, whatever it answers, and that the
// chain decides the order's end.
func TestSubmittedOnce(t *testing.T) {
	for _, c := range []struct {
		mood   string
		takes  bool // the dealer has it in the end
		tries  int  // at least
		closed bool
	}{
		{"", true, 1, true},
		{"answer lost", true, 1, true},
		{"question lost", true, 2, true},
		{"knows nothing", true, 2, true},
		{"refuses", false, 1, true},
		{"refuses, it says", true, 1, true},
		{"down", true, 2, true},
	} {
		t.Run(c.mood, func(t *testing.T) {
			scene(t, func(m *model) {
				bids := &m.chains[0].bids
				m.dealer.auction = true
				id := m.swapOn(usdc, m.chains[0].net.WrappedNative)
				for m.order(id).State != swap.Submitting {
					m.run(1)
					m.chains[0].mine(time.Now(), false)
				}
				m.dealer.mood = c.mood
				m.run(1)
				m.restart()
				m.advance(10 * time.Second)
				m.dealer.mood = ""
				m.advance(20 * time.Second)
				o := m.order(id)
				if o.Submission.Tries < c.tries || o.Submission.Closed() != c.closed || (len(*bids) == 1) != c.takes || len(*bids) > 1 {
					t.Fatalf("%+v, %d bids", o.Submission, len(*bids))
				}
				if !c.takes {
					m.advance(15 * time.Minute)
					m.ended(id, swap.Expired)
					return
				}
				if o.State != swap.Settling || !m.chains[0].fill((*bids)[0]) {
					t.Fatalf("%s, not filled", o.State)
				}
				m.advance(3 * time.Minute)
				m.ended(id, swap.Filled)
			})
		})
	}
}

// TestNotSubmittedTooLate checks that an order that could not be submitted in time is not
// submitted later, and that its end is proven.
func TestNotSubmittedTooLate(t *testing.T) {
	scene(t, func(m *model) {
		m.dealer.auction = true
		id := m.swapOn(usdc, m.chains[0].net.WrappedNative)
		for m.order(id).State != swap.Submitting {
			m.run(1)
			m.chains[0].mine(time.Now(), false)
		}
		m.dealer.mood = "down"
		m.advance(11 * time.Minute)
		m.dealer.mood = ""
		m.advance(3 * time.Minute)
		m.ended(id, swap.Expired)
		if len(m.chains[0].bids) != 0 {
			t.Error("told too late")
		}
	})
}

// TestInvalidated checks that cancelling a signed order invalidates it by a transaction of
// the account's, and that one not submitted yet is not submitted.
func TestInvalidated(t *testing.T) {
	scene(t, func(m *model) {
		id := m.submittedBid(false)
		m.run(8)
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.run(8)
		if o := m.order(id); o.Condition != swap.Cancelling || len(o.Attempts) != 1 {
			t.Fatalf("%s %q, %d attempts", o.State, o.Condition, len(o.Attempts))
		}
		m.restart()
		m.advance(3 * time.Minute)
		m.ended(id, swap.Cancelled)
		if m.chains[0].fill(m.chains[0].bids[0]) {
			t.Error("filled after it was made void")
		}
	})
	scene(t, func(m *model) { // submitted by a version without seals
		id := m.submittedBid(false)
		m.run(8)
		o := m.order(id)
		o.Seal = nil
		if err := m.service.o.Journal.Update(&o, swap.NewCause("test")); err != nil {
			t.Fatal(err)
		}
		m.restart()
		m.run(8)
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.run(8)
		if o := m.order(id); o.Condition != swap.Cancelling || len(o.Attempts) != 1 {
			t.Fatalf("%s %q, %d attempts", o.State, o.Condition, len(o.Attempts))
		}
		m.chains[0].base *= 4 // the cancel is outpriced
		m.advance(3 * time.Minute)
		m.ended(id, swap.Cancelled)
	})
	scene(t, func(m *model) { // filled before the cancel is mined
		id := m.submittedBid(false)
		m.run(8)
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.run(8)
		m.chains[0].fill(m.chains[0].bids[0])
		m.advance(3 * time.Minute)
		m.ended(id, swap.Filled)
	})
	scene(t, func(m *model) { // locked meanwhile, and gas too expensive for the first attempt
		id := m.submittedBid(false)
		m.run(8)
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.signer.locked = true
		m.run(8)
		if o := m.order(id); o.Condition != swap.WaitingForUnlock {
			t.Fatalf("%s %q", o.State, o.Condition)
		}
		m.signer.locked = false
		m.run(8)
		m.chains[0].base *= 4
		m.advance(3 * time.Minute)
		m.ended(id, swap.Cancelled)
	})
	scene(t, func(m *model) {
		m.dealer.auction = true
		id := m.swapOn(usdc, m.chains[0].net.WrappedNative)
		for m.order(id).State != swap.Submitting {
			m.run(1)
			m.chains[0].mine(time.Now(), false)
		}
		if err := m.cancelOrder(id); err != nil {
			t.Fatal(err)
		}
		m.advance(15 * time.Minute)
		m.ended(id, swap.Expired)
		if o := m.order(id); len(m.chains[0].bids) != 0 || len(o.Attempts) != 0 {
			t.Errorf("%d bids, %d attempts", len(m.chains[0].bids), len(o.Attempts))
		}
	})
}

// A uncancelableProvider is a dealer whose orders cannot be invalidated.
type uncancelableProvider struct {
	swap.Provider
	swap.Settler
}

// TestCannotCancel checks that the user is told until when an order lives that cannot be
// cancelled.
func TestCannotCancel(t *testing.T) {
	scene(t, func(m *model) {
		id := m.submittedBid(false)
		m.run(8)
		m.service.o.Providers = map[swap.Kind]swap.Provider{swap.DEX: uncancelableProvider{m.dealer, m.dealer}}
		err := m.cancelOrder(id)
		var refused *swap.Refusal
		if !errors.As(err, &refused) || refused.Code != swap.CannotCancel || refused.Data["until"] != m.order(id).Plan.LastEffect().Deadline.UTC().Format(time.RFC3339) {
			t.Errorf("%v", err)
		}
		if m.order(id).Cancel {
			t.Error("the wish was kept")
		}
		m.service.o.Providers = map[swap.Kind]swap.Provider{swap.DEX: m.dealer}
		time.Sleep(time.Until(m.order(id).Plan.LastEffect().Deadline) - time.Second)
		refusedWith(t, m.cancelOrder(id), swap.CannotCancel)
	})
}
