// Package poll keeps the prices current: it asks the sources every minute, believes
// what agrees, writes it down, and publishes a board.
package poll

import (
	"context"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// A Minute is what one fetch brought.
type Minute struct {
	At      time.Time // when it ended
	Took    time.Duration
	OK      bool // at least one source answered
	Samples map[price.ID]price.Sample
}

// Totals count the fetches since the history began.
type Totals struct {
	Fetches, Successful uint64
	Took                time.Duration // all of them together
}

// A Coverage says what a history holds of a token.
type Coverage struct {
	ID    price.ID
	Since time.Time // the oldest candle or sample
	// Points are how many candles the chart of each period has.
	Points map[string]int // by the period's name
}

// A History keeps prices: samples by the minute for 25 hours, candles of a quarter of
// an hour for eight days, and of an hour for the months that it is told to keep.
// Methods may be called concurrently. Damaged or missing rows are no data, never an
// error; an error means that nothing was read or written.
type History interface {
	// Append writes a minute down, durably, and the candles that end with it. A
	// minute that is there already is merged with: the newer sample of a token wins.
	// A minute older than the newest is written as well, where it belongs.
	Append(ctx context.Context, m Minute) error
	// Fill writes candles of an earlier time, at resolution r, only where there is
	// nothing yet; of Minutes only Close counts. It may be repeated.
	Fill(ctx context.Context, r price.Resolution, s price.Source, candles map[price.ID][]price.Candle) error
	// Near returns the sample of each token that is closest to at, at most tolerance
	// away. Tokens without one are absent.
	Near(ctx context.Context, at time.Time, tolerance time.Duration) (map[price.ID]price.Sample, error)
	// Last returns the newest sample of each token, however old within 25 hours.
	Last(ctx context.Context) (map[price.ID]price.Sample, error)
	// Chart returns a token's candles of a period until now, oldest first, each of the
	// period's step, aligned to it in UTC. Steps without data are absent.
	Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error)
	// Coverages says what there is of each token, as of now.
	Coverages(ctx context.Context, now time.Time) ([]Coverage, error)
	// Facts returns what is kept of the tokens; SetFacts replaces those of some.
	Facts(ctx context.Context) (map[price.ID]price.Facts, error)
	SetFacts(ctx context.Context, f map[price.ID]price.Facts) error
	// Totals counts the fetches.
	Totals(ctx context.Context) (Totals, error)
	// Check reports whether the history can be read and written now.
	Check(ctx context.Context) error
}

// A Source tells current prices.
type Source interface {
	Name() string
	// Now returns what it says of the tokens that it knows; others are absent. With
	// an error the readings that came before it hold. It bounds its own time and calls.
	Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error)
}

// An Archive tells prices of the past.
type Archive interface {
	// Past returns candles of a step from since until now for the tokens that it knows.
	// With an error those that came before it hold.
	Past(ctx context.Context, ts []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error)
}

// An Almanac tells what changes slowly. A method that it cannot serve returns nothing.
type Almanac interface {
	Name() string
	// MarketCaps returns US dollars by token; unknown ones are absent.
	MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error)
	// Holders returns the number of holders by token; unknown ones are absent.
	Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error)
}
