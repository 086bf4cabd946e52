package gasless

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

func hasCode(err error) bool {
	var r *swap.Refusal
	return errors.As(err, &r)
}

// fuzzed are the recorded quotes in the seed corpus.
var fuzzed = []struct{ file, protocol string }{{"superseed-usdc-weth.quote.json", "JAM"}, {"ethereum-usdc-weth.quote.json", "RFQ"}}

// FuzzQuoteReply: any reply to /quote is either refused with a code or gives an order for
// exactly the request.
func FuzzQuoteReply(f *testing.F) {
	for i, x := range fuzzed {
		raw, _ := fixture(f, x.file)
		f.Add([]byte(raw), uint8(i))
	}
	f.Add([]byte(`{"error":{"errorCode":"104","message":"\u202e"}}`), uint8(0))
	f.Add([]byte(`{"toSign":{"sellTokens":[null],"sellAmounts":[null]},"quoteId":"1"}`), uint8(0))
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		x := fuzzed[int(which)%len(fuzzed)]
		_, r := fixture(t, x.file)
		v := testVenue(t, r, x.protocol)
		q, err := v.readQuote(raw, r)
		if err != nil {
			if !hasCode(err) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		o, c := q.offer, q.order.core
		if o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Cmp(minAfterSlippage(o.AmountOut, r.SlippageBps)) < 0 {
			t.Fatalf("%s at least %s", o.AmountOut, o.MinOut)
		}
		if c.taker != r.Account || c.receiver != r.Recipient || c.sell != r.TokenIn || c.buy != r.TokenOut || c.sellAmount.Cmp(r.AmountIn) != 0 || c.minBuy.Cmp(o.MinOut) != 0 {
			t.Fatalf("order %+v", c)
		}
		if _, err := json.Marshal(o); err != nil {
			t.Fatalf("the offer cannot be stored: %v", err)
		}
		if _, _, err := apitypes.TypedDataAndHash(q.order.typedData()); err != nil {
			t.Fatalf("the order cannot be hashed: %v", err)
		}
	})
}

// FuzzTyped: any typed data that Decode accepts spends exactly the input, enforces the
// minimum for the recipient, and has the hash of the order that is built from the terms.
func FuzzTyped(f *testing.F) {
	all := readVectors(f)
	for i, v := range all.Vectors {
		raw, err := json.Marshal(v.TypedData)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, uint8(i%3))
	}
	list := make([]swap.Terms, 3)
	for i, id := range []string{"jam_v2_standard_5330", "jam_v2_standard_1_native_out", "pmm_v3_single_1"} {
		list[i] = vectorTerms(all)
		signable[id].terms(&list[i])
		list[i].DstChain = list[i].SrcChain
	}
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		var d apitypes.TypedData
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		terms := list[int(which)%len(list)]
		e, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &d})
		if err != nil {
			if !hasCode(err) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if len(e.Spends) != 1 || e.Spends[0].Token != terms.TokenIn || e.Spends[0].Amount.Cmp(terms.AmountIn) != 0 {
			t.Fatalf("spends %+v", e.Spends)
		}
		if len(e.Receives) != 1 || e.Receives[0].To != terms.Recipient || e.Receives[0].Token != terms.TokenOut || e.Receives[0].Min.Cmp(terms.MinOut) < 0 {
			t.Fatalf("receives %+v", e.Receives)
		}
		if err := swap.Check(withDeadline(terms, e), []swap.Effect{e}, (&Provider{}).Pins()); err != nil {
			t.Fatal(err)
		}
		if o, err := decodeTyped(terms, d); err != nil || !sameHash(d, o.typedData()) {
			t.Fatalf("what was decoded is not what would be signed: %v", err)
		}
	})
}

// withDeadline raises the deadline to the order's expiry, which package swap judges.
func withDeadline(t swap.Terms, e swap.Effect) swap.Terms {
	if e.Deadline.After(t.Deadline) {
		t.Deadline = e.Deadline
	}
	return t
}

// FuzzStatusReply: an accepted claim has a known state and a printable word.
func FuzzStatusReply(f *testing.F) {
	for _, name := range []string{"status", "pending", "confirmed", "failed"} {
		raw, err := os.ReadFile("testdata/exchanges/superseed-usdc-weth." + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		var x struct {
			Response struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal(raw, &x); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(x.Response.Body))
	}
	f.Add([]byte(`{"error":{"errorCode":210}}`))
	quote, r := fixture(f, fuzzed[0].file)
	q, err := testVenue(f, r, "JAM").readQuote(quote, r)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := q.order.readStatus(raw)
		switch {
		case err != nil && !hasCode(err):
			t.Fatalf("a refusal without a code: %v", err)
		case err == nil && c.State != swap.Settling && c.State != swap.Filled && c.State != swap.Failed:
			t.Fatalf("claims %q", c.State)
		case err == nil && c.ProviderStatus != wire.Printable(c.ProviderStatus):
			t.Fatalf("the word %q is not fit to be shown", c.ProviderStatus)
		}
	})
}

// FuzzPartnerInfo: packing the parts of any unpacked number gives the number again.
func FuzzPartnerInfo(f *testing.F) {
	for _, v := range readVectors(f).PartnerInfo {
		n, _ := new(big.Int).SetString(v.Packed, 10)
		f.Add(n.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 32 {
			raw = raw[:32]
		}
		n := new(big.Int).SetBytes(raw)
		fee := unpack(n)
		again := new(big.Int).Lsh(fee.rest, 192)
		again.Add(again, new(big.Int).Lsh(new(big.Int).SetBytes(fee.partner[:]), 32))
		if again.Add(again, big.NewInt(int64(fee.partnerBps)<<16|int64(fee.protocolBps))); again.Cmp(n) != 0 {
			t.Fatalf("%s comes apart into %+v", n, fee)
		}
	})
}

// FuzzPostedReply: the order counts as submitted only if the reply repeats its expiry and
// is no error.
func FuzzPostedReply(f *testing.F) {
	quote, r := fixture(f, fuzzed[0].file)
	q, err := testVenue(f, r, "JAM").readQuote(quote, r)
	if err != nil {
		f.Fatal(err)
	}
	expiry := q.order.core.expiry.String()
	for _, s := range []string{
		`{"status":"Success","expiry":` + expiry + `}`, `{"status":"Success","expiry":"` + expiry + `","txHash":"0x` + strings.Repeat("Ab", 32) + `"}`,
		`{"status":"","expiry":` + expiry + `}`, `{"status":"Success","expiry":` + expiry + `0}`, `{"status":"Success","expiry":` + expiry + `.0}`,
		`{"status":"Success","expiry":` + expiry + `,"error":{"errorCode":210}}`, `{"status":"Success","expiry":` + expiry + `,"error":null}`, `{"error":"no"}`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := q.order.readPosted(raw)
		switch {
		case err != nil && !hasCode(err):
			t.Fatalf("a refusal without a code: %v", err)
		case err == nil && !bytes.Contains(raw, []byte(expiry)) && !bytes.Contains(raw, []byte(`\`)):
			t.Fatalf("%q does not repeat the order's expiry", raw)
		}
		var e struct{ Error any }
		if err == nil && (json.Unmarshal(raw, &e) != nil || e.Error != nil) {
			t.Fatalf("%q counts as handed over", raw)
		}
	})
}
