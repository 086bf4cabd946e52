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

// testBoard has every kind of row: complete, stale, empty, and at the limits.
func testBoard(t testing.TB) *pricetable.Board {
	t.Helper()
	token := func(chain uint64, symbol string) tokens.Token {
		return tokens.Token{Chain: chain, Address: common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), Symbol: symbol, Name: "USD Coin", Decimals: 6, Verified: true, List: "a list"}
	}
	now := price.Sample{Value: value(t, "0.999712345678901234"), At: testTime.Add(-time.Minute), Source: price.DefiLlama}
	ago := price.Sample{Value: value(t, "1.0001"), At: testTime.Add(-24 * time.Hour), Source: price.Derived}
	return pricetable.New(77<<32|3<<8, testTime, []pricetable.Row{
		{Token: token(1, "USDC"), Public: true, Now: now, DayAgo: ago, AcceptedAt: testTime.Add(-13*time.Minute - time.Second), Facts: price.Facts{MarketCap: value(t, "60000000000.12"), CapSource: price.Blockscout, CapAt: testTime, Holders: 2_500_000, HoldersAt: testTime}},
		{Token: token(10, "USDC"), Public: true, Now: now, Stale: true, AcceptedAt: testTime.Add(-time.Hour), Facts: price.Facts{MarketCap: price.Max, Diluted: true}},
		{Token: tokens.Token{Chain: 5330, Symbol: "ETH", Name: "Ether", Decimals: 18, Imported: true}},
		{Token: token(56, "USDC"), Now: now, DayAgo: ago, AcceptedAt: testTime},
		{Token: tokens.Token{Chain: 1<<63 - 1, Symbol: strings.Repeat("ü", 500), Name: "x", Decimals: tokens.MaxDecimals}, Facts: price.Facts{Holders: 1<<64 - 1}},
	})
}

func TestBoardRoundTrip(t *testing.T) {
	for _, want := range []*pricetable.Board{testBoard(t), pricetable.New(0, time.Time{}, nil)} {
		data, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if got.Seq != want.Seq || !got.Fetched.Equal(want.Fetched) || len(got.Rows) != len(want.Rows) {
			t.Errorf("got %d %s, want %d %s", got.Seq, got.Fetched, want.Seq, want.Fetched)
		}
		for i := range got.Rows {
			if !reflect.DeepEqual(got.Rows[i], want.Rows[i]) {
				t.Errorf("row %d: got %+v, want %+v", i, got.Rows[i], want.Rows[i])
			}
		}
	}
}

// TestBoardCutShort checks that a truncated or extended board is rejected.
func TestBoardCutShort(t *testing.T) {
	data, err := Encode(testBoard(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if _, err := Decode(data[:n]); !errors.Is(err, ErrBoard) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	if _, err := Decode(append(bytes.Clone(data), 0)); !errors.Is(err, ErrBoard) {
		t.Error("a byte too many is taken")
	}
	many := bytes.Clone(data)
	binary.BigEndian.PutUint32(many[17:], 1<<31) // claimed rows that are missing allocate nothing
	if _, err := Decode(many); !errors.Is(err, ErrBoard) {
		t.Error(err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	long := pricetable.New(1, testTime, []pricetable.Row{{Token: tokens.Token{Chain: 1, Name: strings.Repeat("x", maxText+1)}}})
	if _, err := Encode(long); err == nil {
		t.Error("a text of more than is read is written")
	}
	if _, err := Encode(pricetable.New(1, testTime, make([]pricetable.Row, maxRows+1))); err == nil {
		t.Error("more rows than are read are written")
	}
}

// FuzzDecode checks that bytes are either rejected or a complete board that round-trips.
func FuzzDecode(f *testing.F) {
	data, err := Encode(testBoard(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:headSize])
	f.Add([]byte{boardVersion})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Encode(b)
		if err != nil || len(again) != len(data) {
			t.Fatalf("%d bytes become %d: %v", len(data), len(again), err)
		}
		back, err := Decode(again)
		if err != nil || back.Seq != b.Seq || !back.Fetched.Equal(b.Fetched) || !reflect.DeepEqual(back.Rows, b.Rows) {
			t.Fatalf("read differently: %v", err)
		}
	})
}
