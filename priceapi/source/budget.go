package source

import (
	"time"

	"golang.org/x/time/rate"
)

// A budget spreads a monthly quota of calls over the month. Spent calls are not remembered
// after the process ends.
type budget struct{ calls *rate.Limiter }

// month is the longest month, so that the quota is never exceeded.
const month = 31 * 24 * time.Hour

// budgetBurst is the burst: how many calls may be spent at once.
const budgetBurst = 30

func newBudget(monthly float64) *budget {
	return &budget{rate.NewLimiter(rate.Limit((monthly-budgetBurst)/month.Seconds()), budgetBurst)}
}

// spend takes n calls, but at most the burst. It takes all of them or none; otherwise the
// first calls of a request would be repeated each time and the last never made. If it takes
// none it returns how long to wait.
func (b *budget) spend(now time.Time, n int) (granted int, wait time.Duration) {
	n = min(n, budgetBurst)
	r := b.calls.ReserveN(now, n)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return 0, wait
	}
	return n, 0
}
