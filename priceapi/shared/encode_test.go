package shared

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var testTime = time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)

func value(t testing.TB, text string) price.Value {
	t.Helper()
	v, err := price.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// testTable returns a price table with every kind of row: complete, stale, without prices,
// and with the largest values.
func testTable(t testing.TB) *pricetable.Table {
	t.Helper()
	token := func(chain uint64, symbol string) tokens.Token {
		return tokens.Token{Chain: chain, Address: common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), Symbol: symbol, Name: "USD Coin", Decimals: 6, Verified: true, List: "a list"}
	}
	current := price.Sample{Value: value(t, "0.999712345678901234"), At: testTime.Add(-time.Minute), Source: price.DefiLlama}
	dayAgo := price.Sample{Value: value(t, "1.0001"), At: testTime.Add(-24 * time.Hour), Source: price.Derived}
	return pricetable.New(77<<32|3<<8, testTime, []pricetable.Row{
		{Token: token(1, "USDC"), Public: true, Now: current, DayAgo: dayAgo, AcceptedAt: testTime.Add(-13*time.Minute - time.Second), Facts: price.Facts{MarketCap: value(t, "60000000000.12"), CapSource: price.Blockscout, CapAt: testTime, Holders: 2_500_000, HoldersAt: testTime}},
		{Token: token(10, "USDC"), Public: true, Now: current, Stale: true, AcceptedAt: testTime.Add(-time.Hour), Facts: price.Facts{MarketCap: price.Max, Diluted: true}},
		{Token: tokens.Token{Chain: 5330, Symbol: "ETH", Name: "Ether", Decimals: 18, Imported: true}},
		{Token: token(56, "USDC"), Now: current, DayAgo: dayAgo, AcceptedAt: testTime},
		{Token: tokens.Token{Chain: 1<<63 - 1, Symbol: strings.Repeat("ü", 500), Name: "x", Decimals: tokens.MaxDecimals}, Facts: price.Facts{Holders: 1<<64 - 1}},
	})
}

func TestTableRoundTrip(t *testing.T) {
	for _, want := range []*pricetable.Table{testTable(t), pricetable.New(0, time.Time{}, nil)} {
		data, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seq != want.Seq || !got.Fetched.Equal(want.Fetched) || len(got.Rows) != len(want.Rows) {
			t.Fatalf("got sequence %d, fetched %s, %d rows; want %d, %s, %d", got.Seq, got.Fetched, len(got.Rows), want.Seq, want.Fetched, len(want.Rows))
		}
		for i := range got.Rows {
			if !reflect.DeepEqual(got.Rows[i], want.Rows[i]) {
				t.Errorf("row %d: got %+v, want %+v", i, got.Rows[i], want.Rows[i])
			}
		}
	}
}

// TestTableOfWrongLength checks that a table is rejected if it is truncated, has trailing
// bytes or claims more rows than it has.
func TestTableOfWrongLength(t *testing.T) {
	data, err := Encode(testTable(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if _, err := Decode(data[:n]); !errors.Is(err, ErrTable) {
			t.Fatalf("the first %d of %d bytes: got error %v, want ErrBoard", n, len(data), err)
		}
	}
	if _, err := Decode(append(bytes.Clone(data), 0)); !errors.Is(err, ErrTable) {
		t.Error("a trailing byte is accepted")
	}
	overstated := bytes.Clone(data)
	binary.BigEndian.PutUint32(overstated[17:], 1<<31) // the row count; Decode must not allocate that many
	if _, err := Decode(overstated); !errors.Is(err, ErrTable) {
		t.Errorf("a row count above the rows: got error %v, want ErrBoard", err)
	}
}

// TestEncodeRefuses checks that Encode refuses a table that Decode would reject.
func TestEncodeRefuses(t *testing.T) {
	long := pricetable.New(1, testTime, []pricetable.Row{{Token: tokens.Token{Chain: 1, Name: strings.Repeat("x", maxText+1)}}})
	if _, err := Encode(long); err == nil {
		t.Error("a text longer than Decode accepts is encoded")
	}
	if _, err := Encode(pricetable.New(1, testTime, make([]pricetable.Row, maxRows+1))); err == nil {
		t.Error("more rows than Decode accepts are encoded")
	}
}

// FuzzDecode checks that Decode either rejects its input or returns a table that round-trips.
func FuzzDecode(f *testing.F) {
	data, err := Encode(testTable(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:headSize])
	f.Add([]byte{tableVersion})
	f.Fuzz(func(t *testing.T, data []byte) {
		decoded, err := Decode(data)
		if err != nil {
			return
		}
		encoded, err := Encode(decoded)
		if err != nil || len(encoded) != len(data) {
			t.Fatalf("%d bytes are encoded as %d bytes: %v", len(data), len(encoded), err)
		}
		again, err := Decode(encoded)
		if err != nil || again.Seq != decoded.Seq || !again.Fetched.Equal(decoded.Fetched) || !reflect.DeepEqual(again.Rows, decoded.Rows) {
			t.Fatalf("decoding twice gives different tables: %v", err)
		}
	})
}
