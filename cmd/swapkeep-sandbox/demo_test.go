package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/sandbox/network"
	"swapkeep/test/audit"
)

// on returns a chain of the sandbox's table without starting it.
func on(t *testing.T, id uint64) *sandbox.Chain {
	t.Helper()
	n, ok := network.ByID(id)
	if !ok {
		t.Fatalf("no chain %d", id)
	}
	return &sandbox.Chain{Network: n}
}

// ledgerOf returns a plan's ledger after the review of an approval and one more
// transaction.
func ledgerOf(t *testing.T, p plan) *ledger {
	t.Helper()
	l := &ledger{plan: p, chain: on(t, p.chain), destination: on(t, p.destination()), ceiling: big.NewInt(1e15), sends: 2, minReceived: big.NewInt(5e5),
		nonces: map[uint64]uint64{p.chain: 4}, grants: []grant{{left: new(big.Int)}},
		review: protocol.Review{Digest: "0xd1", Settlement: "provider", FeeBasis: "reported", Terms: protocol.Terms{FeeBps: 40}}}
	l.native = nativeOf(l.chain.Network)
	l.pays, _ = coinNamed(l.chain.Network, p.pays)
	l.gets, _ = coinNamed(l.destination.Network, p.receives)
	return l
}

func mined(nonce, status uint64) *signed {
	tx := types.NewTx(&types.DynamicFeeTx{Nonce: nonce, Gas: 100_000, GasFeeCap: big.NewInt(1e9), GasTipCap: big.NewInt(1)})
	return &signed{Transaction: tx, sendCount: 1, receipt: &types.Receipt{Status: status, TxHash: tx.Hash(), BlockNumber: big.NewInt(int64(nonce)),
		EffectiveGasPrice: big.NewInt(1e9), GasUsed: 50_000}}
}

// sound returns an audit without faults.
func sound(l *ledger) observed {
	a := observed{paid: new(big.Int).Set(l.plan.amount), back: new(big.Int), got: big.NewInt(1e6), fee: new(big.Int), nonce: 6, gas: big.NewInt(1e14), confirmations: 2,
		signed: []*signed{mined(4, 1), mined(5, 1)}, left: []grant{{left: new(big.Int)}}, outflows: []*big.Int{l.plan.amount}, inflows: []*big.Int{big.NewInt(1e6)},
		paidBy: &types.Receipt{TxHash: common.Hash{9}, BlockNumber: big.NewInt(9)}}
	for range l.plan.orders {
		a.providerOrders = append(a.providerOrders, audit.Entry{Ref: "1", Payment: common.Hash{9}})
	}
	if l.plan.end == refunded {
		a.got, a.back, a.inflows, a.returns = new(big.Int), new(big.Int).Set(l.plan.amount), nil, []*big.Int{l.plan.amount}
	}
	return a
}

// proven returns the outcome of a swap that ended as planned.
func proven(t *testing.T, p plan) outcome {
	l := ledgerOf(t, p)
	return outcome{plan: p, ledger: l, floor: l.minReceived, duration: 2 * time.Second, audit: sound(l),
		order: protocol.Order{State: p.end, Digest: "0xd1", Verdict: &protocol.Verdict{ProvenBy: "own_call"}}}
}

// planned returns a plan of demoSwaps.
func planned(t *testing.T, fits func(plan) bool) plan {
	t.Helper()
	i := slices.IndexFunc(demoSwaps, fits)
	if i < 0 {
		t.Fatal("the demo has no such swap")
	}
	return demoSwaps[i]
}

func isRefund(p plan) bool { return p.end == refunded }

// demoSwaps covers what is promised: every way to swap, four source chains, two kills and
// one refund.
func TestDemoCoversEveryRoute(t *testing.T) {
	ways, chains, ends, kills := map[string]int{}, map[uint64]bool{}, map[string]int{}, 0
	for _, p := range demoSwaps {
		ways[p.provider+" "+p.routing]++
		chains[p.chain] = true
		ends[p.end]++
		if p.kill != nil {
			kills++
		}
		if (p.provider == "dex" || p.provider == "gasless") == (p.to != 0) {
			t.Errorf("%s goes to chain %d", p.way, p.to)
		}
		if _, known := audit.ProviderOrders[p.provider]; !known {
			t.Errorf("the records of %s are not read", p.provider)
		}
	}
	want := map[string]int{"dex CLASSIC": 1, "dex DUTCH_V3": 1, "bridge ": 2, "intent ": 1, "gasless JAM": 1, "gasless RFQ": 1}
	if !maps.Equal(ways, want) || len(chains) < 4 || kills != 2 || ends[filled] != 5 || ends[likely] != 1 || ends[refunded] != 1 {
		t.Errorf("%v over %d chains with %d kills to %v", ways, len(chains), kills, ends)
	}
}

func TestLastLineIsHonest(t *testing.T) {
	plans := []plan{demoSwaps[0], planned(t, isRefund), demoSwaps[1]}
	full, back := proven(t, plans[0]), proven(t, plans[1])
	unbegun := outcome{plan: plans[1], err: errors.New("no offer")}
	denied, open, kept, lost, cut := full, full, back, full, unbegun
	cut.interrupted = true
	denied.err = errors.New("the chain says otherwise")
	open.order.State = "settling"
	kept.order.State = filled
	lost.order.State = refunded
	for _, c := range []struct {
		outcomes []outcome
		want     string
		ok       bool
	}{
		{[]outcome{full, back, full}, "demo: 3 swaps, 2 filled, 1 refunded, 0 failed", true},
		{[]outcome{full, unbegun, full}, "demo: 3 swaps, 2 filled, 0 refunded, 1 failed", false},
		{[]outcome{full, back, denied}, "demo: 3 swaps, 1 filled, 1 refunded, 1 failed", false},
		{[]outcome{full, back, open}, "demo: 3 swaps, 1 filled, 1 refunded, 1 failed", false},
		{[]outcome{full, kept, full}, "demo: 3 swaps, 2 filled, 0 refunded, 1 failed", false},
		{[]outcome{full, back, lost}, "demo: 3 swaps, 1 filled, 1 refunded, 1 failed", false},
		{[]outcome{full}, "demo: 3 swaps, 1 filled, 0 refunded, 0 failed, 2 not tried", false},
		{[]outcome{full, cut}, "demo: 3 swaps, 1 filled, 0 refunded, 0 failed, 1 interrupted, 1 not tried", false},
		{nil, "demo: 3 swaps, 0 filled, 0 refunded, 0 failed, 3 not tried", false},
	} {
		if line, ok := tally(plans, c.outcomes); line != c.want || ok != c.ok {
			t.Errorf("%q, %t; want %q, %t", line, ok, c.want, c.ok)
		}
	}
	if _, ok := tally(nil, nil); ok {
		t.Error("a demo of no swaps succeeds")
	}
}

// A hostile answer that was accepted, or never sent, is not a success.
func TestLastLineNamesHostileAnswer(t *testing.T) {
	for refused, want := range map[bool]string{
		true:  "demo: 1 swaps, 1 filled, 0 refunded, 0 failed",
		false: "demo: 1 swaps, 1 filled, 0 refunded, 0 failed, the hostile answer was not refused",
	} {
		var b bytes.Buffer
		s := &demoRun{demoOptions: demoOptions{swaps: demoSwaps[:1]}, out: screen.New(&b, os.Getenv), outcomes: []outcome{proven(t, demoSwaps[0])}, hostileRefused: refused}
		if ok := s.conclude(); ok != refused || lastLine(b.String()) != want {
			t.Errorf("%t, %q; want %q", ok, lastLine(b.String()), want)
		}
	}
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	failed := outcome{plan: demoSwaps[1], ledger: ledgerOf(t, demoSwaps[1]), killed: 1, err: io.EOF}
	unbegun := outcome{plan: demoSwaps[2], err: io.EOF}
	screen.New(&b, os.Getenv).Grid(summary([]outcome{proven(t, demoSwaps[0]), failed, unbegun, proven(t, planned(t, isRefund))}))
	want := `
               swap 1         swap 2        swap 3  swap 4
  route        DEX, classic   DEX, auction  -       bridge
  from         Ethereum       Base          -       Arbitrum One
  to           Ethereum       Base          -       OP Mainnet
  pays         2,000 USDC     0.5 WETH      -       1,000 USDC
  minimum      < 0.0001 WETH  -             -       0.5 USDC
  received     < 0.0001 WETH  -             -       1,000 USDC refunded
  network fee  0.0001 ETH     -             -       0.0001 ETH
  wallet fee   reported       -             -       -
  proven by    own call       -             -       own call
  provider     0 orders       -             -       1 order
  approval     exact, 0 left  -             -       exact, 0 left
  daemon       -              killed once   -       -
  time         2.0 s          -             -       2.0 s
  result       filled         failed        failed  refunded
`
	if "\n"+b.String() != want {
		t.Errorf("got\n%s\nwant%s", &b, want)
	}
}

// Each fault that an audit may show is detected by itself, for a fill and for a refund.
func TestAuditIsStrict(t *testing.T) {
	for _, p := range []plan{planned(t, func(p plan) bool { return p.provider == "gasless" && p.pays != "" }), planned(t, isRefund)} {
		if l := ledgerOf(t, p); l.firstFault(sound(l)) != nil {
			t.Fatalf("%s: %v", p.way, l.firstFault(sound(l)))
		}
		for want, spoil := range map[string]func(*ledger, *observed){
			"pay the amount exactly once":             func(_ *ledger, a *observed) { a.paid.Lsh(a.paid, 1) },
			"tokens left the account twice":           func(_ *ledger, a *observed) { a.outflows = append(a.outflows, new(big.Int)) },
			"not the amount exactly once: nonce":      func(_ *ledger, a *observed) { a.outflows = []*big.Int{big.NewInt(1)} },
			"2 payments, want 1":                      func(_ *ledger, a *observed) { a.inflows = append(a.inflows, new(big.Int)) },
			"want 1: nonce":                           func(_ *ledger, a *observed) { a.inflows, a.returns = a.returns, append(a.inflows, a.inflows...) },
			"0 payments, want 1":                      func(_ *ledger, a *observed) { a.inflows, a.returns = nil, nil },
			"did not change by the payments received": func(_ *ledger, a *observed) { a.got = big.NewInt(7) },
			"the account sent 3 transactions":         func(_ *ledger, a *observed) { a.signed = append(a.signed, mined(6, 1)); a.nonce = 7 },
			"3 transactions were signed":              func(_ *ledger, a *observed) { a.signed = append(a.signed, mined(5, 1)); a.signed[2].receipt = nil },
			"the decoded fee did not arrive":          func(l *ledger, _ *observed) { l.review.FeeBasis = "decoded" },
			"the fee receiver was paid":               func(l *ledger, a *observed) { l.review.FeeBasis, a.fee = "none", big.NewInt(1) },
			"on another chain":                        func(_ *ledger, a *observed) { a.stray = 1 },
			"a transaction failed":                    func(_ *ledger, a *observed) { a.signed[0] = mined(4, 0) },
			"network fee is above":                    func(_ *ledger, a *observed) { a.gas = big.NewInt(2e15) },
			"could have exceeded":                     func(l *ledger, a *observed) { l.ceiling = big.NewInt(1e14 - 1); a.gas = new(big.Int) },
			"the provider has 2 orders":               func(_ *ledger, a *observed) { a.providerOrders = append(a.providerOrders, audit.Entry{Ref: "2"}) },
			"the provider has 0 orders":               func(_ *ledger, a *observed) { a.providerOrders = nil },
			"name no mined payment":                   func(_ *ledger, a *observed) { a.paidBy = nil },
			"an allowance was left":                   func(_ *ledger, a *observed) { a.left[0].left = big.NewInt(1) },
			"not exactly one permit": func(l *ledger, a *observed) {
				l.grants = append(l.grants, grant{left: new(big.Int), permit: true})
				a.left = append(a.left, grant{left: new(big.Int), permit: true, nonce: 2})
			},
			"too few confirmations": func(_ *ledger, a *observed) { a.confirmations = 1 },
		} {
			l := ledgerOf(t, p)
			a := sound(l)
			spoil(l, &a)
			if err := l.firstFault(a); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q, got %v", p.way, want, err)
			}
		}
	}
}

// The daemon's verdict must match the chain and the provider's records.
func TestVerdictMustAgree(t *testing.T) {
	for _, p := range []plan{demoSwaps[0], planned(t, func(p plan) bool { return p.provider == "intent" }), planned(t, isRefund)} {
		l := ledgerOf(t, p)
		a := sound(l)
		honest := func() protocol.Order {
			arrived := a.got
			if p.end == refunded {
				arrived = a.back
			}
			own := a.signed[1]
			evidence := &protocol.Evidence{Tx: protocol.Hash(own.Hash().Hex()), Block: own.receipt.BlockNumber.Uint64(), FeePaid: protocol.AmountOf(own.cost())}
			v := &protocol.Verdict{Received: &protocol.Spend{Amount: protocol.AmountOf(arrived)}, Evidence: evidence}
			if p.orders > 0 {
				v.Deposit = evidence
				v.Evidence = &protocol.Evidence{Tx: protocol.Hash(a.paidBy.TxHash.Hex()), Block: a.paidBy.BlockNumber.Uint64()}
			}
			return protocol.Order{Digest: l.review.Digest, Verdict: v}
		}
		if err := l.checkVerdict(a, honest()); err != nil {
			t.Fatalf("%s: %v", p.way, err)
		}
		for name, spoil := range map[string]func(o *protocol.Order){
			"digest":      func(o *protocol.Order) { o.Digest = "0xd2" },
			"short":       func(o *protocol.Order) { o.Verdict.BelowMinimum = true },
			"amount":      func(o *protocol.Order) { o.Verdict.Received.Amount = "1" },
			"transaction": func(o *protocol.Order) { o.Verdict.Evidence.Tx = protocol.Hash(common.Hash{7}.Hex()) },
			"block":       func(o *protocol.Order) { o.Verdict.Evidence.Block++ },
			"gas": func(o *protocol.Order) {
				for _, e := range []*protocol.Evidence{o.Verdict.Evidence, o.Verdict.Deposit} {
					if e != nil {
						e.FeePaid = "1"
					}
				}
			},
		} {
			o := honest()
			spoil(&o)
			if err := l.checkVerdict(a, o); err == nil {
				t.Errorf("%s: another %s is not noticed", p.way, name)
			}
		}
	}
}

func TestFirstKeychain(t *testing.T) {
	row := func(name string, err error) keychainRow {
		return keychainRow{name, func(context.Context) (keychain, error) { return keychain{name: name}, err }}
	}
	rows := []keychainRow{row("system", errors.New("no bus")), row("other", errors.New("not installed")), row("file", nil)}
	for _, c := range []struct{ asked, want, why, err string }{
		{"auto", "file", "no bus; not installed", ""},
		{"file", "file", "", ""},
		{"system", "", "", "no keychain: no bus"},
	} {
		k, why, err := firstKeychain(t.Context(), rows, c.asked)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", c.asked, err, c.err)
			}
			continue
		}
		if err != nil || k.name != c.want || why != c.why {
			t.Errorf("%s: %s because %q, %v; want %s because %q", c.asked, k.name, why, err, c.want, c.why)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := firstKeychain(ended, rows, "auto"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestDemoArguments(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"--keychain", "cloud"}, {"--period", "-1s"}, {"--nope"}} {
		var out, told bytes.Buffer
		if err := run(t.Context(), append([]string{"demo"}, args...), &out, &told); !errors.Is(err, errUsage) || told.Len() == 0 || out.Len() > 0 {
			t.Errorf("%v: %v, told %q, out %q", args, err, &told, &out)
		}
	}
}
