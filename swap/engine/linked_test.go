package engine

import (
	"math/big"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// orderName is what a payment of the order of [linkedProof] ends with.
var (
	orderName = common.HexToHash("0x0d4f71fa132a005aa7fc1596fffaea5a168e06a6fc4960d0c3a6f61cc702a690")
	coinPaid  = common.Hash{0xd3}
)

// linkedProof is arrivalProof of an order that its payments name.
func linkedProof(o swap.Order) swap.Proof {
	p := arrivalProof(o)
	link := &swap.Link{InputEnd: orderName, CoinPaid: coinPaid, Payers: []common.Address{router}}
	p.Arrival.Link, p.Refund.Link = link, link
	return p
}

// named gives a transaction an input that ends with the order's name.
func named(x ledgerTx) ledgerTx {
	x.input = append([]byte{1, 2, 3}, orderName[:]...)
	return x
}

// coinLog is a router's log of a payment of the coin.
func coinLog(by, to common.Address, amount int64) *types.Log {
	return &types.Log{Address: by, Topics: []common.Hash{coinPaid}, Data: append(common.LeftPadBytes(to[:], 32), common.BigToHash(big.NewInt(amount)).Bytes()...)}
}

// TestLinked has the payments that end a deposit whose payments name it, and those that do not.
func TestLinked(t *testing.T) {
	native := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	routed := func(by, to common.Address, amount int64) ledgerTx {
		return named(ledgerTx{hash: common.Hash{0xc1}, from: stranger, to: router, logs: []*types.Log{coinLog(by, to, amount)}, internalTransfers: map[common.Address]int64{account: amount}})
	}
	for _, tc := range []struct {
		name   string
		change func(*swap.Order)
		tx     ledgerTx
		onSrc  bool
		claims swap.State // of that transaction; "" = nothing
		by     string
		got    int64
		short  bool
	}{
		{name: "by anybody, not told", tx: named(arrival(1, stranger, 1000)), by: swap.ProvenByArrival, got: 1000},
		{name: "told", tx: named(arrival(1, stranger, 1001)), claims: swap.Filled, by: swap.ProvenByArrival, got: 1001},
		{name: "by the filler, without the name", tx: arrival(1, solver, 1000)},
		{name: "less, by anybody, told", tx: named(arrival(1, stranger, 999)), claims: swap.Filled},
		{name: "less, by the filler, told", tx: named(arrival(1, solver, 999)), claims: swap.Filled, by: swap.ProvenByArrival, got: 999, short: true},
		{name: "less, by the filler, not told", tx: named(arrival(1, solver, 999))},
		{name: "in parts, told", tx: func() ledgerTx {
			x := named(arrival(1, stranger, 600))
			x.logs = append(x.logs, transferLog(outside, solver, account, 500))
			return x
		}(), claims: swap.Filled, by: swap.ProvenByArrival, got: 1100},
		{name: "taken from the recipient before", tx: func() ledgerTx {
			x := named(arrival(1, stranger, 1000))
			x.logs = append(x.logs, transferLog(outside, account, stranger, 900))
			return x
		}(), claims: swap.Filled},
		{name: "by ourselves", tx: func() ledgerTx { x := named(arrival(1, stranger, 1000)); x.from = account; return x }(), claims: swap.Filled},
		{name: "the name in the middle", tx: func() ledgerTx { x := named(arrival(1, stranger, 1000)); x.input = append(x.input, 0); return x }(), claims: swap.Settling},
		{name: "refunded", tx: named(refund(1, stranger, 4900)), onSrc: true, by: swap.ProvenByRefund, got: 4900},
		{name: "refunded without the name", tx: refund(1, solver, 4900), onSrc: true, claims: swap.Refunded},
		{name: "native, the input is the name", change: native, tx: func() ledgerTx { x := coin(1, stranger, 1000); x.input = orderName[:]; return x }(), claims: swap.Filled, by: swap.ProvenByArrival, got: 1000},
		{name: "native, the input ends with the name", change: native, tx: named(coin(1, stranger, 1000)), claims: swap.Settling},
		{name: "native, by a router", change: native, tx: routed(router, account, 1000), claims: swap.Filled, by: swap.ProvenByArrival, got: 1000},
		{name: "native, by another contract", change: native, tx: routed(stranger, account, 1000), claims: swap.Filled},
		{name: "native, by a router to another", change: native, tx: routed(router, stranger, 1000), claims: swap.Filled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c, id := withDeposit(c, tc.change)
			c.provider.proof = linkedProof
			on, chainID := c.dst, uint64(dstChain)
			if tc.onSrc {
				on, chainID = c.src, srcChain
			}
			tx := on.mineFinal(tc.tx)
			if tc.claims != "" {
				c.claimEnd(tc.claims, tx, chainID)
			}
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if v := o.Verdict; tc.by != "" && (v == nil || v.Received.Amount.Int64() != tc.got || v.BelowMinimum != tc.short || v.Evidence.Tx != tx) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// TestLinkedByOurCalls checks that a call of the wallet's own, whose bytes a provider wrote, never
// proves another order, whatever name it has: of an isolated account or of another account.
func TestLinkedByOurCalls(t *testing.T) {
	isolated, mine := common.Address{0x15}, common.Address{0x16}
	for name, from := range map[string]common.Address{"isolated": isolated, "another account": mine, "a stranger": stranger} {
		for _, tx := range []ledgerTx{named(arrival(1, stranger, 1000)), named(refund(1, stranger, 4900)), named(ledgerTx{hash: common.Hash{0xc1}, from: stranger, to: router, logs: []*types.Log{coinLog(router, account, 1000)}, internalTransfers: map[common.Address]int64{account: 1000}})} {
			c := newProofFixture(t, 2)
			c.engine.Mine = func(a common.Address) bool { return a == mine }
			coins := tx.to == router
			c, id := withDeposit(c, func(o *swap.Order) {
				if coins {
					o.Terms.TokenOut = chain.Native
				}
			})
			c.order(func(o *swap.Order) { o.Terms.Isolated = isolated })
			c.provider.proof = func(o swap.Order) swap.Proof {
				if o.Terms.IsIsolated() {
					return swap.Proof{Own: true}
				}
				return linkedProof(o)
			}
			on, chainID, end := c.dst, uint64(dstChain), swap.Filled
			if tx.logs[0].Address == usdc {
				on, chainID, end = c.src, srcChain, swap.Refunded
			}
			tx.from = from
			c.claimEnd(end, on.mineFinal(tx), chainID)
			o := c.pollRepeatedly(id)
			if got := o.State.Final(); got != (from == stranger) {
				t.Errorf("%s, %s: %s %q", name, end, o.State, o.Condition)
			}
		}
	}
}

// TestLinkedInARelay checks that a transaction which fills a relay to the recipient proves no order
// whose name is written behind it.
func TestLinkedInARelay(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	c.provider.proof = linkedProof
	x := named(arrival(1, stranger, 1000))
	x.logs = append([]*types.Log{usualRelay.fill(1).logs[0]}, x.logs...)
	c.claimEnd(swap.Filled, c.dst.mineFinal(x), dstChain)
	if o := c.pollRepeatedly(id); o.State.Final() || o.Condition == swap.LikelyPaid {
		t.Errorf("%s %q", o.State, o.Condition)
	}
}

// TestLinkedOrders checks that of two equal orders each ends by the payment that names it, in
// whatever order they come and whatever the provider says.
func TestLinkedOrders(t *testing.T) {
	c, first := newDepositFixture(t, 2, nil)
	_, second := withDeposit(c, nil)
	other := common.Hash{0xff, 1}
	c.provider.proof = func(o swap.Order) swap.Proof {
		p := linkedProof(o)
		if o.ID == second {
			l := *p.Arrival.Link
			l.InputEnd = other
			p.Arrival.Link, p.Refund.Link = &l, &l
		}
		return p
	}
	x := arrival(1, stranger, 1000)
	x.input = other[:]
	tx := c.dst.mineFinal(x)
	c.namePayments(map[string]common.Hash{first: tx, second: tx})
	if o := c.pollRepeatedly(first); o.State.Final() || o.Ended() {
		t.Errorf("%s %q by the other one's payment", o.State, o.Condition)
	}
	c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByArrival, bothAgree)
	c.dst.mineFinal(named(arrival(2, stranger, 1000)))
	c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
}
