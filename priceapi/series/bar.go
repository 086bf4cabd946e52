package series

import (
	"encoding/binary"
	"math/bits"

	"swapkeep/priceapi/price"
)

// A bar is a packed candle.
type bar struct{ open, high, low, close price.Packed }

var noBar = bar{price.None, price.None, price.None, price.None}

func (b bar) none() bool { return b.close == price.None }

// sortKey returns a number that sorts like the packed value. Packing keeps as many digits as
// fit, so the larger power of ten is the larger value.
func sortKey(p price.Packed) uint64 { return bits.RotateLeft64(uint64(p), -6) }

// join extends b by the bar that follows it.
func (b *bar) join(next bar) {
	switch {
	case next.none():
		return
	case b.none():
		*b = next
		return
	}
	if sortKey(next.high) > sortKey(b.high) {
		b.high = next.high
	}
	if sortKey(next.low) < sortKey(b.low) {
		b.low = next.low
	}
	b.close = next.close
}

// parseBar reads an entry of a row; a minute's price becomes all four prices of the bar.
func parseBar(r price.Resolution, b []byte) bar {
	n := func(at int) price.Packed { return price.Packed(binary.LittleEndian.Uint64(b[at:])) }
	if r == price.Minutes {
		return bar{n(0), n(0), n(0), n(0)}
	}
	return bar{n(0), n(8), n(16), n(24)}
}

func (b bar) put(entry []byte) {
	for i, p := range []price.Packed{b.open, b.high, b.low, b.close} {
		binary.LittleEndian.PutUint64(entry[8*i:], uint64(p))
	}
}

// pack packs a candle. Prices that are missing or contradict each other are filled in from
// the others. Without a close it returns noBar.
func pack(c price.Candle) bar {
	if c.Close.IsZero() {
		return noBar
	}
	b := bar{c.Close.Pack(), c.Close.Pack(), c.Close.Pack(), c.Close.Pack()}
	if !c.Open.IsZero() {
		b.open = c.Open.Pack()
	}
	for _, v := range []price.Value{c.Open, c.High, c.Low} {
		if p := v.Pack(); !v.IsZero() && sortKey(p) > sortKey(b.high) {
			b.high = p
		} else if !v.IsZero() && sortKey(p) < sortKey(b.low) {
			b.low = p
		}
	}
	return b
}

// unpack unpacks the bar; false if its bytes are not prices.
func (b bar) unpack(at int64) (c price.Candle, ok bool) {
	c.At = timeOf(at)
	for _, p := range []struct {
		from price.Packed
		to   *price.Value
	}{{b.open, &c.Open}, {b.high, &c.High}, {b.low, &c.Low}, {b.close, &c.Close}} {
		if *p.to, ok = p.from.Unpack(); !ok || p.to.IsZero() {
			return c, false
		}
	}
	return c, true
}
