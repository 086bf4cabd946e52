package price

import "github.com/holiman/uint256"

// A Packed value is 8 bytes: a mantissa of 58 bits, which holds 17 digits, and the
// power of ten below it in units of 1e-18, in the low six bits. All ones = none.
type Packed uint64

// None is the packed form of no value.
const None = ^Packed(0)

const (
	exponentBits = 6
	maxMantissa  = 100_000_000_000_000_000 // 1e17
)

var ten = uint256.NewInt(10)

// Pack keeps the first 17 digits.
func (v Value) Pack() Packed {
	n, exponent := v.n, uint64(0)
	for !n.IsUint64() || n.Uint64() >= maxMantissa {
		n.Div(&n, ten)
		exponent++
	}
	return Packed(n.Uint64()<<exponentBits | exponent)
}

// Unpack is the value that was packed; false for None and for what no value packs to.
func (p Packed) Unpack() (Value, bool) {
	mantissa, exponent := uint64(p)>>exponentBits, uint64(p)&(1<<exponentBits-1)
	if mantissa >= maxMantissa || exponent > 2*Digits {
		return Value{}, false
	}
	n := new(uint256.Int).Exp(ten, uint256.NewInt(exponent))
	v := Value{*n.Mul(n, uint256.NewInt(mantissa))}
	return v, v.Cmp(Max) <= 0
}
