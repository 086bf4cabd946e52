package onchain_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/onchain"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/sandbox"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var (
	_ poll.Source         = (*onchain.Source)(nil)
	_ poll.MetadataSource = (*onchain.Source)(nil)
	_ onchain.Chain       = (*chain.MultiClient)(nil)
)

// A world is a sandbox and a source that reads its contracts through a real Hub.
type world struct {
	*sandbox.Sandbox
	source *onchain.Source
	calls  atomic.Int64 // number of calls
	hub    *chain.MultiClient
}

func (w *world) Ask(ctx context.Context, id uint64, qs []chain.Question) ([][]byte, error) {
	w.calls.Add(1)
	return w.hub.Ask(ctx, id, qs)
}

func newWorld(t *testing.T, chains ...uint64) *world {
	t.Helper()
	w := &world{Sandbox: sandboxtest.Start(t, chains...)}
	var endpoints []chain.Endpoint
	for _, c := range w.Chains() {
		endpoints = append(endpoints, chain.Endpoint{Chain: c.ID, URLs: []string{c.RPC()}})
	}
	var err error
	if w.hub, err = chain.NewMultiClient(endpoints, chain.Options{Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.hub.Close)
	w.source = onchain.New(w, onchain.Options{})
	return w
}

func (w *world) token(t *testing.T, id uint64, symbol string) tokens.Token {
	t.Helper()
	n := w.Chain(id).Network
	if symbol == n.Native {
		return tokens.Token{Chain: id, Symbol: symbol, Decimals: 18}
	}
	x, ok := n.Oracles().Token(n, symbol)
	if !ok {
		t.Fatalf("chain %d has no %s", id, symbol)
	}
	return tokens.Token{Chain: id, Address: x.Address, Symbol: symbol, Decimals: x.Decimals}
}

// A claim is what must be returned for a token: sources and the price, within a percent.
type claim struct {
	chain   uint64
	symbol  string
	dollars float64
	sources []price.Source
}

func (w *world) check(t *testing.T, when string, claims []claim) {
	t.Helper()
	var ts []tokens.Token
	for _, c := range claims {
		ts = append(ts, w.token(t, c.chain, c.symbol))
	}
	rs, err := w.source.Now(t.Context(), ts)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for i, c := range claims {
		var sources []price.Source
		for _, r := range rs {
			if r.ID != price.IDOf(ts[i]) {
				continue
			}
			sources = append(sources, r.Source)
			want := c.dollars
			if off := r.Value.Float()/want - 1; off > 0.01 || off < -0.01 {
				t.Errorf("%s: chain %d: %s says that %s is worth %s, want %g", when, c.chain, r.Source, c.symbol, r.Value, want)
			}
			if age := time.Since(r.At); age > time.Minute || age < -time.Minute {
				t.Errorf("%s: chain %d: %s of %s is of %s", when, c.chain, r.Source, c.symbol, r.At)
			}
		}
		if !slices.Equal(sources, c.sources) {
			t.Errorf("%s: chain %d: %v tell of %s, want %v", when, c.chain, sources, c.symbol, c.sources)
		}
	}
}

func by(sources ...price.Source) []price.Source { return sources }

// TestSandbox reads real pools and simulated oracles on every chain.
func TestSandbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 10, 56, 143, 5330, 8453, 42161, 43114)
	both := by(price.Chainlink, price.UniswapV3)
	all := []claim{
		{1, "ETH", 3000, both}, {1, "WETH", 3000, both}, {1, "USDC", 1, both}, {1, "USDT", 1, both}, {1, "DAI", 1, both},
		{10, "ETH", 3000, both}, {10, "USDC", 1, both}, {10, "USDT", 1, both}, {10, "DAI", 1, both},
		{56, "BNB", 900, both}, {56, "USDC", 1, both}, {56, "USDT", 1, both},
		{8453, "ETH", 3000, both}, {8453, "USDC", 1, both}, {8453, "USDT", 1, both}, {8453, "DAI", 1, both},
		{42161, "ETH", 3000, both}, {42161, "USDC", 1, both},
		{143, "MON", 0.05, both}, {143, "WMON", 0.05, both},
		{43114, "AVAX", 20, both}, {43114, "WAVAX", 20, both}, {43114, "USDC", 1, both},
		{5330, "ETH", 3000, by(price.DIA, price.Velodrome)}, {5330, "cbBTC", 90_000, by(price.DIA, price.Velodrome)},
		{5330, "USDC", 1, by(price.Velodrome)}, {5330, "SUPR", 0.012, by(price.Velodrome)},
	}
	w.check(t, "at the start", all)
	w.calls.Store(0)
	w.check(t, "again", all)
	if n := w.calls.Load(); n > 24 {
		t.Errorf("%d calls for %d tokens", n, len(all))
	}
	if err := w.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: 3600_000_000}); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].dollars == 3000 {
			all[i].dollars = 3600
		}
	}
	w.check(t, "after a move", all)
	w.caps(t)
}

// caps compares a market cap with the supply.
func (w *world) caps(t *testing.T) {
	t.Helper()
	dai := w.token(t, 1, "DAI")
	caps, err := w.source.MarketCaps(t.Context(), []tokens.Token{dai, w.token(t, 1, "ETH")})
	supply := sandboxtest.View(t, w.Chain(1), dai.Address, "totalSupply()", 0)
	supply.Div(supply, big.NewInt(1e18))
	if err != nil || len(caps) != 1 || caps[price.IDOf(dai)].Fixed(0) != supply.String() {
		t.Errorf("%v, %v; want %s", caps, err, supply)
	}
}

// TestOracleModes checks the prices of ether and DAI while the oracles of a rollup
// misbehave in every way that the sandbox supports.
func TestOracleModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	ethUSD := "0x13e3Ee699D1909E989722E753853AE30b17e08c5"
	both := by(price.Chainlink, price.UniswapV3)
	for _, c := range []struct {
		change market.Change
		ether  []price.Source
		dai    []price.Source
		tens   float64
	}{
		{market.Change{At: "all", Mode: "ok"}, nil, nil, 1}, // the sequencer came up just now
		// Aave reads the same feed.
		{market.Change{At: ethUSD, Mode: "stale"}, by(price.UniswapV3), both, 1},
		{market.Change{At: ethUSD, Mode: "zero"}, by(price.UniswapV3), both, 1},
		{market.Change{At: ethUSD, Mode: "negative"}, by(price.UniswapV3), both, 1},
		{market.Change{At: ethUSD, Mode: "revert"}, by(price.UniswapV3), both, 1},
		{market.Change{At: "chainlink", Mode: "stale"}, nil, nil, 1}, // no coin that pools are quoted in has a price
		{market.Change{At: "chainlink", Mode: "revert"}, nil, nil, 1},
		{market.Change{At: "sequencer", Mode: "down"}, nil, nil, 1},
		{market.Change{At: "sequencer", Mode: "ok", Seconds: 60}, nil, nil, 1}, // up for a minute
		{market.Change{At: "sequencer", Mode: "ok", Seconds: 7200}, both, both, 1},
		{market.Change{At: "sequencer", Mode: "revert"}, nil, nil, 1},
		{market.Change{At: "aave", Mode: "revert"}, both, both, 1}, // Chainlink is preferred
		{market.Change{At: "chainlink", Mode: "tenfold"}, both, both, 10},
	} {
		when := fmt.Sprintf("%+v", c.change)
		if err := w.Market().SetOracles(t.Context(), 10, market.Change{At: "all", Mode: "ok", Seconds: 30 * 86400}); err != nil {
			t.Fatal(err)
		}
		if err := w.Market().SetOracles(t.Context(), 10, c.change); err != nil {
			t.Fatal(err)
		}
		w.check(t, when, []claim{{10, "ETH", 3000 * c.tens, c.ether}, {10, "DAI", c.tens, c.dai}})
	}
}

// TestQuietOracle checks that a feed not updated for two hours is used, with its own time,
// while a pool of the token agrees, and one not updated for two days is not.
func TestQuietOracle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10)
	ether := w.token(t, 10, "ETH")
	for _, quiet := range []time.Duration{2 * time.Hour, 48 * time.Hour} {
		change := market.Change{At: "0x13e3Ee699D1909E989722E753853AE30b17e08c5", Mode: "stale", Seconds: uint64(quiet.Seconds())}
		for _, c := range []market.Change{{At: "all", Mode: "ok", Seconds: 30 * 86400}, change} {
			if err := w.Market().SetOracles(t.Context(), 10, c); err != nil {
				t.Fatal(err)
			}
		}
		readings, err := w.source.Now(t.Context(), []tokens.Token{ether})
		if err != nil {
			t.Fatal(err)
		}
		reported := false
		for _, r := range readings {
			if r.Source != price.Chainlink {
				continue
			}
			if reported = true; time.Since(r.At) < quiet-time.Minute {
				t.Errorf("quiet for %s, and told as of %s", quiet, r.At)
			}
		}
		if reported != (quiet < 25*time.Hour) {
			t.Errorf("quiet for %s: told %t", quiet, reported)
		}
	}
}

// TestAaveModes checks a token that only Aave's oracle prices while its source misbehaves.
// A token that Aave prices by another asset's feed gets no price.
func TestAaveModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	weeth := tokens.Token{Chain: 1, Address: common.HexToAddress("0xCd5fE23C85820F7B72D0926FC9b05b43E359b7ee"), Symbol: "weETH", Decimals: 18}
	fbtc := tokens.Token{Chain: 1, Address: common.HexToAddress("0xC96dE26018A54D51c097160568752c4E3BD6C364"), Symbol: "FBTC", Decimals: 8}
	source := "0x87625393534d5C102cADB66D37201dF24cc26d4C"
	for _, c := range []struct {
		at, mode string
		want     string // in dollars
	}{
		{"aave", "ok", "3246"}, {source, "stale", ""}, {source, "revert", ""}, {source, "zero", ""}, {"aave", "zero", ""}, {"aave", "revert", ""}, {"aave", "tenfold", "32460"},
	} {
		for _, change := range []market.Change{{At: "all", Mode: "ok"}, {At: c.at, Mode: c.mode}} {
			if err := w.Market().SetOracles(t.Context(), 1, change); err != nil {
				t.Fatal(err)
			}
		}
		rs, err := w.source.Now(t.Context(), []tokens.Token{weeth, fbtc})
		var reported string
		for _, r := range rs {
			if r.ID != price.IDOf(weeth) || r.Source != price.AaveOracle || reported != "" {
				t.Errorf("%s %s: %+v", c.at, c.mode, r)
			}
			reported = r.Value.Fixed(0)
		}
		if err != nil || reported != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.at, c.mode, reported, err, c.want)
		}
	}
}
