package postgres

import (
	"bytes"
	"encoding/binary"
	"time"

	"swapkeep/priceapi/price"
)

// A layout describes how a resolution is stored, in blocks. A block holds the entries of
// some tokens at one time, one per place; an entry without data starts with eight bytes of
// ones. An entry of a minute is a packed price, its source, and its age in minutes, where
// 255 means "255 or more". An entry of a candle is open, high, low and close, packed.
// Numbers are little endian.
//
// PostgreSQL keeps a row shorter than two kilobytes in its page. A page holds six blocks of
// a minute, or five of a candle.
type layout struct {
	table string
	step  int32 // in minutes
	size  int   // of an entry, in bytes
	per   int32 // entries per block
	keep  int32 // minutes before the current hour; 0 = Options.Days
}

const (
	minuteSize = 10
	candleSize = 32
	maxAge     = 255
)

var layouts = [...]layout{
	price.Minutes:  {"minutes", 1, minuteSize, 128, keepMinutes},
	price.Quarters: {"quarters", 15, candleSize, 48, 8 * day},
	price.Hours:    {"hours", hour, candleSize, 48, 0},
}

// Time spans in minutes.
const (
	hour        = 60
	day         = 24 * hour
	keepMinutes = 25 * hour
	maxAhead    = 5 // how far a new minute may be ahead of the clock
)

// minuteOf returns the minutes since 1970, at least 0 and within 32 bits.
func minuteOf(t time.Time) int32 {
	return int32(max(0, min(t.Unix()/60, 1<<31-1-day)))
}

func timeOf(minute int32) time.Time { return time.Unix(60*int64(minute), 0).UTC() }

func floor(n, step int32) int32 { return n - n%step }

// oldest returns the oldest row that is kept. It starts an hour, so the candle of an hour
// has all of its finer rows or none.
func (s *Store) oldest(r price.Resolution, now int32) int32 {
	keep := layouts[r].keep
	if keep == 0 {
		keep = int32(s.o.Days) * day
	}
	return max(0, floor(now, hour)-keep)
}

// block returns the block of a token's place, and the offset of its entry there.
func (l layout) block(place int32) (number int32, at int) {
	return place / l.per, int(place%l.per) * l.size
}

// blank returns a block without prices.
func (l layout) blank() []byte { return bytes.Repeat([]byte{0xff}, int(l.per)*l.size) }

// entry returns an entry of a block; nil if it is empty or the block has the wrong length.
func (l layout) entry(block []byte, at int) []byte {
	if len(block) != int(l.per)*l.size || isEmpty(block[at:]) {
		return nil
	}
	return block[at : at+l.size]
}

// each calls f for every entry of a block that has data.
func (l layout) each(number int32, block []byte, f func(place int32, entry []byte)) {
	for i := range l.per {
		if e := l.entry(block, int(i)*l.size); e != nil {
			f(number*l.per+i, e)
		}
	}
}

func isEmpty(entry []byte) bool { return binary.LittleEndian.Uint64(entry) == uint64(price.None) }

func putSample(entry []byte, s price.Sample, minute int32) {
	binary.LittleEndian.PutUint64(entry, uint64(s.Value.Pack()))
	entry[8], entry[9] = byte(s.Source), byte(max(0, min(maxAge, minute-minuteOf(s.At))))
}

// sampleOf decodes an entry of a minute; false if its bytes are not a price.
func sampleOf(entry []byte, minute int32) (price.Sample, bool) {
	if len(entry) != minuteSize {
		return price.Sample{}, false
	}
	v, ok := price.Packed(binary.LittleEndian.Uint64(entry)).Unpack()
	s := price.Sample{Value: v, At: timeOf(minute - int32(entry[9])), Source: price.Source(entry[8])}
	return s, ok && s.Known() && s.Source != price.Unknown
}

func putCandle(entry []byte, c price.Candle) {
	for i, v := range []price.Value{c.Open, c.High, c.Low, c.Close} {
		binary.LittleEndian.PutUint64(entry[8*i:], uint64(v.Pack()))
	}
}

// candleOf decodes an entry of any resolution as a candle that starts at the given time;
// false if its bytes are not prices.
func candleOf(r price.Resolution, entry []byte, at int32) (price.Candle, bool) {
	if r == price.Minutes {
		s, ok := sampleOf(entry, at)
		return price.Candle{At: timeOf(at), Open: s.Value, High: s.Value, Low: s.Value, Close: s.Value}, ok
	}
	c := price.Candle{At: timeOf(at)}
	if len(entry) != candleSize {
		return c, false
	}
	for i, to := range []*price.Value{&c.Open, &c.High, &c.Low, &c.Close} {
		v, ok := price.Packed(binary.LittleEndian.Uint64(entry[8*i:])).Unpack()
		if !ok || v.IsZero() {
			return c, false
		}
		*to = v
	}
	return c, true
}

// completeCandle fills in prices of a candle that are missing or contradict each other; false
// without a close.
func completeCandle(c price.Candle) (price.Candle, bool) {
	if c.Open.IsZero() {
		c.Open = c.Close
	}
	high, low := c.Close, c.Close
	for _, v := range []price.Value{c.Open, c.High, c.Low} {
		if v.Cmp(high) > 0 {
			high = v
		}
		if !v.IsZero() && v.Cmp(low) < 0 {
			low = v
		}
	}
	c.High, c.Low = high, low
	return c, !c.Close.IsZero()
}

// fold joins finer candles, in order, to candles of a coarser step in minutes.
func fold(finer []price.Candle, step int32) []price.Candle {
	var all []price.Candle
	for _, c := range finer {
		c.At = timeOf(floor(minuteOf(c.At), step))
		if n := len(all); n > 0 && all[n-1].At.Equal(c.At) {
			all[n-1] = all[n-1].Join(c)
		} else {
			all = append(all, c)
		}
	}
	return all
}
