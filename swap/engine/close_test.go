package engine

import (
	"errors"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// closeOrder asks for an order to be closed, as the user does.
func (c *proofFixture) closeOrder(id, request string) (swap.Order, error) {
	s := &Service{o: Options{Journal: c.engine.Journal, Confirmer: ByCall{}, Now: c.engine.Now}, engine: c.engine}
	return s.Close(c.t.Context(), CloseRequest{Caller: passwordCaller, Request: request, Order: id, Digest: c.get(id).Digest})
}

// TestClose checks that a deposit whose end nothing proves can be closed once four times its
// expected duration has passed since it was mined, at least 30 minutes and at most eight hours;
// and that what was known then is recorded.
func TestClose(t *testing.T) {
	for _, tc := range []struct {
		name string
		says time.Duration
		wait time.Duration
	}{
		{"a quick route", time.Minute, 30 * time.Minute},
		{"a slow route", time.Hour, 4 * time.Hour},
		{"a route that says too much", 1000 * time.Hour, 8 * time.Hour},
	} {
		c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Offer.Duration = tc.says })
		c.claimEnd(swap.Failed, common.Hash{}, 0)
		o := c.pollRepeatedly(id)
		at := o.Created
		if mined := o.Results[len(o.Results)-1].Evidence.Time; mined.After(at) {
			at = mined
		}
		c.now = at.Add(tc.wait - time.Second)
		_, err := c.closeOrder(id, uuid.NewString())
		var refused *swap.Refusal
		if !errors.As(err, &refused) || refused.Code != swap.CannotClose || refused.Data["from"] != at.Add(tc.wait).UTC().Format(time.RFC3339) {
			t.Fatalf("%s, a second too early: %v", tc.name, err)
		}
		c.now = at.Add(tc.wait)
		o = c.pollRepeatedly(id)
		request := uuid.NewString()
		closed, err := c.closeOrder(id, request)
		if err != nil || closed.State != swap.Closed || closed.Condition != swap.NoCondition || closed.Final() || !closed.Ended() || !closed.Watched() {
			t.Fatalf("%s: %s %q, %v", tc.name, closed.State, closed.Condition, err)
		}
		said := closed.Closing
		if said == nil || said.By != swap.ClosedByPerson || !said.At.Equal(c.now) || said.Claim == nil || said.Claim.State != swap.Failed || said.Searched[dstChain] == 0 || said.Searched[srcChain] == 0 {
			t.Errorf("%s: %+v", tc.name, said)
		}
		if again, err := c.closeOrder(id, request); err != nil || again.Revision != closed.Revision {
			t.Errorf("%s, repeated: revision %d after %d, %v", tc.name, again.Revision, closed.Revision, err)
		}
		_, err = c.closeOrder(id, uuid.NewString())
		refusedWith(t, err, swap.OrderFinal)
		s := &Service{o: Options{Journal: c.engine.Journal, Confirmer: ByCall{}, Now: c.engine.Now, Nodes: c.engine.Nodes}, engine: c.engine}
		_, err = s.Cancel(t.Context(), CancelRequest{Caller: passwordCaller, Request: uuid.NewString(), Order: id, Digest: closed.Digest})
		refusedWith(t, err, swap.OrderFinal)
		if n, err := c.engine.Journal.CountActive([]string{id}); err != nil || n != 0 {
			t.Errorf("%s: %d active, %v", tc.name, n, err)
		}
	}
}

// TestCloseRefused checks that an order which the chain will end is not closed: one of which
// nothing was handed over, and a signed one.
func TestCloseRefused(t *testing.T) {
	c := newProofFixture(t, 2)
	signed := c.order(nil)
	c, deposit := withDeposit(c, func(o *swap.Order) { o.State = swap.Executing })
	c.now = c.now.Add(100 * time.Hour)
	for _, id := range []string{signed, deposit} {
		_, err := c.closeOrder(id, uuid.NewString())
		refusedWith(t, err, swap.CannotClose)
	}
}

// endedNodes are nodes of a chain that was shut down.
type endedNodes struct{ Nodes }

func (n endedNodes) Network(id uint64) (chain.Network, error) {
	net, err := n.Nodes.Network(id)
	if id == srcChain {
		net.Ended = time.Date(2026, 8, 15, 0, 0, 0, 0, time.UTC)
	}
	return net, err
}

// TestCloseOnAnEndedChain checks that on a chain that was shut down any open order can be closed at
// once, wherever it stands; that nothing is asked about it, or done for it, afterwards; and that of
// a deposit, whose end the other chain may show, only the wait ends.
func TestCloseOnAnEndedChain(t *testing.T) {
	for _, state := range []swap.State{swap.Accepted, swap.Approving, swap.Executing, swap.Submitting, swap.Settling} {
		for _, condition := range []swap.Condition{swap.NoCondition, swap.NeedsConsent, swap.WaitingForUnlock, swap.RecordTampered} {
			c := newProofFixture(t, 2)
			id := c.order(func(o *swap.Order) {
				o.State, o.Condition, o.Cancel = state, condition, true
				if state != swap.Settling && state != swap.Submitting {
					o.Step, o.Results = 0, nil
				}
			})
			_, err := c.closeOrder(id, uuid.NewString())
			refusedWith(t, err, swap.CannotClose)
			c.engine.Nodes = endedNodes{c.engine.Nodes}
			closed, err := c.closeOrder(id, uuid.NewString())
			if err != nil || closed.State != swap.Closed || !closed.Ended() || closed.Watched() || closed.Cancel || (closed.Condition != swap.NoCondition) != (condition == swap.RecordTampered) {
				t.Fatalf("%s %q: %s %q, %+v, %v", state, condition, closed.State, closed.Condition, closed.Closing, err)
			}
			if open, err := c.engine.Journal.Open(); err != nil || len(open) != 0 {
				t.Errorf("%s: open %v, %v", state, open, err)
			}
			c.provider.claims = func(swap.Order) (swap.Claim, error) {
				t.Error("the provider was asked")
				return swap.Claim{}, nil
			}
			c.engine.Unlocked = func() bool { t.Error("the keys were asked for"); return true }
			if pause, ended := c.engine.poll(t.Context(), &inProgress{id: id}, &progress{}); !ended {
				t.Errorf("%s: polled again after %s", state, pause)
			}
		}
	}
	c, id := newDepositFixture(t, 2, nil)
	c.engine.Nodes = endedNodes{c.engine.Nodes}
	if o, err := c.closeOrder(id, uuid.NewString()); err != nil || o.State != swap.Closed || !o.Watched() {
		t.Errorf("deposit: %s, %+v, %v", o.State, o.Closing, err)
	}
}

// closedDeposit returns a closed deposit.
func closedDeposit(t *testing.T, change func(*swap.Order)) (*proofFixture, string) {
	c, id := newDepositFixture(t, 2, change)
	c.pollRepeatedly(id)
	c.now = c.now.Add(time.Hour)
	if _, err := c.closeOrder(id, uuid.NewString()); err != nil {
		t.Fatal(err)
	}
	return c, id
}

// TestCloseOfATamperedOrder checks that closing an order hides no other condition.
func TestCloseOfATamperedOrder(t *testing.T) {
	c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Condition = swap.RecordTampered })
	c.now = c.now.Add(time.Hour)
	o, err := c.closeOrder(id, uuid.NewString())
	if err != nil || o.State != swap.Closed || !o.Tampered() {
		t.Fatalf("%s %q, %v", o.State, o.Condition, err)
	}
	if o = c.pollRepeatedly(id); !o.Tampered() {
		t.Errorf("after a poll: %s %q", o.State, o.Condition)
	}
}

// TestProofAfterClose checks that a proof ends an order that was closed, also after a restart,
// and that what was known when it was closed stays.
func TestProofAfterClose(t *testing.T) {
	for by, pay := range map[string]func(*proofFixture){
		swap.ProvenByArrival: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) },
		swap.ProvenByRefund:  func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 4950)) },
	} {
		c, id := closedDeposit(t, nil)
		if o := c.pollRepeatedly(id); o.State != swap.Closed || o.Verdict != nil {
			t.Fatalf("%s before the payment", o.State)
		}
		c.restart()
		pay(c)
		o := c.pollRepeatedly(id)
		c.wantVerdict(o, by, bothAgree)
		if o.Closing == nil || o.Closing.By != swap.ClosedByPerson {
			t.Errorf("%s: closing %+v", by, o.Closing)
		}
	}
}

// TestLikelyAfterClose checks that the payment which the provider names later shows with a
// closed order.
func TestLikelyAfterClose(t *testing.T) {
	c, id := closedDeposit(t, nil)
	c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain)
	if o := c.pollRepeatedly(id); o.State != swap.Closed || o.Condition != swap.LikelyPaid || o.Candidate == nil {
		t.Errorf("%s %q", o.State, o.Condition)
	}
}

// TestClosedByAge checks that after 30 days an order is closed by itself, whatever it waits for,
// and asked about no more; and that one closed before is then asked about no more either.
func TestClosedByAge(t *testing.T) {
	month := 30*24*time.Hour + time.Minute
	for name, make := range map[string]func(*testing.T) (*proofFixture, string){
		"silent": func(t *testing.T) (*proofFixture, string) { return newDepositFixture(t, 2, nil) },
		"failed, as the provider says": func(t *testing.T) (*proofFixture, string) {
			c, id := newDepositFixture(t, 2, nil)
			c.claimEnd(swap.Failed, common.Hash{}, 0)
			return c, id
		},
		"likely paid": func(t *testing.T) (*proofFixture, string) {
			c, id := newDepositFixture(t, 2, nil)
			c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain)
			return c, id
		},
		"closed": func(t *testing.T) (*proofFixture, string) { return closedDeposit(t, nil) },
	} {
		c, id := make(t)
		before := c.pollRepeatedly(id)
		if !before.Watched() {
			t.Fatalf("%s: not watched", name)
		}
		c.now = c.now.Add(month)
		if o := c.pollRepeatedly(id); o.State != before.State || !o.Watched() {
			t.Errorf("%s, within ten minutes: %s, watched %t", name, o.State, o.Watched())
		}
		c.now = c.now.Add(lateLooksFor)
		o := c.pollRepeatedly(id)
		want := swap.ClosedByAge
		if before.State == swap.Closed {
			want = swap.ClosedByPerson
		}
		if o.State != swap.Closed || o.Watched() || !o.Ended() || o.Final() || o.Closing.By != want {
			t.Errorf("%s: %s, %+v", name, o.State, o.Closing)
		}
		if open, err := c.engine.Journal.Open(); err != nil || len(open) != 0 {
			t.Errorf("%s: open %v, %v", name, open, err)
		}
		c.restart()
		if open, err := c.engine.Journal.Open(); err != nil || len(open) != 0 {
			t.Errorf("%s, after a restart: open %v, %v", name, open, err)
		}
	}
}
