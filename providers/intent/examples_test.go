package intent

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/time/rate"
)

// Most examples are of one swap, 25 USDC from Base to Arbitrum; one is a deposit of 0.01
// ETH on Base.
var (
	exampleAccount = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	exampleFee     = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	exampleIn      = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	exampleOut     = common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	exampleDepot   = common.HexToAddress("0x1A7c327d0f402AEf2eD3D20D1141bD71BA1C317B")
	exampleTx      = common.HexToHash("0x565d9d5efeaa95fdb21902940fd9b371d89bcef7fe6e461d9bece34c8de024ad")
	exampleNow     = time.Unix(1_795_159_800, 0).UTC()
	attacker       = common.HexToAddress("0xBadBadBadBadBadBadBadBadBadBadBadBadBad0")
)

const (
	exampleQuote = "8ce2abcc-de03-48fc-a9b0-25e96b93c2d3"
	exampleOrder = "cmrzsdld90000psp7uw0ni9l8"
)

func exampleRequest() swap.QuoteRequest {
	return swap.QuoteRequest{
		Account: exampleAccount, Recipient: exampleAccount, RefundTo: exampleAccount, SrcChain: 8453, DstChain: 42161,
		TokenIn: exampleIn, TokenOut: exampleOut, AmountIn: big.NewInt(25_000_000), SlippageBps: 50, FeeBps: 40, FeeReceiver: exampleFee,
	}
}

func termsOf(r swap.QuoteRequest, minOut int64) swap.Terms {
	return swap.Terms{
		Provider: swap.Intent, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: r.TokenIn, TokenOut: r.TokenOut, AmountIn: r.AmountIn, MinOut: big.NewInt(minOut), FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver,
		Deadline: exampleNow.Add(20 * time.Minute), GasCeiling: big.NewInt(1e18),
	}
}

func nativeTerms() swap.Terms {
	r := exampleRequest()
	r.TokenIn, r.AmountIn = common.Address{}, big.NewInt(1e16)
	return termsOf(r, 1)
}

func example(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/examples/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exampleOrderOf is the order of the first example route, with its deposit mined.
func exampleOrderOf(t testing.TB) swap.Order {
	t.Helper()
	var q quoteReply
	if err := json.Unmarshal(example(t, "k_quote_resp"), &q); err != nil {
		t.Fatal(err)
	}
	r := exampleRequest()
	f, err := readRoute(q.QuoteID, q.Routes[0], r)
	if err != nil {
		t.Fatal(err)
	}
	terms := termsOf(r, f.minOut.Int64())
	d, err := readPlan(example(t, "k_build_resp"), terms, depositContracts)
	if err != nil {
		t.Fatal(err)
	}
	return swap.Order{
		ID: "test", Consent: swap.Consent{Terms: terms, Offer: f.offer(r, exampleNow),
			Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep, Call: d.call(terms)}}, Settlement: swap.ByProvider, Spender: d.to}}, Progress: swap.Progress{ProviderOrderID: exampleOrder,
			Results: []swap.Result{{Tx: exampleTx}}},
	}
}

// at is a provider whose API answers with h, with a Date header that matches its clock.
func at(t testing.TB, h http.HandlerFunc) *Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", exampleNow.Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	p, err := New(Config{
		Base: srv.URL, Sandbox: true, Now: func() time.Time { return exampleNow },
		Limits: rest.Limits{Attempt: 200 * time.Millisecond, Call: time.Second, Attempts: 2, Backoff: time.Millisecond, MaxWait: 10 * time.Millisecond, Rate: rate.Inf, Failures: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// says answers every request with the same reply.
func says(status int, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // a client that is gone reports its own error
	}
}

// refusedFor fails the test unless err is a refusal with that code and field.
func refusedFor(t testing.TB, what string, err error, code swap.Code, field string) {
	t.Helper()
	var r *swap.Refusal
	if !errors.As(err, &r) || r.Code != code || r.Field != field {
		t.Errorf("%s: want %s (%s), got %v", what, code, field, err)
	}
}

// exampleTests checks the result of every example.
var exampleTests = map[string]func(t *testing.T, raw []byte){
	"k_quote_req": func(t *testing.T, raw []byte) {
		sends(t, raw, func(p *Provider) { _, _ = p.Quote(t.Context(), exampleRequest()) })
	},
	"k_quote_resp": func(t *testing.T, raw []byte) {
		offers, err := at(t, says(200, raw)).Quote(t.Context(), exampleRequest())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range offers {
			got = append(got, o.Routing+" "+o.AmountOut.String()+" "+o.MinOut.String()+" "+o.Duration.String()+" "+o.Expires.Sub(exampleNow).String())
		}
		if want := "Hyperstream 24880000 24755600 12s 30s|Across 24871250 24746893 6s 30s|DeBridge 24790100 24666149 25s 15s"; strings.Join(got, "|") != want {
			t.Errorf("offers %s", strings.Join(got, "|"))
		}
	},
	"k_stream_line": func(t *testing.T, raw []byte) {
		var line bytes.Buffer
		if err := json.Compact(&line, raw); err != nil {
			t.Fatal(err)
		}
		f, err := readRoute("", line.Bytes(), exampleRequest())
		if err != nil || f.quoteID != exampleQuote || f.routeID != "Across" || f.amountOut.Int64() != 24_871_250 {
			t.Errorf("readRoute = %+v, %v, want the route Across with 24871250 out", f, err)
		}
	},
	"k_empty": func(t *testing.T, raw []byte) {
		_, err := at(t, says(200, raw)).Quote(t.Context(), exampleRequest())
		refusedFor(t, "no route", err, swap.NoRoute, "tokenOut")
	},
	"k_build_req": func(t *testing.T, raw []byte) {
		o := exampleOrderOf(t)
		sends(t, raw, func(p *Provider) { _, _ = p.Build(t.Context(), o.Offer, o.Terms) })
	},
	"k_build_resp": func(t *testing.T, raw []byte) {
		d, err := readPlan(raw, termsOf(exampleRequest(), 1), depositContracts)
		if err != nil || d.to != exampleDepot || d.value.Sign() != 0 || !bytes.HasPrefix(d.data, common.FromHex("0xf3125a1f")) {
			t.Errorf("readPlan = %+v, %v, want a token deposit", d, err)
		}
	},
	"k_build_native": func(t *testing.T, raw []byte) {
		d, err := readPlan(raw, nativeTerms(), depositContracts)
		if err != nil || d.to != exampleDepot || d.value.Int64() != 1e16 {
			t.Errorf("readPlan = %+v, %v, want a deposit of 0.01 ETH", d, err)
		}
	},
	"k_build_permit2": func(t *testing.T, raw []byte) {
		_, err := readPlan(raw, termsOf(exampleRequest(), 1), depositContracts)
		refusedFor(t, "a permit", err, swap.Undecodable, "kind")
	},
	"k_build_transfer": func(t *testing.T, raw []byte) {
		_, err := readPlan(raw, termsOf(exampleRequest(), 1), depositContracts)
		refusedFor(t, "a transfer", err, swap.Undecodable, "kind")
	},
	"k_sub_req": func(t *testing.T, raw []byte) {
		o := exampleOrderOf(t)
		sends(t, raw, func(p *Provider) { _, _ = p.Submit(t.Context(), o) })
	},
	"k_sub_resp": func(t *testing.T, raw []byte) {
		if id, err := at(t, says(200, raw)).Submit(t.Context(), exampleOrderOf(t)); err != nil || id != exampleOrder {
			t.Errorf("Submit = %q, %v, want the example order", id, err)
		}
	},
	"k_ord_created": claims(swap.Claim{State: swap.Settling, ProviderStatus: "created"}),
	"k_ord_filled": claims(swap.Claim{
		State: swap.Filled, ProviderStatus: "filled", Chain: 42161, Tx: common.HexToHash("0x5bdce5b7c02d92fa6a8bff77f2ffcb0e583e6685828b3fb3b08850dedb335656"),
	}),
	"k_ord_refunded": claims(swap.Claim{
		State: swap.Refunded, ProviderStatus: "refunded", Chain: 8453, Tx: common.HexToHash("0x2fb4cffb0f2b12102a772c3a79b90e2bbd6f4085901e637565562eeb0cdf04f2"),
	}),
	"k_ord_list": func(t *testing.T, raw []byte) {
		o := exampleOrderOf(t)
		o.ProviderOrderID = ""
		c, err := at(t, says(200, raw)).Status(t.Context(), o)
		if err != nil || c.State != swap.Filled {
			t.Errorf("Status = %+v, %v, want filled", c, err)
		}
	},
	"k_tok":      lists(8453, "USDC"),
	"k_tok_flat": lists(8453, "USDC"),
	"k_chains": func(t *testing.T, raw []byte) {
		var listed []struct{ ID uint64 }
		if err := json.Unmarshal(raw, &listed); err != nil || len(listed) != 2 {
			t.Fatal(err)
		}
		for _, c := range listed { // Base, and Solana, which is not supported
			if _, err := destinationChainID(networks[0], c.ID); (err == nil) != (c.ID == 8453) {
				t.Errorf("%d: %v", c.ID, err)
			}
		}
	},
	"k_e_val":  fails(400, swap.ProviderRefused),
	"k_e_nf":   fails(404, swap.QuoteExpired),
	"k_e_conf": fails(400, swap.ProviderRefused),
	"k_e_dup":  fails(200, swap.ProviderDown),
	"k_e_fill": fails(400, swap.NoRoute),
	"k_e_500":  fails(500, swap.ProviderDown),
}

// claims reads an example as the status of its order.
func claims(want swap.Claim) func(*testing.T, []byte) {
	return func(t *testing.T, raw []byte) {
		c, err := at(t, says(200, raw)).Status(t.Context(), exampleOrderOf(t))
		if err != nil || c != want {
			t.Errorf("%+v, want %+v: %v", c, want, err)
		}
	}
}

// fails reads an example as the reply to a quote request.
func fails(status int, want swap.Code) func(*testing.T, []byte) {
	return func(t *testing.T, raw []byte) {
		_, err := at(t, says(status, raw)).Quote(t.Context(), exampleRequest())
		if !errors.Is(err, &swap.Refusal{Code: want}) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// lists reads an example as the token list of a network.
func lists(chainID uint64, want string) func(*testing.T, []byte) {
	return func(t *testing.T, raw []byte) {
		got, err := at(t, says(200, raw)).Tokens(t.Context(), chainID)
		if err != nil || len(got) != 1 || got[0].Symbol != want || got[0].Chain != chainID || got[0].Address != exampleIn || got[0].Decimals != 6 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// sends checks that the one request that do makes has the body of an example.
func sends(t *testing.T, want []byte, do func(*Provider)) {
	t.Helper()
	var sent any
	p := at(t, func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		says(418, []byte(`{}`))(w, r)
	})
	do(p)
	var as any
	if err := json.Unmarshal(want, &as); err != nil || !reflect.DeepEqual(sent, as) {
		t.Errorf("sends %v, want %v: %v", sent, as, err)
	}
}

// TestExamples runs every example and fails for an example without a test.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/examples/*.json")
	if err != nil || len(files) != len(exampleTests) {
		t.Fatalf("%d examples, %d are tested: %v", len(files), len(exampleTests), err)
	}
	for name, test := range exampleTests {
		t.Run(name, func(t *testing.T) { test(t, example(t, name)) })
	}
}
