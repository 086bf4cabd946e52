package postgres

import "math/bits"

// placeSet is a set of places, which are the indexes that the tokens have in the database. It
// has a bit per place: place 0 is the lowest bit of the first byte.
type placeSet []byte

// with returns b with a place added, like append: the result may share memory with b.
func (b placeSet) with(place int32) placeSet {
	if missing := int(place/8) + 1 - len(b); missing > 0 {
		b = append(b, make([]byte, missing)...)
	}
	b[place/8] |= 1 << (place % 8)
	return b
}

// union returns b with the places of other added, like append: the result may share memory
// with b.
func (b placeSet) union(other placeSet) placeSet {
	if missing := len(other) - len(b); missing > 0 {
		b = append(b, make([]byte, missing)...)
	}
	for i, mask := range other {
		b[i] |= mask
	}
	return b
}

// without returns a new set: the places of b that are not in other.
func (b placeSet) without(other placeSet) placeSet {
	remaining := append(placeSet(nil), b...)
	for i := range min(len(remaining), len(other)) {
		remaining[i] &^= other[i]
	}
	return remaining
}

// each calls f with each place, in ascending order.
func (b placeSet) each(f func(place int32)) {
	for i, x := range b {
		for ; x != 0; x &= x - 1 {
			f(int32(8*i + bits.TrailingZeros8(x)))
		}
	}
}
