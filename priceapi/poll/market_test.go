package poll

import (
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// TestMarketOf checks that the market's price takes two hands that agree with each other and with
// the accepted price, is the lower one, and that any number of sources of one hand is none.
func TestMarketOf(t *testing.T) {
	last := newAccepted(price.Sample{Value: value("1"), At: noon, Source: price.DefiLlama}, noon)
	for name, c := range map[string]struct {
		readings []price.Reading
		want     string // "" = none
	}{
		"one":                      {[]price.Reading{reading(price.DefiLlama, "1", 0)}, ""},
		"one hand":                 {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.GeckoTerminal, "1", 0), reading(price.CoinGecko, "1", 0), reading(price.Blockscout, "1", 0), reading(price.Hosted, "1", 0)}, ""},
		"one node's pools":         {[]price.Reading{reading(price.UniswapV3, "1", 0), reading(price.UniswapV2, "1", 0), reading(price.Velodrome, "1", 0)}, ""},
		"two":                      {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.DexScreener, "0.98", 0)}, "0.98"},
		"the lower is the first":   {[]price.Reading{reading(price.UniswapV3, "0.98", 0), reading(price.GeckoTerminal, "1", 0)}, "0.98"},
		"two that differ":          {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.DexScreener, "0.9", 0)}, ""},
		"a third decides":          {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.DexScreener, "1.2", 0), reading(price.UniswapV3, "1.01", 0)}, "1"},
		"an oracle is no market":   {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.Chainlink, "1", 0)}, ""},
		"nor is another's price":   {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.Canonical, "1", 0)}, ""},
		"an old one does not help": {[]price.Reading{reading(price.DefiLlama, "1", 0), reading(price.DexScreener, "1", 2*time.Hour)}, ""},
		"one that is accepted, two that agree on another": {[]price.Reading{reading(price.Chainlink, "1", 0), reading(price.Blockscout, "1", 0), reading(price.DefiLlama, "1.2", 0), reading(price.DexScreener, "1.2", 0)}, ""},
	} {
		v := judge(last, c.readings, noon)
		if c.want == "" && v.market.Known() || c.want != "" && v.market.Value != value(c.want) {
			t.Errorf("%s: %s of %s, want %q", name, v.market.Value, v.market.Source, c.want)
		}
	}
}

// TestSecondHand checks that further sources are asked about stable coins, even slow ones, often
// enough that the market's price is always fresh, and neither about those that an oracle
// measures nor about other tokens whose price is accepted.
func TestSecondHand(t *testing.T) {
	b := newBench(t)
	coin := func(n byte, par uint64) Watched {
		return Watched{Token: tokens.Token{Chain: 1, Address: common.Address{19: n}, Symbol: "S", Decimals: 18, Par: par}, Slow: n%2 == 0}
	}
	all := []Watched{coin(1, 1_000_000), coin(2, 1_000_000), coin(3, 1_000_000), coin(4, 1_000_000), coin(6, 0)}
	b.o.Tokens = func() []Watched { return all }
	b.last.source = price.DexScreener
	for i, w := range all {
		b.first.setPrice(price.IDOf(w.Token), "1")
		b.last.setPrice(price.IDOf(w.Token), "0.99")
		if i == 2 || i == 3 {
			b.second.setPrice(price.IDOf(w.Token), "1")
		}
	}
	asked := map[price.ID]int{}
	const fetches = 60
	for i := range fetches {
		before := b.last.requests
		b.fetch(t)
		if b.last.requests != before {
			for _, id := range b.last.of {
				asked[id]++
			}
		}
		for n, w := range all[:2] {
			if _, ok := b.row(t, w.Token).GasPrice(b.now); !ok && i >= firstTries+slowEvery {
				t.Fatalf("after fetch %d coin %d has no price that gas is weighed by", i, n)
			}
		}
	}
	for n, w := range all {
		if got := asked[price.IDOf(w.Token)]; n < 2 && (got < 4 || got > fetches/5) || n >= 2 && got > 0 {
			t.Errorf("coin %d is asked about %d times", n, got)
		}
	}
	b.last.fail, b.last.prices = nil, nil // gone: no second hand any more
	for range 20 {
		b.fetch(t)
	}
	if _, ok := b.row(t, all[0].Token).GasPrice(b.now); ok || !b.row(t, all[0].Token).Current(b.now) {
		t.Error("one hand suffices, or its price is not even shown")
	}
}
