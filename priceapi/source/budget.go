package source

import (
	"time"

	"golang.org/x/time/rate"
)

// A budget spreads a month's calls over it. What was spent is forgotten when the
// program ends.
type budget struct{ calls *rate.Limiter }

// month is the longest one: none may be overspent.
const month = 31 * 24 * time.Hour

// spare is how many calls of a budget may be spent at once.
const spare = 30

func newBudget(monthly float64) *budget {
	return &budget{rate.NewLimiter(rate.Limit((monthly-spare)/month.Seconds()), spare)}
}

// spend takes n calls, or as many as can be had at once. It takes all or none: else
// the first of them would be made again and again, and the others never. With none it
// returns how long to wait.
func (b *budget) spend(now time.Time, n int) (granted int, wait time.Duration) {
	n = min(n, spare)
	r := b.calls.ReserveN(now, n)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		return 0, wait
	}
	return n, 0
}
