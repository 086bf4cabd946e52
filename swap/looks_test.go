package swap

import (
	"fmt"
	"testing"
	"time"
)

// TestLooks: a few orders look as often as each would alone, a thousand no oftener
// together than ten times a second, and old ones leave that to the new.
func TestLooks(t *testing.T) {
	var l looks
	perSecond := func(n int, alone func(int) time.Duration) (sum float64) {
		pauses := make([]time.Duration, n)
		for range 2 { // the first time round, the later ones are not known yet
			for i := range n {
				pauses[i] = l.pause(fmt.Sprint(i), alone(i))
			}
		}
		for _, p := range pauses {
			sum += 1 / p.Seconds()
		}
		return sum
	}
	second := func(int) time.Duration { return time.Second }
	if got := perSecond(5, second); got != 5 {
		t.Errorf("five orders: %.2f looks a second", got)
	}
	if got := perSecond(1000, second); got > mostLooks+0.01 || got < mostLooks-0.01 {
		t.Errorf("a thousand orders: %.2f looks a second", got)
	}
	aged := func(i int) time.Duration {
		if i == 0 {
			return time.Second
		}
		return time.Hour
	}
	perSecond(1000, aged)
	if got := l.pause("0", time.Second); got != time.Second {
		t.Errorf("a new order among old ones waits %s", got)
	}
	for i := range 1000 {
		l.leave(fmt.Sprint(i))
	}
	if got := l.pause("last", time.Second); got != time.Second || len(l.wants) != 1 {
		t.Errorf("after all others have ended, one waits %s, and %d are known", got, len(l.wants))
	}
}
