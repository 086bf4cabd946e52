package onchain

import (
	"slices"
	"testing"

	"swapkeep/priceapi/price"
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

// TestEveryNetworksCoinHasAnOracle checks that gas can be weighed on every network, whose own
// coin it is paid in, without a pool having to confirm it.
func TestEveryNetworksCoinHasAnOracle(t *testing.T) {
	for id, c := range chainConfigs {
		if !slices.ContainsFunc(oracles().feeds[price.ID{Chain: id, Address: c.wrapped.address}], func(f feed) bool { return f.measures == "" && !f.quoteOnly }) {
			t.Errorf("chain %d: none", id)
		}
	}
}
