package dex_test

import (
	"math/big"
	"testing"

	"swapkeep/providers/dex"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum"
)

// TestMinimumThatTheRouterCuts: the published router reads the lower 160 bits of a sweep's
// minimum, so that 2^160 means none: with nothing to sweep it does not revert. A program
// with such a minimum is refused (TestHostile, "a minimum that the router cuts").
func TestMinimumThatTheRouterCuts(t *testing.T) {
	t.Parallel()
	chain := sandboxtest.Start(t, 1).Chain(1)
	router, token := chain.Network.Contracts.UniversalRouter, chain.Network.Wrapped.Address
	cut := new(big.Int).Lsh(big.NewInt(1), 160)
	for _, min := range []*big.Int{cut, big.NewInt(1)} {
		data := dex.SweepWithMin(t, router, token, min)
		_, err := chain.Client().CallContract(t.Context(), ethereum.CallMsg{To: &router, Data: data}, nil)
		if goesOn := err == nil; goesOn != (min == cut) {
			t.Errorf("the router swept a minimum of %s: %v", min, err)
		}
	}
}
