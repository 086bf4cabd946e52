// Package price defines a price: a decimal number of US dollars for one whole token, with
// its source and time.
package price

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/holiman/uint256"
)

// Digits is the number of fraction digits of a value.
const Digits = 18

// ErrValue reports a text or number that is not a price: malformed, negative, or above
// [Max].
var ErrValue = errors.New("not a price")

// A Value is an amount of US dollars from zero to [Max], in steps of 1e-18. As a price, the
// zero value means unknown.
type Value struct{ n uint256.Int }

// Max is the largest value: 1e20 dollars.
var Max = Value{*uint256.MustFromDecimal("1" + strings.Repeat("0", 20+Digits))}

var one = uint256.NewInt(1e18)

// maxText limits the length of a number's text, maxExponent its exponent.
const (
	maxText     = 100
	maxExponent = 60
)

// Parse reads a decimal number in JSON syntax, with or without an exponent. Digits beyond
// the 18th fraction digit are cut off. Errors: ErrValue.
func Parse(s string) (Value, error) {
	if s == "" || len(s) > maxText {
		return Value{}, fmt.Errorf("%w: %d characters", ErrValue, len(s))
	}
	mantissa, exponent, err := split(s)
	if err != nil {
		return Value{}, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if strings.Trim(digits, "0123456789") != "" || whole == "" || strings.HasSuffix(mantissa, ".") {
		return Value{}, fmt.Errorf("%w: %q", ErrValue, s)
	}
	shift := Digits + exponent - len(fraction) // how many digits to shift left
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "" || len(digits)+shift <= 0:
		return Value{}, nil
	case len(digits)+shift > 2*Digits+3: // above Max
		return Value{}, fmt.Errorf("%w: %q is too large", ErrValue, s)
	case shift >= 0:
		digits += strings.Repeat("0", shift)
	default:
		digits = digits[:len(digits)+shift]
	}
	n, err := uint256.FromDecimal(digits)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %q", ErrValue, s)
	}
	return bounded(*n)
}

// split separates the mantissa from the exponent.
func split(s string) (mantissa string, exponent int, err error) {
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return s, 0, nil
	}
	sign, digits := 1, s[at+1:]
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	if digits == "" || len(digits) > 4 || strings.Trim(digits, "0123456789") != "" {
		return "", 0, fmt.Errorf("%w: %q", ErrValue, s)
	}
	for _, d := range digits {
		exponent = 10*exponent + int(d-'0')
	}
	return s[:at], max(-maxExponent-maxText, min(maxExponent+maxText, sign*exponent)), nil
}

func bounded(n uint256.Int) (Value, error) {
	if v := (Value{n}); v.Cmp(Max) <= 0 {
		return v, nil
	}
	return Value{}, fmt.Errorf("%w: above 1e20 dollars", ErrValue)
}

// FromFloat returns the value nearest to f. Errors: ErrValue.
func FromFloat(f float64) (Value, error) {
	if math.IsNaN(f) || f < 0 || f > 1e20 {
		return Value{}, fmt.Errorf("%w: %g", ErrValue, f)
	}
	return Parse(fmt.Sprintf("%.17g", f))
}

// FromRatio returns num/den dollars, rounded down. Errors: ErrValue.
func FromRatio(num, den *big.Int) (Value, error) {
	if num.Sign() < 0 || den.Sign() <= 0 {
		return Value{}, fmt.Errorf("%w: a ratio below zero", ErrValue)
	}
	n := new(big.Int).Mul(num, one.ToBig())
	u, over := uint256.FromBig(n.Div(n, den))
	if over {
		return Value{}, fmt.Errorf("%w: above 1e20 dollars", ErrValue)
	}
	return bounded(*u)
}

// Int returns the value in units of 1e-18 dollars.
func (v Value) Int() *big.Int { return v.n.ToBig() }

// IsZero reports whether v is zero, which as a price means unknown.
func (v Value) IsZero() bool { return v.n.IsZero() }

// Cmp returns -1, 0 or 1 if v is less than, equal to or greater than w.
func (v Value) Cmp(w Value) int { return v.n.Cmp(&w.n) }

// Sub returns v-w; w must not be larger than v.
func (v Value) Sub(w Value) Value { return Value{*new(uint256.Int).Sub(&v.n, &w.n)} }

// Times returns v·num/den, rounded down and capped at Max; den must be above zero.
func (v Value) Times(num, den Value) Value {
	n, over := new(uint256.Int).MulDivOverflow(&v.n, &num.n, &den.n)
	if over || n.Cmp(&Max.n) > 0 {
		return Max
	}
	return Value{*n}
}

// Float returns the nearest float64, in dollars.
func (v Value) Float() float64 { return v.n.Float64() / 1e18 }

// RelativeDiff returns the relative difference of v from w, without sign: 0.03 is three percent. It
// is infinite if w is zero.
func (v Value) RelativeDiff(w Value) float64 {
	if w.IsZero() {
		return math.Inf(1)
	}
	a, b := v, w
	if a.Cmp(b) < 0 {
		a, b = b, a
	}
	d := a.Sub(b)
	return d.n.Float64() / w.n.Float64()
}

// String formats the value with 18 fraction digits.
func (v Value) String() string { return v.Fixed(Digits) }

// Fixed formats the value with 0 to 18 fraction digits, rounded down.
func (v Value) Fixed(digits int) string {
	return string(v.Append(nil, digits))
}

// Append appends the text that Fixed returns.
func (v Value) Append(b []byte, digits int) []byte {
	whole, part := new(uint256.Int).DivMod(&v.n, one, new(uint256.Int))
	b = append(b, whole.Dec()...)
	if digits == 0 {
		return b
	}
	var text [Digits]byte
	n := part.Uint64() // below 1e18
	for i := Digits - 1; i >= 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
	return append(append(b, '.'), text[:digits]...)
}
