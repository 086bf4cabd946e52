package engine

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestTwoHostsFlipOurReceipt checks, on a real chain, that a call of ours that succeeded does not
// end its order as failed because two hosts say so.
func TestTwoHostsFlipOurReceipt(t *testing.T) {
	b := newEngineFixture(t)
	first, second := b.lyingHost(), b.lyingHost()
	b.useEndpoints(first.url, second.url)
	b.halt()
	b.otherProvider = nil
	b.start()
	flips := &hostLie{method: "eth_getTransactionReceipt", answer: func(reply []byte) []byte {
		return bytes.ReplaceAll(reply, []byte(`"status":"0x1"`), []byte(`"status":"0x0"`))
	}}
	first.lie.Store(flips)
	second.lie.Store(flips)
	o := b.waitUntil(b.order(nil).ID, "refused", func(o swap.Order) bool { return o.Cause != nil && o.Cause.Reason == swap.ReceiptForged })
	if hosts := o.Cause.Data["hosts"]; hosts != hostPart(first.url)+", "+hostPart(second.url) || !b.logContains("whether it succeeded") {
		t.Errorf("of hosts %q", hosts)
	}
	first.lie.Store(nil)
	second.lie.Store(nil)
	if o = b.waitState(o.ID, swap.Filled); o.Verdict.Receipt != swap.Recomputed || o.Cause != nil {
		t.Errorf("verdict %+v, %s", o.Verdict, o.Reason)
	}
	b.wantNonceAndWETH(1, 1e17)
}

func hostPart(url string) string { return url[len("http://"):] }

// bothLie makes both hosts of a ledger tell the same lie; nil ends it.
func (l *ledger) bothLie(lie func(method string, result any) any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.hosts {
		h.lie = lie
	}
}

// inLogs returns a lie about the logs of every receipt.
func inLogs(change func([]*types.Log) []*types.Log) func(string, any) any {
	return func(method string, result any) any {
		if r, ok := result.(map[string]any); ok && method == "eth_getTransactionReceipt" {
			r["logs"] = change(r["logs"].([]*types.Log))
		}
		return result
	}
}

// TestNoVerdictByForgedReceipts checks that no kind of end is believed that two hosts invent
// alike, and that the true one is, afterwards.
func TestNoVerdictByForgedReceipts(t *testing.T) {
	amount := func(word []byte) func(string, any) any {
		return inLogs(func(logs []*types.Log) []*types.Log {
			if len(logs) == 0 {
				return logs
			}
			l := *logs[0]
			l.Data = word
			return append([]*types.Log{&l}, logs[1:]...)
		})
	}
	raised, lowered := amount(bytes.Repeat([]byte{0, 1}, 16)), amount(common.LeftPadBytes([]byte{1}, 32))
	deposit := func(c *proofFixture) func(*swap.Order) {
		return func(o *swap.Order) { c.deposited(o); c.provider.proof = arrivalProof }
	}
	for name, tc := range map[string]struct {
		change func(*proofFixture) func(*swap.Order)
		do     func(*proofFixture)
		lie    func(*proofFixture)
		by     string
	}{
		"a fill's amount":  {nil, func(c *proofFixture) { c.src.mineFinal(fill(1000)) }, func(c *proofFixture) { c.src.bothLie(raised) }, swap.ProvenByFill},
		"an invented fill": {nil, func(c *proofFixture) { c.src.mine(6) }, func(c *proofFixture) { c.src.bothLie(inventsFill(c.src)) }, ""},
		"an arrival's amount": {deposit, func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, func(c *proofFixture) {
			c.dst.bothLie(raised)
			c.claimEnd(swap.Filled, arrival(1, solver, 1000).hash, dstChain)
		}, swap.ProvenByArrival},
		"a refund's amount": {deposit, func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 4900)) }, func(c *proofFixture) {
			c.src.bothLie(lowered)
			c.claimEnd(swap.Refunded, refund(1, solver, 4900).hash, srcChain)
		}, swap.ProvenByRefund},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			var change func(*swap.Order)
			if tc.change != nil {
				change = tc.change(c)
			}
			id := c.order(change)
			tc.do(c)
			tc.lie(c)
			o := c.pollRepeatedly(id)
			if c.wantVerdict(o, "", ""); o.Cause == nil || o.Cause.Reason != swap.ReceiptForged {
				t.Fatalf("%s %q; logged %q", o.State, o.Reason, c.logged)
			}
			c.src.bothLie(nil)
			c.dst.bothLie(nil)
			o = c.pollOnce(id)
			if c.wantVerdict(o, tc.by, bothAgree); tc.by != "" && (o.Verdict == nil || o.Verdict.Receipt != swap.Recomputed || o.Cause != nil) {
				t.Errorf("verdict %+v, %s", o.Verdict, o.Reason)
			}
		})
	}
}

// TestReceiptsAreAwaited checks that a verdict waits for a host that serves its receipts, a day at
// most, and says what it rests on.
func TestReceiptsAreAwaited(t *testing.T) {
	notServed := errors.New("no such method")
	filled := func(t *testing.T) (*proofFixture, string) {
		c := newProofFixture(t, 2)
		id := c.order(nil)
		c.src.mineFinal(fill(1000))
		return c, id
	}
	want := func(c *proofFixture, id string, code swap.ReceiptCode) {
		c.t.Helper()
		o := c.pollOnce(id)
		switch waits := o.Cause != nil && o.Cause.Reason == swap.ReceiptsAwaited; {
		case code == "":
			if c.wantVerdict(o, "", ""); !waits || o.ReceiptsAwaited.IsZero() {
				c.t.Errorf("%s: %q since %s", o.State, o.Reason, o.ReceiptsAwaited)
			}
		case o.Verdict == nil || o.Verdict.Receipt != code || o.Cause != nil || !o.ReceiptsAwaited.IsZero():
			c.t.Errorf("verdict %+v, %q since %s", o.Verdict, o.Reason, o.ReceiptsAwaited)
		}
	}
	t.Run("served in time", func(t *testing.T) {
		c, id := filled(t)
		c.receipts = func() error { return notServed }
		want(c, id, "")
		c.now = c.now.Add(receiptWait - time.Second)
		c.restart()
		want(c, id, "")
		c.receipts = nil
		want(c, id, swap.Recomputed)
	})
	t.Run("never served", func(t *testing.T) {
		c, id := filled(t)
		c.receipts = func() error { return notServed }
		want(c, id, "")
		c.now = c.now.Add(receiptWait)
		c.restart()
		want(c, id, swap.NotRecomputed)
	})
	t.Run("the clock is set back", func(t *testing.T) {
		c, id := filled(t)
		c.receipts = func() error { return notServed }
		c.now = c.now.Add(100 * time.Hour)
		want(c, id, "")
		c.now = c.now.Add(-99 * time.Hour)
		want(c, id, "")
		c.now = c.now.Add(receiptWait)
		want(c, id, swap.NotRecomputed)
	})
	t.Run("forged for ever", func(t *testing.T) {
		c, id := filled(t)
		c.receipts = func() error { return &chain.ForgedError{Hosts: []string{"a"}} }
		for range 4 {
			c.now = c.now.Add(receiptWait)
			c.wantVerdict(c.pollOnce(id), "", "")
		}
	})
	t.Run("not on this network", func(t *testing.T) {
		c, id := filled(t)
		c.receipts = func() error { return chain.ErrNotRecomputable }
		want(c, id, swap.NotRecomputable)
	})
}

// TestDepositInAnotherBlock checks that a deposit that a deep reorganisation moved does not keep
// its payment from being proven.
func TestDepositInAnotherBlock(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = arrivalProof
	id := c.order(c.deposited)
	was := c.pollOnce(id).Results[0].Evidence
	n := int(c.src.number() - was.Block + 1)
	c.src.reorg(n)
	c.src.mineFinal(ledgerTx{hash: was.Tx, from: account, to: fillsFor})
	c.dst.mineUntil(c.src.head().time)
	c.dst.mineFinal(arrival(1, solver, 1000))
	o := c.pollRepeatedly(id)
	c.wantVerdict(o, swap.ProvenByArrival, bothAgree)
	if o.Verdict == nil || o.Verdict.Receipt != swap.Recomputed || o.Verdict.Deposit.BlockHash == was.BlockHash {
		t.Errorf("verdict %+v", o.Verdict)
	}
}
