package swap

import (
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// A share is what an order's looks are counted to.
type share int

const (
	onlyWatched share = iota // nothing but its end is awaited
	onItsWay                 // and that of its last call
	inAHurry                 // something is still to be signed or handed over, or others wait for it
)

// mostLooks is how often a second all orders of a share are looked at together. A look is
// a few questions to a network: a thousand orders that each ask every second would use up
// what its endpoints grant, and the wallet with them. Few orders do not notice.
var mostLooks = [...]float64{onlyWatched: atOnceMost, onItsWay: 5, inAHurry: 20}

// atOnceMost is how many orders begin within a second.
const atOnceMost = 10

// looks shares that out, by how often each order would look were it alone. One whose
// record cannot be read has no share: nothing is asked for it.
type looks struct {
	mu    sync.Mutex
	wants map[string]want
}

// A want is how often a second an order would look, and from which share.
type want struct {
	often float64
	of    share
}

// pause is what becomes of the pause that an order would make were it alone: not longer,
// unless it looks oftener than those that have to look less often leave to it.
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

// leave gives up the share of an order that has ended or cannot be read.
func (l *looks) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wants, id)
}

// inTurn is when the one in that place looks of many that could all look at once.
func inTurn(place int) time.Duration {
	return time.Duration(max(0, place-atOnceMost+1)) * time.Second / atOnceMost
}

// Pause is how long an order that made no progress for so long waits before the
// next look: ever more slowly, without an end.
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

// share is what o's looks are counted to: one that waits for a person or for another order,
// which wakes it, is watched, and one that waits for a signature, for the transaction before
// one or for being cancelled does not wait, nor does one that others wait for.
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

// underway reports whether o's last call is signed, and nothing remains but its end.
func (o Order) underway() bool {
	return o.Plan.Settlement == ByOwnCall && o.Step == len(o.Plan.Steps)-1 && o.Sending != (common.Hash{}) && o.Bump == nil
}

// needsKeys reports whether o may go on as soon as the keys are unlocked.
func (o Order) needsKeys() bool {
	return unsent(o.State) || !o.State.Final() && (o.Cancel || o.Condition == WaitingForUnlock)
}

// unsent are the states in which something is still to be signed or handed over.
func unsent(s State) bool {
	return slices.Contains([]State{Accepted, Approving, Executing, Submitting}, s)
}
