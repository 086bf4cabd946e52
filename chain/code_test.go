package chain

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestIsContract checks each kind of address on a real EVM.
func TestIsContract(t *testing.T) {
	for name, tc := range map[string]struct {
		code []byte
		want bool
	}{
		"nobody":              {nil, false},
		"a delegated account": {append(common.FromHex("ef0100"), make([]byte, 20)...), false},
		"a contract":          {common.FromHex("00"), true},
	} {
		a := common.Address{0xaa}
		alloc := types.GenesisAlloc{}
		if tc.code != nil {
			alloc[a] = types.Account{Code: tc.code, Balance: common.Big0}
		}
		h := newTestClient(t, 1, 1, newTestChain(t, 1, alloc).serve(t))
		if got, err := h.IsContract(t.Context(), 1, a); err != nil || got != tc.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	down := newTestClient(t, 1, 1, "http://127.0.0.1:1")
	if _, err := down.IsContract(t.Context(), 1, common.Address{0xaa}); err == nil {
		t.Error("a node that is down says what an address is")
	}
}
