package onchain

import (
	"testing"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// TestOraclesAreOfListedTokens: what has an oracle here is on the built-in list, so that
// the decimals by which a swap is judged are nobody else's.
func TestOraclesAreOfListedTokens(t *testing.T) {
	known := map[uint64]map[common.Address]bool{}
	for id := range places {
		known[id] = map[common.Address]bool{}
	}
	for _, token := range tokens.Builtin().Tokens() {
		if known[token.Chain] != nil {
			known[token.Chain][token.Address] = true
		}
	}
	for id := range oracles().feeds {
		if !known[id.Chain][id.Address] {
			t.Errorf("chain %d: %s", id.Chain, id.Address)
		}
	}
	for id := range oracles().aave {
		if !known[id.Chain][id.Address] {
			t.Errorf("chain %d, of Aave's: %s", id.Chain, id.Address)
		}
	}
}
