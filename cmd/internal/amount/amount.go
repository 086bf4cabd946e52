// Package amount converts amounts in base units to the decimal text that people read and
// type, and back, without rounding errors.
package amount

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// A Coin is a token or a chain's native coin, with what is needed to format its amounts.
type Coin struct {
	Symbol   string
	Decimals int
}

// ErrNotPositive refuses a negative amount, or zero where a swap needs one.
var ErrNotPositive = errors.New("amount must be positive")

// places is how many decimals [Coin.Text] shows: with 18 decimals, down to one gwei.
const places = 9

// maxText bounds the typed text in bytes. The largest amount has 78 digits.
const maxText = 160

// Parse converts a decimal number of whole coins to base units. It never rounds: text of
// another form, or with more digits after the point than the coin has, is an error.
func (c Coin) Parse(text string) (*big.Int, error) {
	if digits, negative := strings.CutPrefix(text, "-"); negative && IsNumber(digits) {
		return nil, ErrNotPositive
	}
	if len(text) > maxText || !IsNumber(text) {
		return nil, fmt.Errorf("%.40q is not an amount; write digits and one point, such as 1.5", text)
	}
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	if len(part) > c.Decimals {
		return nil, fmt.Errorf("%s has %d digits after the point; %s has at most %d", text, len(part), c.Symbol, c.Decimals)
	}
	n, ok := new(big.Int).SetString("0"+whole+part+strings.Repeat("0", c.Decimals-len(part)), 10)
	if !ok || n.BitLen() > 256 {
		return nil, fmt.Errorf("%s is larger than any token amount can be", text)
	}
	return n, nil
}

// IsNumber tells an amount from a token's name: digits with at most one point, which must
// be followed by a digit.
func IsNumber(text string) bool {
	whole, part, point := strings.Cut(text, ".")
	return strings.Trim(whole+part, "0123456789") == "" && (part != "" || whole != "" && !point)
}

// Text formats n with the symbol, truncated after nine decimals.
func (c Coin) Text(n *big.Int) string {
	if n == nil {
		return "an unknown amount of " + c.Symbol
	}
	return Decimal(n, c.Decimals, places) + " " + c.Symbol
}

// Exact formats n with all its digits and the symbol, for amounts to consent to.
func (c Coin) Exact(n *big.Int) string {
	if n == nil {
		return c.Text(n)
	}
	return Decimal(n, c.Decimals, c.Decimals) + " " + c.Symbol
}

// OrNone is Text, except that zero is "none".
func (c Coin) OrNone(n *big.Int) string {
	if n != nil && n.Sign() == 0 {
		return "none"
	}
	return c.Text(n)
}

// Decimal formats n base units with thousands separators, truncated (never rounded up)
// after places decimals: "1,234.5". An amount too small to show is "< 0.001".
func Decimal(n *big.Int, decimals, places int) string {
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
		return sign + Grouped(whole) + "." + part
	case whole == "0" && n.Sign() != 0 && places > 0:
		return "< " + sign + "0." + strings.Repeat("0", places-1) + "1"
	case whole == "0" && n.Sign() != 0:
		return "< " + sign + "1"
	}
	return sign + Grouped(whole)
}

// Grouped inserts a comma before every third digit from the end.
func Grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
