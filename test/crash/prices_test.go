//go:build faults && linux

package crash

import (
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
	"swapkeep/test/await"
)

// noSources disables all sources of prices, so that a daemon shows only stored ones.
var noSources = []string{
	"SWAPKEEP_PRICES_SOURCES_DEFILLAMA_DISABLED=true", "SWAPKEEP_PRICES_SOURCES_ONCHAIN_DISABLED=true", "SWAPKEEP_PRICES_SOURCES_GECKOTERMINAL_DISABLED=true",
	"SWAPKEEP_PRICES_SOURCES_COINGECKO_DISABLED=true", "SWAPKEEP_PRICES_SOURCES_DEXSCREENER_DISABLED=true", "SWAPKEEP_PRICES_SOURCES_BLOCKSCOUT_DISABLED=true",
}

// TestPricesKilledAtEveryPoint kills the daemon around the commit of a fetch: its
// successor, which asks no source here, shows what was committed at once, and nothing that
// was not.
func TestPricesKilledAtEveryPoint(t *testing.T) {
	points := map[string]bool{"prices.before_append": false, "prices.after_append": true}
	seen := map[string]bool{}
	for point := range points {
		seen[point] = true
	}
	expected(t, "TestPricesKilledAtEveryPoint", seen)
	for point, committed := range points {
		t.Run(point, func(t *testing.T) {
			d := newDesk(t, takeLane(t))
			d.disablePriceHistory()
			d.Env = append(d.Env, "SWAPKEEP_PRICES_DISABLED=false")
			d.makeHome()
			d.runUntilKilled("SWAPKEEP_FAILPOINT=" + point)
			d.open(noSources...)
			if got := d.showsPrice(); got != committed {
				t.Errorf("the price is shown: %t", got)
			}
			d.checkNoProblems()
			d.shut()
			d.open()
			d.awaitPrice()
			d.shut()
		})
	}
}

// disablePriceHistory disables past prices, which are stored in commits of their own.
func (d *desk) disablePriceHistory() {
	d.t.Helper()
	if _, err := d.lane.Faults("defillama").Add(inject.Rule{Target: "/chart*", Kind: inject.HTTP, Status: 503}); err != nil {
		d.t.Fatal(err)
	}
}

// showsPrice reports whether mainnet's native coin has a price.
func (d *desk) showsPrice() bool {
	d.t.Helper()
	var r protocol.PricesResult
	d.must("prices.list", protocol.PricesParams{ChainID: mainnet, Tokens: []protocol.Address{protocol.Native}}, &r)
	return len(r.Prices) == 1 && r.Prices[0].Now != ""
}

func (d *desk) awaitPrice() {
	d.t.Helper()
	if !await.Holds(longTimeout, d.showsPrice) {
		d.t.Fatalf("no price\n%s", d.Log())
	}
}
