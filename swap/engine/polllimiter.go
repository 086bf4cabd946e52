package engine

import (
	"slices"
	"sync"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A pollClass is an order's poll class: which poll rate its polls count toward.
type pollClass int

const (
	pollWatched  pollClass = iota // only its end is awaited
	pollInFlight                  // its last call was sent, and its outcome is awaited
	pollUrgent                    // something must still be signed or handed over, or other orders wait for it
)

// pollRates is how many polls per second all orders of a class may make together. A poll
// is a few RPC requests: a thousand orders that each poll every second would use up the
// endpoints' rate limit for the whole wallet. With few orders it has no effect.
var pollRates = [...]float64{pollWatched: startsPerSecond, pollInFlight: 5, pollUrgent: 20}

// startsPerSecond is how many orders start within a second.
const startsPerSecond = 10

// pollLimiter limits how often orders are polled. An order whose record cannot be read has no
// entry: nothing is requested for it. Its methods may be called concurrently.
type pollLimiter struct {
	mu      sync.Mutex
	demands map[*inProgress]pollDemand
}

// A pollDemand is how many times per second an order would be polled alone, and its class.
type pollDemand struct {
	perSecond float64
	class     pollClass
}

// pause returns the order's own interval, stretched when its class exceeds its rate:
// orders that poll less often than an equal part allows keep theirs, the others share the
// rest.
func (l *pollLimiter) pause(p *inProgress, alone time.Duration, of pollClass) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.demands == nil {
		l.demands = map[*inProgress]pollDemand{}
	}
	l.demands[p] = pollDemand{1 / max(alone, time.Second).Seconds(), of}
	left := pollRates[of]
	var all []float64
	for _, w := range l.demands {
		if w.class == of {
			all = append(all, w.perSecond)
		}
	}
	slices.Sort(all)
	for i, often := range all {
		if fair := left / float64(len(all)-i); often > fair {
			return max(alone, time.Duration(float64(time.Second)/fair))
		}
		left -= often
	}
	return alone
}

// remove removes an order that has ended or cannot be read.
func (l *pollLimiter) remove(p *inProgress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.demands, p)
}

// startDelay returns the delay before the order at index place of a batch starts.
func startDelay(place int) time.Duration {
	return time.Duration(max(0, place-startsPerSecond+1)) * time.Second / startsPerSecond
}

// defaultPause returns the interval before the next poll of an order that made no progress for
// that long. It grows from a second to an hour, and polling never stops.
func defaultPause(still time.Duration) time.Duration {
	for _, p := range []struct{ below, pause time.Duration }{
		{time.Minute, time.Second}, {10 * time.Minute, 5 * time.Second}, {time.Hour, 15 * time.Second},
		{24 * time.Hour, time.Minute}, {7 * 24 * time.Hour, 10 * time.Minute},
	} {
		if still < p.below {
			return p.pause
		}
	}
	return time.Hour
}

// pollClassOf returns o's poll class. An order that waits for a person, or for another order
// that wakes it, is pollWatched. One that needs a signature, waits for an earlier
// transaction, is being cancelled or blocks other orders is pollUrgent.
func pollClassOf(o swap.Order) pollClass {
	switch o.Condition {
	case swap.NeedsConsent, swap.WaitingForUnlock, swap.WrittenByNewer, swap.RecordTampered:
		return pollWatched
	case swap.WaitingForAllowance, swap.WaitingForSimilar:
		if !o.Cancel {
			return pollWatched
		}
	}
	switch {
	case o.Cancel && !o.State.Final(), unsent(o.State) && (!underway(o) || o.AllowanceLocked || o.Condition == swap.Cancelling):
		return pollUrgent
	case unsent(o.State):
		return pollInFlight
	}
	return pollWatched
}

// underway reports whether o's last call is signed and only its outcome is awaited.
func underway(o swap.Order) bool {
	return o.Plan.Settlement == swap.ByOwnCall && o.Step == len(o.Plan.Steps)-1 && o.CurrentTx != (common.Hash{}) && o.Bump == nil
}

// needsKeys reports whether unlocking the keys may let o go on.
func needsKeys(o swap.Order) bool {
	return unsent(o.State) || !o.State.Final() && (o.Cancel || o.Condition == swap.WaitingForUnlock)
}

// unsent reports whether in state s something must still be signed or handed over.
func unsent(s swap.State) bool {
	return slices.Contains([]swap.State{swap.Accepted, swap.Approving, swap.Executing, swap.Submitting}, s)
}
