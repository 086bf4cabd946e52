package market

import (
	"fmt"
	"hash/fnv"

	"swapkeep/sandbox/network"
)

// An Asset is something with a price, which is the same on every chain.
type Asset struct {
	Symbol string
	// CoinGeckoID is its CoinGecko id.
	CoinGeckoID string
	// Follows is the asset whose price it follows; "" if none. A wrapped native coin follows
	// its coin at a ratio of 1.
	Follows string
	// Rate is its starting price in millionths of a US dollar or, if it follows another
	// asset, its ratio to that asset in millionths.
	Rate int64
	// Calm marks assets whose price hardly changes, such as stablecoins.
	Calm bool
}

// Coins that other assets follow.
const (
	eth = "ETH"
	btc = "BTC"
)

const (
	par    = 1_000_000 // millionths
	dollar = 1_000_000 // millionths
)

// assets are the native coins and tokens of the sandbox's chains, the wallet's built-in
// tokens and the assets of the oracles. Except for the sandbox's own tokens, the prices
// are invented: plausible and fixed.
var assets = append([]Asset{
	{eth, "ethereum", "", 3000 * dollar, false},
	{btc, "bitcoin", "", 90_000 * dollar, false},
	{"BNB", "binancecoin", "", 900 * dollar, false},
	{"AVAX", "avalanche-2", "", 20 * dollar, false},
	{"MON", "monad", "", dollar / 20, false},
	{"U2U", "u2u-network", "", dollar / 100, false},

	{"WETH", "weth", eth, par, false},
	{"WBNB", "wbnb", "BNB", par, false},
	{"WAVAX", "wrapped-avax", "AVAX", par, false},
	{"WMON", "wrapped-monad", "MON", par, false},
	{"WU2U", "wrapped-u2u", "U2U", par, false},
	{"wstETH", "wrapped-steth", eth, 1_225_000, false},
	{"cbETH", "coinbase-wrapped-staked-eth", eth, 1_118_000, false},
	{"rETH", "rocket-pool-eth", eth, 1_150_000, false},
	{"weETH", "wrapped-eeth", eth, 1_082_000, false},
	{"osETH", "stakewise-v3-oseth", eth, 1_057_000, false},
	{"ETHx", "stader-ethx", eth, 1_074_000, false},
	{"rsETH", "kelp-dao-restaked-eth", eth, 1_061_000, false},
	{"wrsETH", "wrapped-rseth", eth, 1_061_000, false},
	{"tETH", "treehouse-eth", eth, 1_190_000, false},
	{"ezETH", "renzo-restaked-eth", eth, 1_069_000, false},

	{"WBTC", "wrapped-bitcoin", btc, par, false},
	{"cbBTC", "coinbase-wrapped-btc", btc, par, false},
	{"tBTC", "tbtc", btc, par, false},
	{"LBTC", "lombard-staked-btc", btc, par, false},
	{"eBTC", "ether-fi-staked-btc", btc, par, false},
	{"FBTC", "ignition-fbtc", btc, par, false},
	{"BTCB", "binance-bitcoin", btc, par, false},

	{"USDC", "usd-coin", "", dollar, true},
	{"USDT", "tether", "", dollar, true},
	{"DAI", "dai", "", dollar, true},
	{"USDC.e", "bridged-usdc-optimism", "USDC", par, true},
	{"USDbC", "bridged-usd-coin-base", "USDC", par, true},
	{"syrupUSDC", "syrup-usdc", "USDC", 1_140_000, true},
	{"oUSDT", "openusdt", "USDT", par, true},
	{"syrupUSDT", "syrup-usdt", "USDT", 1_100_000, true},
	{"sDAI", "savings-dai", "DAI", 1_180_000, true},
	{"USDe", "ethena-usde", "", dollar, true},
	{"sUSDe", "ethena-staked-usde", "USDe", 1_200_000, true},
	{"EURC", "euro-coin", "", 1_160_000, true},
	{"EURS", "stasis-eurs", "", 1_160_000, true},
	{"XAUT", "tether-gold", "", 4_100 * dollar, true},

	{"LINK", "chainlink", "", 14 * dollar, false},
	{"AAVE", "aave", "", 180 * dollar, false},
	{"CRV", "curve-dao-token", "", 450_000, false},
	{"MKR", "maker", "", 1_600 * dollar, false},
	{"SNX", "havven", "", 600_000, false},
	{"BAL", "balancer", "", 750_000, false},
	{"UNI", "uniswap", "", 7 * dollar, false},
	{"LDO", "lido-dao", "", 850_000, false},
	{"ENS", "ethereum-name-service", "", 12 * dollar, false},
	{"1INCH", "1inch", "", 200_000, false},
	{"RPL", "rocket-pool", "", 2_500_000, false},
	{"STG", "stargate-finance", "", 150_000, false},
	{"KNC", "kyber-network-crystal", "", 280_000, false},
	{"FXS", "frax-share", "", 1_100_000, false},
	{"OP", "optimism", "", 400_000, false},
	{"ARB", "arbitrum", "", 250_000, false},
	{"Cake", "pancakeswap-token", "", 2_400_000, false},
	{"SUPR", "superseed", "", 12_000, false},
}, stables("FRAX", "frax", "GHO", "gho", "LUSD", "liquity-usd", "crvUSD", "crvusd", "PYUSD", "paypal-usd", "USDS", "usds",
	"RLUSD", "ripple-usd", "USDtb", "usdtb", "mUSD", "metamask-usd", "USDG", "global-dollar", "sUSD", "nusd", "MAI", "mimatic",
	"FDUSD", "first-digital-usd", "eUSDe", "ethereal-usde",
	"PT-eUSDE-29MAY2025", "", "PT-sUSDE-31JUL2025", "", "PT-USDe-31JUL2025", "", "PT-eUSDE-14AUG2025", "", "PT-sUSDE-25SEP2025", "",
	"PT-USDe-25SEP2025", "", "PT-sUSDE-27NOV2025", "", "PT-USDe-27NOV2025", "", "PT-USDe-5FEB2026", "", "PT-sUSDE-5FEB2026", "",
	"PT-USDe-7MAY2026", "", "PT-sUSDE-7MAY2026", "", "PT-srUSDe-2APR2026", "")...)

// stables returns assets worth one dollar, from pairs of symbol and CoinGecko id.
func stables(pairs ...string) (all []Asset) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, Asset{Symbol: pairs[i], CoinGeckoID: pairs[i+1], Rate: dollar, Calm: true})
	}
	return all
}

// index maps symbols to indices in assets, byCoinGeckoID CoinGecko ids.
var index, byCoinGeckoID = func() (map[string]int, map[string]int) {
	bySymbol, byCoin := map[string]int{}, map[string]int{}
	for i, a := range assets {
		if _, twice := bySymbol[a.Symbol]; twice {
			panic("two assets " + a.Symbol)
		}
		bySymbol[a.Symbol] = i
		if a.CoinGeckoID != "" {
			byCoin[a.CoinGeckoID] = i
		}
	}
	return bySymbol, byCoin
}()

// Assets returns all assets.
func Assets() []Asset { return append([]Asset(nil), assets...) }

// ByCoinGeckoID looks up an asset by its CoinGecko id.
func ByCoinGeckoID(id string) (Asset, bool) { return find(byCoinGeckoID, id) }

// BySymbol looks up an asset by its symbol.
func BySymbol(symbol string) (Asset, bool) { return find(index, symbol) }

func find(in map[string]int, key string) (Asset, bool) {
	i, ok := in[key]
	if !ok {
		return Asset{}, false
	}
	return assets[i], true
}

// movedIndex returns the index of the asset to move when asset i is named: for a wrapped native
// coin, the coin itself.
func movedIndex(i int) int {
	for _, n := range network.All() {
		if n.Wrapped.Symbol == assets[i].Symbol {
			return index[assets[i].Follows]
		}
	}
	return i
}

// Start returns the asset's starting price, in millionths of a US dollar.
func (a Asset) Start() int64 {
	if a.Follows == "" {
		return a.Rate
	}
	return assets[index[a.Follows]].Rate / 1000 * a.Rate / 1000
}

// caps are market capitalisations of the largest assets, in millions of US dollars.
var caps = map[string]int64{
	eth: 362_000, btc: 1_790_000, "BNB": 124_000, "USDT": 180_000, "USDC": 75_000, "WETH": 9_800, "wstETH": 12_400, "WBTC": 11_500,
	"cbBTC": 6_400, "DAI": 5_100, "USDe": 8_900, "LINK": 9_300, "AAVE": 2_750, "UNI": 4_400, "SUPR": 4,
}

// Cap returns a market capitalisation in US dollars. It is invented and fixed.
func (a Asset) Cap() int64 {
	if c := caps[a.Symbol]; c > 0 {
		return c * dollar
	}
	return int64(3_000_000 + pseudoRandom("cap", a.Symbol)%900_000_000)
}

// pseudoRandom returns a pseudorandom number determined by its arguments.
func pseudoRandom(parts ...any) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, parts...)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}
