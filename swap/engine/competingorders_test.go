package engine

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"
)

// competingOrders returns two orders that deposited the same input for different tokens: a
// refund may belong to either.
func competingOrders(t *testing.T) (c *proofFixture, first, second string) {
	c, first = newDepositFixture(t, 2, nil)
	second = c.order(func(o *swap.Order) { c.deposited(o); o.Terms.TokenOut = weth })
	return c, first, second
}

// claimFor makes the provider return claim for one order; its claims for others stay as they
// are.
func (c *proofFixture) claimFor(id string, claim swap.Claim) {
	others := c.provider.claims
	c.provider.claims = func(o swap.Order) (swap.Claim, error) {
		if o.ID == id {
			return claim, nil
		}
		return others(o)
	}
}

// TestRefundOrFill has the contract that took an order's input pay the account just that much,
// which may also fill another order that anybody may fill. It refunds the first once the
// provider says so, or the other one is likely paid otherwise.
func TestRefundOrFill(t *testing.T) {
	fixture := func(t *testing.T, least int64) (c *proofFixture, first, second string) {
		c, first = newDepositFixture(t, 2, nil)
		second = c.order(func(o *swap.Order) {
			c.deposited(o)
			o.Terms.TokenIn, o.Terms.DstChain, o.Terms.TokenOut, o.Terms.MinOut = weth, srcChain, usdc, big.NewInt(least)
			o.Offer.AmountOut = o.Terms.MinOut
		})
		c.provider.proof = func(o swap.Order) swap.Proof {
			p := arrivalProof(o)
			if o.ID == second {
				p.Arrival.From = nil
			}
			return p
		}
		return c, first, second
	}
	t.Run("nobody says which", func(t *testing.T) {
		c, first, _ := fixture(t, 4800)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(first), "", "")
	})
	t.Run("said to be the refund", func(t *testing.T) {
		c, first, _ := fixture(t, 4800)
		c.claimFor(first, swap.Claim{State: swap.Refunded, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByRefund, bothAgree)
	})
	t.Run("a fill said to be a refund with less", func(t *testing.T) {
		c, first, _ := fixture(t, 4000)
		c.claimFor(first, swap.Claim{State: swap.Refunded, Tx: c.src.mineFinal(refund(1, solver, 4000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(first), "", "")
	})
	t.Run("said to be the order's fill", func(t *testing.T) {
		c, first, _ := fixture(t, 4800)
		c.claimFor(first, swap.Claim{State: swap.Filled, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(first), "", "")
	})
	t.Run("the other is likely paid otherwise", func(t *testing.T) {
		c, first, second := fixture(t, 4800)
		c.src.mineFinal(refund(1, solver, 5000))
		c.claimFor(second, swap.Claim{State: swap.Filled, Tx: c.src.mineFinal(refund(2, stranger, 4800)), Chain: srcChain})
		c.wantCondition(second, swap.LikelyPaid)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
		c.claimFor(first, swap.Claim{State: swap.Failed, ProviderStatus: "failed"})
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByRefund, bothAgree)
	})
	t.Run("a refund with less, and a small order is open", func(t *testing.T) {
		c, first, _ := fixture(t, 100)
		c.claimFor(first, swap.Claim{State: swap.Refunded, Tx: c.src.mineFinal(refund(1, solver, 4000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByRefund, bothAgree)
	})
	t.Run("too little for the other", func(t *testing.T) {
		c, first, _ := fixture(t, 5001)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByRefund, bothAgree)
	})
}

// TestAmbiguousRefund checks that a refund that may belong to either of two orders ends neither
// until the provider claims it for one, a second refund arrives or one of them ends otherwise.
func TestAmbiguousRefund(t *testing.T) {
	t.Run("no claim", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		for range 3 {
			c.wantVerdict(c.pollRepeatedly(first), "", "")
			c.wantVerdict(c.pollRepeatedly(second), "", "")
			c.restart()
		}
	})
	t.Run("a final claim", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.claimFor(second, swap.Claim{State: swap.Refunded, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
		c.dst.mineFinal(arrival(1, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
	})
	t.Run("a claim that is not final", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.pollOnce(second)
		c.claimFor(second, swap.Claim{State: swap.Settling, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.pollOnce(second)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
	})
	t.Run("the other order is filled", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(second), "", "")
		c.dst.mineFinal(arrival(1, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
	})
	t.Run("a second refund", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(second), "", "")
		c.src.mineFinal(refund(2, solver, 5000))
		a, b := c.pollRepeatedly(second), c.pollRepeatedly(first)
		c.wantVerdict(a, swap.ProvenByRefund, bothAgree)
		c.wantVerdict(b, swap.ProvenByRefund, bothAgree)
		if a.Verdict.Evidence.Tx == b.Verdict.Evidence.Tx {
			t.Error("both orders end by the same refund")
		}
	})
}

// TestNativeReceivedByFills checks that a verdict reports the native currency that the account
// gained in the block of a fill only if no other of its orders may have been paid in that block.
// So it does not for the order that is proven first: the other is still open then.
func TestNativeReceivedByFills(t *testing.T) {
	nativeFill := func(order, hash byte) ledgerTx {
		tx := fill(0)
		tx.hash, tx.internalTransfers = common.Hash{hash}, map[common.Address]int64{account: 1000}
		tx.logs = tx.logs[1:]
		tx.logs[0].Topics = []common.Hash{filledAs, {order}}
		return tx
	}
	wantNative := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	for name, tc := range map[string]struct {
		blocks   [][]ledgerTx
		reported bool // the amount of the second order
	}{
		"in one block":  {[][]ledgerTx{{nativeFill(1, 1), nativeFill(2, 2)}}, false},
		"in two blocks": {[][]ledgerTx{{nativeFill(1, 1)}, {nativeFill(2, 2)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = fillProof
			first, second := c.order(wantNative), c.order(wantNative)
			for _, txs := range tc.blocks {
				c.src.mine(1, txs...)
			}
			c.src.mine(ledgerDepth)
			for i, id := range []string{first, second} {
				o := c.pollRepeatedly(id)
				c.wantVerdict(o, swap.ProvenByFill, bothAgree)
				if reported := o.Verdict.Received != nil; reported && o.Verdict.Received.Amount.Int64() != 1000 || reported != (tc.reported && i == 1) {
					t.Errorf("order %d received %+v", i+1, o.Verdict.Received)
				}
			}
		})
	}
}

// TestArrivalWithUnreadableOrder has an open order whose record cannot be read, so that it may
// expect the same payment: the payment counts for another only if the provider claims it.
func TestArrivalWithUnreadableOrder(t *testing.T) {
	c, first, second := competingOrders(t)
	if err := c.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte(second), []byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	tx := c.dst.mineFinal(arrival(1, solver, 1000))
	c.wantVerdict(c.pollRepeatedly(first), "", "")
	c.claimFor(first, swap.Claim{State: swap.Filled, Tx: tx, Chain: dstChain})
	c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
}

// TestAmbiguousArrival checks when a payment ends an order although there is another open order,
// which differs from it by one change. It does not if the payment may be the other's. Orders that
// differ only in their minimum are interchangeable: the payment ends one of them.
func TestAmbiguousArrival(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*swap.Order)
		provenBy string // "": the order stays open
	}{
		"another input":           {func(o *swap.Order) { o.Terms.TokenIn = weth }, ""},
		"another amount":          {func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(5001) }, ""},
		"another refund":          {func(o *swap.Order) { o.Terms.RefundTo = stranger }, ""},
		"another minimum":         {func(o *swap.Order) { o.Terms.MinOut = big.NewInt(999) }, swap.ProvenByArrival},
		"half the minimum":        {func(o *swap.Order) { o.Terms.AmountIn, o.Terms.MinOut = big.NewInt(5001), big.NewInt(500) }, swap.ProvenByArrival},
		"another recipient":       {func(o *swap.Order) { o.Terms.Recipient = stranger }, swap.ProvenByArrival},
		"another token":           {func(o *swap.Order) { o.Terms.TokenOut = weth }, swap.ProvenByArrival},
		"not deposited":           {func(o *swap.Order) { o.Results, o.Step, o.State = nil, 0, swap.Executing }, swap.ProvenByArrival},
		"settled by its own call": {func(o *swap.Order) { o.Plan.Settlement = swap.ByOwnCall }, swap.ProvenByArrival},
		"signed":                  {func(o *swap.Order) { o.Plan.Steps[0].Effect.Kind = swap.Signed }, swap.ProvenByArrival},
		"deposited later":         {func(o *swap.Order) { o.Results[0].Evidence.Time = o.Results[0].Evidence.Time.Add(time.Hour) }, swap.ProvenByArrival},
		"awaiting proof":          {func(o *swap.Order) { o.Terms.AmountIn, o.Condition = big.NewInt(5001), swap.AwaitingProof }, ""},
		"deposit not final": {func(o *swap.Order) {
			o.Results, o.Step, o.State, o.Terms.AmountIn = nil, 0, swap.Executing, big.NewInt(5001)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, id := newDepositFixture(t, 2, nil)
			other := c.order(func(o *swap.Order) {
				c.deposited(o)
				tc.change(o)
				if name == "not deposited" {
					delete(c.sender.sent, stepKey(*o, 0))
				}
			})
			c.dst.mineFinal(arrival(1, solver, 1001))
			c.wantVerdict(c.pollRepeatedly(id), tc.provenBy, bothAgree)
			if o := c.get(other); o.State.Final() {
				t.Errorf("the other order ended as %s", o.State)
			}
		})
	}
}

// TestShortNeedsAFinalClaim checks that a payment below the minimum ends an order only if a
// final claim of the provider names it as what it is: an arrival as filled, a refund as refunded.
func TestShortNeedsAFinalClaim(t *testing.T) {
	for _, tc := range []struct {
		claim    swap.State
		pay      func(c *proofFixture) (tx common.Hash, chainID uint64)
		provenBy string // "": the payment does not end the order
	}{
		{swap.Settling, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), dstChain }, ""},
		{swap.Failed, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), dstChain }, ""},
		{swap.Refunded, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), 0 }, ""},
		{swap.Filled, func(c *proofFixture) (common.Hash, uint64) { return c.src.mineFinal(refund(1, solver, 4000)), 0 }, ""},
		{swap.Filled, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), 0 }, swap.ProvenByArrival},
		{swap.Refunded, func(c *proofFixture) (common.Hash, uint64) { return c.src.mineFinal(refund(1, solver, 4000)), 0 }, swap.ProvenByRefund},
	} {
		c, id := newDepositFixture(t, 2, nil)
		tx, chainID := tc.pay(c)
		c.claimEnd(tc.claim, tx, chainID)
		o := c.pollRepeatedly(id)
		t.Logf("claimed as %s", tc.claim)
		if c.wantVerdict(o, tc.provenBy, bothAgree); tc.provenBy != "" && !o.Verdict.BelowMinimum {
			t.Errorf("verdict %+v", o.Verdict)
		}
		c.dst.mineFinal(arrival(2, solver, 1000))
		if tc.provenBy == "" {
			c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
		}
	}
}

// TestOurOwnTokens checks that tokens which one of the user's own accounts transfers within a
// filler's transaction are not a payment by the filler.
func TestOurOwnTokens(t *testing.T) {
	c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.Recipient = stranger })
	tx := ledgerTx{hash: common.Hash{0xa0, 1}, from: solver, to: outside, logs: []*types.Log{transferLog(outside, account, stranger, 1000)}}
	c.claimEnd(swap.Filled, c.dst.mineFinal(tx), dstChain)
	if o := c.pollRepeatedly(id); o.State.Final() {
		t.Errorf("ended by %+v", o.Verdict)
	}
}

// TestLateReceipts checks that a payment is not lost if both hosts return its log before its
// receipt, and that a payment that is in no block is dropped.
func TestLateReceipts(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	c.dst.mineFinal(arrival(1, solver, 1000))
	for _, h := range c.dst.hosts {
		h.lie = func(method string, result any) any {
			if method == "eth_getTransactionReceipt" {
				return nil
			}
			return result
		}
	}
	c.wantVerdict(c.pollOnce(id), "", "")
	for _, h := range c.dst.hosts {
		h.lie = nil
	}
	c.wantVerdict(c.pollOnce(id), swap.ProvenByArrival, bothAgree)

	c, id = newDepositFixture(t, 2, nil)
	c.dst.hosts[0].lie = inventLog(c.dst)
	c.pollOnce(id)
	search := c.engine.settlementWatch(id).searches[searchArrival]
	if len(search.hints) != 1 {
		t.Fatalf("%d hints, want 1", len(search.hints))
	}
	c.pollRepeatedly(id)
	if len(search.hints) != 0 {
		t.Errorf("%d hints, want 0", len(search.hints))
	}
}

// inventLog makes a host return, for any search of logs, an arrival that never happened.
func inventLog(l *ledger) func(string, any) any {
	log := arrival(9, solver, 1000).logs[0]
	log.TxHash, log.BlockNumber, log.BlockHash = common.Hash{0xa0, 9}, 12, l.blocks[12].hash
	return func(method string, result any) any {
		if method == "eth_getLogs" {
			return []*types.Log{log}
		}
		return result
	}
}

// TestLogsBehind has hosts whose logs are minutes behind their blocks. Then no payment is declared
// absent, and it is found once a host has its log.
func TestLogsBehind(t *testing.T) {
	t.Run("a fill", func(t *testing.T) {
		for _, nonce := range []bool{true, false} {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			c.src.mineFinal(fill(1000))
			if c.src.mineUntil(c.lastSecond()); nonce {
				c.src.useNonce(orderNonce)
			}
			c.src.mine(1, ledgerTx{hash: common.Hash{0xee}, from: stranger, to: usdc, logs: []*types.Log{transferLog(usdc, stranger, solver, 1)}}) // a log that the hosts do not have yet
			c.src.mine(ledgerDepth)
			for _, h := range c.src.hosts {
				h.logLag = 60
			}
			for range 5 {
				c.wantVerdict(c.pollRepeatedly(id), "", "")
			}
			c.src.hosts[1].logLag = 0
			c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByFill, bothAgree)
		}
	})
	t.Run("no fill", func(t *testing.T) {
		c := newProofFixture(t, 2)
		id := c.order(nil)
		c.src.mineUntil(c.lastSecond())
		c.src.mine(1, ledgerTx{hash: common.Hash{0xee}, from: stranger, to: usdc, logs: []*types.Log{transferLog(usdc, stranger, solver, 1)}})
		c.src.mine(ledgerDepth)
		c.src.hosts[0].logLag = 60
		c.wantVerdict(c.pollRepeatedly(id), "", "")
		c.src.hosts[0].logLag = 0
		c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByAbsence, bothAgree)
	})
	t.Run("a payment", func(t *testing.T) {
		c, id := newDepositFixture(t, 2, nil)
		c.dst.mineFinal(arrival(1, solver, 1000))
		for _, h := range c.dst.hosts {
			h.logLag = 60
		}
		c.wantVerdict(c.pollRepeatedly(id), "", "")
		for _, h := range c.dst.hosts {
			h.logLag = 0
		}
		c.dst.mine(5)
		c.wantVerdict(c.pollRepeatedly(id), "", "")
		c.now = c.now.Add(searchedEvery)
		c.pollOnce(id)
		c.wantVerdict(c.pollOnce(id), swap.ProvenByArrival, bothAgree)
	})
}

// TestInvalidationAndFillInOneBlock has a fill and an invalidation in one block: the first one
// decides.
func TestInvalidationAndFillInOneBlock(t *testing.T) {
	invalidation := ledgerTx{hash: common.Hash{0xcc}, from: account, to: permit2}
	failedFill := fill(1000)
	failedFill.failed = true
	for name, tc := range map[string]struct {
		block    []ledgerTx
		provenBy string
	}{
		"the fill first":         {[]ledgerTx{fill(1000), invalidation}, swap.ProvenByFill},
		"the invalidation first": {[]ledgerTx{invalidation, failedFill}, swap.ProvenByInvalidated},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			c.sender.sent[invalidateKey(swap.Order{ID: id})] = invalidation.hash
			c.src.mine(1, tc.block...)
			c.src.useNonce(orderNonce)
			c.wantVerdict(c.pollRepeatedly(id), tc.provenBy, bothAgree)
		})
	}
}

// TestFillInLastSecond checks that an order can be filled in a block with the time of its
// deadline, and is not declared unfilled before a later block is final.
func TestFillInLastSecond(t *testing.T) {
	c := newProofFixture(t, 2)
	id := c.order(nil)
	for c.src.head().time.Before(c.lastSecond()) {
		c.src.mine(1)
	}
	if !c.src.head().time.Equal(c.lastSecond()) {
		t.Fatal("no block in the last second")
	}
	c.src.mine(ledgerDepth - 1)
	c.wantVerdict(c.pollRepeatedly(id), "", "") // no later block is final yet
	c.src.reorg(ledgerDepth)
	c.src.mu.Lock()
	c.src.blocks = c.src.blocks[:len(c.src.blocks)-ledgerDepth]
	c.src.add([]ledgerTx{fill(1000)})
	c.src.mu.Unlock()
	c.src.mine(ledgerDepth)
	if o := c.pollRepeatedly(id); o.State != swap.Filled || !o.Verdict.Evidence.Time.Equal(c.lastSecond()) {
		t.Errorf("%s by %+v", o.State, o.Verdict)
	}
}

// TestFinalStateStays checks that nothing changes a final state: no arrival after a refund, no
// refund after an arrival, and no later claim.
func TestFinalStateStays(t *testing.T) {
	for name, tc := range map[string]struct{ first, then func(c *proofFixture) }{
		"a fill after a refund":      {func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 5000)) }, func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }},
		"a refund after a fill":      {func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 5000)) }},
		"another claim after a fill": {func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, func(c *proofFixture) { c.claimEnd(swap.Failed, common.Hash{}, 0) }},
	} {
		c, id := newDepositFixture(t, 2, nil)
		tc.first(c)
		before := c.pollRepeatedly(id)
		tc.then(c)
		c.restart()
		if after := c.pollRepeatedly(id); !before.State.Final() || after.State != before.State || after.Revision != before.Revision {
			t.Errorf("%s: %s, then %s", name, before.State, after.State)
		}
	}
}

// TestEndsAcrossRestarts checks that orders end although the engine restarts after every few
// polls. Absence is never proven if it restarts after each: it takes two searches of one engine.
func TestEndsAcrossRestarts(t *testing.T) {
	for name, tc := range map[string]struct {
		happens  func(*proofFixture)
		provenBy string
	}{
		"a fill": {func(c *proofFixture) { c.src.mineFinal(fill(1000)) }, swap.ProvenByFill},
		"none":   {func(c *proofFixture) { c.src.mineUntil(c.lastSecond()) }, swap.ProvenByAbsence},
	} {
		for every := 1; every <= 4; every++ {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			tc.happens(c)
			var o swap.Order
			for i := range 4 * every {
				if i%every == every-1 {
					c.restart()
				}
				o = c.pollOnce(id)
				c.now = c.now.Add(absentTime)
			}
			t.Log(name, every)
			if tc.provenBy == swap.ProvenByAbsence && every == 1 {
				c.wantVerdict(o, "", "")
				continue
			}
			c.wantVerdict(o, tc.provenBy, bothAgree)
		}
	}
}

// TestOutageOfAnHour has hosts that fail in different ways for an hour, while the provider does
// not answer. No order ends during the outage, and each ends as it should afterwards. If only
// the provider fails, the chains may prove an end at once.
func TestOutageOfAnHour(t *testing.T) {
	for name, setOutage := range map[string]func(c *proofFixture, on bool){
		"one host of each down": func(c *proofFixture, on bool) { c.src.hosts[0].down, c.dst.hosts[1].down = on, on },
		"both down": func(c *proofFixture, on bool) {
			c.src.hosts[0].down, c.src.hosts[1].down, c.dst.hosts[0].down = on, on, on
		},
		"both behind":            func(c *proofFixture, on bool) { lag(c.src, on); lag(c.dst, on) },
		"log searches refused":   func(c *proofFixture, on bool) { refuseLogs(c.src, on); refuseLogs(c.dst, on) },
		"only the provider down": func(c *proofFixture, on bool) {},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, tc := range map[string]struct {
				start    func(*testing.T) (*proofFixture, string)
				provenBy string
			}{
				"a fill":    {func(t *testing.T) (*proofFixture, string) { c := newProofFixture(t, 2); return c, c.order(nil) }, swap.ProvenByFill},
				"an expiry": {func(t *testing.T) (*proofFixture, string) { c := newProofFixture(t, 2); return c, c.order(nil) }, swap.ProvenByAbsence},
				"a payment": {func(t *testing.T) (*proofFixture, string) { return newDepositFixture(t, 2, nil) }, swap.ProvenByArrival},
			} {
				c, id := tc.start(t)
				c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, errors.New("down") }
				setOutage(c, true)
				switch tc.provenBy {
				case swap.ProvenByFill:
					c.src.mineFinal(fill(1000))
				case swap.ProvenByArrival:
					c.dst.mineFinal(arrival(1, solver, 1000))
				}
				c.src.mineUntil(c.lastSecond())
				for range 12 {
					o := c.pollOnce(id)
					if c.now = c.now.Add(5 * time.Minute); o.State.Final() && name != "only the provider down" {
						t.Fatalf("%s: the order ended as %s during the outage", kind, o.State)
					}
				}
				setOutage(c, false)
				c.dst.mineUntil(c.src.head().time)
				c.now = c.now.Add(time.Hour) // after which endpoints that failed are tried again
				t.Log(kind)
				c.wantVerdict(c.pollRepeatedly(id), tc.provenBy, bothAgree)
			}
		})
	}
}

// TestNoNewsForAnHour checks that an order stays open while the provider does not answer and
// nothing happens on the chains, and ends by what happens afterwards.
func TestNoNewsForAnHour(t *testing.T) {
	signed := func(t *testing.T) (*proofFixture, string) {
		c := newProofFixture(t, 2)
		return c, c.order(func(o *swap.Order) { o.Terms.Deadline = c.now.Add(2 * time.Hour) })
	}
	deposit := func(t *testing.T) (*proofFixture, string) { return newDepositFixture(t, 2, nil) }
	for name, tc := range map[string]struct {
		start    func(*testing.T) (*proofFixture, string)
		then     func(*proofFixture)
		provenBy string
	}{
		"a signed order, filled":  {signed, func(c *proofFixture) { c.src.mineFinal(fill(1000)) }, swap.ProvenByFill},
		"a signed order, expired": {signed, func(c *proofFixture) { c.src.mineUntil(c.now.Add(2 * time.Hour)) }, swap.ProvenByAbsence},
		"a deposit, filled":       {deposit, func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, swap.ProvenByArrival},
		"a deposit, refunded":     {deposit, func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 4950)) }, swap.ProvenByRefund},
	} {
		t.Run(name, func(t *testing.T) {
			c, id := tc.start(t)
			c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, errors.New("down") }
			for range 60 {
				c.now = c.now.Add(time.Minute)
				for _, l := range []*ledger{c.src, c.dst} {
					l.mine(ledgerDepth)
					l.blocks[len(l.blocks)-1].time = c.now
				}
				if o := c.pollOnce(id); o.State != swap.Settling || o.Condition != swap.NoCondition || o.Verdict != nil {
					t.Fatalf("%s %s by %+v", o.State, o.Condition, o.Verdict)
				}
			}
			tc.then(c)
			c.wantVerdict(c.pollRepeatedly(id), tc.provenBy, bothAgree)
		})
	}
}

// lag makes the hosts of a chain return only blocks from long ago, or stops that.
func lag(l *ledger, on bool) {
	for _, h := range l.hosts {
		if h.lag = 0; on {
			h.lag = len(l.blocks) + 100
		}
	}
}

// refuseLogs makes the hosts of a chain refuse to return logs and receipts, or stops that.
func refuseLogs(l *ledger, on bool) {
	for _, h := range l.hosts {
		h.lie = nil
		if on {
			h.lie = func(method string, result any) any {
				if method == "eth_getLogs" || method == "eth_getTransactionReceipt" {
					return "too many blocks"
				}
				return result
			}
		}
	}
}

// TestCompetingOrdersOfOneTransaction checks that if the provider names one transaction for two
// orders and it has two payments, each order gets one of them.
func TestCompetingOrdersOfOneTransaction(t *testing.T) {
	c, first, second := competingOrders(t)
	both := ledgerTx{hash: common.Hash{0xb7}, from: solver, to: usdc, logs: []*types.Log{transferLog(usdc, solver, account, 5000), transferLog(usdc, solver, account, 5000)}}
	c.src.mineFinal(both)
	c.provider.claims = func(swap.Order) (swap.Claim, error) {
		return swap.Claim{State: swap.Refunded, Tx: both.hash, Chain: srcChain}, nil
	}
	a, b := c.pollRepeatedly(first), c.pollRepeatedly(second)
	c.wantVerdict(a, swap.ProvenByRefund, bothAgree)
	c.wantVerdict(b, swap.ProvenByRefund, bothAgree)
	if slices.Equal(a.Verdict.Logs, b.Verdict.Logs) {
		t.Errorf("the payment %+v counts for both orders", a.Verdict.Logs)
	}
}

// TestNativeFromFiller checks that native currency proves a fill only if a filler sends it to the
// recipient directly.
func TestNativeFromFiller(t *testing.T) {
	c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.TokenOut = chain.Native })
	unrelated := ledgerTx{hash: common.Hash{0xc2}, from: solver, to: stranger, value: 7}
	c.dst.mine(1, coin(1, stranger, 5000), unrelated)
	c.dst.mine(ledgerDepth)
	c.claimEnd(swap.Filled, unrelated.hash, dstChain)
	if o := c.pollRepeatedly(id); o.State.Final() || o.Condition != swap.PaymentSeen {
		t.Errorf("%s %q by %+v", o.State, o.Condition, o.Verdict)
	}
}
