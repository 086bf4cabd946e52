package series

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"swapkeep/priceapi/price"
)

// A row holds one entry per token for one time:
//
//	0  kind 'R'
//	1  layout, 1
//	2  resolution
//	3  flags
//	4  number of tokens, uint32
//	8  start in minutes since 1970, int64
//	16 the hash chain of its tokens (see table), uint64
//	24 duration of the fetch in nanoseconds, uint64
//	32 CRC32C of bytes 0 to 32
//	36 blocks of 16 entries, each followed by its CRC32C, which is seeded with the row's
//	   CRC and the block's number; the last block may be shorter
//
// An entry of a minute is a packed price, its source, and its age in minutes, where 255
// means "255 or more". An entry of a candle is open, high, low and close. Each block is
// checked when it is read: a chart reads one block per row, and damage loses at most
// sixteen tokens. Numbers are little endian.
const (
	rowKind    = 'R'
	rowLayout  = 1
	headerSize = 36
	perBlock   = 16
	sumSize    = 4

	minuteSize = 10
	candleSize = 32
	maxAge     = 255
)

// Flags of a row.
const (
	flagOK     = 1 << iota // of a minute: at least one price was accepted
	flagClosed             // of a candle: it agrees with the finer rows of its span
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var entrySizes = [...]int{price.Minutes: minuteSize, price.Quarters: candleSize, price.Hours: candleSize}

type header struct {
	res    price.Resolution
	flags  byte
	count  int // of tokens
	at     int64
	tokens uint64
	took   uint64
	sum    uint32
}

func (h header) is(flag byte) bool { return h.flags&flag != 0 }

// rowSize returns the size of a row of count tokens.
func rowSize(r price.Resolution, count int) int {
	return headerSize + count*entrySizes[r] + (count+perBlock-1)/perBlock*sumSize
}

// parseHeader reads the header of a row; false if it is not valid.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize || b[0] != rowKind || b[1] != rowLayout || int(b[2]) >= len(entrySizes) {
		return h, false
	}
	h = header{
		res: price.Resolution(b[2]), flags: b[3],
		count:  int(binary.LittleEndian.Uint32(b[4:])),
		at:     int64(binary.LittleEndian.Uint64(b[8:])),
		tokens: binary.LittleEndian.Uint64(b[16:]),
		took:   binary.LittleEndian.Uint64(b[24:]),
		sum:    binary.LittleEndian.Uint32(b[32:]),
	}
	return h, h.count <= maxTokens && h.sum == crc32.Checksum(b[:32], castagnoli)
}

// A row as it is on disk.
type row struct {
	header
	b []byte
}

// readRow returns false if the header is damaged or the size is wrong.
func readRow(b []byte) (row, bool) {
	h, ok := parseHeader(b)
	return row{h, b}, ok && len(b) == rowSize(h.res, h.count)
}

// block returns the entries of a block, nil if it is damaged or absent.
func (r row) block(i int) []byte {
	n := min(perBlock, r.count-i*perBlock)
	if i < 0 || n <= 0 {
		return nil
	}
	size := entrySizes[r.res]
	b := r.b[headerSize+i*(perBlock*size+sumSize):]
	if blockSum(r.sum, i, b[:n*size]) != binary.LittleEndian.Uint32(b[n*size:]) {
		return nil
	}
	return b[:n*size]
}

// blockSum is seeded so that a block copied from another row or position fails the check.
func blockSum(seed uint32, i int, b []byte) uint32 {
	return crc32.Update(seed+uint32(i)*0x9e3779b9, castagnoli, b)
}

// entry returns a token's entry, nil if it has none.
func (r row) entry(token int) []byte {
	b := r.block(token / perBlock)
	at := token % perBlock * entrySizes[r.res]
	if at >= len(b) || isEmpty(b[at:]) {
		return nil
	}
	return b[at : at+entrySizes[r.res]]
}

// each calls f for every entry that has a price.
func (r row) each(f func(token int, entry []byte)) {
	size := entrySizes[r.res]
	for i := 0; i*perBlock < r.count; i++ {
		b := r.block(i)
		for at := 0; at < len(b); at += size {
			if !isEmpty(b[at:]) {
				f(i*perBlock+at/size, b[at:at+size])
			}
		}
	}
}

// isEmpty reports whether an entry has no price: its first eight bytes are all ones.
func isEmpty(entry []byte) bool { return binary.LittleEndian.Uint64(entry) == uint64(price.None) }

// blank returns the entries of a row without prices.
func blank(r price.Resolution, count int) []byte {
	return bytes.Repeat([]byte{0xff}, count*entrySizes[r])
}

// entries returns a copy of the row's entries, extended to at least count tokens.
func (r row) entries(count int) []byte {
	b := blank(r.res, max(count, r.count))
	size := entrySizes[r.res]
	r.each(func(token int, entry []byte) { copy(b[token*size:], entry) })
	return b
}

// encode writes a row; h.count is set from entries.
func encode(h header, entries []byte) []byte {
	size := entrySizes[h.res]
	h.count = len(entries) / size
	b := make([]byte, 0, rowSize(h.res, h.count))
	b = append(b, rowKind, rowLayout, byte(h.res), h.flags)
	b = binary.LittleEndian.AppendUint32(b, uint32(h.count))
	for _, n := range []uint64{uint64(h.at), h.tokens, h.took} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := crc32.Checksum(b, castagnoli)
	b = binary.LittleEndian.AppendUint32(b, sum)
	for i := 0; len(entries) > 0; i++ {
		n := min(perBlock*size, len(entries))
		b = append(b, entries[:n]...)
		b = binary.LittleEndian.AppendUint32(b, blockSum(sum, i, entries[:n]))
		entries = entries[n:]
	}
	return b
}

// A sample is an entry of a minute.
type sample struct {
	value  price.Packed
	source price.Source
	at     int64 // minute
}

// parseSample reads an entry of a minute's row.
func parseSample(b []byte, minute int64) sample {
	return sample{price.Packed(binary.LittleEndian.Uint64(b)), price.Source(b[8]), minute - int64(b[9])}
}

func (s sample) put(b []byte, minute int64) {
	binary.LittleEndian.PutUint64(b, uint64(s.value))
	b[8], b[9] = byte(s.source), byte(max(0, min(maxAge, minute-s.at)))
}

// unpack unpacks the sample; false if its bytes are not a price.
func (s sample) unpack() (price.Sample, bool) {
	v, ok := s.value.Unpack()
	return price.Sample{Value: v, At: timeOf(s.at), Source: s.source}, ok && !v.IsZero() && s.source != price.Unknown
}
