package main

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// A coin is a token, or a chain's own coin, with what it takes to write it.
type coin struct {
	symbol   string
	decimals int
	token    protocol.Address
}

func nativeOf(n sandbox.Network) coin { return coin{n.Native, 18, protocol.Native} }

func coinNamed(n sandbox.Network, symbol string) (coin, bool) {
	for _, t := range append([]sandbox.Token{n.Wrapped}, n.Tokens...) {
		if t.Symbol == symbol {
			return coin{symbol, int(t.Decimals), protocol.Checksummed(t.Address.Hex())}, true
		}
	}
	return coin{}, false
}

// places are the decimals that are shown: of 18 those down to a gwei.
const places = 9

// text writes an amount of base units with its unit.
func (c coin) text(n *big.Int) string {
	if n == nil {
		return "an unknown amount of " + c.symbol
	}
	return decimal(n, c.decimals, places) + " " + c.symbol
}

// orNone is text, but in words for nothing.
func (c coin) orNone(n *big.Int) string {
	if n != nil && n.Sign() == 0 {
		return "none"
	}
	return c.text(n)
}

// decimal writes n base units, cut off, never rounded up, after that many
// places: "1,234.5". What is too small to show is "< 0.001".
func decimal(n *big.Int, decimals, places int) string {
	sign, digits := "", new(big.Int).Abs(n).String()
	if n.Sign() < 0 {
		sign = "-"
	}
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals-len(digits)+1) + digits
	}
	whole, part := digits[:len(digits)-decimals], digits[len(digits)-decimals:]
	part = strings.TrimRight(part[:min(places, len(part))], "0")
	switch {
	case part != "":
		return sign + grouped(whole) + "." + part
	case whole == "0" && n.Sign() != 0:
		return "< " + sign + "0." + strings.Repeat("0", places-1) + "1"
	}
	return sign + grouped(whole)
}

// grouped sets a comma before every third digit from the end.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// feeIn is the fee in an output that has been paid out without it.
func feeIn(net *big.Int, bps int) *big.Int {
	if net == nil || bps >= 10_000 {
		return nil
	}
	fee := new(big.Int).Mul(net, big.NewInt(int64(bps)))
	return fee.Div(fee, big.NewInt(int64(10_000-bps)))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", max(d, 0).Seconds()) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// short is enough of an address to recognise it by.
func short(a protocol.Address) string {
	if len(a) != 42 {
		return string(a)
	}
	return string(a[:6] + "..." + a[38:])
}
