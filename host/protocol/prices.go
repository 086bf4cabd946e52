package protocol

import "time"

// USD is an amount of or a price in US dollars, a decimal string: "3050.12". It is absent
// if there is no current price: show "price unavailable", never zero.
type USD string

// PricesParams select a page of prices.
type PricesParams struct {
	ChainID uint64    `json:"chainId,omitempty" doc:"default: the active network"`
	Tokens  []Address `json:"tokens,omitempty" doc:"default: all known tokens of the network, by market cap; at most 200"`
	Cursor  string    `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int       `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

type PricesResult struct {
	ChainID uint64    `json:"chainId"`
	Fetched time.Time `json:"fetched,omitzero" doc:"when prices were last fetched; absent: never"`
	Prices  []Price   `json:"prices" doc:"tokens that are not known here are absent"`
	Cursor  string    `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

type Price struct {
	Token     Address   `json:"token"`
	Symbol    string    `json:"symbol"`
	Now       USD       `json:"now,omitempty" doc:"US dollars for one token; absent: unknown"`
	Stale     bool      `json:"stale,omitempty" doc:"too old to be called current: show it as such, value nothing by it"`
	DayAgo    USD       `json:"dayAgo,omitempty" doc:"24 hours before; absent: not known"`
	ChangePct *float64  `json:"changePercent,omitempty" doc:"since then; absent: not known"`
	Source    string    `json:"source,omitempty" doc:"where it is from, such as defillama or chainlink"`
	Updated   time.Time `json:"updated,omitzero" doc:"when it was true, as its source says"`
	MarketCap USD       `json:"marketCap,omitempty"`
	Diluted   bool      `json:"marketCapDiluted,omitempty" doc:"the market cap is the price times the total supply"`
	Holders   uint64    `json:"holders,omitempty"`
}

type PriceHistoryParams struct {
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
	Token   Address `json:"token"`
	Period  string  `json:"period" of:"ChartPeriod" doc:"24h, week or month"`
}

type PriceHistory struct {
	ChainID     uint64   `json:"chainId"`
	Token       Address  `json:"token"`
	Period      string   `json:"period" of:"ChartPeriod"`
	StepSeconds int      `json:"stepSeconds" doc:"of one candle"`
	Candles     []Candle `json:"candles" doc:"oldest first; steps without data are absent"`
}

// A Candle is one interval of a chart, in US dollars.
type Candle struct {
	Time  time.Time `json:"time" doc:"its beginning"`
	Open  USD       `json:"open"`
	High  USD       `json:"high"`
	Low   USD       `json:"low"`
	Close USD       `json:"close"`
}

// PricesChanged reports that prices were fetched or became stale.
type PricesChanged struct {
	Fetched time.Time `json:"fetched" doc:"when they were fetched last"`
}

// OfferUSD is the worth of an offer's amounts by the wallet's own prices, never the
// provider's, with two decimals.
type OfferUSD struct {
	AmountIn     USD `json:"amountIn,omitempty"`
	AmountOut    USD `json:"amountOut,omitempty"`
	MinAmountOut USD `json:"minAmountOut,omitempty"`
	GasCost      USD `json:"gasCost,omitempty"`
}

// GasUSD is the worth of the gas, by the same rules.
type GasUSD struct {
	Expected USD `json:"expected,omitempty"`
	Max      USD `json:"max,omitempty"`
}
