package bridgesim_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
)

var (
	baseUSDC = leg{8453, "USDC"}
	arbUSDC  = leg{42161, "USDC"}
	baseETH  = leg{8453, ""}
	arbETH   = leg{42161, ""}
)

// TestQuoteIsTheRecordedOne checks that recorded requests get the recorded responses,
// except for values that vary.
func TestQuoteIsTheRecordedOne(t *testing.T) {
	s := start(t)
	status, raw := ask(t, s, http.MethodPost, "/quote/v2", example(t, "quoteA_req"))
	if status != http.StatusOK {
		t.Fatalf("the recorded quote request: status %d, %s", status, raw)
	}
	got, want := sandboxtest.Decode[any](t, raw), example(t, "quoteA_resp")
	sandboxtest.SameShape(t, "reply", got, want)
	moment := []string{"requestId", "orderId", "userBalance", "gas", "maxFeePerGas", "maxPriorityFeePerGas", "check", "data"}
	if got, want := without(got, moment...), without(want, moment...); !reflect.DeepEqual(got, want) {
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	status, raw = ask(t, s, http.MethodPost, "/price", example(t, "price_req"))
	if status != http.StatusOK {
		t.Fatalf("the recorded price request: status %d, %s", status, raw)
	}
	if got, want := without(sandboxtest.Decode[any](t, raw), "gas"), without(example(t, "price_resp"), "gas"); !reflect.DeepEqual(got, want) {
		t.Errorf("price: got\n%v\nwant\n%v", got, want)
	}
}

// TestDepositIsTheRecordedOne checks that a deposit's calldata holds the payer, currency,
// amount and order id, as published.
func TestDepositIsTheRecordedOne(t *testing.T) {
	s := start(t)
	reply := mustAsk[quoteReply](t, s, http.MethodPost, "/quote/v2", example(t, "quoteA_req"))
	want := example(t, "quoteA_resp").(fields)
	for i := range 2 {
		tx := want["steps"].([]any)[i].(fields)["items"].([]any)[0].(fields)["data"].(fields)
		data := common.FromHex(tx["data"].(string))
		if i == 1 {
			copy(data[len(data)-32:], reply.Protocol.V2.OrderID[:])
		}
		got := reply.transaction(t, i)
		if !slices.Equal(got.Data, data) || got.To != common.HexToAddress(tx["to"].(string)) || got.Value != tx["value"] {
			t.Errorf("step %d: %+v", i, got)
		}
	}
}

func TestRepliesHaveTheRecordedShape(t *testing.T) {
	s := start(t)
	get := func(path string) any {
		_, raw := ask(t, s, http.MethodGet, path, nil)
		return sandboxtest.Decode[any](t, raw)
	}
	post := func(path string, body any) any {
		_, raw := ask(t, s, http.MethodPost, path, body)
		return sandboxtest.Decode[any](t, raw)
	}
	t.Run("native deposit", func(t *testing.T) {
		got := post("/quote/v2", request(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)).(fields)
		sandboxtest.SameShape(t, "steps", without(got["steps"], "depositAddress"), example(t, "quoteB_steps").(fields)["steps"])
	})
	t.Run("an allowance that must be reset", func(t *testing.T) {
		set(t, s, func(o *bridgesim.Settings) { o.Router = "v3" })
		usdt := leg{1, "USDT"}
		q := quote(t, s, usdt, leg{1, ""}, sandboxtest.Units(200, 6), nil)
		execute(t, s, q.transaction(t, 0))
		got := post("/quote/v2", request(t, s, usdt, leg{1, ""}, sandboxtest.Units(201, 6), nil)).(fields)
		steps := without(got["steps"], "gas").([]any)
		want := example(t, "quoteC_steps").(fields)["steps"].([]any)
		if len(steps) != len(want) {
			t.Fatalf("%d steps, want %d: %v", len(steps), len(want), steps)
		}
		for i := range want {
			sandboxtest.SameShape(t, "step", steps[i], want[i])
		}
	})
	t.Run("chains", func(t *testing.T) {
		list := get("/chains").(fields)["chains"].([]any)
		want := example(t, "chains_resp").(fields)["chains"].([]any)[0].(fields)
		for _, e := range list {
			entry := e.(fields)
			if entry["id"] == 8453.0 {
				for _, list := range []string{"featuredTokens", "erc20Currencies"} {
					entry[list] = entry[list].([]any)[:len(want[list].([]any))]
				}
				sandboxtest.SameShape(t, "chain", entry, want)
				for _, same := range []string{"contracts", "currency", "protocol", "vmType", "name", "depositEnabled", "disabled"} {
					if !reflect.DeepEqual(entry[same], want[same]) {
						t.Errorf("%s: got %v, want %v", same, entry[same], want[same])
					}
				}
			}
			running := slices.Contains([]float64{1, 8453, 42161, 792703809}, entry["id"].(float64))
			if entry["disabled"] != !running {
				t.Errorf("chain %v: disabled %v", entry["id"], entry["disabled"])
			}
		}
		if len(list) != 10 {
			t.Errorf("%d chains", len(list))
		}
	})
	t.Run("currencies", func(t *testing.T) {
		if got, want := post("/currencies/v2", example(t, "cur_req")), example(t, "cur_resp"); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		group := post("/currencies/v1", example(t, "cur_req")).([]any)[0].([]any)
		sandboxtest.SameShape(t, "v1", []any{group[:1]}, example(t, "curv1_resp"))
		for path, file := range map[string]string{"": "tp_resp", "/v2": "tp2_resp"} {
			sandboxtest.SameShape(t, file, get("/currencies/token/price"+path+"?chainId=8453&address=0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"), example(t, file))
		}
	})
	t.Run("reports", func(t *testing.T) {
		if got, want := post("/transactions/index", example(t, "index_req")), example(t, "index_resp"); !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("a signature that is asked for", func(t *testing.T) {
		set(t, s, func(o *bridgesim.Settings) { o.ExtraStep = "signature" })
		steps := post("/quote/v2", request(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)).(fields)["steps"].([]any)
		sandboxtest.SameShape(t, "step", steps[1], example(t, "stepD"))
	})
}

func TestStatusesHaveTheRecordedShape(t *testing.T) {
	s := start(t)
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	at := func(version string) any {
		_, raw := ask(t, s, http.MethodGet, "/intents/status"+version+"?requestId="+q.RequestID.Hex(), nil)
		return sandboxtest.Decode[any](t, raw)
	}
	sandboxtest.SameShape(t, "waiting", at("/v3"), example(t, "st_waiting"))
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Never })
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "pending")
	sandboxtest.SameShape(t, "pending", at("/v3"), example(t, "st_pending"))
	sandboxtest.SameShape(t, "pending, v2", at("/v2"), example(t, "st_v2"))
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Fill })
	follow(t, s, q.RequestID, "success")
	sandboxtest.SameShape(t, "success", at("/v3"), example(t, "st_success"))
	sandboxtest.SameShape(t, "success, v1", at(""), example(t, "st_v1"))

	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Refund })
	q = quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "refund")
	sandboxtest.SameShape(t, "refund", at("/v3"), example(t, "st_refund"))

	for _, id := range []string{common.Hash{1}.Hex(), "nonsense"} {
		for _, version := range []string{"", "/v2", "/v3"} {
			if _, raw := ask(t, s, http.MethodGet, "/intents/status"+version+"?requestId="+id, nil); !reflect.DeepEqual(sandboxtest.Decode[any](t, raw), example(t, "st_unknown")) {
				t.Errorf("unknown: %s", raw)
			}
		}
	}
}

// An errorCase is a request that the API refuses. Like is a recorded body of the same
// shape.
type errorCase struct {
	name   string
	path   string
	body   any
	status int
	code   string // errorCode or the framework's code
	like   string
	header []string
}

func TestErrors(t *testing.T) {
	s := start(t)
	with := func(more fields) fields { return request(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), more) }
	fee := func(recipient any, bips string) fields {
		return with(fields{"appFees": []fields{{"recipient": recipient, "fee": bips}}})
	}
	me := s.Accounts()[0].Address
	const fastify, quotes, bad = "FST_ERR_VALIDATION", "/quote/v2", http.StatusBadRequest
	cases := []errorCase{
		{"no user", quotes, with(fields{"user": nil}), bad, fastify, "errFst", nil},
		{"no chain", quotes, with(fields{"originChainId": nil}), bad, fastify, "errFst", nil},
		{"chain as text", quotes, with(fields{"originChainId": "8453"}), bad, fastify, "errFst", nil},
		{"amount as number", quotes, with(fields{"amount": 5}), bad, fastify, "errFst", nil},
		{"amount in hex", quotes, with(fields{"amount": "0x10"}), bad, fastify, "errFst", nil},
		{"kind of trade", quotes, with(fields{"tradeType": "EXACT"}), bad, fastify, "errFst", nil},
		{"fee as number", quotes, with(fields{"appFees": []fields{{"recipient": me, "fee": 40}}}), bad, fastify, "errFst", nil},
		{"no object", quotes, []byte(`[]`), bad, fastify, "errFst", nil},
		{"no JSON", quotes, []byte(`{`), bad, fastify, "errFst", nil},
		{"form", quotes, with(nil), http.StatusUnsupportedMediaType, "FST_ERR_CTP_INVALID_MEDIA_TYPE", "errFst", []string{"Content-Type", "text/plain"}},
		{"no such path", "/quote/v3", with(nil), http.StatusNotFound, "FST_ERR_NOT_FOUND", "errFst", nil},
		{"slippage", quotes, with(fields{"slippageTolerance": "0.5"}), bad, "INVALID_SLIPPAGE_TOLERANCE", "err400", nil},
		{"slippage over all", quotes, with(fields{"slippageTolerance": "10001"}), bad, "INVALID_SLIPPAGE_TOLERANCE", "err400", nil},
		{"unknown chain", quotes, with(fields{"destinationChainId": 39}), bad, "UNSUPPORTED_CHAIN", "err400", nil},
		{"disabled chain", quotes, with(fields{"destinationChainId": 10}), bad, "CHAIN_DISABLED", "err400", nil},
		{"unknown token in", quotes, with(fields{"originCurrency": common.Address{19: 9}}), bad, "INVALID_INPUT_CURRENCY", "err400", nil},
		{"unknown token out", quotes, with(fields{"destinationCurrency": "0xeeee"}), bad, "INVALID_OUTPUT_CURRENCY", "err400", nil},
		{"token of the other chain", quotes, with(fields{"destinationCurrency": baseUSDC.address(t, s)}), bad, "INVALID_OUTPUT_CURRENCY", "err400", nil},
		{"user zero", quotes, with(fields{"user": native}), bad, "INVALID_ADDRESS", "err400", nil},
		{"bad checksum", quotes, with(fields{"recipient": "0xF39fd6e51aad88f6f4ce6ab8827279cffFb92266"}), bad, "INVALID_ADDRESS", "err400", nil},
		{"refund to a name", quotes, with(fields{"refundTo": "vitalik.eth"}), bad, "INVALID_ADDRESS", "err400", nil},
		{"recipient is a token", quotes, with(fields{"recipient": arbUSDC.address(t, s)}), bad, "INVALID_RECIPIENT", "err400", nil},
		{"under five cents", quotes, with(fields{"amount": "49999"}), bad, "AMOUNT_TOO_LOW", "err400low", nil},
		{"more than there is", quotes, with(fields{"amount": "900000000000000"}), bad, "INSUFFICIENT_LIQUIDITY", "err400", nil},
		{"more than a number", quotes, with(fields{"amount": "9" + string(slices.Repeat([]byte("9"), 80))}), bad, "AMOUNT_TOO_HIGH", "err400", nil},
		{"nothing to do", quotes, request(t, s, baseUSDC, baseUSDC, sandboxtest.Units(25, 6), nil), bad, "NO_SWAP_ROUTES_FOUND", "err400", nil},
		{"exact output", quotes, with(fields{"tradeType": "EXACT_OUTPUT"}), bad, "NO_QUOTES", "err400", nil},
		{"calls on the destination", quotes, with(fields{"txs": []fields{{"to": me}}}), bad, "EXTRA_TXS_NOT_SUPPORTED", "err400", nil},
		{"a permit", quotes, with(fields{"usePermit": true}), bad, "UNSUPPORTED_EXECUTION_TYPE", "err400", nil},
		{"a deposit without a call", quotes, with(fields{"explicitDeposit": false}), bad, "UNSUPPORTED_EXECUTION_TYPE", "err400", nil},
		{"fee to nobody", quotes, fee(native, "40"), bad, "INVALID_ADDRESS", "err400", nil},
		{"fee of all", quotes, fee(me, "10000"), bad, "INVALID_ADDRESS", "err400", nil},
		{"index without a hash", "/transactions/index", fields{"chainId": "8453"}, bad, fastify, "errFst", nil},
		{"index of no chain", "/transactions/index", fields{"chainId": "39", "txHash": common.Hash{1}}, bad, "", "err429", nil},
		{"single of an unknown request", "/transactions/single", example(t, "single_req"), http.StatusNotFound, "", "err429", nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			status, raw := ask(t, s, http.MethodPost, tc.path, tc.body, tc.header...)
			var reply struct{ ErrorCode, Code string }
			if err := json.Unmarshal(raw, &reply); err != nil {
				t.Fatalf("%v in %s", err, raw)
			}
			if status != tc.status || reply.ErrorCode+reply.Code != tc.code {
				t.Errorf("got %d %s, want %d %s", status, raw, tc.status, tc.code)
			}
			sandboxtest.SameShape(t, "error", sandboxtest.Decode[any](t, raw), example(t, tc.like))
		})
	}
	if status, raw := ask(t, s, http.MethodGet, "/intents/status/v3", nil); status != bad {
		t.Errorf("status of nothing: %d %s", status, raw)
	}
	if status, raw := ask(t, s, http.MethodGet, "/currencies/token/price?chainId=1&address=x", nil); status != bad || string(raw) != `{"error":"Invalid currency"}` {
		t.Errorf("price of nothing: %d %s", status, raw)
	}
}

func TestKeyAndRates(t *testing.T) {
	s := start(t)
	body := request(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
	set(t, s, func(o *bridgesim.Settings) { o.QuoteLimit, o.Limit = 2, 3 })
	order := []struct {
		name, method, path string
		body               any
		key                string
		status             int
		like               string
	}{
		{"no key", http.MethodPost, "/quote/v2", body, "", http.StatusUnauthorized, "err401"},
		{"another key", http.MethodPost, "/quote", body, "x", http.StatusUnauthorized, "err401"},
		{"first", http.MethodPost, "/quote/v2", body, testKey, http.StatusOK, ""},
		{"second", http.MethodPost, "/price", body, testKey, http.StatusOK, ""},
		{"third within the minute", http.MethodPost, "/quote/v2", body, testKey, http.StatusTooManyRequests, "err429"},
		{"chains need no key", http.MethodGet, "/chains", nil, "", http.StatusOK, ""},
		{"chains", http.MethodGet, "/chains", nil, "", http.StatusOK, ""},
		{"chains", http.MethodGet, "/chains", nil, "", http.StatusOK, ""},
		{"a fourth time", http.MethodGet, "/chains", nil, "", http.StatusTooManyRequests, "err429"},
	}
	for _, o := range order {
		status, raw := ask(t, s, o.method, o.path, o.body, "x-api-key", o.key)
		if status != o.status {
			t.Errorf("%s: got %d %s, want %d", o.name, status, raw, o.status)
		}
		if o.like != "" {
			sandboxtest.SameShape(t, o.name, sandboxtest.Decode[any](t, raw), example(t, o.like))
		}
	}
	s.Reset()
	if status, raw := ask(t, s, http.MethodPost, "/quote/v2", body); status != http.StatusOK {
		t.Errorf("after a reset: %d %s", status, raw)
	}
}

func TestLiesAndFaultsReachTheReply(t *testing.T) {
	s := start(t)
	if _, err := s.Faults("bridge").Add(inject.Rule{Target: "/quote/v2", Kind: inject.Lie, Pointer: "/details/currencyOut/minimumAmount", Value: json.RawMessage(`"1"`), Times: 1}); err != nil {
		t.Fatal(err)
	}
	if q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil); q.Details.CurrencyOut.MinimumAmount != "1" {
		t.Errorf("minimum %s", q.Details.CurrencyOut.MinimumAmount)
	}
	body := `{"message":"Service temporarily unavailable","errorCode":"SERVICE_UNAVAILABLE"}`
	if _, err := s.Faults("bridge").Add(inject.Rule{Target: "/quote*", Kind: inject.HTTP, Status: 503, Body: body, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if status, raw := ask(t, s, http.MethodPost, "/quote/v2", request(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)); status != 503 || string(raw) != body {
		t.Errorf("the quote: status %d, want 503 and the configured body: %s", status, raw)
	}
}

// TestLayoutsChangeFromRunToRun checks that the layout of a router is constant in a run
// and different in others.
func TestLayoutsChangeFromRunToRun(t *testing.T) {
	router := common.HexToAddress("0x0729e2a4716d9f7dd17858d5d504426d228697f7")
	first := bridgesim.LayoutOf(1, 8453, router)
	if again := bridgesim.LayoutOf(1, 8453, router); first != again {
		t.Errorf("%v, then %v", first, again)
	}
	seen := map[string]bool{first.String(): true}
	for i, other := range []bridgesim.Layout{
		bridgesim.LayoutOf(2, 8453, router), bridgesim.LayoutOf(1, 1, router), bridgesim.LayoutOf(1, 8453, common.Address{1}),
	} {
		if seen[other.String()] {
			t.Errorf("%d: %v twice", i, other)
		}
		seen[other.String()] = true
	}
	s := start(t)
	other := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: -1, Instant: true, BridgeKey: testKey})
	weth := leg{8453, "WETH"}
	one := quote(t, s, baseETH, weth, sandboxtest.Units(1, 17), nil).transaction(t, 0)
	two := quote(t, other, baseETH, weth, sandboxtest.Units(1, 17), nil).transaction(t, 0)
	if slices.Equal(one.Data[:4], two.Data[:4]) {
		t.Errorf("two sandboxes share the selector %x", one.Data[:4])
	}
	if execute(t, other, one).Status != 0 {
		t.Error("a router takes the calldata of another run")
	}
}

func TestBadSettings(t *testing.T) {
	s := start(t)
	bad := map[string]func(*bridgesim.Settings){
		"pace":    func(o *bridgesim.Settings) { o.PaceMS = -1 },
		"router":  func(o *bridgesim.Settings) { o.Router = "v9" },
		"outcome": func(o *bridgesim.Settings) { o.Outcome.Kind = "explode" },
		"next":    func(o *bridgesim.Settings) { o.Next = []bridgesim.Outcome{{}} },
		"short":   func(o *bridgesim.Settings) { o.Outcome.ShortBips = 10_001 },
		"delay":   func(o *bridgesim.Settings) { o.Outcome.DelayMS = -1 },
		"call":    func(o *bridgesim.Settings) { o.CallShortBips = -1 },
		"extra":   func(o *bridgesim.Settings) { o.ExtraStep = "dance" },
		"limit":   func(o *bridgesim.Settings) { o.Limit = -1 },
		"requests": func(o *bridgesim.Settings) {
			o.Requests = map[common.Hash]bridgesim.Outcome{{1}: {}}
		},
	}
	for name, change := range bad {
		settings := s.Bridge().Settings()
		change(&settings)
		if err := s.Bridge().Set(settings); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := s.Bridge().Settings().Outcome.Kind; got != bridgesim.Fill {
		t.Errorf("outcome %s", got)
	}
}

// TestAppFeeIsAShareOfTheInput checks that the app fee is the requested share of the input.
func TestAppFeeIsAShareOfTheInput(t *testing.T) {
	s := start(t)
	quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(1000, 6), fields{"appFees": []fields{{"recipient": s.Accounts()[3].Address, "fee": "40"}}})
	quote(t, s, baseUSDC, leg{8453, "DAI"}, sandboxtest.Units(6, 6), fields{"appFees": []fields{{"recipient": s.Accounts()[3].Address, "fee": "40"}}})
	orders := s.Bridge().Orders()
	if len(orders) != 2 || orders[0].AppFee.Cmp(sandboxtest.Units(4, 6)) != 0 || orders[1].AppFee.Cmp(new(big.Int)) != 0 {
		t.Errorf("orders are %+v, want app fees of 4 USDC and 0", orders)
	}
}
