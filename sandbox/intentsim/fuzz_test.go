package intentsim

import (
	"math/big"
	"net/url"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

func seed(f *testing.F, files ...string) {
	f.Helper()
	for _, file := range files {
		raw, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`null`))
	f.Add([]byte(`{"amount":"0x","fromToken":"0x","txHash":1,"slippageTolerance":1e-400}`))
	f.Add([]byte(`{"tradeType":"EXACT_INPUT","fromChainId":8453,"fromToken":"0x0000000000000000000000000000000000000000","toChainId":1,"toToken":"0x0000000000000000000000000000000000000000","amount":"0xff","fromAddress":"0x0000000000000000000000000000000000000001","slippageTolerance":1e-999999999}`))
}

// FuzzQuoteRequest checks that every request that passes the schema can be priced.
func FuzzQuoteRequest(f *testing.F) {
	seed(f, "k_quote_req.json")
	base, _ := network.ByID(8453)
	token := network.Token{Decimals: 6, MicroUSD: 1_000_000}
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := parseQuote(body)
		if err != nil {
			return
		}
		q := &quote{request: request, from: &chain{Chain: operator.Chain{Network: base}}, tokenIn: token, tokenOut: token, amountIn: amount(request.Amount)}
		if q.amountIn == nil || q.amountIn.Sign() <= 0 || q.amountIn.BitLen() > 256 {
			t.Fatalf("amount %q", request.Amount)
		}
		for _, filler := range fillers {
			if r := q.offer(filler); r != nil && (r.min.Cmp(r.amountOut) > 0 || r.min.Sign() < 0 || r.amountOut.Cmp(q.amountIn) > 0) {
				t.Errorf("%s of %s, at least %s", r.amountOut, q.amountIn, r.min)
			}
		}
	})
}

func FuzzBuildRequest(f *testing.F) {
	seed(f, "k_build_req.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := parse[buildRequest](body, buildFields)
		if err == nil && (b.QuoteID == "" || b.RouteID == "" || (b.DepositMethod != "" && builders[b.DepositMethod] == nil)) {
			t.Errorf("an invalid build request is accepted: %+v", b)
		}
	})
}

func FuzzSubmitRequest(f *testing.F) {
	seed(f, "k_sub_req.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := parse[submitRequest](body, submitFields)
		if err == nil && (b.QuoteID == "" || len(b.QuoteID) > 160 || b.RouteID == "") {
			t.Errorf("an invalid submit request is accepted: %+v", b)
		}
	})
}

func FuzzQueries(f *testing.F) {
	f.Add("chainIds=8453,42161&limit=50&cursor=0&symbols=USDC&q=u")
	f.Add("chainIds=8453&chainIds=1&limit=-1&cursor=99999999999999999999")
	base, _ := network.ByID(8453)
	s := &Server{chains: []*chain{{Chain: operator.Chain{Network: base}}}}
	f.Fuzz(func(t *testing.T, raw string) {
		values, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		q := &query{Values: values}
		limit, cursor := q.number("limit", usualTokens, 1, maxTokens), q.number("cursor", 0, 0, maxCursor)
		found, err := s.findTokens(q)
		if err == nil && (limit < 1 || limit > maxTokens || cursor < 0 || len(found) > len(s.chains[0].coins())) {
			t.Errorf("limit %d, cursor %d, %d tokens", limit, cursor, len(found))
		}
	})
}

// FuzzLayout checks that calldata holds every argument where the layout says.
func FuzzLayout(f *testing.F) {
	f.Add(uint64(1), uint64(8453), []byte{1}, []byte{2})
	f.Fuzz(func(t *testing.T, seed, chainID uint64, token, value []byte) {
		if len(value) > 32 {
			return
		}
		l := NewLayout(seed, chainID)
		d := deposit{token: common.BytesToAddress(token), amount: new(big.Int).SetBytes(value), id: common.BytesToHash(token), deadline: seed}
		data := l.calldata(d)
		word := func(at int) common.Hash { return common.Hash(data[4+32*l.At[at]:]) }
		if len(data) != 4+32*l.Words || common.BytesToAddress(word(tokenWord).Bytes()) != d.token || word(amountWord).Big().Cmp(d.amount) != 0 ||
			word(idWord) != d.id || word(deadlineWord).Big().Uint64() != d.deadline {
			t.Errorf("layout %+v of %+v: %x", l, d, data)
		}
	})
}
