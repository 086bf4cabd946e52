package poll

import (
	"errors"
	"sync"
	"time"

	"swapkeep/rest"
)

// How a source that fails is left alone: after so many failures in a row for the
// first pause, which doubles up to the longest.
const (
	failuresAllowed = 3
	firstPause      = time.Minute
	longestPause    = 15 * time.Minute
	longestAsked    = time.Hour // that a source may ask for
)

// A circuit keeps a failing source from being asked. Clocks that jump cannot keep it
// open for longer than its pause.
type circuit struct {
	mu       sync.Mutex
	failures int // in a row
	pause    time.Duration
	since    time.Time // when the pause began; zero = closed
	last     error
}

// admits reports whether the source may be asked now.
func (c *circuit) admits(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	past := now.Sub(c.since)
	return c.since.IsZero() || past >= c.pause || past < 0
}

// record notes how a call ended. One success closes the circuit; after a pause one
// failure opens it again. A failure that left some answers, as where one of several
// networks is down, is remembered and no more.
func (c *circuit) record(now time.Time, err error, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = err
	if asked := pauseOf(err); asked > 0 {
		c.pause, c.since = min(asked, longestAsked), now
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

// pauseOf is how long a source asked to be left alone; 0 = it did not.
func pauseOf(err error) time.Duration {
	var e *rest.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// state is the last failure, nil after a success.
func (c *circuit) state() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}
