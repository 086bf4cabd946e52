package market

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// A Drift is a random walk of every asset that follows no other. Calm assets take a
// hundredth of its steps.
type Drift struct {
	// BpsPerMinute is the largest price change per minute; 0 = no drift.
	BpsPerMinute float64 `json:"bpsPerMinute"`
	// BandBps is the largest distance from the starting price.
	BandBps float64 `json:"bandBps"`
	// EverySeconds is the time between steps.
	EverySeconds int64 `json:"everySeconds"`
	// Seed determines the walk.
	Seed uint64 `json:"seed"`
}

// noDrift is the default: no drift.
var noDrift = Drift{BandBps: 500, EverySeconds: 10, Seed: 1}

// Limits of a drift.
const (
	maxPace  = 1000
	maxBand  = 9000
	maxEvery = 3600
)

func (d Drift) check() error {
	for _, b := range []struct {
		bad bool
		why string
	}{
		// Negated so that NaN is refused too.
		{!(d.BpsPerMinute >= 0 && d.BpsPerMinute <= maxPace), "bpsPerMinute: want 0 to 1000"},
		{!(d.BandBps > 0 && d.BandBps <= maxBand), "bandBps: want more than 0, up to 9000"},
		{d.EverySeconds < 1 || d.EverySeconds > maxEvery, "everySeconds: want 1 to 3600"},
	} {
		if b.bad {
			return errors.New("drift." + b.why)
		}
	}
	return nil
}

// every returns the time between steps.
func (d Drift) every() time.Duration { return time.Duration(d.EverySeconds) * time.Second }

// step returns the rates after one step. A price that was moved outside the band returns
// to its edge.
func (d Drift) step(from rates, random *rand.Rand) rates {
	to := append(rates(nil), from...)
	reach := d.BpsPerMinute / 10_000 * d.every().Minutes()
	for i, a := range assets {
		if a.Follows != "" {
			continue
		}
		pace, band := reach, d.BandBps/10_000
		if a.Calm {
			pace, band = pace*calmFactor, band*calmFactor
		}
		start := float64(a.Rate)
		moved := math.Round(from[i] * (1 + pace*(2*random.Float64()-1)))
		to[i] = min(max(moved, math.Ceil(start*(1-band))), math.Floor(start*(1+band)))
	}
	return to
}
