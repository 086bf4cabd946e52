package price

import "time"

// A Period is a span that charts are drawn of.
type Period struct {
	Name string        // as the API has it
	Span time.Duration // from now backwards
	Step time.Duration // of one candle
	Raw  Resolution    // what its candles are made of
}

// A Resolution is a series that is kept.
type Resolution uint8

// The resolutions. The numbers are on disk.
const (
	Minutes  Resolution = iota // samples, as taken
	Quarters                   // candles of 15 minutes
	Hours                      // candles of an hour
)

// Step is the time from one row of a series to the next.
func (r Resolution) Step() time.Duration {
	return [...]time.Duration{time.Minute, 15 * time.Minute, time.Hour}[r]
}

// periods: 288, 336 and 180 candles are about what a screen can show.
var periods = []Period{
	{"24h", 24 * time.Hour, 5 * time.Minute, Minutes},
	{"week", 7 * 24 * time.Hour, 30 * time.Minute, Quarters},
	{"month", 30 * 24 * time.Hour, 4 * time.Hour, Hours},
}

// Periods lists the periods, the shortest first.
func Periods() []Period { return append([]Period(nil), periods...) }

// PeriodNamed finds one by its name.
func PeriodNamed(name string) (Period, bool) {
	for _, p := range periods {
		if p.Name == name {
			return p, true
		}
	}
	return Period{}, false
}
