package bridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const (
	wholeQuote = "relay/quote-v2-base-to-robinhood-whole.json"
	robinhood  = 4663
)

// wholeRequest is the request that the recorded quote answers.
func wholeRequest() swap.QuoteRequest {
	who := common.HexToAddress("0xc4F87C3715374445C4657aa14c47CBB339b59d1A")
	return swap.QuoteRequest{
		Account: who, Recipient: who, RefundTo: who, SrcChain: 8453, DstChain: robinhood,
		TokenIn:  common.HexToAddress("0xb20000000000000000000078ee7ce2fe4908108c"),
		TokenOut: common.HexToAddress("0x0379e228f6887c6f18bf394042ecaf81b308cb2e"),
		AmountIn: units(1_000_000), SlippageBps: 100,
	}
}

// TestRecordedQuote: a whole recorded quote, of a token for one on a chain that we have no
// RPC for, is quoted, built, decoded and accepted by the production code. The list of
// chains was not recorded: it is made here, in the documented form, with the contracts of
// the quote. The test ends at the router's call, whose format is not published: only a
// simulation at the time could show what it does, and without an RPC a payment cannot be
// proven.
func TestRecordedQuote(t *testing.T) {
	entry := func(id uint64, name string) string {
		return fmt.Sprintf(`{"id":%d,"vmType":"evm","disabled":false,"depositEnabled":true,"protocol":{"v2":{"chainId":%q,"depository":%q}},"contracts":{"v3":{"erc20Router":%q,"approvalProxy":%q}}}`,
			id, name, depository, routerPairs[1].router, routerPairs[1].proxy)
	}
	p := providerOf(t, map[string]http.HandlerFunc{
		"/chains":   replying(200, fmt.Appendf(nil, `{"chains":[%s,%s]}`, entry(8453, "base"), entry(robinhood, "robinhood"))),
		"/quote/v2": replying(200, providertest.LiveReply(t, wholeQuote)),
	})
	p.solver = solver                                               // the live solver
	p.now = func() time.Time { return time.Unix(1_791_034_629, 0) } // when it was quoted
	r := wholeRequest()
	offers, err := p.Quote(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	o, terms := offers[0], termsFor(r)
	terms.MinOut, terms.Deadline, terms.GasCeiling = o.MinOut, testNow.Add(time.Minute), units(1)
	built, err := p.Build(t.Context(), o, terms)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Decode(terms, built.Steps[0])
	if err == nil {
		err = swap.Check(terms, []swap.Effect{f}, p.Pins())
	}
	if err != nil || f.Kind != swap.Opaque || f.Target != routerPairs[1].proxy || built.Spender != routerPairs[1].proxy {
		t.Fatalf("effect = %+v, %v, want an opaque call of the proxy", f, err)
	}
	if o.MinOut.String() != "4401605382885926480310" || o.Duration != time.Second || o.Refund == nil ||
		*o.Refund != (swap.Spend{Token: nativeCoin, Amount: o.Refund.Amount}) || o.Refund.Amount.String() != "836696572826309" { // the deposit less the fee, which is in coins
		t.Errorf("offer = %+v, want the recorded minimum, duration and refund", o)
	}
	x, err := checkOffer(o, terms, solver)
	if err != nil || x.order == nil || x.order.Output.Chain != "robinhood" {
		t.Errorf("the order: %+v, %v", x.order, err)
	}
	less := terms
	less.MinOut = units(0).Add(o.MinOut, units(1))
	if _, err := p.Build(t.Context(), o, less); code(err) != swap.NotAsAccepted {
		t.Errorf("less than the minimum: error %v", err)
	}
	p.solver = sandboxSolver
	if _, err := p.Quote(t.Context(), r); field(err) != "orderSignature" {
		t.Errorf("with another solver built in: %v", err)
	}
}

// TestRecordedSteps: only the steps of this quote were recorded. They are read, decoded and
// accepted as a deposit of the input. The quote itself is refused at its details, which
// were left out. The protocol's name for the destination was not recorded.
func TestRecordedSteps(t *testing.T) {
	raw := providertest.LiveReply(t, "relay/quote-v2-steps-base-usdc-to-hyperliquid.json")
	who := common.HexToAddress("0x03508bB71268BBA25ECaCC8F620e01866650532c")
	r := swap.QuoteRequest{
		Account: who, Recipient: who, RefundTo: who, SrcChain: 8453, DstChain: 999,
		TokenIn: usdcOnBase, TokenOut: testReceiver, AmountIn: units(10_000_000), SlippageBps: 50,
	}
	q, err := decodeQuote(raw)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := q.payingStep(r)
	if err != nil {
		t.Fatal(err)
	}
	id, err := q.id()
	f := accepts(t, r, chain.Call{ChainID: r.SrcChain, From: who, To: tx.To.Address, Value: tx.Value.Int, Data: tx.calldata})
	if err != nil || id.Hex() != "0x4909d9f25dc4171620514946b231a3706d59328644fa1967e3f8f8733d1009cd" ||
		f.Kind != swap.Deposit || f.DepositID.Hex() != "0x4b756ed5f7d23e5523323e2e2c2025fc1ad97481db6b005894a3fd153dbba27c" {
		t.Errorf("id %s, effect %+v, %v, want the recorded id and deposit", id, f, err)
	}
	if _, err := readQuote(raw, r, solver); code(err) != swap.ProviderInvalidResponse || field(err) != "recipient" {
		t.Errorf("a quote without details: %v", err)
	}
}

// TestRecordedProtocol: an order whose refunds the official example cut is refused.
func TestRecordedProtocol(t *testing.T) {
	q, err := decodeQuote(providertest.LiveReply(t, "relay/quote-v2-protocol-ethereum-to-base-abridged.json"))
	if err != nil {
		t.Fatal(err)
	}
	v2 := q.Protocol.V2
	if !v2.Details.Depository.Is(depositoryOf(1)) || v2.Details.Chain != "ethereum" || len(*v2.OrderID) != 66 {
		t.Errorf("V2 = %+v, want the Ethereum depository and an order id", v2)
	}
	if _, err := readOrder(v2.Order); code(err) != swap.Undecodable {
		t.Errorf("an order with its refunds cut: %v", err)
	}
}

// TestRecordedError reads what the live service answered to an amount that was too small.
func TestRecordedError(t *testing.T) {
	p := providerOf(t, map[string]http.HandlerFunc{
		"/chains":   replying(200, chainsFor(8453, 42161)),
		"/quote/v2": replying(400, providertest.LiveReply(t, "relay/error-400-amount-too-low.json")),
	})
	if _, err := p.Quote(t.Context(), bridgedUSDC()); code(err) != swap.AmountTooSmall {
		t.Error(err)
	}
}

// TestRecordedShape checks that the simulator's answers have every member that was
// recorded, in its type, and that a router's calldata ends in the order's id as recorded.
func TestRecordedShape(t *testing.T) {
	const key = "a-key"
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: -1, Instant: true, BridgeKey: key})
	dai := sandboxtest.Token(t, s.Chain(8453), "DAI")
	who := s.Accounts()[0].Address
	quoted := func(in common.Address, amount string) []byte {
		r := swap.QuoteRequest{Account: who, Recipient: who, RefundTo: who, SrcChain: 8453, DstChain: 42161, TokenIn: in, TokenOut: usdcOnArbitrum, SlippageBps: 50}
		r.AmountIn, _ = units(0).SetString(amount, 10)
		status, raw := sandboxtest.Ask(t, http.MethodPost, s.BaseURL("bridge")+"/quote/v2", newQuoteRequest(r), "x-api-key", key)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, raw)
		}
		return raw
	}
	routed := quoted(dai, "30000000000000000000")
	for _, place := range providertest.MissingMembers(t, providertest.LiveReply(t, wholeQuote), routed) {
		t.Errorf("a router's quote: %s", place)
	}
	for _, place := range providertest.MissingMembers(t, providertest.LiveReply(t, "relay/quote-v2-steps-base-usdc-to-hyperliquid.json"), quoted(usdcOnBase, "25000000")) {
		t.Errorf("a deposit's quote: %s", place)
	}
	for name, raw := range map[string][]byte{"recorded": providertest.LiveReply(t, wholeQuote), "simulated": routed} {
		var q quoteReply
		if err := json.Unmarshal(raw, &q); err != nil {
			t.Fatal(err)
		}
		var pays transaction
		if err := json.Unmarshal(q.Steps[1].Items[0].Data, &pays); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(*pays.Data, (*q.Protocol.V2.OrderID)[2:]) {
			t.Errorf("%s: the calldata does not end in the order's id", name)
		}
	}
	status, refused := sandboxtest.Ask(t, http.MethodPost, s.BaseURL("bridge")+"/quote/v2", newQuoteRequest(swap.QuoteRequest{
		Account: who, Recipient: who, RefundTo: who, SrcChain: 8453, DstChain: 42161, TokenIn: usdcOnBase, TokenOut: usdcOnArbitrum, AmountIn: units(1), SlippageBps: 50,
	}), "x-api-key", key)
	if status != http.StatusBadRequest {
		t.Fatalf("%d %s", status, refused)
	}
	for _, place := range providertest.MissingMembers(t, providertest.LiveReply(t, "relay/error-400-amount-too-low.json"), refused) {
		t.Errorf("an error: %s", place)
	}
}
