package source

import (
	"slices"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A network is what the services call a chain; what is empty is not known there, or
// not verified: a wrong name would price another chain's token.
type network struct {
	slugs    []string // DefiLlama's, the likeliest first
	coin     string   // CoinGecko's id of the native coin; DefiLlama's too, after coingecko:
	platform string   // CoinGecko's
	gecko    string   // GeckoTerminal's
	dex      string   // DexScreener's
	explorer string   // of Blockscout's making
	goplus   bool
	wrapped  common.Address // the native coin's, whose market is the coin's
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
		// DefiLlama's tools say sseed; whether its prices do is not documented.
		slugs: []string{"sseed", "superseed"}, coin: "ethereum",
		explorer: "https://explorer.superseed.xyz", wrapped: predeploy,
	},
	143: {slugs: []string{"monad"}},
	39:  {slugs: []string{"u2u"}},
}

const superseed = 5330

// predeploy is where the chains of the OP stack have their wrapped ether.
var predeploy = common.HexToAddress("0x4200000000000000000000000000000000000006")

// contract is a token's address as the services write it, in lower case; empty for a
// native coin.
func contract(t tokens.Token) string {
	if t.Address == tokens.Native {
		return ""
	}
	return hexutil.Encode(t.Address[:])
}

// traded is contract, but a native coin goes by its wrapped form, into which it can
// be turned at no cost.
func traded(t tokens.Token) string {
	if t.Address == tokens.Native {
		t.Address = networks[t.Chain].wrapped
	}
	return contract(t)
}

// Explorers are the chains that have an explorer of Blockscout's making.
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
