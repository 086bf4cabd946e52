package intentsim_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

// recorded returns a recorded request with a quote id of ours.
func recorded(t *testing.T, file string, q quotesReply, more fields) fields {
	t.Helper()
	body := example(t, file).(fields)
	body["quoteId"] = q.QuoteID
	for name, value := range more {
		body[name] = value
	}
	return body
}

// TestRepliesHaveTheRecordedShape checks that responses to the recorded requests have the
// recorded members and types.
func TestRepliesHaveTheRecordedShape(t *testing.T) {
	s := shared(t)
	same := func(name, method, path string, body any, want any) {
		t.Helper()
		t.Run(name, func(t *testing.T) { sandboxtest.SameShape(t, "reply", mustAsk[any](t, s, method, path, body), want) })
	}
	ask := func() quotesReply {
		return mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", example(t, "k_quote_req.json"))
	}
	same("quotes", http.MethodPost, "/v1/quotes", example(t, "k_quote_req.json"), example(t, "k_quote_resp.json"))
	same("no route", http.MethodPost, "/v1/quotes", func() fields {
		body := example(t, "k_quote_req.json").(fields)
		body["filler"] = "Nobody"
		return body
	}(), example(t, "k_empty.json"))
	same("build", http.MethodPost, "/v1/deposit/build", recorded(t, "k_build_req.json", ask(), nil), example(t, "k_build_resp.json"))

	all := example(t, "k_quote_req.json").(fields)
	delete(all, "depositMethods")
	anyway := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", all)
	same("permit", http.MethodPost, "/v1/deposit/build", recorded(t, "k_build_req.json", anyway, fields{"depositMethod": "PERMIT2"}), example(t, "k_build_permit2.json"))
	same("transfer", http.MethodPost, "/v1/deposit/build", recorded(t, "k_build_req.json", anyway, fields{"depositMethod": "TRANSFER", "routeId": "HyperstreamUTXO"}), example(t, "k_build_transfer.json"))

	coins := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", quoteRequest(s, 8453, native, 42161, native, sandboxtest.Units(1, 16), nil))
	same("build native", http.MethodPost, "/v1/deposit/build", buildRequest(s, coins.QuoteID, "Hyperstream", nil), example(t, "k_build_native.json"))

	q := ask()
	sent := mustAsk[fields](t, s, http.MethodPut, "/v1/deposit/submit", recorded(t, "k_sub_req.json", q, nil))
	sandboxtest.SameShape(t, "submit", sent, example(t, "k_sub_resp.json"))
	created := mustAsk[any](t, s, http.MethodGet, "/v1/orders/by-id/"+sent["orderId"].(string), nil)
	sandboxtest.SameShape(t, "order", created, example(t, "k_ord_created.json"))

	same("chains", http.MethodGet, "/v1/chains", nil, chainsLike(t, 8))
}

// chainsLike returns the recorded chains, the first one repeated n times.
func chainsLike(t *testing.T, n int) []any {
	all := example(t, "k_chains.json").([]any)
	return append(slices.Repeat(all[:1], n), all[1])
}

func TestOrdersHaveTheRecordedShape(t *testing.T) {
	s := shared(t)
	for ending, file := range map[string]string{"filled": "k_ord_filled.json", "refunded": "k_ord_refunded.json"} {
		set(t, s, func(c *intentsim.Settings) {
			c.Outcome.Ending = map[string]string{"filled": "fill", "refunded": "refund"}[ending]
		})
		body := example(t, "k_quote_req.json").(fields)
		body["fromChainId"], body["toChainId"] = uint64(8453), uint64(42161)
		id, _, _ := swap(t, s, body, "Hyperstream")
		awaitStatus(t, s, id, ending)
		sandboxtest.SameShape(t, ending, mustAsk[any](t, s, http.MethodGet, "/v1/orders/by-id/"+id, nil), example(t, file))
	}
	page := mustAsk[fields](t, s, http.MethodGet, "/v1/orders/"+s.Accounts()[0].Address.Hex()+"?limit=1", nil)
	want := example(t, "k_ord_list.json").(fields)
	if page["data"].([]any)[0].(fields)["status"] != "filled" {
		want["data"] = []any{example(t, "k_ord_refunded.json")}
	}
	sandboxtest.SameShape(t, "orders", page, want)
}

func TestTokens(t *testing.T) {
	s := shared(t)
	usdc := "?chainIds=8453,42161&limit=2&symbols=usdc&cursor="
	type page struct {
		Data   []fields `json:"data"`
		Cursor *int     `json:"cursor"`
	}
	want := example(t, "k_tok.json").(fields)
	first := mustAsk[fields](t, s, http.MethodGet, "/v1/tokens?chainIds=8453&chainIds=42161&limit=1&symbols=USDC", nil)
	want["data"] = want["data"].([]any)[:1]
	sandboxtest.SameShape(t, "tokens", first, want)
	if last := mustAsk[page](t, s, http.MethodGet, "/v1/tokens"+usdc+"0", nil); len(last.Data) != 2 || last.Cursor != nil {
		t.Errorf("%d tokens, cursor %v", len(last.Data), last.Cursor)
	}
	if beyond := mustAsk[page](t, s, http.MethodGet, "/v1/tokens"+usdc+"9", nil); len(beyond.Data) != 0 || beyond.Cursor != nil {
		t.Errorf("beyond the end: %+v", beyond)
	}
	if all := mustAsk[page](t, s, http.MethodGet, "/v1/tokens?chainId=8453&limit=2000", nil); len(all.Data) != 34 {
		t.Errorf("%d tokens with chainId, which is not a parameter", len(all.Data))
	}
	if found := mustAsk[page](t, s, http.MethodGet, "/v1/tokens/search?q=wrapped&chainIds=8453", nil); len(found.Data) != 1 || found.Data[0]["symbol"] != "WETH" {
		t.Errorf("found %+v", found.Data)
	}
	top := mustAsk[[]map[string]any](t, s, http.MethodGet, "/v1/tokens/top?chainIds=8453,1", nil)
	if len(top) != 10 || top[0]["chainId"] != top[4]["chainId"] || top[4]["chainId"] == top[5]["chainId"] {
		t.Errorf("%d at the top: %v", len(top), top)
	}
	set(t, s, func(c *intentsim.Settings) { c.FlatTokens = true })
	sandboxtest.SameShape(t, "flat", mustAsk[any](t, s, http.MethodGet, "/v1/tokens?chainIds=8453&symbols=USDC", nil), example(t, "k_tok_flat.json"))
}

// An errorCase is a request that the API refuses.
type errorCase struct {
	name   string
	method string
	path   string
	body   any
	status int
	code   string
	detail string // a substring of the body
}

func TestErrors(t *testing.T) {
	s := shared(t)
	usdc := token(t, s, 8453, "USDC")
	ask1 := func(more fields) fields {
		return quoteRequest(s, 8453, usdc, 42161, token(t, s, 42161, "USDC"), sandboxtest.Units(25, 6), more)
	}
	q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", ask1(nil))
	build := func(more fields) fields { return buildRequest(s, q.QuoteID, "Hyperstream", more) }
	me := s.Accounts()[0].Address.Hex()
	const quotes, builds, submits = "/v1/quotes", "/v1/deposit/build", "/v1/deposit/submit"
	const invalid, post = "ValidationException", http.MethodPost
	cases := []errorCase{
		{"no object", post, quotes, []byte(`[]`), 400, invalid, "expected object"},
		{"null", post, quotes, []byte(`null`), 400, invalid, "expected object"},
		{"empty", post, quotes, fields{}, 400, invalid, `"field":"fromAddress","message":"Invalid input: expected string, received undefined","code":"invalid_type"`},
		{"another trade type", post, quotes, ask1(fields{"tradeType": "EXACT"}), 400, invalid, `Invalid option: expected one of \"EXACT_INPUT\"|\"EXACT_OUTPUT\"`},
		{"address with a wrong checksum", post, quotes, ask1(fields{"fromToken": "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"}), 400, invalid, `"field":"fromToken","message":"Must be a valid EVM`},
		{"chain as text", post, quotes, ask1(fields{"fromChainId": "8453"}), 400, invalid, "expected number, received string"},
		{"half a chain", post, quotes, ask1(fields{"fromChainId": 1.5}), 400, invalid, "expected int"},
		{"chain zero", post, quotes, ask1(fields{"fromChainId": 0}), 400, invalid, "too_small"},
		{"amount zero", post, quotes, ask1(fields{"amount": "0"}), 400, invalid, `"field":"amount"`},
		{"amount as a number", post, quotes, ask1(fields{"amount": 5}), 400, invalid, "expected string"},
		{"amount beyond a word", post, quotes, ask1(fields{"amount": strings.Repeat("9", 78)}), 400, invalid, `"field":"amount"`},
		{"slippage in percent", post, quotes, ask1(fields{"slippageTolerance": 50}), 400, invalid, "too_big"},
		{"fee above all", post, quotes, ask1(fields{"referrerFeeBps": 10_000}), 400, invalid, "too_big"},
		{"another method", post, quotes, ask1(fields{"depositMethods": []string{"CASH"}}), 400, invalid, "CONTRACT_CALL"},
		{"no method", post, quotes, ask1(fields{"depositMethods": []string{}}), 400, invalid, "items"},
		{"unknown chain", post, quotes, ask1(fields{"toChainId": 137}), 404, "NotSupportedChainException", "137"},
		{"a chain that is not served", post, quotes, ask1(fields{"toChainId": 5330}), 404, "NotSupportedChainException", "5330"},
		{"unknown token", post, quotes, ask1(fields{"toToken": elsewhere.Hex()}), 404, "NotSupportedTokenException", elsewhere.Hex()},
		{"more than the solver has", post, quotes, ask1(fields{"amount": sandboxtest.Units(1, 15).String()}), 400, "CannotFillException", ""},
		{"the same, as a stream", post, quotes + "?mode=stream", ask1(fields{"amount": sandboxtest.Units(1, 15).String()}), 400, "CannotFillException", ""},

		{"build: no quote", post, builds, build(fields{"quoteId": "0"}), 404, "QuoteNotFoundException", `"details":{"quoteId":"0","routeId":"Hyperstream","code":2}`},
		{"build: no route", post, builds, build(fields{"routeId": "Nobody"}), 404, "QuoteNotFoundException", "Nobody"},
		{"build: from another", post, builds, build(fields{"from": elsewhere.Hex()}), 400, "UnexpectedFromAddressException", elsewhere.Hex()},
		{"build: by transfer", post, builds, build(fields{"depositMethod": "TRANSFER"}), 400, "NotSupportedDepositMethodException", "TRANSFER"},
		{"build: no such method", post, builds, build(fields{"depositMethod": "CASH"}), 400, invalid, "invalid_value"},

		{"submit: no quote", http.MethodPut, submits, submitRequest("0", "Hyperstream", common.Hash{1}), 404, "QuoteNotFoundException", ""},
		{"submit: no hash", http.MethodPut, submits, fields{"quoteId": q.QuoteID, "routeId": "Hyperstream", "txHash": "0x12"}, 400, invalid, `"field":"txHash"`},
		{"submit: for another kind of chain", http.MethodPut, submits, fields{"quoteId": q.QuoteID, "routeId": "Hyperstream", "signedTransaction": "AQ=="}, 400, invalid, `"field":"txHash"`},

		{"tokens: too many", http.MethodGet, "/v1/tokens?limit=2001", nil, 400, invalid, "Too big: expected number to be <=2000"},
		{"tokens: no number", http.MethodGet, "/v1/tokens?chainIds=base", nil, 400, invalid, "received NaN"},
		{"orders: too many", http.MethodGet, "/v1/orders/" + me + "?limit=21", nil, 400, invalid, "<=20"},
		{"orders: of nobody", http.MethodGet, "/v1/orders/me", nil, 400, invalid, `"field":"address"`},
		{"orders: a search beyond a hash", http.MethodGet, "/v1/orders/" + me + "?txHashSearch=" + strings.Repeat("0", 67), nil, 400, invalid, "txHashSearch"},
		{"no such order", http.MethodGet, "/v1/orders/by-id/c0", nil, 404, "", "404 Not Found"},
		{"no such path", http.MethodGet, "/v1/nothing", nil, 404, "", "404 Not Found"},
		{"no such method", http.MethodPost, submits, fields{}, 404, "", "404 Not Found"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, s) })
	}
}

func (tc errorCase) run(t *testing.T, s *sandbox.Sandbox) {
	status, raw := ask(t, s, tc.method, tc.path, tc.body)
	if status != tc.status || !strings.Contains(string(raw), tc.detail) {
		t.Errorf("got %d %s, want %d with %q", status, raw, tc.status, tc.detail)
	}
	var reply struct{ Name, Message string }
	if err := json.Unmarshal(raw, &reply); tc.code != "" && (err != nil || reply.Name != tc.code || reply.Message == "") {
		t.Errorf("got %s, want %s (%v)", raw, tc.code, err)
	}
}

func TestErrorsHaveTheRecordedShape(t *testing.T) {
	s := shared(t)
	bad := quoteRequest(s, 8453, native, 42161, native, sandboxtest.Units(1, 16), fields{"fromToken": "USDC"})
	lost := buildRequest(s, "0", "Hyperstream", nil)
	order := func(path, name string) {
		set(t, s, func(c *intentsim.Settings) { c.Errors = []intentsim.Error{{Path: path, Name: name, Times: 1}} })
	}
	q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", quoteRequest(s, 8453, native, 42161, native, sandboxtest.Units(1, 16), nil))
	mustAsk[any](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, "Across", common.Hash{1}))
	cases := []struct {
		file, method, path string
		body               any
		before             func()
		status             int
	}{
		{"k_e_val.json", http.MethodPost, "/v1/quotes", bad, nil, 400},
		{"k_e_nf.json", http.MethodPost, "/v1/deposit/build", lost, nil, 404},
		{"k_e_conf.json", http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, "Across", common.Hash{2}), nil, 400},
		{"k_e_dup.json", http.MethodPut, "/v1/deposit/submit", lost, func() { order("/v1/deposit/*", "DuplicateRecordException") }, 409},
		{"k_e_fill.json", http.MethodPost, "/v1/quotes", bad, func() { order("/v1/quotes", "CannotFillException") }, 400},
		{"k_e_500.json", http.MethodGet, "/v1/orders/by-id/x", nil, func() { order("/v1/orders/*", "InternalErrorException") }, 500},
	}
	for _, tc := range cases {
		if tc.before != nil {
			tc.before()
		}
		status, raw := ask(t, s, tc.method, tc.path, tc.body)
		if status != tc.status {
			t.Errorf("%s: %d", tc.file, status)
		}
		got, want := sandboxtest.Decode[any](t, raw), example(t, tc.file)
		sandboxtest.SameShape(t, tc.file, got, want)
		if got.(fields)["name"] != want.(fields)["name"] {
			t.Errorf("%s: %s", tc.file, raw)
		}
	}
}

func TestOrderedErrorsAndRate(t *testing.T) {
	s := shared(t)
	set(t, s, func(c *intentsim.Settings) {
		c.Errors = []intentsim.Error{{Path: "/v1/chains", Name: "QuoteExpiredException", Times: 2}}
	})
	for i, want := range []int{410, 410, 200} {
		if status, raw := ask(t, s, http.MethodGet, "/v1/chains", nil); status != want {
			t.Errorf("request %d: %d %s", i, status, raw)
		}
	}
	set(t, s, func(c *intentsim.Settings) { c.RateLimit = 2 })
	for i, want := range []int{200, 200, 429} {
		resp := request(t, s, http.MethodGet, "/v1/chains", nil)
		if resp.StatusCode != want || (resp.Header.Get("Retry-After") != "") != (want == 429) {
			t.Errorf("request %d: %d %v", i, resp.StatusCode, resp.Header)
		}
	}
	s.Reset()
	if status, _ := ask(t, s, http.MethodGet, "/v1/chains", nil); status != 200 {
		t.Errorf("after a reset: %d", status)
	}
}

func TestPrices(t *testing.T) {
	s := shared(t)
	usdc, dai := token(t, s, 8453, "USDC"), token(t, s, 1, "DAI")
	quote := func(amount *big.Int, more fields) quotesReply {
		return mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", quoteRequest(s, 8453, usdc, 1, dai, amount, more))
	}
	fee := fields{"referrer": receiver.Hex(), "referrerFeeBps": 40}
	for _, tc := range []struct {
		route    string
		more     fields
		out, min string
	}{
		{"Hyperstream", nil, "999000000000000000000", "994005000000000000000"},
		{"Hyperstream", fee, "995000000000000000000", "990025000000000000000"},
		{"Across", fee, "994600000000000000000", "989627000000000000000"},
		{"DeBridge", fields{"slippageTolerance": nil}, "996000000000000000000", "991020000000000000000"},
		{"DeBridge", fields{"slippageTolerance": 0, "fromToken": strings.ToLower(usdc.Hex()), "amount": "0x3b9aca00"}, "996000000000000000000", "996000000000000000000"},
	} {
		got := quote(sandboxtest.Units(1000, 6), tc.more).route(t, tc.route)
		if got.Quote.AmountOut != tc.out || got.Quote.MinAmountOut != tc.min || got.Quote.AmountIn != "1000000000" {
			t.Errorf("%s %v: %+v", tc.route, tc.more, got.Quote)
		}
	}
	for name, more := range map[string]fields{
		"exact output": {"tradeType": "EXACT_OUTPUT"}, "the same token": {"toChainId": 8453, "toToken": usdc.Hex()},
		"a chain that does not run": {"toChainId": 10, "toToken": native.Hex()}, "dust": {"toChainId": 8453, "toToken": native.Hex(), "amount": "1", "fromToken": token(t, s, 8453, "DAI").Hex(), "depositMethods": []string{"CONTRACT_CALL"}, "filler": "Across"},
	} {
		if q := quote(sandboxtest.Units(1, 6), more); len(q.Routes) != 0 || q.QuoteID == "" {
			t.Errorf("%s: %+v", name, q)
		}
	}
	if on := quote(sandboxtest.Units(5, 6), fields{"toChainId": 8453, "toToken": native.Hex()}); len(on.Routes) != 2 {
		t.Errorf("on one chain: %+v", on.Routes)
	}
	if all := quote(sandboxtest.Units(5, 6), fields{"depositMethods": nil}); len(all.Routes) != 4 || slices.Contains(all.Routes[3].DepositMethods, "CONTRACT_CALL") {
		t.Errorf("without methods: %+v", all.Routes)
	}
	if only := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes?routes=Across,DeBridge", quoteRequest(s, 8453, usdc, 1, dai, sandboxtest.Units(5, 6), nil)); len(only.Routes) != 2 {
		t.Errorf("of two fillers: %+v", only.Routes)
	}
}

func TestExpiry(t *testing.T) {
	s := start(t, 8453, 42161)
	set(t, s, func(c *intentsim.Settings) { c.QuoteSeconds, c.ValidSeconds = 20, 30 })
	body := quoteRequest(s, 8453, native, 42161, native, sandboxtest.Units(1, 16), nil)
	q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", body)
	now := time.Now().Unix()
	for route, price := range map[string]int64{"Hyperstream": 20, "DeBridge": 5} {
		r := q.route(t, route).Quote
		if left := r.QuoteExpiresAt - now; left < price-1 || left > price+5 {
			t.Errorf("%s: the price holds %d s", route, left)
		}
		if left := r.ValidBefore - now; left < 29 || left > 35 {
			t.Errorf("%s: valid for %d s", route, left)
		}
	}
	set(t, s, func(c *intentsim.Settings) { c.ClockSeconds = 60 })
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, "Across", nil)},
		{http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, "Across", common.Hash{1})},
	} {
		if status, raw := ask(t, s, r.method, r.path, r.body); status != 404 || !strings.Contains(string(raw), "QuoteNotFoundException") {
			t.Errorf("%s: %d %s", r.path, status, raw)
		}
	}
	skewed := request(t, s, http.MethodGet, "/v1/chains", nil)
	date, err := http.ParseTime(skewed.Header.Get("Date"))
	if ahead := time.Until(date); err != nil || ahead < 55*time.Second || ahead > 65*time.Second {
		t.Errorf("Date is %v ahead (%v)", ahead, err)
	}
}

func TestSubmitTwice(t *testing.T) {
	s := shared(t)
	p := pairs[0]
	id, q, deposit := swap(t, s, p.request(t, s), p.route)
	for range 2 {
		again := mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, deposit.TxHash))
		if again.OrderID != id || again.TxHash != deposit.TxHash.Hex() {
			t.Errorf("submitted again: %+v", again)
		}
	}
	awaitStatus(t, s, id, "filled")
	refused := []struct {
		what, method, path string
		body               any
		status             int
		part               string
	}{
		{"another hash", http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, common.Hash{1}), 400, `"errorCode":"DEPOSIT_TX_HASH_CONFLICT","orderId":"` + id + `"`},
		{"another route", http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, "Across", common.Hash{1}), 404, "QuoteNotFoundException"},
		{"the hash for another quote", http.MethodPut, "/v1/deposit/submit", submitRequest(mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", p.request(t, s)).QuoteID, p.route, deposit.TxHash), 409, "DuplicateRecordException"},
		{"a build of what was used", http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil), 404, "QuoteNotFoundException"},
	}
	for _, r := range refused {
		if status, raw := ask(t, s, r.method, r.path, r.body); status != r.status || !strings.Contains(string(raw), r.part) {
			t.Errorf("%s: %d %s", r.what, status, raw)
		}
	}
	if orders := s.Intent().Orders(); len(orders) != 1 {
		t.Errorf("%d orders", len(orders))
	}
}

// search finds the orders of account 0 by a transaction.
func search(t *testing.T, s *sandbox.Sandbox, tx common.Hash) []order {
	t.Helper()
	type list struct{ Data []order }
	return mustAsk[list](t, s, http.MethodGet, "/v1/orders/"+s.Accounts()[0].Address.Hex()+"?txHashSearch="+tx.Hex(), nil).Data
}

func TestFoundByTransaction(t *testing.T) {
	s := shared(t)
	p := pairs[0]
	id, _, deposit := swap(t, s, p.request(t, s), p.route)
	o := awaitStatus(t, s, id, "filled")
	for _, hash := range []common.Hash{deposit.TxHash, o.Transactions["fill"].TxHash} {
		if found := search(t, s, hash); len(found) != 1 || found[0].ID != id {
			t.Errorf("%s: %+v", hash, found)
		}
	}
	if found := search(t, s, common.Hash{1}); len(found) != 0 {
		t.Errorf("found %+v", found)
	}
}

// TestLostAndConflicting checks that a deposit with a lost quote or a conflicting hash
// gets its order once the provider reads the chain.
func TestLostAndConflicting(t *testing.T) {
	s := shared(t)
	p := pairs[0]
	for _, tc := range []struct {
		name   string
		set    func(*intentsim.Settings)
		status int
		orders int // before the provider reads the chain
	}{
		{"lost", func(c *intentsim.Settings) { c.LoseQuotes = 1 }, 404, 0},
		{"in conflict", func(c *intentsim.Settings) { c.Conflicts = 1 }, 400, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.Reset()
			set(t, s, func(c *intentsim.Settings) { c.PacePercent = 0; tc.set(c) })
			q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", p.request(t, s))
			plan := mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil))
			deposit := execute(t, s, p.from, plan)
			for range 2 {
				if status, raw := ask(t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, deposit.TxHash)); status != tc.status {
					t.Fatalf("submitting the deposit: status %d, %s; want status %d", status, raw, tc.status)
				}
			}
			if orders := s.Intent().Orders(); len(orders) != tc.orders || len(search(t, s, deposit.TxHash)) != 0 {
				t.Fatalf("orders %+v", orders)
			}
			set(t, s, func(c *intentsim.Settings) { c.Indexing = true })
			await.Until(t, 20*time.Second, "an order", func() bool { return len(over(t, s)) > 0 })
			if found := search(t, s, deposit.TxHash); len(found) != 1 || found[0].Status != "filled" {
				t.Errorf("found %+v", found)
			}
		})
	}
}

func TestLiesReachTheReply(t *testing.T) {
	s := shared(t)
	id, _, _ := swap(t, s, pairs[0].request(t, s), pairs[0].route)
	awaitStatus(t, s, id, "filled")
	lie := inject.Rule{Target: "/v1/orders/by-id/*", Kind: inject.Lie, Pointer: "/status", Value: json.RawMessage(`"created"`), Times: 1}
	if _, err := s.Intent().Faults.Add(lie); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"created", "filled"} {
		if o := mustAsk[order](t, s, http.MethodGet, "/v1/orders/by-id/"+id, nil); o.Status != want {
			t.Errorf("answer %d: %s", i, o.Status)
		}
	}
}
