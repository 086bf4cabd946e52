package dex_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"swapkeep/providers/providertest"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// TestRecordedShapes checks that the simulator's answers have every member that recorded
// answers to similar requests have, in the recorded type, and that its calldata ends alike.
func TestRecordedShapes(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t, 8453)
	if err := s.DEX().Set(dexsim.Settings{Auctions: dexsim.AuctionsNever}); err != nil {
		t.Fatal(err)
	}
	usdc := sandboxtest.Token(t, s.Chain(8453), "USDC")
	ask := func(path string, body any) []byte {
		answer := sandboxtest.MustAsk[json.RawMessage](t, "POST", s.DEXURL()+path, body)
		return answer
	}
	type request = map[string]any
	quote := func(in, out any, more request) []byte {
		body := request{"type": "EXACT_INPUT", "amount": "100000000", "tokenIn": in, "tokenOut": out, "tokenInChainId": 8453, "tokenOutChainId": 8453,
			"swapper": s.Accounts()[0].Address, "slippageTolerance": 3, "protocols": []string{"V3"}, "permitAmount": "EXACT"}
		for k, v := range more {
			body[k] = v
		}
		return ask("/quote", body)
	}
	ether := request{"amount": "10000000000000000"}
	buy, sell := quote(native, usdc, ether), quote(usdc, native, nil)
	fee := quote(usdc, weth, request{"integratorFees": []request{{"bips": 25, "recipient": feeReceiver}}})
	made := ask("/swap", request{"quote": member(t, buy, "quote")})
	wrapped := ask("/swap", request{"quote": member(t, quote(native, weth, ether), "quote")})
	for _, x := range []struct {
		file      string
		simulated []byte
		v4        bool // its pools are V4's; the simulator's are V3's
	}{
		{"uniswap/quote-base.json", buy, false},
		{"uniswap/swap-base.json", made, false},
		{"uniswap/sell-base.json", sell, false},
		{"uniswap/quote-classic-base-v4-a.json", sell, true},
		{"uniswap/quote-classic-base-v4-b.json", sell, true},
		{"uniswap/quote-classic-bsc-exact-output-v3-v4-portion.json", fee, true},
	} {
		unlike := providertest.MissingMembers(t, providertest.LiveReply(t, x.file), x.simulated)
		if x.v4 {
			unlike = slices.DeleteFunc(unlike, func(s string) bool {
				return strings.Contains(s, "route[*][*].tickSpacing") || strings.Contains(s, "route[*][*].hooks")
			})
		}
		for _, s := range unlike {
			t.Errorf("%s: %s", x.file, s)
		}
	}
	tail := func(answer []byte) []byte {
		var x struct{ Swap struct{ Data hexutil.Bytes } }
		if err := json.Unmarshal(answer, &x); err != nil {
			t.Fatal(err)
		}
		return x.Swap.Data[len(x.Swap.Data)-len(x.Swap.Data[4:])%32:]
	}
	mark := []byte("unix\x00\x00")
	live := tail(providertest.LiveReply(t, "uniswap/swap-base.json"))
	if got := tail(made); len(got) != len(live) || !bytes.HasPrefix(got, mark) || !bytes.HasPrefix(live, mark) {
		t.Errorf("calldata ends in %x, recorded in %x", got, live)
	}
	if got := tail(wrapped); len(got) != 10 || !bytes.HasPrefix(got, mark) {
		t.Errorf("a deposit ends in %x", got)
	}
}

func member(t *testing.T, answer []byte, name string) json.RawMessage {
	t.Helper()
	var x map[string]json.RawMessage
	if err := json.Unmarshal(answer, &x); err != nil {
		t.Fatal(err)
	}
	return x[name]
}
