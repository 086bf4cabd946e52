package web

import (
	"strconv"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"

	"github.com/danielgtaylor/huma/v2"
	"github.com/ethereum/go-ethereum/common"
)

// Time formats: records use Z, lists have no zone; both are UTC.
const (
	zuluMicros   = "2006-01-02T15:04:05.000000Z"
	noZoneMicros = "2006-01-02T15:04:05.000000"
	zulu         = "2006-01-02T15:04:05Z"
)

// Identity identifies a record's token.
type Identity struct {
	ChainID      uint64  `json:"chain_id" minimum:"1" doc:"Chain id." example:"1"`
	TokenAddress Address `json:"token_address" doc:"Token contract, with EIP-55 checksum; the zero address is the native coin." example:"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"`
}

// HealthRecord answers /health.
type HealthRecord struct {
	Status         Status `json:"status" enum:"healthy,degraded,unhealthy" doc:"Health of the service. Degraded: it works, but a part of it fails; unhealthy comes with status 503." example:"healthy"`
	Timestamp      string `json:"timestamp" format:"date-time" doc:"Time of the check: ISO 8601, UTC, microseconds, with Z." example:"2025-12-27T10:15:30.123456Z"`
	Version        string `json:"version" doc:"Version of the service." example:"0.1.0"`
	DatabaseStatus string `json:"database_status" doc:"Database engine and its state." example:"bbolt: ok"`
	RedisStatus    string `json:"redis_status" doc:"Cache engine and its state; in-process without Redis." example:"in-process: ok"`
}

// Statistics answers /stats.
type Statistics struct {
	TotalFetches      uint64 `json:"total_fetches" doc:"Number of fetches since the history began." example:"43200"`
	SuccessfulFetches uint64 `json:"successful_fetches" doc:"Number of fetches that at least one source answered." example:"43187"`
	TokensMonitored   int    `json:"tokens_monitored" doc:"Number of monitored tokens, with or without a price." example:"111"`
	AvgFetchSeconds   Number `json:"avg_fetch_duration_seconds" minimum:"0" doc:"Mean duration of a fetch, in seconds." example:"0.84"`
}

// PriceItem is a token in a price list. Without 24 hours of data the fields that need them
// are zero.
type PriceItem struct {
	Identity
	Symbol      string  `json:"symbol" doc:"Ticker symbol." example:"WETH"`
	Name        string  `json:"name" doc:"Name." example:"Wrapped Ether"`
	PriceNow    Price   `json:"price_now" doc:"Last known price of one whole token, in US dollars." example:"3050.120000000000000000"`
	Price24hAgo Price   `json:"price_24h_ago" doc:"Price 24 hours ago, in US dollars; zero without 24 hours of data." example:"2998.400000000000000000"`
	ChangeAbs   Change  `json:"change_abs" doc:"Change in 24 hours, in US dollars, with a minus sign when the price fell; zero without 24 hours of data." example:"51.720000000000000000"`
	ChangePct   Number  `json:"change_pct" doc:"Change in 24 hours, in percent, to six digits; zero without 24 hours of data." example:"1.724920"`
	MarketCap   Dollars `json:"market_cap" doc:"Market capitalisation in US dollars; zero if unknown." example:"9008047197.70"`
	Holders     uint64  `json:"holders" doc:"Number of addresses that hold the token; zero if unknown." example:"837494"`
	Has24hData  bool    `json:"has_24h_data" doc:"Whether price_now is current and a price from 24 hours ago is known." example:"true"`
}

// PriceList answers /tokens/price24h.
type PriceList struct {
	Data            []PriceItem `json:"data" nullable:"false" doc:"The tokens, by market capitalisation, the largest first."`
	TotalCount      int         `json:"total_count" doc:"Number of tokens that match, before limit and offset." example:"104"`
	Has24hDataCount int         `json:"has_24h_data_count" doc:"Number of items in data with has_24h_data true." example:"98"`
	Timestamp       string      `json:"timestamp" pattern:"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}$" doc:"When the prices were fetched: ISO 8601, UTC, microseconds, without a zone suffix." example:"2025-12-27T10:15:00.000000"`
}

// TokenPrice answers /tokens/{address}/price24h.
type TokenPrice struct {
	TokenAddress Address `json:"token_address" doc:"Token contract, with EIP-55 checksum; the zero address is the native coin." example:"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"`
	ChainID      uint64  `json:"chain_id" minimum:"1" doc:"Chain id." example:"1"`
	PriceNow     Number  `json:"price_now" minimum:"0" doc:"Last known price of one whole token, in US dollars; exact, without an exponent." example:"3050.12"`
	Price24hAgo  Number  `json:"price_24h_ago" minimum:"0" doc:"Price 24 hours ago, in US dollars; zero without 24 hours of data." example:"2998.4"`
	Symbol       string  `json:"symbol" doc:"Ticker symbol." example:"WETH"`
	Name         string  `json:"name" doc:"Name." example:"Wrapped Ether"`
}

// Token is a monitored token, with or without a price.
type Token struct {
	Identity
	Symbol           string `json:"symbol" doc:"Ticker symbol." example:"WETH"`
	Name             string `json:"name" doc:"Name." example:"Wrapped Ether"`
	Decimals         uint8  `json:"decimals" doc:"Number of decimals of the token's amounts." example:"18"`
	PriceNow         string `json:"price_now" pattern:"^(\\d+\\.\\d{18})?$" doc:"Last known price of one whole token, in US dollars, 18 fraction digits; empty if unknown." example:"3050.120000000000000000"`
	PriceSource      string `json:"price_source" doc:"Source of the price; empty if unknown." example:"defillama"`
	PriceUpdatedAt   string `json:"price_updated_at" doc:"Time of the price according to its source: RFC 3339, UTC; empty if unknown." example:"2025-12-27T10:14:38Z"`
	Stale            bool   `json:"stale" doc:"Whether the price is too old to be current." example:"false"`
	MarketCapDiluted bool   `json:"market_cap_diluted" doc:"Whether the market capitalisation uses the total supply because the circulating supply is unknown." example:"false"`
}

// TokenList answers /tokens.
type TokenList struct {
	Data       []Token `json:"data" nullable:"false" doc:"The tokens, by market capitalisation, the largest first."`
	TotalCount int     `json:"total_count" doc:"Number of tokens that match, before limit and offset." example:"111"`
	Timestamp  string  `json:"timestamp" doc:"When prices were fetched last: ISO 8601, UTC, microseconds, without a zone suffix; empty before the first fetch." example:"2025-12-27T10:15:00.000000"`
}

// Candle is one time span of a chart.
type Candle struct {
	Timestamp string `json:"timestamp" format:"date-time" doc:"Beginning of the span: RFC 3339, UTC." example:"2025-12-27T10:10:00Z"`
	Open      Price  `json:"open" doc:"First price, in US dollars." example:"3049.870000000000000000"`
	High      Price  `json:"high" doc:"Highest price, in US dollars." example:"3051.020000000000000000"`
	Low       Price  `json:"low" doc:"Lowest price, in US dollars." example:"3048.110000000000000000"`
	Close     Price  `json:"close" doc:"Last price, in US dollars." example:"3050.120000000000000000"`
}

// Chart answers /tokens/{address}/history.
type Chart struct {
	TokenAddress Address  `json:"token_address" doc:"Token contract, with EIP-55 checksum; the zero address is the native coin." example:"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"`
	ChainID      uint64   `json:"chain_id" minimum:"1" doc:"Chain id." example:"1"`
	Symbol       string   `json:"symbol" doc:"Ticker symbol." example:"WETH"`
	Period       string   `json:"period" enum:"24h,week,month" doc:"Time span ending now." example:"24h"`
	StepSeconds  int      `json:"step_seconds" doc:"Length of each candle, in seconds." example:"300"`
	Data         []Candle `json:"data" nullable:"false" doc:"The candles, the oldest first, aligned to the step in UTC. Spans without a price are absent."`
	Timestamp    string   `json:"timestamp" doc:"When prices were fetched last: ISO 8601, UTC, microseconds, without a zone suffix; empty before the first fetch." example:"2025-12-27T10:15:00.000000"`
}

// Available lists a token's charts.
type Available struct {
	Identity
	Symbol  string            `json:"symbol" doc:"Ticker symbol." example:"WETH"`
	Since   string            `json:"since" format:"date-time" doc:"The oldest price that is kept: RFC 3339, UTC." example:"2025-11-27T10:00:00Z"`
	Periods []AvailablePeriod `json:"periods" nullable:"false" doc:"The periods with at least one candle, the shortest first."`
}

// AvailablePeriod is one available chart.
type AvailablePeriod struct {
	Period      string `json:"period" enum:"24h,week,month" doc:"Time span ending now." example:"week"`
	StepSeconds int    `json:"step_seconds" doc:"Length of each candle, in seconds." example:"1800"`
	Points      int    `json:"points" doc:"Number of candles." example:"336"`
}

// AvailableList answers /tokens/history/available.
type AvailableList struct {
	Data       []Available `json:"data" nullable:"false" doc:"Tokens with charts, by market capitalisation, the largest first."`
	TotalCount int         `json:"total_count" doc:"Number of tokens in data." example:"104"`
	Timestamp  string      `json:"timestamp" doc:"When prices were fetched last: ISO 8601, UTC, microseconds, without a zone suffix; empty before the first fetch." example:"2025-12-27T10:15:00.000000"`
}

// PriceEvent is the data of an event named prices.
type PriceEvent struct {
	Timestamp string       `json:"timestamp" doc:"When the prices were fetched: ISO 8601, UTC, microseconds, without a zone suffix." example:"2025-12-27T10:15:00.000000"`
	Data      []EventPrice `json:"data" nullable:"false" doc:"All prices in the first event of a stream; in later ones those whose price or stale flag changed since the previous event."`
}

// EventPrice is a token in an event.
type EventPrice struct {
	Identity
	PriceNow    Price  `json:"price_now" doc:"Last known price of one whole token, in US dollars." example:"3050.120000000000000000"`
	Price24hAgo Price  `json:"price_24h_ago" doc:"Price 24 hours ago, in US dollars; zero without 24 hours of data." example:"2998.400000000000000000"`
	ChangePct   Number `json:"change_pct" doc:"Change in 24 hours, in percent, to six digits; zero without 24 hours of data." example:"1.724920"`
	Stale       bool   `json:"stale" doc:"Whether the price is too old to be current." example:"false"`
}

// Root answers /.
type Root struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	API           string `json:"api"`
	Documentation string `json:"documentation"`
	OpenAPI       string `json:"openapi"`
}

// Formatted values. A Price has 18 fraction digits, a Change the same and a minus sign if
// negative, Dollars two; a Number is a JSON number without an exponent.
type (
	Address string
	Price   string
	Change  string
	Dollars string
	Number  string
)

// Schema describes an address.
func (Address) Schema(huma.Registry) *huma.Schema { return textual("^0x[0-9a-fA-F]{40}$") }

// Schema describes a price.
func (Price) Schema(huma.Registry) *huma.Schema { return textual(`^\d+\.\d{18}$`) }

// Schema describes a change.
func (Change) Schema(huma.Registry) *huma.Schema { return textual(`^-?\d+\.\d{18}$`) }

// Schema describes an amount of dollars.
func (Dollars) Schema(huma.Registry) *huma.Schema { return textual(`^\d+\.\d{2}$`) }

// Schema describes a number.
func (Number) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

func textual(pattern string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: pattern}
}

// MarshalJSON writes the number as it is.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// exact formats a price as a number with all its digits.
func exact(v price.Value) Number { return Number(trim(v.String())) }

// rounded formats a float with at most six fraction digits.
func rounded(f float64) Number { return Number(trim(strconv.FormatFloat(f, 'f', 6, 64))) }

// trim removes trailing zeros.
func trim(decimal string) string {
	short := strings.TrimRight(strings.TrimRight(decimal, "0"), ".")
	switch short {
	case "", "-", "-0":
		return "0"
	}
	return short
}

func identity(r pricetable.Row) Identity {
	return Identity{r.Token.Chain, addressText(r.Token.Address)}
}

func addressText(a common.Address) Address { return Address(a.Hex()) }

// formatNoZone formats a time for lists; "" = never.
func formatNoZone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(noZoneMicros)
}

// ago returns the price of 24 hours earlier, zero if there is no 24-hour comparison.
func ago(r pricetable.Row) price.Value {
	if !r.Has24h() {
		return price.Value{}
	}
	return r.DayAgo.Value
}

func priceItem(r pricetable.Row) PriceItem {
	by, fell, percent := r.Change()
	change := by.String()
	if fell {
		change = "-" + change
	}
	return PriceItem{
		Identity: identity(r), Symbol: r.Token.Symbol, Name: r.Token.Name,
		PriceNow: Price(r.Now.Value.String()), Price24hAgo: Price(ago(r).String()), ChangeAbs: Change(change), ChangePct: rounded(percent),
		MarketCap: Dollars(r.Facts.MarketCap.Fixed(2)), Holders: r.Facts.Holders, Has24hData: r.Has24h(),
	}
}

func tokenPrice(r pricetable.Row) TokenPrice {
	return TokenPrice{
		TokenAddress: addressText(r.Token.Address), ChainID: r.Token.Chain,
		PriceNow: exact(r.Now.Value), Price24hAgo: exact(ago(r)), Symbol: r.Token.Symbol, Name: r.Token.Name,
	}
}

func token(r pricetable.Row) Token {
	t := Token{
		Identity: identity(r), Symbol: r.Token.Symbol, Name: r.Token.Name,
		Decimals: r.Token.Decimals, Stale: r.Stale, MarketCapDiluted: r.Facts.Diluted,
	}
	if r.Now.Known() {
		t.PriceNow, t.PriceSource, t.PriceUpdatedAt = r.Now.Value.String(), r.Now.Source.String(), r.Now.At.UTC().Format(zulu)
	}
	return t
}

func candle(c price.Candle) Candle {
	return Candle{Timestamp: c.At.UTC().Format(zulu), Open: Price(c.Open.String()), High: Price(c.High.String()), Low: Price(c.Low.String()), Close: Price(c.Close.String())}
}

func eventPrice(r pricetable.Row) EventPrice {
	_, _, percent := r.Change()
	return EventPrice{
		Identity: identity(r), PriceNow: Price(r.Now.Value.String()),
		Price24hAgo: Price(ago(r).String()), ChangePct: rounded(percent), Stale: r.Stale,
	}
}
