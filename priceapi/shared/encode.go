package shared

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// ErrTable means that bytes are not an encoded table.
var ErrTable = errors.New("not an encoded price table")

// A table is encoded as: version, seq, time of the fetch, number of rows, and the rows. A
// row is chain, address, decimals, symbol, name, list, flags, when the price was accepted,
// the prices now and a day ago (value of 16 bytes, time, source), and the facts (market cap
// of 16 bytes, source, time, holders, time). Firm prices are not included. Integers are big
// endian. Times are nanoseconds since 1970, with the smallest number for none. Strings are
// preceded by their length in two bytes.
const (
	tableVersion = 1
	maxRows      = 50_000
	maxText      = 1 << 10
	valueSize    = 16
	sampleSize   = valueSize + 8 + 1
	fixedSize    = 8 + common.AddressLength + 1 + 3*2 + 1 + 8 + 2*sampleSize + valueSize + 1 + 8 + 8 + 8
	headSize     = 1 + 8 + 8 + 4
	// MaxTable is the maximum size of an encoded table, in bytes.
	MaxTable = 32 << 20
)

// Flags of a row.
const (
	flagPublic = 1 << iota
	flagStale
	flagVerified
	flagImported
	flagDiluted
	_        // used by an earlier version
	allFlags = 1<<iota - 1
)

const noTime = math.MinInt64

// Encode encodes a table. It fails for a table that Decode would reject.
func Encode(b *pricetable.Table) ([]byte, error) {
	if len(b.Rows) > maxRows {
		return nil, fmt.Errorf("a price table of %d rows: at most %d are shared", len(b.Rows), maxRows)
	}
	w := make(writer, 0, headSize+len(b.Rows)*(fixedSize+40))
	w.byte(tableVersion)
	w.number(b.Seq)
	w.time(b.Fetched)
	w = binary.BigEndian.AppendUint32(w, uint32(len(b.Rows)))
	for _, r := range b.Rows {
		if len(r.Token.Symbol) > maxText || len(r.Token.Name) > maxText || len(r.Token.List) > maxText {
			return nil, fmt.Errorf("token %s of chain %d: its texts are too long", r.Token.Address, r.Token.Chain)
		}
		w.row(r)
	}
	if len(w) > MaxTable {
		return nil, fmt.Errorf("a price table of %d bytes: at most %d are shared", len(w), MaxTable)
	}
	return w, nil
}

type writer []byte

func (w *writer) byte(b byte)     { *w = append(*w, b) }
func (w *writer) number(n uint64) { *w = binary.BigEndian.AppendUint64(*w, n) }

func (w *writer) time(t time.Time) {
	n := int64(noTime)
	if !t.IsZero() {
		n = t.UnixNano()
	}
	w.number(uint64(n))
}

func (w *writer) text(s string) {
	*w = append(binary.BigEndian.AppendUint16(*w, uint16(len(s))), s...)
}

func (w *writer) value(v price.Value) {
	var b [valueSize]byte
	v.Int().FillBytes(b[:]) // at most 1e38
	*w = append(*w, b[:]...)
}

func (w *writer) sample(s price.Sample) {
	w.value(s.Value)
	w.time(s.At)
	w.byte(byte(s.Source))
}

func (w *writer) row(r pricetable.Row) {
	w.number(r.Token.Chain)
	*w = append(*w, r.Token.Address[:]...)
	w.byte(r.Token.Decimals)
	w.text(r.Token.Symbol)
	w.text(r.Token.Name)
	w.text(r.Token.List)
	flags := byte(0)
	for i, set := range []bool{r.Public, r.Stale, r.Token.Verified, r.Token.Imported, r.Facts.Diluted} {
		if set {
			flags |= 1 << i
		}
	}
	w.byte(flags)
	w.time(r.AcceptedAt)
	w.sample(r.Now)
	w.sample(r.DayAgo)
	w.value(r.Facts.MarketCap)
	w.byte(byte(r.Facts.CapSource))
	w.time(r.Facts.CapAt)
	w.number(r.Facts.Holders)
	w.time(r.Facts.HoldersAt)
}

// Decode decodes a complete table. Errors: ErrTable.
func Decode(b []byte) (*pricetable.Table, error) {
	r := &reader{b: b}
	if r.byte() != tableVersion || len(b) > MaxTable {
		return nil, ErrTable
	}
	seq, fetched := r.number(), r.time()
	n := int(binary.BigEndian.Uint32(r.take(4)))
	if r.bad || n > maxRows || n > len(r.b)/fixedSize {
		return nil, ErrTable
	}
	rows := make([]pricetable.Row, 0, n)
	seen := make(map[price.ID]bool, n)
	for range n {
		row := r.row()
		if r.bad || row.Token.Chain == 0 || seen[row.ID()] {
			return nil, ErrTable
		}
		seen[row.ID()] = true
		rows = append(rows, row)
	}
	if r.bad || len(r.b) > 0 {
		return nil, ErrTable
	}
	return pricetable.New(seq, fetched, rows), nil
}

// A reader consumes bytes from the front. If bytes are missing it becomes bad and returns
// zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return make([]byte, n)
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) number() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

func (r *reader) time() time.Time {
	n := int64(r.number())
	if n == noTime || r.bad {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func (r *reader) text() string {
	n := int(binary.BigEndian.Uint16(r.take(2)))
	if n > maxText {
		r.bad = true
		return ""
	}
	s := string(r.take(n))
	r.bad = r.bad || !utf8.ValidString(s)
	return s
}

var unit = big.NewInt(1e18)

func (r *reader) value() price.Value {
	v, err := price.FromRatio(new(big.Int).SetBytes(r.take(valueSize)), unit)
	if err != nil {
		r.bad = true
	}
	return v
}

func (r *reader) sample() price.Sample {
	return price.Sample{Value: r.value(), At: r.time(), Source: price.Source(r.byte())}
}

func (r *reader) row() pricetable.Row {
	t := tokens.Token{Chain: r.number(), Address: common.BytesToAddress(r.take(common.AddressLength)), Decimals: r.byte()}
	t.Symbol, t.Name, t.List = r.text(), r.text(), r.text()
	flags := r.byte()
	t.Verified, t.Imported = flags&flagVerified != 0, flags&flagImported != 0
	row := pricetable.Row{Token: t, Public: flags&flagPublic != 0, Stale: flags&flagStale != 0, AcceptedAt: r.time(), Now: r.sample(), DayAgo: r.sample()}
	row.Facts = price.Facts{MarketCap: r.value(), Diluted: flags&flagDiluted != 0, CapSource: price.Source(r.byte()), CapAt: r.time()}
	row.Facts.Holders, row.Facts.HoldersAt = r.number(), r.time()
	r.bad = r.bad || flags&^allFlags != 0 || t.Decimals > tokens.MaxDecimals
	return row
}
