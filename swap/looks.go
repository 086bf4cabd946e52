package swap

import (
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// A share is an order's poll class: which poll rate its polls count toward.
type share int

const (
	onlyWatched share = iota // only its end is awaited
	onItsWay                 // its last call was sent, and its outcome is awaited
	inAHurry                 // something must still be signed or handed over, or other orders wait for it
)

// mostLooks is how many polls per second all orders of a class may make together. A poll
// is a few RPC requests: a thousand orders that each poll every second would use up the
// endpoints' rate limit for the whole wallet. With few orders it has no effect.
var mostLooks = [...]float64{onlyWatched: atOnceMost, onItsWay: 5, inAHurry: 20}

// atOnceMost is how many orders start within a second.
const atOnceMost = 10

// looks limits how often orders are polled. An order whose record cannot be read has no
// entry: nothing is requested for it. Its methods may be called concurrently.
type looks struct {
	mu    sync.Mutex
	wants map[string]want
}

// A want is how many times per second an order would be polled alone, and its class.
type want struct {
	often float64
	of    share
}

// pause returns the order's own interval, stretched when its class exceeds its rate:
// orders that poll less often than an equal part allows keep theirs, the others share the
// rest.
func (l *looks) pause(id string, alone time.Duration, of share) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wants == nil {
		l.wants = map[string]want{}
	}
	l.wants[id] = want{1 / max(alone, time.Second).Seconds(), of}
	left := mostLooks[of]
	var all []float64
	for _, w := range l.wants {
		if w.of == of {
			all = append(all, w.often)
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

// leave removes an order that has ended or cannot be read.
func (l *looks) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wants, id)
}

// inTurn returns the delay before the order at index place of a batch starts.
func inTurn(place int) time.Duration {
	return time.Duration(max(0, place-atOnceMost+1)) * time.Second / atOnceMost
}

// Pause returns the interval before the next poll of an order that made no progress for
// that long. It grows from a second to an hour, and polling never stops.
func Pause(still time.Duration) time.Duration {
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

// share returns o's poll class. An order that waits for a person, or for another order
// that wakes it, is onlyWatched. One that needs a signature, waits for an earlier
// transaction, is being cancelled or blocks other orders is inAHurry.
func (o Order) share() share {
	switch o.Condition {
	case NeedsConsent, WaitingForUnlock, UnknownStoredState, Changed, Unsealed:
		return onlyWatched
	case WaitingForAllowance, WaitingForTwin:
		if !o.Cancel {
			return onlyWatched
		}
	}
	switch {
	case o.Cancel && !o.State.Final(), unsent(o.State) && (!o.underway() || o.Holds || o.Condition == Cancelling):
		return inAHurry
	case unsent(o.State):
		return onItsWay
	}
	return onlyWatched
}

// underway reports whether o's last call is signed and only its outcome is awaited.
func (o Order) underway() bool {
	return o.Plan.Settlement == ByOwnCall && o.Step == len(o.Plan.Steps)-1 && o.Sending != (common.Hash{}) && o.Bump == nil
}

// needsKeys reports whether unlocking the keys may let o go on.
func (o Order) needsKeys() bool {
	return unsent(o.State) || !o.State.Final() && (o.Cancel || o.Condition == WaitingForUnlock)
}

// unsent reports whether in state s something must still be signed or handed over.
func unsent(s State) bool {
	return slices.Contains([]State{Accepted, Approving, Executing, Submitting}, s)
}
