package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func TestFeeIn(t *testing.T) {
	// 20 bps of 3,000 are 6, which leaves 2,994.
	if got := feeIn(big.NewInt(2_994_000_000), 20); got.Cmp(big.NewInt(6_000_000)) != 0 {
		t.Errorf("fee %v, want 6000000", got)
	}
	if got := feeIn(nil, 20); got != nil {
		t.Errorf("of nothing known: %v", got)
	}
}

// proven is an outcome as a filled swap leaves it.
func proven(p plan) outcome {
	eth, usdc := coin{amount.Coin{Symbol: "ETH", Decimals: 18}, protocol.Native}, coin{Coin: amount.Coin{Symbol: "USDC", Decimals: 6}}
	tx := func(tip int64, mined *types.Receipt, data []byte) *signed {
		return &signed{Transaction: types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(2 * tip), Data: data}), handed: 1, receipt: mined}
	}
	o := outcome{plan: p, network: "Ethereum", native: eth, pays: eth, gets: usdc, floor: big.NewInt(2_977_500_000), took: 2 * time.Second,
		order: protocol.Order{State: "filled"},
		audit: audit{got: big.NewInt(2_992_000_000), fee: big.NewInt(6_000_000), gas: big.NewInt(106_252e9), deep: 2, left: grant{allowance: new(big.Int)}},
	}
	if p.pays != "" {
		o.pays, o.gets, o.audit.got, o.audit.fee = usdc, eth, big.NewInt(66e16), new(big.Int)
		o.audit.signed = append(o.audit.signed, tx(1e9, &types.Receipt{BlockNumber: big.NewInt(6)}, approveCall))
	}
	for range p.bumps {
		o.audit.signed = append(o.audit.signed, tx(1e9, nil, nil))
	}
	o.audit.signed = append(o.audit.signed, tx(25e8, &types.Receipt{BlockNumber: big.NewInt(7)}, nil))
	return o
}

func TestLastLineIsHonest(t *testing.T) {
	full := proven(demoSwaps[0])
	refused := outcome{plan: demoSwaps[1], err: errors.New("no offer")}
	denied := full
	denied.err = errors.New("the chain says otherwise")
	open := full
	open.order.State = "settling"
	for _, c := range []struct {
		outcomes []outcome
		want     string
		all      bool
	}{
		{[]outcome{full, full, full}, "demo: 3 swaps, 3 filled, 0 failed", true},
		{[]outcome{full, refused, full}, "demo: 3 swaps, 2 filled, 1 failed", false},
		{[]outcome{full, denied, full}, "demo: 3 swaps, 2 filled, 1 failed", false},
		{[]outcome{full, full, open}, "demo: 3 swaps, 2 filled, 1 failed", false},
		{[]outcome{full}, "demo: 3 swaps, 1 filled, 0 failed, 2 not tried", false},
		{nil, "demo: 3 swaps, 0 filled, 0 failed, 3 not tried", false},
	} {
		if line, all := tally(3, c.outcomes); line != c.want || all != c.all {
			t.Errorf("%q, %t; want %q, %t", line, all, c.want, c.all)
		}
	}
	if _, all := tally(0, nil); all {
		t.Error("no swap at all counts as success")
	}
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	failed := outcome{plan: demoSwaps[1], network: "Base", pays: proven(demoSwaps[1]).pays, killed: 1, err: io.EOF}
	screen.New(&b, os.Getenv).Grid(summary([]outcome{proven(demoSwaps[0]), failed, proven(demoSwaps[3]), proven(demoSwaps[4])}))
	want := `
              swap 1           swap 2       swap 3           swap 4
  network     Ethereum         Base         Ethereum         Ethereum
  pays        1 ETH            1 ETH        2,000 USDC       0.5 ETH
  got         2,992 USDC       -            0.66 ETH         2,992 USDC
  floor       2,977.5 USDC     -            < 0.0001 ETH     2,977.5 USDC
  gas paid    0.000106252 ETH  -            0.000106252 ETH  0.000106252 ETH
  wallet fee  6 USDC           -            none             6 USDC
  block       7, 2 deep        -            7, 2 deep        7, 2 deep
  approval    -                -            exact, 0 left    -
  speed-up    -                -            -                tip 1 -> 2.5 gwei
  daemon      -                killed once  -                -
  time        2.0 s            -            2.0 s            2.0 s
  end         filled           failed       filled           filled
`
	if "\n"+b.String() != want {
		t.Errorf("got\n%s\nwant%s", &b, want)
	}
}

// Each fact that an audit must not show is refused by itself.
func TestAuditIsStrict(t *testing.T) {
	eth, usdc := coin{amount.Coin{Symbol: "ETH", Decimals: 18}, protocol.Native}, coin{amount.Coin{Symbol: "USDC", Decimals: 6}, "0x1"}
	l := &ledger{plan: demoSwaps[3], native: eth, pays: usdc, gets: eth, ceiling: big.NewInt(1e15), sends: 2, nonce: 4}
	tx := func(nonce uint64, status uint64) *signed {
		return &signed{Transaction: types.NewTx(&types.DynamicFeeTx{Nonce: nonce, Gas: 100_000, GasFeeCap: big.NewInt(1e9), GasTipCap: big.NewInt(1)}),
			receipt: &types.Receipt{Status: status, BlockNumber: big.NewInt(1)}}
	}
	sound := func() audit {
		return audit{paid: someUSDC, nonce: 6, gas: big.NewInt(1e14), deep: 2, signed: []*signed{tx(4, 1), tx(5, 1)},
			left: grant{allowance: new(big.Int), permitted: new(big.Int), nonce: 1}}
	}
	if err := l.wrong(sound()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*audit){
		"did not pay the amount once":     func(a *audit) { a.paid = big.NewInt(4_000e6) },
		"the account sent 3 transactions": func(a *audit) { a.signed = append(a.signed, tx(6, 1)); a.nonce = 7 },
		"3 transactions were signed":      func(a *audit) { a.signed = append(a.signed, tx(5, 1)); a.signed[2].receipt = nil },
		"a transaction failed":            func(a *audit) { a.signed[0] = tx(4, 0) },
		"gas is above":                    func(a *audit) { a.gas = big.NewInt(2e15) },
		"could have been above":           func(a *audit) { l.ceiling = big.NewInt(1e14 - 1); a.gas = new(big.Int) },
		"not exactly one permit":          func(a *audit) { a.left.nonce = 2 },
		"an allowance was left":           func(a *audit) { a.left.allowance = big.NewInt(1) },
		"allowance was left behind":       func(a *audit) { a.left.permitted = big.NewInt(1) },
		"not as deep":                     func(a *audit) { a.deep = 1 },
	} {
		a, ceiling := sound(), l.ceiling
		spoil(&a)
		if err := l.wrong(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		l.ceiling = ceiling
	}
}

func TestFirstKeychain(t *testing.T) {
	row := func(name string, err error) keychainRow {
		return keychainRow{name, func(context.Context, string) (keychain, error) { return keychain{name: name}, err }}
	}
	rows := []keychainRow{row("system", errors.New("no bus")), row("private", errors.New("not installed")), row("file", nil)}
	for _, c := range []struct{ asked, want, why, err string }{
		{"auto", "file", "no bus; not installed", ""},
		{"file", "file", "", ""},
		{"system", "", "", "no keychain: no bus"},
	} {
		k, why, err := firstKeychain(t.Context(), rows, c.asked, "")
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
	if _, _, err := firstKeychain(ended, rows, "auto", ""); !errors.Is(err, context.Canceled) {
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
