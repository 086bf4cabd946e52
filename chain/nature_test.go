package chain

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// answering is code that returns word to the calls whose selectors are given, and
// reverts on all others.
func answering(word byte, selectors ...string) []byte {
	code := common.FromHex("5f3560e01c") // the selector
	for _, s := range selectors {
		// dup, push4 selector, eq, push1 to the return, jumpi
		code = append(append(append(code, 0x80, 0x63), common.FromHex(s)...), 0x14, 0x60, 0, 0x57)
	}
	code = append(code, 0x5f, 0x5f, 0xfd)
	at := byte(len(code))
	for i := 5; i < len(code)-3; i += 10 {
		code[i+8] = at
	}
	return append(code, 0x5b, 0x60, word, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3)
}

// TestNature: what a real EVM shows of each sort of address. In doubt it is a token.
func TestNature(t *testing.T) {
	const decimals, supply, balance, supports = "313ce567", "18160ddd", "70a08231", "01ffc9a7"
	for name, tc := range map[string]struct {
		code []byte
		want Nature
	}{
		"nobody":                        {nil, Nature{}},
		"a delegated account":           {append(common.FromHex("ef0100"), make([]byte, 20)...), Nature{}},
		"a contract":                    {answering(1), Nature{Code: true}},
		"a token":                       {answering(18, decimals, supply, balance), Nature{Code: true, Token: true}},
		"a token without decimals":      {answering(18, supply, balance), Nature{Code: true, Token: true}},
		"decimals alone":                {answering(6, decimals), Nature{Code: true, Token: true}},
		"a supply alone":                {answering(6, supply), Nature{Code: true}},
		"an nft":                        {answering(1, supports), Nature{Code: true, NFT: true}},
		"supports nothing":              {answering(0, supports), Nature{Code: true}},
		"a fallback that says anything": {common.FromHex("60015f5260205ff3"), Nature{Code: true, Token: true, NFT: true}},
		"a fallback that says nothing":  {common.FromHex("00"), Nature{Code: true}},
	} {
		a := common.Address{0xaa}
		alloc := types.GenesisAlloc{}
		if tc.code != nil {
			alloc[a] = types.Account{Code: tc.code, Balance: common.Big0}
		}
		h := newTestHub(t, 1, 1, newTestChain(t, 1, alloc).serve(t))
		if got, err := h.Nature(t.Context(), 1, a); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
	down := newTestHub(t, 1, 1, "http://127.0.0.1:1")
	if _, err := down.Nature(t.Context(), 1, common.Address{0xaa}); err == nil {
		t.Error("a node that is down says what an address is")
	}
}
