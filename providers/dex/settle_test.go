package dex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// signedAuction is the recorded auction on Base after its order was signed.
func signedAuction(t testing.TB, p *Provider) (swap.Order, dutchOrder) {
	t.Helper()
	o := recordedOrder(t, "base-auction.quote.json")
	order := planned(t, p, auctionTerms("base-auction", o), o)
	order.Offer = swap.Offer{Provider: swap.DEX, Routing: "DUTCH_V3", Request: usdcRequest(), Raw: fixture(t, "base-auction.quote.json")}
	return order, o
}

// TestSubmit checks that the order is sent once, with the quote as received, and that only
// the API's own refusal settles that it was not taken.
func TestSubmit(t *testing.T) {
	accepted := string(fixture(t, "base-auction.order.json"))
	for name, c := range map[string]struct {
		status int
		body   string
		want   swap.Code // "" = accepted
	}{
		"accepted, with status 201": {201, accepted, ""},
		"accepted, with status 200": {200, accepted, ""},
		"another order":             {201, `{"orderId":"0x981c85782be12571f9f6eaaa4ff716aa54a857a596f337f0ed613da044dba0ac"}`, swap.ProviderInvalidResponse},
		"no order":                  {201, `{}`, swap.ProviderInvalidResponse},
		"half an order id":          {201, `{"orderId":"0x981c"}`, swap.ProviderInvalidResponse},
		"no json":                   {201, `<html>`, swap.ProviderInvalidResponse},
		"not valid":                 {400, `{"errorCode":"RequestValidationError","detail":"Onchain validation failed: InsufficientFunds"}`, swap.ProviderRefused},
		"no funds":                  {404, `{"errorCode":"InsufficientBalance"}`, swap.InsufficientFunds},
		"not found":                 {404, `{"errorCode":"ResourceNotFound"}`, swap.ProviderRefused},
		"an upstream timeout":       {404, `{"errorCode":"UpstreamTimeoutError"}`, swap.ProviderDown},
		"the proxy's own fee":       {403, `{"errorCode":"ProxyFeeRefused"}`, swap.ProviderRefused},
		"no key":                    {401, `{"errorCode":"Unauthorized"}`, swap.ProviderKey},
		"busy":                      {429, `{"errorCode":"Ratelimited"}`, swap.ProviderBusy},
		"a fault":                   {500, `{"errorCode":"InternalServerError"}`, swap.ProviderDown},
		"down":                      {503, `{"errorCode":"ServiceUnavailable"}`, swap.ProviderDown},
		"a gateway timeout":         {504, `<html>`, swap.ProviderDown},
	} {
		t.Run(name, func(t *testing.T) {
			calls, sent := 0, []byte(nil)
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				calls++
				sent, _ = io.ReadAll(r.Body)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			order, o := signedAuction(t, p)
			ref, err := p.Submit(t.Context(), order)
			if codeOf(err) != c.want || err == nil && ref != o.hash().Hex() {
				t.Errorf("%q, %v, want %q", ref, err, c.want)
			}
			if calls != 1 {
				t.Errorf("%d calls", calls)
			}
			var e envelope
			if err := json.Unmarshal(order.Offer.Raw, &e); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`{"signature":%q,"quote":%s,"routing":"DUTCH_V3"}`, hexutil.Encode(order.Results[0].Signature), e.Quote)
			if string(sent) != want {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// TestSubmitNothing checks that nothing is sent but the account's own signed order.
func TestSubmitNothing(t *testing.T) {
	p := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	for name, change := range map[string]func(*swap.Order){
		"no signature":          func(o *swap.Order) { o.Results = nil },
		"a short signature":     func(o *swap.Order) { o.Results[0].Signature = o.Results[0].Signature[:64] },
		"another's signature":   func(o *swap.Order) { o.Results[0].Signature[3] ^= 1 },
		"v as 0 or 1":           func(o *swap.Order) { o.Results[0].Signature[64] -= 27 },
		"a quote of pools":      func(o *swap.Order) { o.Offer.Raw = fixture(t, "base-usdc-weth.quote.json") },
		"another order's quote": func(o *swap.Order) { o.Offer.Raw = fixture(t, "base-auction-eth.quote.json") },
		"no quote":              func(o *swap.Order) { o.Offer.Raw = nil },
		"no step":               func(o *swap.Order) { o.Plan.Steps = nil },
		"other terms":           func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(1) },
		"another provider's":    func(o *swap.Order) { o.Terms.Provider = swap.Gasless },
		"a permit": func(o *swap.Order) {
			permit := permit{testUSDC, big.NewInt(1_000_000_000), big.NewInt(1_800_000_000), new(big.Int), base.router, big.NewInt(1_800_000_000)}
			typed := permit.typed(8453)
			o.Plan.Steps[0].TypedData = &typed
		},
	} {
		t.Run(name, func(t *testing.T) {
			order, _ := signedAuction(t, p)
			change(&order)
			_, err := p.Submit(t.Context(), order)
			var r *swap.Refusal
			if !errors.As(err, &r) {
				t.Errorf("no reason: %v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	order, _ := signedAuction(t, p)
	if _, err := p.Submit(ctx, order); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// listing is a reply to GET /orders with its order changed.
func listing(t testing.TB, change func(order map[string]any)) []byte {
	t.Helper()
	reply := tree(t, "base-auction.filled.json")
	change(reply["orders"].([]any)[0].(map[string]any))
	return written(t, reply)
}

// asked returns what the provider makes of a reply about the recorded auction.
func asked(t testing.TB, status int, body []byte) (swap.Claim, error) {
	t.Helper()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.RawQuery != "orderId=0x3e8e862c38b10f58cf27e722101b193d63531a6d72e77dfc4f389020ecd89943" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
	order, _ := signedAuction(t, p)
	return p.Status(t.Context(), order)
}

// TestStatusWords checks each of the API's statuses. Only a fill names a transaction.
func TestStatusWords(t *testing.T) {
	for _, w := range orderStatuses {
		c, err := asked(t, 200, listing(t, func(o map[string]any) { o["orderStatus"] = w.word }))
		if err != nil || c.State != w.state || c.ProviderStatus != w.word || c.Reason != w.note {
			t.Errorf("%s: %+v, %v", w.word, c, err)
		}
		if named := c.Tx != [32]byte{}; named != (w.word == "filled") || named != (c.Chain == 8453) {
			t.Errorf("%s: names transaction %s on chain %d", w.word, c.Tx, c.Chain)
		}
	}
	if len(orderStatuses) != 7 {
		t.Errorf("%d words", len(orderStatuses))
	}
	if c, err := asked(t, 200, listing(t, func(o map[string]any) { delete(o, "txHash") })); err != nil || c.State != swap.Filled || c.Chain != 0 {
		t.Errorf("a fill without a transaction: %+v, %v", c, err)
	}
}

// A statusLie is a reply to the poll for an order.
type statusLie struct {
	status int
	body   []byte
	want   swap.Code
}

// statusLies are replies about another order or about none.
func statusLies(t testing.TB) map[string]statusLie {
	other := recordedOrder(t, "base-auction-eth.quote.json")
	return map[string]statusLie{
		"no order":            {200, []byte(`{"requestId":"x","orders":[]}`), swap.OrderUnknown},
		"not found":           {404, []byte(`{"errorCode":"ResourceNotFound","detail":"none"}`), swap.OrderUnknown},
		"an upstream timeout": {404, []byte(`{"errorCode":"UpstreamTimeoutError"}`), swap.ProviderDown},
		"no reason":           {404, []byte(`{}`), swap.ProviderRefused},
		"no list":             {200, []byte(`{"requestId":"x"}`), swap.ProviderInvalidResponse},
		"nothing":             {200, []byte(`{"orders":null}`), swap.ProviderInvalidResponse},
		"nobody":              {200, []byte(`{"orders":[null]}`), swap.ProviderInvalidResponse},
		"another list":        {200, []byte(`{"orders":{}}`), swap.ProviderInvalidResponse},
		"the order twice":     {200, twice(t), swap.ProviderInvalidResponse},
		"an unknown word":     {200, listing(t, func(o map[string]any) { o["orderStatus"] = "FILLED" }), swap.ProviderInvalidResponse},
		"another id":          {200, listing(t, func(o map[string]any) { o["orderId"] = other.hash().Hex() }), swap.ProviderInvalidResponse},
		"another chain":       {200, listing(t, func(o map[string]any) { o["chainId"] = 1 }), swap.ProviderInvalidResponse},
		"another nonce":       {200, listing(t, func(o map[string]any) { o["nonce"] = "1" }), swap.ProviderInvalidResponse},
		"another swapper":     {200, listing(t, func(o map[string]any) { o["swapper"] = testAttacker.Hex() }), swap.ProviderInvalidResponse},
		"another kind":        {200, listing(t, func(o map[string]any) { o["type"] = "Dutch_V2" }), swap.ProviderInvalidResponse},
		"another signature":   {200, listing(t, func(o map[string]any) { o["signature"] = "0x00" }), swap.ProviderInvalidResponse},
		"no encoding":         {200, listing(t, func(o map[string]any) { delete(o, "encodedOrder") }), swap.ProviderInvalidResponse},
		"another encoding": {200, listing(t, func(o map[string]any) {
			o["encodedOrder"] = hexutil.Encode(encodeOrder(t, other, nil, nil))
		}), swap.ProviderInvalidResponse},
		"half an encoding": {200, listing(t, func(o map[string]any) {
			o["encodedOrder"] = strings.TrimSuffix(o["encodedOrder"].(string), strings.Repeat("0", 62))
		}), swap.ProviderInvalidResponse},
		"a long encoding": {200, listing(t, func(o map[string]any) {
			o["encodedOrder"] = "0x" + strings.Repeat("00", maxEncoded+1)
		}), swap.ProviderInvalidResponse},
	}
}

func twice(t testing.TB) []byte {
	t.Helper()
	reply := tree(t, "base-auction.filled.json")
	list := reply["orders"].([]any)
	reply["orders"] = append(list, list[0])
	return written(t, reply)
}

// TestCosignerData checks that the cosigner's data, which come after the signature, can
// only give a claim a reason to be shown, and are neither a proof nor grounds to refuse.
func TestCosignerData(t *testing.T) {
	o := recordedOrder(t, "base-auction.quote.json")
	good := func() values {
		return values{
			"decayStartBlock": big.NewInt(38_000_000), "exclusiveFiller": testFriend, "exclusivityOverrideBps": big.NewInt(25),
			"inputAmount": new(big.Int), "outputAmounts": []any{new(big.Int), new(big.Int)},
		}
	}
	for name, c := range map[string]struct {
		change func(values)
		sound  bool
	}{
		"nothing better":       {func(values) {}, true},
		"a better output":      {func(v values) { v["outputAmounts"] = []any{plus(o.outputs[0].start, 1), new(big.Int)} }, true},
		"the same output":      {func(v values) { v["outputAmounts"] = []any{o.outputs[0].start, o.outputs[1].start} }, true},
		"less input":           {func(v values) { v["inputAmount"] = plus(o.input.start, -1) }, true},
		"more input":           {func(v values) { v["inputAmount"] = plus(o.input.start, 1) }, false},
		"a worse output":       {func(v values) { v["outputAmounts"] = []any{plus(o.outputs[0].start, -1), new(big.Int)} }, false},
		"a worse fee":          {func(v values) { v["outputAmounts"] = []any{new(big.Int), big.NewInt(1)} }, false},
		"a missing output":     {func(v values) { v["outputAmounts"] = []any{new(big.Int)} }, false},
		"an additional output": {func(v values) { v["outputAmounts"] = []any{new(big.Int), new(big.Int), new(big.Int)} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			added := good()
			c.change(added)
			claim, err := asked(t, 200, listing(t, func(l map[string]any) {
				l["encodedOrder"] = hexutil.Encode(cosign(t, o, 8453, cosignerKey(t), added))
			}))
			if err != nil || claim.State != swap.Filled || (claim.Reason == "") != c.sound {
				t.Errorf("%+v, %v", claim, err)
			}
			if !c.sound && !strings.HasPrefix(claim.Reason, "the cosigner's data is not sound: ") {
				t.Error(claim.Reason)
			}
		})
	}
	signedBy := func(change func(signature []byte) []byte) []byte {
		e, err := dutchV3.decode(cosign(t, o, 8453, cosignerKey(t), good()))
		if err != nil {
			t.Fatal(err)
		}
		return encodeOrder(t, o, good(), change(e.cosignature))
	}
	for name, c := range map[string]struct {
		encoded []byte
		sound   bool
	}{
		"not cosigned":       {signedBy(func([]byte) []byte { return nil }), true},
		"for another chain":  {cosign(t, o, 1, cosignerKey(t), good()), false},
		"another signature":  {signedBy(func(s []byte) []byte { s[7] ^= 1; return s }), false},
		"half a signature":   {signedBy(func(s []byte) []byte { return s[:32] }), false},
		"v as 0 or 1":        {signedBy(func(s []byte) []byte { s[64] -= 27; return s }), false},
		"a longer signature": {signedBy(func(s []byte) []byte { return append(s, 0) }), false},
		"an empty signature": {signedBy(func([]byte) []byte { return make([]byte, 65) }), false},
		"other data":         {encodeOrder(t, o, values{"decayStartBlock": big.NewInt(1), "exclusiveFiller": testFriend, "exclusivityOverrideBps": big.NewInt(25), "inputAmount": new(big.Int), "outputAmounts": []any{new(big.Int), new(big.Int)}}, bytes.Repeat([]byte{27}, 65)), false},
	} {
		t.Run(name, func(t *testing.T) {
			claim, err := asked(t, 200, listing(t, func(l map[string]any) { l["encodedOrder"] = hexutil.Encode(c.encoded) }))
			if err != nil || (claim.Reason == "") != c.sound {
				t.Errorf("%+v, %v", claim, err)
			}
		})
	}
}

// TestProofIsOfTheBytes checks that what proves the order depends only on what was signed,
// and on nothing that the provider says.
func TestProofIsOfTheBytes(t *testing.T) {
	order, o := signedAuction(t, sandboxProvider)
	want, err := sandboxProvider.Proof(order)
	if err != nil {
		t.Fatal(err)
	}
	if f := want.Fill[0]; len(want.Fill) != 1 || f.Address != base.reactor || f.Topics[1] != o.hash() || f.Amount.Cmp(o.nonce) != 0 || !want.Ends.Equal(testDeadline) {
		t.Errorf("Proof = %+v, want the reactor's fill event until the deadline", want)
	}
	order.Offer, order.Results, order.ProviderOrderID = swap.Offer{}, nil, "another"
	order.Claim = &swap.Claim{State: swap.Filled, Chain: 1}
	got, err := sandboxProvider.Proof(order.Clone())
	if err != nil || !bytes.Equal(written(t, got), written(t, want)) {
		t.Errorf("Proof in the sandbox = %+v, %v, want the same as without a claim", got, err)
	}
}

// TestProtocols checks that auctions are requested where there are some, and for a while
// not where the API said that there are none.
func TestProtocols(t *testing.T) {
	now := testNow
	var asked []string
	refusal := `{"errorCode":"UniswapXNotSupportedOnChainError","detail":"…"}`
	classic := fixture(t, "base-usdc-weth.quote.json")
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Protocols []string }
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &q); err != nil {
			t.Error(err)
		}
		asked = append(asked, strings.Join(q.Protocols, " "))
		if strings.Contains(asked[len(asked)-1], "UNISWAPX") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, refusal)
			return
		}
		_, _ = w.Write(classic)
	})
	p.now = func() time.Time { return now }
	quote := func(want ...string) {
		t.Helper()
		asked = nil
		offers, err := p.Quote(t.Context(), usdcRequest())
		if err != nil || offers[0].Routing != "CLASSIC" {
			t.Fatal(offers, err)
		}
		if strings.Join(asked, ", ") != strings.Join(want, ", ") {
			t.Errorf("asked for %q, want %q", asked, want)
		}
	}
	quote("V3 UNISWAPX_V3", "V3")
	quote("V3")
	now = now.Add(time.Hour - time.Second)
	quote("V3")
	now = now.Add(time.Second)
	quote("V3 UNISWAPX_V3", "V3")
	now = testNow
	p.noAuctions.until = nil
	refusal = `{"errorCode":"QuoteAmountTooLowError","detail":"…"}`
	quote("V3 UNISWAPX_V3", "V3")
	quote("V3 UNISWAPX_V3", "V3")
	for _, code := range []string{"NoRouteFoundError", "UnsupportedTokenError"} {
		refusal, asked = `{"errorCode":"`+code+`"}`, nil
		if _, err := p.Quote(t.Context(), usdcRequest()); codeOf(err) != swap.NoRoute || len(asked) != 1 {
			t.Errorf("%s: %d calls, %v", code, len(asked), err)
		}
	}
	for chainID, want := range map[uint64]string{1: "V3 V2 V4 UNISWAPX_V2", 10: "V3 V4 UNISWAPX_V3", 8453: "V3 V4 UNISWAPX_V3", 42161: "V3 V4 UNISWAPX_V3"} {
		r := usdcRequest()
		r.SrcChain, r.DstChain, r.TokenOut = chainID, chainID, testDAI
		for _, in := range []bool{false, true} { // auctions do not take the native coin
			if in {
				r.TokenIn, want = nativeCoin, strings.TrimSuffix(want, want[strings.Index(want, " UNISWAPX"):])
			}
			asked = nil
			if _, err := p.Quote(t.Context(), r); len(asked) == 0 || asked[0] != want {
				t.Errorf("chain %d: asked for %q, %v, want %q", chainID, asked, err, want)
			}
		}
	}
}

// TestPins checks that each chain has the reactor of its kind, and each mode its cosigner.
func TestPins(t *testing.T) {
	real := (&Provider{cosigner: cosigner}).Pins()
	for _, d := range deployments {
		kind := dutchV3
		if d.chain == 1 {
			kind = dutchV2
		}
		if d.auction != kind || !real.Allows(d.chain, swap.Settlement, d.reactor) || len(real.Addresses(d.chain, swap.Settlement)) != 1 {
			t.Errorf("chain %d: %s, %v", d.chain, d.auction.routing, real.Addresses(d.chain, swap.Settlement))
		}
		if !real.Allows(d.chain, swap.Cosigner, cosigner) || real.Allows(d.chain, swap.Cosigner, sandboxCosigner) {
			t.Errorf("chain %d: %v", d.chain, real.Addresses(d.chain, swap.Cosigner))
		}
		if pins := sandboxProvider.Pins(); pins.Allows(d.chain, swap.Cosigner, cosigner) || !pins.Allows(d.chain, swap.Cosigner, sandboxCosigner) {
			t.Errorf("chain %d, sandbox: %v", d.chain, pins.Addresses(d.chain, swap.Cosigner))
		}
	}
	outside, err := New(Config{Base: "https://dex.example.com/v1"})
	if err != nil || outside.cosigner != cosigner {
		t.Errorf("outside the sandbox: %s, %v", outside.cosigner, err)
	}
}
