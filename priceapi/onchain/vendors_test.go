//go:build vendors

package onchain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"swapkeep/priceapi/price"
	"swapkeep/test/vendors"

	"github.com/ethereum/go-ethereum/common"
)

// mainMarkets names, by chain, the Aave module whose oracle is used, and the chain in the
// names of Chainlink's feeds.
var mainMarkets = map[uint64]string{1: "Ethereum", 10: "Optimism", 56: "BNB", 8453: "Base", 42161: "Arbitrum", 43114: "Avalanche"}

// TestVendorsPlaces compares oracles, feeds and factories with aave-address-book and
// sdk-core.
func TestVendorsPlaces(t *testing.T) {
	known := vendors.Known(t).Addresses
	c := vendors.NewCount(t, "price pins")
	same := func(chain uint64, kind, name string, ours common.Address) {
		t.Helper()
		if theirs := known[chain][name]; theirs != "" {
			c.Same(fmt.Sprint("chain ", chain, ", ", name), kind, strings.ToLower(ours.Hex()), theirs)
		} else {
			t.Logf("chain %d: no package knows %s", chain, name)
		}
	}
	for chain, p := range chainConfigs {
		same(chain, "wrapped coins", "WETH9", p.wrapped.address)
		for _, m := range p.markets {
			if name := map[price.Source]string{price.UniswapV3: "v3CoreFactoryAddress", price.UniswapV2: "V2 factory"}[m.source]; name != "" {
				same(chain, "factories", name, m.factory)
			}
		}
		if p.aave != (common.Address{}) {
			same(chain, "Aave's oracles", "AaveV3"+mainMarkets[chain]+".ORACLE", p.aave)
		}
		if p.sequencer != (common.Address{}) {
			same(chain, "sequencers' feeds", "Chainlink"+mainMarkets[chain]+".L2_Sequencer_Uptime_Status_Feed", p.sequencer)
		}
	}
	var file struct{ Feeds, Aave []vendorsRow }
	if err := json.Unmarshal(feedsJSON, &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Feeds {
		if r.On == 0 {
			r.On = r.Chain
		}
		if r.Kind != "dia" {
			same(r.On, "feeds", "Chainlink"+mainMarkets[r.On]+"."+r.Name, r.Feed)
		}
	}
	for _, r := range file.Aave {
		prefix, token := "AaveV3"+mainMarkets[r.Chain]+".ASSETS.", strings.ToLower(r.Token.Hex())
		for name, a := range known[r.Chain] {
			if asset, ok := strings.CutSuffix(name, ".UNDERLYING"); ok && a == token && strings.HasPrefix(name, prefix) {
				same(r.Chain, "sources of Aave's oracles", asset+".ORACLE", r.Source)
			}
		}
	}
}

type vendorsRow struct {
	Chain, On           uint64
	Token, Feed, Source common.Address
	Kind, Name          string
}
