package dex

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// dutchVectors are reference orders: made with the vendor's SDK, resolved and filled on the
// reactors' bytecode, and four that were seen on the real chains.
type dutchVectors struct {
	V2Dutch, V3Dutch, Priority, V1Dutch []dutchVector
	RealOrders                          []struct {
		API, Decoded  json.RawMessage
		OrderInfoJSON json.RawMessage
		ChainID       uint64
		OrderHash     common.Hash
		Digest        common.Hash
		Signature     hexutil.Bytes
		Check         struct{ Signer common.Address }
	}
	TypeStrings map[string]struct {
		PermitWitnessTransferFrom, Witness string
		PermitTypeHash, WitnessTypeHash    common.Hash
	}
	RelativeBlocksPacking []struct {
		Blocks    []uint64
		PackedDec string
	}
	Nonces []struct {
		Nonce                         string
		InvalidateUnorderedNoncesCall hexutil.Bytes
	}
	FillTopic              common.Hash
	ReactorExecuteCalldata hexutil.Bytes
	DomainSeparators       map[uint64]common.Hash
}

type dutchVector struct {
	Name                                       string
	ChainID                                    uint64
	Reactor, Cosigner                          common.Address
	OrderInfoJSON                              json.RawMessage
	UnsignedEncodedOrder, CosignedEncodedOrder hexutil.Bytes
	UnsignedRoundTripHashEqual                 *bool
	OrderHash                                  common.Hash
	PermitData                                 json.RawMessage
	EIP712                                     struct {
		PrimaryType, EncodeType               string
		TypeHash, WitnessTypeHash, StructHash common.Hash
		DomainSeparator, Digest               common.Hash
		Signer                                common.Address
		Signature                             hexutil.Bytes
	}
	CosignerDataABI hexutil.Bytes
	CosignerDigest  common.Hash
	Cosignature     hexutil.Bytes
	Resolved        []struct {
		Timestamp, Block int64
		AsContract       struct {
			Input   struct{ Amount string }
			Outputs []struct{ Amount string }
		}
	}
}

func readDutch(t testing.TB) dutchVectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/dutch.json")
	if err != nil {
		t.Fatal(err)
	}
	var v dutchVectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// A kindVector is a vector of a supported kind.
type kindVector struct {
	*auctionKind
	dutchVector
}

func (v dutchVectors) understood() []kindVector {
	var out []kindVector
	for k, list := range map[*auctionKind][]dutchVector{dutchV2: v.V2Dutch, dutchV3: v.V3Dutch} {
		for _, x := range list {
			out = append(out, kindVector{k, x})
		}
	}
	return out
}

// order returns the order that the vector's typed data asks to be signed.
func (x kindVector) order(t testing.TB) dutchOrder {
	t.Helper()
	o, err := x.deal().readOrder(x.PermitData)
	if err != nil {
		t.Fatalf("%s: %v", x.Name, err)
	}
	return o
}

func (x kindVector) deal() orderTerms {
	return orderTerms{chain: x.ChainID, kind: x.auctionKind}
}

// infoOrder reads an order in the API's third form, in which the blocks are a list.
func infoOrder(t testing.TB, k *auctionKind, raw []byte) dutchOrder {
	t.Helper()
	type line struct {
		Token                    common.Address
		Recipient                common.Address
		StartAmount, EndAmount   string
		MaxAmount, MinAmount     string
		AdjustmentPerGweiBaseFee string
		Curve                    *struct {
			RelativeBlocks  []int64
			RelativeAmounts []string
		}
	}
	var v struct {
		Reactor, Swapper, Cosigner   common.Address
		Nonce, StartingBaseFee       string
		Deadline                     int64
		AdditionalValidationContract common.Address
		AdditionalValidationData     hexutil.Bytes
		Input                        line
		Outputs                      []line
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	number := func(s string) *big.Int {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok {
			t.Fatalf("not a number: %q", s)
		}
		return n
	}
	read := func(l line) dutchLine {
		out := dutchLine{token: l.Token, recipient: l.Recipient, start: number(l.StartAmount), end: number(l.EndAmount + l.MaxAmount + l.MinAmount)}
		if l.Curve != nil {
			out.curve, out.adjust = &curve{blocks: new(big.Int)}, number(l.AdjustmentPerGweiBaseFee)
			for i, b := range l.Curve.RelativeBlocks {
				out.curve.blocks.Or(out.curve.blocks, new(big.Int).Lsh(big.NewInt(b), uint(16*i)))
			}
			for _, n := range l.Curve.RelativeAmounts {
				out.curve.amounts = append(out.curve.amounts, number(n))
			}
		}
		return out
	}
	o := dutchOrder{
		kind: k, reactor: v.Reactor, swapper: v.Swapper, nonce: number(v.Nonce), deadline: big.NewInt(v.Deadline),
		validator: v.AdditionalValidationContract, validation: v.AdditionalValidationData, cosigner: v.Cosigner, input: read(v.Input),
	}
	if k == dutchV3 {
		o.baseFee = number(v.StartingBaseFee)
	}
	for _, l := range v.Outputs {
		o.outputs = append(o.outputs, read(l))
	}
	return o
}

func digestOf(t testing.TB, d apitypes.TypedData) common.Hash {
	t.Helper()
	hash, _, err := apitypes.TypedDataAndHash(d)
	if err != nil {
		t.Fatal(err)
	}
	return common.BytesToHash(hash)
}

// TestDutchHashes checks types, order hash, digest and signature of every vector.
func TestDutchHashes(t *testing.T) {
	v := readDutch(t)
	list := v.understood()
	if len(list) != 6 {
		t.Fatalf("%d vectors", len(list))
	}
	for _, x := range list {
		o := x.order(t)
		if info := infoOrder(t, x.auctionKind, x.OrderInfoJSON); !info.permit().same(o.permit()) {
			t.Errorf("%s: typed data and order info differ", x.Name)
		}
		d := o.typed(x.ChainID)
		if got := string(d.EncodeType(witnessPermit)); got != x.EIP712.EncodeType || d.PrimaryType != x.EIP712.PrimaryType {
			t.Errorf("%s: type %s", x.Name, got)
		}
		structHash, err := d.HashStruct(witnessPermit, d.Message)
		if err != nil {
			t.Fatal(err)
		}
		separator, err := d.HashStruct("EIP712Domain", d.Domain.Map())
		if err != nil {
			t.Fatal(err)
		}
		for name, pair := range map[string][2]common.Hash{
			"type hash":         {common.BytesToHash(d.TypeHash(witnessPermit)), x.EIP712.TypeHash},
			"witness type hash": {common.BytesToHash(d.TypeHash(x.auctionKind.order)), x.EIP712.WitnessTypeHash},
			"struct hash":       {common.BytesToHash(structHash), x.EIP712.StructHash},
			"domain separator":  {common.BytesToHash(separator), x.EIP712.DomainSeparator},
			"digest":            {digestOf(t, d), x.EIP712.Digest},
			"own digest":        {o.digest(x.ChainID), x.EIP712.Digest},
			"order hash":        {o.hash(), x.OrderHash},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %s %s, want %s", x.Name, name, pair[0], pair[1])
			}
		}
		signature := signWith(t, d)
		if !bytes.Equal(signature, x.EIP712.Signature) {
			t.Errorf("%s: signature %x", x.Name, signature)
		}
		if err := (signedOrder{dutchOrder: o, chain: x.ChainID, signature: signature}).checkSigner(x.EIP712.Signer); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
	for name, k := range map[string]*auctionKind{"V2": dutchV2, "V3": dutchV3} {
		d, want := apitypes.TypedData{Types: k.types}, v.TypeStrings[name]
		if string(d.EncodeType(witnessPermit)) != want.PermitWitnessTransferFrom || string(d.EncodeType(k.order)) != want.Witness ||
			common.BytesToHash(d.TypeHash(witnessPermit)) != want.PermitTypeHash || common.BytesToHash(d.TypeHash(k.order)) != want.WitnessTypeHash {
			t.Errorf("%s: the types are others", name)
		}
	}
}

// TestDutchEncodings checks that every encoding decodes to its order, except the one that
// the SDK is known to write wrongly.
func TestDutchEncodings(t *testing.T) {
	v := readDutch(t)
	for _, x := range v.understood() {
		o := x.order(t)
		faithful := x.UnsignedRoundTripHashEqual == nil || *x.UnsignedRoundTripHashEqual
		plain, err := x.decode(x.UnsignedEncodedOrder)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if (plain.checkIs(o) == nil) != faithful {
			t.Errorf("%s: the unsigned encoding: %v", x.Name, plain.checkIs(o))
		}
		cosigned, err := x.decode(x.CosignedEncodedOrder)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if err := cosigned.checkIs(o); err != nil {
			t.Errorf("%s: the cosigned encoding: %v", x.Name, err)
		}
		if !bytes.Equal(cosigned.cosignature, x.Cosignature) || !bytes.Equal(cosigned.added, x.CosignerDataABI) {
			t.Errorf("%s: the cosigner's part is another", x.Name)
		}
		if got := common.BytesToHash(cosigned.cosigned(x.ChainID)); got != x.CosignerDigest {
			t.Errorf("%s: the cosigner's digest is %s", x.Name, got)
		}
		if by, ok := cosigned.signer(x.ChainID); !ok || by != x.Cosigner {
			t.Errorf("%s: cosigned by %s", x.Name, by)
		}
		if why := cosigned.cosignerFault(x.ChainID); why != "" {
			t.Errorf("%s: %s", x.Name, why)
		}
		if !bytes.Equal(encodeOrder(t, o, nil, nil), x.UnsignedEncodedOrder) && faithful {
			t.Errorf("%s: this test's own encoding differs", x.Name)
		}
	}
	execute := words("bytes", "bytes") // ((bytes,bytes)) after its own offset
	vals, err := execute.Unpack(v.ReactorExecuteCalldata[len(selector{})+32:])
	if err != nil {
		t.Fatal(err)
	}
	first := v.V3Dutch[0]
	if !bytes.Equal(vals[0].([]byte), first.CosignedEncodedOrder) || !bytes.Equal(vals[1].([]byte), first.EIP712.Signature) {
		t.Error("the filler executes another order")
	}
}

// TestDutchResolution checks what the contracts took and paid at each moment.
func TestDutchResolution(t *testing.T) {
	samples := 0
	for _, x := range readDutch(t).understood() {
		e, err := x.decode(x.CosignedEncodedOrder)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range x.Resolved {
			samples++
			in, out := e.resolve(e.cosigning, big.NewInt(r.Timestamp+r.Block))
			if in.String() != r.AsContract.Input.Amount {
				t.Errorf("%s at %d: takes %s, want %s", x.Name, r.Timestamp+r.Block, in, r.AsContract.Input.Amount)
			}
			for i, want := range r.AsContract.Outputs {
				if out[i].String() != want.Amount {
					t.Errorf("%s at %d: pays %s, want %s", x.Name, r.Timestamp+r.Block, out[i], want.Amount)
				}
			}
		}
	}
	if samples != 33 {
		t.Errorf("%d samples", samples)
	}
}

// vectorTermsOf returns terms that a vector satisfies, with its fee.
func vectorTermsOf(x kindVector, o dutchOrder) swap.Terms {
	t := usdcTerms()
	t.SrcChain, t.DstChain = x.ChainID, x.ChainID
	t.TokenIn, t.AmountIn, t.TokenOut = o.input.token, o.input.start, o.outputs[0].token
	t.MinOut = o.outputs[0].end
	if len(o.outputs) == 1 {
		t.FeeBps, t.FeeReceiver = 0, nativeCoin
	}
	return t
}

// TestDutchDecode checks what each vector does to the account. One vector takes more as
// time goes by and must be refused.
func TestDutchDecode(t *testing.T) {
	for _, x := range readDutch(t).understood() {
		o := x.order(t)
		terms, typed := vectorTermsOf(x, o), o.typed(x.ChainID)
		p := &Provider{cosigner: x.Cosigner}
		f, err := p.Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &typed})
		if strings.HasPrefix(x.Name, "EXACT_OUTPUT") {
			if codeOf(err) != swap.NotAsAccepted {
				t.Errorf("%s: %v", x.Name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		var pays []swap.Payment
		if len(o.outputs) > 1 {
			pays = []swap.Payment{{Token: terms.TokenOut, To: testFeeTo, Bps: 40}}
		}
		want := swap.Effect{
			Kind: swap.Signed, Chain: x.ChainID, Target: permit2, Settler: x.Reactor, Pays: pays, Deadline: testDeadline,
			Spends:   []swap.Spend{{Token: terms.TokenIn, Amount: terms.AmountIn}},
			Receives: []swap.Receive{{Token: terms.TokenOut, To: testAccount, Min: terms.MinOut}},
		}
		if got := written(t, f); !bytes.Equal(got, written(t, want)) {
			t.Errorf("%s: %s", x.Name, got)
		}
		if _, err := (&Provider{cosigner: cosigner}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &typed}); codeOf(err) != swap.NotPinned {
			t.Errorf("%s: with the test's cosigner outside the sandbox: %v", x.Name, err)
		}
	}
}

// TestOtherOrders checks that orders of kinds that are not requested are not read as a
// supported kind.
func TestOtherOrders(t *testing.T) {
	v := readDutch(t)
	for _, x := range append(slices.Clone(v.Priority), v.V1Dutch...) {
		for _, k := range []*auctionKind{dutchV2, dutchV3} {
			if _, err := (orderTerms{chain: x.ChainID, kind: k}).readOrder(x.PermitData); err == nil {
				t.Errorf("%s is read as %s", x.Name, k.routing)
			}
		}
	}
	for _, routing := range []string{"PRIORITY", "DUTCH_LIMIT", "DUTCH_V2", "LIMIT_ORDER", "CHAINED", "BRIDGE", "DUTCH_V4", "dutch_v3"} {
		reply := tree(t, "base-auction.quote.json")
		reply["routing"] = routing
		if _, err := sandboxProvider.readQuote(written(t, reply), usdcRequest()); codeOf(err) != swap.NotAsAccepted && codeOf(err) != swap.Undecodable {
			t.Errorf("%s: %v", routing, err)
		}
	}
}

// TestRealOrders reads other people's orders that were filled on the real chains.
func TestRealOrders(t *testing.T) {
	kinds := map[string]*auctionKind{"Dutch_V2": dutchV2, "Dutch_V3": dutchV3}
	read := 0
	for _, x := range readDutch(t).RealOrders {
		var api struct {
			Type         string
			ChainID      uint64
			OrderHash    common.Hash
			EncodedOrder hexutil.Bytes
			Signature    hexutil.Bytes
			Swapper      common.Address
		}
		o := dutchOrder{}
		switch {
		case x.API != nil:
			if err := json.Unmarshal(x.API, &api); err != nil {
				t.Fatal(err)
			}
			e, err := kinds[api.Type].decode(api.EncodedOrder)
			if err != nil {
				t.Fatalf("%s: %v", api.OrderHash, err)
			}
			if why := e.cosignerFault(api.ChainID); why != "" || e.cosigner != cosigner {
				t.Errorf("%s: %s, cosigner %s", api.OrderHash, why, e.cosigner)
			}
			if by, ok := e.signer(api.ChainID); !ok || by != cosigner {
				t.Errorf("%s: cosigned by %s", api.OrderHash, by)
			}
			if o = e.dutchOrder; !infoOrder(t, e.kind, x.Decoded).witness().same(o.witness()) {
				t.Errorf("%s: decoded otherwise", api.OrderHash)
			}
		case bytes.Contains(x.OrderInfoJSON, []byte("decayEndTime")):
			continue // the first kind, which is not requested
		default:
			o = infoOrder(t, dutchV2, x.OrderInfoJSON)
			api.ChainID, api.OrderHash, api.Signature, api.Swapper = x.ChainID, x.OrderHash, x.Signature, x.Check.Signer
		}
		read++
		hash := o.hash()
		if hash != api.OrderHash {
			t.Errorf("hash %s, want %s", hash, api.OrderHash)
		}
		for _, got := range []common.Hash{digestOf(t, o.typed(api.ChainID)), o.digest(api.ChainID)} {
			if got != x.Digest {
				t.Errorf("%s: digest %s, want %s", hash, got, x.Digest)
			}
		}
		if err := (signedOrder{dutchOrder: o, chain: api.ChainID, signature: api.Signature}).checkSigner(api.Swapper); err != nil {
			t.Errorf("%s: %v", hash, err)
		}
	}
	if read != 3 {
		t.Errorf("%d orders were read", read)
	}
}

func TestPackedBlocks(t *testing.T) {
	for _, x := range readDutch(t).RelativeBlocksPacking {
		packed, ok := new(big.Int).SetString(x.PackedDec, 10)
		if !ok {
			t.Fatal(x.PackedDec)
		}
		c, rising := &curve{blocks: packed}, true
		for i, b := range x.Blocks {
			if c.point(i).Uint64() != b {
				t.Errorf("%s: point %d is %s, want %d", packed, i, c.point(i), b)
			}
			rising = rising && (i == 0 || x.Blocks[i-1] < b)
			c.amounts = append(c.amounts, big.NewInt(1))
		}
		if c.valid(new(big.Int), big.NewInt(1)) != rising {
			t.Errorf("%v: sound is %t", x.Blocks, !rising)
		}
		c.blocks = new(big.Int).Lsh(big.NewInt(1), uint(blockBits*len(x.Blocks)))
		if c.valid(new(big.Int), big.NewInt(1)) {
			t.Errorf("%v: a block beyond the last amount is sound", x.Blocks)
		}
	}
}

// TestCancelCall checks that the call invalidates exactly the order's nonce.
func TestCancelCall(t *testing.T) {
	v := readDutch(t)
	if fillTopic != v.FillTopic || fillTopic != crypto.Keccak256Hash([]byte("Fill(bytes32,address,address,uint256)")) {
		t.Errorf("fill topic %s", fillTopic)
	}
	for _, n := range v.Nonces {
		x := kindVector{dutchV3, v.V3Dutch[0]}
		o := x.order(t)
		o.nonce, _ = new(big.Int).SetString(n.Nonce, 10)
		p := &Provider{cosigner: x.Cosigner}
		order := planned(t, p, vectorTermsOf(x, o), o)
		c, err := p.CancelCall(order)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.Data, n.InvalidateUnorderedNoncesCall) || c.To != permit2 || c.From != testAccount || c.ChainID != 8453 || c.Value.Sign() != 0 {
			t.Errorf("%s: %+v", n.Nonce, c)
		}
		again, err := p.CancelCall(order)
		if err != nil || !bytes.Equal(again.Data, c.Data) {
			t.Errorf("%s: a repetition differs: %x, %v", n.Nonce, again.Data, err)
		}
	}
}

// planned returns an accepted order whose only step is signed.
func planned(t testing.TB, p *Provider, terms swap.Terms, o dutchOrder) swap.Order {
	t.Helper()
	typed := o.typed(terms.SrcChain)
	return swap.Order{
		Consent:  swap.Consent{Terms: terms, Plan: swap.Plan{Settlement: swap.ByProvider, Spender: permit2, Steps: []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}}}},
		Progress: swap.Progress{Step: 1, Results: []swap.Result{{Signature: signWith(t, typed)}}},
	}
}
