package onchain

import (
	"testing"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// TestOraclesAreOfListedTokens checks that every token with an oracle is on the built-in
// list, so that the decimals used to judge a swap come from that list.
func TestOraclesAreOfListedTokens(t *testing.T) {
	known := map[uint64]map[common.Address]bool{}
	for id := range chainConfigs {
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
