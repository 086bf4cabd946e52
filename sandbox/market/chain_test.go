package market_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/sandbox"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/sandboxtest"
)

const dollar = 1_000_000

// manual starts a sandbox that mines blocks on request only.
func manual(t *testing.T, chains ...uint64) *sandbox.Sandbox {
	return sandboxtest.StartWith(t, sandbox.Options{Chains: chains, Period: -1})
}

// ask calls a view method through the chain's real endpoint.
func ask(t *testing.T, c *sandbox.Chain, at common.Address, signature string, args ...any) ([]*big.Int, error) {
	t.Helper()
	client, err := ethclient.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	out, err := client.CallContract(t.Context(), ethereum.CallMsg{To: &at, Data: sandboxtest.Calldata(t, signature, args...)}, nil)
	if err != nil {
		return nil, err
	}
	var words []*big.Int
	for ; len(out) >= 32; out = out[32:] {
		words = append(words, new(big.Int).SetBytes(out[:32]))
	}
	return words, nil
}

func mustAsk(t *testing.T, c *sandbox.Chain, at common.Address, signature string, args ...any) []*big.Int {
	t.Helper()
	words, err := ask(t, c, at, signature, args...)
	if err != nil {
		t.Fatalf("chain %d: %s of %s: %v", c.ID, signature, at, err)
	}
	return words
}

// TestAMoveMovesThePools reads a real pool's slot0 through the real endpoint and checks
// that moves set exactly the expected price.
func TestAMoveMovesThePools(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	pool := common.HexToAddress("0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640") // USDC/WETH 0.05 %
	dollars := func() float64 {
		sqrt, _ := new(big.Float).SetInt(mustAsk(t, c, pool, "slot0()")[0]).Float64()
		return 1e12 / math.Pow(sqrt/math.Ldexp(1, 96), 2) // USDC is token0
	}
	if got := dollars(); math.Abs(got/3000-1) > 1e-6 {
		t.Fatalf("begins at %v", got)
	}
	for _, want := range []float64{3100, 1500, 30_000, 3000} {
		if err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: int64(want * dollar)}); err != nil {
			t.Fatal(err)
		}
		if got := dollars(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("at %v, want %v", got, want)
		}
	}
	if served := mustAsk(t, c, pool, "liquidity()")[0]; served.Sign() <= 0 {
		t.Error("no liquidity is left")
	}
}

// TestAllPoolsOfAllChains checks that all pools on all chains show the market's prices,
// before moves, after them and after a reset.
func TestAllPoolsOfAllChains(t *testing.T) {
	var ids []uint64
	for _, n := range sandbox.Networks() {
		ids = append(ids, n.ID)
	}
	s := manual(t, ids...)
	check := func(when string) {
		t.Helper()
		report, err := s.Market().Report(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Chains) != len(ids) {
			t.Errorf("%d chains", len(report.Chains))
		}
		for _, c := range report.Chains {
			minimum := 3
			if n := s.Chain(c.Chain).Network; len(n.Tokens) > 1 {
				minimum = 3*len(n.Tokens) + len(n.Oracles().Pools)
			}
			if len(c.Pools) != minimum {
				t.Errorf("%s: chain %d: %d pools, want %d", when, c.Chain, len(c.Pools), minimum)
			}
			for _, p := range c.Pools {
				if want := float64(report.Prices[p.Of]); math.Abs(p.MicroUSD/want-1) > 1e-5 {
					t.Errorf("%s: chain %d: the %s pool of %s says %v in %s, want %v", when, c.Chain, p.Kind, p.Of, p.MicroUSD, p.In, want)
				}
			}
		}
	}
	check("at first")
	err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: 3333_333_333}, market.Move{Symbol: "BNB", MicroUSD: 777 * dollar},
		market.Move{Symbol: "MON", MicroUSD: 31_415}, market.Move{Symbol: "U2U", MicroUSD: 11_111}, market.Move{Symbol: "USDT", MicroUSD: 970_000},
		market.Move{Symbol: "BTC", MicroUSD: 100_000 * dollar}, market.Move{Symbol: "SUPR", MicroUSD: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	check("after moves")
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	check("after a reset")
	if got := s.Market().Current()["ETH"]; got != 3000*dollar {
		t.Errorf("ETH is worth %d after a reset", got)
	}
}

// Words of latestRoundData.
const (
	roundID = iota
	answer
	startedAt
	updatedAt
	answeredIn
)

func signed(x *big.Int) int64 {
	if x.Bit(255) == 1 {
		x = new(big.Int).Sub(x, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return x.Int64()
}

// TestFeedsFollowTheMarket checks that the published feeds answer with the market's
// prices, timestamped with the latest block.
func TestFeedsFollowTheMarket(t *testing.T) {
	s := manual(t, 1, 10, 56, 8453, 42161, 5330)
	feeds := []struct {
		chain       uint64
		at, says    string
		first, then int64 // eight decimals
	}{
		{1, "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", "ETH / USD", 3000e8, 3100e8},
		{1, "0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c", "BTC / USD", 90_000e8, 90_000e8},
		{1, "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6", "USDC / USD", 1e8, 1e8},
		{1, "0xe1D97bF61901B075E9626c8A2340a7De385861Ef", "wstETH / USD", 3675e8, 3797.5e8},
		{10, "0x13e3Ee699D1909E989722E753853AE30b17e08c5", "ETH / USD", 3000e8, 3100e8},
		{56, "0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE", "BNB / USD", 900e8, 900e8},
		{8453, "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70", "ETH / USD", 3000e8, 3100e8},
		{42161, "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612", "ETH / USD", 3000e8, 3100e8},
		{5330, "0xAdEfc2264c21A05D3f83bf7694438F81E119620B", "WETH / USD", 3000e8, 3100e8},
		{5330, "0x7F760344c9Cde8DD342120FA0F908CE0Cd42B1E6", "cbBTC / USD", 90_000e8, 90_000e8},
	}
	check := func(now func(int) int64, round int64) {
		t.Helper()
		for i, f := range feeds {
			c, at := s.Chain(f.chain), common.HexToAddress(f.at)
			words := mustAsk(t, c, at, "latestRoundData()")
			head := int64(c.Head().Time)
			if len(words) != 5 || signed(words[answer]) != now(i) || words[updatedAt].Int64() != head || words[roundID].Cmp(words[answeredIn]) != 0 ||
				new(big.Int).Sub(words[roundID], new(big.Int).Lsh(big.NewInt(1), 64)).Int64() != round {
				t.Errorf("%s on %d at %d: %v", f.says, f.chain, head, words)
			}
			if got := mustAsk(t, c, at, "latestAnswer()")[0].Int64(); got != now(i) {
				t.Errorf("%s on %d: latestAnswer %d", f.says, f.chain, got)
			}
			if got := mustAsk(t, c, at, "decimals()")[0].Int64(); got != 8 {
				t.Errorf("%s on %d: %d decimals", f.says, f.chain, got)
			}
			text := mustAsk(t, c, at, "description()")
			if got := strings.TrimRight(string(text[2].FillBytes(make([]byte, 32))), "\x00"); got != f.says {
				t.Errorf("%s on %d: calls itself %q", f.says, f.chain, got)
			}
		}
	}
	check(func(i int) int64 { return feeds[i].first }, 1)
	if err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: 3100 * dollar}); err != nil {
		t.Fatal(err)
	}
	check(func(i int) int64 { return feeds[i].then }, 2)
}

func TestOraclesInEveryMode(t *testing.T) {
	s := manual(t, 1)
	c, feed := s.Chain(1), common.HexToAddress("0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419")
	oracle, weth, usdc := common.HexToAddress("0x54586bE62E3c3580375aE3723C145253060Ca0C2"), c.Network.Wrapped.Address, sandboxtest.Token(t, c, "USDC")
	set := func(at, mode string, seconds uint64) {
		t.Helper()
		if err := s.Market().SetOracles(t.Context(), 1, market.Change{At: at, Mode: mode, Seconds: seconds}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		mode    string
		seconds uint64
		answer  int64 // 0 also where the feed reverts
		age     int64
	}{
		{"stale", 0, 3000e8, 2 * 24 * 3600}, {"stale", 90, 3000e8, 90}, {"zero", 0, 0, 0}, {"negative", 0, -3000e8, 0},
		{"tenfold", 0, 30_000e8, 0}, {"revert", 0, 0, 0}, {"ok", 0, 3000e8, 0},
	} {
		set(feed.Hex(), tc.mode, tc.seconds)
		words, err := ask(t, c, feed, "latestRoundData()")
		if tc.mode == "revert" {
			if err == nil {
				t.Errorf("it answers %v", words)
			}
			continue
		}
		if err != nil || signed(words[answer]) != tc.answer || int64(c.Head().Time)-words[updatedAt].Int64() != tc.age {
			t.Errorf("%s: %v, %v", tc.mode, words, err)
		}
		if got := mustAsk(t, c, common.HexToAddress("0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"), "latestAnswer()")[0].Int64(); got != 1e8 {
			t.Errorf("%s: another feed says %d", tc.mode, got)
		}
	}
	// The Aave oracle reverts for the whole list if one asset is unknown.
	prices := func(assets ...common.Address) ([]*big.Int, error) {
		return ask(t, c, oracle, "getAssetsPrices(address[])", assets)
	}
	good, err := prices(weth, usdc)
	if err != nil || len(good) != 4 || good[2].Int64() != 3000e8 || good[3].Int64() != 1e8 {
		t.Errorf("oracle answers are %v, %v; want 3000e8 and 1e8", good, err)
	}
	if words, err := prices(weth, common.Address{1}); err == nil {
		t.Errorf("an unknown asset is worth %v", words)
	}
	if unit := mustAsk(t, c, oracle, "BASE_CURRENCY_UNIT()")[0].Int64(); unit != 1e8 {
		t.Errorf("unit %d", unit)
	}
	for mode, want := range map[string]int64{"zero": 0, "tenfold": 30_000e8, "ok": 3000e8} {
		set("aave", mode, 0)
		if got := mustAsk(t, c, oracle, "getAssetPrice(address)", weth)[0].Int64(); got != want {
			t.Errorf("%s: %d", mode, got)
		}
	}
	// The sources of its assets are feeds; if one fails, so does the oracle.
	source := common.BytesToAddress(mustAsk(t, c, oracle, "getSourceOfAsset(address)", weth)[0].Bytes())
	for _, mode := range []string{"zero", "negative", "revert"} {
		set(source.Hex(), mode, 0)
		if words, err := prices(weth, usdc); err == nil {
			t.Errorf("with a source that is %s: %v", mode, words)
		}
	}
	set("all", "revert", 0)
	for _, o := range must(t)(s.Market().Oracles(t.Context(), 1)) {
		if o.Mode != "revert" {
			t.Errorf("an oracle's mode is not revert: %+v", o)
		}
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	for _, o := range must(t)(s.Market().Oracles(t.Context(), 1)) {
		if o.Mode != "ok" || o.Seconds != 0 {
			t.Errorf("after a reset: %+v", o)
		}
	}
}

func must(t *testing.T) func([]market.Oracle, error) []market.Oracle {
	return func(all []market.Oracle, err error) []market.Oracle {
		t.Helper()
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		return all
	}
}

func TestSequencer(t *testing.T) {
	s := manual(t, 10)
	c, feed := s.Chain(10), common.HexToAddress("0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389")
	for _, tc := range []struct {
		mode    string
		seconds uint64
		answer  int64
		since   int64 // at least, and at most ten minutes more
	}{{"", 0, 0, 30 * 24 * 3600}, {"down", 0, 1, 0}, {"down", 7200, 1, 7200}, {"ok", 0, 0, 0}, {"ok", 90_000, 0, 90_000}} {
		if tc.mode != "" {
			if err := s.Market().SetOracles(t.Context(), 10, market.Change{At: "sequencer", Mode: tc.mode, Seconds: tc.seconds}); err != nil {
				t.Fatal(err)
			}
		}
		words := mustAsk(t, c, feed, "latestRoundData()")
		since := int64(c.Head().Time) - words[startedAt].Int64()
		if words[answer].Int64() != tc.answer || since < tc.since || since > tc.since+600 {
			t.Errorf("%+v: %v, for %d s", tc, words, since)
		}
	}
	if err := s.Market().SetOracles(t.Context(), 10, market.Change{At: "sequencer", Mode: "revert"}); err != nil {
		t.Fatal(err)
	}
	if words, err := ask(t, c, feed, "latestRoundData()"); err == nil {
		t.Errorf("it answers %v", words)
	}
}

// TestSuperseed checks the oracles and pools that chain 5330 has in place of Chainlink
// and Uniswap.
func TestSuperseed(t *testing.T) {
	s := manual(t, 5330)
	c := s.Chain(5330)
	dia, factory := common.HexToAddress("0xF526dC0D2B73488d32b58E55C17Cef5a53AD002A"), common.HexToAddress("0x718E46d0962A66942E233760a8bd6038Ce54EdCD")
	value := func(name string) []*big.Int { return mustAsk(t, c, dia, "getValue(string)", name) }
	if v := value("ETH/USD"); len(v) != 2 || v[0].Int64() != 3000e8 || v[1].Uint64() != c.Head().Time {
		t.Errorf("ETH/USD is %v", v)
	}
	for _, unknown := range []string{"DOGE/USD", "ETH", "/USD", "", "ETH/EUR", strings.Repeat("X", 60) + "/USD"} {
		if v := value(unknown); v[0].Sign() != 0 {
			t.Errorf("%q is %v", unknown, v)
		}
	}
	pair := func(at common.Address, a, b common.Address, spacing int64) common.Address {
		return common.BytesToAddress(mustAsk(t, c, at, "getPool(address,address,int24)", a, b, big.NewInt(spacing))[0].Bytes())
	}
	weth, usdc := c.Network.Wrapped.Address, sandboxtest.Token(t, c, "USDC")
	pool := pair(factory, weth, usdc, 100)
	if pool == (common.Address{}) || pool != pair(factory, usdc, weth, 100) || pair(factory, weth, usdc, 1) != (common.Address{}) ||
		pair(common.HexToAddress("0x04625B046C69577EfC40e6c0Bb83CDBAfab5a55F"), weth, usdc, 100) != (common.Address{}) {
		t.Fatalf("the pool is at %s", pool)
	}
	if t0, t1 := mustAsk(t, c, pool, "token0()")[0], mustAsk(t, c, pool, "token1()")[0]; common.BytesToAddress(t0.Bytes()) != weth || common.BytesToAddress(t1.Bytes()) != usdc {
		t.Errorf("tokens %x and %x", t0, t1)
	}
	if got := sandboxtest.Balance(t, c, pool, usdc); got.Cmp(sandboxtest.Units(1_000_000, 6)) != 0 {
		t.Errorf("it holds %v USDC", got)
	}
	show := func() float64 {
		words := mustAsk(t, c, pool, "slot0()")
		if len(words) != 6 {
			t.Fatalf("slot0 has %d outputs", len(words))
		}
		root, _ := new(big.Float).SetInt(words[0]).Float64()
		price := math.Pow(root/math.Ldexp(1, 96), 2) * 1e12
		if tick := float64(signed(words[1])); math.Abs(math.Pow(1.0001, tick)*1e12/price-1) > 1.1e-4 {
			t.Errorf("tick %v of price %v", tick, price)
		}
		return price
	}
	if got := show(); math.Abs(got/3000-1) > 1e-9 {
		t.Errorf("begins at %v", got)
	}
	if err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: 2900 * dollar}); err != nil {
		t.Fatal(err)
	}
	if got := show(); math.Abs(got/2900-1) > 1e-9 {
		t.Errorf("then at %v", got)
	}
	if v := value("WETH/USD"); v[0].Int64() != 2900e8 {
		t.Errorf("WETH/USD is %v", v)
	}
	for mode, want := range map[string]int64{"zero": 0, "tenfold": 29_000e8} {
		if err := s.Market().SetOracles(t.Context(), 5330, market.Change{At: "dia", Mode: mode}); err != nil {
			t.Fatal(err)
		}
		if v := value("ETH/USD"); v[0].Int64() != want {
			t.Errorf("%s: ETH/USD is %v, want %d", mode, v, want)
		}
	}
}

func TestOnlyTheMoverMoves(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	market := c.Network.Named()["market"]
	data := sandboxtest.Calldata(t, "set(address[],uint8,uint64)", []common.Address{{1}}, uint8(1), uint64(1))
	for who, may := range map[common.Address]bool{s.Accounts()[0].Address: false, s.Services()["priceMover"].Address: true} {
		_, err := c.Client().CallContract(t.Context(), ethereum.CallMsg{From: who, To: &market, Data: data}, nil)
		if (err == nil) != may {
			t.Errorf("%s: %v", who, err)
		}
	}
}

func TestControlOfTheMarket(t *testing.T) {
	s := manual(t, 1)
	type reply struct {
		market.Report
		Error string
	}
	post := func(body string) (int, reply) {
		code, raw := sandboxtest.Ask(t, http.MethodPost, s.ControlURL()+"/market", []byte(body))
		return code, sandboxtest.Decode[reply](t, raw)
	}
	code, got := post(`{"moves":[{"symbol":"ETH","microUsd":3100000000},{"symbol":"USDT","microUsd":990000}]}`)
	if code != http.StatusOK || got.Prices["WETH"] != 3100*dollar || got.Prices["USDT"] != 990_000 || len(got.Chains) != 1 || got.Drift.BpsPerMinute != 0 {
		t.Fatalf("moving prices: status %d, %+v", code, got)
	}
	if code, got = post(`{"start":true,"moves":[{"symbol":"BTC","microUsd":80000000000}]}`); code != http.StatusOK || got.Prices["ETH"] != 3000*dollar || got.Prices["WBTC"] != 80_000*dollar {
		t.Errorf("starting again: status %d, %+v", code, got)
	}
	for _, bad := range []string{
		`{"moves":[{"symbol":"DOGE","microUsd":1}]}`, `{"moves":[{"symbol":"ETH","microUsd":0}]}`, `{"moves":[{"symbol":"ETH","microUsd":1.5}]}`,
		`{"drift":{"bpsPerMinute":-1}}`, `{"drift":{"everySeconds":0}}`, `{"price":1}`, `[]`,
	} {
		if code, got := post(bad); code != http.StatusBadRequest || got.Error == "" {
			t.Errorf("%s: %d", bad, code)
		}
	}
	oracles := s.ControlURL() + "/chains/1/oracles"
	all := sandboxtest.MustAsk[[]market.Oracle](t, http.MethodPost, oracles, []byte(`{"at":"all","mode":"stale","seconds":5000}`))
	kinds := map[string]string{}
	for _, o := range all {
		kinds[o.Kind] = fmt.Sprint(o.Mode, o.Seconds)
	}
	if kinds["chainlink"] != "stale5000" || kinds["aave"] != "ok0" || len(kinds) != 2 {
		t.Errorf("oracle modes are %v, want chainlink stale and aave ok", kinds)
	}
	for _, bad := range []string{
		`{"at":"all","mode":"sleepy"}`, `{"at":"all","mode":"down"}`, `{"at":"0x0000000000000000000000000000000000000001","mode":"ok"}`,
		`{"at":"aave","mode":"stale"}`, `{"mode":"ok"}`, `{"at":"all","mode":"stale","seconds":99999999999}`, `{"at":"all"}`,
	} {
		if code, raw := sandboxtest.Ask(t, http.MethodPost, oracles, []byte(bad)); code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", bad, code, raw)
		}
	}
	if code, _ := sandboxtest.Ask(t, http.MethodGet, s.ControlURL()+"/chains/10/oracles", nil); code != http.StatusNotFound {
		t.Errorf("oracles of a chain that does not run: %d", code)
	}
}

// TestDriftMovesTheChains checks that a drift moves the pools with the chain's own
// blocks, and not those of a paused chain.
func TestDriftMovesTheChains(t *testing.T) {
	s := sandboxtest.Start(t, 1, 10)
	s.Chain(10).Pause()
	if err := s.Market().SetDrift(market.Drift{BpsPerMinute: 1000, BandBps: 500, EverySeconds: 1, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	usdcWETH := func(chain int) float64 {
		report, err := s.Market().Report(t.Context())
		if err != nil || report.DriftError != "" {
			t.Fatal(report.DriftError, err)
		}
		for _, p := range report.Chains[chain].Pools {
			if p.Kind == "v3" && p.Of == "WETH" && p.In == "USDC" {
				return p.MicroUSD
			}
		}
		t.Fatal("there is no such pool")
		return 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for first := usdcWETH(0); usdcWETH(0) == first; {
		select {
		case <-ctx.Done():
			t.Fatal("nothing moves")
		case <-time.After(20 * time.Millisecond):
		}
	}
	if got := usdcWETH(1); math.Abs(got/(3000*dollar)-1) > 0.01 {
		t.Errorf("the paused chain is at %v", got)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	for chain := range 2 {
		if got := usdcWETH(chain); math.Abs(got/(3000*dollar)-1) > 1e-6 {
			t.Errorf("after a reset: %v", got)
		}
	}
	if d := s.Market().Drift(); d.BpsPerMinute != 0 {
		t.Errorf("it drifts on: %+v", d)
	}
}

func TestUnknownChain(t *testing.T) {
	s := manual(t, 1)
	if err := s.Market().SetOracles(t.Context(), 10, market.Change{At: "all", Mode: "ok"}); !errors.Is(err, market.ErrNoChain) {
		t.Error(err)
	}
}
