// Package poll keeps prices current: every minute it asks the sources, accepts prices that
// agree, stores them and publishes a price table.
package poll

import (
	"context"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// A Minute is the result of one fetch.
type Minute struct {
	At      time.Time // when it ended
	Took    time.Duration
	OK      bool // at least one price was accepted
	Samples map[price.ID]price.Sample
}

// Totals count the fetches since the history began.
type Totals struct {
	Fetches, Successful uint64
	Took                time.Duration // of all fetches together
}

// A Coverage says what a history holds of a token.
type Coverage struct {
	ID    price.ID
	Since time.Time // the oldest candle or sample
	// Points is the number of candles in the chart of each period.
	Points map[string]int // by the period's name
}

// A History stores prices: samples by the minute for 25 hours, 15-minute candles for eight
// days, and one-hour candles for as long as it is configured to. Methods may be called
// concurrently. Damaged or missing rows count as no data, not as an error; an error means
// that nothing was read or written.
type History interface {
	// Append durably stores a minute and the candles that end with it. It merges with a
	// minute that exists already; the newer sample of a token wins. A minute older than the
	// newest is stored in its place.
	Append(ctx context.Context, m Minute) error
	// Fill stores candles of an earlier time at resolution r, only where there is no data
	// yet. For Minutes only Close is used. It may be repeated.
	Fill(ctx context.Context, r price.Resolution, s price.Source, candles map[price.ID][]price.Candle) error
	// Near returns each token's sample that is closest to at, at most tolerance away.
	// Tokens without one are absent.
	Near(ctx context.Context, at time.Time, tolerance time.Duration) (map[price.ID]price.Sample, error)
	// Last returns the newest sample of each token from the 25 hours that are kept.
	Last(ctx context.Context) (map[price.ID]price.Sample, error)
	// Chart returns a token's candles of a period until now, oldest first, aligned to the
	// period's step in UTC. Steps without data are absent.
	Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error)
	// Coverages returns what there is of each token as of now.
	Coverages(ctx context.Context, now time.Time) ([]Coverage, error)
	// Facts returns the stored facts of all tokens; SetFacts replaces those of some.
	Facts(ctx context.Context) (map[price.ID]price.Facts, error)
	SetFacts(ctx context.Context, f map[price.ID]price.Facts) error
	// Totals returns the counts of all fetches.
	Totals(ctx context.Context) (Totals, error)
	// Check reports whether the history can be read and written now.
	Check(ctx context.Context) error
}

// A Source gives current prices.
type Source interface {
	Name() string
	// Now returns readings of the tokens that the source knows; others are absent. With an
	// error, the readings returned are still valid. It limits its own time and calls.
	Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error)
}

// An Archive gives historical prices.
type Archive interface {
	// Past returns candles of the given step from since until now, for the tokens that the
	// archive knows. With an error, the candles returned are still valid.
	Past(ctx context.Context, ts []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error)
}

// An MetadataSource gives slowly changing market data. A method that it does not support returns
// nothing.
type MetadataSource interface {
	Name() string
	// MarketCaps returns US dollars by token; unknown ones are absent.
	MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error)
	// Holders returns the number of holders by token; unknown ones are absent.
	Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error)
}
