package gaslesssim_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
)

// TestQuotes tests quote requests in one sandbox, as none of them affects the chain for
// the others.
func TestQuotes(t *testing.T) {
	w := start(t, 1)
	for _, tc := range []struct {
		name string
		test func(t *testing.T, w *world)
	}{
		{"errors", testQuoteErrors},
		{"every error code", testEveryErrorCode},
		{"key and rate", testKeyAndRate},
		{"one protocol alone", testOneProtocolAlone},
		{"settings are checked", testSettingsAreChecked},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, w.in(t)) })
		w.Reset()
	}
}

// TestRepliesHaveThePublishedShape checks that responses have the members and types of
// the provider's examples.
func TestRepliesHaveThePublishedShape(t *testing.T) {
	w := start(t, 1, 5330)
	for file, path := range map[string]string{
		"jam_quote.json": at("jam", 5330, "quote") + w.query(w.token(5330, "USDC"), w.token(5330, "WETH"), sandboxtest.Units(100, 6),
			fields{"slippage": "0.5", "fee": 40, "fee_recipient": partner.Hex(), "approval_type": "Standard", "gasless": "true", "source": "x", "skip_taker_checks": "true", "include_solvers": "s1", "sell_tokens_ratios": "1"}),
		"rfq_quote.json": at("pmm", 1, "quote") + w.query(w.token(1, "USDC"), w.token(1, "WETH"), sandboxtest.Units(1000, 6),
			fields{"fee": 40, "origin_address": partner.Hex(), "include_makers": "m1", "expiry_type": "standard", "buy_tokens_ratios": "1.0"}),
	} {
		want, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		_, got := w.call(http.MethodGet, path, nil)
		sandboxtest.SameShape(t, file, sandboxtest.Decode[any](t, got), sandboxtest.Decode[any](t, want))
	}
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	for protocol, spender := range map[string]common.Address{"jam": balanceManager, "pmm": rfqSettlement} {
		w.approve(1, usdc, spender, sandboxtest.Units(100, 6))
		q := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(100, 6), nil)
		_, posted := w.call(http.MethodPost, at(protocol, 1, "order"), w.order(q))
		order := fields{"status": "", "expiry": 1.0, "txHash": map[string]any{"jam": nil, "pmm": ""}[protocol]}
		sandboxtest.SameShape(t, protocol+" order", sandboxtest.Decode[any](t, posted), order)
		w.mine(1, 1)
		_, status := w.call(http.MethodGet, at(protocol, 1, "order-status")+"?quote_id="+q.QuoteID, nil)
		want := fields{"status": "", "txHash": "", "amounts": fields{weth.Hex(): ""}}
		if protocol == "jam" {
			want["surplus"] = nil
		}
		sandboxtest.SameShape(t, protocol+" status", sandboxtest.Decode[any](t, status), want)
	}
}

func TestListsOfTokensAndChains(t *testing.T) {
	w := start(t, 1, 5330)
	if chains := must[map[string]uint64](w, http.MethodGet, "/pmm/chains", nil); len(chains) != 1 || chains["ethereum"] != 1 {
		t.Errorf("chains are %v, want Ethereum alone", chains)
	}
	type list struct {
		Tokens []struct {
			ChainID    uint64 `json:"chainId"`
			Address    string
			Symbol     string
			Decimals   int
			Extensions struct{ Availability struct{ CanSell bool } }
		}
		Total int
	}
	for path, chain := range map[string]uint64{"/pmm/ethereum/v3/tokenlist": 1, "/tokens/v1/superseed/tokenlist": 5330} {
		l := must[list](w, http.MethodGet, path, nil)
		if l.Total != len(l.Tokens) || l.Total != len(w.Chain(chain).Network.Tokens)+1 {
			t.Errorf("%s: %+v", path, l)
		}
		for _, token := range l.Tokens {
			if token.ChainID != chain || common.HexToAddress(token.Address).Hex() != token.Address || !token.Extensions.Availability.CanSell {
				t.Errorf("%s: %+v", path, token)
			}
		}
	}
	info := must[struct {
		Tokens map[string]struct {
			Decimals        int
			ContractAddress common.Address
		}
	}](w, http.MethodGet, "/pmm/ethereum/v3/token-info", nil)
	if usdc := info.Tokens["USDC"]; usdc.Decimals != 6 || usdc.ContractAddress != w.token(1, "USDC") {
		t.Errorf("token-info is %+v, want USDC with 6 decimals", info)
	}
}

// TestShapeErrors tests malformed requests, which the web framework refuses.
func TestShapeErrors(t *testing.T) {
	w := start(t, 1, 5330)
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	ask := func(more fields) string {
		return at("jam", 1, "quote") + w.query(usdc, weth, sandboxtest.Units(1, 6), more)
	}
	rfqAsk := func(more fields) string {
		return at("pmm", 1, "quote") + w.query(usdc, weth, sandboxtest.Units(5, 6), more)
	}
	const get, post = http.MethodGet, http.MethodPost
	cases := []struct {
		name, method, path string
		body               any
		status             int
		detail             string
	}{
		{"no such path", get, "/jam/ethereum/v3/quote", nil, 404, `"Not Found"`},
		{"no such protocol", get, "/rfq/ethereum/v3/quote", nil, 404, `"Not Found"`},
		{"no such method", post, ask(nil), nil, 405, `"Method Not Allowed"`},
		{"a chain that is not served", get, "/jam/monad/v2/quote", nil, 422, `"loc":["path","chain"]`},
		{"a chain that does not run", get, "/jam/base/v2/quote", nil, 422, `"type":"enum"`},
		{"the protocol that 5330 lacks", get, "/pmm/superseed/v3/quote", nil, 422, `"loc":["path","chain"]`},
		{"no token", get, ask(fields{"sell_tokens": nil}), nil, 422, `"loc":["query","sell_tokens"],"msg":"Field required","type":"missing"`},
		{"a name misspelt", get, ask(fields{"fee_reciepient": "x"}), nil, 422, `extra_forbidden`},
		{"slippage of the firm protocol", get, rfqAsk(fields{"slippage": "0.5"}), nil, 422, `extra_forbidden`},
		{"a parameter twice", get, ask(nil) + "&fee=1&fee=2", nil, 422, `"loc":["query","fee"]`},
		{"approval type", get, ask(fields{"approval_type": "standard"}), nil, 422, `"type":"enum"`},
		{"gasless in capitals", get, ask(fields{"gasless": "True"}), nil, 422, `bool_parsing`},
		{"fee too high", get, ask(fields{"fee": 501}), nil, 422, `less_than_equal`},
		{"fee with decimals", get, ask(fields{"fee": "0.4"}), nil, 422, `decimal_parsing`},
		{"slippage too high", get, ask(fields{"slippage": "50.01"}), nil, 422, `less_than_equal`},
		{"slippage with three decimals", get, ask(fields{"slippage": "0.125"}), nil, 422, `decimal_parsing`},
		{"ratio", get, ask(fields{"buy_tokens_ratios": "40"}), nil, 422, `value_error`},
		{"no body", post, at("jam", 1, "order"), nil, 422, `"loc":["body"]`},
		{"an empty order", post, at("jam", 1, "order"), fields{}, 422, `{"loc":["body","quote_id"],"msg":"Field required","type":"missing"},{"loc":["body","signature"]`},
		{"malformed signature", post, at("jam", 1, "order"), fields{"quote_id": "x", "signature": 5}, 422, `"loc":["body","signature"]`},
		{"an unknown member", post, at("jam", 1, "order"), fields{"quote_id": "x", "signature": "0x00", "quoteId": "x"}, 422, `extra_forbidden`},
		{"no quote id", get, at("jam", 1, "order-status"), nil, 422, `"loc":["query","quote_id"]`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			status, raw := w.call(tc.method, tc.path, tc.body)
			if status != tc.status || !strings.HasPrefix(string(raw), `{"detail":`) || !strings.Contains(string(raw), tc.detail) {
				t.Errorf("got %d %s, want %d with %s", status, raw, tc.status, tc.detail)
			}
		})
	}
}

// testQuoteErrors tests the errors that the simulator itself detects in quotes.
func testQuoteErrors(t *testing.T, w *world) {
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	unknown := common.HexToAddress("0x0000000000000000000000000000000000000009")
	expensiveGas := func(s *gaslesssim.Settings) { s.JAM.GasMicroUSD, s.RFQ.GasMicroUSD = 10_000_000, 10_000_000 }
	cases := []struct {
		name      string
		sell, buy common.Address
		amount    *big.Int
		more      fields
		settings  func(*gaslesssim.Settings)
		jam, rfq  int // 0 = a quote
	}{
		{"not checksummed", usdc, weth, sandboxtest.Units(5, 6), fields{"taker_address": strings.ToLower(w.user.Address.Hex())}, nil, 101, 101},
		{"no address", usdc, weth, sandboxtest.Units(5, 6), fields{"buy_tokens": "WETH"}, nil, 101, 101},
		{"several tokens", usdc, weth, sandboxtest.Units(5, 6), fields{"buy_tokens": weth.Hex() + "," + usdc.Hex()}, nil, 101, 101},
		{"both amounts", usdc, weth, sandboxtest.Units(5, 6), fields{"buy_amounts": 1}, nil, 101, 101},
		{"no amount", usdc, weth, sandboxtest.Units(5, 6), fields{"sell_amounts": nil}, nil, 101, 101},
		{"amount zero", usdc, weth, sandboxtest.Units(0, 6), nil, nil, 101, 101},
		{"amount in hex", usdc, weth, sandboxtest.Units(5, 6), fields{"sell_amounts": "0x10"}, nil, 101, 101},
		{"the same token", usdc, usdc, sandboxtest.Units(5, 6), nil, nil, 101, 101},
		{"the native coin sold", native, usdc, sandboxtest.Units(1, 18), nil, nil, 101, 101},
		{"the native coin sold by the taker", native, usdc, sandboxtest.Units(1, 18), fields{"gasless": "false"}, nil, 101, 101},
		{"a permit without gasless", usdc, weth, sandboxtest.Units(5, 6), fields{"approval_type": "Permit2", "gasless": "false"}, nil, 101, 101},
		{"an EIP-2612 permit", usdc, weth, sandboxtest.Units(5, 6), fields{"approval_type": "Permit"}, nil, 101, 107},
		{"self-executed", usdc, weth, sandboxtest.Units(5, 6), fields{"gasless": "false"}, nil, 101, 0},
		{"fee without recipient", usdc, weth, sandboxtest.Units(5, 6), fields{"fee": 40}, nil, 101, 0},
		{"more than there is", usdc, weth, sandboxtest.Units(900_000_000, 6), nil, nil, 108, 102},
		{"a small amount", usdc, weth, sandboxtest.Units(9, 5), nil, nil, 0, 104},
		{"an unknown token", usdc, unknown, sandboxtest.Units(5, 6), nil, nil, 108, 105},
		{"gas dearer than the amount", usdc, weth, sandboxtest.Units(5, 6), nil, expensiveGas, 106, 106},
		{"no balance", usdc, weth, sandboxtest.Units(200_000, 6), fields{"skip_validation": nil}, nil, 204, 204},
		{"no approval", usdc, weth, sandboxtest.Units(5, 6), fields{"skip_validation": "false"}, nil, 205, 205},
		{"a price only", usdc, weth, sandboxtest.Units(5, 6), fields{"skip_validation": nil, "taker_address": "0x0000000000000000000000000000000000000001"}, nil, 0, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := w.in(t)
			if tc.settings != nil {
				w.set(tc.settings)
				defer w.Gasless().Reset()
			}
			for protocol, want := range map[string]int{"jam": tc.jam, "pmm": tc.rfq} {
				status, raw := w.call(http.MethodGet, at(protocol, 1, "quote")+w.query(tc.sell, tc.buy, tc.amount, tc.more), nil)
				if status != http.StatusOK || apiError(raw) != want {
					t.Errorf("%s: got %d %s, want %d", protocol, status, raw, want)
				}
			}
		})
	}
}

// testEveryErrorCode checks that settings can produce every error of the provider's
// lists, for quotes and for orders.
func testEveryErrorCode(t *testing.T, w *world) {
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	w.approve(1, usdc, rfqSettlement, sandboxtest.Units(5, 6))
	w.approve(1, usdc, balanceManager, sandboxtest.Units(5, 6))
	names := map[int]string{
		101: "InvalidApiRequest", 102: "InsufficientLiquidity", 103: "GasCalculationError", 104: "MinSize", 105: "TokenNotSupported",
		106: "GasExceedsSize", 107: "UnexpectedPermitsError", 108: "RouteNotFound", 111: "RateLimited", 112: "DenyListed",
		201: "OrderInvalidContract", 202: "LastLook", 203: "OrderExpired", 204: "InsufficientTakerBalance", 205: "InsufficientTakerApproval",
		206: "InsufficientMakerBalance", 207: "InsufficientMakerApproval", 208: "TransactionExecutionError", 210: "InvalidQuoteId",
		211: "InvalidPermitsInfo", 212: "InvalidOrderInput", 500: "UnknownError", 522: "TimedOut",
	}
	for protocol, tune := range map[string]func(*gaslesssim.Settings) *gaslesssim.Behaviour{
		"jam": func(s *gaslesssim.Settings) *gaslesssim.Behaviour { return &s.JAM },
		"pmm": func(s *gaslesssim.Settings) *gaslesssim.Behaviour { return &s.RFQ },
	} {
		q := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(5, 6), nil)
		for code, name := range names {
			w.set(func(s *gaslesssim.Settings) { tune(s).NoQuote, tune(s).Refuse = code, code })
			quoteStatus, quoted := w.call(http.MethodGet, at(protocol, 1, "quote")+w.query(usdc, weth, sandboxtest.Units(5, 6), nil), nil)
			orderStatus, posted := w.call(http.MethodPost, at(protocol, 1, "order"), w.order(q))
			for _, raw := range [][]byte{quoted, posted} {
				var reply struct {
					Error struct {
						ErrorCode int
						Message   string
						RequestID string `json:"requestId"`
					}
				}
				if err := json.Unmarshal(raw, &reply); err != nil || reply.Error.ErrorCode != code ||
					!strings.HasPrefix(reply.Error.Message, name+": ") || reply.Error.RequestID == "" {
					t.Errorf("%s %d: %s", protocol, code, raw)
				}
			}
			if quoteStatus != 200 || orderStatus != 200 {
				t.Errorf("%s %d: %d, %d", protocol, code, quoteStatus, orderStatus)
			}
		}
		w.Gasless().Reset()
	}
}

// TestOrderErrors tests the errors that the simulator itself detects in orders.
func TestOrderErrors(t *testing.T) {
	w := start(t, 1)
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	signedBy := func(i int) func(*world, quote, fields) {
		return func(w *world, q quote, body fields) {
			q.user = w.Accounts()[i]
			body["signature"] = w.signature(q)
		}
	}
	put := func(name string, value any) func(*world, quote, fields) {
		return func(_ *world, _ quote, body fields) { body[name] = value }
	}
	maker := w.Services()["rfqMaker"]
	cases := []struct {
		name     string
		more     fields
		spoil    func(w *world, q quote, body fields)
		jam, rfq int
	}{
		{"order of another quote", nil, put("quote_id", "121-1"), 210, 210},
		{"signed by somebody else", nil, signedBy(1), 208, 201},
		{"a short signature", nil, put("signature", "0x1234"), 208, 201},
		{"a signature with v 0", nil, func(_ *world, _ quote, body fields) {
			s := body["signature"].(string)
			body["signature"] = s[:len(s)-2] + "00"
		}, 208, 201},
		{"another scheme", nil, put("sign_scheme", "EIP1271"), 212, 212},
		{"a permit not asked for", nil, put("permit", fields{"signature": "0x00", "approvals_deadline": 1}), 211, 211},
		{"more than the balance", fields{"sell_amounts": sandboxtest.Units(150_000, 6)}, func(*world, quote, fields) {}, 204, 204},
		{"more than approved", fields{"sell_amounts": sandboxtest.Units(6000, 6)}, func(*world, quote, fields) {}, 205, 205},
		{"a required permit is missing", fields{"approval_type": "Permit2"}, func(_ *world, _ quote, body fields) { delete(body, "permit2") }, 0, 211},
		{"a permit for another token", fields{"approval_type": "Permit2"}, put("permit2", fields{"signature": "0x00", "approvals_deadline": 1, "token_addresses": []string{weth.Hex()}, "token_nonces": []int{0}}), 211, 211},
		{"a permit badly signed", fields{"approval_type": "Permit2"}, func(w *world, q quote, body fields) {
			if p, ok := body["permit2"].(fields); ok {
				p["approvals_deadline"] = q.Expiry + 7200
			}
		}, 0, 211},
		{"expired", nil, func(w *world, _ quote, _ fields) {
			if err := w.Chain(1).Shift(3600e9); err != nil {
				w.Fatal(err)
			}
		}, 203, 203},
		{"a maker who gives no allowance", nil, func(w *world, _ quote, _ fields) {
			w.send(1, maker, weth, sandboxtest.Calldata(w.T, "approve(address,uint256)", rfqSettlement, new(big.Int)))
		}, 0, 207},
		{"a maker who spent it all", nil, func(w *world, _ quote, _ fields) {
			w.send(1, maker, weth, sandboxtest.Calldata(w.T, "transfer(address,uint256)", w.user.Address, w.balance(1, maker.Address, weth)))
		}, 0, 206},
	}
	approveAll := func() {
		for _, spender := range []common.Address{balanceManager, rfqSettlement, permit2} {
			w.approve(1, usdc, spender, sandboxtest.Units(5500, 6))
		}
	}
	approveAll()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := w.in(t)
			for _, p := range []struct {
				protocol string
				want     int
			}{{"jam", tc.jam}, {"pmm", tc.rfq}} {
				if p.want == 0 {
					continue
				}
				q := w.quote(p.protocol, 1, usdc, weth, sandboxtest.Units(50, 6), tc.more)
				body := w.order(q)
				tc.spoil(w, q, body)
				if code := w.refused(q, body); code != p.want {
					t.Errorf("%s: got %d, want %d", p.protocol, code, p.want)
				}
				if _, raw := w.call(http.MethodGet, at(p.protocol, 1, "order-status")+"?quote_id="+q.QuoteID, nil); apiError(raw) != 210 {
					t.Errorf("%s: an order refused has the status %s", p.protocol, raw)
				}
			}
		})
	}
}

// TestOneOrderForAQuote checks that concurrent orders for a quote are accepted once, and
// on no other chain or protocol.
func TestOneOrderForAQuote(t *testing.T) {
	w := start(t, 1, 10)
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	w.approve(1, usdc, balanceManager, sandboxtest.Units(100, 6))
	q := w.quote("jam", 1, usdc, weth, sandboxtest.Units(100, 6), nil)
	body := w.order(q)
	for _, path := range []string{at("jam", 10, "order"), at("pmm", 1, "order")} {
		if _, raw := w.call(http.MethodPost, path, body); apiError(raw) != 210 {
			t.Errorf("%s: %s", path, raw)
		}
	}
	var all sync.WaitGroup
	got := make([]int, 8)
	for i := range got {
		all.Go(func() {
			_, raw := w.call(http.MethodPost, at("jam", 1, "order"), body)
			got[i] = apiError(raw)
		})
	}
	all.Wait()
	taken := 0
	for _, code := range got {
		if code == 0 {
			taken++
		} else if code != 210 {
			t.Errorf("error %d", code)
		}
	}
	if taken != 1 {
		t.Errorf("taken %d times: %v", taken, got)
	}
	orders, err := w.Gasless().Orders(t.Context())
	if err != nil || len(orders) != 1 || orders[0].QuoteID != q.QuoteID || orders[0].Protocol != "jam" || orders[0].Chain != 1 {
		t.Errorf("Orders = %+v, %v; want one jam order on chain 1", orders, err)
	}
}

// testKeyAndRate checks that a key improves prices, that a wrong one is refused and that
// a key has its own rate limit.
func testKeyAndRate(t *testing.T, w *world) {
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	path := at("jam", 1, "quote") + w.query(usdc, weth, sandboxtest.Units(100, 6), nil)
	w.set(func(s *gaslesssim.Settings) { s.APIKey = "a-key" })
	demo, _ := must[quote](w, http.MethodGet, path, nil).buy()
	full, _ := must[quote](w, http.MethodGet, path, nil, "source-auth", "a-key").buy()
	if demo.Cmp(full) >= 0 {
		t.Errorf("without a key %s, with it %s", demo, full)
	}
	if status, raw := w.call(http.MethodGet, path, nil, "source-auth", "x"); status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d %s", status, raw)
	}
	w.set(func(s *gaslesssim.Settings) { s.RateLimit = 2 })
	codes := []int{}
	for range 3 {
		_, raw := w.call(http.MethodGet, path, nil, "source-auth", "a-key")
		codes = append(codes, apiError(raw))
	}
	if codes[0] != 0 || codes[1] != 0 || codes[2] != 111 {
		t.Errorf("error codes are %v, want 0, 0 and 111", codes)
	}
}

// testOneProtocolAlone checks that settings and faults affect one protocol without the
// other.
func testOneProtocolAlone(t *testing.T, w *world) {
	usdc, weth := w.token(1, "USDC"), w.token(1, "WETH")
	net := func(protocol string) *big.Int {
		amount, _ := w.quote(protocol, 1, usdc, weth, sandboxtest.Units(1000, 6), nil).buy()
		return amount
	}
	if net("pmm").Cmp(net("jam")) <= 0 {
		t.Error("RFQ is not the better one")
	}
	w.set(func(s *gaslesssim.Settings) { s.JAM.PriceBps = 100 })
	if net("pmm").Cmp(net("jam")) >= 0 {
		t.Error("JAM is not the better one")
	}
	w.set(func(s *gaslesssim.Settings) { s.RFQ.Down, s.JAM.PriceBps = true, 0 })
	query := w.query(usdc, weth, sandboxtest.Units(1000, 6), nil)
	if status, _ := w.call(http.MethodGet, at("pmm", 1, "quote")+query, nil); status != http.StatusServiceUnavailable {
		t.Errorf("down: %d", status)
	}
	net("jam")
	w.Reset()
	if _, err := w.Faults("gasless").Add(inject.Rule{Target: "jam/quote", Kind: inject.HTTP, Status: 502}); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.call(http.MethodGet, at("jam", 1, "quote")+query, nil); status != http.StatusBadGateway {
		t.Errorf("a fault for all chains: %d", status)
	}
	net("pmm")
	counts := w.Faults("gasless").Counts()
	if counts["jam/quote"] != 1 || counts[at("jam", 1, "quote")] != 1 || counts["rfq/quote"] != 1 {
		t.Errorf("counts are %v, want one of each quote", counts)
	}
}

func testSettingsAreChecked(t *testing.T, w *world) {
	for name, change := range map[string]func(*gaslesssim.Settings){
		"an outcome":                     func(s *gaslesssim.Settings) { s.JAM.Outcome = "explode" },
		"a lie":                          func(s *gaslesssim.Settings) { s.RFQ.Status = "x" },
		"a code":                         func(s *gaslesssim.Settings) { s.JAM.Refuse = 209 },
		"a price":                        func(s *gaslesssim.Settings) { s.RFQ.PriceBps = -10_000 },
		"router of JAM":                  func(s *gaslesssim.Settings) { s.JAM.Router = true },
		"quotes with a lifetime of zero": func(s *gaslesssim.Settings) { s.JAM.ValiditySeconds = 0 },
		"a rate":                         func(s *gaslesssim.Settings) { s.RateLimit = -1 },
		"a fee of RFQ's":                 func(s *gaslesssim.Settings) { s.RFQ.ProtocolFeeBps = 5 },
	} {
		settings := gaslesssim.DefaultSettings
		change(&settings)
		if err := w.Gasless().Set(settings); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
