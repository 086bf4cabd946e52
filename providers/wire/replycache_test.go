package wire

import (
	"errors"
	"math/big"
	"testing"

	"swapkeep/swap"
)

// TestReadings checks that only the same bytes under the same request are not read again.
func TestReadings(t *testing.T) {
	var k ReplyCache[int]
	reads := 0
	read := func(raw string, r swap.QuoteRequest) int {
		v, err := k.Read([]byte(raw), r, func([]byte) (int, error) { reads++; return reads, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	asked := func(change func(*swap.QuoteRequest)) swap.QuoteRequest {
		r := swap.QuoteRequest{SrcChain: 1, AmountIn: big.NewInt(5), SlippageBps: 50}
		change(&r)
		return r
	}
	same := func(*swap.QuoteRequest) {}
	first := read("a", asked(same))
	for name, c := range map[string]struct {
		raw    string
		change func(*swap.QuoteRequest)
		again  bool
	}{
		"the same":         {"a", same, false},
		"other bytes":      {"b", same, true},
		"longer":           {"aa", same, true},
		"another chain":    {"a", func(r *swap.QuoteRequest) { r.SrcChain = 2 }, true},
		"another slippage": {"a", func(r *swap.QuoteRequest) { r.SlippageBps = 51 }, true},
		"another amount":   {"a", func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(6) }, true},
		"no amount":        {"a", func(r *swap.QuoteRequest) { r.AmountIn = nil }, true},
	} {
		if got := read(c.raw, asked(c.change)); (got != first) != c.again {
			t.Errorf("%s: reading %d, the first was %d", name, got, first)
		}
	}
}

// TestReadingsAreBounded checks that the last of many are cached, large ones and failures
// never, and that a caller may change its bytes and amount afterwards.
func TestReadingsAreBounded(t *testing.T) {
	var k ReplyCache[string]
	r := swap.QuoteRequest{AmountIn: big.NewInt(5)}
	reads := 0
	read := func(raw []byte, fails error) string {
		v, err := k.Read(raw, r, func(raw []byte) (string, error) { reads++; return string(raw[:1]), fails })
		if !errors.Is(err, fails) {
			t.Fatal(err)
		}
		return v
	}
	own := []byte("x")
	read(own, nil)
	own[0] = 'y'
	if got := read(own, nil); got != "y" || reads != 2 {
		t.Errorf("read as %q", got)
	}
	r.AmountIn.SetInt64(6)
	if read([]byte("x"), nil); reads != 3 {
		t.Error("read under another amount")
	}
	for i := range 3 * maxCachedReplies {
		read([]byte{byte(i)}, nil)
	}
	if reads = 0; len(k.entries) != maxCachedReplies {
		t.Errorf("%d are kept", len(k.entries))
	}
	if read([]byte{3*maxCachedReplies - 1}, nil); reads != 0 {
		t.Error("the last is read again")
	}
	if read([]byte("x"), nil); reads != 1 {
		t.Error("the first is still kept")
	}
	for range 2 {
		read(make([]byte, maxCachedSize+1), nil)
		read([]byte("z"), errors.ErrUnsupported)
	}
	if reads != 5 {
		t.Errorf("large ones and failures are read %d times", reads-1)
	}
}
