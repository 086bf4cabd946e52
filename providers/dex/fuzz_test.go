package dex

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// FuzzQuoteReply: any reply to /quote is refused with a code, or is an offer for the
// request with a minimum that the slippage allows.
func FuzzQuoteReply(f *testing.F) {
	f.Add([]byte(fixture(f, "base-eth-usdc.quote.json")))
	f.Add([]byte(fixture(f, "base-wrap.quote.json")))
	f.Add([]byte(fixture(f, "base-usdc-weth.quote.json")))
	f.Add([]byte(`{"routing":"CLASSIC","quote":{"chainId":"0x2105","slippage":0.5,"aggregatedOutputs":[null]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, r := range []swap.QuoteRequest{baseRequest(), wrapRequest(), usdcRequest()} {
			q, err := (&Provider{}).readQuote(raw, r)
			if err != nil {
				if codeOf(err) == "" {
					t.Fatalf("a refusal without a code: %v", err)
				}
				continue
			}
			o := q.offer
			if o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Cmp(minAfterSlippage(o.AmountOut, r.SlippageBps)) < 0 {
				t.Fatalf("%s at least %s", o.AmountOut, o.MinOut)
			}
			if err := checkFees(o.Fees, r); err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(o); err != nil {
				t.Fatalf("the offer cannot be stored: %v", err)
			}
		}
	})
}

func wrapRequest() swap.QuoteRequest {
	r := baseRequest()
	r.TokenOut, r.FeeBps, r.FeeReceiver = base.wrapped, 0, nativeCoin
	return r
}

// FuzzSwapReply: a call that is read from a reply to /swap is from the account, on the
// chain, and bounded.
func FuzzSwapReply(f *testing.F) {
	f.Add([]byte(fixture(f, "base-eth-usdc.swap.json")))
	f.Add([]byte(fixture(f, "base-wrap.swap.json")))
	f.Add([]byte(fixture(f, "base-usdc-weth.swap.json")))
	f.Add([]byte(`{"swap":{"value":"0x","data":"0x0","gasLimit":1e9}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := readSwap(raw, baseTerms())
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if c.From != testAccount || c.ChainID != 8453 || c.Gas > maxGas || len(c.Data) > maxCalldata || c.Value.Sign() < 0 {
			t.Fatalf("accepted call %+v of another sender or chain, or out of bounds", c)
		}
	})
}

// FuzzDecode: any calldata that is accepted for the terms spends exactly the input, pays
// nobody unknown and enforces a minimum for the recipient.
func FuzzDecode(f *testing.F) {
	f.Add(program(f, testDeadline.Unix(), honest()), uint8(0))
	f.Add(program(f, testDeadline.Unix(), harmlessPrograms["the maker's fee"]), uint8(0))
	f.Add(program(f, testDeadline.Unix(), harmlessPrograms["two versions in a row"]), uint8(0))
	for i, x := range readVectors(f).UniversalRouterCalldata {
		f.Add([]byte(x.Calldata), uint8(i%3))
	}
	f.Add(depositFn[:], uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		v := []swap.Terms{ethToUSDC(), nativeOut(), nativeOut(), wrapTerms()}
		v[2].TokenOut, v[2].FeeBps = base.wrapped, 40
		terms := v[int(which)%len(v)]
		value := new(big.Int)
		if terms.TokenIn == nativeCoin {
			value.Set(terms.AmountIn)
		}
		to := base.router
		if which%2 == 1 && len(data) == len(selector{}) {
			to = base.wrapped
		}
		c := chain.Call{ChainID: 8453, From: testAccount, To: to, Value: value, Data: data}
		e, err := (&Provider{}).Decode(terms, swap.Step{Kind: swap.CallStep, Call: &c})
		if err != nil {
			var r *swap.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if len(e.Spends) != 1 || e.Spends[0].Token != terms.TokenIn || e.Spends[0].Amount.Cmp(terms.AmountIn) != 0 {
			t.Fatalf("spends %+v", e.Spends)
		}
		if len(e.Receives) != 1 || e.Receives[0].To != testAccount || e.Receives[0].Token != terms.TokenOut || e.Receives[0].Min.Sign() <= 0 {
			t.Fatalf("receives %+v", e.Receives)
		}
		for _, a := range e.Approves {
			if a.Token != terms.TokenIn || a.Spender != base.router || a.Amount.Cmp(terms.AmountIn) != 0 || len(e.Approves) > 1 {
				t.Fatalf("approves %+v", e.Approves)
			}
		}
		if slices.ContainsFunc(e.Pays, func(p swap.Payment) bool { return p.To != testFeeTo && p.Bps > terms.MakerFeeBps }) {
			t.Fatalf("pays %+v", e.Pays)
		}
	})
}

// FuzzTypedData: any typed data that is accepted for signing is the PermitSingle that we
// would build ourselves: for exactly the input, to the router, and short-lived.
func FuzzTypedData(f *testing.F) {
	for _, x := range readVectors(f).PermitSingle {
		x.Types["EIP712Domain"] = permitTypes["EIP712Domain"]
		f.Add(written(f, apitypes.TypedData{Types: x.Types, PrimaryType: x.PrimaryType, Domain: x.Domain, Message: x.Values}))
	}
	f.Add([]byte(`{"primaryType":"PermitSingle","message":{"details":null,"spender":"0x"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d apitypes.TypedData
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		e, err := (&Provider{}).Decode(usdcTerms(), swap.Step{Kind: swap.TypedStep, TypedData: &d})
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		p := permit{testUSDC, usdcTerms().AmountIn, big.NewInt(e.Approves[0].Until.Unix()), e.Nonce, base.router, big.NewInt(e.Deadline.Unix())}
		want, _, errWant := apitypes.TypedDataAndHash(p.typed(8453))
		got, _, errGot := apitypes.TypedDataAndHash(d)
		if errWant != nil || errGot != nil || !bytes.Equal(got, want) {
			t.Fatalf("signed would be %x, read was %x: %v, %v", got, want, errGot, errWant)
		}
		if e.Approves[0].Until.After(testDeadline.Add(maxAllowance)) || e.Deadline.After(testDeadline.Add(maxSignature)) || e.Nonce.BitLen() > nonceBits {
			t.Fatalf("accepted permit %+v that lasts too long or whose nonce is too large", e)
		}
	})
}

// FuzzPermitData: any permit data in a quote are refused with a code, or are a permit that
// Decode accepts when we build it.
func FuzzPermitData(f *testing.F) {
	f.Add(written(f, tree(f, "base-usdc-weth.quote.json")["permitData"]))
	f.Add(written(f, tree(f, "ethereum-usdc-split.quote.json")["permitData"]))
	f.Add([]byte(`{"domain":{"name":"Permit2","chainId":"0x2105"},"types":{},"values":{"details":{}}} `))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		pr, err := checkRequest(usdcRequest())
		if err != nil {
			t.Fatal(err)
		}
		p, err := readPermitData(raw, usdcRequest(), pr)
		if err == nil && p != nil {
			err = p.checkLifetime(testNow)
		}
		if err != nil {
			if codeOf(err) == "" {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		if p == nil {
			return
		}
		typed := p.typed(8453)
		if _, err := (&Provider{}).Decode(usdcTerms(), swap.Step{Kind: swap.TypedStep, TypedData: &typed}); err != nil {
			t.Fatalf("asked for and not to be signed: %v", err)
		}
	})
}

func wrapTerms() swap.Terms {
	t := ethToUSDC()
	t.TokenOut, t.FeeBps, t.FeeReceiver, t.MinOut = base.wrapped, 0, nativeCoin, oneEther
	return t
}

// FuzzNumber: numbers that are read from JSON are within bounds.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{`"0x16345785d8a0000"`, `"100"`, `100`, `"0x"`, `-1`, `1e3`, `"1_0"`, `"0X10"`, `" 1"`, `0.5`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var q wire.Quantity
		if json.Unmarshal(raw, &q) == nil && q.Int != nil && (q.Sign() < 0 || q.BitLen() > 256) {
			t.Fatalf("%s is %s", raw, q)
		}
		var r wire.Ratio
		if json.Unmarshal(raw, &r) == nil && r.Rat != nil && len(bytes.TrimSpace(raw)) > 40 {
			t.Fatalf("%d bytes for a ratio", len(raw))
		}
	})
}
