package engine

import (
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestSeenIsKept checks that a candidate payment is stored with the order and replaced
// only by one that fits the provider's claim better.
func TestSeenIsKept(t *testing.T) {
	c, id := newDepositFixture(t, 1, nil) // with two hosts the named one would be likely
	first := c.dst.mineFinal(arrival(1, stranger, 1001))
	c.claimEnd(swap.Filled, common.Hash{}, 0)
	wants := func(when string, end swap.State, chainID uint64, tx common.Hash, token common.Address, amount int64) {
		t.Helper()
		o := c.pollRepeatedly(id)
		s := o.Candidate
		if o.Condition != swap.PaymentSeen || o.Verdict != nil || s == nil {
			t.Fatalf("%s: %q, %+v, %+v", when, o.Condition, o.Verdict, s)
		}
		if s.End != end || s.Chain != chainID || s.Tx != tx || s.Token != token || s.From != stranger || s.Amount.Int64() != amount || s.Time.IsZero() {
			t.Errorf("%s: %+v", when, s)
		}
	}
	wants("found", swap.Filled, dstChain, first, outside, 1001)
	revision := c.get(id).Revision
	wants("again", swap.Filled, dstChain, first, outside, 1001)
	if o := c.get(id); o.Revision != revision {
		t.Errorf("revision %d after %d: it was recorded again", o.Revision, revision)
	}
	c.restart()
	if s := c.get(id).Candidate; s == nil || s.Tx != first {
		t.Fatalf("after a restart: %+v", s)
	}
	wants("after a restart", swap.Filled, dstChain, first, outside, 1001)

	c.dst.mineFinal(arrival(2, stranger, 1002))
	wants("another one", swap.Filled, dstChain, first, outside, 1001)
	named := c.dst.mineFinal(arrival(3, stranger, 1003))
	c.edit(id, func(o *swap.Order) { o.Claim = nil })
	c.claimEnd(swap.Filled, named, dstChain)
	wants("the named one", swap.Filled, dstChain, named, outside, 1003)
	c.src.mineFinal(refund(4, stranger, 5000))
	wants("a refund that nobody told", swap.Filled, dstChain, named, outside, 1003)
	back := c.src.mineFinal(refund(5, stranger, 5001))
	c.edit(id, func(o *swap.Order) { o.Claim = nil })
	c.claimEnd(swap.Refunded, back, srcChain)
	wants("the refund that is told", swap.Refunded, srcChain, back, usdc, 5001)

	c.dst.mineFinal(arrival(6, solver, 1000))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, swap.OneHost)
}

// edit changes an order as a later claim of the provider would.
func (c *proofFixture) edit(id string, change func(*swap.Order)) {
	c.t.Helper()
	o := c.get(id)
	change(&o)
	if err := c.engine.Journal.Update(&o, swap.NewCause("changed")); err != nil {
		c.t.Fatal(err)
	}
}
