package bridge

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// reordered changes the order in a quote, and still hashes it, signs it as the solver and
// deposits for it.
func reordered(t *testing.T, raw []byte, change func(o map[string]any)) []byte {
	t.Helper()
	solvers, err := sandbox.Services()
	if err != nil {
		t.Fatal(err)
	}
	var was, is common.Hash
	out := changed(t, raw, func(q map[string]any) {
		v2 := at(q, "protocol", "v2")
		was = common.HexToHash(v2["orderId"].(string))
		change(v2["orderData"].(map[string]any))
		text, _ := json.Marshal(v2["orderData"])
		o, err := readOrder(text)
		if err != nil {
			return // malformed, and refused for that
		}
		is = o.id()
		sig, err := crypto.Sign(accounts.TextHash(is[:]), solvers["bridgeSolver"].Key)
		if err != nil {
			t.Fatal(err)
		}
		sig[crypto.RecoveryIDOffset] += 27
		v2["orderSignature"] = hexutil.Encode(sig)
	})
	if is == (common.Hash{}) {
		return out
	}
	return []byte(strings.ReplaceAll(string(out), was.Hex()[2:], is.Hex()[2:]))
}

// TestOrder checks that the deposit names an order that binds the solver to what was
// accepted, whatever else the solver has signed.
func TestOrder(t *testing.T) {
	payment := func(o map[string]any) map[string]any {
		return at(o, "output")["payments"].([]any)[0].(map[string]any)
	}
	input := func(o map[string]any) map[string]any { return o["inputs"].([]any)[0].(map[string]any) }
	refund := func(o map[string]any, i int) map[string]any {
		return input(o)["refunds"].([]any)[i].(map[string]any)
	}
	attacker := strings.ToLower(testAttacker.Hex())
	for name, c := range map[string]struct {
		change func(o map[string]any)
		code   swap.Code
		field  string
	}{
		"unchanged":                                    {func(map[string]any) {}, "", ""},
		"a better minimum":                             {func(o map[string]any) { payment(o)["minimumAmount"] = "24755302" }, "", ""},
		"a refund to the recipient":                    {func(o map[string]any) { refund(o, 1)["recipient"] = testAccount.Hex() }, "", ""},
		"a minimum of one less":                        {func(o map[string]any) { payment(o)["minimumAmount"] = "24755300" }, swap.NotAsAccepted, "minimumAmount"},
		"another recipient":                            {func(o map[string]any) { payment(o)["recipient"] = attacker }, swap.NotAsAccepted, "recipient"},
		"another currency":                             {func(o map[string]any) { payment(o)["currency"] = attacker }, swap.NotAsAccepted, "currencyOut"},
		"another solver":                               {func(o map[string]any) { o["solver"] = attacker }, swap.NotAsAccepted, "solver"},
		"more to be deposited":                         {func(o map[string]any) { at(input(o), "payment")["amount"] = "25000001" }, swap.NotAsAccepted, "paymentDetails"},
		"a refund to another account":                  {func(o map[string]any) { refund(o, 0)["recipient"] = attacker }, swap.NotAsAccepted, "refundTo"},
		"a refund on another chain":                    {func(o map[string]any) { refund(o, 0)["chainId"] = "optimism" }, swap.NotAsAccepted, "refundTo"},
		"a refund on another chain to another account": {func(o map[string]any) { refund(o, 1)["recipient"] = attacker }, swap.NotAsAccepted, "refundTo"},
		"an additional payment":                        {func(o map[string]any) { at(o, "output")["payments"] = []any{payment(o), payment(o)} }, swap.Undecodable, "orderData"},
		"a call":                                       {func(o map[string]any) { at(o, "output")["calls"] = []any{"0x01"} }, swap.Undecodable, "orderData"},
		"an additional input":                          {func(o map[string]any) { o["inputs"] = []any{input(o), input(o)} }, swap.Undecodable, "orderData"},
		"an unknown field":                             {func(o map[string]any) { o["hook"] = attacker }, swap.Undecodable, "orderData"},
		"another version":                              {func(o map[string]any) { o["version"] = "v2" }, swap.Undecodable, "orderData"},
		"no output":                                    {func(o map[string]any) { o["output"] = map[string]any{} }, swap.Undecodable, "orderData"},
		"a fee that names nobody":                      {func(o map[string]any) { o["fees"] = []any{map[string]any{"amount": "1"}} }, swap.Undecodable, "orderData"},
		"a recipient that is not an EVM address":       {func(o map[string]any) { payment(o)["recipient"] = "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2" }, swap.Undecodable, "orderData"},
	} {
		x, err := readQuote(reordered(t, recordedQuote(t, "base-usdc-arbitrum"), c.change), bridgedUSDC(), sandboxSolver)
		if code(err) != c.code || field(err) != c.field {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && x.order == nil {
			t.Errorf("%s: the order was not read", name)
		}
	}
}

// TestOrderIsTheDeposits checks that a good order does not help if the deposit, also one in
// a router's call, is for another, or if the solver did not sign it.
func TestOrderIsTheDeposits(t *testing.T) {
	direct, routed := recordedQuote(t, "base-usdc-arbitrum"), recordedQuote(t, "base-dai-arbitrum")
	last := func(q map[string]any, i int) { // replaces the id
		data := tx(q, i)["data"].(string)
		tx(q, i)["data"] = strings.ReplaceAll(data, data[len(data)-64:], strings.Repeat("7", 64))
	}
	for name, c := range map[string]struct {
		raw    []byte
		r      swap.QuoteRequest
		change func(q map[string]any)
	}{
		"a deposit for another order":              {direct, bridgedUSDC(), func(q map[string]any) { last(q, 1); delete(at(q, "protocol", "v2"), "orderId") }},
		"a router's deposit for another order":     {routed, routedDAI(), func(q map[string]any) { last(q, 1) }},
		"another order id in the protocol section": {routed, routedDAI(), func(q map[string]any) { at(q, "protocol", "v2")["orderId"] = "0x" + strings.Repeat("7", 64) }},
		"no signature":               {direct, bridgedUSDC(), func(q map[string]any) { delete(at(q, "protocol", "v2"), "orderSignature") }},
		"another solver's signature": {direct, bridgedUSDC(), func(q map[string]any) { at(q, "protocol", "v2")["orderSignature"] = "0x" + strings.Repeat("1b", 65) }},
		"no details of the input":    {direct, bridgedUSDC(), func(q map[string]any) { delete(at(q, "protocol", "v2"), "paymentDetails") }},
		"the input by other names":   {direct, bridgedUSDC(), func(q map[string]any) { at(q, "protocol", "v2", "paymentDetails")["chainId"] = "arbitrum" }},
	} {
		if _, err := readQuote(changed(t, c.raw, c.change), c.r, sandboxSolver); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	x, err := readQuote(direct, bridgedUSDC(), sandboxSolver)
	if err != nil {
		t.Fatal(err)
	}
	for name, ends := range map[string][2]listedChain{
		"from another chain": {{name: "ethereum"}, {name: "arbitrum"}}, "to another": {{name: "base"}, {name: "optimism"}}, "that the list does not name": {},
	} {
		if err := x.checkListed(ends, testNow); code(err) != swap.NotAsAccepted {
			t.Errorf("an order %s: %v", name, err)
		}
	}
	bound := time.Unix(int64(x.order.Output.Deadline), 0).Add(-x.offer.Duration - minBoundTime)
	for at, want := range map[time.Time]swap.Code{testNow: "", bound: "", bound.Add(time.Second): swap.NotAsAccepted} {
		if err := x.checkListed([2]listedChain{{name: "base"}, {name: "arbitrum"}}, at); code(err) != want {
			t.Errorf("an order at %s, to be filled until %d: %v", at, x.order.Output.Deadline, err)
		}
	}
}

// TestRecordedOrder checks that the id of a recorded order is its hash, and that the live
// solver has signed it.
func TestRecordedOrder(t *testing.T) {
	var q quoteReply
	if err := json.Unmarshal(providertest.LiveReply(t, "relay/quote-v2-base-to-robinhood-whole.json"), &q); err != nil {
		t.Fatal(err)
	}
	v2 := q.Protocol.V2
	o, err := readOrder(v2.Order)
	if err != nil {
		t.Fatal(err)
	}
	if id := o.id(); id.Hex() != *v2.OrderID || !signedBy(solver, id, *v2.Signature) || signedBy(sandboxSolver, id, *v2.Signature) {
		t.Errorf("%s, recorded as %s", id, *v2.OrderID)
	}
}

func field(err error) string {
	var r *swap.Refusal
	if errors.As(err, &r) {
		return r.Field
	}
	return ""
}

// TestFeeThatIsNotShown: a fee that was asked for and that the quote does not show may or
// may not be taken. A fee that it shows is among the offer's fees.
func TestFeeThatIsNotShown(t *testing.T) {
	r := bridgedUSDC()
	for name, c := range map[string]struct {
		change func(fees map[string]any)
		asked  int
	}{
		"shown":   {func(map[string]any) {}, 0},
		"absent":  {func(fees map[string]any) { delete(fees, "app") }, r.FeeBps},
		"nothing": {func(fees map[string]any) { at(fees, "app")["amount"] = "0" }, r.FeeBps},
	} {
		raw := changed(t, recordedQuote(t, "base-usdc-arbitrum"), func(q map[string]any) { c.change(at(q, "fees")) })
		x, err := readQuote(raw, r, sandboxSolver)
		if err != nil || x.offer.FeeRequested != c.asked || (len(x.offer.Fees) == 1) != (c.asked == 0) {
			t.Errorf("%s: %d bps asked for, fees %v, %v", name, x.offer.FeeRequested, x.offer.Fees, err)
		}
	}
}
