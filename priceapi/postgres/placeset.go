package postgres

import mathbits "math/bits"

// placeSet is a set of places, the first in the lowest bit of the first byte.
type placeSet []byte

// with returns b with one more place; it may change b.
func (b placeSet) with(place int32) placeSet {
	if n := int(place/8) + 1 - len(b); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	b[place/8] |= 1 << (place % 8)
	return b
}

// union returns b with the places of another set; it may change b.
func (b placeSet) union(other placeSet) placeSet {
	if n := len(other) - len(b); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	for i, x := range other {
		b[i] |= x
	}
	return b
}

// without returns a new set of the places in b that are not in the other.
func (b placeSet) without(other placeSet) placeSet {
	left := append(placeSet(nil), b...)
	for i := range min(len(left), len(other)) {
		left[i] &^= other[i]
	}
	return left
}

// each calls f with the places in order.
func (b placeSet) each(f func(place int32)) {
	for i, x := range b {
		for ; x != 0; x &= x - 1 {
			f(int32(8*i + mathbits.TrailingZeros8(x)))
		}
	}
}
