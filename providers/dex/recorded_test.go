package dex

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// deadAccount replaces the account that asked in the recordings of quotes.
var deadAccount = common.HexToAddress("0x000000000000000000000000000000000000dEaD")

// recordedToken is the token of the recordings on Base.
var recordedToken = common.HexToAddress("0x07b3D902783c3C12b077508c3B5c00113d1291D0")

// recordedRequest is the request that a recorded quote answered.
func recordedRequest(in, out common.Address, amount string, slippageBps int) swap.QuoteRequest {
	return swap.QuoteRequest{
		Account: deadAccount, Recipient: deadAccount, RefundTo: deadAccount, SrcChain: 8453, DstChain: 8453,
		TokenIn: in, TokenOut: out, AmountIn: providertest.Wei(amount), SlippageBps: slippageBps,
	}
}

// termsOf returns the terms that a person accepts with an offer, with a deadline.
func termsOf(o swap.Offer, until time.Time) swap.Terms {
	r := o.Request
	return swap.Terms{
		Provider: swap.DEX, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: r.TokenIn, TokenOut: r.TokenOut, AmountIn: r.AmountIn, MinOut: o.MinOut, Deadline: until, MakerFeeBps: 20, GasCeiling: oneEther,
	}
}

// answering returns a provider with a fixed time whose API answers with recordings, and the
// list of what was reported as odd.
func answering(t *testing.T, now time.Time, replies map[string][]byte) (*Provider, *[]string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(replies[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	odd := &[]string{}
	p, err := New(Config{Base: server.URL, Sandbox: true, Now: func() time.Time { return now }, Limits: rest.Limits{Rate: 1000, Body: maxReply},
		OnAnomaly: func(what string) { *odd = append(*odd, what) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, odd
}

// TestRecordedSwap checks that a recorded quote becomes an offer, and its recorded calldata
// a plan that passes every check, but not with any byte of the tag's mark changed.
func TestRecordedSwap(t *testing.T) {
	quote, made := providertest.LiveReply(t, "uniswap/quote-base.json"), providertest.LiveReply(t, "uniswap/swap-base.json")
	until := time.Unix(0x6abb482c, 0) // the calldata's own deadline
	now := until.Add(-9 * time.Minute)
	replies := map[string][]byte{"/quote": quote, "/swap": made}
	p, odd := answering(t, now, replies)
	offers, err := p.Quote(t.Context(), recordedRequest(nativeCoin, recordedToken, "10000000000000000", 300))
	if err != nil {
		t.Fatal(err)
	}
	o := offers[0]
	if o.AmountOut.String() != "1094978091009492375744" || o.MinOut.String() != "1062128748279207604471" || len(o.Fees) != 0 {
		t.Errorf("the offer is %s, at least %s, with fees %v", o.AmountOut, o.MinOut, o.Fees)
	}
	terms := termsOf(o, until)
	built, err := p.Build(t.Context(), o, terms)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Decode(terms, built.Steps[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := swap.Check(terms, []swap.Effect{f}, p.Pins()); err != nil {
		t.Fatal(err)
	}
	if tail := built.Steps[0].Call.Data; string(tail[len(tail)-len(idTag):]) != string(idTag) {
		t.Error("the bytes to be signed are not those recorded, with their tag")
	}
	if len(*odd) != 0 {
		t.Errorf("reported anomalies %v, want none", *odd)
	}
	for i := range len(tagMark) {
		replies["/swap"] = []byte(strings.Replace(string(made), "756e69780000", hexutil.Encode(flipped(tagMark, i))[2:], 1))
		if _, err := p.Build(t.Context(), o, terms); codeOf(err) != swap.Undecodable {
			t.Errorf("with byte %d of the tag changed: %v", i, err)
		}
	}
	replies["/swap"] = []byte(strings.Replace(string(made), "a83c728c0100", "a83c728c0101", 1))
	if _, err := p.Build(t.Context(), o, terms); err != nil || len(*odd) != 1 {
		t.Errorf("with another quote's id: %v, told %v", err, *odd)
	}
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 1
	return b
}

// TestRecordedSellUntilSwap checks that the quote of a token becomes a permit to sign and a
// deferred call. The service's next answer was not recorded.
func TestRecordedSellUntilSwap(t *testing.T) {
	now := time.Unix(1790658605, 0).Add(-30 * time.Minute) // its permit's signature ends then
	p, _ := answering(t, now, map[string][]byte{"/quote": providertest.LiveReply(t, "uniswap/sell-base.json")})
	offers, err := p.Quote(t.Context(), recordedRequest(recordedToken, nativeCoin, "1062128748279207604473", 500))
	if err != nil {
		t.Fatal(err)
	}
	terms := termsOf(offers[0], now.Add(10*time.Minute))
	built, err := p.Build(t.Context(), offers[0], terms)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Decode(terms, built.Steps[0])
	if err != nil || len(built.Steps) != 2 || f.Kind != swap.Permit {
		t.Fatalf("%d steps, the first %+v, %v", len(built.Steps), f, err)
	}
	if err := swap.Check(terms, []swap.Effect{f, built.Steps[1].Effect}, p.Pins()); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedCallOfOlderRouter checks that the calldata of an older router is refused for
// its target; for the pinned router it would be understood.
func TestRecordedCallOfOlderRouter(t *testing.T) {
	c := recordedCall(t, "uniswap/calldata-base-ur211-v3-native-in.json")
	terms := termsOf(swap.Offer{
		Request: swap.QuoteRequest{Account: c.From, Recipient: c.From, RefundTo: c.From, SrcChain: 8453, DstChain: 8453,
			TokenOut: common.HexToAddress("0xb095274743941e953c746f9c228da9c18bb6ec29"), AmountIn: c.Value},
		MinOut: big.NewInt(1),
	}, time.Unix(0x6aa161bf, 0))
	decoded := func() error {
		_, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.CallStep, Call: &c})
		return err
	}
	if err := decoded(); codeOf(err) != swap.NotPinned {
		t.Errorf("to the older router: %v", err)
	}
	c.To = base.router
	if err := decoded(); err != nil {
		t.Error(err)
	}
}

func recordedCall(t *testing.T, file string) chain.Call {
	t.Helper()
	var x struct {
		To, From common.Address
		Data     hexutil.Bytes
		Value    string
		ChainID  uint64
	}
	if err := json.Unmarshal(providertest.LiveReply(t, file), &x); err != nil {
		t.Fatal(err)
	}
	value, _ := new(big.Int).SetString("0"+x.Value, 10)
	return chain.Call{ChainID: x.ChainID, From: x.From, To: x.To, Value: value, Data: x.Data}
}

// TestRecordedTestnetCallUntilCommands checks that the tag and the outer encoding of a call
// on a testnet are read as here. Its one command has the form of router 2.0.
func TestRecordedTestnetCallUntilCommands(t *testing.T) {
	c := recordedCall(t, "uniswap/calldata-sepolia-v4-exact-in.json")
	args, tag, err := splitTag(c.Data[4:])
	if err != nil || string(tag) != string(askerTag) {
		t.Fatalf("tag %x, %v", tag, err)
	}
	vals, err := unpackStrict(executeArgs, args)
	if err != nil || string(vals[0].([]byte)) != "\x10" {
		t.Fatalf("execute arguments = %v, %v, want the one command 0x10", vals, err)
	}
}

// TestRecordedQuotesOfOlderRouter: these quotes are read up to their permit, which is
// unlimited and for another router.
func TestRecordedQuotesOfOlderRouter(t *testing.T) {
	for _, file := range []string{"uniswap/quote-classic-base-v4-a.json", "uniswap/quote-classic-base-v4-b.json"} {
		var e envelope
		if err := json.Unmarshal(providertest.LiveReply(t, file), &e); err != nil {
			t.Fatal(err)
		}
		e.Routing = classic // missing in the source
		var q quoteBody
		if err := json.Unmarshal(e.Quote, &q); err != nil {
			t.Fatal(err)
		}
		r := recordedRequest(q.Input.Token.Address, q.Output.Token.Address, q.Input.Amount.String(), 250)
		r.Account, r.Recipient = q.Swapper.Address, q.Swapper.Address
		pr, err := checkRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.echoes(e, r, pr); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if _, minOut, fees, err := q.split(r, pr); err != nil || minOut.Cmp(minAfterSlippage(new(big.Int).Sub(q.Output.Amount.Int, big.NewInt(maxRounding)), 250)) != 0 || len(fees) != 0 {
			t.Errorf("%s: least %v, fees %v, %v", file, minOut, fees, err)
		}
		if _, err := readPermitData(e.PermitData, r, pr); codeOf(err) != swap.NotPinned {
			t.Errorf("%s: the permit: %v", file, err)
		}
	}
}

// TestRecordedExactOutput checks that exact output, which is not requested, is refused.
// Nothing of its fee and amounts is read.
func TestRecordedExactOutput(t *testing.T) {
	raw := providertest.LiveReply(t, "uniswap/quote-classic-bsc-exact-output-v3-v4-portion.json")
	var e envelope
	var q quoteBody
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(e.Quote, &q); err != nil {
		t.Fatal(err)
	}
	r := recordedRequest(q.Input.Token.Address, q.Output.Token.Address, q.Input.Amount.String(), 50)
	r.SrcChain, r.DstChain, r.Account, r.Recipient = 56, 56, q.Swapper.Address, q.Swapper.Address
	var refused *swap.Refusal
	if _, err := (&Provider{}).readQuote(raw, r); !errors.As(err, &refused) || refused.Field != "tradeType" {
		t.Error(err)
	}
}

// TestRecordedOrderUntilEncoding: the encoding of the only order in the list was cut. Its
// lines, put into an order of ours, are within every bound, and so is its fee as an
// integrator's.
func TestRecordedOrderUntilEncoding(t *testing.T) {
	type line struct {
		Token, Recipient       common.Address
		StartAmount, EndAmount string
	}
	var list struct {
		Orders []struct {
			Type    string
			Input   line
			Outputs []line
			Swapper common.Address
			Nonce   string
		}
	}
	if err := json.Unmarshal(providertest.LiveReply(t, "uniswap/orders-dutch-v2-ethereum.json"), &list); err != nil {
		t.Fatal(err)
	}
	l := list.Orders[0]
	in, out, fee := l.Input, l.Outputs[0], l.Outputs[1]
	d := orderTerms{
		chain: 1, account: l.Swapper, recipient: out.Recipient, in: in.Token, out: out.Token, amount: providertest.Wei(in.StartAmount),
		feeBps: 25, feeReceiver: fee.Recipient, kind: dutchV2, reactor: ethereum.reactor, cosigner: cosigner,
		reserved: func(common.Address) bool { return false },
	}
	given := dutchOrder{nonce: providertest.Wei(l.Nonce), deadline: big.NewInt(1_774_555_522)}
	for _, x := range l.Outputs {
		given.outputs = append(given.outputs, dutchLine{token: x.Token, recipient: x.Recipient, start: providertest.Wei(x.StartAmount), end: providertest.Wei(x.EndAmount)})
	}
	got, fees, err := d.build(given).checkBounds(d)
	if err != nil || l.Type != dutchV2.listed || got.end.String() != out.EndAmount || len(fees) != 1 || fees[0].Bps != 25 {
		t.Errorf("checkBounds = %+v, %v, %v, want the recorded end amount and one fee of 25 bps", got, fees, err)
	}
}
