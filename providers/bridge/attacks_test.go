package bridge

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/providertest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// recordedBody returns the body of a recorded reply.
func recordedBody(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("testdata/exchanges/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(file, &x); err != nil {
		t.Fatal(err)
	}
	return x.Response.Body
}

func changed(t testing.TB, raw []byte, change func(map[string]any)) []byte {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	change(m)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// at returns an object inside another.
func at(v map[string]any, keys ...string) map[string]any {
	for _, k := range keys {
		v = v[k].(map[string]any)
	}
	return v
}

// steps returns a quote's steps.
func steps(q map[string]any) []any { return q["steps"].([]any) }

// step1 returns a step, tx the transaction in its first item.
func step1(q map[string]any, i int) map[string]any { return steps(q)[i].(map[string]any) }

func tx(q map[string]any, i int) map[string]any {
	return step1(q, i)["items"].([]any)[0].(map[string]any)["data"].(map[string]any)
}

// copied returns a deep copy.
func copied(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

// calldata returns a function call with words as arguments.
func calldata(selector string, words ...any) string {
	data := common.FromHex(selector)
	for _, w := range words {
		switch w := w.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(w[:], wordLen)...)
		case common.Hash:
			data = append(data, w[:]...)
		case int64:
			data = append(data, common.BigToHash(big.NewInt(w)).Bytes()...)
		}
	}
	return hexutil.Encode(data)
}

var (
	testOrderID   = common.HexToHash("0xe07f2e3d6be8f15d0b5184b828b8d685e85220f9b9023147c62d13b377386167")
	testAnotherID = common.HexToHash("0x1607f2e3d6be8f15d0b5184b828b8d685e85220f9b9023147c62d13b3773861e")
)

// An attack changes one or several places of a reply; what is shown may lie along.
type attack struct {
	name   string
	change func(q map[string]any)
	code   swap.Code
	field  string
}

// onDeposit are attacks on a deposit of 25 USDC; its steps are an approval and a deposit.
var onDeposit = []attack{
	{"a deposit for another depositor", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAttacker, usdcOnBase, int64(25_000_000), testOrderID)
	}, swap.NotAsAccepted, "depositor"},
	{"a deposit of another token", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAccount, daiOnBase, int64(25_000_000), testOrderID)
	}, swap.NotAsAccepted, "token"},
	{"a deposit of more", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAccount, usdcOnBase, int64(25_000_001), testOrderID)
	}, swap.NotAsAccepted, "amount"},
	{"a deposit of all that is allowed", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0x5a1ee3ac", testAccount, usdcOnBase, testOrderID)
	}, swap.NotAsAccepted, "data"},
	{"a deposit for another order", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAccount, usdcOnBase, int64(25_000_000), testAnotherID)
	}, swap.NotAsAccepted, "orderId"},
	{"a deposit for an amount", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAccount, usdcOnBase, int64(25_000_000), common.BigToHash(big.NewInt(1_000_000_001)))
	}, swap.Undecodable, "orderId"},
	{"a deposit for no order", func(q map[string]any) {
		tx(q, 1)["data"] = calldata("0xe8017952", testAccount, usdcOnBase, int64(25_000_000), common.Hash{})
	}, swap.Undecodable, "orderId"},
	{"bytes behind the deposit", func(q map[string]any) { tx(q, 1)["data"] = tx(q, 1)["data"].(string) + "00" }, swap.Undecodable, "data"},
	{"a deposit of the native coin", func(q map[string]any) { tx(q, 1)["data"] = calldata("0x49290c1c", testAccount, testOrderID) }, swap.Undecodable, "data"},
	{"a transfer in place of the deposit", func(q map[string]any) {
		tx(q, 1)["to"], tx(q, 1)["data"] = usdcOnBase.Hex(), calldata("0xa9059cbb", testAttacker, int64(25_000_000))
		q["steps"] = steps(q)[1:]
	}, swap.NotPinned, "to"},
	{"a Safe that the account owns, approved as well", func(q map[string]any) {
		tx(q, 1)["to"], tx(q, 1)["data"] = providertest.Safe.Hex(), calldata("0x6a761202", usdcOnBase)
		tx(q, 0)["data"] = calldata("0x095ea7b3", providertest.Safe, int64(25_000_000))
	}, swap.NotPinned, "to"},
	{"a stranger's contract, approved as well", func(q map[string]any) {
		tx(q, 1)["to"], tx(q, 0)["data"] = testAttacker.Hex(), calldata("0x095ea7b3", testAttacker, int64(25_000_000))
	}, swap.NotPinned, "to"},
	{"the router, which takes the coin only", func(q map[string]any) {
		tx(q, 1)["to"], tx(q, 0)["data"] = routerPairs[2].router.Hex(), calldata("0x095ea7b3", routerPairs[2].router, int64(25_000_000))
	}, swap.NotPinned, "to"},
	{"native value sent along", func(q map[string]any) { tx(q, 1)["value"] = "1" }, swap.NotAsAccepted, "value"},
	{"from another account", func(q map[string]any) { tx(q, 1)["from"] = testAttacker.Hex() }, swap.NotAsAccepted, "from"},
	{"on another chain", func(q map[string]any) { tx(q, 1)["chainId"] = 1 }, swap.NotAsAccepted, "chainId"},
	{"on no chain", func(q map[string]any) { delete(tx(q, 1), "chainId") }, swap.ProviderInvalidResponse, "chainId"},
	{"an approval without limit", func(q map[string]any) {
		tx(q, 0)["data"] = calldata("0x095ea7b3", depository, common.MaxHash)
	}, swap.NotAsAccepted, "approve"},
	{"an approval of one unit more", func(q map[string]any) { tx(q, 0)["data"] = calldata("0x095ea7b3", depository, int64(25_000_001)) }, swap.NotAsAccepted, "approve"},
	{"an approval of a stranger", func(q map[string]any) { tx(q, 0)["data"] = calldata("0x095ea7b3", testAttacker, int64(25_000_000)) }, swap.NotAsAccepted, "approve"},
	{"an approval of a router that is not called", func(q map[string]any) {
		tx(q, 0)["data"] = calldata("0x095ea7b3", routerPairs[2].proxy, int64(25_000_000))
	}, swap.NotAsAccepted, "approve"},
	{"an approval on another token", func(q map[string]any) { tx(q, 0)["to"] = daiOnBase.Hex() }, swap.NotAsAccepted, "approve"},
	{"an increase of an allowance", func(q map[string]any) { tx(q, 0)["data"] = calldata("0x39509351", depository, int64(25_000_000)) }, swap.NotAsAccepted, "approve"},
	{"an approval that takes coins", func(q map[string]any) { tx(q, 0)["value"] = "1" }, swap.NotAsAccepted, "approve"},
	{"only an approval of zero", func(q map[string]any) { tx(q, 0)["data"] = calldata("0x095ea7b3", depository, int64(0)) }, swap.NotAsAccepted, "approve"},
	{"two approvals", func(q map[string]any) { q["steps"] = append([]any{copied(steps(q)[0])}, steps(q)...) }, swap.NotAsAccepted, "approve"},
	{"three approvals", func(q map[string]any) {
		q["steps"] = append([]any{copied(steps(q)[0]), copied(steps(q)[0])}, steps(q)...)
	}, swap.NotAsAccepted, "approve"},
	{"an approval afterwards", func(q map[string]any) { q["steps"] = append(steps(q), copied(steps(q)[0])) }, swap.NotAsAccepted, "steps"},
	{"a second deposit", func(q map[string]any) { q["steps"] = append(steps(q), copied(steps(q)[1])) }, swap.NotAsAccepted, "steps"},
	{"a second deposit in one step", func(q map[string]any) {
		s := step1(q, 1)
		s["items"] = append(s["items"].([]any), copied(s["items"].([]any)[0]))
	}, swap.NotAsAccepted, "steps"},
	{"a transfer as a step", func(q map[string]any) { step1(q, 1)["id"] = "send" }, swap.Undecodable, "id"},
	{"an unknown step", func(q map[string]any) { step1(q, 0)["id"] = "prepare" }, swap.Undecodable, "id"},
	{"a swap on one chain", func(q map[string]any) { step1(q, 1)["id"] = "swap" }, swap.NotAsAccepted, "id"},
	{"a signature", func(q map[string]any) { step1(q, 1)["kind"] = "signature" }, swap.Undecodable, "kind"},
	{"a step with an address field", func(q map[string]any) { step1(q, 1)["depositAddress"] = testAttacker.Hex() }, swap.Undecodable, "depositAddress"},
	{"a step marked as complete", func(q map[string]any) { step1(q, 1)["items"].([]any)[0].(map[string]any)["status"] = "complete" }, swap.Undecodable, "status"},
	{"no steps", func(q map[string]any) { q["steps"] = []any{} }, swap.ProviderInvalidResponse, "steps"},
	{"the approval alone", func(q map[string]any) { q["steps"] = steps(q)[:1] }, swap.ProviderInvalidResponse, "steps"},
	{"another request's step", func(q map[string]any) { step1(q, 1)["requestId"] = testOrderID.Hex() }, swap.NotAsAccepted, "requestId"},
	{"another request to be asked about", func(q map[string]any) {
		step1(q, 1)["items"].([]any)[0].(map[string]any)["check"] = map[string]any{"endpoint": "/intents/status/v3?requestId=" + testOrderID.Hex()}
	}, swap.NotAsAccepted, "requestId"},
	{"another place to be asked", func(q map[string]any) {
		step1(q, 1)["items"].([]any)[0].(map[string]any)["check"] = map[string]any{"endpoint": "https://stranger.example/intents/status/v3?requestId=" + q["requestId"].(string)}
	}, swap.ProviderInvalidResponse, "check"},
	{"no request", func(q map[string]any) {
		delete(q, "requestId")
		for i := range steps(q) {
			delete(step1(q, i), "requestId")
		}
		delete(step1(q, 1)["items"].([]any)[0].(map[string]any), "check")
	}, swap.ProviderInvalidResponse, "requestId"},
	{"the output to another recipient", func(q map[string]any) { at(q, "details")["recipient"] = testAttacker.Hex() }, swap.NotAsAccepted, "recipient"},
	{"another token bought", func(q map[string]any) { at(q, "details", "currencyOut", "currency")["address"] = testAttacker.Hex() }, swap.NotAsAccepted, "currencyOut"},
	{"the output on another chain", func(q map[string]any) { at(q, "details", "currencyOut", "currency")["chainId"] = 10 }, swap.NotAsAccepted, "currencyOut"},
	{"another amount sold", func(q map[string]any) { at(q, "details", "currencyIn")["amount"] = "25000001" }, swap.NotAsAccepted, "amountIn"},
	{"a minimum below the slippage", func(q map[string]any) { at(q, "details", "currencyOut")["minimumAmount"] = "24755300" }, swap.NotAsAccepted, "minimumAmount"},
	{"a minimum above the amount", func(q map[string]any) { at(q, "details", "currencyOut")["minimumAmount"] = "24879701" }, swap.NotAsAccepted, "minimumAmount"},
	{"an output of zero", func(q map[string]any) { at(q, "details", "currencyOut")["amount"] = "0" }, swap.AmountTooSmall, "amountOut"},
	{"more slippage", func(q map[string]any) { at(q, "details", "slippageTolerance")["total"] = "500" }, swap.NotAsAccepted, "slippageTolerance"},
	{"gas bought at the destination", func(q map[string]any) { at(q, "details")["currencyGasTopup"] = map[string]any{"amount": "1"} }, swap.NotAsAccepted, "currencyGasTopup"},
	{"a higher fee", func(q map[string]any) { at(q, "fees", "app")["amount"] = "100001" }, swap.NotAsAccepted, "appFees"},
	{"a deposit expected elsewhere", func(q map[string]any) { at(q, "protocol", "v2", "paymentDetails")["depository"] = testAttacker.Hex() }, swap.NotPinned, "depository"},
	{"a larger deposit expected", func(q map[string]any) { at(q, "protocol", "v2", "paymentDetails")["amount"] = "25000001" }, swap.NotAsAccepted, "paymentDetails"},
	{"a refund in a token of its own", func(q map[string]any) { at(q, "details", "refundCurrency", "currency")["address"] = testAttacker.Hex() }, swap.NotAsAccepted, "refundCurrency"},
	{"a refund on another chain", func(q map[string]any) { at(q, "details", "refundCurrency", "currency")["chainId"] = 42161 }, swap.NotAsAccepted, "refundCurrency"},
	{"a refund in a token of its own, expected as well", func(q map[string]any) {
		at(q, "details", "refundCurrency", "currency")["address"] = testAttacker.Hex()
		at(q, "protocol", "v2", "paymentDetails")["currency"] = testAttacker.Hex()
	}, swap.NotAsAccepted, "paymentDetails"},
}

// onRouter are attacks on a swap of DAI, which a router swaps before it deposits USDC.
var onRouter = []attack{
	{"a stranger's contract", func(q map[string]any) {
		stranger := strings.ToLower(testAttacker.Hex()[2:])
		tx(q, 1)["to"], tx(q, 0)["data"] = testAttacker.Hex(), strings.Replace(tx(q, 0)["data"].(string), strings.ToLower(routerPairs[2].proxy.Hex()[2:]), stranger, 1)
	}, swap.NotPinned, "to"},
	{"a Safe that the account owns, approved as well", func(q map[string]any) {
		tx(q, 1)["to"], tx(q, 1)["data"] = providertest.Safe.Hex(), calldata("0x6a761202", usdcOnBase)
		tx(q, 0)["data"] = strings.Replace(tx(q, 0)["data"].(string), strings.ToLower(routerPairs[2].proxy.Hex()[2:]), strings.ToLower(providertest.Safe.Hex()[2:]), 1)
	}, swap.NotPinned, "to"},
	{"no calldata", func(q map[string]any) { tx(q, 1)["data"] = "0x" }, swap.Undecodable, "data"},
	{"the selector cut", func(q map[string]any) { tx(q, 1)["data"] = "0xf9e4ba" }, swap.Undecodable, "data"},
	{"too much calldata", func(q map[string]any) { tx(q, 1)["data"] = "0x" + strings.Repeat("00", maxCalldata+1) }, swap.ProviderInvalidResponse, "data"},
	{"a refund in what is not deposited", func(q map[string]any) { at(q, "details", "refundCurrency", "currency")["address"] = testAttacker.Hex() }, swap.NotAsAccepted, "refundCurrency"},
	{"a refund of less than is deposited", func(q map[string]any) { at(q, "details", "refundCurrency")["amount"] = "1" }, swap.NotAsAccepted, "refundCurrency"},
	{"a refund of next to nothing", func(q map[string]any) { at(q, "details", "refundCurrency")["minimumAmount"] = "1" }, swap.NotAsAccepted, "refundCurrency"},
	{"a refund without a word of the deposit", func(q map[string]any) { delete(q, "protocol") }, swap.NotAsAccepted, "refundCurrency"},
	{"a deposit expected elsewhere", func(q map[string]any) { at(q, "protocol", "v2", "paymentDetails")["depository"] = testAttacker.Hex() }, swap.NotPinned, "depository"},
}

// onIsolated are attacks on a swap of USDT through a router that is not built in.
var onIsolated = []attack{
	{"from the account", func(q map[string]any) { tx(q, 1)["from"] = testAccount.Hex() }, swap.NotAsAccepted, "from"},
	{"an approval from the account", func(q map[string]any) { tx(q, 0)["from"] = testAccount.Hex() }, swap.NotAsAccepted, "from"},
	{"sent by the account", func(q map[string]any) { at(q, "details")["sender"] = testAccount.Hex() }, swap.NotAsAccepted, "sender"},
	{"the output to the isolated account", func(q map[string]any) { at(q, "details")["recipient"] = providertest.Isolated.Hex() }, swap.NotAsAccepted, "recipient"},
	{"a stranger approved", func(q map[string]any) {
		tx(q, 0)["data"] = strings.Replace(tx(q, 0)["data"].(string), "58cc3e0aa6cd7bf795832a225179ec2d848ce3e7", strings.ToLower(testAttacker.Hex()[2:]), 1)
	}, swap.NotAsAccepted, "approve"},
	{"another order's call", func(q map[string]any) { tx(q, 1)["data"] = calldata("0xf9e4bab4", testOrderID) }, swap.NotAsAccepted, "orderData"},
	{"a deposit", func(q map[string]any) {
		q["steps"] = steps(q)[1:]
		tx(q, 0)["to"], tx(q, 0)["data"] = depository.Hex(), calldata("0xe8017952", testAccount, testAttacker, int64(1), testOrderID)
	}, swap.NotAsAccepted, "to"},
	{"a built-in router for coins", func(q map[string]any) {
		q["steps"] = steps(q)[1:]
		tx(q, 0)["to"] = routerPairs[2].router.Hex()
	}, swap.NotPinned, "to"},
}

// isolatedUSDT is the request of a recorded swap through a router that is not built in.
func isolatedUSDT() swap.QuoteRequest {
	r := routedDAI()
	r.SrcChain, r.TokenIn, r.Isolated = 56, common.HexToAddress("0x55d398326f99059fF775485246999027B3197955"), providertest.Isolated
	return r
}

// onSwap are attacks on a swap on one chain, whose steps are two approvals and the swap.
var onSwap = []attack{
	{"a deposit in place of the router call", func(q map[string]any) { step1(q, 2)["id"] = "deposit" }, swap.NotAsAccepted, "id"},
	{"the depository in place of the router", func(q map[string]any) {
		tx(q, 2)["to"], tx(q, 2)["data"] = depository.Hex(), calldata("0xe8017952", testAccount, usdtOnEthereum, int64(200_000_000), testOrderID)
		for i := range 2 {
			tx(q, i)["data"] = strings.Replace(tx(q, i)["data"].(string), "ccc88a9d1b4ed6b0eaba998850414b24f1c315be", strings.ToLower(depository.Hex()[2:]), 1)
		}
	}, swap.Undecodable, "to"},
	{"a reset that allows", func(q map[string]any) { tx(q, 0)["data"] = tx(q, 1)["data"] }, swap.NotAsAccepted, "approve"},
	{"a reset after the approval", func(q map[string]any) { tx(q, 0)["data"], tx(q, 1)["data"] = tx(q, 1)["data"], tx(q, 0)["data"] }, swap.NotAsAccepted, "approve"},
	{"native value sent along", func(q map[string]any) { tx(q, 2)["value"] = "1" }, swap.NotAsAccepted, "value"},
}

func routedDAI() swap.QuoteRequest {
	r := ask(8453, daiOnBase, 42161, usdcOnArbitrum, 0, 40)
	r.AmountIn = new(big.Int).Mul(units(100), units(1e18))
	r.Recipient = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
	return r
}

// Attacks are the named lies that TestHostile tells the provider.
func Attacks(t *testing.T) (list []providertest.Attack) {
	for _, against := range []struct {
		file    string
		r       swap.QuoteRequest
		attacks []attack
	}{
		{"base-usdc-arbitrum", bridgedUSDC(), onDeposit},
		{"base-dai-arbitrum", routedDAI(), onRouter},
		{"bnb-usdt-arbitrum", isolatedUSDT(), onIsolated},
		{"ethereum-usdt-eth", ask(1, usdtOnEthereum, 1, nativeCoin, 200_000_000, 40), onSwap},
	} {
		raw := recordedQuote(t, against.file)
		if _, err := readQuote(raw, against.r, sandboxSolver); err != nil {
			t.Fatalf("%s, honestly: %v", against.file, err)
		}
		for _, a := range against.attacks {
			list = append(list, providertest.Attack{Name: against.file + "/" + a.name, Code: a.code, Field: a.field, Try: func(t *testing.T) error {
				_, err := readQuote(changed(t, raw, a.change), against.r, sandboxSolver)
				return err
			}})
		}
	}
	return append(list, slices.Concat(
		providertest.AttacksFrom("a step more, later", laterSteps, func(l laterStep) providertest.Attack {
			return providertest.Attack{Code: l.code, Try: func(t *testing.T) error {
				_, _, err := rebuilding(t)(l.change)
				return err
			}}
		}),
		providertest.AttacksFrom("a stored step", changedSteps, func(o changedStep) providertest.Attack {
			return providertest.Attack{Code: o.code, Try: o.decoded}
		}))...)
}

// rebuilding returns a function that builds a quote's plan, each time with a change.
func rebuilding(t *testing.T) func(change func(q map[string]any)) (swap.Built, common.Hash, error) {
	raw, r := recordedQuote(t, "base-usdc-arbitrum"), bridgedUSDC()
	reply := raw
	p := providerOf(t, map[string]http.HandlerFunc{
		"/chains":   func(w http.ResponseWriter, q *http.Request) { replying(200, chainsFor(8453, 42161))(w, q) },
		"/quote/v2": func(w http.ResponseWriter, q *http.Request) { replying(200, reply)(w, q) },
	})
	return func(change func(q map[string]any)) (swap.Built, common.Hash, error) {
		reply = changed(t, raw, change)
		offers, err := p.Quote(t.Context(), r)
		if err != nil {
			return swap.Built{}, common.Hash{}, err
		}
		terms := termsFor(r)
		terms.MinOut, terms.Deadline = offers[0].MinOut, testNow.Add(time.Minute)
		b, err := p.Build(t.Context(), offers[0], terms)
		if err != nil {
			return b, common.Hash{}, err
		}
		f, err := p.Decode(terms, b.Steps[0])
		return b, swap.Digest(terms, []swap.Effect{f}), err
	}
}

// A laterStep is a step more than were quoted and accepted.
type laterStep struct {
	change func(q map[string]any)
	code   swap.Code
}

var laterSteps = map[string]laterStep{
	"a deposit": {func(q map[string]any) { q["steps"] = append(steps(q), copied(steps(q)[1])) }, swap.NotAsAccepted},
	"a signature": {func(q map[string]any) {
		q["steps"] = append(steps(q), copied(map[string]any{"id": "authorize", "kind": "signature", "items": []any{}}))
	}, swap.Undecodable},
	"a transfer": {func(q map[string]any) {
		s := copied(steps(q)[1]).(map[string]any)
		s["id"] = "send"
		q["steps"] = append(steps(q), s)
	}, swap.Undecodable},
}

// TestStepsThatComeLater checks that an accepted plan is not rebuilt as one that does
// something else.
func TestStepsThatComeLater(t *testing.T) {
	build := rebuilding(t)
	first, digest, err := build(func(map[string]any) {})
	if err != nil {
		t.Fatal(err)
	}
	again, other, err := build(func(q map[string]any) { q["steps"] = steps(q)[1:] }) // the allowance is in place by now
	if err != nil || len(again.Steps) != len(first.Steps) || other != digest || again.Spender != first.Spender {
		t.Errorf("without its approval it is another plan: %v", err)
	}
	_, other, err = build(func(q map[string]any) { // a router instead of the depository
		proxy := strings.ToLower(routerPairs[2].proxy.Hex())
		tx(q, 1)["to"], tx(q, 1)["data"] = proxy, "0xf9e4bab4"+at(q, "protocol", "v2")["orderId"].(string)[2:]
		tx(q, 0)["data"] = calldata("0x095ea7b3", routerPairs[2].proxy, int64(25_000_000))
	})
	if err != nil || other == digest {
		t.Errorf("a router in place of the depository goes under the same consent: %v", err)
	}
}

func code(err error) swap.Code {
	var r *swap.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// TestRouters checks that only the built-in routers are called, each for its kind of input,
// but by an isolated account any contract that is not the bridge's for something else; and
// only where the API's own list names them too.
func TestRouters(t *testing.T) {
	p := providerOf(t, nil)
	for _, d := range deployments {
		may := map[common.Address]bool{}
		for _, x := range d.pairs {
			may[x.router] = true
		}
		for _, to := range []common.Address{routerPairs[0].router, routerPairs[1].router, routerPairs[2].router, routerPairs[0].proxy, routerPairs[1].proxy, routerPairs[2].proxy,
			d.wrapped(), d.depository, nativeCoin, testAttacker, testAccount} {
			x := termsFor(ask(d.chain, nativeCoin, d.chain, usdcOnBase, 1e18, 0))
			x.MinOut, x.Deadline, x.GasCeiling = units(1), testNow.Add(time.Minute), units(1)
			for _, x.Isolated = range []common.Address{{}, providertest.Isolated} {
				call := chain.Call{ChainID: d.chain, From: x.From(), To: to, Value: x.AmountIn, Data: []byte{1, 2, 3, 4}}
				f, err := p.Decode(x, swap.Step{Kind: swap.CallStep, Call: &call})
				effects := []swap.Effect{f}
				if x.IsIsolated() {
					effects = append([]swap.Effect{swap.FundSteps(x, units(1))[0].Effect}, f)
				}
				if err == nil {
					err = swap.Check(x, effects, p.Pins())
				}
				if want := may[to] || x.IsIsolated() && to != nativeCoin && !d.isContract(to); (err == nil) != want {
					t.Errorf("chain %d, %s from %s: %v", d.chain, to, x.From(), err)
				}
			}
		}
	}
	named := [2]listedChain{{routers: routerPairs[1:2]}}
	x := parsedQuote{role: roleRouter, call: chain.Call{To: routerPairs[1].router}}
	if err := x.checkListed(named, testNow); err != nil {
		t.Error(err)
	}
	for _, x.role = range []contractRole{roleRouter, roleUnpinned} {
		if err := x.checkListed([2]listedChain{}, testNow); code(err) != swap.NotPinned {
			t.Errorf("a router that the list does not name: %v", err)
		}
	}
	x.offer.Request.TokenIn = usdcOnBase
	if err := x.checkListed(named, testNow); code(err) != swap.NotPinned {
		t.Errorf("a router that the list names for the coin: %v", err)
	}
}

// A changedStep is the accepted call, or its terms, with one change, for which Decode must refuse it.
type changedStep struct {
	change func(*swap.Terms, *swap.Step)
	code   swap.Code
}

var changedSteps = map[string]changedStep{
	"another provider":                       {func(t *swap.Terms, _ *swap.Step) { t.Provider = swap.Intent }, swap.NotAsAccepted},
	"the coin wrapped first":                 {func(t *swap.Terms, _ *swap.Step) { t.Wrap = usdcOnBase }, swap.NotAsAccepted},
	"a chain that the bridge does not serve": {func(t *swap.Terms, _ *swap.Step) { t.SrcChain = 39 }, swap.UnsupportedNetwork},
	"another token":                          {func(t *swap.Terms, _ *swap.Step) { t.TokenIn = daiOnBase }, swap.NotAsAccepted},
	"another amount":                         {func(t *swap.Terms, _ *swap.Step) { t.AmountIn = units(1) }, swap.NotAsAccepted},
	"no amount":                              {func(t *swap.Terms, _ *swap.Step) { t.AmountIn = nil }, swap.AmountZero},
	"a deferred step":                        {func(_ *swap.Terms, s *swap.Step) { s.Kind, s.Call = swap.DeferredStep, nil }, swap.Undecodable},
	"nothing":                                {func(_ *swap.Terms, s *swap.Step) { s.Call = nil }, swap.Undecodable},
	"no value":                               {func(_ *swap.Terms, s *swap.Step) { s.Call.Value = nil }, swap.NotAsAccepted},
	"too much calldata":                      {func(_ *swap.Terms, s *swap.Step) { s.Call.Data = make([]byte, maxCalldata+1) }, swap.Undecodable},
}

// decoded returns the error of decoding the changed step.
func (o changedStep) decoded(t *testing.T) error {
	x, err := readQuote(recordedQuote(t, "base-usdc-arbitrum"), bridgedUSDC(), sandboxSolver)
	if err != nil {
		t.Fatal(err)
	}
	terms, call := termsFor(bridgedUSDC()), x.call
	s := swap.Step{Kind: swap.CallStep, Call: &call}
	o.change(&terms, &s)
	_, err = (&Provider{}).Decode(terms, s)
	return err
}

// TestPublishedRouters checks that every built-in router is published at that address. v3.2
// is in no published file; testdata/live/README.md says what is known of it.
func TestPublishedRouters(t *testing.T) {
	raw, err := os.ReadFile("testdata/live/routers.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Version string         `json:"version"`
		ChainID uint64         `json:"chainId"`
		Router  common.Address `json:"relayRouter"`
		Proxy   common.Address `json:"relayApprovalProxy"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	type built struct {
		chain uint64
		pair  routerPair
	}
	published := map[built]bool{}
	for _, x := range list {
		published[built{x.ChainID, routerPair{x.Version, x.Router, x.Proxy}}] = true
	}
	for _, d := range deployments {
		for _, x := range d.pairs {
			if !published[built{d.chain, x}] && (x.version != "v3.2" || d.chain == 5330) {
				t.Errorf("chain %d: %s is built in and not published", d.chain, x.version)
			}
		}
	}
}

// TestDepositories compares the built-in table with Relay's own.
func TestDepositories(t *testing.T) {
	raw, err := os.ReadFile("testdata/depositories.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ChainID    uint64         `json:"chainId"`
		Depository common.Address `json:"relayDepository"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, d := range depositories {
		built += len(d.chains)
	}
	if built != len(list)+1 || depositoryOf(143) != depository { // 143 is in another file, which pins.go names
		t.Errorf("%d chains, published are %d", built, len(list))
	}
	for _, c := range list {
		if got := depositoryOf(c.ChainID); got != c.Depository {
			t.Errorf("chain %d: %s, published is %s", c.ChainID, got, c.Depository)
		}
	}
	for _, d := range deployments {
		if depositoryOf(d.chain) != d.depository || d.wrapped() == nativeCoin {
			t.Errorf("chain %d: %+v", d.chain, d)
		}
	}
}

// TestPins checks that the bridge starts where the support table says, and that the
// sandbox's solver is pinned only in the sandbox.
func TestPins(t *testing.T) {
	real, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range swap.SupportedChains() {
		if active := swap.SupportOf(swap.Bridge, id).Support == swap.Active; real.Pins().Allows(id, swap.Depot, depository) != active {
			t.Errorf("chain %d", id)
		}
		if real.Pins().Allows(id, swap.Filler, sandboxSolver) {
			t.Errorf("chain %d: a public key counts as the solver", id)
		}
	}
}
