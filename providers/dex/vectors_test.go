package dex

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// vectors are reference values made with the vendor's own SDKs and checked on the
// contracts' bytecode.
type vectors struct {
	Account          common.Address
	FeeReceiver      common.Address
	DomainTypeHash   common.Hash
	DomainSeparators map[uint64]common.Hash
	PermitSingle     []struct {
		Name                                          string
		Domain                                        apitypes.TypedDataDomain
		Types                                         apitypes.Types
		PrimaryType                                   string
		Values                                        apitypes.TypedDataMessage
		EncodeType                                    string
		TypeHash, DomainSeparator, StructHash, Digest common.Hash
		Signer                                        common.Address
		Signature                                     hexutil.Bytes
	}
	Selectors               map[string]map[string]hexutil.Bytes
	UniversalRouterCalldata []struct {
		Name, Value string
		Commands    hexutil.Bytes
		Inputs      []hexutil.Bytes
		Deadline    int64
		Calldata    hexutil.Bytes
	}
	WrapUnwrap map[string]struct {
		To    common.Address
		Data  hexutil.Bytes
		Value string
	}
	UniversalRouterConstants map[string]string
	UniversalRouterVersions  map[string]string `json:"universalRouterVersionsInSdk"`
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func quantityOf(t testing.TB, s string) *big.Int {
	t.Helper()
	var q wire.Quantity
	if err := q.UnmarshalJSON([]byte(`"` + s + `"`)); err != nil {
		t.Fatal(err)
	}
	return q.Int
}

func TestVectorConstants(t *testing.T) {
	v := readVectors(t)
	for name, want := range map[string]string{
		"MSG_SENDER_recipient": strings.ToLower(msgSender.Hex()), "ADDRESS_THIS_recipient": strings.ToLower(addressThis.Hex()),
		"CONTRACT_BALANCE": hexutil.EncodeBig(contractBalance), "ETH": strings.ToLower(nativeCoin.Hex()),
	} {
		if got := v.UniversalRouterConstants[name]; got != want {
			t.Errorf("%s is %s, ours %s", name, got, want)
		}
	}
	if v.UniversalRouterVersions["V2_1_2"] != routerVersion {
		t.Errorf("router version %s", routerVersion)
	}
	for signature, fn := range map[string]selector{
		"deposit()": depositFn, "withdraw(uint256)": withdrawFn, "execute(bytes,bytes[],uint256)": executeFn,
	} {
		var want []byte
		for _, contract := range v.Selectors {
			if s, ok := contract[signature]; ok {
				want = s
			}
		}
		if string(want) != string(fn[:]) || string(crypto.Keccak256([]byte(signature))[:4]) != string(fn[:]) {
			t.Errorf("%s is %x, ours %x", signature, want, fn)
		}
	}
}

// vectorTerms are the terms that the router vectors satisfy: 40 bps to the fee receiver,
// and as the minimum what the last command enforces.
func vectorTerms(v vectors, in, out common.Address, amount string, minimum int64) swap.Terms {
	t := ethToUSDC()
	t.Account, t.Recipient, t.RefundTo = v.Account, v.Account, v.Account
	t.TokenIn, t.TokenOut, t.FeeBps, t.FeeReceiver = in, out, 40, v.FeeReceiver
	t.AmountIn, _ = new(big.Int).SetString(amount, 10)
	t.MinOut = big.NewInt(minimum)
	return t
}

func TestVectorRouterCalldata(t *testing.T) {
	v := readVectors(t)
	const min = 368_000_000_000_000_000
	wants := []struct {
		terms  swap.Terms
		permit bool
	}{
		{vectorTerms(v, testUSDC, base.wrapped, "1000000000", min), true},
		{vectorTerms(v, testUSDC, nativeCoin, "1000000000", min), false},
		{vectorTerms(v, testUSDC, base.wrapped, "1000000000", min), true},
		{vectorTerms(v, testUSDC, nativeCoin, "1000000000", min), false},
		{vectorTerms(v, nativeCoin, testUSDC, "100000000000000000", 260_000_000), false},
	}
	if len(wants) != len(v.UniversalRouterCalldata) {
		t.Fatalf("%d vectors", len(v.UniversalRouterCalldata))
	}
	for i, x := range v.UniversalRouterCalldata {
		w := wants[i]
		inputs := make([][]byte, len(x.Inputs))
		for j := range x.Inputs {
			inputs[j] = x.Inputs[j]
		}
		if again := executeCall(t, x.Commands, inputs, x.Deadline); string(again) != string(x.Calldata) {
			t.Errorf("%s: our encoding of its commands differs", x.Name)
		}
		c := chain.Call{ChainID: 8453, From: v.Account, To: base.router, Value: quantityOf(t, x.Value), Data: x.Calldata}
		f, err := (&Provider{}).Decode(w.terms, swap.Step{Kind: swap.CallStep, Call: &c})
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		want := swap.Effect{
			Kind: swap.Swap, Chain: 8453, Target: base.router,
			Spends:   []swap.Spend{{Token: w.terms.TokenIn, Amount: w.terms.AmountIn}},
			Receives: []swap.Receive{{Token: w.terms.TokenOut, To: v.Account, Min: w.terms.MinOut}},
			Pays:     []swap.Payment{{Token: w.terms.TokenOut, To: v.FeeReceiver, Bps: 40}},
			Deadline: time.Unix(x.Deadline, 0).UTC(),
		}
		if w.permit {
			want.Approves = []swap.Approval{{Token: testUSDC, Spender: base.router, Amount: big.NewInt(1_000_000_000), Until: time.Unix(1_802_587_608, 0).UTC()}}
		}
		sameEffect(t, x.Name, f, want)
		effects := []swap.Effect{f}
		if w.permit {
			effects = append([]swap.Effect{carriedPermit(t, v, w.terms, c)}, f)
		}
		if err := swap.Check(w.terms, effects, (&Provider{}).Pins()); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
}

// carriedPermit requires the calldata to carry the vectors' permit with its signature, and
// returns the effect of signing it.
func carriedPermit(t *testing.T, v vectors, terms swap.Terms, c chain.Call) swap.Effect {
	t.Helper()
	exact := v.PermitSingle[1]
	exact.Types["EIP712Domain"] = permitTypes["EIP712Domain"]
	typed := apitypes.TypedData{Types: exact.Types, PrimaryType: exact.PrimaryType, Domain: exact.Domain, Message: exact.Values}
	want, err := permitFrom(typed)
	if err != nil {
		t.Fatal(err)
	}
	pr, err := checkTerms(terms)
	if err != nil {
		t.Fatal(err)
	}
	got, err := permitIn(terms, pr, c)
	if err != nil || got == nil || !got.is(want) || string(got.signature) != string(exact.Signature) {
		t.Fatalf("the calldata carries %+v, %v", got, err)
	}
	f, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &typed})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sameEffect(t testing.TB, name string, got, want swap.Effect) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("%s:\n got %s\nwant %s", name, a, b)
	}
}

func TestVectorWrapUnwrap(t *testing.T) {
	v := readVectors(t)
	const amount = "100000000000000000"
	for name, w := range map[string]struct {
		kind    swap.EffectKind
		in, out common.Address
	}{"wrap": {swap.Wrap, nativeCoin, base.wrapped}, "unwrap": {swap.Unwrap, base.wrapped, nativeCoin}} {
		x := v.WrapUnwrap[name]
		terms := vectorTerms(v, w.in, w.out, amount, 100_000_000_000_000_000)
		terms.FeeBps, terms.FeeReceiver = 0, common.Address{}
		c := chain.Call{ChainID: 8453, From: v.Account, To: x.To, Value: quantityOf(t, x.Value), Data: x.Data}
		f, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.CallStep, Call: &c})
		if err == nil {
			err = swap.Check(terms, []swap.Effect{f}, (&Provider{}).Pins())
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		sameEffect(t, name, f, swap.Effect{
			Kind: w.kind, Chain: 8453, Target: base.wrapped,
			Spends:   []swap.Spend{{Token: w.in, Amount: terms.AmountIn}},
			Receives: []swap.Receive{{Token: w.out, To: v.Account, Min: terms.AmountIn}},
		})
		for what, change := range map[string]func(*chain.Call){
			"trailing bytes": func(c *chain.Call) { c.Data = append(append([]byte{}, c.Data...), 0) },
			"another value":  func(c *chain.Call) { c.Value = big.NewInt(1) },
			"the router":     func(c *chain.Call) { c.To = base.router },
			"another chain":  func(c *chain.Call) { c.ChainID = 10 },
		} {
			bad := c
			change(&bad)
			if _, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.CallStep, Call: &bad}); err == nil {
				t.Errorf("%s with %s: accepted", name, what)
			}
		}
	}
}

func TestVectorPermits(t *testing.T) {
	v := readVectors(t)
	for id, want := range v.DomainSeparators {
		p := permit{amount: new(big.Int), expiration: new(big.Int), nonce: new(big.Int), sigDeadline: new(big.Int)}
		d := p.typed(id)
		if got, err := d.HashStruct("EIP712Domain", d.Domain.Map()); err != nil || string(got) != string(want[:]) {
			t.Errorf("domain of chain %d: %x, %v", id, got, err)
		}
		if got := d.TypeHash("EIP712Domain"); string(got) != string(v.DomainTypeHash[:]) {
			t.Errorf("domain type %x", got)
		}
	}
	for _, x := range v.PermitSingle {
		x.Types["EIP712Domain"] = permitTypes["EIP712Domain"]
		given := apitypes.TypedData{Types: x.Types, PrimaryType: x.PrimaryType, Domain: x.Domain, Message: x.Values}
		p, err := permitFrom(given)
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		chainID := (*big.Int)(x.Domain.ChainId).Uint64()
		ours := p.typed(chainID)
		if got := string(ours.EncodeType("PermitSingle")); got != x.EncodeType {
			t.Errorf("%s: type %s", x.Name, got)
		}
		if got := ours.TypeHash("PermitSingle"); string(got) != string(x.TypeHash[:]) {
			t.Errorf("%s: type hash %x", x.Name, got)
		}
		if got, err := ours.HashStruct("PermitSingle", ours.Message); err != nil || string(got) != string(x.StructHash[:]) {
			t.Errorf("%s: struct hash %x, %v", x.Name, got, err)
		}
		digest, _, err := apitypes.TypedDataAndHash(ours)
		if err != nil || string(digest) != string(x.Digest[:]) {
			t.Errorf("%s: digest %x, %v", x.Name, digest, err)
		}
		signature := append([]byte{}, x.Signature...)
		signature[64] -= 27
		if pub, err := crypto.SigToPub(digest, signature); err != nil || crypto.PubkeyToAddress(*pub) != x.Signer {
			t.Errorf("%s: the signature is not of this digest: %v", x.Name, err)
		}
	}
	exact := v.PermitSingle[1]
	terms := vectorTerms(v, testUSDC, base.wrapped, "1000000000", 1)
	good := apitypes.TypedData{Types: exact.Types, PrimaryType: exact.PrimaryType, Domain: exact.Domain, Message: exact.Values}
	f, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &good})
	if err != nil {
		t.Fatal(err)
	}
	sameEffect(t, exact.Name, f, swap.Effect{Kind: swap.Permit, Chain: 8453, Target: permit2, Deadline: time.Unix(1_799_997_408, 0).UTC(), Nonce: new(big.Int),
		Approves: []swap.Approval{{Token: testUSDC, Spender: base.router, Amount: big.NewInt(1_000_000_000), Until: time.Unix(1_802_587_608, 0).UTC()}}})
	lieAboutPermit(t, terms, good)
}

// lieAboutPermit changes one thing at a time in a good permit.
func lieAboutPermit(t *testing.T, terms swap.Terms, good apitypes.TypedData) {
	for name, change := range map[string]func(*apitypes.TypedData, map[string]any){
		"another token":          func(_ *apitypes.TypedData, d map[string]any) { d["token"] = testDAI.Hex() },
		"an amount of one more":  func(_ *apitypes.TypedData, d map[string]any) { d["amount"] = "1000000001" },
		"an amount of one less":  func(_ *apitypes.TypedData, d map[string]any) { d["amount"] = "999999999" },
		"an expiration in years": func(_ *apitypes.TypedData, d map[string]any) { d["expiration"] = "1902587608" },
		"a nonce as a number":    func(_ *apitypes.TypedData, d map[string]any) { d["nonce"] = 0.0 },
		"an additional field":    func(_ *apitypes.TypedData, d map[string]any) { d["lie"] = "1" },
		"no nonce":               func(_ *apitypes.TypedData, d map[string]any) { delete(d, "nonce") },
		"another spender":        func(x *apitypes.TypedData, _ map[string]any) { x.Message["spender"] = testAttacker.Hex() },
		"a late signature":       func(x *apitypes.TypedData, _ map[string]any) { x.Message["sigDeadline"] = "1900000000" },
		"another contract":       func(x *apitypes.TypedData, _ map[string]any) { x.Domain.VerifyingContract = testAttacker.Hex() },
		"another chain": func(x *apitypes.TypedData, _ map[string]any) {
			x.Domain.ChainId = (*math.HexOrDecimal256)(big.NewInt(1))
		},
		"another name":  func(x *apitypes.TypedData, _ map[string]any) { x.Domain.Name = "Permit3" },
		"another type":  func(x *apitypes.TypedData, _ map[string]any) { x.PrimaryType = "PermitDetails" },
		"other members": func(x *apitypes.TypedData, _ map[string]any) { x.Types["PermitDetails"][1].Type = "uint256" },
		"members in another order": func(x *apitypes.TypedData, _ map[string]any) {
			d := x.Types["PermitDetails"]
			d[1], d[2] = d[2], d[1]
		},
	} {
		raw, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		var bad apitypes.TypedData
		if err := json.Unmarshal(raw, &bad); err != nil {
			t.Fatal(err)
		}
		change(&bad, bad.Message["details"].(map[string]any))
		if _, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &bad}); err == nil {
			t.Errorf("%s: accepted", name)
		} else if codeOf(err) == "" {
			t.Errorf("%s: no code: %v", name, err)
		}
	}
}

func TestPinsAreTheVectors(t *testing.T) {
	v := readVectors(t)
	pins := (&Provider{}).Pins()
	if !pins.Allows(8453, swap.Wrapper, v.WrapUnwrap["wrap"].To) || !pins.Allows(1, swap.Router, common.HexToAddress(v.PermitSingle[0].Values["spender"].(string))) ||
		!pins.Allows(8453, swap.Router, common.HexToAddress(v.PermitSingle[1].Values["spender"].(string))) || !pins.Allows(10, swap.Spender, permit2) {
		t.Error("a pinned contract is not that of the vectors")
	}
	for _, d := range deployments {
		if swap.SupportOf(swap.DEX, d.chain).Support != swap.Active {
			t.Errorf("chain %d is pinned but not active", d.chain)
		}
		if n, ok := chain.NetworkByID(d.chain); !ok || n.WrappedNative != d.wrapped {
			t.Errorf("chain %d wraps at %s here, at %s in the network table", d.chain, d.wrapped, n.WrappedNative)
		}
	}
	for _, id := range swap.SupportedChains() {
		if _, err := deploymentOn(id); (err == nil) != (swap.SupportOf(swap.DEX, id).Support == swap.Active) {
			t.Errorf("chain %d: %v", id, err)
		}
	}
}
