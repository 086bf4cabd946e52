package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	testAccount  = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // of the published test mnemonic
	testReceiver = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	testAttacker = common.HexToAddress("0xBadBadBadBadBadBadBadBadBadBadBadBadBad0")

	usdcOnBase     = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	usdcOnArbitrum = common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	usdtOnEthereum = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
	daiOnBase      = common.HexToAddress("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb")

	testNow = time.UnixMilli(1_795_159_800_000).UTC()
)

// example returns a body from the API's documentation.
func example(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/examples/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func ask(src uint64, in common.Address, dst uint64, out common.Address, amount int64, feeBps int) swap.QuoteRequest {
	r := swap.QuoteRequest{
		Account: testAccount, Recipient: testAccount, RefundTo: testAccount, SrcChain: src, DstChain: dst,
		TokenIn: in, TokenOut: out, AmountIn: units(amount), SlippageBps: 50, FeeBps: feeBps,
	}
	if feeBps > 0 {
		r.FeeReceiver = testReceiver
	}
	return r
}

// sameBody requires the same JSON; addresses may be in any case.
func sameBody(t *testing.T, got, want []byte) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(bytes.ToLower(got), &a), json.Unmarshal(bytes.ToLower(want), &b)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestExamples checks that requests are written, and replies read, as documented.
func TestExamples(t *testing.T) {
	bridged := ask(8453, usdcOnBase, 42161, usdcOnArbitrum, 25_000_000, 40)
	coin := ask(8453, nativeCoin, 5330, nativeCoin, 10_000_000_000_000_000, 0)
	swapped := ask(1, usdtOnEthereum, 1, nativeCoin, 200_000_000, 0)
	for name, r := range map[string]swap.QuoteRequest{"quoteA_req": bridged, "quoteB_req": coin} {
		q := newQuoteRequest(r)
		q.ProtocolData = false // not in the examples
		body, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		sameBody(t, body, example(t, name))
	}
	x, err := readQuote(example(t, "quoteA_resp"), bridged, sandboxSolver)
	if err != nil || x.offer.MinOut.String() != "24755301" || x.id.Hex() != "0x201aefa974dd7fb6760b5d8d14b06e915acba94ccd1831d12b2b6e0ed3d003be" || x.role != roleDepository {
		t.Errorf("example A: %+v, %v", x, err)
	}
	for name, c := range map[string]struct {
		r    swap.QuoteRequest
		to   common.Address
		kind swap.EffectKind
	}{
		"quoteA_resp":  {bridged, depository, swap.Deposit},
		"quoteB_steps": {coin, depository, swap.Deposit},
		"quoteC_steps": {swapped, routerPairs[1].proxy, swap.Opaque},
	} {
		q, err := decodeQuote(example(t, name))
		if err != nil {
			t.Fatal(err)
		}
		tx, err := q.payingStep(c.r)
		if err != nil || tx.To.Address != c.to {
			t.Fatalf("%s: pays %v: %v", name, tx.To, err)
		}
		call := chain.Call{ChainID: c.r.SrcChain, From: testAccount, To: tx.To.Address, Value: tx.Value.Int, Data: tx.calldata}
		if f, err := decodeCall(termsFor(c.r), call); err != nil || f.Kind != c.kind {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// TestExampleOfSignature checks that a signature for others to use is refused.
func TestExampleOfSignature(t *testing.T) {
	var s step
	if err := json.Unmarshal(example(t, "stepD"), &s); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.read(ask(8453, usdcOnBase, 42161, usdcOnArbitrum, 25_000_000, 0)); !errors.Is(err, &swap.Refusal{Code: swap.Undecodable}) {
		t.Error(err)
	}
}

func TestExampleOfChains(t *testing.T) {
	list, err := readChains(example(t, "chains_resp"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d chains, %v", len(list), err)
	}
	base := list[8453]
	if !base.open || base.depository != depository || len(base.routers) != 3 {
		t.Errorf("Base = %+v, want it open, with the built-in depository and three pairs of routers", base)
	}
	for _, p := range routerPairs {
		if base.checkRouter(p.router, nativeCoin) != nil || base.checkRouter(p.proxy, usdcOnBase) != nil {
			t.Errorf("the pair %s is built in, and not on the list", p.version)
		}
	}
}

// paidExample is the order that the documented replies are about.
func paidExample() paidDeposit {
	tx := common.HexToHash("0x3827e11bf9012bac9ec4fdea6902ab45acecf8b0f5360ff20f6fc792a095cf45")
	return paidDeposit{
		id: common.HexToHash("0x201aefa974dd7fb6760b5d8d14b06e915acba94ccd1831d12b2b6e0ed3d003be"), tx: tx,
		order: swap.Order{
			Consent: swap.Consent{Terms: swap.Terms{SrcChain: 8453, DstChain: 42161},
				Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep}}}},
			Progress: swap.Progress{Results: []swap.Result{{Tx: tx, Evidence: &chain.Evidence{Time: testNow.Add(-time.Minute)}}}},
		},
	}
}

func TestExamplesOfStatus(t *testing.T) {
	fill := common.HexToHash("0x92ef445429b2953fe62b896c088aabe12edda6e5403fd28fc6d8393a2a1ec5c2")
	back := common.HexToHash("0x490603620ae2187aefbe533769c5b0f6bd8ef8d28e69968155c834376f7d9663")
	for name, want := range map[string]swap.Claim{
		"st_waiting": {State: swap.Settling, ProviderStatus: "waiting"},
		"st_pending": {State: swap.Settling, ProviderStatus: "pending"},
		"st_success": {State: swap.Filled, ProviderStatus: "success", Tx: fill, Chain: 42161},
		"st_refund":  {State: swap.Refunded, ProviderStatus: "refund", Tx: back, Chain: 8453, Reason: "the bridge provider says: SLIPPAGE"},
		"st_v1":      {State: swap.Filled, ProviderStatus: "success", Tx: fill, Chain: 42161},
		"st_v2":      {State: swap.Settling, ProviderStatus: "pending"},
	} {
		r, err := readStatus(example(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := paidExample().claim(r, testNow); err != nil || c != want {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	r, err := readStatus(example(t, "st_unknown"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := paidExample().claim(r, testNow); !errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}) {
		t.Errorf("an unknown request: %v", err)
	}
}

func TestExamplesOfFrames(t *testing.T) {
	for _, name := range []string{"ws_ready", "ws_ack", "ws_evt"} {
		f, err := readFrame(example(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c, ok := paidExample().claimFromFrame(f, testNow)
		if want := (swap.Claim{State: swap.Settling, ProviderStatus: "pending"}); ok != (name == "ws_evt") || ok && c != want {
			t.Errorf("%s: %+v, %v", name, c, ok)
		}
	}
	body, err := json.Marshal(frame{Type: "subscribe", Event: statusEvent, Filters: map[string]string{"id": paidExample().id.Hex()}})
	if err != nil {
		t.Fatal(err)
	}
	sameBody(t, body, example(t, "ws_sub"))
}

func TestExampleOfIndexing(t *testing.T) {
	s := paidExample()
	body, err := json.Marshal(indexRequest{"8453", s.tx, s.id})
	if err != nil {
		t.Fatal(err)
	}
	sameBody(t, body, example(t, "index_req"))
	p := providerOf(t, map[string]http.HandlerFunc{"/transactions/index": replying(200, example(t, "index_resp"))})
	if err := p.index(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func TestExamplesOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		want   swap.Code
	}{
		"err400": {400, swap.NoRoute}, "err400sim": {400, swap.NoRoute}, "err401": {401, swap.ProviderKey}, "errFst": {400, swap.ProviderRefused},
		"err429": {429, swap.ProviderBusy}, "err503": {503, swap.ProviderDown},
	} {
		p := providerOf(t, map[string]http.HandlerFunc{"/quote/v2": replying(c.status, example(t, name)), "/chains": replying(200, chainsFor(8453, 42161))})
		_, err := p.Quote(t.Context(), ask(8453, usdcOnBase, 42161, usdcOnArbitrum, 25_000_000, 40))
		if !errors.Is(err, &swap.Refusal{Code: c.want}) {
			t.Errorf("%s: want %s, got %v", name, c.want, err)
		}
		var r *swap.Refusal
		if errors.As(err, &r) && c.want == swap.ProviderKey && r.Reason != "the bridge provider needs a valid API key" {
			t.Errorf("%s: %s", name, r.Reason)
		}
	}
}

func replying(status int, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(body) // a client that has gone gets its own error
	}
}

// providerOf returns a provider for a loopback service that answers by path.
func providerOf(t testing.TB, answers map[string]http.HandlerFunc) *Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", testNow.Format(http.TimeFormat))
		if h := answers[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return providerAt(t, s.URL, func() time.Time { return testNow })
}
