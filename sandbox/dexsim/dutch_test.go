package dexsim

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// An orderVector is an order with all data that the contracts and the SDK derived from
// it. Its keys are public.
type orderVector struct {
	Name        string                     `json:"name"`
	ChainID     uint64                     `json:"chainId"`
	OrderInfo   map[string]json.RawMessage `json:"orderInfoJson"`
	Unsigned    hexutil.Bytes              `json:"unsignedEncodedOrder"`
	RoundTrip   *bool                      `json:"unsignedRoundTripHashEqual"`
	OrderHash   common.Hash                `json:"orderHash"`
	Permit      json.RawMessage            `json:"permitData"`
	Digest      hexutil.Bytes              `json:"digest"`
	Signature   hexutil.Bytes              `json:"signature"`
	Data        cosignerVector             `json:"cosignerData"`
	DataABI     hexutil.Bytes              `json:"cosignerDataAbi"`
	DataDigest  hexutil.Bytes              `json:"cosignerDigest"`
	Cosignature hexutil.Bytes              `json:"cosignature"`
	Cosigner    common.Address             `json:"cosigner"`
	Cosigned    hexutil.Bytes              `json:"cosignedEncodedOrder"`
	Resolved    []struct {
		Timestamp, Block uint64
		AsContract       struct {
			Input   struct{ Amount string }
			Outputs []struct{ Amount string }
		}
	} `json:"resolved"`
}

type cosignerVector struct {
	DecayStartTime         int64          `json:"decayStartTime"`
	DecayEndTime           int64          `json:"decayEndTime"`
	DecayStartBlock        int64          `json:"decayStartBlock"`
	ExclusiveFiller        common.Address `json:"exclusiveFiller"`
	ExclusivityOverrideBps string         `json:"exclusivityOverrideBps"`
	InputOverride          string         `json:"inputOverride"`
	OutputOverrides        []string       `json:"outputOverrides"`
}

func (v cosignerVector) data() cosignerData {
	d := cosignerData{
		big.NewInt(v.DecayStartTime + v.DecayStartBlock), big.NewInt(v.DecayEndTime), v.ExclusiveFiller,
		amount(v.ExclusivityOverrideBps), amount(v.InputOverride), nil,
	}
	for _, o := range v.OutputOverrides {
		d.outputs = append(d.outputs, amount(o))
	}
	return d
}

// orderVectors returns the V2 and V3 vectors.
func orderVectors(t *testing.T) map[*dutchKind][]orderVector {
	t.Helper()
	raw, err := os.ReadFile("testdata/orders.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		V2 []orderVector `json:"v2Dutch"`
		V3 []orderVector `json:"v3Dutch"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.V2) != 2 || len(file.V3) != 4 {
		t.Fatalf("%d and %d orders", len(file.V2), len(file.V3))
	}
	return map[*dutchKind][]orderVector{v2Kind: file.V2, v3Kind: file.V3}
}

// terms decodes the order as a quote would contain it.
func (v orderVector) terms(t *testing.T, kind *dutchKind) dutchOrder {
	t.Helper()
	delete(v.OrderInfo, "permit2Address") // the SDK's member, which the API lacks
	raw, err := json.Marshal(v.OrderInfo)
	if err != nil {
		t.Fatal(err)
	}
	var info dutchInfo = new(v2Info)
	if kind == v3Kind {
		info = new(v3Info)
	}
	if err := decodeExact(raw, info); err != nil || !info.ok() || !allDigits(info.amounts()) {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return info.order()
}

func TestOrdersMatchVectors(t *testing.T) {
	for kind, vectors := range orderVectors(t) {
		for _, v := range vectors {
			t.Run(v.Name, func(t *testing.T) {
				o := v.terms(t, kind)
				v.checkEncodings(t, o)
				v.checkSignatures(t, kind, o)
				v.checkAmounts(t, o)
			})
		}
	}
}

func (v orderVector) checkEncodings(t *testing.T, o dutchOrder) {
	t.Helper()
	if id, err := orderHash(o); err != nil || id != v.OrderHash {
		t.Errorf("hash %s (%v), want %s", id, err, v.OrderHash)
	}
	plain, err := o.encoded(unsigned(), nil)
	if err != nil {
		t.Fatal(err)
	}
	// In one vector, the SDK's own unsigned encoding does not belong to the order's hash.
	if consistent := v.RoundTrip == nil || *v.RoundTrip; bytes.Equal(plain, v.Unsigned) != consistent {
		t.Errorf("unsigned encoding\n got %x\nwant %x", plain, []byte(v.Unsigned))
	}
	full, err := o.encoded(v.Data.data(), v.Cosignature)
	if err != nil || !bytes.Equal(full, v.Cosigned) {
		t.Errorf("cosigned encoding (%v)\n got %x\nwant %x", err, full, []byte(v.Cosigned))
	}
	part, err := o.cosigned(v.Data.data())
	if err != nil || !bytes.Equal(part, v.DataABI) {
		t.Errorf("cosigner data (%v)\n got %x\nwant %x", err, part, []byte(v.DataABI))
	}
}

func (v orderVector) checkSignatures(t *testing.T, kind *dutchKind, o dutchOrder) {
	t.Helper()
	permit2 := common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	data := typed(o, v.ChainID, permit2)
	shown, err := json.Marshal(data)
	if err != nil || !sameJSON(shown, v.Permit) {
		t.Errorf("permitData (%v)\n got %s\nwant %s", err, shown, v.Permit)
	}
	if digest, err := data.digest(); err != nil || !bytes.Equal(digest, v.Digest) {
		t.Errorf("digest %x (%v), want %x", digest, err, []byte(v.Digest))
	}
	n, _ := network.ByID(v.ChainID)
	posted := &order{id: v.OrderHash, market: &market{Chain: operator.Chain{Network: n}}, kind: kind, terms: o, signature: v.Signature}
	if !posted.signedBySwapper() {
		t.Error("the swapper's signature is not taken for his")
	}
	posted.signature[40] ^= 1
	if posted.signedBySwapper() {
		t.Error("another signature is taken for the swapper's")
	}
	digest, err := cosignerDigest(v.OrderHash, o, v.ChainID, v.Data.data())
	if err != nil || !bytes.Equal(digest, v.DataDigest) {
		t.Errorf("cosigner's digest %x (%v), want %x", digest, err, []byte(v.DataDigest))
	}
	cosignature := bytes.Clone(v.Cosignature)
	cosignature[64] -= 27
	if key, err := crypto.SigToPub(digest, cosignature); err != nil || crypto.PubkeyToAddress(*key) != v.Cosigner {
		t.Errorf("cosignature: %v", err)
	}
}

// checkAmounts compares with the amounts to which the contract resolved the order.
func (v orderVector) checkAmounts(t *testing.T, o dutchOrder) {
	t.Helper()
	if len(v.Resolved) == 0 {
		t.Fatal("nothing was resolved")
	}
	for _, r := range v.Resolved {
		in, outs := o.at(v.Data.data(), blockTime{r.Block, r.Timestamp})
		if in.String() != r.AsContract.Input.Amount {
			t.Errorf("block %d, time %d: takes %s, want %s", r.Block, r.Timestamp, in, r.AsContract.Input.Amount)
		}
		for i, want := range r.AsContract.Outputs {
			if outs[i].String() != want.Amount {
				t.Errorf("block %d, time %d: output %d pays %s, want %s", r.Block, r.Timestamp, i, outs[i], want.Amount)
			}
		}
	}
}

// recordedQuote returns the quote object of a recorded response.
func recordedQuote(tb testing.TB, file string) json.RawMessage {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	var example struct {
		Response struct {
			Body struct{ Quote json.RawMessage }
		}
	}
	if err := json.Unmarshal(raw, &example); err != nil {
		tb.Fatal(err)
	}
	return example.Response.Body.Quote
}

// TestQuotedOrdersAreThoseOfTheRecordedQuotes rebuilds the recorded quotes' orders from
// their parts.
func TestQuotedOrdersAreThoseOfTheRecordedQuotes(t *testing.T) {
	for file, kind := range map[string]*dutchKind{"04_quote_dutch_v2.json": v2Kind, "05_quote_dutch_v3.json": v3Kind} {
		quote, terms, err := kind.decode(recordedQuote(t, file))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		token, maximum := terms.maxInput()
		made := kind.make(quote.ChainID, terms.common(), common.Address(terms.shown().cosigner()), token, maximum, terms.outputs(), 50)
		if id, err := orderHash(made); err != nil || id != quote.OrderID {
			t.Errorf("%s: made %s (%v), want %s", file, id, err, quote.OrderID)
		}
	}
}

// FuzzOrderRequest checks that every order that parses can be encoded and hashed, and
// resolved if it is sound.
func FuzzOrderRequest(f *testing.F) {
	f.Add(recorded(f, "06_order.json", "request"))
	for _, file := range []string{"04_quote_dutch_v2.json", "05_quote_dutch_v3.json"} {
		body, err := json.Marshal(map[string]any{"signature": "0x", "quote": recordedQuote(f, file)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parseOrder(body)
		if err != nil {
			return
		}
		if _, err := r.terms.encoded(unsigned(), nil); err != nil {
			t.Errorf("cannot be encoded: %v", err)
		}
		if _, err := orderHash(r.terms); err != nil {
			t.Errorf("has no hash: %v", err)
		}
		if r.terms.invalidReason() != "" {
			return
		}
		if _, outs := r.terms.at(unsigned(), blockTime{1 << 40, 1 << 40}); len(outs) != len(r.terms.outputs()) {
			t.Errorf("%d outputs", len(outs))
		}
	})
}
