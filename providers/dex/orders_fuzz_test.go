package dex

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// auctionNames are the recorded auction quotes, by name.
var auctionNames = []string{"ethereum-auction", "base-auction"}

// FuzzAuctionQuote: any reply to /quote is refused with a code, or its order is one that
// Decode accepts within the terms made from the offer.
func FuzzAuctionQuote(f *testing.F) {
	for i, name := range auctionNames {
		f.Add([]byte(fixture(f, name+".quote.json")), i == 1)
	}
	f.Add([]byte(`{"routing":"DUTCH_V3","quote":{"orderId":"0x","encodedOrder":"0x"},"permitData":{"values":{}}}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, onBase bool) {
		name := auctionNames[0]
		if onBase {
			name = auctionNames[1]
		}
		q, err := sandboxProvider.readQuote(raw, auctionRequest(name))
		if err == nil {
			err = q.checkLifetime(testNow)
		}
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if q.order == nil {
			return
		}
		if err := checkFees(q.offer.Fees, q.offer.Request); err != nil {
			t.Fatal(err)
		}
		terms, typed := auctionTerms(name, *q.order), q.order.typed(q.offer.Request.SrcChain)
		terms.MinOut, terms.Deadline = q.offer.MinOut, testNow.Add(maxOrderLife)
		e, err := sandboxProvider.Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &typed})
		if err == nil {
			err = swap.Check(terms, []swap.Effect{e}, sandboxProvider.Pins())
		}
		if err != nil {
			t.Fatalf("quoted and not to be signed: %v", err)
		}
	})
}

// FuzzOrderTyped: any typed data that is accepted as an order takes exactly the input, pays
// the recipient a minimum, and hashes as our own order does.
func FuzzOrderTyped(f *testing.F) {
	for _, name := range auctionNames {
		o := recordedOrder(f, name+".quote.json")
		f.Add(written(f, o.typed(auctionRequest(name).SrcChain)))
	}
	for _, x := range readDutch(f).understood() {
		f.Add(written(f, x.order(f).typed(x.ChainID)))
	}
	f.Add([]byte(`{"primaryType":"PermitWitnessTransferFrom","message":{"witness":{"info":null}}}`))
	good := recordedOrder(f, "base-auction.quote.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d apitypes.TypedData
		if json.Unmarshal(raw, &d) != nil || d.PrimaryType != witnessPermit {
			return
		}
		terms := auctionTerms("base-auction", good)
		terms.MinOut = big.NewInt(1)
		e, err := sandboxProvider.Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &d})
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if e.Spends[0].Token != testUSDC || e.Spends[0].Amount.Cmp(terms.AmountIn) != 0 || e.Receives[0].To != testAccount ||
			e.Receives[0].Min.Sign() <= 0 || e.Settler != base.reactor || e.Deadline.After(testDeadline) {
			t.Fatalf("accepted order %+v of other terms", e)
		}
		o, err := dutchV3.permitted(d.Message)
		if err != nil {
			t.Fatal(err)
		}
		again, theirs := o.typed(8453), d
		want, _, errWant := apitypes.TypedDataAndHash(again)
		got, _, errGot := apitypes.TypedDataAndHash(theirs)
		if own := o.digest(8453); errWant != nil || errGot != nil || !bytes.Equal(got, want) || !bytes.Equal(own[:], want) {
			t.Fatalf("signed would be %x, read was %x: %v, %v", got, want, errGot, errWant)
		}
	})
}

// FuzzEncodedOrder: an encoding that is accepted is read to its last byte, and its order
// hashes as in go-ethereum.
func FuzzEncodedOrder(f *testing.F) {
	for _, x := range readDutch(f).understood() {
		f.Add([]byte(x.UnsignedEncodedOrder), x.auctionKind == dutchV3)
		f.Add([]byte(x.CosignedEncodedOrder), x.auctionKind == dutchV3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, third bool) {
		k := dutchV2
		if third {
			k = dutchV3
		}
		e, err := k.decode(raw)
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		v, err := unpackStrict(k.encoded.added, e.added)
		if err != nil {
			t.Fatalf("the cosigner's data: %v", err)
		}
		added := decoded(k.encoded.types, cosignerData, reflect.ValueOf(v[0]))
		if again := encodeOrder(t, e.dutchOrder, added, e.cosignature); !bytes.Equal(again, raw) {
			t.Fatalf("read from %x, written as %x", raw, again)
		}
		d := apitypes.TypedData{Types: k.types, Domain: apitypes.TypedDataDomain{Name: "Permit2"}}
		want, err := d.HashStruct(k.order, e.witness().message())
		if hash := e.hash(); err != nil || !bytes.Equal(hash[:], want) {
			t.Fatalf("hash %s, want %x: %v", hash, want, err)
		}
		if len(e.cosignature) > 0 {
			e.cosignerFault(8453)
		}
	})
}

// FuzzOrdersReply: any reply to /orders is refused with a code or is a claim about ours.
func FuzzOrdersReply(f *testing.F) {
	for _, name := range []string{"base-auction.filled.json", "base-auction.insufficient-funds.json", "ethereum-auction.open.json"} {
		f.Add([]byte(fixture(f, name)))
	}
	f.Add([]byte(`{"orders":[{"chainId":"0x2105","nonce":1,"encodedOrder":"0x","signature":"0x"}]}`))
	order, o := signedAuction(f, sandboxProvider)
	s, err := sandboxProvider.signed(order)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := s.claim(raw, order.Terms)
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if !bytes.Contains(bytes.ToLower(raw), []byte(hexutil.Encode(s.signature)[2:])) || c.ProviderStatus == "" || s.id != o.hash() {
			t.Fatalf("claim = %+v of a reply without our signature or status", c)
		}
		if c.Chain != 0 && (c.Chain != 8453 || c.State != swap.Filled) {
			t.Fatalf("claim = %+v, want a transaction on Base only for a filled order", c)
		}
	})
}

// FuzzTakenReply: an order counts as taken only under its own hash, and no 2xx reply
// refuses it for good, since it may have been taken.
func FuzzTakenReply(f *testing.F) {
	order, o := signedAuction(f, sandboxProvider)
	s, err := sandboxProvider.signed(order)
	if err != nil {
		f.Fatal(err)
	}
	id := o.hash().Hex()
	f.Add([]byte(fixture(f, "base-auction.order.json")))
	for _, s := range []string{`{"orderId":"` + id + `"}`, `{"orderId":null}`, `{"orderId":"` + id + `","orderId":"0x00"}`, `{"ORDERID":"` + id + `"}`, `{"orderId":["` + id + `"]}`, `"` + id + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ref, err := s.readOrderReply(raw)
		var r *swap.Refusal
		switch {
		case err != nil && (ref != "" || !errors.As(err, &r) || !r.Temporary()):
			t.Fatalf("Submit = %q, %v, want no reference and a temporary refusal", ref, err)
		case err == nil && ref != id:
			t.Fatalf("taken as %q", ref)
		case err == nil && !bytes.Contains(bytes.ToLower(raw), []byte(id[2:])) && !bytes.Contains(raw, []byte(`\`)):
			t.Fatalf("%q does not name the order", raw)
		}
	})
}
