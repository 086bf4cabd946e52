package gasless

import (
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

var (
	testNow      = time.Unix(1_772_813_400, 0).UTC()
	testLife     = 20 * time.Minute
	testAttacker = common.HexToAddress("0xBadBadBadBadBadBadBadBadBadBadBadBadBad0")
)

// fixture returns a recorded reply and the request that it answers.
func fixture(t testing.TB, name string) (raw []byte, r swap.QuoteRequest) {
	t.Helper()
	file, err := os.ReadFile("testdata/exchanges/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(file, &x); err != nil {
		t.Fatal(err)
	}
	return x.Response.Body, testRequests(t)[name]
}

// testRequests are the requests of the recorded quotes, by file.
func testRequests(t testing.TB) map[string]swap.QuoteRequest {
	v := readVectors(t)
	jam, rfq := vectorTerms(v), vectorTerms(v)
	signable["jam_v2_standard_5330"].terms(&jam)
	out := map[string]swap.QuoteRequest{}
	for name, t := range map[string]swap.Terms{"superseed-usdc-weth.quote.json": jam, "ethereum-usdc-weth.quote.json": rfq} {
		out[name] = swap.QuoteRequest{
			Account: t.Account, Recipient: t.Recipient, RefundTo: t.RefundTo, SrcChain: t.SrcChain, DstChain: t.SrcChain,
			TokenIn: t.TokenIn, TokenOut: t.TokenOut, AmountIn: t.AmountIn, SlippageBps: 50, FeeBps: t.FeeBps, FeeReceiver: t.FeeReceiver,
		}
	}
	return out
}

func testVenue(t testing.TB, r swap.QuoteRequest, name string) venue {
	t.Helper()
	v, err := venueOf(r.SrcChain, func(v venue) bool { return v.protocol.name == name })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An attack changes one or more fields of a reply.
type attack struct {
	name   string
	change func(reply, toSign map[string]any)
	code   swap.Code
	field  string
}

func set(key string, v any) func(reply, toSign map[string]any) {
	return func(_, toSign map[string]any) { toSign[key] = v }
}

func both(change ...func(reply, toSign map[string]any)) func(reply, toSign map[string]any) {
	return func(reply, toSign map[string]any) {
		for _, c := range change {
			c(reply, toSign)
		}
	}
}

func show(key string, v any) func(reply, toSign map[string]any) {
	return func(reply, _ map[string]any) { reply[key] = v }
}

// attacksOnBoth apply to either protocol. The displayed fields stay honest, or lie in the
// same way as the order to be signed.
var attacksOnBoth = []attack{
	{"the output to another recipient", set("receiver", testAttacker.Hex()), swap.NotAsAccepted, "receiver"},
	{"the output to another, shown so too", both(set("receiver", testAttacker.Hex()), show("receiver", testAttacker.Hex())), swap.NotAsAccepted, "receiver"},
	{"an order without end", both(set("expiry", 9_999_999_999), show("expiry", 9_999_999_999)), swap.NotAsAccepted, "expiry"},
	{"an expiry behind the one shown", set("expiry", 1_772_813_600), swap.NotAsAccepted, "expiry"},
	{"an additional field", set("extra", "0"), swap.Undecodable, "toSign"},
	{"another struct", func(reply, _ map[string]any) { reply["toSign"] = map[string]any{"permitted": []any{}} }, swap.Undecodable, "toSign"},
	{"no struct", show("toSign", nil), swap.ProviderInvalidResponse, "toSign"},
	{"the settlement allowed", show("approvalTarget", jamSettlement.Hex()), swap.NotPinned, "approvalTarget"},
	{"a stranger allowed", show("approvalTarget", testAttacker.Hex()), swap.NotPinned, "approvalTarget"},
	{"Permit2 allowed", show("approvalTarget", permit2.Hex()), swap.NotPinned, "approvalTarget"},
	{"a domain of a stranger's", show("settlementAddress", testAttacker.Hex()), swap.NotPinned, "settlementAddress"},
	{"by the router, whose orders hold no minimum", both(show("settlementAddress", bebopRouter.Hex()), show("approvalTarget", bebopRouter.Hex())), swap.NoMinimum, "settlementAddress"},
	{"the router allowed", show("approvalTarget", bebopRouter.Hex()), swap.NoMinimum, "settlementAddress"},
	{"the router's address for the settlement's", show("settlementAddress", bebopRouter.Hex()), swap.NoMinimum, "settlementAddress"},
	{"the router as receiver", both(set("receiver", bebopRouter.Hex()), show("receiver", bebopRouter.Hex())), swap.NotAsAccepted, "receiver"},
	{"the former version's domain", show("settlementAddress", "0xbEbEbEb035351f58602E0C1C8B59ECBfF5d5f47b"), swap.NotPinned, "settlementAddress"},
	{"another chain", show("chainId", 10), swap.NotAsAccepted, "chainId"},
	{"a second signature", show("requiredSignatures", []any{testAttacker.Hex()}), swap.NotAsAccepted, "requiredSignatures"},
	{"a transaction as well", show("tx", map[string]any{"to": testAttacker.Hex(), "value": "0x0", "data": "0x"}), swap.NotAsAccepted, "tx"},
	{"an approval by Permit2", show("approvalType", "Permit2"), swap.NotAsAccepted, "approvalType"},
	{"two tokens bought", func(reply, _ map[string]any) {
		reply["buyTokens"].(map[string]any)[testAttacker.Hex()] = map[string]any{"amount": "1", "minimumAmount": "1"}
	}, swap.NotAsAccepted, "buyTokens"},
	{"several tokens for one", show("type", "M21"), swap.NotAsAccepted, "type"},
	{"a name that breaks out of a query", show("quoteId", "1&taker=2"), swap.ProviderInvalidResponse, "quoteId"},
	{"a fee in another token", show("partnerFee", map[string]any{testAttacker.Hex(): "1"}), swap.NotAsAccepted, "partnerFee"},
	{"a fee of its own", func(reply, toSign map[string]any) {
		for token := range reply["buyTokens"].(map[string]any) {
			reply["protocolFee"] = map[string]any{token: "100000000000000000"}
		}
	}, swap.NotAsAccepted, "protocolFee"},
	{"no quote", show("status", "Failed"), swap.ProviderRefused, "status"},
}

var attacksOnJAM = []attack{
	{"calls around the settlement", set("hooksHash", "0x"+strings.Repeat("11", 32)), swap.NotAsAccepted, "hooksHash"},
	{"calls around the settlement, shown so too", show("hooksHash", "0x"+strings.Repeat("11", 32)), swap.NotAsAccepted, "hooksHash"},
	{"two tokens sold", both(set("sellTokens", []any{testAttacker.Hex(), testAttacker.Hex()}), set("sellAmounts", []any{"1", "1"})), swap.Undecodable, "toSign"},
	{"another token sold", set("sellTokens", []any{testAttacker.Hex()}), swap.NotAsAccepted, "sellToken"},
	{"a larger input", set("sellAmounts", []any{"100000001"}), swap.NotAsAccepted, "sellAmount"},
	{"another token bought", set("buyTokens", []any{testAttacker.Hex()}), swap.NotAsAccepted, "buyToken"},
	{"an output of zero", set("buyAmounts", []any{"0"}), swap.NotAsAccepted, "buyAmount"},
	{"less than is shown", set("buyAmounts", []any{"50374621346021719"}), swap.NotAsAccepted, "minimumAmount"},
	{"the fee to another receiver", set("partnerInfo", packedFee(testAttacker, 40, 0)), swap.NotAsAccepted, "feeBps"},
	{"a higher fee", set("partnerInfo", packedFee(common.HexToAddress("0xbEEF"), 300, 0)), swap.NotAsAccepted, "feeBps"},
	{"no fee", set("partnerInfo", "0"), swap.NotAsAccepted, "feeBps"},
	{"a fee for itself", set("partnerInfo", packedFee(common.HexToAddress("0xbEEF"), 40, 500)), swap.NotAsAccepted, "makerFeeBps"},
	{"more in the packed fee", set("partnerInfo", new(big.Int).Lsh(big.NewInt(1), 200).String()), swap.Undecodable, "partnerInfo"},
	{"nonce 0", set("nonce", "0"), swap.Undecodable, "nonce"},
	{"an exclusive solver without end", set("exclusivityDeadline", 9_999_999_999), swap.NotAsAccepted, "exclusivityDeadline"},
	{"another taker", set("taker", testAttacker.Hex()), swap.NotAsAccepted, "taker"},
}

var attacksOnRFQ = []attack{
	{"a partner with a share", set("partner_id", 7), swap.NotAsAccepted, "partner_id"},
	{"a partner with a share, as text", set("partner_id", "7"), swap.NotAsAccepted, "partner_id"},
	{"the highest partner", set("partner_id", json.Number("18446744073709551615")), swap.NotAsAccepted, "partner_id"},
	{"a partner of more bits than the flags have, none by what is left of them", set("partner_id", json.Number("18446744073709551616")), swap.NotAsAccepted, "partner_id"},
	{"a partner in the flags of a transaction", show("tx", map[string]any{"to": rfqSettlement.Hex(), "value": "0x0", "data": partnerCall}), swap.NotAsAccepted, "tx"},
	{"the router as the maker", set("maker_address", bebopRouter.Hex()), swap.NotAsAccepted, "maker_address"},
	{"the router as taker and receiver of its inner order", both(set("taker_address", bebopRouter.Hex()), set("receiver", bebopRouter.Hex())), swap.NotAsAccepted, "taker"},
	{"pulled through Permit2", set("packed_commands", "4"), swap.Undecodable, "packed_commands"},
	{"paid in the native coin", set("packed_commands", "2"), swap.Undecodable, "packed_commands"},
	{"the account as its own maker", func(_, toSign map[string]any) { toSign["maker_address"] = toSign["taker_address"] }, swap.NotAsAccepted, "maker_address"},
	{"the settlement as the maker", set("maker_address", rfqSettlement.Hex()), swap.NotAsAccepted, "maker_address"},
	{"the token as the maker", func(_, toSign map[string]any) { toSign["maker_address"] = toSign["maker_token"] }, swap.NotAsAccepted, "maker_address"},
	{"nonce 0", set("maker_nonce", "0"), swap.Undecodable, "maker_nonce"},
	{"a larger input", set("taker_amount", "1000000001"), swap.NotAsAccepted, "sellAmount"},
	{"another token sold", set("taker_token", testAttacker.Hex()), swap.NotAsAccepted, "sellToken"},
	{"another token bought", set("maker_token", testAttacker.Hex()), swap.NotAsAccepted, "buyToken"},
	{"less than is shown", set("maker_amount", "504765657558485081"), swap.NotAsAccepted, "buyAmount"},
	{"a fee that nobody asked for", func(reply, _ map[string]any) {
		for token := range reply["buyTokens"].(map[string]any) {
			reply["partnerFee"] = map[string]any{token: "1"}
		}
	}, swap.NotAsAccepted, "partnerFee"},
	{"another taker", set("taker_address", testAttacker.Hex()), swap.NotAsAccepted, "taker"},
	{"an order of several makers", show("onchainOrderType", "AggregateOrder"), swap.NotAsAccepted, "onchainOrderType"},
	{"an order of several tokens", show("onchainOrderType", "MultiOrder"), swap.NotAsAccepted, "onchainOrderType"},
}

// partnerCall is the start of a swapSingle call whose flags name partner 7 next to its
// event id.
var partnerCall = "0x4dcebcba" + strings.Repeat("00", 10*32) + strings.Repeat("11", 16) + "0000000000000007" + strings.Repeat("00", 8)

func packedFee(partner common.Address, partnerBps, protocolBps int64) string {
	n := new(big.Int).Lsh(new(big.Int).SetBytes(partner[:]), 32)
	n.Add(n, big.NewInt(partnerBps<<16|protocolBps))
	return n.String()
}

// Attacks are the named attacks that TestHostile runs against one protocol.
func Attacks(t *testing.T, protocol string) (list []providertest.Attack) {
	by := map[string]struct {
		file    string
		attacks []attack
	}{
		"JAM": {"superseed-usdc-weth.quote.json", attacksOnJAM},
		"RFQ": {"ethereum-usdc-weth.quote.json", attacksOnRFQ},
	}[protocol]
	raw, r := fixture(t, by.file)
	v := testVenue(t, r, protocol)
	if _, err := v.readQuote(raw, r); err != nil {
		t.Fatalf("%s, honestly: %v", protocol, err)
	}
	for _, a := range slices.Concat(attacksOnBoth, by.attacks) {
		list = append(list, providertest.Attack{Name: a.name, Code: a.code, Field: a.field, Try: func(t *testing.T) error {
			_, err := v.readQuote(changed(t, raw, a.change), r)
			return err
		}})
	}
	if protocol != "JAM" {
		return list
	}
	return slices.Concat(list,
		providertest.AttacksFrom("typed data", otherData, func(o otherTyped) providertest.Attack {
			return providertest.Attack{Code: o.code, Field: o.field, Try: o.decoded}
		}),
		providertest.AttacksFrom("another step", otherKinds, func(s swap.Step) providertest.Attack {
			return providertest.Attack{Code: swap.Undecodable, Try: func(t *testing.T) error {
				_, err := (&Provider{}).Decode(dataTerms(t), s)
				return err
			}}
		}))
}

func changed(t testing.TB, raw []byte, change func(reply, toSign map[string]any)) []byte {
	t.Helper()
	var reply map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&reply); err != nil {
		t.Fatal(err)
	}
	change(reply, reply["toSign"].(map[string]any))
	out, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFeeOfTheProtocol: a protocol fee within the terms is shown as a payment to the
// settlement, and one basis point more is refused.
func TestFeeOfTheProtocol(t *testing.T) {
	raw, r := fixture(t, "superseed-usdc-weth.quote.json")
	d := testVenue(t, r, "JAM").expectedFor(r)
	d.makerBps = 10
	for bps, ok := range map[int64]bool{0: true, 5: true, 10: true, 11: false} {
		q, err := decodeQuote(changed(t, raw, set("partnerInfo", packedFee(r.FeeReceiver, 40, bps))))
		if err != nil {
			t.Fatal(err)
		}
		o, err := d.read(q.ToSign, nil)
		if (err == nil) != ok {
			t.Errorf("%d bps: %v", bps, err)
		}
		if !ok {
			continue
		}
		want := []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: 40}}
		if bps > 0 {
			want = append(want, swap.Payment{Token: r.TokenOut, To: jamSettlement, Bps: int(bps)})
		}
		if got := o.fees(d); !equalJSON(got, want) {
			t.Errorf("%d bps: pays %+v", bps, got)
		}
	}
}

func equalJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// An otherTyped is typed data that is not exactly an order for the terms and the built-in
// contract.
type otherTyped struct {
	change func(*apitypes.TypedData, *swap.Terms)
	code   swap.Code
	field  string
}

var otherData = map[string]otherTyped{
	"for another chain":         {func(d *apitypes.TypedData, _ *swap.Terms) { (*big.Int)(d.Domain.ChainId).SetInt64(1) }, swap.NotAsAccepted, "chainId"},
	"for no chain":              {func(d *apitypes.TypedData, _ *swap.Terms) { d.Domain.ChainId = nil }, swap.NotAsAccepted, "chainId"},
	"for a stranger's contract": {func(d *apitypes.TypedData, _ *swap.Terms) { d.Domain.VerifyingContract = testAttacker.Hex() }, swap.NotPinned, "verifyingContract"},
	"for the other protocol's":  {func(d *apitypes.TypedData, _ *swap.Terms) { d.Domain.VerifyingContract = rfqSettlement.Hex() }, swap.NotPinned, "verifyingContract"},
	"in another version":        {func(d *apitypes.TypedData, _ *swap.Terms) { d.Domain.Version = "1" }, swap.Undecodable, "domain"},
	"with a salt":               {func(d *apitypes.TypedData, _ *swap.Terms) { d.Domain.Salt = "0x01" }, swap.Undecodable, "domain"},
	"of another type":           {func(d *apitypes.TypedData, _ *swap.Terms) { d.PrimaryType = "EIP712Domain" }, swap.Undecodable, "primaryType"},
	"of a chain without RFQ":    {func(d *apitypes.TypedData, _ *swap.Terms) { d.PrimaryType = "SingleOrder" }, swap.Undecodable, "primaryType"},
	"with members swapped": {func(d *apitypes.TypedData, _ *swap.Terms) {
		m := d.Types["JamOrder"]
		m[0], m[1] = m[1], m[0]
	}, swap.Undecodable, "typed"},
	"with an additional member":       {func(d *apitypes.TypedData, _ *swap.Terms) { d.Message["extra"] = "1" }, swap.Undecodable, "toSign"},
	"with a missing member":           {func(d *apitypes.TypedData, _ *swap.Terms) { delete(d.Message, "executor") }, swap.Undecodable, "toSign"},
	"with an order below the minimum": {func(_ *apitypes.TypedData, t *swap.Terms) { t.MinOut = new(big.Int).Add(t.MinOut, big.NewInt(1)) }, swap.NotAsAccepted, "minOut"},
	"without a minimum":               {func(_ *apitypes.TypedData, t *swap.Terms) { t.MinOut = nil }, swap.NotAsAccepted, "minOut"},
	"for other terms":                 {func(_ *apitypes.TypedData, t *swap.Terms) { t.Recipient = testAttacker }, swap.NotAsAccepted, "receiver"},
	"under another provider":          {func(_ *apitypes.TypedData, t *swap.Terms) { t.Provider = swap.DEX }, swap.NotAsAccepted, "provider"},
	"with a wrap not accepted":        {func(_ *apitypes.TypedData, t *swap.Terms) { t.Wrap = testAttacker }, swap.NotAsAccepted, "wrap"},
	"without the fee":                 {func(_ *apitypes.TypedData, t *swap.Terms) { t.FeeBps, t.FeeReceiver = 0, common.Address{} }, swap.NotAsAccepted, "feeBps"},
}

// dataTerms are the terms of the first vector's order.
func dataTerms(t testing.TB) swap.Terms {
	terms := vectorTerms(readVectors(t))
	signable["jam_v2_standard_5330"].terms(&terms)
	terms.DstChain = terms.SrcChain
	return terms
}

func (o otherTyped) decoded(t *testing.T) error {
	d, terms := readVectors(t).Vectors[0].TypedData, dataTerms(t)
	d.Message = maps.Clone(d.Message)
	o.change(&d, &terms)
	_, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.TypedStep, TypedData: &d})
	return err
}

// otherKinds are steps that are not typed data, or have none: Decode must refuse them.
var otherKinds = map[string]swap.Step{
	"a call": {Kind: swap.CallStep}, "a deferred call": {Kind: swap.DeferredStep}, "nothing": {Kind: swap.TypedStep}, "an unknown kind": {Kind: "lie", TypedData: &apitypes.TypedData{}},
}
