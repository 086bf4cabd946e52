package postgres

import (
	"bytes"
	"encoding/binary"
	"time"

	"swapkeep/priceapi/price"
)

// A block is what is known of some tokens at one time: an entry for each place, of
// eight bytes of ones and more where there is nothing. An entry of a minute is a
// packed price, its source, and its age in minutes, where 255 is "255 or more"; one
// of a candle is open, high, low and close, packed. Numbers are little endian.
//
// A row of PostgreSQL that is shorter than two kilobytes stays in its page, and six
// blocks of a minute, or five of a candle, fill one.
type layout struct {
	table string
	step  int32 // minutes
	size  int   // of an entry
	per   int32 // entries in a block
	keep  int32 // minutes before the present hour; 0 = as the options say
}

const (
	minuteSize = 10
	candleSize = 32
	maxAge     = 255
)

// layouts of the resolutions.
var layouts = [...]layout{
	price.Minutes:  {"minutes", 1, minuteSize, 128, keepMinutes},
	price.Quarters: {"quarters", 15, candleSize, 48, 8 * day},
	price.Hours:    {"hours", hour, candleSize, 48, 0},
}

// Spans in minutes.
const (
	hour        = 60
	day         = 24 * hour
	keepMinutes = 25 * hour
	ahead       = 5 // by how much a new minute may be ahead of the clock
)

// minuteOf is the minutes since 1970, at least 0 and within 32 bits.
func minuteOf(t time.Time) int32 {
	return int32(max(0, min(t.Unix()/60, 1<<31-1-day)))
}

func timeOf(minute int32) time.Time { return time.Unix(60*int64(minute), 0).UTC() }

func floor(n, step int32) int32 { return n - n%step }

// oldest is the oldest row that is kept. It begins an hour: a candle of an hour has
// all of its finer rows, or none.
func (s *Store) oldest(r price.Resolution, now int32) int32 {
	keep := layouts[r].keep
	if keep == 0 {
		keep = int32(s.o.Days) * day
	}
	return max(0, floor(now, hour)-keep)
}

// block is the one that a token's place is in, and where its entry begins there.
func (l layout) block(place int32) (number int32, at int) {
	return place / l.per, int(place%l.per) * l.size
}

// blank is a block without prices.
func (l layout) blank() []byte { return bytes.Repeat([]byte{0xff}, int(l.per)*l.size) }

// entry is a token's in a block; nil where there is none, or where the block is not
// one.
func (l layout) entry(block []byte, at int) []byte {
	if len(block) != int(l.per)*l.size || none(block[at:]) {
		return nil
	}
	return block[at : at+l.size]
}

// each calls f with the entries of a block that are there.
func (l layout) each(number int32, block []byte, f func(place int32, entry []byte)) {
	for i := range l.per {
		if e := l.entry(block, int(i)*l.size); e != nil {
			f(number*l.per+i, e)
		}
	}
}

func none(entry []byte) bool { return binary.LittleEndian.Uint64(entry) == uint64(price.None) }

// putSample writes an entry of a minute.
func putSample(entry []byte, s price.Sample, minute int32) {
	binary.LittleEndian.PutUint64(entry, uint64(s.Value.Pack()))
	entry[8], entry[9] = byte(s.Source), byte(max(0, min(maxAge, minute-minuteOf(s.At))))
}

// sampleOf reads an entry of a minute; false where its bytes are no price.
func sampleOf(entry []byte, minute int32) (price.Sample, bool) {
	if len(entry) != minuteSize {
		return price.Sample{}, false
	}
	v, ok := price.Packed(binary.LittleEndian.Uint64(entry)).Unpack()
	s := price.Sample{Value: v, At: timeOf(minute - int32(entry[9])), Source: price.Source(entry[8])}
	return s, ok && s.Known() && s.Source != price.Unknown
}

// putCandle writes an entry of a candle.
func putCandle(entry []byte, c price.Candle) {
	for i, v := range []price.Value{c.Open, c.High, c.Low, c.Close} {
		binary.LittleEndian.PutUint64(entry[8*i:], uint64(v.Pack()))
	}
}

// candleOf reads an entry of either kind as a candle that begins at a time; false
// where its bytes are no prices.
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

// whole makes up for prices of a candle that are missing or contradict one another;
// false without a close.
func whole(c price.Candle) (price.Candle, bool) {
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

// fold makes candles of a coarser step, in minutes, of finer ones in their order.
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
