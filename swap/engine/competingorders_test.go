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

// competingOrders returns two deposits of the same input for different tokens, so that a refund
// may belong to either.
func competingOrders(t *testing.T) (c *proofFixture, first, second string) {
	c, first = newDepositFixture(t, 2, nil)
	second = c.order(func(o *swap.Order) { c.deposited(o); o.Terms.TokenOut = weth })
	return c, first, second
}

// claimFor makes the provider claim something about one order only.
func (c *proofFixture) claimFor(id string, claim swap.Claim) {
	before := c.provider.claims
	c.provider.claims = func(o swap.Order) (swap.Claim, error) {
		if o.ID == id {
			return claim, nil
		}
		return before(o)
	}
}

// TestRefundOfAnother checks that a refund which may belong to either of two orders ends
// neither until the provider names it, a second refund arrives or the other order ends.
func TestRefundOfAnother(t *testing.T) {
	t.Run("nothing tells", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		for range 3 {
			c.wantVerdict(c.pollRepeatedly(first), "", "")
			c.wantVerdict(c.pollRepeatedly(second), "", "")
			c.restart()
		}
	})
	t.Run("the provider tells", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.claimFor(second, swap.Claim{State: swap.Refunded, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
		c.dst.mineFinal(arrival(1, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
	})
	t.Run("the provider tells of the other's", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.pollOnce(second)
		c.claimFor(second, swap.Claim{State: swap.Settling, Tx: c.src.mineFinal(refund(1, solver, 5000)), Chain: srcChain})
		c.pollOnce(second)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
		c.wantVerdict(c.pollRepeatedly(first), "", "")
	})
	t.Run("the other one is filled", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(second), "", "")
		c.dst.mineFinal(arrival(1, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
		c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByRefund, bothAgree)
	})
	t.Run("a second one", func(t *testing.T) {
		c, first, second := competingOrders(t)
		c.src.mineFinal(refund(1, solver, 5000))
		c.wantVerdict(c.pollRepeatedly(second), "", "")
		c.src.mineFinal(refund(2, solver, 5000))
		a, b := c.pollRepeatedly(second), c.pollRepeatedly(first)
		c.wantVerdict(a, swap.ProvenByRefund, bothAgree)
		c.wantVerdict(b, swap.ProvenByRefund, bothAgree)
		if a.Verdict.Evidence.Tx == b.Verdict.Evidence.Tx {
			t.Error("one refund for both")
		}
	})
}

// TestCoinOfTwoFills checks that a fill reports the native coin gained in its block only
// if no other order of ours may have been paid in that block.
func TestCoinOfTwoFills(t *testing.T) {
	pays := func(order, hash byte) ledgerTx {
		tx := fill(0)
		tx.hash, tx.internalTransfers = common.Hash{hash}, map[common.Address]int64{account: 1000}
		tx.logs = tx.logs[1:]
		tx.logs[0].Topics = []common.Hash{filledAs, {order}}
		return tx
	}
	coin := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	for name, tc := range map[string]struct {
		blocks [][]ledgerTx
		shown  bool
	}{
		"in one block": {[][]ledgerTx{{pays(1, 1), pays(2, 2)}}, false},
		"in two":       {[][]ledgerTx{{pays(1, 1)}, {pays(2, 2)}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = fillProof
			first, second := c.order(coin), c.order(coin)
			for _, txs := range tc.blocks {
				c.src.mine(1, txs...)
			}
			c.src.mine(ledgerDepth)
			for i, id := range []string{first, second} {
				o := c.pollRepeatedly(id)
				c.wantVerdict(o, swap.ProvenByFill, bothAgree)
				if shown := o.Verdict.Received != nil; shown && o.Verdict.Received.Amount.Int64() != 1000 || shown != (tc.shown && i == 1) {
					t.Errorf("order %d received %+v", i+1, o.Verdict.Received)
				}
			}
		})
	}
}

// TestArrivalBesideUnreadable covers an open order that cannot be read and may expect the
// same payment: then the payment counts only if the provider names it.
func TestArrivalBesideUnreadable(t *testing.T) {
	c, first, second := competingOrders(t)
	if err := c.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte(second), []byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	tx := c.dst.mineFinal(arrival(1, solver, 1000))
	c.wantVerdict(c.pollRepeatedly(first), "", "")
	c.claimFor(first, swap.Claim{State: swap.Filled, Tx: tx, Chain: dstChain})
	c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
}

// TestArrivalOfAnother checks the same for arrivals, if two orders paid different inputs
// for about as much. Of orders that differ only in price, either may get it.
func TestArrivalOfAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*swap.Order)
		by     string
	}{
		"another input":     {func(o *swap.Order) { o.Terms.TokenIn = weth }, ""},
		"another amount":    {func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(5001) }, ""},
		"another refund":    {func(o *swap.Order) { o.Terms.RefundTo = stranger }, ""},
		"another price":     {func(o *swap.Order) { o.Terms.MinOut = big.NewInt(999) }, swap.ProvenByArrival},
		"half the price":    {func(o *swap.Order) { o.Terms.AmountIn, o.Terms.MinOut = big.NewInt(5001), big.NewInt(500) }, swap.ProvenByArrival},
		"another recipient": {func(o *swap.Order) { o.Terms.Recipient = stranger }, swap.ProvenByArrival},
		"another token":     {func(o *swap.Order) { o.Terms.TokenOut = weth }, swap.ProvenByArrival},
		"not handed over":   {func(o *swap.Order) { o.Results, o.Step, o.State = nil, 0, swap.Executing }, swap.ProvenByArrival},
		"settled by itself": {func(o *swap.Order) { o.Plan.Settlement = swap.ByOwnCall }, swap.ProvenByArrival},
		"signed":            {func(o *swap.Order) { o.Plan.Steps[0].Effect.Kind = swap.Signed }, swap.ProvenByArrival},
		"handed over after": {func(o *swap.Order) { o.Results[0].Evidence.Time = o.Results[0].Evidence.Time.Add(time.Hour) }, swap.ProvenByArrival},
		"reported unproven": {func(o *swap.Order) { o.Terms.AmountIn, o.Condition = big.NewInt(5001), swap.AwaitingProof }, ""},
		"mined and not deep": {func(o *swap.Order) {
			o.Results, o.Step, o.State, o.Terms.AmountIn = nil, 0, swap.Executing, big.NewInt(5001)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, id := newDepositFixture(t, 2, nil)
			other := c.order(func(o *swap.Order) {
				c.deposited(o)
				tc.change(o)
				if name == "not handed over" {
					delete(c.sender.sent, stepKey(*o, 0))
				}
			})
			c.dst.mineFinal(arrival(1, solver, 1001))
			c.wantVerdict(c.pollRepeatedly(id), tc.by, bothAgree)
			if o := c.get(other); o.State.Final() {
				t.Errorf("the other ended %s", o.State)
			}
		})
	}
}

// TestShortNeedsAFinalClaim checks that a short payment ends an order only if the provider's
// final claim names it.
func TestShortNeedsAFinalClaim(t *testing.T) {
	for _, tc := range []struct {
		claim swap.State
		x     func(c *proofFixture) (common.Hash, uint64)
		by    string
	}{
		{swap.Settling, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), dstChain }, ""},
		{swap.Failed, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), dstChain }, ""},
		{swap.Refunded, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), 0 }, ""},
		{swap.Filled, func(c *proofFixture) (common.Hash, uint64) { return c.src.mineFinal(refund(1, solver, 4000)), 0 }, ""},
		{swap.Filled, func(c *proofFixture) (common.Hash, uint64) { return c.dst.mineFinal(arrival(1, solver, 999)), 0 }, swap.ProvenByArrival},
		{swap.Refunded, func(c *proofFixture) (common.Hash, uint64) { return c.src.mineFinal(refund(1, solver, 4000)), 0 }, swap.ProvenByRefund},
	} {
		c, id := newDepositFixture(t, 2, nil)
		tx, chainID := tc.x(c)
		c.claimEnd(tc.claim, tx, chainID)
		o := c.pollRepeatedly(id)
		t.Logf("said to be %s", tc.claim)
		if c.wantVerdict(o, tc.by, bothAgree); tc.by != "" && !o.Verdict.Short {
			t.Errorf("verdict %+v", o.Verdict)
		}
		c.dst.mineFinal(arrival(2, solver, 1000))
		if tc.by == "" {
			c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
		}
	}
}

// TestOurOwnTokens checks that tokens that one of our own accounts sends in a filler's
// transaction are not a payment by the filler.
func TestOurOwnTokens(t *testing.T) {
	c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.Recipient = stranger })
	x := ledgerTx{hash: common.Hash{0xa0, 1}, from: solver, to: outside, logs: []*types.Log{transferLog(outside, account, stranger, 1000)}}
	c.claimEnd(swap.Filled, c.dst.mineFinal(x), dstChain)
	if o := c.pollRepeatedly(id); o.State.Final() {
		t.Errorf("ended by %+v", o.Verdict)
	}
}

// TestLateReceipts checks that a payment whose receipt appears after its log, at both
// hosts, is not lost, and that one that is in no block is dropped.
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
	c.dst.hosts[0].lie = inventsLog(c.dst)
	c.pollOnce(id)
	s := c.engine.settlementWatch(id).searches[searchArrival]
	if len(s.hints) != 1 {
		t.Fatalf("%d hints", len(s.hints))
	}
	c.pollRepeatedly(id)
	if len(s.hints) != 0 {
		t.Errorf("%d hints", len(s.hints))
	}
}

// inventsLog shows an arrival that never happened in searches, and no receipt.
func inventsLog(l *ledger) func(string, any) any {
	log := arrival(9, solver, 1000).logs[0]
	log.TxHash, log.BlockNumber, log.BlockHash = common.Hash{0xa0, 9}, 12, l.blocks[12].hash
	return func(method string, result any) any {
		if method == "eth_getLogs" {
			return []*types.Log{log}
		}
		return result
	}
}

// TestLogsBehind covers two hosts that have the blocks and are minutes behind with their
// logs: nothing is declared absent, and a payment is found in the end.
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

// TestInvalidationAndFillInOneBlock covers a fill and a cancel in one block, in either order.
func TestInvalidationAndFillInOneBlock(t *testing.T) {
	void := ledgerTx{hash: common.Hash{0xcc}, from: account, to: permit2}
	lost := fill(1000)
	lost.failed = true
	for name, tc := range map[string]struct {
		block []ledgerTx
		by    string
	}{
		"the fill first": {[]ledgerTx{fill(1000), void}, swap.ProvenByFill},
		"the void first": {[]ledgerTx{void, lost}, swap.ProvenByInvalidated},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			c.sender.sent[invalidateKey(swap.Order{ID: id})] = void.hash
			c.src.mine(1, tc.block...)
			c.src.useNonce(orderNonce)
			c.wantVerdict(c.pollRepeatedly(id), tc.by, bothAgree)
		})
	}
}

// TestEndOnTheSecond checks that a block of the last second may still fill an order.
func TestEndOnTheSecond(t *testing.T) {
	c := newProofFixture(t, 2)
	id := c.order(nil)
	for c.src.head().time.Before(c.lastSecond()) {
		c.src.mine(1)
	}
	if !c.src.head().time.Equal(c.lastSecond()) {
		t.Fatal("no block of that second")
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

// TestAfterTheEnd checks that nothing changes an end: no fill after a refund, no refund
// after a fill, and no later claim.
func TestAfterTheEnd(t *testing.T) {
	for name, tc := range map[string]struct{ first, then func(c *proofFixture) }{
		"a fill after a refund": {func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 5000)) }, func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }},
		"a refund after a fill": {func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 5000)) }},
		"another word":          {func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, func(c *proofFixture) { c.claimEnd(swap.Failed, common.Hash{}, 0) }},
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

// TestEndsAcrossRestarts restarts the process after every few polls.
func TestEndsAcrossRestarts(t *testing.T) {
	for name, tc := range map[string]struct {
		do func(*proofFixture)
		by string
	}{
		"a fill": {func(c *proofFixture) { c.src.mineFinal(fill(1000)) }, swap.ProvenByFill},
		"none":   {func(c *proofFixture) { c.src.mineUntil(c.lastSecond()) }, swap.ProvenByAbsence},
	} {
		for every := 1; every <= 4; every++ {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			tc.do(c)
			var o swap.Order
			for i := range 4 * every {
				if i%every == every-1 {
					c.restart()
				}
				o = c.pollOnce(id)
				c.now = c.now.Add(absentTime)
			}
			t.Log(name, every)
			if tc.by == swap.ProvenByAbsence && every == 1 { // it never searches twice
				tc.by = ""
				c.wantVerdict(o, "", "")
				tc.by = swap.ProvenByAbsence
				continue
			}
			c.wantVerdict(o, tc.by, bothAgree)
		}
	}
}

// TestHourOfTrouble covers an hour with one host down, both behind, or a silent provider:
// nothing is concluded from that, and the end is found afterwards.
func TestHourOfTrouble(t *testing.T) {
	for name, trouble := range map[string]func(c *proofFixture, on bool){
		"one host down": func(c *proofFixture, on bool) { c.src.hosts[0].down, c.dst.hosts[1].down = on, on },
		"both down": func(c *proofFixture, on bool) {
			c.src.hosts[0].down, c.src.hosts[1].down, c.dst.hosts[0].down = on, on, on
		},
		"both behind":     func(c *proofFixture, on bool) { lag(c.src, on); lag(c.dst, on) },
		"ranges refused":  func(c *proofFixture, on bool) { refuse(c.src, on); refuse(c.dst, on) },
		"provider silent": func(c *proofFixture, on bool) {},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, tc := range map[string]struct {
				make func(*testing.T) (*proofFixture, string)
				by   string
			}{
				"a fill":    {func(t *testing.T) (*proofFixture, string) { c := newProofFixture(t, 2); return c, c.order(nil) }, swap.ProvenByFill},
				"an expiry": {func(t *testing.T) (*proofFixture, string) { c := newProofFixture(t, 2); return c, c.order(nil) }, swap.ProvenByAbsence},
				"a payment": {func(t *testing.T) (*proofFixture, string) { return newDepositFixture(t, 2, nil) }, swap.ProvenByArrival},
			} {
				c, id := tc.make(t)
				c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, errors.New("down") }
				trouble(c, true)
				switch tc.by {
				case swap.ProvenByFill:
					c.src.mineFinal(fill(1000))
				case swap.ProvenByArrival:
					c.dst.mineFinal(arrival(1, solver, 1000))
				}
				c.src.mineUntil(c.lastSecond())
				for range 12 {
					o := c.pollOnce(id)
					if c.now = c.now.Add(5 * time.Minute); o.State.Final() && name != "provider silent" {
						t.Fatalf("%s: %s in the midst of it", kind, o.State)
					}
				}
				trouble(c, false)
				c.dst.mineUntil(c.src.head().time)
				c.now = c.now.Add(time.Hour) // endpoints that failed are tried again
				t.Log(kind)
				c.wantVerdict(c.pollRepeatedly(id), tc.by, bothAgree)
			}
		})
	}
}

// TestSilentForAnHour checks that nothing is concluded while the provider is silent and
// nothing happens on the chains, and that later events decide.
func TestSilentForAnHour(t *testing.T) {
	signed := func(t *testing.T) (*proofFixture, string) {
		c := newProofFixture(t, 2)
		return c, c.order(func(o *swap.Order) { o.Terms.Deadline = c.now.Add(2 * time.Hour) })
	}
	deposit := func(t *testing.T) (*proofFixture, string) { return newDepositFixture(t, 2, nil) }
	for name, tc := range map[string]struct {
		make func(*testing.T) (*proofFixture, string)
		then func(*proofFixture)
		by   string
	}{
		"a signed order, filled":   {signed, func(c *proofFixture) { c.src.mineFinal(fill(1000)) }, swap.ProvenByFill},
		"a signed order, not used": {signed, func(c *proofFixture) { c.src.mineUntil(c.now.Add(2 * time.Hour)) }, swap.ProvenByAbsence},
		"a deposit, filled":        {deposit, func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, swap.ProvenByArrival},
		"a deposit, given back":    {deposit, func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 4950)) }, swap.ProvenByRefund},
	} {
		t.Run(name, func(t *testing.T) {
			c, id := tc.make(t)
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
			c.wantVerdict(c.pollRepeatedly(id), tc.by, bothAgree)
		})
	}
}

func lag(l *ledger, on bool) {
	for _, h := range l.hosts {
		if h.lag = 0; on {
			h.lag = len(l.blocks) + 100
		}
	}
}

// refuse makes no host answer searches for logs.
func refuse(l *ledger, on bool) {
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

// TestCompetingOrdersOfOneTransaction checks that two payments in one transaction that is named
// for both orders go to one each.
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
		t.Errorf("%+v counts twice", a.Verdict.Logs)
	}
}

// TestNativeIsNamed checks that native coin is proof only if a filler sends it directly
// to the recipient.
func TestNativeIsNamed(t *testing.T) {
	c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.TokenOut = chain.Native })
	idle := ledgerTx{hash: common.Hash{0xc2}, from: solver, to: stranger, value: 7}
	c.dst.mine(1, coin(1, stranger, 5000), idle)
	c.dst.mine(ledgerDepth)
	c.claimEnd(swap.Filled, idle.hash, dstChain)
	if o := c.pollRepeatedly(id); o.State.Final() || o.Condition != swap.PaymentSeen {
		t.Errorf("%s %q by %+v", o.State, o.Condition, o.Verdict)
	}
}
