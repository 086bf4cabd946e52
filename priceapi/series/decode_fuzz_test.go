package series

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
)

// FuzzRow checks that a row round-trips with all entries within bounds. Bytes with wrong
// checksums are rejected.
func FuzzRow(f *testing.F) {
	for _, r := range []price.Resolution{price.Minutes, price.Quarters, price.Hours} {
		for _, n := range []int{0, 1, 16, 33} {
			entries := blank(r, n)
			if n > 0 {
				sample{usd(f, "3050.12").Pack(), price.DIA, 5}.put(entries, 9)
			}
			f.Add(encode(header{res: r, flags: flagOK, at: 29_000_000, took: 1e9}, entries))
		}
	}
	f.Add([]byte("R"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, ok := parseHeader(b); ok && (h.count > maxTokens || int(h.res) >= len(ringNames)) {
			t.Fatalf("parseHeader accepts an invalid header: %+v", h)
		}
		r, ok := readRow(b)
		if !ok {
			return
		}
		for n := -1; n <= r.count+1; n++ {
			entry := r.entry(max(0, n))
			if entry == nil {
				continue
			}
			if r.res == price.Minutes {
				if p := parseSample(entry, r.at); p.at > r.at || p.at < r.at-maxAge {
					t.Fatalf("parseSample returns a time outside the row: %+v", p)
				}
				_, _ = parseSample(entry, r.at).unpack()
			}
			if c, ok := parseBar(r.res, entry).unpack(0); ok && (c.Close.IsZero() || c.Close.Cmp(price.Max) > 0) {
				t.Fatalf("unpack returns an invalid candle: %v", c)
			}
		}
		again, ok := readRow(encode(r.header, r.entries(0)))
		if !ok || !bytes.Equal(again.entries(0), r.entries(0)) {
			t.Fatal("it is not what it was")
		}
	})
}

// FuzzRowDamage checks that after one byte is changed each token's entry is either the same
// or missing.
func FuzzRowDamage(f *testing.F) {
	f.Add(uint16(3), byte(1))
	f.Add(uint16(60), byte(0x80))
	f.Add(uint16(200), byte(0xff))
	entries := blank(price.Minutes, 50)
	for n := range 50 {
		sample{worth(n, noon).Pack(), price.DIA, 5}.put(entries[n*minuteSize:], 9)
	}
	good := encode(header{res: price.Minutes, at: 9}, entries)
	whole, _ := readRow(good)
	f.Fuzz(func(t *testing.T, at uint16, flip byte) {
		b := bytes.Clone(good)
		b[int(at)%len(b)] ^= flip
		r, ok := readRow(b)
		if !ok {
			return
		}
		missing := 0
		for n := range 50 {
			switch entry := r.entry(n); {
			case entry == nil:
				missing++
			case !bytes.Equal(entry, whole.entry(n)):
				t.Fatalf("token %d: %x", n, entry)
			}
		}
		if missing > perBlock || flip != 0 && missing == 0 {
			t.Fatalf("%d tokens are missing", missing)
		}
	})
}

// FuzzRecords checks that small records are read as written or not at all.
func FuzzRecords(f *testing.F) {
	key, value := tokenRecord{token(1), 7, 9}.encode()
	f.Add(key, value)
	f.Add(idKey(token(2)), encodeFacts(idKey(token(2)), price.Facts{MarketCap: usd(f, "1e12"), CapAt: noon, Holders: 9}))
	f.Add(totalsKey, encodeTotals(poll.Totals{Fetches: 3, Successful: 2, Took: time.Second}))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if r, ok := parseToken(key, value); ok {
			k, v := r.encode()
			if !bytes.Equal(k, key) || !bytes.Equal(v, value) || r.index >= maxTokens {
				t.Fatalf("encoding the row again gives other bytes: %+v", r)
			}
		}
		if id, facts, ok := parseFacts(key, value); ok {
			if again, same, ok := parseFacts(key, encodeFacts(key, facts)); !ok || again != id || same != facts || facts.MarketCap.Cmp(price.Max) > 0 {
				t.Fatalf("encoding the facts again changes them: %+v", facts)
			}
		}
		if totals, ok := parseTotals(value); ok && (!bytes.Equal(encodeTotals(totals), value) || totals.Took < 0) {
			t.Fatalf("encoding the totals again changes them: %+v", totals)
		}
	})
}

// FuzzOrder checks that packed prices sort like the prices.
func FuzzOrder(f *testing.F) {
	f.Add("0.000000000000000001", "99999999999999999999")
	f.Add("0.099999999999999999", "0.1")
	f.Add("1", "1.0000000000000001")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := price.Parse(a)
		w, err2 := price.Parse(b)
		if err != nil || err2 != nil {
			return
		}
		x, _ := v.Pack().Unpack()
		y, _ := w.Pack().Unpack()
		if got, want := sortKey(v.Pack()) < sortKey(w.Pack()), x.Cmp(y) < 0; got != want {
			t.Fatalf("%s < %s is %t", v, w, got)
		}
	})
}

// FuzzMeta checks that no meta page makes the audit read out of bounds.
func FuzzMeta(f *testing.F) {
	f.Add(make([]byte, metaSize))
	b := binary.NativeEndian.AppendUint32(nil, boltMagic)
	f.Add(append(binary.NativeEndian.AppendUint32(b, boltVersion), make([]byte, metaSize-8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := &audit{from: bytes.NewReader(b), size: int64(len(b))}
		a.check()
		if a.problem == nil {
			t.Fatal("the audit finds no problem in a damaged file")
		}
	})
}
