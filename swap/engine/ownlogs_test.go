package engine

import (
	"fmt"
	"math/big"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// ownCall turns o into an order settled by our own transaction, which emitted logs.
func (c *proofFixture) ownCall(o *swap.Order, kind swap.EffectKind, logs ...*types.Log) {
	c.t.Helper()
	x := ledgerTx{hash: common.Hash{0xd0, 0xcc}, from: o.Terms.From(), to: router, logs: logs}
	c.src.mineFinal(x)
	ev, ok, err := c.hub.Evidence(c.t.Context(), srcChain, x.hash)
	if err != nil || !ok {
		c.t.Fatal(ok, err)
	}
	o.Plan.Settlement = swap.ByOwnCall
	if kind == swap.Opaque {
		o.Plan.Settlement = swap.ByProvider
	}
	o.Plan.Steps = []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: srcChain, From: o.Terms.From(), To: router, Value: new(big.Int)}, Effect: swap.Effect{Kind: kind, Chain: srcChain}}}
	o.Results, c.sender.sent[stepKey(*o, 0)] = []swap.Result{{Tx: x.hash, Evidence: &ev}}, x.hash
}

// settlementOf returns the fill event of the n-th order of a court.
func settlementOf(n byte) *types.Log {
	return &types.Log{Address: fillsFor, Topics: []common.Hash{filledAs, {n}}}
}

// TestAnotherOrdersPayment covers a token on a swap's route whose transfer fills a signed
// order of ours within the swap's own transaction. Neither order reports the amount as
// received, whichever is polled first.
func TestAnotherOrdersPayment(t *testing.T) {
	paid := func(n int64) *types.Log { return transferLog(weth, stranger, account, n) }
	for name, tc := range map[string]struct {
		kind    swap.EffectKind
		logs    []*types.Log
		by      string // which proof ends the swap
		unclear bool
		got     int64
		filled  bool // the signed order ends as filled
	}{
		"decoded, alone":                 {swap.Swap, []*types.Log{paid(1100)}, swap.ProvenByOwnCall, false, 1100, false},
		"decoded, and a fill":            {swap.Swap, []*types.Log{paid(1000), settlementOf(1), paid(100)}, "", true, 0, true},
		"decoded, and a stranger's fill": {swap.Swap, []*types.Log{paid(1100), settlementOf(9)}, swap.ProvenByOwnCall, false, 1100, false},
		"opaque, alone":                  {swap.Opaque, []*types.Log{paid(1100)}, swap.ProvenByOpaqueCall, false, 1100, false},
		"opaque, and a fill":             {swap.Opaque, []*types.Log{paid(1000), settlementOf(1), paid(100)}, "", true, 0, true},
		"opaque, and a stranger's fill":  {swap.Opaque, []*types.Log{paid(1100), settlementOf(9)}, swap.ProvenByOpaqueCall, false, 1100, false},
	} {
		for run := range 4 {
			swapFirst, another := run&1 == 0, run&2 == 0
			t.Run(fmt.Sprintf("%s, the swap first %v, of another account %v", name, swapFirst, another), func(t *testing.T) {
				c := newProofFixture(t, 2)
				c.provider.proof = func(o swap.Order) swap.Proof {
					if o.Plan.LastEffect().Kind == swap.Opaque {
						return swap.Proof{Own: true}
					}
					p := fillProof(o)
					p.Nonce.Owner = o.Terms.Account
					return p
				}
				signed := c.order(func(o *swap.Order) {
					if another { // another account's order, paid to the same recipient
						o.Terms.Account, o.Terms.RefundTo = stranger, stranger
					}
				})
				direct := c.order(func(o *swap.Order) { c.ownCall(o, tc.kind, tc.logs...) })
				if swapFirst {
					c.pollRepeatedly(direct)
				}
				f := c.pollRepeatedly(signed)
				if v := f.Verdict; tc.filled && (v == nil || v.ProvenBy != swap.ProvenByFill || v.Received != nil) || !tc.filled && v != nil {
					t.Errorf("the signed order: %s, %+v", f.State, v)
				}
				c.restart()
				o := c.pollRepeatedly(direct)
				c.wantVerdict(o, tc.by, bothAgree)
				if tc.unclear != (o.Condition == swap.AmountUnclear) || tc.unclear != (o.Reason != "") {
					t.Errorf("the swap: %q, %q", o.Condition, o.Reason)
				}
				if v := o.Verdict; tc.by != "" && (v.Received == nil || v.Received.Amount.Int64() != tc.got || len(v.Logs) != 1) {
					t.Errorf("the swap: %+v", v)
				}
			})
		}
	}
}

// TestTransfersOfAnOwnCall checks that transfers in a swap's own transaction, from the account
// or an isolated one, prove neither a signed order that is proven by transfers nor the swap:
// amounts stay unclear.
func TestTransfersOfAnOwnCall(t *testing.T) {
	for kind, isolated := range map[swap.EffectKind]common.Address{swap.Swap: {}, swap.Opaque: {0x15}} {
		c := newProofFixture(t, 2)
		c.provider.proof = func(o swap.Order) swap.Proof {
			if o.Terms.IsIsolated() {
				return swap.Proof{Own: true}
			}
			return makerProof(o)
		}
		signed := c.order(nil)
		direct := c.order(func(o *swap.Order) {
			o.Terms.Isolated = isolated
			c.ownCall(o, kind, transferLog(usdc, account, solver, 5000), transferLog(weth, solver, account, 1000), settlementOf(9))
		})
		for _, id := range []string{signed, direct} {
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, "", "")
			if o.Condition != swap.AmountUnclear {
				t.Errorf("a %s of %s: %s %q", kind, id, o.State, o.Condition)
			}
		}
	}
}

// TestFillsOfOneTransaction checks that if one transaction fills two signed orders,
// neither reports the sum of both as received.
func TestFillsOfOneTransaction(t *testing.T) {
	c := newProofFixture(t, 2)
	first, second := c.order(nil), c.order(nil)
	x := fill(1000)
	x.logs = append(x.logs, transferLog(weth, solver, account, 1000), settlementOf(2))
	c.src.mineFinal(x)
	for _, id := range []string{first, second} {
		o := c.pollRepeatedly(id)
		c.wantVerdict(o, swap.ProvenByFill, bothAgree)
		if o.Verdict != nil && o.Verdict.Received != nil {
			t.Errorf("%s is said to have brought %s", id, o.Verdict.Received.Amount)
		}
	}
}

// TestFillIsNoArrival checks that a bridge's filler which fills a signed order of ours on
// a deposit's destination chain has not thereby paid the deposit.
func TestFillIsNoArrival(t *testing.T) {
	for _, depositFirst := range []bool{true, false} {
		c, deposit := newDepositFixture(t, 2, nil)
		c.provider.proof = func(o swap.Order) swap.Proof {
			if o.Plan.LastEffect().Kind == swap.Signed {
				return swap.Proof{Fill: fillProof(o).Fill, Ends: o.Terms.Deadline}
			}
			return arrivalProof(o)
		}
		signed := c.order(func(o *swap.Order) {
			o.Terms.SrcChain, o.Terms.DstChain, o.Terms.TokenOut = dstChain, dstChain, outside
			o.Plan.Steps[0].Effect.Chain = dstChain
		})
		x := arrival(1, solver, 1000)
		x.logs = append(x.logs, settlementOf(2))
		c.provider.claims = func(o swap.Order) (swap.Claim, error) {
			if o.ID == deposit {
				return swap.Claim{State: swap.Filled, Tx: x.hash, Chain: dstChain}, nil
			}
			return swap.Claim{State: swap.Settling}, nil
		}
		c.dst.mineFinal(x)
		if depositFirst {
			c.wantVerdict(c.pollRepeatedly(deposit), "", "")
		}
		c.wantVerdict(c.pollRepeatedly(signed), swap.ProvenByFill, bothAgree)
		o := c.pollRepeatedly(deposit)
		c.wantVerdict(o, "", "")
		if o.Condition != swap.PaymentSeen {
			t.Errorf("%s %q", o.State, o.Condition)
		}
		c.dst.mineFinal(arrival(2, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(deposit), swap.ProvenByArrival, bothAgree)
	}
}
