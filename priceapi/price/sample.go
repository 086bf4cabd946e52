package price

import (
	"time"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// An ID identifies a token: a contract address on a chain.
type ID struct {
	Chain   uint64
	Address common.Address // zero = the native coin
}

// IDOf returns a token's ID.
func IDOf(t tokens.Token) ID { return ID{t.Chain, t.Address} }

// A Source says where a price comes from. The numbers are stored on disk: append only.
type Source uint8

// The sources. A sample whose source is Unknown is not a sample.
const (
	Unknown Source = iota
	DefiLlama
	Chainlink
	AaveOracle
	UniswapV3
	UniswapV2
	GeckoTerminal
	CoinGecko
	DexScreener
	Blockscout
	DIA
	Velodrome
	Hosted    // another Swapkeep's price API
	Canonical // the price of the token on another chain that this one is redeemable for
	Derived   // historical, from an archive, and not validated when it was current
	GoPlus    // market facts only
)

// sourceNames are the names in the API and on the command line.
var sourceNames = [...]string{"unknown", "defillama", "chainlink", "aave-oracle", "uniswap-v3", "uniswap-v2", "geckoterminal", "coingecko",
	"dexscreener", "blockscout", "dia", "velodrome", "hosted", "canonical", "derived", "goplus"}

// services are the sources outside the networks themselves.
var services = map[Source]bool{DefiLlama: true, GeckoTerminal: true, CoinGecko: true, DexScreener: true, Blockscout: true, Hosted: true, GoPlus: true}

// Service reports whether the source is a service outside the networks.
func (s Source) Service() bool { return services[s] }

func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[Unknown]
}

// SourceNames lists the names of all sources except Unknown.
func SourceNames() []string { return append([]string(nil), sourceNames[1:]...) }

// A Sample is a price at a time.
type Sample struct {
	Value  Value
	At     time.Time // when the price was valid, according to its source
	Source Source
}

// Known reports whether there is a price.
func (s Sample) Known() bool { return !s.Value.IsZero() }

// A Reading is one source's price of a token, before validation.
type Reading struct {
	ID ID
	Sample
	// Confidence is from 0 to 1; nil if the source gives none.
	Confidence *float64
	// DayAgo is the price of 24 hours earlier, as the source reports it; zero if it reports
	// none.
	DayAgo Value
}

// A Candle holds the first, highest, lowest and last price of a time span.
type Candle struct {
	At                     time.Time // start of the span
	Open, High, Low, Close Value
}

// Join returns c extended by the candle that follows it.
func (c Candle) Join(next Candle) Candle {
	if c.Close.IsZero() {
		return next
	}
	if next.High.Cmp(c.High) > 0 {
		c.High = next.High
	}
	if next.Low.Cmp(c.Low) < 0 {
		c.Low = next.Low
	}
	c.Close = next.Close
	return c
}

// Facts are a token's slowly changing market data.
type Facts struct {
	MarketCap Value  // US dollars; zero = unknown
	Diluted   bool   // MarketCap is price times total supply, because no better figure is known
	CapSource Source // Unknown if there is no market cap
	CapAt     time.Time
	Holders   uint64 // 0 = unknown
	HoldersAt time.Time
}
