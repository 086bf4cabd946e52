package engine

import (
	"errors"
	"math/big"
	"testing"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

// namePayments makes the provider claim that each order was filled by its transaction.
func (c *proofFixture) namePayments(txs map[string]common.Hash) {
	c.provider.claims = func(o swap.Order) (swap.Claim, error) {
		return swap.Claim{State: swap.Filled, Tx: txs[o.ID], Chain: dstChain}, nil
	}
}

// wantCondition polls an order and checks its condition.
func (c *proofFixture) wantCondition(id string, want swap.Condition) swap.Order {
	c.t.Helper()
	o := c.pollRepeatedly(id)
	if o.Condition != want || o.Verdict != nil || o.Ended() != (want == swap.LikelyPaid) {
		c.t.Errorf("order %s: %s %q, ended %t, want %q; logged %q", id, o.State, o.Condition, o.Ended(), want, c.logged)
	}
	return o
}

// TestLikelyPaidOnce checks that of two equal orders one is likely paid by a payment, and the
// other one only by the next; and that the first one's record says by which log.
func TestLikelyPaidOnce(t *testing.T) {
	c, first := newDepositFixture(t, 2, nil)
	_, second := withDeposit(c, nil)
	one := c.dst.mineFinal(arrival(1, stranger, 1000))
	c.namePayments(map[string]common.Hash{first: one, second: one})
	o := c.wantCondition(first, swap.LikelyPaid)
	if s := o.Candidate; s.Tx != one || s.Log != (swap.LogRef{Chain: dstChain, Tx: one}) || s.Amount.Int64() != 1000 {
		t.Errorf("seen %+v", s)
	}
	c.wantCondition(second, swap.PaymentSeen)
	c.restart()
	c.wantCondition(second, swap.PaymentSeen)
	c.wantCondition(first, swap.LikelyPaid)
	two := c.dst.mineFinal(arrival(2, stranger, 1000))
	c.namePayments(map[string]common.Hash{first: one, second: two})
	c.wantCondition(second, swap.LikelyPaid)
}

// TestLikelyPaymentReleased checks that a payment by which one order is likely paid proves the
// end of another one whose filler paid it; and that the first is then no longer likely paid.
func TestLikelyPaymentReleased(t *testing.T) {
	c, likely := newDepositFixture(t, 2, nil)
	_, proven := withDeposit(c, nil)
	c.provider.proof = func(o swap.Order) swap.Proof {
		p := arrivalProof(o)
		if o.ID == proven {
			p.Arrival.From = append(p.Arrival.From, stranger)
		}
		return p
	}
	tx := c.dst.mineFinal(arrival(1, stranger, 1000))
	c.namePayments(map[string]common.Hash{likely: tx, proven: tx})
	c.wantCondition(likely, swap.LikelyPaid)
	c.wantVerdict(c.pollRepeatedly(proven), swap.ProvenByArrival, bothAgree)
	c.wantCondition(likely, swap.AwaitingProof)
}

// TestLikelyThenProven checks that a likely payment is not the end: a proof replaces it.
func TestLikelyThenProven(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain)
	c.wantCondition(id, swap.LikelyPaid)
	c.src.mineFinal(refund(2, solver, 4950))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByRefund, bothAgree)
}

// TestUnlikely has the payments that a provider may name and that are not believed.
func TestUnlikely(t *testing.T) {
	paid := func(c *proofFixture, tx ledgerTx) common.Hash { return c.dst.mineFinal(tx) }
	for _, tc := range []struct {
		name  string
		hosts int
		do    func(*proofFixture) common.Hash
		waits swap.Condition
	}{
		{"one host", 1, func(c *proofFixture) common.Hash { return paid(c, arrival(1, stranger, 1000)) }, swap.PaymentSeen},
		{"twice in one transaction", 2, func(c *proofFixture) common.Hash {
			x := arrival(1, stranger, 1000)
			x.logs = append(x.logs, transferLog(outside, stranger, account, 1000))
			return paid(c, x)
		}, swap.PaymentSeen},
		{"once, and a little beside", 2, func(c *proofFixture) common.Hash {
			x := arrival(1, stranger, 1000)
			x.logs = append(x.logs, transferLog(outside, stranger, account, 10))
			return paid(c, x)
		}, swap.LikelyPaid},
		{"a tenth more than was offered", 2, func(c *proofFixture) common.Hash { return paid(c, arrival(1, stranger, 1155)) }, swap.LikelyPaid},
		{"more than that", 2, func(c *proofFixture) common.Hash { return paid(c, arrival(1, stranger, 1156)) }, swap.PaymentSeen},
		{"less", 2, func(c *proofFixture) common.Hash { return paid(c, arrival(1, stranger, 999)) }, swap.AwaitingProof},
		{"by another account of the wallet", 2, func(c *proofFixture) common.Hash {
			c.engine.Mine = func(a common.Address) bool { return a == stranger }
			return paid(c, arrival(1, stranger, 1000))
		}, swap.PaymentSeen},
		{"sent by another account of the wallet", 2, func(c *proofFixture) common.Hash {
			c.engine.Mine = func(a common.Address) bool { return a == router }
			x := arrival(1, stranger, 1000)
			x.from = router
			return paid(c, x)
		}, swap.PaymentSeen},
		{"by the account itself", 2, func(c *proofFixture) common.Hash {
			x := arrival(1, stranger, 1000)
			x.from = account
			return paid(c, x)
		}, swap.AwaitingProof},
		{"reorganised away", 2, func(c *proofFixture) common.Hash {
			tx := paid(c, arrival(1, stranger, 1000))
			c.dst.reorg(ledgerDepth + 1)
			c.dst.mine(ledgerDepth + 1)
			return tx
		}, swap.AwaitingProof},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, tc.hosts)
			c, id := withDeposit(c, func(o *swap.Order) { o.Offer.AmountOut = big.NewInt(1050) })
			tx := tc.do(c)
			c.claimEnd(swap.Filled, tx, dstChain)
			c.wantCondition(id, tc.waits)
		})
	}
}

// TestLikelyPaidTwiceAtOnce checks that two orders which become likely paid by one payment at the
// same time are not both recorded.
func TestLikelyPaidTwiceAtOnce(t *testing.T) {
	c, first := newDepositFixture(t, 2, nil)
	_, second := withDeposit(c, nil)
	tx := c.dst.mineFinal(arrival(1, stranger, 1000))
	c.namePayments(map[string]common.Hash{first: tx})
	seen := c.wantCondition(first, swap.LikelyPaid).Candidate
	o := c.get(second)
	o.Condition, o.Candidate = swap.LikelyPaid, seen
	if err := c.engine.Journal.Update(&o, swap.WaitCause(swap.LikelyPaid)); !errors.Is(err, journal.ErrProofUsed) {
		t.Errorf("recorded with %v", err)
	}
}
