package chain

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestAsk checks that each question gets an answer, in order: nil for a revert, empty
// where there is no code. Multicall3 is not on this chain; the sandbox has it.
func TestAsk(t *testing.T) {
	tells, reverts, empty := bigAddress(1001), bigAddress(1002), bigAddress(1003)
	c := newTestChain(t, 1, types.GenesisAlloc{
		tells:   {Balance: new(big.Int), Code: constantCode(bigHash(77))},
		reverts: {Balance: new(big.Int), Code: revertCode},
	})
	h := newTestClient(t, 1, 1, c.serve(t))
	got, err := h.Ask(t.Context(), 1, []Question{{reverts, symbolCall}, {tells, symbolCall}, {empty, nil}})
	if err != nil || len(got) != 3 || got[0] != nil || !bytes.Equal(got[1], bigHash(77).Bytes()) || got[2] == nil || len(got[2]) != 0 {
		t.Fatalf("Ask = %x, %v, want nil, 32 bytes and an empty answer", got, err)
	}
	if got, err := h.Ask(t.Context(), 10, []Question{{common.Address{}, nil}}); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("another chain: %x, %v", got, err)
	}
	if got, err := h.Ask(t.Context(), 1, nil); err != nil || len(got) != 0 || c.count("eth_call") != 4 {
		t.Errorf("nothing asked: %x, %v, %d calls", got, err, c.count("eth_call"))
	}
}
