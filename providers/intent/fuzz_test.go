package intent

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

func hasCode(err error) bool {
	var r *swap.Refusal
	return errors.As(err, &r)
}

// seeds adds the examples and recorded replies that match the patterns.
func seeds(f *testing.F, patterns ...string) {
	f.Helper()
	added := 0
	for _, p := range patterns {
		files, err := filepath.Glob("testdata/" + p)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			var x struct {
				Response struct{ Body json.RawMessage }
			}
			if json.Unmarshal(raw, &x) == nil && x.Response.Body != nil {
				raw = x.Response.Body
			}
			f.Add(raw)
			added++
		}
	}
	if added == 0 {
		f.Fatal("no seeds")
	}
}

// FuzzQuoteReply: any whole reply or streamed line is either refused with a code or gives
// offers for exactly the request, in the spec's order.
func FuzzQuoteReply(f *testing.F) {
	seeds(f, "examples/k_quote_resp.json", "examples/k_empty.json", "examples/k_e_*.json", "examples/k_stream_line.json", "exchanges/*.quote.json")
	f.Add([]byte(`{"quoteId":"q","routes":[null,7,{"routeId":"A","quote":{"amountIn":"25000000","amountOut":"1e9","validBefore":1e99}}]}`))
	// Here no route is executable: two because of their deposit method, one because of its
	// contract.
	f.Add(bytes.Replace(example(f, "k_quote_resp"), []byte("CONTRACT_CALL"), []byte("TRANSFER"), 2))
	r := exampleRequest()
	f.Fuzz(func(t *testing.T, raw []byte) {
		g := &routeCollector{request: r, now: func() time.Time { return exampleNow }}
		var q quoteReply
		if json.Unmarshal(raw, &q) == nil {
			for _, one := range q.Routes {
				g.add(q.QuoteID, one)
			}
		}
		g.add("", raw)
		offers, err := g.offers(t.Context())
		if err != nil {
			if !hasCode(err) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		for i, o := range offers {
			if o.MinOut.Sign() <= 0 || o.MinOut.Cmp(o.AmountOut) > 0 || o.MinOut.Cmp(minAfterSlippage(o.AmountOut, r.SlippageBps)) < 0 {
				t.Fatalf("%s at least %s", o.AmountOut, o.MinOut)
			}
			if o.Expires.After(exampleNow.Add(maxLife)) || o.Routing != wire.Printable(o.Routing) || o.Duration < 0 {
				t.Fatalf("offer %+v", o)
			}
			if again, err := readStoredRoute(o); err != nil || again.minOut.Cmp(o.MinOut) != 0 {
				t.Fatalf("the kept route is another: %+v, %v", again, err)
			}
			if i > 0 && before(g.routes[i], g.routes[i-1]) {
				t.Fatalf("%+v stands behind %+v", g.routes[i], g.routes[i-1])
			}
		}
	})
}

// before reports whether a must come before b according to the spec.
func before(a, b parsedRoute) bool {
	executable := func(f parsedRoute) bool { return f.callable && f.depositable } // a call of a built-in contract
	switch al, bl := a.expiresAt.Sub(exampleNow) > 30*time.Second, b.expiresAt.Sub(exampleNow) > 30*time.Second; {
	case executable(a) != executable(b):
		return executable(a)
	case al != bl:
		return al
	case a.amountOut.Cmp(b.amountOut) != 0:
		return a.amountOut.Cmp(b.amountOut) > 0
	}
	return a.duration < b.duration
}

// FuzzPlan: any plan that is accepted is one deposit from the account, on its network, with
// exactly the input as value if that is the native coin, and passes package swap's check.
func FuzzPlan(f *testing.F) {
	seeds(f, "examples/k_build_*.json", "exchanges/*.build.json")
	for _, list := range hostilePlans {
		for _, h := range list {
			f.Add(planWith(f, example(f, "k_build_resp"), h.change))
		}
	}
	for _, h := range hostileNativePlans {
		f.Add(planWith(f, example(f, "k_build_native"), h.change))
	}
	p := &Provider{depositContracts: depositContracts}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, terms := range []swap.Terms{termsOf(exampleRequest(), 1), nativeTerms()} {
			d, err := readPlan(raw, terms, depositContracts)
			if err != nil {
				if !hasCode(err) {
					t.Fatalf("a refusal without a code: %v", err)
				}
				continue
			}
			value := new(big.Int)
			if terms.TokenIn == (common.Address{}) {
				value = terms.AmountIn
			}
			if d.value.Cmp(value) != 0 || d.to != exampleDepot || len(d.data) < selectorLen {
				t.Fatalf("deposit %+v", d)
			}
			e, err := p.Decode(terms, swap.Step{Kind: swap.CallStep, Call: d.call(terms)})
			if err != nil {
				t.Fatalf("what was taken is not decoded: %v", err)
			}
			if err := swap.Check(terms, []swap.Effect{e}, p.Pins()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzSubmitReply: an accepted order id is a valid one, and every error leaves open what
// became of the order.
func FuzzSubmitReply(f *testing.F) {
	seeds(f, "examples/k_sub_resp.json", "examples/k_e_*.json")
	d := depositRef{exampleQuote, "Hyperstream", exampleTx}
	f.Fuzz(func(t *testing.T, raw []byte) {
		id, err := d.readSubmitted(raw)
		var r *swap.Refusal
		switch {
		case err == nil && !isID(id):
			t.Fatalf("the name %q", id)
		case err != nil && (!errors.As(asTemporary(err), &r) || !r.Temporary()):
			t.Fatalf("refused for good: %v", err)
		}
	})
}

// FuzzOrderReply: an accepted claim has a known state and a printable word, and is about
// this order.
func FuzzOrderReply(f *testing.F) {
	seeds(f, "examples/k_ord_*.json", "examples/k_e_*.json", "exchanges/base-usdc-arbitrum.*.json")
	o := exampleOrderOf(f)
	d, err := minedDeposit(o)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, read := range []func([]byte, swap.Order, depositRef) (orderReply, error){readOrder, readOrders} {
			r, err := read(raw, o, d)
			if err != nil {
				if !hasCode(err) {
					t.Fatalf("a refusal without a code: %v", err)
				}
				continue
			}
			if r.QuoteID != d.quoteID || r.RouteID != d.routeID || !r.ofDeposit(d) || !r.Author.Is(exampleAccount) || !isID(r.ID) {
				t.Fatalf("order %+v", r)
			}
			c, err := r.claim()
			switch {
			case err != nil && !hasCode(err):
				t.Fatalf("a refusal without a code: %v", err)
			case err == nil && (c.State != swap.Settling && c.State != swap.Filled && c.State != swap.Refunded && c.State != swap.Failed || c.ProviderStatus != wire.Printable(c.ProviderStatus)):
				t.Fatalf("claim %+v", c)
			}
		}
	})
}

// FuzzTokens: listed tokens are of the network, unique, and printable.
func FuzzTokens(f *testing.F) {
	seeds(f, "examples/k_tok*.json", "examples/k_e_*.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := readTokens(raw, 8453)
		if err != nil {
			if !hasCode(err) {
				t.Fatalf("a refusal without a code: %v", err)
			}
			return
		}
		seen := map[common.Address]bool{}
		for _, x := range list {
			if x.Chain != 8453 || seen[x.Address] || x.Symbol == "" || x.Name == "" || x.Verified || x.Imported || len(list) > maxTokens {
				t.Fatalf("token %+v", x)
			}
			seen[x.Address] = true
		}
	})
}

// FuzzQuantity: an accepted quantity is an unsigned number of at most 256 bits.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{`"0x2105"`, `"8453"`, `8453`, `"0x"`, `"0X1"`, `"-1"`, `"0x_1"`, `1e9`, `null`, `"0x0"`, `"1.5"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var q *quantity
		if json.Unmarshal(raw, &q) != nil || q == nil {
			return
		}
		if q.Int == nil || q.Sign() < 0 || q.BitLen() > 256 {
			t.Fatalf("%s is %v", raw, q.Int)
		}
	})
}
