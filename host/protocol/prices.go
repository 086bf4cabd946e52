package protocol

import "time"

// USD is an amount of US dollars or a price in them, a decimal string: "3050.12".
// Absent where there is no current price: show "price unavailable", never zero.
type USD string

// PricesParams choose a page of prices.
type PricesParams struct {
	ChainID uint64    `json:"chainId,omitempty" doc:"default: the active network"`
	Tokens  []Address `json:"tokens,omitempty" doc:"default: all known tokens of the network, by market cap; at most 200"`
	Cursor  string    `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int       `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

// PricesResult is a page of prices.
type PricesResult struct {
	ChainID uint64    `json:"chainId"`
	Fetched time.Time `json:"fetched,omitzero" doc:"when prices were last fetched; absent: never"`
	Prices  []Price   `json:"prices" doc:"tokens that are not known here are absent"`
	Cursor  string    `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

// A Price is what one token costs.
type Price struct {
	Token     Address   `json:"token"`
	Symbol    string    `json:"symbol"`
	Now       USD       `json:"now,omitempty" doc:"US dollars for one token; absent: unknown"`
	Stale     bool      `json:"stale,omitempty" doc:"too old to be called current: show it as such, value nothing by it"`
	Ago       USD       `json:"ago,omitempty" doc:"24 hours before; absent: not known"`
	ChangePct *float64  `json:"changePercent,omitempty" doc:"since then; absent: not known"`
	Source    string    `json:"source,omitempty" doc:"where it is from, such as defillama or chainlink"`
	Updated   time.Time `json:"updated,omitzero" doc:"when it was true, as its source says"`
	MarketCap USD       `json:"marketCap,omitempty"`
	Diluted   bool      `json:"marketCapDiluted,omitempty" doc:"the market cap is the price times the total supply"`
	Holders   uint64    `json:"holders,omitempty"`
}

// PriceHistoryParams choose a chart.
type PriceHistoryParams struct {
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
	Token   Address `json:"token"`
	Period  string  `json:"period" of:"ChartPeriod" doc:"24h, week or month"`
}

// PriceHistory is a chart.
type PriceHistory struct {
	ChainID     uint64   `json:"chainId"`
	Token       Address  `json:"token"`
	Period      string   `json:"period" of:"ChartPeriod"`
	StepSeconds int      `json:"stepSeconds" doc:"of one candle"`
	Candles     []Candle `json:"candles" doc:"oldest first; steps without data are absent"`
}

// A Candle is one step of a chart, in US dollars.
type Candle struct {
	Time  time.Time `json:"time" doc:"its beginning"`
	Open  USD       `json:"open"`
	High  USD       `json:"high"`
	Low   USD       `json:"low"`
	Close USD       `json:"close"`
}

// PricesChanged says that prices were fetched, or have become stale.
type PricesChanged struct {
	Fetched time.Time `json:"fetched" doc:"when they were fetched last"`
}

// OfferUSD is what the amounts of an offer are worth, by the wallet's own prices and
// never the provider's. With two fraction digits.
type OfferUSD struct {
	AmountIn     USD `json:"amountIn,omitempty"`
	AmountOut    USD `json:"amountOut,omitempty"`
	MinAmountOut USD `json:"minAmountOut,omitempty"`
	GasCost      USD `json:"gasCost,omitempty"`
}

// GasUSD is what gas is worth, likewise.
type GasUSD struct {
	Expected USD `json:"expected,omitempty"`
	Max      USD `json:"max,omitempty"`
}
