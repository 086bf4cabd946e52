package source

import (
	"slices"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A network lists the services' names of a chain. A name is empty if the service does not
// know the chain or the name is unverified: a wrong one would price another chain's token.
type network struct {
	slugs    []string // DefiLlama's, most likely first
	coin     string   // CoinGecko's ID of the native coin; also DefiLlama's, after coingecko:
	platform string   // CoinGecko's
	gecko    string   // GeckoTerminal's
	dex      string   // DexScreener's
	explorer string   // URL of a Blockscout explorer
	goplus   bool
	wrapped  common.Address // wrapped native coin, whose market prices the native coin
}

var networks = map[uint64]network{
	1: {
		slugs: []string{"ethereum"}, coin: "ethereum", platform: "ethereum", gecko: "eth", dex: "ethereum",
		explorer: "https://eth.blockscout.com", goplus: true, wrapped: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
	},
	10: {
		slugs: []string{"optimism"}, coin: "ethereum", platform: "optimistic-ethereum", gecko: "optimism", dex: "optimism",
		explorer: "https://explorer.optimism.io", goplus: true, wrapped: predeploy,
	},
	56: {
		slugs: []string{"bsc"}, coin: "binancecoin", platform: "binance-smart-chain", gecko: "bsc", dex: "bsc",
		goplus: true, wrapped: common.HexToAddress("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"),
	},
	8453: {
		slugs: []string{"base"}, coin: "ethereum", platform: "base", gecko: "base", dex: "base",
		explorer: "https://base.blockscout.com", goplus: true, wrapped: predeploy,
	},
	42161: {
		slugs: []string{"arbitrum"}, coin: "ethereum", platform: "arbitrum-one", gecko: "arbitrum", dex: "arbitrum",
		explorer: "https://arbitrum.blockscout.com", goplus: true, wrapped: common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
	},
	superseed: {
		// DefiLlama's tools use sseed; whether its prices do is not documented.
		slugs: []string{"sseed", "superseed"}, coin: "ethereum",
		explorer: "https://explorer.superseed.xyz", wrapped: predeploy,
	},
	143: {
		slugs: []string{"monad"}, coin: "monad", platform: "monad", gecko: "monad", dex: "monad",
		wrapped: common.HexToAddress("0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A"),
	},
	43114: {
		slugs: []string{"avax"}, coin: "avalanche-2", platform: "avalanche", gecko: "avax", dex: "avalanche",
		wrapped: common.HexToAddress("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"),
	},
	39: {slugs: []string{"u2u"}},
}

const superseed = 5330

// predeploy is the address of wrapped ether on OP-stack chains.
var predeploy = common.HexToAddress("0x4200000000000000000000000000000000000006")

// tokenKey returns a token's address in lower case, as the services write it; empty for a
// native coin.
func tokenKey(t tokens.Token) string {
	if t.Address == tokens.Native {
		return ""
	}
	return hexutil.Encode(t.Address[:])
}

// marketKey is contract, except that a native coin is replaced by its wrapped form, into which
// it converts at no cost.
func marketKey(t tokens.Token) string {
	if t.Address == tokens.Native {
		t.Address = networks[t.Chain].wrapped
	}
	return tokenKey(t)
}

// Explorers returns the chains that have a Blockscout explorer.
func Explorers() []uint64 {
	var ids []uint64
	for id, n := range networks {
		if n.explorer != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
