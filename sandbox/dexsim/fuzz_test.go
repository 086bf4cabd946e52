package dexsim

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// recorded returns the body of a recorded request.
func recorded(f *testing.F, file, part string) []byte {
	f.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		f.Fatal(err)
	}
	var all map[string]json.RawMessage
	var request struct {
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(all[part], &request); err != nil {
		f.Fatal(err)
	}
	return request.Body
}

// FuzzQuoteRequest checks that every body that passes the schema decodes to a usable
// request.
func FuzzQuoteRequest(f *testing.F) {
	f.Add(recorded(f, "02_quote_classic.json", "request"))
	f.Add(recorded(f, "10_wrap.json", "quote_request"))
	f.Add([]byte(`{"slippageTolerance":1e-9}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := &http.Request{Header: http.Header{}}
		if checkQuote(body, r) != nil {
			return
		}
		var q quoteRequest
		if err := json.Unmarshal(body, &q); err != nil {
			t.Fatalf("passed the schema, yet %v", err)
		}
		if n := amount(q.Amount); n == nil || n.Sign() <= 0 || n.BitLen() > 256 {
			t.Errorf("amount %q", q.Amount)
		}
		if bips, _ := q.slippage(); bips < 0 || bips > allBips {
			t.Errorf("slippage %d", bips)
		}
	})
}

// FuzzSwapRequest checks that no accepted quote makes the calldata builder panic or
// return too little.
func FuzzSwapRequest(f *testing.F) {
	f.Add(recorded(f, "03_swap_classic.json", "request"))
	f.Add(recorded(f, "10_wrap.json", "swap_request"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parseSwap(body)
		if err != nil || r.classic == nil {
			return
		}
		m := &market{Chain: operator.Chain{Network: network.Network{Tokens: []network.Token{{Address: common.Address(r.classic.Output.Token)}}}}}
		p, err := m.program(r)
		if err != nil {
			return
		}
		data, err := p.calldata(r.Deadline)
		if err == nil && len(data) < 4 {
			t.Errorf("calldata %x", data)
		}
	})
}
