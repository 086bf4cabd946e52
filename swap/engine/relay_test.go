package engine

import (
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// The contracts of a network of fillers on both chains, its events and the wrapped coin.
var (
	poolHere       = common.HexToAddress("0x5500000000000000000000000000000000000055")
	poolThere      = common.HexToAddress("0x6600000000000000000000000000000000000066")
	wrappedThere   = common.HexToAddress("0x7700000000000000000000000000000000000077")
	fundsDeposited = common.HexToHash("0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3")
	filledRelay    = common.HexToHash("0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208")
	withdrawal     = common.HexToHash("0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65")
)

// relayProof is arrivalProof of an order whose payment may be a relay.
func relayProof(o swap.Order) swap.Proof {
	p := arrivalProof(o)
	p.Arrival.From = []common.Address{poolThere}
	p.Arrival.Link = &swap.Link{Relay: &swap.Relay{Source: poolHere, Destination: poolThere, Coin: wrappedThere}}
	return p
}

// A relayed describes a relay of order's money: what the deposit promises, and how it is filled.
type relayed struct {
	id, promised, paid int64
	dst                int64
	token              common.Address
	deadline           int64
	slow               bool
}

var usualRelay = relayed{id: 7, dst: dstChain, promised: 1000, paid: 1000, token: outside, deadline: 99}

func dataOf(words ...any) (data []byte) {
	for _, w := range words {
		switch w := w.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(w[:], 32)...)
		case int64:
			data = append(data, common.BigToHash(big.NewInt(w)).Bytes()...)
		case int:
			data = append(data, common.BigToHash(big.NewInt(int64(w))).Bytes()...)
		}
	}
	return data
}

func topic(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }

// deposit is the log of a deposit's receipt.
func (r relayed) deposit() *types.Log {
	return &types.Log{Address: poolHere, Topics: []common.Hash{fundsDeposited, topic(r.dst), topic(r.id), proof.TopicOf(account)},
		Data: dataOf(usdc, r.token, 5000, r.promised, 1, r.deadline, 0, account, 0, 320, 0)}
}

// fill is the transaction that fills the relay, whichever account sends it.
func (r relayed) fill(n byte) ledgerTx {
	kind, from := 0, stranger
	if r.slow {
		kind, from = 2, poolThere
	}
	l := &types.Log{Address: poolThere, Topics: []common.Hash{filledRelay, topic(srcChain), topic(r.id), proof.TopicOf(stranger)},
		Data: dataOf(usdc, r.token, 5000, r.promised, 1, r.deadline, 0, 0, account, account, 0, account, 0, r.paid, kind)}
	x := ledgerTx{hash: common.Hash{0xe0, n}, from: stranger, to: poolThere, logs: []*types.Log{l}}
	if r.token == wrappedThere {
		x.logs = append(x.logs, &types.Log{Address: wrappedThere, Topics: []common.Hash{withdrawal, proof.TopicOf(poolThere)}, Data: dataOf(r.paid)})
		x.internalTransfers = map[common.Address]int64{account: r.paid}
		return x
	}
	x.logs = append(x.logs, transferLog(r.token, from, account, r.paid))
	return x
}

// newRelayFixture returns a deposit whose receipt has these logs.
func newRelayFixture(t *testing.T, change func(*swap.Order), logs ...*types.Log) (*proofFixture, string) {
	c := newProofFixture(t, 2)
	c.depositLogs = logs
	c, id := withDeposit(c, change)
	c.provider.proof = relayProof
	return c, id
}

// TestRelays has the fills that end an order whose deposit's receipt names a relay, and those
// that do not.
func TestRelays(t *testing.T) {
	native := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	with := func(change func(*relayed)) relayed {
		r := usualRelay
		change(&r)
		return r
	}
	coin := with(func(r *relayed) { r.token = wrappedThere })
	slow := with(func(r *relayed) { r.slow, r.paid = true, 970 })
	for _, tc := range []struct {
		name   string
		change func(*swap.Order)
		logs   []*types.Log // of the deposit
		fill   relayed
		claims swap.State // of that transaction; "" = nothing
		got    int64      // 0 = it proves nothing
		short  bool
		waits  swap.Condition
	}{
		{name: "not told", logs: []*types.Log{usualRelay.deposit()}, fill: usualRelay, got: 1000},
		{name: "told", logs: []*types.Log{usualRelay.deposit()}, fill: usualRelay, claims: swap.Filled, got: 1000},
		{name: "called failed", logs: []*types.Log{usualRelay.deposit()}, fill: usualRelay, claims: swap.Failed, got: 1000},
		{name: "the coin, not told", change: native, logs: []*types.Log{coin.deposit()}, fill: coin, got: 1000},
		{name: "the coin, told", change: native, logs: []*types.Log{coin.deposit()}, fill: coin, claims: swap.Filled, got: 1000},
		{name: "a slow fill for less, told", logs: []*types.Log{usualRelay.deposit()}, fill: slow, claims: swap.Filled, got: 970, short: true},
		{name: "a slow fill for less, not told", logs: []*types.Log{usualRelay.deposit()}, fill: slow},
		{name: "a filler's for less, told", logs: []*types.Log{usualRelay.deposit()}, fill: with(func(r *relayed) { r.paid = 970 }), claims: swap.Filled, waits: swap.AwaitingProof},
		{name: "another relay under the same id, told", logs: []*types.Log{usualRelay.deposit()}, fill: with(func(r *relayed) { r.deadline = 98 }), claims: swap.Filled, waits: swap.PaymentSeen},
		{name: "another relay under the same id", logs: []*types.Log{usualRelay.deposit()}, fill: with(func(r *relayed) { r.deadline = 98 })},
		{name: "another deposit's relay, told", logs: []*types.Log{usualRelay.deposit()}, fill: with(func(r *relayed) { r.id = 8 }), claims: swap.Filled, waits: swap.PaymentSeen},
		{name: "no relay of ours, told", fill: usualRelay, claims: swap.Filled, waits: swap.PaymentSeen},
		{name: "two relays of ours, told", logs: []*types.Log{usualRelay.deposit(), with(func(r *relayed) { r.id = 8 }).deposit()}, fill: usualRelay, claims: swap.Filled, waits: swap.PaymentSeen},
		{name: "less was promised, told", logs: []*types.Log{with(func(r *relayed) { r.promised = 999 }).deposit()}, fill: with(func(r *relayed) { r.promised = 999 }), claims: swap.Filled, waits: swap.PaymentSeen},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, id := newRelayFixture(t, tc.change, tc.logs...)
			tx := c.dst.mineFinal(tc.fill.fill(1))
			if tc.claims != "" {
				c.claimEnd(tc.claims, tx, dstChain)
			}
			o := c.pollRepeatedly(id)
			if tc.got == 0 {
				c.wantVerdict(o, "", "")
				if o.Condition != tc.waits {
					t.Errorf("condition %q, want %q; logged %q", o.Condition, tc.waits, c.logged)
				}
				return
			}
			c.wantVerdict(o, swap.ProvenByArrival, bothAgree)
			if v := o.Verdict; v == nil || v.Received.Amount.Int64() != tc.got || v.BelowMinimum != tc.short || v.Evidence.Tx != tx || v.Received.Token != o.Terms.TokenOut || len(v.Logs) != 1 {
				t.Errorf("verdict %+v", v)
			}
		})
	}
	t.Run("paid plainly, told", func(t *testing.T) {
		c, id := newRelayFixture(t, nil, usualRelay.deposit())
		c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain)
		c.wantCondition(id, swap.LikelyPaid)
		c.restart()
		c.dst.mineFinal(usualRelay.fill(1))
		c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
	})
}

// TestRelayOnAFarNetwork checks that a relay there is proven if the provider names its fill, since
// no logs are searched.
func TestRelayOnAFarNetwork(t *testing.T) {
	r := usualRelay
	r.dst = noRPC
	for told, by := range map[bool]string{true: swap.ProvenByArrival, false: ""} {
		c, far, id := farFixture(t, nil, r.deposit())
		c.provider.proof = relayProof
		if tx := far.mineFinal(r.fill(1)); told {
			c.claimEnd(swap.Filled, tx, noRPC)
		}
		c.wantVerdict(c.pollRepeatedly(id), by, bothAgree)
	}
}

// TestRelayWhileTheDepositIsGone checks that an order stays as it was while, after a restart, no
// host has the receipt that would name its relay.
func TestRelayWhileTheDepositIsGone(t *testing.T) {
	c, id := newRelayFixture(t, nil, usualRelay.deposit())
	c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain)
	c.wantCondition(id, swap.LikelyPaid)
	for _, h := range c.src.hosts {
		h.lie = denies
	}
	c.restart()
	c.wantCondition(id, swap.LikelyPaid)
	for _, h := range c.src.hosts {
		h.lie = nil
	}
	c.dst.mineFinal(usualRelay.fill(2))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
}

// TestRelayOnce checks that of two orders whose receipts name the same relay one ends by its
// fill, and the other by none.
func TestRelayOnce(t *testing.T) {
	for _, token := range []common.Address{outside, wrappedThere} {
		r := usualRelay
		r.token = token
		change := func(o *swap.Order) {
			if token == wrappedThere {
				o.Terms.TokenOut = chain.Native
			}
		}
		c, first := newRelayFixture(t, change, r.deposit())
		c.depositLogs = []*types.Log{r.deposit()}
		_, second := withDeposit(c, change)
		c.provider.proof = relayProof
		tx := c.dst.mineFinal(r.fill(1))
		c.namePayments(map[string]common.Hash{first: tx, second: tx})
		c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
		if o := c.pollRepeatedly(second); o.State.Final() || o.Condition == swap.LikelyPaid {
			t.Errorf("%s %q by the other one's fill", o.State, o.Condition)
		}
	}
}

// TestRelayOfAReorganisedDeposit checks that a deposit which is mined again under another id is
// filled by a relay of that id only, even if the first one was read.
func TestRelayOfAReorganisedDeposit(t *testing.T) {
	c, id := newRelayFixture(t, nil, usualRelay.deposit())
	c.wantVerdict(c.pollRepeatedly(id), "", "")
	again := usualRelay
	again.id = 8
	deposit := c.get(id).Results[0].Tx
	c.src.reorg(ledgerDepth + 1)
	c.src.mineFinal(ledgerTx{hash: deposit, from: account, to: fillsFor, logs: []*types.Log{again.deposit()}})
	c.dst.mineUntil(c.src.head().time)
	old := c.dst.mineFinal(usualRelay.fill(1))
	c.claimEnd(swap.Filled, old, dstChain)
	c.wantVerdict(c.pollRepeatedly(id), "", "")
	c.dst.mineFinal(again.fill(2))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
}

// TestRelayOfALie checks that neither one host nor both, which cannot forge what a block's hash
// commits to, can say what our deposit's receipt names.
func TestRelayOfALie(t *testing.T) {
	for _, tc := range []struct {
		liars, reads int // for how many reads they lie; 0 = always
		cause        swap.ReasonCode
	}{{liars: 1}, {liars: 2, cause: swap.ReceiptForged}, {liars: 2, reads: 1}} {
		liars, cause, left := tc.liars, tc.cause, tc.reads*tc.liars
		c, id := newRelayFixture(t, nil)
		deposit := c.get(id).Results[0].Tx
		lie := func(method string, result any) any {
			r, is := result.(map[string]any)
			if method != "eth_getTransactionReceipt" || !is || r["transactionHash"] != deposit {
				return result
			}
			if tc.reads > 0 {
				if left == 0 {
					return result
				}
				left--
			}
			l := usualRelay.deposit()
			l.TxHash, l.BlockHash, l.BlockNumber = deposit, r["blockHash"].(common.Hash), uint64(r["blockNumber"].(hexutil.Uint64))
			r["logs"] = append(slices.Clone(r["logs"].([]*types.Log)), l)
			return r
		}
		for _, h := range c.src.hosts[:liars] {
			h.lie = lie
		}
		c.claimEnd(swap.Filled, c.dst.mineFinal(usualRelay.fill(1)), dstChain)
		o := c.pollRepeatedly(id)
		c.wantVerdict(o, "", "")
		if got := o.Cause; cause != "" && (got == nil || got.Reason != cause) {
			t.Errorf("%d liars: %+v, logged %q", liars, got, c.logged)
		}
	}
}
