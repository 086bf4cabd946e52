package dexsim_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
)

// TestRepliesHaveTheRecordedShape checks that responses to the recorded requests have the
// recorded members and types.
func TestRepliesHaveTheRecordedShape(t *testing.T) {
	s := manual(t, 1, 8453)
	body := func(file, part string) any { return example(t, file, part, "body") }
	replies := []struct{ file, request, response, path string }{
		{"01_check_approval.json", "request", "response", "/check_approval"},
		{"02_quote_classic.json", "request", "response", "/quote"},
		{"10_wrap.json", "quote_request", "quote_response", "/quote"},
	}
	for _, r := range replies {
		t.Run(r.file, func(t *testing.T) {
			_, raw := mustAsk[fields](t, s, http.MethodPost, r.path, body(r.file, r.request))
			sandboxtest.SameShape(t, "reply", sandboxtest.Decode[any](t, raw), body(r.file, r.response))
		})
	}
	t.Run("03_swap_classic.json", func(t *testing.T) {
		q, _ := mustAsk[quoteReply](t, s, http.MethodPost, "/quote", body("02_quote_classic.json", "request"))
		_, raw := mustAsk[fields](t, s, http.MethodPost, "/swap", fields{
			"quote": q.Quote, "permitData": q.Permit, "signature": sign(t, s.Accounts()[0], q.Permit),
			"refreshGasPrice": true, "simulateTransaction": false, "safetyMode": "SAFE", "deadline": 1800000000, "urgency": "normal",
		})
		sandboxtest.SameShape(t, "reply", sandboxtest.Decode[any](t, raw), body("03_swap_classic.json", "response"))
	})
	t.Run("10_wrap.json swap", func(t *testing.T) {
		q, _ := mustAsk[quoteReply](t, s, http.MethodPost, "/quote", body("10_wrap.json", "quote_request"))
		_, raw := mustAsk[fields](t, s, http.MethodPost, "/swap", fields{"quote": q.Quote})
		got, want := sandboxtest.Decode[any](t, raw), body("10_wrap.json", "swap_response")
		sandboxtest.SameShape(t, "reply", got, want)
		want.(fields)["swap"].(fields)["data"] = want.(fields)["swap"].(fields)["data"].(string) + "756e697800000000000c" // the tag
		for _, name := range []string{"to", "data", "value"} {
			if g, w := got.(fields)["swap"].(fields)[name], want.(fields)["swap"].(fields)[name]; g != w {
				t.Errorf("swap.%s: got %v, want %v", name, g, w)
			}
		}
	})
	t.Run("the recorded quote can be swapped", func(t *testing.T) {
		_, raw := mustAsk[fields](t, s, http.MethodPost, "/swap", body("03_swap_classic.json", "request"))
		sandboxtest.SameShape(t, "reply", sandboxtest.Decode[any](t, raw), body("03_swap_classic.json", "response"))
	})
	t.Run("08_swaps.json", func(t *testing.T) {
		_, raw := mustAsk[fields](t, s, http.MethodGet, "/swaps?txHashes="+common.Hash{1}.Hex()+"&chainId=8453", nil)
		sandboxtest.SameShape(t, "reply", sandboxtest.Decode[any](t, raw), body("08_swaps.json", "response"))
	})
	t.Run("09_swappable_tokens.json", func(t *testing.T) {
		_, raw := mustAsk[fields](t, s, http.MethodGet, "/swappable_tokens?tokenIn=0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48&tokenInChainId=1", nil)
		got := sandboxtest.Decode[any](t, raw).(fields)
		list := got["tokens"].([]any)
		if len(list) != 6 {
			t.Fatalf("USDC is on 6 other chains that the API serves, not %d", len(list))
		}
		got["tokens"] = list[:1]
		sandboxtest.SameShape(t, "reply", got, body("09_swappable_tokens.json", "response"))
	})
}

// An errorCase is a request that the API refuses.
type errorCase struct {
	name   string
	path   string
	body   any
	header []string
	status int
	code   string
	detail string // a substring
}

func TestErrors(t *testing.T) {
	s := manual(t, 1, 10, 5330)
	usdc := sandboxtest.Token(t, s.Chain(1), "USDC")
	ask1 := func(more fields) fields { return quoteRequest(s, 1, native, usdc, sandboxtest.Units(1, 18), more) }
	quoted := quote(t, s, 1, native, usdc, sandboxtest.Units(1, 18), nil)
	var altered fields
	if err := json.Unmarshal(quoted.Quote, &altered); err != nil {
		t.Fatal(err)
	}
	altered["slippage"] = "0.5"
	const invalid, missing = "RequestValidationError", http.StatusNotFound
	cases := []errorCase{
		{"no such path", "/orders2", fields{}, nil, missing, "ResourceNotFound", ""},
		{"charset in the content type", "/quote", ask1(nil), []string{"Content-Type", "application/json; charset=utf-8"}, 401, "Unauthorized", ""},
		{"old router", "/quote", ask1(nil), []string{"x-universal-router-version", "2.0"}, 400, invalid, "x-universal-router-version"},
		{"slippage as text", "/quote", ask1(fields{"slippageTolerance": "0.5"}), nil, 400, invalid, `"slippageTolerance" must be a number`},
		{"slippage with three decimals", "/quote", ask1(fields{"slippageTolerance": 0.125}), nil, 400, invalid, "decimal places"},
		{"no slippage", "/quote", ask1(fields{"slippageTolerance": nil}), nil, 400, invalid, "at least one of"},
		{"two slippages", "/quote", ask1(fields{"autoSlippage": "DEFAULT"}), nil, 400, invalid, "exclusive peers"},
		{"routing preference", "/quote", ask1(fields{"routingPreference": "CLASSIC"}), nil, 400, invalid, `"routingPreference" must be one of [BEST_PRICE, FASTEST]`},
		{"no amount", "/quote", ask1(fields{"amount": nil}), nil, 400, invalid, `"amount" is required`},
		{"amount zero", "/quote", ask1(fields{"amount": "0"}), nil, 400, invalid, "greater than 0"},
		{"amount in hex", "/quote", ask1(fields{"amount": "0x10"}), nil, 400, invalid, "required pattern"},
		{"chain id as text", "/quote", ask1(fields{"tokenInChainId": "1"}), nil, 400, invalid, `"tokenInChainId" must be a number`},
		{"unknown member", "/quote", ask1(fields{"slipage": 1}), nil, 400, invalid, `"slipage" is not allowed`},
		{"two fees", "/quote", ask1(fields{"integratorFees": []fields{{"bips": 1, "recipient": usdc}, {"bips": 1, "recipient": usdc}}}), nil, 400, invalid, "must contain 1 items"},
		{"fee too high", "/quote", ask1(fields{"integratorFees": []fields{{"bips": 501, "recipient": usdc}}}), nil, 400, invalid, "less than or equal to 500"},
		{"two auctions", "/quote", ask1(fields{"protocols": []string{"UNISWAPX_V2", "UNISWAPX_V3"}}), nil, 400, invalid, "more than one"},
		{"no object", "/quote", []byte("[]"), nil, 400, invalid, "object"},
		{"null permit", "/swap", fields{"quote": quoted.Quote, "permitData": nil, "signature": "0x"}, nil, 400, invalid, `"permitData" must be of type object`},
		{"signature alone", "/swap", fields{"quote": quoted.Quote, "signature": "0x00"}, nil, 400, invalid, "required peers"},
		{"quote altered", "/swap", fields{"quote": altered}, nil, 400, invalid, `"quote" does not match any of the allowed types`},
		{"unknown token", "/quote", ask1(fields{"tokenOut": common.Address{19: 9}}), nil, missing, "UnsupportedTokenError", "not routable"},
		{"same token", "/quote", ask1(fields{"tokenOut": native}), nil, missing, "NoRouteFoundError", ""},
		{"only V4", "/quote", ask1(fields{"protocols": []string{"V4"}}), nil, missing, "NoRouteFoundError", ""},
		{"exact output", "/quote", ask1(fields{"type": "EXACT_OUTPUT"}), nil, missing, "NoRouteFoundError", ""},
		{"bridge", "/quote", ask1(fields{"tokenOutChainId": 10}), nil, missing, "NoRouteFoundError", ""},
		{"auction on a chain without auctions", "/quote", quoteRequest(s, 10, native, sandboxtest.Token(t, s.Chain(10), "USDC"), big.NewInt(1e9), fields{"protocols": []string{"V3", "UNISWAPX_V3"}}), nil, missing, "UniswapXNotSupportedOnChainError", ""},
		{"chain not served", "/quote", quoteRequest(s, 5330, native, sandboxtest.Token(t, s.Chain(5330), "USDC"), big.NewInt(1e9), nil), nil, missing, "UnsupportedChainError", ""},
		{"chain not served, approval", "/check_approval", fields{"walletAddress": usdc, "token": usdc, "amount": "1", "chainId": 39}, nil, missing, "UnsupportedChainError", ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, s) })
	}
}

func (tc errorCase) run(t *testing.T, s *sandbox.Sandbox) {
	status, raw := ask(t, s, http.MethodPost, tc.path, tc.body, tc.header...)
	var reply struct{ ErrorCode, Detail, RequestID string }
	if err := json.Unmarshal(raw, &reply); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	if status != tc.status || reply.ErrorCode != tc.code || !strings.Contains(reply.Detail, tc.detail) {
		t.Errorf("got %d %s, want %d %s with %q", status, raw, tc.status, tc.code, tc.detail)
	}
	if hasID := reply.RequestID != ""; hasID != (tc.status == http.StatusNotFound) {
		t.Errorf("request id %q", reply.RequestID)
	}
}

// TestErrorsHaveTheRecordedShape checks that our error bodies have the recorded members.
func TestErrorsHaveTheRecordedShape(t *testing.T) {
	s := manual(t, 1)
	_, raw := ask(t, s, http.MethodPost, "/quote", []byte(`{}`))
	_, notFound := ask(t, s, http.MethodGet, "/nothing", nil)
	for _, e := range example(t, "11_errors.json", "errors").([]any) {
		want := e.(fields)["body"]
		got := sandboxtest.Decode[any](t, raw)
		if _, hasID := want.(fields)["requestId"]; hasID {
			got = sandboxtest.Decode[any](t, notFound)
		}
		sandboxtest.SameShape(t, e.(fields)["when"].(string), got, want)
	}
}

func TestKeyAndRate(t *testing.T) {
	s := manual(t, 1)
	body := quoteRequest(s, 1, native, sandboxtest.Token(t, s.Chain(1), "USDC"), sandboxtest.Units(1, 18), nil)
	if status, raw := ask(t, s, http.MethodPost, "/quote", body); status != http.StatusOK { // finds the pools first, which takes time
		t.Fatalf("the quote: status %d, %s", status, raw)
	}
	if err := s.DEX().Set(dexsim.Settings{APIKey: "a-key", RateLimit: 1}); err != nil {
		t.Fatal(err)
	}
	order := []struct {
		name   string
		body   any
		key    string
		status int
	}{
		{"the body is checked before the key", fields{}, "", http.StatusBadRequest},
		{"no key", body, "", http.StatusUnauthorized},
		{"another key", body, "x", http.StatusUnauthorized},
		{"first", body, "a-key", http.StatusOK},
		{"another within the second", body, "a-key", http.StatusTooManyRequests},
	}
	for _, o := range order {
		if status, raw := ask(t, s, http.MethodPost, "/quote", o.body, "x-api-key", o.key); status != o.status {
			t.Errorf("%s: got %d %s, want %d", o.name, status, raw, o.status)
		}
	}
	s.Reset()
	if status, raw := ask(t, s, http.MethodPost, "/quote", body); status != http.StatusOK {
		t.Errorf("after a reset: %d %s", status, raw)
	}
}

func TestLiesReachTheReply(t *testing.T) {
	s := manual(t, 1)
	usdc := sandboxtest.Token(t, s.Chain(1), "USDC")
	lies := []inject.Rule{
		{Target: "/quote", Kind: inject.Lie, Pointer: "/quote/aggregatedOutputs/0/amount", Value: json.RawMessage(`"1"`), Times: 1},
		{Target: "/quote", Kind: inject.Lie, Pointer: "/routing", Value: json.RawMessage(`"PRIORITY"`), Times: 1},
	}
	for _, lie := range lies {
		if _, err := s.DEX().Faults.Add(lie); err != nil {
			t.Fatal(err)
		}
	}
	if q := quote(t, s, 1, native, usdc, sandboxtest.Units(1, 18), nil); q.Routing != "PRIORITY" || q.outputs[0].Amount != "1" {
		t.Errorf("routing %s, amount %s", q.Routing, q.outputs[0].Amount)
	}
	if q := quote(t, s, 1, native, usdc, sandboxtest.Units(1, 18), nil); q.Routing != "CLASSIC" || q.outputs[0].Amount == "1" {
		t.Error("a lie told more often than asked")
	}
	if n := s.DEX().Faults.Counts()["/quote"]; n != 2 {
		t.Errorf("%d requests counted", n)
	}
}
