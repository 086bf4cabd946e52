package postgres

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// FuzzBlock checks that entries of arbitrary blocks round-trip, and that a block of the
// wrong length has none.
func FuzzBlock(f *testing.F) {
	one, err := price.Parse("1.25")
	if err != nil {
		f.Fatal(err)
	}
	sample := make([]byte, minuteSize)
	putSample(sample, price.Sample{Value: one, At: timeOf(90), Source: price.DefiLlama}, 100)
	f.Add(sample, int32(100), uint8(price.Minutes), int32(0))
	candle := make([]byte, candleSize)
	putCandle(candle, price.Candle{Open: one, High: one, Low: one, Close: one})
	f.Add(candle, int32(15), uint8(price.Quarters), int32(1<<31-1))
	f.Add(bytes.Repeat([]byte{0xff}, candleSize), int32(-1), uint8(price.Hours), int32(-1))
	f.Add(bytes.Repeat([]byte{0}, minuteSize), int32(0), uint8(price.Minutes), int32(1<<24))
	f.Add([]byte{1}, int32(1<<31-1), uint8(0), int32(0))
	f.Fuzz(func(t *testing.T, entry []byte, at int32, resolution uint8, number int32) {
		r := price.Resolution(int(resolution) % len(layouts))
		l := layouts[r]
		block := l.blank()
		n := copy(block, entry)
		found := 0
		l.each(number, block, func(_ int32, e []byte) {
			found++
			c, ok := candleOf(r, e, at)
			if !ok {
				return
			}
			again := bytes.Clone(e)
			if s, isSample := sampleOf(e, at); r == price.Minutes && isSample {
				putSample(again, s, minuteOf(s.At)+int32(e[9]))
			} else {
				putCandle(again, c)
			}
			if back, ok := candleOf(r, again, at); !ok || !reflect.DeepEqual(back, c) {
				t.Fatalf("%x is read as %+v, written as %x, which is %+v", e, c, again, back)
			}
			w, ok := completeCandle(c)
			if !ok || w.Low.IsZero() || w.High.Cmp(w.Low) < 0 || w.Open.Cmp(w.High) > 0 || w.Close.Cmp(w.Low) < 0 {
				t.Fatalf("%+v is made whole as %+v", c, w)
			}
		})
		if found > (n+l.size-1)/l.size {
			t.Fatalf("%d entries of %d bytes", found, n)
		}
		for _, short := range [][]byte{entry, block[:len(block)-1]} {
			if len(short) != len(block) && l.entry(short, 0) != nil {
				t.Fatalf("there is an entry in %d bytes", len(short))
			}
		}
	})
}

// FuzzFacts checks that a row is either rejected or decoded exactly.
func FuzzFacts(f *testing.F) {
	usdc := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48").Bytes()
	f.Add(int64(1), usdc, "60000000000.12", int16(price.Blockscout), "2500000")
	f.Add(int64(-1), usdc, "1", int16(256), "0")
	f.Add(int64(1), usdc[:19], "NaN", int16(-1), "-1")
	f.Add(int64(0), append(usdc, 0), "99999999999999999999999999999999999999.999999999999999999", int16(0), "18446744073709551616")
	f.Add(int64(1), usdc, "Infinity", int16(0), "1.0")
	f.Fuzz(func(t *testing.T, chain int64, address []byte, worth string, source int16, holders string) {
		id, facts, ok := factsOf(chain, address, worth, source, holders)
		if !ok {
			return
		}
		n := strconv.FormatUint(facts.Holders, 10)
		if int64(id.Chain) != chain || chain < 1 || !bytes.Equal(id.Address[:], address) || int16(facts.CapSource) != source || n != strings.TrimLeft(holders[:len(holders)-1], "0")+holders[len(holders)-1:] {
			t.Fatalf("%d %x %q %d %q is read as %v %+v", chain, address, worth, source, holders, id, facts)
		}
		if again, err := price.Parse(facts.MarketCap.String()); err != nil || again.Cmp(facts.MarketCap) != 0 || again.Cmp(price.Max) > 0 {
			t.Fatalf("%q is read as %s: %v", worth, facts.MarketCap, err)
		}
	})
}

// FuzzBits checks set operations on arbitrary sets.
func FuzzBits(f *testing.F) {
	f.Add([]byte{1, 0x80}, []byte{1}, uint16(9))
	f.Add([]byte{}, []byte{0xff, 0, 0}, uint16(0))
	f.Add([]byte{0, 0, 0}, []byte(nil), uint16(4095))
	f.Fuzz(func(t *testing.T, a, b []byte, more uint16) {
		list := func(s placeSet) (all []int32) {
			s.each(func(place int32) { all = append(all, place) })
			return all
		}
		in, other := list(a), list(b)
		for _, place := range list(placeSet(a).without(b)) {
			if !slices.Contains(in, place) || slices.Contains(other, place) {
				t.Fatalf("%d is left of %x without %x", place, a, b)
			}
		}
		both := list(placeSet(bytes.Clone(a)).union(b))
		for _, place := range slices.Concat(in, other) {
			if !slices.Contains(both, place) {
				t.Fatalf("%d is lost of %x and %x", place, a, b)
			}
		}
		if len(both) > len(in)+len(other) || !slices.IsSorted(both) {
			t.Fatalf("%v of %x and %x", both, a, b)
		}
		place := int32(more % 4096)
		if grown := list(placeSet(bytes.Clone(a)).with(place)); !slices.Contains(grown, place) || len(grown) > len(in)+1 {
			t.Fatalf("%x with %d is %v", a, place, grown)
		}
	})
}

// FuzzURL checks that another machine's server is reached only by verified TLS, and that no
// error repeats the URL.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"postgres://u:p@127.0.0.1/db", "postgres://u:p@db.example/db?sslmode=verify-full", "postgres://u:p@db.example/db", "postgres://u:p@127.0.0.1,db.example/db", "host=/run/postgresql user=u",
		"host=db.example hostaddr=127.0.0.1", "postgres://u:p@db.example/db?sslmode=verify-ca", "postgres://u:p@db.example/db?host=127.0.0.1", "host='", "service=x", "postgres://[::1%25eth0]/db", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		for _, word := range []string{"service", "passfile", "sslcert", "sslkey", "sslrootcert"} {
			if strings.Contains(strings.ToLower(url), word) {
				return // the library would look for files
			}
		}
		o, err := Options{URL: url}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		c, err := configure(o)
		if err != nil {
			if !errors.Is(err, ErrURL) && !errors.Is(err, ErrPlain) || len(url) > 30 && strings.Contains(err.Error(), url) {
				t.Fatalf("%q: %v", url, err)
			}
			return
		}
		ways := []string{c.ConnConfig.Host}
		secure := c.ConnConfig.TLSConfig
		if !strings.HasPrefix(ways[0], "/") && !loopback(ways[0]) && !verifiesServer(secure) && !strings.HasPrefix(ways[0], "@") {
			t.Fatalf("%q goes to %q in the open", url, ways[0])
		}
	})
}
