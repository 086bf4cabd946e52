package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
)

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		n                string
		decimals, places int
		want             string
	}{
		{"0", 18, 9, "0"},
		{"1000000000000000000", 18, 9, "1"},
		{"500000000000000000", 18, 9, "0.5"},
		{"2992473090", 6, 9, "2,992.47309"},
		{"2992479999", 6, 2, "2,992.47"}, // cut off: a floor must not look higher than it is
		{"1234567000000", 6, 9, "1,234,567"},
		{"106252009999999", 18, 9, "0.000106252"},
		{"999999999", 18, 9, "< 0.000000001"},
		{"-1500000", 6, 9, "-1.5"},
		{"7", 0, 9, "7"},
	} {
		n, _ := new(big.Int).SetString(c.n, 10)
		if got := decimal(n, c.decimals, c.places); got != c.want {
			t.Errorf("%s, %d decimals: %q, want %q", c.n, c.decimals, got, c.want)
		}
	}
	usdc := coin{symbol: "USDC", decimals: 6}
	for want, n := range map[string]*big.Int{"none": new(big.Int), "1.5 USDC": big.NewInt(1_500_000), "an unknown amount of USDC": nil} {
		if got := usdc.orNone(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

func TestFeeIn(t *testing.T) {
	// 20 bps of 3,000 are 6, which leaves 2,994.
	if got := feeIn(big.NewInt(2_994_000_000), 20); got.Cmp(big.NewInt(6_000_000)) != 0 {
		t.Errorf("fee %v, want 6000000", got)
	}
	if got := feeIn(nil, 20); got != nil {
		t.Errorf("of nothing known: %v", got)
	}
}

func TestScreenIsPlainWhereNobodySits(t *testing.T) {
	var b bytes.Buffer
	s := newScreen(&b, func(string) string { return "xterm" })
	s.heading("Swap")
	s.progress("0.1 s", "waiting")
	s.fact("offer", strings.Repeat("a word ", 30))
	s.event("0.1 s", "filled", "done")
	s.quote([]string{"\x1b[31mred"})
	want := "\nSwap\n" +
		"  offer      " + strings.Repeat("a word ", 12) + "a\n" +
		"             word " + strings.Repeat("a word ", 11) + "a\n" +
		"             word" + strings.Repeat(" a word", 5) + "\n" +
		"  0.1 s      filled     done\n" +
		"  | [31mred\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if len(l) > pageWidth {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}

func TestScreenAtATerminal(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, colour: true, live: true, width: 30}
	s.progress("0.1 s", "executing: waitng for the chain")
	s.event("0.2 s", "filled", "done")
	want := "\r\x1b[2m  0.1 s      / executing: wait\x1b[0m\x1b[K" + "\r\x1b[K" +
		"  \x1b[2m0.2 s     \x1b[0m \x1b[1;32mfilled     \x1b[0m\x1b[1;32mdone\x1b[0m\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestTableIsAligned(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b, width: 80}
	s.table([][]string{{"", "swap 1", "swap 2"}, {"pays", "1 ETH", "0.5 ETH"}, {"got", "2,992.47 USDC", "-"}})
	want := "        swap 1         swap 2\n  pays  1 ETH          0.5 ETH\n  got   2,992.47 USDC  -\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// proven is an outcome as a filled swap leaves it.
func proven(p plan) outcome {
	eth, usdc := coin{"ETH", 18, protocol.Native}, coin{symbol: "USDC", decimals: 6}
	return outcome{plan: p, network: "Ethereum", pays: eth, gets: usdc, got: big.NewInt(2_992_000_000), fee: big.NewInt(6_000_000),
		took: 2 * time.Second,
		order: protocol.Order{State: "filled", Terms: protocol.Terms{FloorOut: "2977000000"}, Verdict: &protocol.Verdict{
			Evidence: &protocol.Evidence{Block: 7, Depth: 2, FeePaid: "106252000000000"},
		}},
	}
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
	(&screen{w: &b, width: 80}).table(summary([]outcome{proven(demoSwaps[0]), {plan: demoSwaps[1], network: "Base", pays: proven(demoSwaps[1]).pays, killed: 1, err: io.EOF}}))
	want := `
              swap 1           swap 2
  network     Ethereum         Base
  pays        1 ETH            1 ETH
  got         2,992 USDC       -
  floor       2,977 USDC       -
  gas paid    0.000106252 ETH  -
  wallet fee  6 USDC           -
  proof       block 7, 2 deep  -
  daemon      -                killed once
  time        2.0 s            -
  end         filled           failed
`
	if "\n"+b.String() != want {
		t.Errorf("got\n%s\nwant%s", &b, want)
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
