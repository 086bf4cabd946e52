package price

import (
	"time"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// An ID is a token's identity: an address means nothing on another chain.
type ID struct {
	Chain   uint64
	Address common.Address // zero = the native coin
}

// IDOf is a token's.
func IDOf(t tokens.Token) ID { return ID{t.Chain, t.Address} }

// A Source says where a price is from. The numbers are on disk: append only.
type Source uint8

// The sources. Unknown is none: a sample without one is no sample.
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
	Hosted  // another Swapkeep's price API
	Twin    // the same issuer's token on the chain where it comes from
	Derived // told of the past by a source, not judged at that time
	GoPlus  // of market facts only
)

// sourceNames are what the API and the commands call them.
var sourceNames = [...]string{"unknown", "defillama", "chainlink", "aave-oracle", "uniswap-v3", "uniswap-v2", "geckoterminal", "coingecko",
	"dexscreener", "blockscout", "dia", "velodrome", "hosted", "twin", "derived", "goplus"}

func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[Unknown]
}

// SourceNames lists the names of all sources but Unknown.
func SourceNames() []string { return append([]string(nil), sourceNames[1:]...) }

// A Sample is a price that was taken.
type Sample struct {
	Value  Value
	At     time.Time // when it was true, as its source says
	Source Source
}

// Known reports whether there is a price at all.
func (s Sample) Known() bool { return !s.Value.IsZero() }

// A Reading is what a source says of one token, before anybody believes it.
type Reading struct {
	ID ID
	Sample
	// Confidence from 0 to 1; nil where the source gives none.
	Confidence *float64
	// Ago is what the source says the price was 24 hours before; zero where it
	// does not say.
	Ago Value
}

// A Candle is a span's prices: the first, the highest, the lowest and the last.
type Candle struct {
	At                     time.Time // its beginning
	Open, High, Low, Close Value
}

// Join extends c by the candle after it.
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

// Facts are what changes slowly about a token.
type Facts struct {
	MarketCap Value  // US dollars; zero = unknown
	Diluted   bool   // the cap is price times total supply, for want of a better one
	CapSource Source // Unknown where there is none
	CapAt     time.Time
	Holders   uint64 // 0 = unknown
	HoldersAt time.Time
}
