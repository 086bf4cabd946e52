package engine

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// TestIndistinguishableOrdersWait checks that an order whose fill would look like that of another open
// order is not signed until that one has ended, and that each ends by its own fill.
func TestIndistinguishableOrdersWait(t *testing.T) {
	scene(t, func(m *model) {
		m.dealer.indistinguishable = true
		c := m.chains[0]
		first := m.submittedBid(false)
		second := m.swapOn(usdt, c.net.WrappedNative)
		waits := func() {
			t.Helper()
			m.advance(time.Minute)
			if o := m.order(second); o.Condition != swap.WaitingForSimilar || o.Step == len(o.Plan.Steps) || len(o.FillTraces) != 0 || len(c.bids) != 1 {
				t.Fatalf("%s %q, step %d, %d bids", o.State, o.Condition, o.Step, len(c.bids))
			}
		}
		waits()
		m.restart()
		waits()
		if !c.fill(c.bids[0]) {
			t.Fatal("not filled")
		}
		m.advance(2 * time.Minute)
		m.ended(first, swap.Filled)
		if len(c.bids) != 2 || !c.fill(c.bids[1]) {
			t.Fatalf("the second is not out: %d bids, %+v", len(c.bids), m.order(second))
		}
		m.advance(2 * time.Minute)
		m.ended(second, swap.Filled)
		if a, b := m.order(first).Verdict, m.order(second).Verdict; a.Evidence.Tx == b.Evidence.Tx {
			t.Error("one fill for both")
		}
	})
	scene(t, func(m *model) { // the waiting order is cancelled
		m.dealer.indistinguishable = true
		m.submittedBid(false)
		second := m.swapOn(usdt, m.chains[0].net.WrappedNative)
		m.advance(time.Minute)
		if err := m.cancelOrder(second); err != nil {
			t.Fatal(err)
		}
		m.advance(10 * time.Second)
		m.ended(second, swap.Cancelled)
		if by := m.order(second).Verdict.ProvenBy; by != swap.ProvenByWithdrawn {
			t.Error(by)
		}
	})
}

// TestIndistinguishableOrdersRace checks that of two such orders signed at the same moment, the second
// signature is dropped before it leaves the process.
func TestIndistinguishableOrdersRace(t *testing.T) {
	raced := 0
	for place := 1; place <= 24; place++ {
		scene(t, func(m *model) {
			m.dealer.auction, m.dealer.indistinguishable = true, true
			wrapped := m.chains[0].net.WrappedNative
			ids := []string{m.swapOn(usdc, wrapped), m.swapOn(usdt, wrapped)}
			for _, id := range ids { // up to the signature
				for o := m.order(id); o.Step == 0 || len(o.SearchFrom) == 0; o = m.order(id) {
					m.move(id)
					m.chains[0].mine(time.Now(), false)
				}
			}
			between := false
			m.faults.actIn, m.faults.act = place, func(bool) { between = true; m.move(ids[0]) }
			m.move(ids[1])
			signed := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return len(m.order(id).FillTraces) == 0 })
			if len(signed) > 1 {
				t.Fatalf("place %d: both are signed", place)
			}
			if between && len(signed) == 1 && signed[0] == ids[0] {
				raced++
			}
			m.faults.actIn, m.faults.act = 0, nil
			m.run(8)
			m.check()
			if len(m.chains[0].bids) > 1 {
				t.Errorf("place %d: %d bids", place, len(m.chains[0].bids))
			}
		})
	}
	if raced == 0 {
		t.Error("the first never came in between")
	}
}

// TestOneTraceOneOrder checks that an order's fill pattern is stored with its signature
// and blocks other orders with the same one until the order ends.
func TestOneTraceOneOrder(t *testing.T) {
	c := newProofFixture(t, 2)
	names := []common.Hash{{1}, {2}}
	signs := func(id string, names ...common.Hash) error {
		o := c.get(id)
		o.FillTraces = names
		return c.engine.Journal.Update(&o, swap.NewCause("signed"))
	}
	first, second := c.order(nil), c.order(nil)
	if err := signs(first, names...); err != nil {
		t.Fatal(err)
	}
	c.restart()
	for _, n := range names {
		if err := signs(second, common.Hash{3}, n); !errors.Is(err, journal.ErrIndistinguishable) {
			t.Errorf("two orders that would look alike on the chain: %v", err)
		}
		if err := c.engine.Journal.CheckDistinguishable(second, []common.Hash{n}); !errors.Is(err, journal.ErrIndistinguishable) {
			t.Errorf("two orders that would look alike on the chain: %v", err)
		}
		if err := c.engine.Journal.CheckDistinguishable(first, []common.Hash{n}); err != nil {
			t.Errorf("an order beside itself: %v", err)
		}
	}
	c.src.mineUntil(c.lastSecond())
	c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByAbsence, bothAgree)
	if err := signs(second, names...); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}

// TestNothingToProve checks that an order whose end could not be proven on the chain is
// not signed.
func TestNothingToProve(t *testing.T) {
	for name, proof := range map[string]swap.Proof{
		"nothing":           {},
		"anybody's event":   {Fill: []swap.LogPattern{{Topics: []common.Hash{filledAs}}}},
		"a deposit's":       {Own: true},
		"leaves no trace":   {Fill: []swap.LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs}}}, Trace: []swap.LogPattern{{Address: fillsFor, Topics: []common.Hash{{1}}}}},
		"somebody's nonces": {Fill: []swap.LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs}}}, Nonce: &swap.NonceBit{Contract: permit2, Owner: stranger, Nonce: common.Big1}},
	} {
		c := newProofFixture(t, 2)
		o := c.get(c.order(nil))
		o.Step, o.Results = 0, nil
		c.provider.proof = func(got swap.Order) swap.Proof {
			if len(got.Results) != 1 || len(got.Results[0].Signature) != signatureLen {
				t.Errorf("asked about %+v", got.Results)
			}
			return proof
		}
		_, err := c.engine.fillTraces(o)
		t.Log(name)
		refusedWith(t, err, swap.Undecodable)
	}
	c := newProofFixture(t, 2)
	o := c.get(c.order(nil))
	o.Step, o.Results = 0, nil
	one, err := c.engine.fillTraces(o)
	if err != nil || len(one) != 2 || len(o.Results) != 0 {
		t.Fatal(one, err)
	}
	for name, change := range map[string]func(*swap.Proof){
		"another event": func(p *swap.Proof) { p.Fill[0].Topics[1] = common.Hash{9} },
		"another nonce": func(p *swap.Proof) { p.Nonce.Nonce = common.Big2 },
		"another trace": func(p *swap.Proof) {
			p.Trace = []swap.LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, {}}}}
		},
	} {
		c.provider.proof = func(o swap.Order) swap.Proof { p := fillProof(o); change(&p); return p }
		other, err := c.engine.fillTraces(o)
		if err != nil || slices.Equal(one, other) || one[0] != other[0] && one[1] != other[1] {
			t.Errorf("%s: %v, %v", name, other, err)
		}
	}
	c.provider.proof = fillProof
	o.Terms.SrcChain = dstChain
	if other, err := c.engine.fillTraces(o); err != nil || one[0] == other[0] || one[1] == other[1] {
		t.Errorf("another chain: %v, %v", other, err)
	}
}

// partFillTx returns a fill's transaction with the input that leaves, the output that arrives
// (below 0: no transfer) and, with told, the settlement's event.
func partFillTx(left, got int64, told bool) ledgerTx {
	x := ledgerTx{hash: common.Hash{0xaa}, from: solver, to: fillsFor}
	if left >= 0 {
		x.logs = append(x.logs, transferLog(usdc, account, solver, left))
	}
	if got >= 0 {
		x.logs = append(x.logs, transferLog(weth, solver, account, got))
	}
	if told {
		x.logs = append(x.logs, fill(0).logs[1])
	}
	return x
}

// makerProof is the proof of an order that one maker may fill partly: 5000 for 1000.
func makerProof(o swap.Order) swap.Proof {
	in := func(p swap.LogPattern) swap.LogPattern {
		p.Address, p.Topics = usdc, []common.Hash{transferTopic, proof.TopicOf(account), proof.TopicOf(solver)}
		return p
	}
	event := swap.LogPattern{Address: fillsFor, Topics: []common.Hash{filledAs, {}}}
	return swap.Proof{
		Fill: []swap.LogPattern{in(swap.LogPattern{Amount: o.Terms.AmountIn}),
			{Address: weth, Topics: []common.Hash{transferTopic, proof.TopicOf(solver), proof.TopicOf(account)}, Amount: o.Terms.MinOut, AtLeast: true}, event},
		Trace: []swap.LogPattern{in(swap.LogPattern{Amount: common.Big1, AtLeast: true}), event},
		Ends:  o.Terms.Deadline,
	}
}

// nonceProof is the proof of an order that the settlement's event names by nonce, with a
// transfer of the input.
func nonceProof(o swap.Order) swap.Proof {
	event := swap.LogPattern{Address: fillsFor, Topics: []common.Hash{filledAs, {1}}}
	in := swap.LogPattern{Address: usdc, Topics: []common.Hash{transferTopic, proof.TopicOf(account), {}}, Amount: o.Terms.AmountIn}
	return swap.Proof{Fill: []swap.LogPattern{event, in}, Trace: []swap.LogPattern{event}, Ends: o.Terms.Deadline}
}

// TestPartialFills checks that a signed order that is not settled exactly as signed is never
// reported as unused.
func TestPartialFills(t *testing.T) {
	taxed := func(left, tax, got int64) ledgerTx {
		x := partFillTx(left, got, true)
		x.logs = append(x.logs, transferLog(usdc, account, stranger, tax))
		return x
	}
	coin := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	for _, tc := range []struct {
		name   string
		proof  func(swap.Order) swap.Proof
		change func(*swap.Order)
		do     func(*proofFixture)
		by     string // before its last second
		spent  int64
		got    int64
		late   string // after its last second
	}{
		{name: "all of it", proof: makerProof, do: payTx(partFillTx(5000, 1000, true)), by: swap.ProvenByFill, got: 1000, late: swap.ProvenByFill},
		{name: "half of it", proof: makerProof, do: payTx(partFillTx(2500, 500, true)), by: swap.ProvenByPartialFill, spent: 2500, got: 500, late: swap.ProvenByPartialFill},
		{name: "half of it, called failed", proof: makerProof, do: func(c *proofFixture) {
			payTx(partFillTx(2500, 500, true))(c)
			c.claimEnd(swap.Failed, common.Hash{}, 0)
		}, by: swap.ProvenByPartialFill, spent: 2500, got: 500, late: swap.ProvenByPartialFill},
		{name: "half of it, told", proof: makerProof, do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.src.mineFinal(partFillTx(2500, 500, true)), srcChain) }, by: swap.ProvenByPartialFill, spent: 2500, got: 500, late: swap.ProvenByPartialFill},
		{name: "nearly all, for as much", proof: makerProof, do: payTx(partFillTx(4999, 1000, true)), by: swap.ProvenByPartialFill, spent: 4999, got: 1000, late: swap.ProvenByPartialFill},
		{name: "a token that takes a share", proof: makerProof, do: payTx(taxed(4950, 50, 1000)), by: swap.ProvenByPartialFill, spent: 5000, got: 1000, late: swap.ProvenByPartialFill},
		{name: "a token of which less arrives", proof: makerProof, do: payTx(partFillTx(5000, 990, true)), by: swap.ProvenByPartialFill, spent: 5000, got: 990, late: swap.ProvenByPartialFill},
		{name: "nothing seen to arrive", proof: makerProof, do: payTx(partFillTx(2500, -1, true))},
		{name: "more left than was signed", proof: makerProof, do: payTx(partFillTx(6000, 1000, true))},
		{name: "half, and the host that is asked first hides it", proof: makerProof, do: func(c *proofFixture) { payTx(partFillTx(2500, 500, true))(c); c.src.hosts[0].hideLogs = true }, by: swap.ProvenByPartialFill, spent: 2500, got: 500, late: swap.ProvenByPartialFill},
		{name: "half, and a host denies it", proof: makerProof, do: func(c *proofFixture) { payTx(partFillTx(2500, 500, true))(c); c.src.hosts[0].lie = denies }},
		{name: "half, reverted", proof: makerProof, do: func(c *proofFixture) { x := partFillTx(2500, 500, true); x.failed = true; c.src.mineFinal(x) }, late: swap.ProvenByAbsence},
		{name: "half, taken back", proof: makerProof, do: func(c *proofFixture) { c.src.mine(1, partFillTx(2500, 500, true)); c.src.reorg(1) }, late: swap.ProvenByAbsence},
		{name: "a transfer of ours to the maker", proof: makerProof, do: payTx(partFillTx(2500, -1, false)), late: swap.ProvenByAbsence},
		{name: "a transfer of nothing, and another's fill", proof: makerProof, do: payTx(partFillTx(0, -1, true)), late: swap.ProvenByAbsence},
		{name: "another's fill", proof: makerProof, do: payTx(partFillTx(-1, -1, true)), late: swap.ProvenByAbsence},

		{name: "named", proof: nonceProof, do: payTx(partFillTx(5000, 1000, true)), by: swap.ProvenByFill, got: 1000, late: swap.ProvenByFill},
		{name: "named, for the coin", proof: nonceProof, change: coin, do: payTx(partFillTx(5000, -1, true)), by: swap.ProvenByFill, late: swap.ProvenByFill},
		{name: "named, of a token that takes a share", proof: nonceProof, do: payTx(taxed(4950, 50, 1000)), by: swap.ProvenByPartialFill, spent: 5000, got: 1000, late: swap.ProvenByPartialFill},
		{name: "named, of such a token, for the coin", proof: nonceProof, change: coin, do: payTx(taxed(4950, 50, -1))},
		{name: "named, with another input", proof: nonceProof, do: payTx(partFillTx(-1, 1000, true))},
		{name: "not named", proof: nonceProof, do: payTx(partFillTx(5000, 1000, false)), late: swap.ProvenByAbsence},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = tc.proof
			id := c.order(tc.change)
			tc.do(c)
			c.src.mine(ledgerDepth)
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if v := o.Verdict; tc.spent > 0 && (v == nil || v.Spent.Amount.Int64() != tc.spent || v.Received.Amount.Int64() != tc.got || v.BelowMinimum != (tc.got < 1000) || len(v.Logs) == 0) {
				t.Errorf("verdict %+v", v)
			}
			if partly := tc.spent > 0 && tc.spent < 5000; partly != o.Partly() {
				t.Errorf("filled in part: %t", o.Partly())
			}
			c.restart()
			c.src.mineUntil(c.lastSecond())
			o = c.pollRepeatedly(id)
			c.wantVerdict(o, tc.late, bothAgree)
			if unclear := tc.by == "" && tc.late == "" && c.src.hosts[0].lie == nil; unclear != (o.Condition == swap.AmountUnclear) || unclear != strings.Contains(o.Reason, "0xaa") {
				t.Errorf("%s %q, %q", o.State, o.Condition, o.Reason)
			}
		})
	}
}

func payTx(x ledgerTx) func(*proofFixture) { return func(c *proofFixture) { c.src.mineFinal(x) } }

// TestPartialFillOfAnother checks that the fill of another order with the same nonce or maker is
// not taken as a partial fill, whichever order is polled first.
func TestPartialFillOfAnother(t *testing.T) {
	for name, proof := range map[string]func(swap.Order) swap.Proof{"named": nonceProof, "dealt": makerProof} {
		for _, ended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ended %v", name, ended), func(t *testing.T) {
				c := newProofFixture(t, 2)
				c.provider.proof = proof
				large := c.order(nil)
				small := c.order(func(o *swap.Order) { o.Terms.AmountIn = common.Big3; o.Terms.MinOut = common.Big2 })
				c.src.mineFinal(partFillTx(3, 2, true))
				if !ended {
					c.wantVerdict(c.pollRepeatedly(large), "", "")
				}
				c.wantVerdict(c.pollRepeatedly(small), swap.ProvenByFill, bothAgree)
				c.wantVerdict(c.pollRepeatedly(large), "", "")
				c.src.mineUntil(c.lastSecond())
				o := c.pollRepeatedly(large)
				c.wantVerdict(o, swap.ProvenByAbsence, bothAgree)
				if o.Reason != "" {
					t.Errorf("reason %q", o.Reason)
				}
			})
		}
	}
}

// TestIndistinguishableOrdersInOneTransaction checks that indistinguishable orders filled in one
// transaction each get their own logs.
func TestIndistinguishableOrdersInOneTransaction(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = makerProof
	first, second, third := c.order(nil), c.order(nil), c.order(nil)
	x := partFillTx(5000, 1000, true)
	x.logs = append(x.logs, partFillTx(5000, 1000, true).logs...)
	c.src.mineFinal(x)
	a, b := c.pollRepeatedly(first), c.pollRepeatedly(second)
	c.wantVerdict(a, swap.ProvenByFill, bothAgree)
	c.wantVerdict(b, swap.ProvenByFill, bothAgree)
	for _, r := range a.Verdict.Logs {
		if slices.Contains(b.Verdict.Logs, r) {
			t.Errorf("%+v counts twice", r)
		}
	}
	c.src.mineUntil(c.lastSecond())
	c.wantVerdict(c.pollRepeatedly(third), swap.ProvenByAbsence, bothAgree)
}

// TestPartialFillNextToAnother checks that amounts are not divided if one transaction fills one
// order and a part of another.
func TestPartialFillNextToAnother(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = makerProof
	whole, half := c.order(nil), c.order(func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(7000) })
	x := partFillTx(5000, 1000, true)
	x.logs = append(x.logs, partFillTx(2500, 500, true).logs...)
	c.src.mineFinal(x)
	c.wantVerdict(c.pollRepeatedly(half), "", "")
	c.wantVerdict(c.pollRepeatedly(whole), swap.ProvenByFill, bothAgree)
	o := c.pollRepeatedly(half)
	if c.wantVerdict(o, "", ""); o.Condition != swap.AmountUnclear {
		t.Errorf("%q", o.Condition)
	}
	c.src.mineUntil(c.lastSecond())
	c.wantVerdict(c.pollRepeatedly(half), "", "")
}
