package poll

import (
	"errors"
	"sync"
	"time"

	"swapkeep/rest"
)

// Limits of the circuit breaker: after failuresAllowed failures in a row comes the first
// pause, which doubles up to the longest.
const (
	failuresAllowed = 3
	firstPause      = time.Minute
	longestPause    = 15 * time.Minute
	maxRetryAfter   = time.Hour // longest pause that a source may ask for
)

// A circuitBreaker is a circuit breaker for a failing source. A clock that jumps cannot keep it
// open for longer than its pause.
type circuitBreaker struct {
	mu       sync.Mutex
	failures int // in a row
	pause    time.Duration
	since    time.Time // when the pause began; zero = closed
	last     error
}

// allows reports whether the source may be asked now.
func (c *circuitBreaker) allows(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	past := now.Sub(c.since)
	return c.since.IsZero() || past >= c.pause || past < 0
}

// record notes how a call ended. One success closes the circuit; after a pause, one failure
// opens it again. A failure with some answers, for instance when one of several networks is
// down, is only remembered.
func (c *circuitBreaker) record(now time.Time, err error, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = err
	if requested := retryAfter(err); requested > 0 {
		c.pause, c.since = min(requested, maxRetryAfter), now
		return
	}
	if err == nil || some {
		c.failures, c.pause, c.since = 0, 0, time.Time{}
		return
	}
	if c.failures++; c.failures < failuresAllowed {
		return
	}
	c.pause, c.since = min(max(2*c.pause, firstPause), longestPause), now
}

// retryAfter returns the pause that a source asked for; 0 = none.
func retryAfter(err error) time.Duration {
	var e *rest.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// lastError returns the last failure, nil after a success.
func (c *circuitBreaker) lastError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}
