package engine

import (
	"flag"
	"math/big"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"pgregory.net/rapid"
)

// TestPayments checks, for random payments, claims and faults of one host, that every end
// rests on payments from a known filler, after the deposit and at depth, and that none is
// counted twice.
func TestPayments(t *testing.T) {
	f := flag.Lookup("rapid.checks")
	if was := f.Value.String(); was == f.DefValue {
		if err := f.Value.Set("25"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(was) }()
	}
	counted := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		c := newProofFixture(t, rapid.IntRange(2, 3).Draw(rt, "hosts"))
		c.provider.proof = arrivalProof
		early := []common.Hash{c.dst.mineFinal(arrival(0, solver, 1500))}
		ids := []string{c.order(c.deposited), c.order(func(o *swap.Order) { c.deposited(o); o.Terms.MinOut = big.NewInt(2000) })}
		claims := map[string]swap.Claim{}
		c.provider.claims = func(o swap.Order) (swap.Claim, error) { return claims[o.ID], nil }
		hashes := append(early, common.Hash{0xbb})
		for i := range rapid.IntRange(1, 6).Draw(rt, "payments") {
			hashes = append(hashes, c.drawPayment(rt, byte(i+1)))
			for _, id := range ids {
				if rapid.Bool().Draw(rt, "claim") {
					claims[id] = drawClaim(rt, hashes)
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "spoil") == 0 {
				c.spoil(rt)
			}
			for _, id := range ids {
				c.pollOnce(id)
				c.checkPaid(rt, ids, claims)
			}
			c.now = c.now.Add(time.Minute)
		}
		for _, id := range ids {
			o := c.pollRepeatedly(id)
			counted[string(o.State)+" "+string(o.Condition)]++
		}
		c.checkPaid(rt, ids, claims)
	})
	if t.Log(counted); counted[string(swap.Filled)+" "] == 0 {
		t.Error("nothing was ever filled")
	}
}

// drawPayment mines a payment to us, or one that resembles it.
func (c *proofFixture) drawPayment(t *rapid.T, n byte) common.Hash {
	from := rapid.SampledFrom([]common.Address{solver, solver, stranger, account}).Draw(t, "from")
	amount := rapid.SampledFrom([]int64{1, 999, 1000, 1999, 2000, 4899, 4900}).Draw(t, "amount")
	l, x := c.dst, arrival(n, from, amount)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		l, x = c.src, refund(n, from, 4*amount)
	case 1:
		x.logs[0].Address = stranger // a token of the same name
	case 2:
		x.failed = true
	case 3:
		x.logs = append(x.logs, transferLog(outside, from, account, 500), &types.Log{Address: outside, Topics: []common.Hash{transferTopic}, Data: []byte{}})
	}
	if l.mine(1, x); rapid.Bool().Draw(t, "deep") {
		l.mine(ledgerDepth)
	}
	return x.hash
}

func drawClaim(t *rapid.T, hashes []common.Hash) swap.Claim {
	return swap.Claim{
		State: rapid.SampledFrom([]swap.State{swap.Settling, swap.Settling, swap.Filled, swap.Refunded, swap.Failed, "finished"}).Draw(t, "state"),
		Tx:    rapid.SampledFrom(hashes).Draw(t, "tx"),
		Chain: rapid.SampledFrom([]uint64{0, srcChain, dstChain, noRPC}).Draw(t, "chain"),
	}
}

// spoil makes one host of a chain faulty and the others right.
func (c *proofFixture) spoil(t *rapid.T) {
	l := rapid.SampledFrom([]*ledger{c.src, c.dst}).Draw(t, "chain")
	which := rapid.IntRange(0, len(l.hosts)-1).Draw(t, "host")
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.hosts {
		h.down, h.lag, h.hideLogs, h.lie = false, 0, false, nil
		if i != which {
			continue
		}
		switch rapid.IntRange(0, 6).Draw(t, "how") {
		case 0:
			h.down = true
		case 1:
			h.lag = 5
		case 2:
			h.hideLogs = true
		case 3:
			h.lie = denies
		case 4:
			h.lie = onAFork
		case 5:
			h.lie = inventsFill(l)
		}
	}
}

// checkPaid compares what ended with what was paid.
func (c *proofFixture) checkPaid(t *rapid.T, ids []string, claims map[string]swap.Claim) {
	used := map[swap.LogRef]string{}
	for _, id := range ids {
		o := c.get(id)
		if !o.State.Final() {
			continue
		}
		v, sum := o.Verdict, new(big.Int)
		token, least := outside, o.Terms.MinOut
		if o.State == swap.Refunded {
			token, least = usdc, big.NewInt(4900)
		}
		if o.State != swap.Filled && o.State != swap.Refunded || len(v.Logs) == 0 || v.Sources != bothAgree {
			t.Fatalf("ended %s by %+v", o.State, v)
		}
		for _, r := range v.Logs {
			if used[r] != "" {
				t.Fatalf("%+v ended orders %s and %s", r, used[r], id)
			}
			used[r] = id
			log, tx, deep := c.findPayment(r)
			if tx == nil || !deep || tx.failed || tx.from != solver || log.Address != token || log.Topics[2] != proof.TopicOf(account) {
				t.Fatalf("ended by %+v, which is %+v", r, tx)
			}
			sum.Add(sum, new(big.Int).SetBytes(log.Data))
		}
		if v.Received.Amount.Cmp(sum) != 0 || v.BelowMinimum != (sum.Cmp(least) < 0) || v.BelowMinimum && o.Claim.Tx != v.Evidence.Tx {
			t.Fatalf("%s received of %s: %+v, claim %+v", v.Received.Amount, sum, v, o.Claim)
		}
	}
}

// findPayment finds a log in the ledger itself, if it is after both deposits.
func (c *proofFixture) findPayment(r swap.LogRef) (*types.Log, *ledgerTx, bool) {
	l := map[uint64]*ledger{srcChain: c.src, dstChain: c.dst}[r.Chain]
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, b := range l.blocks {
		for i := range b.txs {
			if b.txs[i].hash == r.Tx && n > 10 {
				return b.txs[i].logs[r.Index], &b.txs[i], len(l.blocks)-n >= ledgerDepth
			}
		}
	}
	return nil, nil, false
}
