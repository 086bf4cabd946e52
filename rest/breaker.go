package rest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A breaker holds back calls of a service that failed limits.Failures times in a row: all of
// them for limits.Open, give or take a tenth so that clients do not come back together, then
// all but one, whose result closes or opens it again. A clock that is set back ends the wait.
type breaker struct {
	limits Limits

	mu       sync.Mutex
	failures uint          // in a row
	opened   time.Time     // zero = closed
	wait     time.Duration // of this opening
	probing  bool          // the one call is under way
}

// acquire reports whether a call may begin, and if not how long the wait still is. A call
// that began ends in one of succeeded, failed and abandoned.
func (b *breaker) acquire(now time.Time) (left time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened.IsZero() {
		return 0, true
	}
	if past := now.Sub(b.opened); past >= 0 && past < b.wait {
		return b.wait - past, false
	}
	ok = !b.probing
	b.probing = true
	return 0, ok
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened.IsZero() || b.probing { // else the call began before it opened
		b.failures, b.opened, b.probing = 0, time.Time{}, false
	}
}

func (b *breaker) failed(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	if b.probing || b.opened.IsZero() && b.failures >= b.limits.Failures {
		b.opened, b.probing = now, false
		b.wait = b.limits.Open*9/10 + rand.N(b.limits.Open/5+1)
	}
}

// abandoned ends a call that proved nothing: the next one may begin in its place.
func (b *breaker) abandoned() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
