package dexsim_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

// orderEntry is an order as GET /orders shows it.
type orderEntry struct {
	Type        string         `json:"type"`
	OrderStatus string         `json:"orderStatus"`
	OrderID     common.Hash    `json:"orderId"`
	Encoded     hexutil.Bytes  `json:"encodedOrder"`
	Cosignature hexutil.Bytes  `json:"cosignature"`
	TxHash      common.Hash    `json:"txHash"`
	Cosigner    map[string]any `json:"cosignerData"`
	Settled     []struct {
		TokenOut, TokenIn   common.Address
		AmountOut, AmountIn string
	} `json:"settledAmounts"`
}

// auctions returns the protocols of a wallet that also accepts auctions.
func auctions(chain uint64) fields {
	if chain == 1 {
		return fields{"protocols": []string{"V2", "V3", "UNISWAPX_V2"}}
	}
	return fields{"protocols": []string{"V3", "UNISWAPX_V3"}}
}

func merge(all ...fields) fields {
	merged := fields{}
	for _, some := range all {
		for name, value := range some {
			merged[name] = value
		}
	}
	return merged
}

// An auction is a quote for an order of account 0.
type auction struct {
	t       *testing.T
	s       *sandbox.Sandbox
	c       *sandbox.Chain
	in, out common.Address
	quote   quoteReply
	id      common.Hash
}

// quoted requests an auction and approves Permit2 for the token sold.
func quoted(t *testing.T, s *sandbox.Sandbox, chain uint64, in, out string, amount *big.Int, more fields) *auction {
	t.Helper()
	a := &auction{t: t, s: s, c: s.Chain(chain)}
	if a.in = sandboxtest.Token(t, a.c, in); out != "" {
		a.out = sandboxtest.Token(t, a.c, out)
	}
	mustExecute(t, s, transaction{To: a.in, From: s.Accounts()[0].Address, ChainID: chain, Gas: "100000", Value: "0x00",
		Data: sandboxtest.Calldata(t, "approve(address,uint256)", a.c.Network.Contracts.Permit2, new(big.Int).Mul(amount, big.NewInt(2)))})
	a.quote = quote(t, s, chain, a.in, a.out, amount, merge(auctions(chain), more))
	var q struct{ OrderID common.Hash }
	if err := json.Unmarshal(a.quote.Quote, &q); err != nil {
		t.Fatal(err)
	}
	a.id = q.OrderID
	return a
}

// body returns the request that posts the order.
func (a *auction) body() fields {
	return fields{"signature": sign(a.t, a.s.Accounts()[0], a.quote.Permit), "quote": a.quote.Quote, "routing": a.quote.Routing}
}

func (a *auction) post() (int, []byte) {
	a.t.Helper()
	return ask(a.t, a.s, http.MethodPost, "/order", a.body())
}

func (a *auction) mustPost() {
	a.t.Helper()
	if status, raw := a.post(); status != http.StatusCreated {
		a.t.Fatalf("POST /order: %d %s", status, raw)
	}
}

// orders returns the entries of GET /orders for the order.
func (a *auction) orders() []orderEntry {
	a.t.Helper()
	reply, _ := mustAsk[struct{ Orders []orderEntry }](a.t, a.s, http.MethodGet, "/orders?orderId="+a.id.Hex(), nil)
	return reply.Orders
}

func (a *auction) entry() orderEntry {
	a.t.Helper()
	list := a.orders()
	if len(list) != 1 || list[0].OrderID != a.id {
		a.t.Fatalf("GET /orders: %+v", list)
	}
	return list[0]
}

// wait waits for work that the filler does in the background.
func (a *auction) wait(what string, done func() bool) {
	a.t.Helper()
	if !await.Holds(20*time.Second, done) {
		orders, _ := a.s.DEX().Orders(a.t.Context())
		a.t.Fatalf("never: %s; %+v", what, orders)
	}
}

// sent waits until the filler's transaction is pending.
func (a *auction) sent() {
	a.t.Helper()
	a.wait("a fill is sent", func() bool {
		var pool struct{ Pending hexutil.Uint }
		err := a.c.Client().Client().CallContext(a.t.Context(), &pool, "txpool_status")
		return err == nil && pool.Pending > 0
	})
}

func (a *auction) mine(blocks int) {
	a.t.Helper()
	if err := a.c.Mine(blocks); err != nil {
		a.t.Fatal(err)
	}
}

func (a *auction) shift(d time.Duration) {
	a.t.Helper()
	if err := a.c.Shift(d); err != nil {
		a.t.Fatal(err)
	}
}

func set(t *testing.T, s *sandbox.Sandbox, change func(*dexsim.Settings)) {
	t.Helper()
	settings := s.DEX().Settings()
	change(&settings)
	if err := s.DEX().Set(settings); err != nil {
		t.Fatal(err)
	}
}

func become(t *testing.T, s *sandbox.Sandbox, o dexsim.Outcome) {
	t.Helper()
	set(t, s, func(settings *dexsim.Settings) { settings.Outcome = o })
}

// balances returns the balances of all recipients of the quote.
func (a *auction) balances() []*big.Int {
	var all []*big.Int
	for _, o := range a.quote.outputs {
		all = append(all, sandboxtest.Balance(a.t, a.c, o.Recipient, a.out))
	}
	return all
}

func TestAuctionRepliesHaveTheRecordedShape(t *testing.T) {
	s := manual(t, 1, 8453)
	body := func(file, part string) any { return example(t, file, part, "body") }
	for _, file := range []string{"04_quote_dutch_v2.json", "05_quote_dutch_v3.json"} {
		t.Run(file, func(t *testing.T) {
			_, raw := mustAsk[fields](t, s, http.MethodPost, "/quote", body(file, "request"))
			sandboxtest.SameShape(t, "reply", sandboxtest.Decode[any](t, raw), body(file, "response"))
		})
	}
	a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), fields{"integratorFees": []fields{{"bips": 40, "recipient": receiver}}})
	status, raw := a.post()
	if status != http.StatusCreated {
		t.Fatalf("posting the order: status %d, want 201: %s", status, raw)
	}
	sandboxtest.SameShape(t, "order", sandboxtest.Decode[any](t, raw), body("06_order.json", "response"))
	_, raw = mustAsk[fields](t, s, http.MethodGet, "/orders?orderId="+a.id.Hex(), nil)
	sandboxtest.SameShape(t, "open", sandboxtest.Decode[any](t, raw), body("07_orders.json", "response_open"))
	a.sent()
	a.mine(1)
	_, raw = mustAsk[fields](t, s, http.MethodGet, "/orders?orderId="+a.id.Hex(), nil)
	sandboxtest.SameShape(t, "filled", sandboxtest.Decode[any](t, raw), body("07_orders.json", "response_filled"))
}

// TestOrdersSettle checks that the reactors pay every recipient the quoted amount from
// the filler's balance while the price has not decayed.
func TestOrdersSettle(t *testing.T) {
	s := manual(t, 1, 8453, 42161)
	set(t, s, func(settings *dexsim.Settings) {
		settings.MakerFeeBips, settings.MakerRecipient = 20, s.Accounts()[2].Address
	})
	fee := fields{"integratorFees": []fields{{"bips": 20, "recipient": receiver}}}
	for _, tc := range []struct {
		name    string
		chain   uint64
		in, out string
		amount  *big.Int
		more    fields
		routing string
	}{
		{"V2", 1, "USDC", "WETH", sandboxtest.Units(1000, 6), fee, "DUTCH_V2"},
		{"V2 of a token without return values", 1, "USDT", "DAI", sandboxtest.Units(1000, 6), fee, "DUTCH_V2"},
		{"V3", 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), fee, "DUTCH_V3"},
		{"V3 into the native coin", 8453, "DAI", "", sandboxtest.Units(1000, 18), fee, "DUTCH_V3"},
		{"V3 where blocks are the system contract's", 42161, "WETH", "USDC", sandboxtest.Units(1, 18), nil, "DUTCH_V3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := quoted(t, s, tc.chain, tc.in, tc.out, tc.amount, tc.more)
			if a.quote.Routing != tc.routing {
				t.Fatalf("routing %s", a.quote.Routing)
			}
			filler := s.Services()["auctionFiller"].Address
			before, sold := a.balances(), sandboxtest.Balance(t, a.c, filler, a.in)
			a.mustPost()
			a.sent()
			a.mine(1)
			e := a.entry()
			if e.OrderStatus != "filled" || e.Settled[0].AmountOut != a.quote.outputs[0].Amount || e.Settled[0].AmountIn != tc.amount.String() {
				t.Fatalf("the order is %+v, want it filled as quoted", e)
			}
			for i, o := range a.quote.outputs {
				if gained := new(big.Int).Sub(a.balances()[i], before[i]); gained.String() != o.Amount {
					t.Errorf("%s got %s, the quote said %s", o.Recipient, gained, o.Amount)
				}
			}
			if got := new(big.Int).Sub(sandboxtest.Balance(t, a.c, filler, a.in), sold); got.Cmp(tc.amount) != 0 {
				t.Errorf("the filler got %s, want %s", got, tc.amount)
			}
		})
	}
}

// TestPricesFall checks that an order filled later pays less, exactly the reported amount
// and no less than its minimum.
func TestPricesFall(t *testing.T) {
	s := manual(t, 1, 8453)
	for _, chain := range []uint64{1, 8453} {
		if err := s.Chain(chain).Mine(16); err != nil { // else a curve that starts at the first block has not ended yet
			t.Fatal(err)
		}
		for name, outcome := range map[string]dexsim.Outcome{"half way": {Blocks: 4}, "late": {Fill: "late"}, "fallen already": {Cosign: "early"}} {
			t.Run(fmt.Sprint(chain, " ", name), func(t *testing.T) {
				become(t, s, outcome)
				a := quoted(t, s, chain, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
				var q struct {
					OrderInfo struct{ Deadline int64 }
					Outputs   []struct{ MinAmount string } `json:"aggregatedOutputs"`
				}
				if err := json.Unmarshal(a.quote.Quote, &q); err != nil {
					t.Fatal(err)
				}
				before := a.balances()[0]
				a.mustPost()
				switch name {
				case "half way":
					if chain == 1 {
						a.shift(50 * time.Second)
					}
					a.mine(4)
				case "late":
					a.mine(8)
					a.shift(time.Duration(q.OrderInfo.Deadline-4-int64(a.c.Head().Time)) * time.Second)
				}
				a.sent()
				a.mine(1)
				e := a.entry()
				if e.OrderStatus != "filled" {
					t.Fatalf("the order is %+v, want it filled", e)
				}
				gained := new(big.Int).Sub(a.balances()[0], before)
				start, _ := new(big.Int).SetString(a.quote.outputs[0].Amount, 10)
				minimum, _ := new(big.Int).SetString(q.Outputs[0].MinAmount, 10)
				if gained.String() != e.Settled[0].AmountOut || gained.Cmp(start) >= 0 || gained.Cmp(minimum) < 0 {
					t.Errorf("got %s, settled %s, of %s to %s", gained, e.Settled[0].AmountOut, start, minimum)
				}
				if atMinimum := gained.Cmp(minimum) == 0; atMinimum != (name != "half way") {
					t.Errorf("got %s, the floor is %s", gained, minimum)
				}
			})
		}
	}
}

// TestOrdersThatAreNotFilled covers the other statuses: expired by the deadline,
// cancelled by the nonce, and insufficient funds, after which an order may be open again.
func TestOrdersThatAreNotFilled(t *testing.T) {
	s := manual(t, 1, 8453)
	for _, chain := range []uint64{1, 8453} {
		become(t, s, dexsim.Outcome{Fill: "never"})
		a := quoted(t, s, chain, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
		a.mustPost()
		a.mine(2)
		if e := a.entry(); e.OrderStatus != "open" || e.TxHash != (common.Hash{}) {
			t.Errorf("chain %d: %+v", chain, e)
		}
		reset := transaction{To: a.in, From: s.Accounts()[0].Address, ChainID: chain, Gas: "100000", Value: "0x00",
			Data: sandboxtest.Calldata(t, "approve(address,uint256)", a.c.Network.Contracts.Permit2, new(big.Int))}
		mustExecute(t, s, reset)
		if e := a.entry(); e.OrderStatus != "insufficient-funds" {
			t.Errorf("chain %d: %s without an allowance", chain, e.OrderStatus)
		}
		b := quoted(t, s, chain, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
		if e := a.entry(); e.OrderStatus != "open" {
			t.Errorf("chain %d: %s with an allowance again", chain, e.OrderStatus)
		}
		b.mustPost()
		b.cancel()
		if e := b.entry(); e.OrderStatus != "cancelled" {
			t.Errorf("chain %d: %s after its nonce was used", chain, e.OrderStatus)
		}
		a.shift(301 * time.Second)
		if e := a.entry(); e.OrderStatus != "expired" {
			t.Errorf("chain %d: %s after its deadline", chain, e.OrderStatus)
		}
		become(t, s, dexsim.Outcome{}) // neither order is filled any more
		for _, id := range []common.Hash{a.id, b.id} {
			if err := s.DEX().SetOutcome(id, dexsim.Outcome{}); err != nil {
				t.Error(err)
			}
		}
		a.mine(2)
		if x, y := a.entry().OrderStatus, b.entry().OrderStatus; x != "expired" || y != "cancelled" {
			t.Errorf("chain %d: %s and %s after all", chain, x, y)
		}
	}
}

// cancel invalidates the order's nonce as the swapper.
func (a *auction) cancel() {
	a.t.Helper()
	var q struct{ OrderInfo struct{ Nonce string } }
	if err := json.Unmarshal(a.quote.Quote, &q); err != nil {
		a.t.Fatal(err)
	}
	nonce, _ := new(big.Int).SetString(q.OrderInfo.Nonce, 10)
	mask := new(big.Int).Lsh(big.NewInt(1), uint(nonce.Uint64()&0xff))
	mustExecute(a.t, a.s, transaction{To: a.c.Network.Contracts.Permit2, From: a.s.Accounts()[0].Address, ChainID: a.c.ID, Gas: "100000", Value: "0x00",
		Data: sandboxtest.Calldata(a.t, "invalidateUnorderedNonces(uint256,uint256)", new(big.Int).Rsh(nonce, 8), mask)})
}

// TestPostedTwice checks that posting an order again has no effect, whatever its status.
func TestPostedTwice(t *testing.T) {
	s := manual(t, 8453)
	a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	replies := []string{}
	for range 2 {
		status, raw := a.post()
		if status != http.StatusCreated {
			t.Fatalf("posting the order: status %d, want 201: %s", status, raw)
		}
		replies = append(replies, sandboxtest.Decode[any](t, raw).(fields)["orderStatus"].(string))
	}
	a.sent()
	a.mine(1)
	status, raw := a.post()
	replies = append(replies, sandboxtest.Decode[any](t, raw).(fields)["orderStatus"].(string))
	if got := strings.Join(replies, " "); status != http.StatusCreated || got != "open open filled" {
		t.Errorf("posting again: status %d, statuses %q; want 201 and \"open open filled\"", status, got)
	}
	a.mine(3)
	if orders, err := s.DEX().Orders(t.Context()); err != nil || len(orders) != 1 {
		t.Errorf("%d orders (%v)", len(orders), err)
	}
	if got := sandboxtest.Balance(t, a.c, s.Accounts()[0].Address, a.in); new(big.Int).Sub(sandboxtest.Units(100_000, 6), got).Cmp(sandboxtest.Units(1000, 6)) != 0 {
		t.Errorf("the swapper has %s left", got)
	}
}

// TestReorganisedFill checks that a fill lost in a reorganisation is sent again.
func TestReorganisedFill(t *testing.T) {
	s := manual(t, 8453)
	a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	a.mustPost()
	a.sent()
	a.mine(1)
	first := a.entry()
	if err := a.c.Reorg(1, true); err != nil {
		t.Fatal(err)
	}
	if e := a.entry(); first.OrderStatus != "filled" || e.OrderStatus != "open" {
		t.Fatalf("%s, then %s", first.OrderStatus, e.OrderStatus)
	}
	a.sent()
	a.mine(1)
	if e := a.entry(); e.OrderStatus != "filled" {
		t.Errorf("the order is %+v, want it filled", e)
	}
}

// TestClaims checks the false statuses of GET /orders.
func TestClaims(t *testing.T) {
	s := manual(t, 8453)
	other := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	other.mustPost()
	other.sent()
	other.mine(1)
	fill := other.entry().TxHash
	for _, tc := range []struct {
		outcome dexsim.Outcome
		filled  bool // in truth
		want    func(list []orderEntry) bool
	}{
		{dexsim.Outcome{Fill: "never", Claim: "filled"}, false, func(l []orderEntry) bool {
			return l[0].OrderStatus == "filled" && l[0].TxHash != (common.Hash{}) && receiptOf(t, other.c, l[0].TxHash) == nil && l[0].Settled[0].AmountOut != ""
		}},
		{dexsim.Outcome{Fill: "never", Claim: "other"}, false, func(l []orderEntry) bool {
			return l[0].OrderStatus == "filled" && l[0].TxHash == fill
		}},
		{dexsim.Outcome{Fill: "never", Claim: "silent"}, false, func(l []orderEntry) bool { return len(l) == 0 }},
		{dexsim.Outcome{Claim: "backwards"}, true, func(l []orderEntry) bool { return l[0].OrderStatus == "open" && l[0].TxHash == (common.Hash{}) }},
		{dexsim.Outcome{Claim: "error"}, true, func(l []orderEntry) bool { return l[0].OrderStatus == "error" }},
		{dexsim.Outcome{Claim: "expired"}, true, func(l []orderEntry) bool { return l[0].OrderStatus == "expired" }},
	} {
		t.Run(tc.outcome.Claim, func(t *testing.T) {
			become(t, s, tc.outcome)
			a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
			a.t = t
			a.mustPost()
			if tc.filled {
				a.sent()
			}
			a.mine(1)
			if list := a.orders(); !tc.want(list) {
				t.Errorf("the list of orders is %+v", list)
			}
			states, err := s.DEX().Orders(t.Context())
			if last := states[len(states)-1]; err != nil || last.OrderID != a.id || (last.Status == "filled") != tc.filled {
				t.Errorf("really %+v (%v)", last, err)
			}
			if err := s.DEX().SetOutcome(a.id, dexsim.Outcome{Fill: "never"}); err != nil {
				t.Fatal(err)
			}
			if e := a.entry(); (e.OrderStatus == "filled") != tc.filled {
				t.Errorf("%s, told to be honest", e.OrderStatus)
			}
			if !tc.filled {
				a.cancel() // a swapper may have five open orders
			}
		})
	}
}

// TestCosigning checks that the reactor refuses badly cosigned orders and pays more if
// the cosigner raises the amounts.
func TestCosigning(t *testing.T) {
	s := manual(t, 1, 8453)
	for _, chain := range []uint64{1, 8453} {
		for how, fills := range map[string]bool{"unsigned": false, "stranger": false, "worse": false, "generous": true} {
			t.Run(fmt.Sprint(chain, " ", how), func(t *testing.T) {
				become(t, s, dexsim.Outcome{Cosign: how})
				a := quoted(t, s, chain, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
				before := a.balances()[0]
				a.mustPost()
				if !fills {
					a.wait("the filler tries in vain", func() bool { return a.state().Trouble != "" })
					if e := a.entry(); e.OrderStatus != "open" || (how == "unsigned") != (len(e.Cosignature) == 0) {
						t.Errorf("the order is %+v, want it open", e)
					}
					a.cancel()
					return
				}
				a.sent()
				a.mine(1)
				start, _ := new(big.Int).SetString(a.quote.outputs[0].Amount, 10)
				more := new(big.Int).Div(new(big.Int).Mul(start, big.NewInt(101)), big.NewInt(100))
				if gained := new(big.Int).Sub(a.balances()[0], before); gained.Cmp(more) != 0 || a.entry().Settled[0].AmountOut != more.String() {
					t.Errorf("got %s, want %s", gained, more)
				}
			})
		}
	}
}

func (a *auction) state() (found struct{ Status, Trouble string }) {
	a.t.Helper()
	states, err := a.s.DEX().Orders(a.t.Context())
	if err != nil {
		a.t.Fatal(err)
	}
	for _, st := range states {
		if st.OrderID == a.id {
			found.Status, found.Trouble = st.Status, st.LastError
		}
	}
	return found
}

// TestAuctionOrPools checks whether an auction or the pools answer a request.
func TestAuctionOrPools(t *testing.T) {
	s := manual(t, 1, 10, 8453)
	usdc := func(chain uint64) common.Address { return sandboxtest.Token(t, s.Chain(chain), "USDC") }
	dollars := func(chain uint64, n int64, more fields) fields {
		return quoteRequest(s, chain, usdc(chain), s.Chain(chain).Network.Wrapped.Address, sandboxtest.Units(n, 6), merge(auctions(chain), more))
	}
	only := fields{"protocols": []string{"UNISWAPX_V3"}}
	for _, tc := range []struct {
		name     string
		auctions string
		body     fields
		want     string // routing or error code
	}{
		{"both asked for, on 1", "", dollars(1, 1000, nil), "DUTCH_V2"},
		{"both asked for", "", dollars(8453, 1000, nil), "DUTCH_V3"},
		{"nothing named", "", dollars(8453, 1000, fields{"protocols": nil}), "DUTCH_V3"},
		{"protocol given by its alias", "", dollars(8453, 1000, fields{"protocols": []string{"UNISWAPX"}}), "DUTCH_V3"},
		{"too small", "", dollars(8453, 299, nil), "CLASSIC"},
		{"too small, and nothing else asked for", "", dollars(8453, 299, only), "QuoteAmountTooLowError"},
		{"small, by the settings", "always", dollars(8453, 1, nil), "DUTCH_V3"},
		{"large, against the settings", "never", dollars(8453, 1000, nil), "CLASSIC"},
		{"the fastest", "", dollars(8453, 1000, fields{"routingPreference": "FASTEST"}), "CLASSIC"},
		{"pools only", "always", dollars(8453, 1000, fields{"protocols": []string{"V3"}}), "CLASSIC"},
		{"native in", "always", dollars(8453, 1000, fields{"tokenIn": native, "tokenOut": usdc(8453), "amount": sandboxtest.Units(1, 18).String()}), "CLASSIC"},
		{"a chain without auctions, pools asked for", "always", dollars(10, 1000, fields{"protocols": []string{"V3"}}), "CLASSIC"},
		{"a chain without auctions", "", dollars(10, 1000, nil), "UniswapXNotSupportedOnChainError"},
		{"another chain's auction", "", dollars(1, 1000, only), "UniswapXNotSupportedOnChainError"},
	} {
		set(t, s, func(settings *dexsim.Settings) { settings.Auctions = tc.auctions })
		_, raw := ask(t, s, http.MethodPost, "/quote", tc.body)
		var reply struct{ Routing, ErrorCode string }
		if err := json.Unmarshal(raw, &reply); err != nil || reply.Routing+reply.ErrorCode != tc.want {
			t.Errorf("%s: %s%s (%v), want %s", tc.name, reply.Routing, reply.ErrorCode, err, tc.want)
		}
	}
}

func TestOrdersRefused(t *testing.T) {
	s := manual(t, 1, 8453)
	a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	altered := func(path string, value string) fields {
		body := a.body()
		raw, err := inject.Replace(a.quote.Quote, path, json.RawMessage(value))
		if err != nil {
			t.Fatal(err)
		}
		body["quote"] = json.RawMessage(raw)
		return body
	}
	stranger := a.body()
	stranger["signature"] = sign(t, s.Accounts()[1], a.quote.Permit)
	for _, tc := range []errorCase{
		{"no signature", "", fields{"quote": a.quote.Quote}, nil, 400, "RequestValidationError", `"signature" is required`},
		{"short signature", "", merge(a.body(), fields{"signature": "0x00"}), nil, 400, "RequestValidationError", "pattern"},
		{"quote of the pools", "", merge(a.body(), fields{"quote": fields{"chainId": 1}}), nil, 400, "RequestValidationError", "does not match"},
		{"another routing", "", merge(a.body(), fields{"routing": "DUTCH_V2"}), nil, 400, "RequestValidationError", "does not match"},
		{"amount as a number", "", altered("/orderInfo/outputs/0/startAmount", "7"), nil, 400, "RequestValidationError", "does not match"},
		{"another recipient", "", altered("/orderInfo/outputs/0/recipient", `"`+receiver.Hex()+`"`), nil, 400, "ORDER_PARSE_FAIL", "not of one order"},
		{"another id", "", altered("/orderId", `"`+common.Hash{1}.Hex()+`"`), nil, 400, "ORDER_PARSE_FAIL", "not of one order"},
		{"another encoding", "", altered("/encodedOrder", `"0x00"`), nil, 400, "ORDER_PARSE_FAIL", "not of one order"},
		{"signed by another", "", stranger, nil, 400, "VALIDATION_ERROR", "InvalidSigner"},
		{"another deadline, kept by an example", "", example(t, "06_order.json", "request", "body"), nil, 400, "INVALID_ORDER", "deadline"},
	} {
		tc.path = "/order"
		t.Run(tc.name, func(t *testing.T) { tc.run(t, s) })
	}
	if list := a.orders(); len(list) != 0 {
		t.Errorf("kept %+v", list)
	}
}

// TestOrdersRefusedLater checks the order service's own refusals of orders with a valid
// quote.
func TestOrdersRefusedLater(t *testing.T) {
	s := manual(t, 8453)
	refusal := func(a *auction) string {
		t.Helper()
		status, raw := a.post()
		reply := sandboxtest.Decode[any](t, raw).(fields)
		if status != http.StatusBadRequest {
			t.Fatalf("posting the order: status %d, want 400: %s", status, raw)
		}
		return fmt.Sprint(reply["errorCode"], ": ", reply["detail"])
	}
	sell := func(n int64) *auction { return quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(n, 6), nil) }

	become(t, s, dexsim.Outcome{Refuse: "INTERNAL_ERROR"})
	if got := refusal(sell(1000)); got != "INTERNAL_ERROR: the order is refused" {
		t.Errorf("refused with %q, want INTERNAL_ERROR", got)
	}
	become(t, s, dexsim.Outcome{Fill: "never"})
	if got := refusal(sell(100_001)); got != "VALIDATION_ERROR: Onchain validation failed: InsufficientFunds" {
		t.Errorf("refused with %q, want InsufficientFunds", got)
	}
	used := sell(1000)
	used.cancel()
	if got := refusal(used); got != "VALIDATION_ERROR: Onchain validation failed: NonceUsed" {
		t.Errorf("refused with %q, want NonceUsed", got)
	}
	for range 5 {
		sell(1000).mustPost()
	}
	if got := refusal(sell(1000)); !strings.HasPrefix(got, "TOO_MANY_OPEN_ORDERS") {
		t.Errorf("refused with %q, want TOO_MANY_OPEN_ORDERS", got)
	}
	late := sell(1000)
	late.shift(121 * time.Second)
	if got := refusal(late); got != "INVALID_ORDER: deadline has passed" {
		t.Errorf("refused with %q, want a deadline that has passed", got)
	}
	set(t, s, func(settings *dexsim.Settings) { settings.DeadlineSeconds = 25 * 3600 })
	if got := refusal(sell(1000)); got != "INVALID_ORDER: deadline is more than a day away" {
		t.Errorf("refused with %q, want a deadline too far ahead", got)
	}
}

// TestAnswersLost checks that an order is taken even if the response is lost.
func TestAnswersLost(t *testing.T) {
	s := manual(t, 8453)
	for _, kind := range []inject.Kind{inject.Fail, inject.Drop} {
		a := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
		if _, err := s.DEX().Faults.Add(inject.Rule{Target: "/order", Kind: kind, Status: 503, Times: 1}); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(a.body())
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.DEXURL()+"/order", strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = resp.Body.Close()
			if kind != inject.Fail || resp.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("%s: %s", kind, resp.Status)
			}
		}
		a.sent()
		a.mine(1)
		if e := a.entry(); e.OrderStatus != "filled" {
			t.Errorf("%s: %s", kind, e.OrderStatus)
		}
	}
}

func TestRequestedOrders(t *testing.T) {
	s := manual(t, 1, 8453)
	become(t, s, dexsim.Outcome{Fill: "never"})
	a := quoted(t, s, 1, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	a.mustPost()
	b := quoted(t, s, 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), nil)
	b.mustPost()
	swapper := s.Accounts()[0].Address.Hex()
	for query, want := range map[string]int{
		"orderId=" + a.id.Hex():                          1,
		"orderId=" + common.Hash{1}.Hex():                0,
		"orderIds=" + a.id.Hex() + "," + b.id.Hex():      2,
		"orderIds=" + b.id.Hex() + "&orderType=Dutch_V2": 0,
		"swapper=" + swapper:                             2,
		"swapper=" + swapper + "&limit=1":                1,
		"swapper=" + swapper + "&orderStatus=filled":     0,
		"orderStatus=open&orderType=Dutch_V3":            1,
		"swapper=" + receiver.Hex():                      0,
	} {
		reply, _ := mustAsk[struct{ Orders []orderEntry }](t, s, http.MethodGet, "/orders?"+query, nil)
		if len(reply.Orders) != want {
			t.Errorf("%s: %d orders, want %d", query, len(reply.Orders), want)
		}
	}
	for _, query := range []string{"", "orderId=0x1", "orderStatus=done", "limit=0", "limit=51", "cursor=x", "swapper=me"} {
		if status, raw := ask(t, s, http.MethodGet, "/orders?"+query, nil); status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", query, status, raw)
		}
	}
	s.Reset()
	if list := a.orders(); len(list) != 0 {
		t.Errorf("after a reset: %+v", list)
	}
}
