package price

import "github.com/holiman/uint256"

// A Packed is a Value in 8 bytes: a 58-bit mantissa (17 digits) above a 6-bit power of ten,
// in units of 1e-18. All ones means no value.
type Packed uint64

// None is the Packed that holds no value.
const None = ^Packed(0)

const (
	exponentBits = 6
	maxMantissa  = 100_000_000_000_000_000 // 1e17
)

var ten = uint256.NewInt(10)

// Pack keeps the 17 most significant digits and drops the rest.
func (v Value) Pack() Packed {
	n, exponent := v.n, uint64(0)
	for !n.IsUint64() || n.Uint64() >= maxMantissa {
		n.Div(&n, ten)
		exponent++
	}
	return Packed(n.Uint64()<<exponentBits | exponent)
}

// Unpack returns the packed value. It returns false for None, and if the mantissa, the
// exponent or the value is out of range.
func (p Packed) Unpack() (Value, bool) {
	mantissa, exponent := uint64(p)>>exponentBits, uint64(p)&(1<<exponentBits-1)
	if mantissa >= maxMantissa || exponent > 2*Digits {
		return Value{}, false
	}
	n := new(uint256.Int).Exp(ten, uint256.NewInt(exponent))
	v := Value{*n.Mul(n, uint256.NewInt(mantissa))}
	return v, v.Cmp(Max) <= 0
}
