package price

import "time"

// A Period is the time span of a chart.
type Period struct {
	Name string        // as in the API
	Span time.Duration // back from now
	Step time.Duration // length of a candle
	Raw  Resolution    // the stored series that its candles are built from
}

// A Resolution is one of the stored series.
type Resolution uint8

// The resolutions. Their numbers are stored on disk.
const (
	Minutes  Resolution = iota // samples, as fetched
	Quarters                   // 15-minute candles
	Hours                      // one-hour candles
)

// Step returns the time between two rows of a series.
func (r Resolution) Step() time.Duration {
	return [...]time.Duration{time.Minute, 15 * time.Minute, time.Hour}[r]
}

// periods have 288, 336 and 180 candles, about what a screen can show.
var periods = []Period{
	{"24h", 24 * time.Hour, 5 * time.Minute, Minutes},
	{"week", 7 * 24 * time.Hour, 30 * time.Minute, Quarters},
	{"month", 30 * 24 * time.Hour, 4 * time.Hour, Hours},
}

// Periods lists the periods, shortest first.
func Periods() []Period { return append([]Period(nil), periods...) }

// PeriodNamed finds a period by name.
func PeriodNamed(name string) (Period, bool) {
	for _, p := range periods {
		if p.Name == name {
			return p, true
		}
	}
	return Period{}, false
}
