package dex

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// usdcRequest is the request of the recorded base-usdc-weth.
func usdcRequest() swap.QuoteRequest {
	r := baseRequest()
	r.TokenIn, r.TokenOut, r.AmountIn = testUSDC, base.wrapped, big.NewInt(1_000_000_000)
	return r
}

func usdcTerms() swap.Terms {
	t := ethToUSDC()
	t.TokenIn, t.TokenOut, t.AmountIn, t.MinOut, t.FeeBps = testUSDC, base.wrapped, big.NewInt(1_000_000_000), big.NewInt(367_941_305_061_621_566), 40
	return t
}

// tree returns a recorded reply as a tree that can be changed.
func tree(t testing.TB, name string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(fixture(t, name), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func at(v map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		v = v[k].(map[string]any)
	}
	return v
}

func written(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seconds formats a time as the API does in a permit.
func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// A permitLie changes a permit; its service keeps to the lie. It is refused in the quote.
type permitLie struct {
	change func(reply, permit map[string]any)
	want   swap.Code // "" = accepted
}

var permitLies = map[string]permitLie{
	"as recorded":              {func(_, _ map[string]any) {}, ""},
	"a chain id as text":       {func(_, p map[string]any) { at(p, "domain")["chainId"] = "8453" }, ""},
	"a contract in lower case": {func(_, p map[string]any) { at(p, "domain")["verifyingContract"] = strings.ToLower(permit2.Hex()) }, ""},
	"the highest nonce":        {func(_, p map[string]any) { at(p, "values", "details")["nonce"] = "281474976710655" }, ""},
	"31 days": {func(_, p map[string]any) {
		at(p, "values", "details")["expiration"] = seconds(testNow.Add(maxAllowance))
	}, ""},
	"an hour":               {func(_, p map[string]any) { at(p, "values")["sigDeadline"] = seconds(testNow.Add(maxSignature)) }, ""},
	"just long enough":      {func(_, p map[string]any) { at(p, "values")["sigDeadline"] = seconds(testNow.Add(minPermitLife)) }, ""},
	"another name":          {func(_, p map[string]any) { at(p, "domain")["name"] = "Permit3" }, swap.NotAsAccepted},
	"no name":               {func(_, p map[string]any) { delete(at(p, "domain"), "name") }, swap.ProviderInvalidResponse},
	"a version":             {func(_, p map[string]any) { at(p, "domain")["version"] = "1" }, swap.ProviderInvalidResponse},
	"a salt":                {func(_, p map[string]any) { at(p, "domain")["salt"] = "0x00" }, swap.ProviderInvalidResponse},
	"another chain":         {func(_, p map[string]any) { at(p, "domain")["chainId"] = 1 }, swap.NotAsAccepted},
	"another contract":      {func(_, p map[string]any) { at(p, "domain")["verifyingContract"] = testUSDC.Hex() }, swap.NotAsAccepted},
	"another primary type":  {func(_, p map[string]any) { p["primaryType"] = "PermitBatch" }, swap.NotAsAccepted},
	"the domain's type":     {func(_, p map[string]any) { at(p, "types")["EIP712Domain"] = []any{} }, swap.NotAsAccepted},
	"a missing type":        {func(_, p map[string]any) { delete(at(p, "types"), "PermitDetails") }, swap.NotAsAccepted},
	"no types":              {func(_, p map[string]any) { delete(p, "types") }, swap.ProviderInvalidResponse},
	"another member":        {func(_, p map[string]any) { member(p, "PermitDetails", 1)["type"] = "uint256" }, swap.NotAsAccepted},
	"a member's other name": {func(_, p map[string]any) { member(p, permitSingle, 1)["name"] = "owner" }, swap.NotAsAccepted},
	"a word about a member": {func(_, p map[string]any) { member(p, permitSingle, 1)["note"] = "x" }, swap.ProviderInvalidResponse},
	"another token":         {func(_, p map[string]any) { at(p, "values", "details")["token"] = testDAI.Hex() }, swap.NotAsAccepted},
	"an amount of one more": {func(_, p map[string]any) { at(p, "values", "details")["amount"] = "1000000001" }, swap.NotAsAccepted},
	"without limit":         {func(_, p map[string]any) { at(p, "values", "details")["amount"] = permit2Unlimited.String() }, swap.NotAsAccepted},
	"over 31 days": {func(_, p map[string]any) {
		at(p, "values", "details")["expiration"] = seconds(testNow.Add(maxAllowance + time.Second))
	}, swap.NotAsAccepted},
	"an expiration far in the future": {func(_, p map[string]any) { at(p, "values", "details")["expiration"] = "281474976710655" }, swap.NotAsAccepted},
	"an expiration in the past":       {func(_, p map[string]any) { at(p, "values", "details")["expiration"] = "1" }, swap.QuoteExpired},
	"a nonce of 49 bits":              {func(_, p map[string]any) { at(p, "values", "details")["nonce"] = "281474976710656" }, swap.Undecodable},
	"a nonce as a number":             {func(_, p map[string]any) { at(p, "values", "details")["nonce"] = 0 }, swap.ProviderInvalidResponse},
	"no nonce":                        {func(_, p map[string]any) { delete(at(p, "values", "details"), "nonce") }, swap.Undecodable},
	"null":                            {func(_, p map[string]any) { at(p, "values", "details")["nonce"] = nil }, swap.Undecodable},
	"an additional field in details":  {func(_, p map[string]any) { at(p, "values", "details")["owner"] = testAttacker.Hex() }, swap.ProviderInvalidResponse},
	"another spender":                 {func(_, p map[string]any) { at(p, "values")["spender"] = testAttacker.Hex() }, swap.NotPinned},
	"Permit2 as spender":              {func(_, p map[string]any) { at(p, "values")["spender"] = permit2.Hex() }, swap.NotPinned},
	"another chain's router":          {func(_, p map[string]any) { at(p, "values")["spender"] = deployments[0].router.Hex() }, swap.NotPinned},
	"an additional value":             {func(_, p map[string]any) { at(p, "values")["witness"] = map[string]any{} }, swap.ProviderInvalidResponse},
	"a deadline in over an hour": {func(_, p map[string]any) {
		at(p, "values")["sigDeadline"] = seconds(testNow.Add(maxSignature + time.Second))
	}, swap.NotAsAccepted},
	"a deadline too soon": {func(_, p map[string]any) {
		at(p, "values")["sigDeadline"] = seconds(testNow.Add(minPermitLife - time.Second))
	}, swap.QuoteExpired},
	"a deadline beyond the calendar": {func(_, p map[string]any) {
		at(p, "values")["sigDeadline"] = new(big.Int).Lsh(big.NewInt(1), 255).String()
	}, swap.NotAsAccepted},
	"a list in place of the permit": {func(r, p map[string]any) { r["permitData"] = []any{p} }, swap.ProviderInvalidResponse},
	"words":                         {func(r, _ map[string]any) { r["permitData"] = "sign this" }, swap.ProviderInvalidResponse},
	"a transaction instead": {func(r, _ map[string]any) {
		r["permitData"], r["permitTransaction"] = nil, map[string]any{"to": permit2.Hex()}
	}, swap.NotAsAccepted},
	"a transaction as well": {func(r, _ map[string]any) { r["permitTransaction"] = map[string]any{"to": permit2.Hex()} }, swap.NotAsAccepted},
}

func (c permitLie) quoted(t *testing.T) error {
	reply := tree(t, "base-usdc-weth.quote.json")
	c.change(reply, at(reply, "permitData"))
	body := written(t, reply)
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	offers, err := p.Quote(t.Context(), usdcRequest())
	if (err == nil) != (len(offers) == 1) {
		t.Errorf("%d offers, %v", len(offers), err)
	}
	return err
}

// TestOddPermits checks that permits in other words or at the bounds are accepted.
func TestOddPermits(t *testing.T) {
	for name, c := range permitLies {
		if c.want != "" {
			continue
		}
		if err := c.quoted(t); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func member(permit map[string]any, of string, i int) map[string]any {
	return at(permit, "types")[of].([]any)[i].(map[string]any)
}

// TestPermitWhereNoneIsNeeded: native input and the wrapped coin need no permit.
func TestPermitWhereNoneIsNeeded(t *testing.T) {
	for name, r := range map[string]swap.QuoteRequest{"base-eth-usdc": baseRequest(), "base-wrap": wrapRequest()} {
		reply := tree(t, name+".quote.json")
		reply["permitData"] = tree(t, "base-usdc-weth.quote.json")["permitData"]
		if _, err := (&Provider{}).readQuote(written(t, reply), r); codeOf(err) != swap.NotAsAccepted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fakeService is a service for a swap with a permit: it quotes as recorded and answers /swap as
// the test needs.
type fakeService struct {
	t      *testing.T
	p      *Provider
	offer  swap.Offer
	permit permit // as quoted
	asked  []byte // the last body sent to /swap
	answer func(body []byte) []byte
}

func newDesk(t *testing.T, change func(values map[string]any)) *fakeService {
	d := &fakeService{t: t}
	reply := tree(t, "base-usdc-weth.quote.json")
	change(at(reply, "permitData", "values"))
	body := bytes.Replace(written(t, reply), []byte(`"values":`), []byte(`"values" : `), 1) // white space must be kept
	d.p = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/quote") {
			_, _ = w.Write(body)
			return
		}
		d.asked, _ = io.ReadAll(r.Body)
		_, _ = w.Write(d.answer(d.asked))
	})
	offers, err := d.p.Quote(t.Context(), usdcRequest())
	if err != nil {
		t.Fatal(err)
	}
	d.offer = offers[0]
	q, err := (&Provider{}).readQuote(d.offer.Raw, usdcRequest())
	if err != nil || q.permit == nil {
		t.Fatal(q.permit, err)
	}
	d.permit = *q.permit
	d.answer = func(body []byte) []byte {
		var asked struct {
			Signature hexutil.Bytes
			Deadline  int64
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Error(err)
		}
		return d.swapped(asked.Deadline, permitOp(d.permit, asked.Signature))
	}
	return d
}

// swapped is a reply to /swap whose commands precede an honest swap.
func (d *fakeService) swapped(deadline int64, first ...op) []byte {
	list := append(first, v3Op(addressThis, big.NewInt(1_000_000_000), 0, true, testUSDC, base.wrapped), portionOp(base.wrapped, testFeeTo, 40),
		sweepOp(base.wrapped, msgSender, 368_000_000_000_000_000))
	reply := tree(d.t, "base-usdc-weth.swap.json")
	at(reply, "swap")["data"] = hexutil.Encode(program(d.t, deadline, list))
	return written(d.t, reply)
}

func permitOp(p permit, signature []byte) op {
	return op{0x0a, 0, []any{p.token, p.amount, p.expiration, p.nonce, p.spender, p.sigDeadline, signature}}
}

// order is the accepted plan after its permit was signed.
func (d *fakeService) order(terms swap.Terms) swap.Order {
	d.t.Helper()
	built, err := d.p.Build(d.t.Context(), d.offer, terms)
	if err != nil {
		d.t.Fatal(err)
	}
	signature := signWith(d.t, *built.Steps[0].TypedData)
	return swap.Order{
		Consent:  swap.Consent{Terms: terms, Offer: d.offer, Plan: swap.Plan{Steps: built.Steps, Settlement: built.Settlement}},
		Progress: swap.Progress{Step: 1, Results: []swap.Result{{Signature: signature}}},
	}
}

// signWith signs with the account's public test key.
func signWith(t testing.TB, typed apitypes.TypedData) []byte {
	t.Helper()
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80") // public test key
	if err != nil {
		t.Fatal(err)
	}
	hash, _, err := apitypes.TypedDataAndHash(typed)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := crypto.Sign(hash, key)
	if err != nil {
		t.Fatal(err)
	}
	signature[64] += 27
	return signature
}

// TestLate checks that the permit is sent as received, with the signature, and that
// repeating the request gives the same call.
func TestLate(t *testing.T) {
	d := newDesk(t, func(map[string]any) {})
	o := d.order(usdcTerms())
	first, err := d.p.BuildDeferred(t.Context(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	sent := d.asked
	var e envelope
	if err := json.Unmarshal(d.offer.Raw, &e); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]byte{e.Quote, append([]byte(`"permitData":`), e.PermitData...), []byte(`"signature":"` + hexutil.Encode(o.Results[0].Signature) + `"`), []byte(`"values" : {`)} {
		if !bytes.Contains(sent, want) {
			t.Errorf("%s is not in %s", want, sent)
		}
	}
	again, err := d.p.BuildDeferred(t.Context(), o, 1)
	if err != nil || !bytes.Equal(first.Data, again.Data) || !bytes.Equal(sent, d.asked) {
		t.Errorf("a repetition differs: %v", err)
	}
	again, err = d.p.BuildDeferred(t.Context(), o.Clone(), 1) // from storage, which drops white space
	if err != nil || !bytes.Equal(first.Data, again.Data) || !bytes.Equal(compact(t, sent), d.asked) {
		t.Errorf("a repetition from storage differs: %v", err)
	}
	f, err := d.p.Decode(o.Terms, swap.Step{Kind: swap.DeferredStep, Call: &first})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := d.p.Decode(o.Terms, o.Plan.Steps[0])
	if err != nil {
		t.Fatal(err)
	}
	stated := []swap.Effect{permit, o.Plan.Steps[1].Effect}
	for name, effects := range map[string][]swap.Effect{"stated": stated, "decoded": {permit, f}} {
		if err := swap.Check(o.Terms, effects, d.p.Pins()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if swap.Digest(o.Terms, stated) != swap.Digest(o.Terms, []swap.Effect{permit, f}) {
		t.Error("the deferred call's effect is not the one that was stated")
	}
}

func compact(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLateDeadline checks that the swap ends with the consent or the permit's signature,
// whichever is first, and within ten minutes.
func TestLateDeadline(t *testing.T) {
	for name, c := range map[string]struct{ signature, consent, want time.Duration }{
		"ten minutes":         {30 * time.Minute, 20 * time.Minute, swapLife},
		"the consent":         {30 * time.Minute, 4 * time.Minute, 4 * time.Minute},
		"the signature":       {6 * time.Minute, 20 * time.Minute, 6 * time.Minute},
		"all end at one time": {swapLife, swapLife, swapLife},
	} {
		d := newDesk(t, func(v map[string]any) { v["sigDeadline"] = seconds(testNow.Add(c.signature)) })
		terms := usdcTerms()
		terms.Deadline = testNow.Add(c.consent)
		o := d.order(terms)
		if end := o.Plan.Steps[1].Effect.Deadline; end.After(terms.Deadline) || end.After(testNow.Add(c.signature)) {
			t.Errorf("%s: the stated deadline is %s", name, end)
		}
		if _, err := d.p.BuildDeferred(t.Context(), o, 1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := `"deadline":` + seconds(testNow.Add(c.want)) + `}`; !bytes.HasSuffix(d.asked, []byte(want)) {
			t.Errorf("%s: sent %s", name, d.asked)
		}
	}
}

// ends is the deadline of honest calldata.
var ends = testDeadline.Unix()

// A lateLie is calldata that does not carry exactly what was signed.
type lateLie struct {
	code swap.Code
	lie  func(d *fakeService, signature []byte) []byte
}

var lateLies = map[string]lateLie{
	"without the permit": {swap.NotAsAccepted, func(d *fakeService, _ []byte) []byte { return d.swapped(ends) }},
	"the permit twice": {swap.Undecodable, func(d *fakeService, s []byte) []byte {
		return d.swapped(ends, permitOp(d.permit, s), permitOp(d.permit, s))
	}},
	"another nonce": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte {
		p := d.permit
		p.nonce = big.NewInt(1)
		return d.swapped(ends, permitOp(p, s))
	}},
	"a later expiration": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte {
		p := d.permit
		p.expiration = new(big.Int).Add(p.expiration, big.NewInt(1))
		return d.swapped(ends, permitOp(p, s))
	}},
	"another time to sign by": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte {
		p := d.permit
		p.sigDeadline = new(big.Int).Sub(p.sigDeadline, big.NewInt(1))
		return d.swapped(ends, permitOp(p, s))
	}},
	"another amount": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte {
		p := d.permit
		p.amount = big.NewInt(1)
		return d.swapped(ends, permitOp(p, s))
	}},
	"the signature's other form": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte { // s' = n - s is as valid to many contracts
		other := bytes.Clone(s)
		n := crypto.S256().Params().N
		new(big.Int).Sub(n, new(big.Int).SetBytes(s[32:64])).FillBytes(other[32:64])
		other[64] ^= 27 ^ 28
		return d.swapped(ends, permitOp(d.permit, other))
	}},
	"a shorter signature": {swap.Undecodable, func(d *fakeService, s []byte) []byte { return d.swapped(ends, permitOp(d.permit, s[:64])) }},
	"a deadline after the one asked for": {swap.NotAsAccepted, func(d *fakeService, s []byte) []byte {
		return d.swapped(testNow.Add(swapLife).Unix()+1, permitOp(d.permit, s))
	}},
	"no transaction": {swap.ProviderInvalidResponse, func(*fakeService, []byte) []byte { return []byte(`{"requestId":"x"}`) }},
}

// late requests a deferred call from a service that lies.
func late(t *testing.T, lie func(d *fakeService, signature []byte) []byte) error {
	d := newDesk(t, func(map[string]any) {})
	terms := usdcTerms()
	terms.Deadline = testNow.Add(20 * time.Minute)
	o := d.order(terms)
	d.answer = func([]byte) []byte { return lie(d, o.Results[0].Signature) }
	_, err := d.p.BuildDeferred(t.Context(), o, 1)
	return err
}

// TestLateOrders checks orders that are not at their deferred step, or not of their quote.
func TestLateOrders(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*swap.Order)
		step   int
		want   swap.Code
	}{
		"no such step":          {func(*swap.Order) {}, 2, swap.Undecodable},
		"the permit's step":     {func(*swap.Order) {}, 0, swap.Undecodable},
		"a negative step":       {func(*swap.Order) {}, -1, swap.Undecodable},
		"nothing signed":        {func(o *swap.Order) { o.Results = nil }, 1, swap.Undecodable},
		"an empty result":       {func(o *swap.Order) { o.Results[0].Signature = nil }, 1, swap.Undecodable},
		"a short signature":     {func(o *swap.Order) { o.Results[0].Signature = make([]byte, 64) }, 1, swap.Undecodable},
		"no message":            {func(o *swap.Order) { o.Plan.Steps[0].TypedData = nil }, 1, swap.Undecodable},
		"not a deferred step":   {func(o *swap.Order) { o.Plan.Steps[1].Kind = swap.CallStep }, 1, swap.Undecodable},
		"another permit":        {func(o *swap.Order) { o.Plan.Steps[0].TypedData.Message["sigDeadline"] = "1800001321" }, 1, swap.NotAsAccepted},
		"another message":       {func(o *swap.Order) { o.Plan.Steps[0].TypedData.Message = apitypes.TypedDataMessage{"to": "x"} }, 1, swap.Undecodable},
		"an expired quote":      {func(o *swap.Order) { o.Offer.Expires = testNow }, 1, swap.QuoteExpired},
		"the consent has ended": {func(o *swap.Order) { o.Terms.Deadline = testNow }, 1, swap.QuoteExpired},
		"other terms":           {func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(1) }, 1, swap.NotAsAccepted},
		"a higher minimum":      {func(o *swap.Order) { o.Terms.MinOut = big.NewInt(368_000_000_000_000_001) }, 1, swap.NotAsAccepted},
		"a quote without a permit": {func(o *swap.Order) {
			o.Offer.Raw = bytes.Replace(o.Offer.Raw, []byte("permitData"), []byte("permitDate"), 1)
		}, 1, swap.NotAsAccepted},
	} {
		d := newDesk(t, func(map[string]any) {})
		o := d.order(usdcTerms()).Clone()
		c.change(&o)
		if _, err := d.p.BuildDeferred(t.Context(), o, c.step); codeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if d.asked != nil {
			t.Errorf("%s: the service was asked", name)
		}
	}
}

// TestPermitInPlace: where the router is already allowed the amount nothing is signed, so a
// permit in the calldata is one that nobody signed.
func TestPermitInPlace(t *testing.T) {
	d := newDesk(t, func(map[string]any) {})
	d.offer.Raw = bytes.Replace(d.offer.Raw, []byte("permitData"), []byte("permitDate"), 1)
	d.answer = func([]byte) []byte { return d.swapped(testDeadline.Unix()) }
	built, err := d.p.Build(t.Context(), d.offer, usdcTerms())
	if err != nil || len(built.Steps) != 1 || built.Steps[0].Kind != swap.CallStep || built.Spender != permit2 {
		t.Fatalf("Build = %+v, %v, want one call with Permit2 as spender", built, err)
	}
	for _, absent := range []string{"permitData", "signature"} {
		if bytes.Contains(d.asked, []byte(absent)) {
			t.Errorf("%s was sent", absent)
		}
	}
	d.answer = func([]byte) []byte { return d.swapped(testDeadline.Unix(), permitOp(d.permit, make([]byte, 65))) }
	if _, err := d.p.Build(t.Context(), d.offer, usdcTerms()); codeOf(err) != swap.NotAsAccepted {
		t.Errorf("a permit that nobody signed: %v", err)
	}
}

// TestBuildAsksNothingBeforeThePermit: a plan with a permit requests no calldata yet.
func TestBuildAsksNothingBeforeThePermit(t *testing.T) {
	d := newDesk(t, func(map[string]any) {})
	built, err := d.p.Build(t.Context(), d.offer, usdcTerms())
	if err != nil || d.asked != nil || len(built.Steps) != 2 || built.Spender != permit2 || built.Steps[1].Call != nil {
		t.Errorf("%+v, %v, asked %s", built, err, d.asked)
	}
	if _, err := d.p.Decode(usdcTerms(), built.Steps[1]); codeOf(err) != swap.Undecodable {
		t.Errorf("a deferred step without its call: %v", err)
	}
}
