package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// arrival returns a filler's payment on the destination chain.
func arrival(n byte, from common.Address, amount int64) ledgerTx {
	return ledgerTx{hash: common.Hash{0xa0, n}, from: from, to: outside, logs: []*types.Log{transferLog(outside, from, account, amount)}}
}

func refund(n byte, from common.Address, amount int64) ledgerTx {
	return ledgerTx{hash: common.Hash{0xb0, n}, from: from, to: usdc, logs: []*types.Log{transferLog(usdc, from, account, amount)}}
}

// coin returns a payment of the native coin.
func coin(n byte, from common.Address, amount int64) ledgerTx {
	return ledgerTx{hash: common.Hash{0xc0, n}, from: from, to: account, value: amount}
}

// newDepositFixture returns a proof fixture with one deposit, and the deposit's id.
func newDepositFixture(t *testing.T, hosts int, change func(*swap.Order)) (*proofFixture, string) {
	return withDeposit(newProofFixture(t, hosts), change)
}

func withDeposit(c *proofFixture, change func(*swap.Order)) (*proofFixture, string) {
	c.provider.proof = arrivalProof
	return c, c.order(func(o *swap.Order) {
		c.deposited(o)
		if change != nil {
			change(o)
		}
	})
}

// TestDeposits covers every way in which a deposit ends, every condition that is only
// reported, and the cases that are neither.
func TestDeposits(t *testing.T) {
	native := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	nativeIn := func(o *swap.Order) { o.Terms.TokenIn = chain.Native }
	far := func(o *swap.Order) { o.Terms.DstChain = noRPC }
	for _, tc := range []struct {
		name   string
		change func(*swap.Order)
		do     func(*proofFixture)
		by     string
		got    int64
		short  bool
		waits  swap.Condition
	}{
		{name: "nothing yet", do: func(*proofFixture) {}},
		{name: "filled", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)) }, by: swap.ProvenByArrival, got: 1000},
		{name: "filled, and told", do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, solver, 1001)), dstChain) }, by: swap.ProvenByArrival, got: 1001},
		{name: "filled though called failed", do: func(c *proofFixture) {
			c.dst.mineFinal(arrival(1, solver, 1000))
			c.claimEnd(swap.Failed, common.Hash{}, 0)
		}, by: swap.ProvenByArrival, got: 1000},
		{name: "filled by a contract for a filler", do: func(c *proofFixture) {
			x := arrival(1, stranger, 1000)
			x.from = solver
			c.dst.mineFinal(x)
		}, by: swap.ProvenByArrival, got: 1000},
		{name: "filled in two parts, told", do: func(c *proofFixture) {
			x := arrival(1, solver, 600)
			x.logs = append(x.logs, transferLog(outside, solver, account, 500), transferLog(outside, stranger, solver, 9000), transferLog(weth, solver, account, 9000))
			c.claimEnd(swap.Filled, c.dst.mineFinal(x), dstChain)
		}, by: swap.ProvenByArrival, got: 1100},
		{name: "less, told", do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, solver, 999)), dstChain) }, by: swap.ProvenByArrival, got: 999, short: true},
		{name: "less, not told", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 999)) }},
		{name: "not deep enough", do: func(c *proofFixture) {
			c.dst.mine(1, arrival(1, solver, 1000))
			c.claimEnd(swap.Filled, common.Hash{0xa0, 1}, dstChain)
		}},
		{name: "taken back", do: func(c *proofFixture) {
			c.dst.mine(1, arrival(1, solver, 1000))
			c.dst.reorg(1)
			c.dst.mine(ledgerDepth)
		}},
		{name: "reverted", do: func(c *proofFixture) { x := arrival(1, solver, 1000); x.failed = true; c.dst.mineFinal(x) }},
		{name: "another token", do: func(c *proofFixture) {
			x := arrival(1, solver, 1000)
			x.logs[0].Address = stranger
			c.claimEnd(swap.Filled, c.dst.mineFinal(x), 0)
		}, waits: swap.AwaitingProof},
		{name: "to another", do: func(c *proofFixture) {
			c.claimEnd(swap.Filled, c.dst.mineFinal(ledgerTx{hash: common.Hash{0xa9}, from: solver, logs: []*types.Log{transferLog(outside, solver, stranger, 1000)}}), dstChain)
		}, waits: swap.AwaitingProof},
		{name: "on the other chain", do: func(c *proofFixture) { x := arrival(1, solver, 1000); c.claimEnd(swap.Filled, c.src.mineFinal(x), 0) }, waits: swap.AwaitingProof},
		{name: "told and not there", do: func(c *proofFixture) { c.claimEnd(swap.Filled, common.Hash{0xbb}, dstChain) }, waits: swap.AwaitingProof},
		{name: "told without a transaction", do: func(c *proofFixture) { c.claimEnd(swap.Filled, common.Hash{}, 0) }, waits: swap.AwaitingProof},
		{name: "by a stranger, told", do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 1000)), dstChain) }, waits: swap.LikelyPaid},
		{name: "by a stranger, told of another", do: func(c *proofFixture) {
			c.dst.mineFinal(arrival(1, stranger, 1000))
			c.claimEnd(swap.Filled, common.Hash{}, 0)
		}, waits: swap.PaymentSeen},
		{name: "by a stranger, not told", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, stranger, 1000)) }},
		{name: "by a stranger, less", do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, stranger, 999)), dstChain) }, waits: swap.AwaitingProof},
		{name: "by ourselves", do: func(c *proofFixture) {
			x := arrival(1, solver, 1000)
			x.from = account
			c.claimEnd(swap.Filled, c.dst.mineFinal(x), dstChain)
		}, waits: swap.AwaitingProof},
		{name: "a host is down", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)); c.dst.hosts[1].down = true }},
		{name: "a host denies it", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)); c.dst.hosts[0].lie = denies }},
		{name: "a host hides it", do: func(c *proofFixture) { c.dst.mineFinal(arrival(1, solver, 1000)); c.dst.hosts[0].hideLogs = true }, by: swap.ProvenByArrival, got: 1000},
		{name: "a host invents it", do: func(c *proofFixture) {
			c.dst.hosts[0].lie = inventsFill(c.dst)
			c.claimEnd(swap.Filled, common.Hash{0xaa}, dstChain)
		}},

		{name: "native, told", change: native, do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(coin(1, solver, 1000)), dstChain) }, by: swap.ProvenByArrival, got: 1000},
		{name: "native, not told", change: native, do: func(c *proofFixture) { c.dst.mineFinal(coin(1, solver, 1000)) }},
		{name: "native, less", change: native, do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(coin(1, solver, 999)), dstChain) }, by: swap.ProvenByArrival, got: 999, short: true},
		{name: "native, by a contract", change: native, do: func(c *proofFixture) {
			c.claimEnd(swap.Filled, c.dst.mineFinal(ledgerTx{hash: common.Hash{0xc1}, from: solver, to: stranger, internalTransfers: map[common.Address]int64{account: 1003}}), dstChain)
		}, waits: swap.PaymentSeen},
		{name: "native, in the block of another payment of the filler", change: native, do: func(c *proofFixture) {
			tx := ledgerTx{hash: common.Hash{0xc1}, from: solver, to: stranger, value: 5000}
			c.dst.mine(1, tx, coin(2, stranger, 1000))
			c.dst.mine(ledgerDepth)
			c.claimEnd(swap.Filled, tx.hash, dstChain)
		}, waits: swap.PaymentSeen},
		{name: "native, less by a contract", change: native, do: func(c *proofFixture) {
			c.claimEnd(swap.Filled, c.dst.mineFinal(ledgerTx{hash: common.Hash{0xc1}, from: solver, to: stranger, internalTransfers: map[common.Address]int64{account: 999}}), dstChain)
		}, waits: swap.AwaitingProof},
		{name: "native, by a stranger", change: native, do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(coin(1, stranger, 1000)), dstChain) }, waits: swap.LikelyPaid},
		{name: "native, and a host lies about the balance", change: native, do: func(c *proofFixture) {
			x := ledgerTx{hash: common.Hash{0xc1}, from: solver, to: stranger, internalTransfers: map[common.Address]int64{account: 10}}
			c.claimEnd(swap.Filled, c.dst.mineFinal(x), dstChain)
			c.dst.hosts[0].lie = richer()
		}},

		{name: "refunded", do: func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 4950)) }, by: swap.ProvenByRefund, got: 4950},
		{name: "refunded after it was called failed", do: func(c *proofFixture) {
			c.claimEnd(swap.Failed, common.Hash{}, 0)
			c.src.mineFinal(refund(1, solver, 4900))
		}, by: swap.ProvenByRefund, got: 4900},
		{name: "refunded though called filled", do: func(c *proofFixture) {
			c.claimEnd(swap.Filled, common.Hash{}, 0)
			c.src.mineFinal(refund(1, solver, 4900))
		}, by: swap.ProvenByRefund, got: 4900},
		{name: "refunded with less, told", do: func(c *proofFixture) { c.claimEnd(swap.Refunded, c.src.mineFinal(refund(1, solver, 4000)), srcChain) }, by: swap.ProvenByRefund, got: 4000, short: true},
		{name: "refunded with less, not told", do: func(c *proofFixture) {
			c.claimEnd(swap.Refunded, common.Hash{}, 0)
			c.src.mineFinal(refund(1, solver, 4000))
		}, waits: swap.AwaitingProof},
		{name: "paid more than the input, by its taker", do: func(c *proofFixture) { c.src.mineFinal(refund(1, solver, 5001)) }},
		{name: "the same, told to be the refund", do: func(c *proofFixture) { c.claimEnd(swap.Refunded, c.src.mineFinal(refund(1, solver, 5001)), srcChain) }, waits: swap.PaymentSeen},
		{name: "refunded by a stranger", do: func(c *proofFixture) { c.claimEnd(swap.Refunded, c.src.mineFinal(refund(1, stranger, 5000)), srcChain) }, waits: swap.PaymentSeen},
		{name: "refunded natively", change: nativeIn, do: func(c *proofFixture) { c.claimEnd(swap.Refunded, c.src.mineFinal(coin(1, solver, 5000)), srcChain) }, by: swap.ProvenByRefund, got: 5000},
		{name: "called failed", do: func(c *proofFixture) { c.claimEnd(swap.Failed, common.Hash{}, 0) }, waits: swap.AwaitingRefund},
		{name: "called expired", do: func(c *proofFixture) { c.claimEnd(swap.Expired, common.Hash{}, 0) }, waits: swap.AwaitingRefund},
		{name: "called something else", do: func(c *proofFixture) { c.claimEnd("finished", common.Hash{}, 0) }},
		{name: "silent", do: func(c *proofFixture) {
			c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, errors.New("down") }
			c.now = c.now.Add(time.Hour)
		}},

		{name: "no rpc", change: far, do: func(c *proofFixture) { c.claimEnd(swap.Filled, c.dst.mineFinal(arrival(1, solver, 1000)), noRPC) }, waits: swap.AwaitingProof},
		{name: "no rpc, nothing told", change: far, do: func(*proofFixture) {}},
		{name: "no rpc, and refunded", change: far, do: func(c *proofFixture) {
			c.claimEnd(swap.Filled, common.Hash{}, 0)
			c.src.mineFinal(refund(1, solver, 4900))
		}, by: swap.ProvenByRefund, got: 4900},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, id := newDepositFixture(t, 2, tc.change)
			tc.do(c)
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if o.Condition != tc.waits {
				t.Errorf("condition %q, want %q; logged %q", o.Condition, tc.waits, c.logged)
			}
			if (o.Candidate != nil) != (tc.waits == swap.PaymentSeen || tc.waits == swap.LikelyPaid) {
				t.Errorf("seen %+v", o.Candidate)
			}
			if v := o.Verdict; tc.got > 0 && (v == nil || v.Received.Amount.Int64() != tc.got || v.BelowMinimum != tc.short || len(v.Logs) == 0 || v.Deposit == nil || v.Evidence == nil) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// claimEnd makes the provider's status claim that the order ended with s.
func (c *proofFixture) claimEnd(s swap.State, tx common.Hash, chainID uint64) {
	c.provider.claims = said(swap.Claim{State: s, ProviderStatus: "its word", Tx: tx, Chain: chainID})
}

// richer makes a host report a higher balance at each request.
func richer() func(string, any) any {
	n := int64(0)
	return func(method string, result any) any {
		if method == "eth_getBalance" {
			n++
			return (*hexBig)(big.NewInt(n * 5000))
		}
		return result
	}
}

type hexBig big.Int

func (n *hexBig) MarshalText() ([]byte, error) { return []byte("0x" + (*big.Int)(n).Text(16)), nil }

// TestBeforeTheDeposit checks that a payment mined before the deposit never proves it,
// even if the provider names it.
func TestBeforeTheDeposit(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = arrivalProof
	early, same := c.dst.mineFinal(arrival(1, solver, 1000)), c.src.mineFinal(refund(1, solver, 5000))
	id := c.order(c.deposited)
	for _, claim := range []swap.Claim{{State: swap.Settling, Tx: early, Chain: dstChain}, {State: swap.Settling, Tx: same, Chain: srcChain}} {
		c.provider.claims = said(claim)
		c.wantVerdict(c.pollRepeatedly(id), "", "")
	}
}

// TestClocksOfTwoChains covers a destination chain whose clock is behind, so that a
// Payment after the deposit seems to precede it. It counts if the clocks differ by little
// and its block was not yet known when the deposit was signed.
func TestClocksOfTwoChains(t *testing.T) {
	for name, tc := range map[string]struct {
		behind  time.Duration
		unknown bool // no head was recorded
		known   bool // the payment's block was known already
		by      string
	}{
		"a little behind":        {behind: 10 * time.Second, by: swap.ProvenByArrival},
		"far behind":             {behind: 30 * time.Second},
		"behind, no head":        {behind: 10 * time.Second, unknown: true},
		"behind, and was there":  {behind: 10 * time.Second, known: true},
		"ahead, and no head":     {behind: -30 * time.Second, unknown: true, by: swap.ProvenByArrival},
		"ahead, and a head lied": {behind: -30 * time.Second, known: true, by: swap.ProvenByArrival},
	} {
		for _, told := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", told), func(t *testing.T) {
				c := newProofFixture(t, 2)
				c.provider.proof = arrivalProof
				id := c.order(func(o *swap.Order) {
					c.deposited(o)
					c.dst.blocks[len(c.dst.blocks)-1].time = o.Results[0].Evidence.Time.Add(-tc.behind)
					known := c.dst.number()
					tx := c.dst.mineFinal(arrival(1, solver, 1000))
					if tc.known {
						known = c.dst.number()
					}
					if !tc.unknown {
						o.Heads = map[uint64]uint64{dstChain: known}
					}
					if told {
						c.claimEnd(swap.Settling, tx, dstChain)
					}
				})
				c.wantVerdict(c.pollRepeatedly(id), tc.by, bothAgree)
			})
		}
	}
}

// TestCompetingOrderOfAnEarlyPayment checks that a payment that seems to precede two deposits and
// may be either's ends neither, whatever heads were recorded at signing.
func TestCompetingOrderOfAnEarlyPayment(t *testing.T) {
	for _, known := range []bool{true, false} {
		c := newProofFixture(t, 2)
		c.provider.proof = arrivalProof
		var ids []string
		for n := range 2 {
			ids = append(ids, c.order(func(o *swap.Order) {
				c.deposited(o)
				o.Terms.AmountIn = big.NewInt(5000 + int64(n)) // different amounts, so it matters which one is paid
				if n == 1 {
					c.dst.blocks[len(c.dst.blocks)-1].time = o.Results[0].Evidence.Time.Add(-10 * time.Second)
				}
				if n == 1 || known {
					o.Heads = map[uint64]uint64{dstChain: c.dst.number()}
				}
			}))
		}
		c.dst.mineFinal(arrival(1, solver, 1000))
		for _, id := range ids {
			c.wantVerdict(c.pollRepeatedly(id), "", "")
		}
	}
}

// TestOneLogOneOrder checks that a log that ended one order ends no other, even if the
// provider names it, and that each of two orders gets a payment of its own.
func TestOneLogOneOrder(t *testing.T) {
	for name, pays := range map[string]func(n byte) ledgerTx{
		"a token":         func(n byte) ledgerTx { return arrival(n, solver, 1000) },
		"the native coin": func(n byte) ledgerTx { return coin(n, solver, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			c, first := newDepositFixture(t, 2, nil)
			if name != "a token" {
				c, first = newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.TokenOut = chain.Native })
			}
			second := c.order(func(o *swap.Order) { c.deposited(o); o.Terms.TokenOut = c.get(first).Terms.TokenOut })
			tx := c.dst.mineFinal(pays(1))
			c.provider.claims = said(swap.Claim{State: swap.Settling, Tx: tx, Chain: dstChain})
			c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByArrival, bothAgree)
			c.wantVerdict(c.pollRepeatedly(second), "", "")
			c.restart()
			c.wantVerdict(c.pollRepeatedly(second), "", "")
			c.provider.claims = said(swap.Claim{State: swap.Settling, Tx: c.dst.mineFinal(pays(2)), Chain: dstChain})
			c.wantVerdict(c.pollRepeatedly(second), swap.ProvenByArrival, bothAgree)
		})
	}
}

// opaqueCall turns o into an opaque call of ours that brings 1000 of the native coin, mined
// in one block with the transactions of beside.
func (c *proofFixture) opaqueCall(o *swap.Order, beside ...ledgerTx) {
	c.t.Helper()
	x := ledgerTx{hash: common.Hash{0xd0, 0xaa}, from: o.Terms.From(), to: fillsFor, internalTransfers: map[common.Address]int64{account: 1000}}
	c.src.mine(1, append([]ledgerTx{x}, beside...)...)
	c.src.mine(ledgerDepth)
	ev, ok, err := c.hub.Evidence(c.t.Context(), srcChain, x.hash)
	if err != nil || !ok {
		c.t.Fatal(ok, err)
	}
	o.Terms.TokenOut = chain.Native
	o.Plan.Steps = []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: srcChain, From: o.Terms.From(), To: fillsFor, Value: new(big.Int)}, Effect: swap.Effect{Kind: swap.Opaque, Chain: srcChain}}}
	o.Results, c.sender.sent[stepKey(*o, 0)] = []swap.Result{{Tx: x.hash, Evidence: &ev}}, x.hash
}

// TestGrownBalance covers native output of an opaque call, which shows only as a higher
// balance after the call's block. If something else in the block may have changed the
// balance, no amount is reported.
func TestGrownBalance(t *testing.T) {
	own := func(swap.Order) swap.Proof { return swap.Proof{Own: true} }
	for name, tc := range map[string]struct {
		beside []ledgerTx
		to     common.Address
		by     string
	}{
		"alone":                            {nil, account, swap.ProvenByOpaqueCall},
		"and a transfer between strangers": {[]ledgerTx{coin(1, stranger, 0)}, account, swap.ProvenByOpaqueCall},
		"and a call of ours":               {[]ledgerTx{{hash: common.Hash{0xd1}, from: account, to: stranger, value: 900}}, account, ""},
		"to another account":               {nil, stranger, swap.ProvenByOpaqueCall},
		"to another that sends as well":    {[]ledgerTx{{hash: common.Hash{0xd1}, from: stranger, to: solver}}, stranger, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = own
			id := c.order(func(o *swap.Order) { c.opaqueCall(o, tc.beside...); o.Terms.Recipient = tc.to })
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if unclear := tc.by == ""; unclear != (o.Condition == swap.AmountUnclear) || unclear != strings.Contains(o.Reason, "0xd0aa") {
				t.Errorf("%q, %q", o.Condition, o.Reason)
			}
		})
	}
	t.Run("and a payment that filled another order", func(t *testing.T) {
		c, filled := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.DstChain, o.Terms.TokenOut = srcChain, chain.Native })
		direct := coin(7, solver, 1000)
		id := c.order(func(o *swap.Order) { c.opaqueCall(o, direct) })
		c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: direct.hash, Chain: srcChain})
		c.wantVerdict(c.pollRepeatedly(filled), swap.ProvenByArrival, bothAgree)
		c.provider.proof = own
		o := c.pollRepeatedly(id)
		if c.wantVerdict(o, "", ""); o.Condition != swap.AmountUnclear {
			t.Errorf("%q", o.Condition)
		}
	})
}

// TestNativeCoinBesideOwnTransactions checks that the account's other transactions in the
// block are deducted if the sender has all of them and none can have brought native coin; also
// where an isolated account makes the call, whose fee is none of the account's.
func TestNativeCoinBesideOwnTransactions(t *testing.T) {
	isolated := common.Address{}
	// ours returns a transaction in a block and the sender's record of it.
	ours := func(nonce uint64, to common.Address, value int64, data []byte, failed bool) (ledgerTx, *chain.Tx) {
		if isolated != (common.Address{}) {
			nonce--
		}
		b := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(srcChain), Nonce: nonce, To: &to, Value: big.NewInt(value), Data: data, Gas: 50000})
		raw, err := b.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return ledgerTx{hash: b.Hash(), from: account, to: to, value: value, failed: failed}, &chain.Tx{Mined: b.Hash(), Attempts: []chain.Attempt{{Hash: b.Hash(), Raw: raw, FeeCap: new(hexutil.Big), TipCap: new(hexutil.Big)}}}
	}
	coined := func(x ledgerTx, rec *chain.Tx) (ledgerTx, *chain.Tx) {
		x.internalTransfers = map[common.Address]int64{account: 70}
		return x, rec
	}
	unwrap := common.FromHex("0x2e1a7d4d0000000000000000000000000000000000000000000000000000000000000046")
	for name, tc := range map[string]struct {
		beside func() (ledgerTx, *chain.Tx)
		forget bool
		clear  bool
	}{
		"an approval": {func() (ledgerTx, *chain.Tx) {
			return ours(1, usdc, 0, approveCall(swap.Terms{TokenIn: usdc, SrcChain: srcChain}, fillsFor, big.NewInt(9)).Data, false)
		}, false, true},
		"a wrap":                       {func() (ledgerTx, *chain.Tx) { return ours(1, weth, 300, swap.WrapDeposit, false) }, false, true},
		"a cancelled one":              {func() (ledgerTx, *chain.Tx) { return ours(1, account, 0, nil, false) }, false, true},
		"something that failed":        {func() (ledgerTx, *chain.Tx) { return ours(1, stranger, 500, []byte{1, 2, 3, 4}, true) }, false, true},
		"a void":                       {func() (ledgerTx, *chain.Tx) { return ours(1, swap.Permit2Contract, 0, []byte{1, 2, 3, 4}, false) }, false, true},
		"an unwrap":                    {func() (ledgerTx, *chain.Tx) { return coined(ours(1, weth, 0, unwrap, false)) }, false, false},
		"a call that brings coin":      {func() (ledgerTx, *chain.Tx) { return coined(ours(1, stranger, 0, []byte{1, 2, 3, 4}, false)) }, false, false},
		"an approval nobody here sent": {func() (ledgerTx, *chain.Tx) { return ours(1, usdc, 0, erc20Approve, false) }, true, false},
		"one of another nonce":         {func() (ledgerTx, *chain.Tx) { return ours(2, usdc, 0, erc20Approve, false) }, false, false},
		"one not known to be mined": {func() (ledgerTx, *chain.Tx) {
			x, rec := ours(1, usdc, 0, erc20Approve, false)
			rec.Mined = common.Hash{}
			return x, rec
		}, false, false},
		"bytes that are not what was mined": {func() (ledgerTx, *chain.Tx) {
			x, rec := coined(ours(1, stranger, 0, []byte{1, 2, 3, 4}, false))
			_, other := ours(1, usdc, 0, erc20Approve, false)
			rec.Attempts = other.Attempts
			return x, rec
		}, false, false},
	} {
		for _, isolated = range []common.Address{{}, {0x15}} {
			t.Run(fmt.Sprintf("%s, from %s", name, isolated), func(t *testing.T) {
				c := newProofFixture(t, 2)
				c.provider.proof = func(swap.Order) swap.Proof { return swap.Proof{Own: true} }
				beside, rec := tc.beside()
				id := c.order(func(o *swap.Order) {
					o.Terms.Isolated = isolated
					c.opaqueCall(o, beside)
					if !o.Terms.IsIsolated() {
						c.sender.nonceRecords = []*chain.Tx{{Mined: o.Results[0].Tx}}
					}
					if !tc.forget {
						c.sender.nonceRecords = append(c.sender.nonceRecords, rec)
					}
				})
				o := c.pollRepeatedly(id)
				if !tc.clear {
					if c.wantVerdict(o, "", ""); o.Condition != swap.AmountUnclear {
						t.Errorf("%q", o.Condition)
					}
					return
				}
				if c.wantVerdict(o, swap.ProvenByOpaqueCall, bothAgree); o.Verdict == nil || o.Verdict.Received.Amount.Int64() != 1000 || o.Verdict.BelowMinimum {
					t.Errorf("%+v", o.Verdict)
				}
			})
		}
	}
}

// TestCoinMovedBack checks that coin which an isolated account of another order moved back in the
// block of a call, or may have, is not credited to the call.
func TestCoinMovedBack(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*chain.Tx, *swap.Order)
		clear  bool
	}{
		"in the block":           {func(*chain.Tx, *swap.Order) {}, false},
		"not known when":         {func(tx *chain.Tx, _ *swap.Order) { tx.Mined, tx.State = common.Hash{}, chain.TxSent }, false},
		"never":                  {func(tx *chain.Tx, _ *swap.Order) { tx.Mined, tx.State = common.Hash{}, chain.TxRejected }, true},
		"later":                  {func(tx *chain.Tx, _ *swap.Order) { tx.SignedAtBlock = 1000 }, true},
		"to somebody else":       {func(tx *chain.Tx, _ *swap.Order) { tx.Call.To = stranger }, true},
		"of another chain":       {func(_ *chain.Tx, o *swap.Order) { o.Terms.SrcChain = dstChain }, true},
		"by no isolated account": {func(_ *chain.Tx, o *swap.Order) { o.Terms.Isolated = common.Address{} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = func(swap.Order) swap.Proof { return swap.Proof{Own: true} }
			id := c.order(func(o *swap.Order) { c.opaqueCall(o, coin(1, common.Address{0x15}, 0)) })
			back := &chain.Tx{Call: chain.Call{To: account}, Mined: coin(1, common.Address{0x15}, 0).hash}
			c.order(func(o *swap.Order) {
				o.Terms.Isolated = common.Address{0x15}
				tc.change(back, o)
			})
			c.sender.isolatedRecords = []*chain.Tx{nil, back}
			o := c.pollRepeatedly(id)
			if tc.clear {
				c.wantVerdict(o, swap.ProvenByOpaqueCall, bothAgree)
			} else if c.wantVerdict(o, "", ""); o.Condition != swap.AmountUnclear {
				t.Errorf("%q", o.Condition)
			}
		})
	}
}

// TestCoinOfAnotherOrder checks that native coin beyond the quoted output is not credited
// to a call if another order was, or may have been, paid in its block.
func TestCoinOfAnotherOrder(t *testing.T) {
	back := ledgerTx{hash: common.Hash{0xc9}, from: solver, to: account, value: 5000}
	for name, tc := range map[string]struct {
		other func(*swap.Order) // nil: there is no other order
		told  common.Hash
		by    string
		got   int64
	}{
		"there is none":           {told: common.Hash{}, by: swap.ProvenByOpaqueCall, got: 6000},
		"it waits for its input":  {other: func(o *swap.Order) { o.Terms.TokenIn = chain.Native }, told: common.Hash{}},
		"it waits for its output": {other: func(o *swap.Order) { o.Terms.DstChain, o.Terms.TokenOut = srcChain, chain.Native }, told: common.Hash{}},
		"it was given back":       {other: func(o *swap.Order) { o.Terms.TokenIn = chain.Native }, told: back.hash},
		"it waits for a token":    {other: func(*swap.Order) {}, told: common.Hash{}, by: swap.ProvenByOpaqueCall, got: 6000},
		"it is another account's": {other: func(o *swap.Order) {
			o.Terms.TokenIn, o.Terms.RefundTo, o.Terms.Recipient = chain.Native, stranger, stranger
		}, told: common.Hash{}, by: swap.ProvenByOpaqueCall, got: 6000},
	} {
		t.Run(name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = func(o swap.Order) swap.Proof {
				if o.Plan.LastEffect().Kind == swap.Opaque {
					return swap.Proof{Own: true}
				}
				return arrivalProof(o)
			}
			var other string
			if tc.other != nil {
				other = c.order(func(o *swap.Order) { c.deposited(o); tc.other(o) })
			}
			id := c.order(func(o *swap.Order) { o.Offer.AmountOut = big.NewInt(1000); c.opaqueCall(o, back) })
			if tc.told != (common.Hash{}) {
				c.claimEnd(swap.Refunded, tc.told, srcChain)
				c.wantVerdict(c.pollRepeatedly(other), swap.ProvenByRefund, bothAgree)
			}
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if v := o.Verdict; tc.by != "" && (v == nil || v.Received.Amount.Int64() != tc.got) || tc.by == "" && o.Condition != swap.AmountUnclear {
				t.Errorf("%q, verdict %+v", o.Condition, v)
			}
		})
	}
}

// TestRaceForALog covers two orders that find the same log at the same time: the second
// commit fails with ErrProofUsed, and that order keeps searching.
func TestRaceForALog(t *testing.T) {
	c, first := newDepositFixture(t, 2, nil)
	second := c.order(c.deposited)
	c.dst.mineFinal(arrival(1, solver, 1000))
	o := c.get(second)
	l := c.engine.settlementWatch(second)
	p := arrivalProof(o)
	v, _, err := c.engine.proveProvider(t.Context(), o, p, l)
	if err != nil || v == nil {
		t.Fatal(v, err)
	}
	c.wantVerdict(c.pollOnce(first), swap.ProvenByArrival, bothAgree)
	if _, err := c.engine.proven(t.Context(), &o, *v); err != nil {
		t.Fatal(err)
	}
	if err := c.engine.Journal.Update(&o, swap.NewCause("too late")); !errors.Is(err, journal.ErrProofUsed) {
		t.Fatalf("the same log ended two orders: %v", err)
	}
	c.wantVerdict(c.pollRepeatedly(second), "", "")
}

// TestFitsAnother checks that a payment goes to the order that expects as much, even if
// the provider names it for another order.
func TestFitsAnother(t *testing.T) {
	for name, claimed := range map[string]bool{"not told": false, "told of the other's": true} {
		t.Run(name, func(t *testing.T) {
			c, small := newDepositFixture(t, 2, nil)
			large := c.order(func(o *swap.Order) { c.deposited(o); o.Terms.MinOut = big.NewInt(9000) })
			if tx := c.dst.mineFinal(arrival(1, solver, 9500)); claimed {
				c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: tx, Chain: dstChain})
			}
			c.wantVerdict(c.pollRepeatedly(small), "", "")
			o := c.pollRepeatedly(large)
			c.wantVerdict(o, swap.ProvenByArrival, bothAgree)
			c.wantVerdict(c.pollRepeatedly(small), "", "")
			c.dst.mineFinal(arrival(2, solver, 1000))
			c.wantVerdict(c.pollRepeatedly(small), swap.ProvenByArrival, bothAgree)
		})
	}
	t.Run("less is not short where it fits", func(t *testing.T) {
		c, small := newDepositFixture(t, 2, nil)
		large := c.order(func(o *swap.Order) { c.deposited(o); o.Terms.MinOut = big.NewInt(9000) })
		tx := c.dst.mineFinal(arrival(1, solver, 1100))
		c.provider.claims = func(o swap.Order) (swap.Claim, error) {
			if o.ID == large {
				return swap.Claim{State: swap.Filled, Tx: tx, Chain: dstChain}, nil
			}
			return swap.Claim{State: swap.Settling}, nil
		}
		c.wantVerdict(c.pollRepeatedly(large), "", "")
		c.wantVerdict(c.pollRepeatedly(small), swap.ProvenByArrival, bothAgree)
	})
}

func (c *proofFixture) get(id string) swap.Order {
	c.t.Helper()
	o, err := c.engine.Journal.Get(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return o
}

// TestOpaqueCalls covers swaps in one call of ours that could not be decoded.
func TestOpaqueCalls(t *testing.T) {
	own := func(o swap.Order) swap.Proof { return swap.Proof{Own: true} }
	both := func(o swap.Order) swap.Proof { p := arrivalProof(o); p.Own, p.Refund = true, nil; return p }
	refunds := func(o swap.Order) swap.Proof { p := arrivalProof(o); p.Own, p.Arrival = true, nil; return p }
	for _, tc := range []struct {
		name  string
		proof func(swap.Order) swap.Proof
		token common.Address
		tx    ledgerTx
		by    string
		got   int64
		short bool
	}{
		{name: "enough", proof: own, token: outside, tx: ledgerTx{logs: []*types.Log{transferLog(outside, stranger, account, 1000)}}, by: swap.ProvenByOpaqueCall, got: 1000},
		{name: "in parts, less what went on", proof: own, token: outside, tx: ledgerTx{logs: []*types.Log{transferLog(outside, stranger, account, 900), transferLog(outside, stranger, account, 300), transferLog(outside, account, stranger, 100)}}, by: swap.ProvenByOpaqueCall, got: 1100},
		{name: "less", proof: own, token: outside, tx: ledgerTx{logs: []*types.Log{transferLog(outside, stranger, account, 999)}}, by: swap.ProvenByOpaqueCall, got: 999, short: true},
		{name: "nothing", proof: own, token: outside, by: swap.ProvenByOpaqueCall, short: true},
		{name: "nothing, but there may be a refund", proof: refunds, token: outside},
		{name: "less, but more may arrive", proof: both, token: outside, tx: ledgerTx{logs: []*types.Log{transferLog(outside, stranger, account, 10)}}},
		{name: "reverted", proof: own, token: outside, tx: ledgerTx{failed: true, logs: []*types.Log{transferLog(outside, stranger, account, 1000)}}, by: swap.ProvenByRevert},
		{name: "native", proof: own, token: chain.Native, tx: ledgerTx{internalTransfers: map[common.Address]int64{account: 1000}}, by: swap.ProvenByOpaqueCall, got: 1000},
		{name: "native, less", proof: own, token: chain.Native, tx: ledgerTx{internalTransfers: map[common.Address]int64{account: 900}}, by: swap.ProvenByOpaqueCall, got: 900, short: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			c.provider.proof = tc.proof
			id := c.order(func(o *swap.Order) {
				o.Terms.TokenOut = tc.token
				o.Plan.Steps = []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: srcChain, From: account, To: fillsFor, Value: new(big.Int)}, Effect: swap.Effect{Kind: swap.Opaque, Chain: srcChain}}}
				tx := tc.tx
				tx.hash, tx.from, tx.to = common.Hash{0xd0, 0xaa}, account, fillsFor
				failed := tx.failed
				tx.failed = false
				c.src.mineFinal(tx)
				ev, ok, err := c.hub.Evidence(t.Context(), srcChain, tx.hash)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				o.Results, c.sender.sent[stepKey(*o, 0)] = []swap.Result{{Tx: tx.hash, Evidence: &ev}}, tx.hash
				if failed { // reverted by a reorg since the step ended
					c.src.reorg(ledgerDepth + 1)
					tx.failed = true
					c.src.mineFinal(tx)
				}
			})
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if v := o.Verdict; tc.by == swap.ProvenByOpaqueCall && (v == nil || v.Received.Amount.Int64() != tc.got || v.BelowMinimum != tc.short) {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// TestLostDeposit checks that no payment ends an order whose own transaction was lost in
// a reorg, and that the transaction is sent again.
func TestLostDeposit(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	c.dst.mineFinal(arrival(1, solver, 1000))
	c.src.reorg(ledgerDepth + 1)
	c.src.mine(ledgerDepth)
	before := c.sender.polls
	c.wantVerdict(c.pollRepeatedly(id), "", "")
	if c.sender.polls == before {
		t.Error("the lost transaction is not offered again")
	}
}

// TestProviderGoesBackwards checks that no later claim undoes a final one, unless it names a
// payment, for which a deposit's provider is asked on.
func TestProviderGoesBackwards(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	words := []swap.Claim{{State: swap.Settling, ProviderStatus: "submitted"}, {State: swap.Settling, ProviderStatus: "waiting"}, {State: swap.Failed, ProviderStatus: "failure", Reason: "so\x1b[2J it says" + strings.Repeat("x", 1000)}, {State: swap.Settling}, {State: swap.Filled}}
	c.provider.claims = func(swap.Order) (swap.Claim, error) {
		return words[min(int(c.provider.asked.Load())-1, len(words)-1)], nil
	}
	o := c.pollRepeatedly(id)
	if n := c.provider.asked.Load(); n <= int32(len(words)) || o.Claim.State != swap.Failed || o.Condition != swap.AwaitingRefund {
		t.Errorf("asked %d times, claim %+v, %q", n, o.Claim, o.Condition)
	}
	if len(o.Claim.Reason) > 400 || strings.ContainsRune(o.Claim.Reason, '\x1b') {
		t.Errorf("kept %q", o.Claim.Reason)
	}
	c.restart()
	if o := c.pollRepeatedly(id); o.Claim.State != swap.Failed {
		t.Errorf("claim %+v after a restart", o.Claim)
	}
	c.src.mineFinal(refund(1, solver, 5000))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByRefund, bothAgree)
}

// TestPaymentAfterAFinalClaim checks that a bridge with a final claim about a deposit is
// still asked while the native coin would leave no log, until it names the payment. Its
// other claims after the final one are ignored.
func TestPaymentAfterAFinalClaim(t *testing.T) {
	for name, first := range map[string]swap.Claim{
		"failed":                   {State: swap.Failed, ProviderStatus: "its word"},
		"filled, by nothing":       {State: swap.Filled, ProviderStatus: "its word"},
		"refunded, by the payment": {State: swap.Refunded, ProviderStatus: "its word", Tx: coin(1, solver, 1000).hash, Chain: dstChain},
		"refunded, by another":     {State: swap.Refunded, ProviderStatus: "its word", Tx: common.Hash{9}, Chain: srcChain},
	} {
		t.Run(name, func(t *testing.T) {
			c, id := newDepositFixture(t, 2, func(o *swap.Order) { o.Terms.Provider, o.Terms.TokenOut = swap.Bridge, chain.Native })
			c.engine.Providers[swap.Bridge] = c.provider
			c.provider.claims = said(first)
			c.dst.mineFinal(coin(1, solver, 1000))
			c.pollRepeatedly(id)
			for _, s := range []swap.State{swap.Settling, swap.Expired} {
				c.claimEnd(s, common.Hash{}, 0)
				if o := c.pollRepeatedly(id); !swap.SameClaim(o.Claim, &first) {
					t.Fatalf("it says %s, claim %+v", s, o.Claim)
				}
			}
			c.claimEnd(swap.Filled, coin(1, solver, 1000).hash, dstChain)
			c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
		})
	}
}

// TestCorrectedFinalClaim checks that a bridge can correct a final claim which names a payment
// that cannot be proven.
func TestCorrectedFinalClaim(t *testing.T) {
	native := func(o *swap.Order) { o.Terms.Provider, o.Terms.TokenOut = swap.Bridge, chain.Native }
	begin := func(t *testing.T) (*proofFixture, string) {
		c, id := newDepositFixture(t, 2, native)
		c.engine.Providers[swap.Bridge] = c.provider
		return c, id
	}
	t.Run("two orders' payments crossed", func(t *testing.T) {
		c, small := begin(t)
		large := c.order(func(o *swap.Order) { c.deposited(o); native(o); o.Terms.MinOut = big.NewInt(2000) })
		names := func(ofSmall, ofLarge common.Hash) {
			c.provider.claims = func(o swap.Order) (swap.Claim, error) {
				return swap.Claim{State: swap.Filled, ProviderStatus: "its word", Tx: map[string]common.Hash{small: ofSmall, large: ofLarge}[o.ID], Chain: dstChain}, nil
			}
		}
		one, two := c.dst.mineFinal(coin(1, solver, 1000)), c.dst.mineFinal(coin(2, solver, 2000))
		names(two, one)
		c.pollRepeatedly(large)
		c.wantVerdict(c.pollRepeatedly(small), "", "")
		names(one, two)
		c.wantVerdict(c.pollRepeatedly(large), swap.ProvenByArrival, bothAgree)
		c.wantVerdict(c.pollRepeatedly(small), swap.ProvenByArrival, bothAgree)
	})
	t.Run("one that no node can look at", func(t *testing.T) {
		c, id := begin(t)
		for _, h := range c.dst.hosts {
			h.lie = func(method string, result any) any {
				if method == "eth_getBalance" {
					return nil // no state this old
				}
				return result
			}
		}
		c.claimEnd(swap.Filled, c.dst.mineFinal(ledgerTx{hash: common.Hash{0xc1}, from: solver, to: stranger, value: 5000}), dstChain)
		c.wantVerdict(c.pollRepeatedly(id), "", "")
		c.claimEnd(swap.Filled, c.dst.mineFinal(coin(2, solver, 1000)), dstChain)
		c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
	})
	t.Run("one that its block took along", func(t *testing.T) {
		c, id := begin(t)
		lost := coin(1, solver, 1000)
		c.dst.mine(1, lost)
		c.claimEnd(swap.Filled, lost.hash, dstChain)
		c.wantVerdict(c.pollRepeatedly(id), "", "")
		c.claimEnd(swap.Refunded, lost.hash, srcChain)
		c.pollRepeatedly(id)
		c.dst.reorg(1)
		c.claimEnd(swap.Filled, c.dst.mineFinal(coin(2, solver, 1000)), dstChain)
		c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
	})
}

// TestFinalClaim checks that after a final claim only a final claim that names a payment is
// taken, and that it replaces no other payment that is already in a block.
func TestFinalClaim(t *testing.T) {
	one, two := common.Hash{1}, common.Hash{2}
	for name, x := range map[string]struct {
		was, says swap.Claim
		open      common.Hash
		heard     bool
		again     bool // payments that were ruled out are examined again
	}{
		"under way":                          {was: swap.Claim{State: swap.Settling}, says: swap.Claim{State: swap.Settling, ProviderStatus: "more"}, open: common.Hash{}, heard: true},
		"the same payment, as its last word": {was: swap.Claim{State: swap.Settling, Tx: one}, says: swap.Claim{State: swap.Filled, Tx: one}, open: common.Hash{}, heard: true, again: true},
		"taken back":                         {was: swap.Claim{State: swap.Failed}, says: swap.Claim{State: swap.Settling, Tx: one}, open: common.Hash{}},
		"another end, by nothing":            {was: swap.Claim{State: swap.Failed}, says: swap.Claim{State: swap.Filled}, open: common.Hash{}},
		"another end, by a payment":          {was: swap.Claim{State: swap.Failed}, says: swap.Claim{State: swap.Refunded, Tx: one}, open: common.Hash{}, heard: true, again: true},
		"another payment":                    {was: swap.Claim{State: swap.Filled, Tx: one}, says: swap.Claim{State: swap.Filled, Tx: two}, open: common.Hash{}, heard: true},
		"while the first stands in a block":  {was: swap.Claim{State: swap.Filled, Tx: one}, says: swap.Claim{State: swap.Filled, Tx: two}, open: one},
	} {
		l := &settlementWatch{ruledOut: map[ruled]bool{{searchFill, one}: true}, shallow: map[string]common.Hash{}}
		if x.open != (common.Hash{}) {
			l.shallow["arrival"] = x.open
		}
		o := swap.Order{Progress: swap.Progress{Claim: &x.was}}
		applyClaim(&o, x.says, l)
		if heard := swap.SameClaim(o.Claim, &x.says); heard != x.heard || (len(l.ruledOut) == 0) != x.again {
			t.Errorf("%s: heard %v, ruled out %v", name, heard, l.ruledOut)
		}
	}
}

// TestRetryAfter checks that a provider's Retry-After is honored while the chain is still
// polled.
func TestRetryAfter(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	busy := swap.Refuse(swap.ProviderBusy, "slow down")
	busy.Data = map[string]string{"retryAfterSeconds": "120"}
	c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, busy }
	for range 100 {
		c.pollOnce(id)
		c.now = c.now.Add(time.Second)
	}
	if n := c.provider.asked.Load(); n != 1 {
		t.Errorf("asked %d times in 100 s", n)
	}
	c.now = c.now.Add(time.Minute)
	if c.pollOnce(id); c.provider.asked.Load() != 2 {
		t.Error("not asked afterwards")
	}
	c.dst.mineFinal(arrival(1, solver, 1000))
	c.wantVerdict(c.pollOnce(id), swap.ProvenByArrival, bothAgree)
	for text, want := range map[string]time.Duration{"": 0, "x": 0, "-1": 0, "7": 7 * time.Second, "999999": 10 * time.Minute} {
		busy.Data["retryAfterSeconds"] = text
		if got := swap.RetryDelay(busy); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	final := swap.Refuse(swap.ProviderRefused, "no")
	final.Data = map[string]string{"retryAfterSeconds": "7"}
	if swap.RetryDelay(final) != 0 || swap.RetryDelay(errors.New("x")) != 0 {
		t.Error("a pause that nobody asked for")
	}
}

// TestSearchGoesOn checks that a long search covers every block again an hour later, and
// that blocks covered twice are not searched again after a restart, unless a payment was
// seen that is undecided.
func TestSearchGoesOn(t *testing.T) {
	for _, seen := range []bool{false, true} {
		c, id := newDepositFixture(t, 2, nil)
		if seen {
			c.dst.mineFinal(arrival(1, stranger, 1000))
		}
		hour := func() swap.Order {
			c.dst.mine(5)
			c.now = c.now.Add(searchedEvery)
			o := c.pollOnce(id)
			c.pollOnce(id)
			return o
		}
		c.pollOnce(id)
		if o := c.pollRepeatedly(id); len(o.Searched) != 0 {
			t.Errorf("recorded at once: %v", o.Searched)
		}
		head := c.dst.number()
		if o := hour(); len(o.Searched) != 0 {
			t.Errorf("recorded after one look: %v", o.Searched)
		}
		o := hour()
		if got := o.Searched[searchArrival]; (got > 8) == seen || got > head+5 || o.Searched[searchRefund] == 0 {
			t.Errorf("seen %v: searched %v", seen, o.Searched)
		}
		c.restart()
		c.dst.mineFinal(arrival(2, solver, 1000))
		c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByArrival, bothAgree)
	}
}

// TestReportedOrdersDoNotCount checks that orders which are only watched do not count
// against the limit of open orders and are polled by their age.
func TestReportedOrdersDoNotCount(t *testing.T) {
	c, id := newDepositFixture(t, 2, nil)
	other := c.order(c.deposited)
	c.provider.claims = func(o swap.Order) (swap.Claim, error) {
		if o.ID == id {
			return swap.Claim{State: swap.Failed}, nil
		}
		return swap.Claim{State: swap.Settling}, nil
	}
	c.pollRepeatedly(id)
	c.pollRepeatedly(other)
	open, err := c.engine.Journal.Open()
	if err != nil || len(open) != 2 {
		t.Fatal(open, err)
	}
	if n, err := c.engine.Journal.CountActive(append(open, "lost")); err != nil || n != 1 {
		t.Errorf("%d count, %v", n, err)
	}
	still := c.now.Add(30 * 24 * time.Hour)
	if got := idleSince(c.get(id), still); !got.Equal(c.get(id).Created) {
		t.Errorf("watched since %s", got)
	}
	if got := idleSince(c.get(other), still); !got.Equal(still) {
		t.Errorf("an order that waits is watched since %s", got)
	}
	last := time.Duration(0)
	for _, age := range []time.Duration{0, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		if p := defaultPause(age); p <= last {
			t.Errorf("at %s a pause of %s", age, p)
		} else {
			last = p
		}
	}
}

// A streamingProvider is a teller that streams claims.
type streamingProvider struct {
	*scriptedProvider
	calls chan func(swap.Claim)
	ended chan struct{}
}

func (s *streamingProvider) Watch(ctx context.Context, _ swap.Order, told func(swap.Claim)) error {
	s.calls <- told
	<-ctx.Done()
	close(s.ended)
	return ctx.Err()
}

// TestClaimStream checks that pushed claims are taken between polls and wake the order at
// most maxWakes times, and that the stream ends with the final claim.
func TestClaimStream(t *testing.T) {
	c, id := withDeposit(newLoopFixture(t, 2), nil)
	s := &streamingProvider{c.provider, make(chan func(swap.Claim), 1), make(chan struct{})}
	c.engine.Providers[swap.DEX] = s
	c.engine.Pause = func(time.Duration) time.Duration { return time.Hour } // only the stream wakes the order
	told := make(chan swap.Order, 100)
	c.engine.Notify = func(o swap.Order) { told <- o }
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); c.engine.Wait() }()
	c.engine.Resume(ctx, []string{id})
	say := <-s.calls
	next := func() swap.Order {
		select {
		case o := <-told:
			return o
		case <-time.After(10 * time.Second):
			t.Fatal("not woken")
			return swap.Order{}
		}
	}
	next() // the claim of the first Status call
	asked := c.provider.asked.Load()
	say(swap.Claim{State: swap.Settling, ProviderStatus: "on its way", Tx: common.Hash{1}})
	if o := next(); o.Claim.ProviderStatus != "on its way" || c.provider.asked.Load() != asked {
		t.Errorf("claim %+v, asked %d times", o.Claim, c.provider.asked.Load()-asked)
	}
	say(swap.Claim{State: swap.Failed, ProviderStatus: "failure"})
	if o := next(); o.Condition != swap.AwaitingRefund {
		t.Errorf("%q after %+v", o.Condition, o.Claim)
	}
	say(swap.Claim{State: swap.Filled})
	c.engine.Wake()
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the stream goes on after the last word")
	}
	l := c.engine.settlementWatch(id)
	for i := range 500 {
		c.engine.pushClaim(id, l, swap.Claim{State: swap.Settling, Tx: common.Hash{2, byte(i), byte(i >> 8)}})
	}
	if l.woke != maxWakes {
		t.Errorf("woken %d times", l.woke)
	}
	if o := c.get(id); o.Claim.State != swap.Failed {
		t.Errorf("claim %+v after its last word", o.Claim)
	}
}

// A shortStream ends each connection after the next of its durations, and records when each began.
type shortStream struct {
	lasts []time.Duration
	began []time.Time
}

func (s *shortStream) Watch(ctx context.Context, _ swap.Order, _ func(swap.Claim)) error {
	s.began = append(s.began, time.Now())
	if n := len(s.began); n <= len(s.lasts) {
		_ = sleep(ctx, s.lasts[n-1], nil)
		return errors.New("closed")
	}
	<-ctx.Done()
	return ctx.Err()
}

// TestReconnect checks that the pauses between connections grow, and are short again after a
// connection that lasted.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Engine{Now: time.Now, Log: func(swap.Order, error) {}}
		s := &shortStream{lasts: []time.Duration{0, 0, time.Second, 0, 2 * steadyStream, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
		ctx, cancel := context.WithCancel(t.Context())
		e.openClaimStream(ctx, s, swap.Order{}, e.settlementWatch("id"))
		time.Sleep(time.Hour)
		synctest.Wait()
		var got []time.Duration
		for i, last := range s.lasts {
			got = append(got, s.began[i+1].Sub(s.began[i])-last)
		}
		want := []time.Duration{1, 2, 4, 8, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(got, want) {
			t.Errorf("pauses %v, want %v", got, want)
		}
		cancel()
		e.Wait()
		if e.streams != 0 {
			t.Errorf("%d streams are open", e.streams)
		}
	})
}

// TestSearchBegins checks that before anything is signed, an order that a provider
// settles records the first block to search on its chains. A chain that cannot be read is
// waited for; one without an RPC endpoint gets no such block.
func TestSearchBegins(t *testing.T) {
	c := newProofFixture(t, 2)
	c.src.mine(5)
	o := swap.Order{Consent: swap.Consent{Terms: swap.Terms{SrcChain: srcChain, DstChain: dstChain}}}
	if _, err := c.engine.beginSearch(t.Context(), &o); err != nil || o.SearchFrom[srcChain] != c.src.number()+1-ledgerDepth || o.SearchFrom[dstChain] != c.dst.number()+1-ledgerDepth {
		t.Errorf("since %v, %v", o.SearchFrom, err)
	}
	o = swap.Order{Consent: swap.Consent{Terms: swap.Terms{SrcChain: srcChain, DstChain: noRPC}}}
	if _, err := c.engine.beginSearch(t.Context(), &o); err != nil || len(o.SearchFrom) != 1 {
		t.Errorf("since %v, %v", o.SearchFrom, err)
	}
	c.dst.hosts[0].down = true
	o = swap.Order{Consent: swap.Consent{Terms: swap.Terms{SrcChain: srcChain, DstChain: dstChain}}}
	if _, err := c.engine.beginSearch(t.Context(), &o); err == nil || o.SearchFrom != nil {
		t.Errorf("since %v, %v", o.SearchFrom, err)
	}
	c.src.hosts[1].lie = func(method string, result any) any {
		if method == "eth_blockNumber" {
			return "0xffffff" // a search from here would miss everything
		}
		return result
	}
	o = swap.Order{Consent: swap.Consent{Terms: swap.Terms{SrcChain: srcChain, DstChain: srcChain}}}
	if _, err := c.engine.beginSearch(t.Context(), &o); err != nil || o.SearchFrom[srcChain] > c.src.number() {
		t.Errorf("since %v, %v", o.SearchFrom, err)
	}
}
