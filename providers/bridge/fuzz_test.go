package bridge

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// fuzzed are the recorded quotes that fuzzing starts with.
var fuzzed = []struct {
	file string
	r    swap.QuoteRequest
}{
	{"base-usdc-arbitrum", bridgedUSDC()},
	{"base-eth-superseed", ask(8453, nativeCoin, 5330, nativeCoin, 10_000_000_000_000_000, 0)},
	{"ethereum-usdt-eth", ask(1, usdtOnEthereum, 1, nativeCoin, 200_000_000, 40)},
	{"base-dai-arbitrum", routedDAI()},
	{"bnb-usdt-arbitrum", isolatedUSDT()},
}

// accepts requires a call to be accepted under terms made from a quote's offer.
func accepts(t *testing.T, r swap.QuoteRequest, c chain.Call) swap.Effect {
	t.Helper()
	terms := termsFor(r)
	terms.MinOut, terms.Deadline, terms.GasCeiling = units(1), testNow.Add(time.Minute), units(1)
	var effects []swap.Effect
	if terms.IsIsolated() {
		for _, s := range swap.FundSteps(terms, units(1)) {
			effects = append(effects, s.Effect)
		}
	}
	f, err := decodeCall(terms, c)
	if err == nil {
		err = swap.Check(terms, append(effects, f), (&Provider{solver: solver}).Pins())
	}
	if err != nil {
		t.Fatalf("what was read is not accepted: %v", err)
	}
	return f
}

// FuzzQuoteReply: any reply is refused with a code, or its step spends exactly the input.
func FuzzQuoteReply(f *testing.F) {
	for i, x := range fuzzed {
		f.Add([]byte(recordedQuote(f, x.file)), uint8(i))
	}
	f.Add([]byte(`{"requestId":"0x","steps":[{"items":[{"data":null,"check":{"endpoint":"%"}}]}]}`), uint8(0))
	f.Add([]byte(`{"details":{"currencyIn":{"currency":{}},"currencyOut":null}}`), uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, which uint8) {
		r := fuzzed[int(which)%len(fuzzed)].r
		x, err := readQuote(raw, r, sandboxSolver)
		if err != nil {
			if code(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		o := x.offer
		if o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Cmp(minAfterSlippage(o.AmountOut, r.SlippageBps)) < 0 {
			t.Fatalf("%s at least %s", o.AmountOut, o.MinOut)
		}
		if x.id == (common.Hash{}) || x.refunds.minimum.Sign() <= 0 || x.refunds.token == r.TokenIn && x.refunds.minimum.Cmp(r.AmountIn) > 0 || o.Route != wire.Printable(o.Route) {
			t.Fatalf("accepted quote %+v with a bad id, refund or route", x)
		}
		if f := accepts(t, r, x.call); len(f.Spends) != 1 || f.Spends[0].Token != r.TokenIn || f.Spends[0].Amount.Cmp(r.AmountIn) != 0 {
			t.Fatalf("spends %+v", f.Spends)
		}
		if _, err := json.Marshal(o); err != nil {
			t.Fatalf("the offer cannot be stored: %v", err)
		}
	})
}

// FuzzDecode: any call that is decoded goes to a contract that is known for it, with
// exactly the input, and a deposit's bytes are those that its parts encode to.
func FuzzDecode(f *testing.F) {
	for i, x := range fuzzed {
		q, err := readQuote(recordedQuote(f, x.file), x.r, sandboxSolver)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(q.call.To[:], q.call.Data, q.call.Value.Bytes(), uint8(i))
	}
	f.Fuzz(func(t *testing.T, to, data, value []byte, which uint8) {
		if len(value) > 32 {
			value = value[:32]
		}
		r := fuzzed[int(which)%len(fuzzed)].r
		c := chain.Call{ChainID: r.SrcChain, From: r.From(), To: common.BytesToAddress(to), Value: new(big.Int).SetBytes(value), Data: data}
		e, err := decodeCall(termsFor(r), c)
		if err != nil {
			if code(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		accepts(t, r, c)
		if e.Kind != swap.Deposit {
			return
		}
		want := common.FromHex(calldata("0x49290c1c", r.Account, e.DepositID))
		if r.TokenIn != nativeCoin {
			want = common.FromHex(calldata("0xe8017952", r.Account, r.TokenIn, common.BigToHash(r.AmountIn), e.DepositID))
		}
		if string(want) != string(data) {
			t.Fatalf("%x is read as %x", data, want)
		}
	})
}

// FuzzChains: a list is refused with a code, or names usable routers and is fit to show.
func FuzzChains(f *testing.F) {
	f.Add(example(f, "chains_resp"))
	f.Add(chainsFor(1, 10, 56))
	f.Add([]byte(`{"chains":[null,{"id":1,"vmType":"evm","contracts":{"erc20Router":7,"v3":[]}}]}`))
	f.Add([]byte(`{"chains":[{"id":7,"vmType":"evm","displayName":9,"name":"\u202e\u0000","explorerUrl":"javascript:a","currency":[],"featuredTokens":{},"erc20Currencies":[null,1]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := readChains(raw)
		if err != nil && code(err) == "" {
			t.Fatalf("a refusal without a code: %v", err)
		}
		for id, l := range list {
			for _, p := range l.routers {
				if l.checkRouter(p.router, nativeCoin) != nil || l.checkRouter(p.proxy, usdcOnBase) != nil {
					t.Fatalf("chain %d names %+v", id, p)
				}
			}
			if err := fitToShow(id, l); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzStatusReply: a claim has a known state, and is fit to be shown.
func FuzzStatusReply(f *testing.F) {
	for _, name := range []string{"st_waiting", "st_pending", "st_success", "st_refund", "st_unknown", "st_v1", "st_v2"} {
		f.Add(example(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := readStatus(raw)
		var c swap.Claim
		if err == nil {
			c, err = paidExample().claim(r, testNow)
		}
		if err != nil {
			if code(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		soundClaim(t, c)
	})
}

func soundClaim(t *testing.T, c swap.Claim) {
	t.Helper()
	known := c.State == swap.Settling || c.State == swap.Filled || c.State == swap.Refunded || c.State == swap.Failed
	if !known || c.ProviderStatus != wire.Printable(c.ProviderStatus) || (c.Tx == common.Hash{}) != (c.Chain == 0) {
		t.Fatalf("claims %+v", c)
	}
}

// FuzzFrame: a pushed frame gives a claim about this order, or nothing.
func FuzzFrame(f *testing.F) {
	for _, name := range []string{"ws_ready", "ws_ack", "ws_evt"} {
		f.Add(example(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame, err := readFrame(raw)
		if err != nil {
			return
		}
		if c, ok := paidExample().claimFromFrame(frame, testNow); ok {
			soundClaim(t, c)
		}
	})
}

// FuzzIndexReply: only a reply with a message confirms the report, and no reply refuses an
// order that is paid.
func FuzzIndexReply(f *testing.F) {
	for _, s := range []string{`{"message":"Success"}`, `{"message":""}`, `{"message":null}`, `{"message":7}`, `{"error":"x"}`, `[]`, `null`, `"message"`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := asTemporary(readIndexed(raw))
		var m map[string]any
		var r *swap.Refusal
		switch {
		case err == nil && (json.Unmarshal(raw, &m) != nil || len(m) == 0):
			t.Fatalf("%q counts as noted", raw)
		case err != nil && (!errors.As(err, &r) || !r.Temporary()):
			t.Fatalf("%q refuses for good: %v", raw, err)
		}
	})
}
