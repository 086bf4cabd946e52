package onchain

import (
	"bytes"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// A coin is a token that pools are quoted in.
type coin struct {
	address  common.Address
	decimals uint8
}

// A market is a pool factory.
type market struct {
	source  price.Source
	factory common.Address
	find    [4]byte // selector of the method that finds a pool of two tokens
	tiers   []int64 // values of its third argument, fees or tick spacings; none = it has no third argument
	words   int     // words returned by a pool's slot0(); 0 = a pair with reserves
}

// A chainConfig describes one chain.
type chainConfig struct {
	wrapped   coin // the wrapped native coin
	dollars   []coin
	markets   []market
	aave      common.Address // Aave's oracle; zero = none
	sequencer common.Address // the sequencer uptime feed; zero = none
}

// asset returns the asset that has the token's price: the wrapped coin for the native one.
func (p chainConfig) asset(token common.Address) common.Address {
	if token == (common.Address{}) {
		return p.wrapped.address
	}
	return token
}

// coins returns all coins that pools are quoted in.
func (p chainConfig) coins() []coin { return append([]coin{p.wrapped}, p.dollars...) }

// The tiers enabled in Uniswap's v3 factories (fee in millionths) and in Velodrome's
// Slipstream (tick spacing). A tier that is not enabled has no pools.
var (
	feeTiers     = []int64{100, 500, 3000, 10000}
	spacingTiers = []int64{1, 50, 100, 200, 2000}
)

// Words returned by slot0(). Slipstream's has no feeProtocol.
const (
	slotOfV3         = 7
	slotOfSlipstream = 6
)

var (
	mainnetV3 = v3("0x1F98431c8aD98523631AE4a59f267346ea31F984")
	weth10    = coinAt("0x4200000000000000000000000000000000000006", 18) // predeployed on OP-stack chains
)

// chainConfigs is the table of chains. Factories: Uniswap's sdk-core 7.19.4; Velodrome's
// sugar-sdk, both factories of 5330. Aave's oracles and the uptime feeds: aave-address-book
// 4.44.22. Dollar coins: those with the deepest pools and a feed of their own, at the
// addresses that their issuers or bridges publish.
var chainConfigs = map[uint64]chainConfig{
	1: {
		wrapped: coinAt("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", 18),
		dollars: []coin{coinAt("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", 6), coinAt("0xdAC17F958D2ee523a2206206994597C13D831ec7", 6)},
		markets: []market{mainnetV3, v2("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f")},
		aave:    common.HexToAddress("0x54586bE62E3c3580375aE3723C145253060Ca0C2"),
	},
	10: {
		wrapped:   weth10,
		dollars:   []coin{coinAt("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", 6), coinAt("0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", 6)},
		markets:   []market{mainnetV3, v2("0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf")},
		aave:      common.HexToAddress("0xD81eb3728a631871a7eBBaD631b5f424909f0c77"),
		sequencer: common.HexToAddress("0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389"),
	},
	56: {
		wrapped: coinAt("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", 18),
		dollars: []coin{coinAt("0x55d398326f99059fF775485246999027B3197955", 18), coinAt("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", 18)},
		markets: []market{v3("0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7"), v2("0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6")},
		aave:    common.HexToAddress("0x39bc1bfDa2130d6Bb6DBEfd366939b4c7aa7C697"),
	},
	143: {
		wrapped: coinAt("0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A", 18),
		dollars: []coin{coinAt("0x754704Bc059F8C67012fEd69BC8A327a5aafb603", 6)},
		markets: []market{v3("0x204faca1764b154221e35c0d20abb3c525710498")},
	},
	5330: {
		wrapped: weth10,
		dollars: []coin{coinAt("0xC316C8252B5F2176d0135Ebb0999E99296998F2e", 6), coinAt("0xc5068BB6803ADbe5600DE5189fe27A4dAcE31170", 6)},
		markets: []market{slipstream("0x718E46d0962A66942E233760a8bd6038Ce54EdCD"), slipstream("0x04625B046C69577EfC40e6c0Bb83CDBAfab5a55F")},
	},
	43114: {
		wrapped: coinAt("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7", 18),
		dollars: []coin{coinAt("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6)},
		markets: []market{v3("0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD"), v2("0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C")},
		aave:    common.HexToAddress("0xEBd36016B3eD09D4693Ed4251c67Bd858c3c7C9C"),
	},
	8453: {
		wrapped:   weth10,
		dollars:   []coin{coinAt("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6)},
		markets:   []market{v3("0x33128a8fC17869897dcE68Ed026d694621f6FDfD"), v2("0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6")},
		aave:      common.HexToAddress("0x2Cc0Fc26eD4563A5ce5e8bdcfe1A2878676Ae156"),
		sequencer: common.HexToAddress("0xBCF85224fc0756B9Fa45aA7892530B47e10b6433"),
	},
	42161: {
		wrapped:   coinAt("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", 18),
		dollars:   []coin{coinAt("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6), coinAt("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6)},
		markets:   []market{mainnetV3, v2("0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9")},
		aave:      common.HexToAddress("0xb56c2F0B653B2e0b10C9b928C8580Ac5Df02C7C7"),
		sequencer: common.HexToAddress("0xFdB631F5EE196F0ed6FAa767959853A9F217697D"),
	},
}

func coinAt(address string, decimals uint8) coin {
	return coin{common.HexToAddress(address), decimals}
}

func v3(factory string) market {
	return market{price.UniswapV3, common.HexToAddress(factory), selector("getPool(address,address,uint24)"), feeTiers, slotOfV3}
}

func v2(factory string) market {
	return market{price.UniswapV2, common.HexToAddress(factory), selector("getPair(address,address)"), nil, 0}
}

func slipstream(factory string) market {
	return market{price.Velodrome, common.HexToAddress(factory), selector("getPool(address,address,int24)"), spacingTiers, slotOfSlipstream}
}

// isToken0 reports whether a is token0 in a pool with b, which the lower address is.
func isToken0(a, b common.Address) bool { return bytes.Compare(a[:], b[:]) < 0 }
