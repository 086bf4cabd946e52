package network

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// Oracles holds a chain's price oracles. What the chain lacks is zero or empty.
type Oracles struct {
	// Sequencer is Chainlink's L2 sequencer uptime feed.
	Sequencer common.Address
	// Feeds have Chainlink's interface and answer in US dollars, with eight decimals.
	Feeds []Feed
	// Aave is the Aave oracle, Assets are the assets it prices.
	Aave   common.Address
	Assets []Asset
	// DIA is the DIA oracle.
	DIA common.Address
	// Slipstream are the factories of Velodrome's pools; the last one has the pools.
	Slipstream []common.Address
	Pools      []SlipstreamPool
	// ExtraTokens are tokens that only the oracles and pools here use.
	ExtraTokens []Token
}

// A Feed reports the price of one asset.
type Feed struct {
	At     common.Address `json:"at"`
	Symbol string         `json:"symbol"`
}

// An Asset is an asset of the Aave oracle and the feed that prices it.
type Asset struct {
	Asset  common.Address `json:"asset"`
	Source common.Address `json:"source"`
}

// A SlipstreamPool shows the price of two tokens, named by symbol.
type SlipstreamPool struct {
	At   common.Address
	A, B string
	// Spacing is the tick spacing, which identifies a pool in the factory.
	Spacing int64
	// Dollars is the value on each side.
	Dollars int64
}

// Market is the address, on every chain, of the sandbox's own contract that moves prices.
var Market = common.HexToAddress("0x5a4d000000000000000000000000000000000031")

// oraclesJSON has the feeds of ETH, BTC, BNB, USDC, USDT and DAI, and all assets of the
// Aave oracle, at the addresses published in the Aave address book; on 43114 those of its
// own tokens.
//
//go:embed oracles.json
var oraclesJSON []byte

var oracles = loadOracles()

func loadOracles() map[uint64]Oracles {
	var rows []struct {
		Chain     uint64         `json:"chain"`
		Sequencer common.Address `json:"sequencer"`
		Aave      common.Address `json:"aave"`
		Feeds     []Feed         `json:"feeds"`
		Assets    []Asset        `json:"assets"`
	}
	if err := json.Unmarshal(oraclesJSON, &rows); err != nil {
		panic(fmt.Sprintf("oracles.json: %v", err))
	}
	all := map[uint64]Oracles{5330: superseed}
	for _, r := range rows {
		all[r.Chain] = Oracles{Sequencer: r.Sequencer, Aave: r.Aave, Feeds: r.Feeds, Assets: r.Assets}
	}
	return all
}

// superseed has DIA's oracle with two adapters, from DIA's documentation, and Velodrome's
// factories, from Velodrome's SDK. The pools' addresses and depths are the sandbox's
// choice.
var superseed = Oracles{
	Feeds: []Feed{
		{common.HexToAddress("0xAdEfc2264c21A05D3f83bf7694438F81E119620B"), "WETH"},
		{common.HexToAddress("0x7F760344c9Cde8DD342120FA0F908CE0Cd42B1E6"), "cbBTC"},
	},
	DIA: common.HexToAddress("0xF526dC0D2B73488d32b58E55C17Cef5a53AD002A"),
	Slipstream: []common.Address{
		common.HexToAddress("0x04625B046C69577EfC40e6c0Bb83CDBAfab5a55F"),
		common.HexToAddress("0x718E46d0962A66942E233760a8bd6038Ce54EdCD"),
	},
	Pools: []SlipstreamPool{
		{ownPool(1), "WETH", "USDC", 100, 1_000_000},
		{ownPool(2), "WETH", "USDT", 100, 500_000},
		{ownPool(3), "cbBTC", "USDC", 100, 300_000},
		{ownPool(4), "WETH", "cbBTC", 100, 300_000},
		{ownPool(5), "USDC", "USDT", 1, 2_000_000},
		{ownPool(6), "oUSDT", "USDC", 1, 200_000},
		{ownPool(7), "SUPR", "WETH", 200, 100_000},
	},
	ExtraTokens: []Token{
		{common.HexToAddress("0x1217BfE6c773EEC6cc4A38b5Dc45B92292B6E189"), "oUSDT", "OpenUSDT", 6, dollar, false},
		{common.HexToAddress("0x6f36DBD829DE9b7e077DB8A35b480d4329ceB331"), "cbBTC", "Coinbase Wrapped BTC (bridged)", 8, 90_000 * dollar, false},
		{common.HexToAddress("0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B"), "SUPR", "Superseed", 18, 12_000, false},
	},
}

func ownPool(n byte) common.Address {
	at := common.HexToAddress("0x5a4d000000000000000000000000000000000040")
	at[19] += n
	return at
}

// Oracles returns the chain's price oracles.
func (n Network) Oracles() Oracles { return oracles[n.ID] }

// Token looks up a token by its symbol among the chain's own and the further ones.
func (o Oracles) Token(n Network, symbol string) (Token, bool) {
	n.Tokens = append(append([]Token(nil), n.Tokens...), o.ExtraTokens...)
	return n.Token(symbol)
}

func (o Oracles) named() map[string]common.Address {
	named := map[string]common.Address{"market": Market, "sequencerFeed": o.Sequencer, "aaveOracle": o.Aave, "diaOracle": o.DIA}
	if len(o.Slipstream) > 0 {
		named["slipstreamFactory"] = o.Slipstream[len(o.Slipstream)-1]
	}
	return named
}
