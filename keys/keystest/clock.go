package keystest

import (
	"sync"
	"time"

	"swapkeep/keys"
)

// Clock is a [keys.Clock] that moves only by Advance.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	waiting map[int]waiting
	next    int
}

type waiting struct {
	at   time.Time
	wake func()
}

var _ keys.Clock = (*Clock)(nil)

func NewClock(now time.Time) *Clock {
	return &Clock{now: now, waiting: map[int]waiting{}}
}

// Now implements [keys.Clock].
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements [keys.Clock]. f runs in the goroutine that calls Advance.
func (c *Clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	id := c.next
	c.waiting[id] = waiting{c.now.Add(d), f}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, was := c.waiting[id]
		delete(c.waiting, id)
		return was
	}
}

// Advance moves the clock and runs the due timers in order.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	c.mu.Unlock()
	for {
		wake := c.due(end)
		if wake == nil {
			return
		}
		wake()
	}
}

// due moves the clock to the first timer up to end and returns it, or moves to end and
// returns nil.
func (c *Clock) due(end time.Time) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := 0
	for id, w := range c.waiting {
		if !w.at.After(end) && (first == 0 || w.at.Before(c.waiting[first].at)) {
			first = id
		}
	}
	if first == 0 {
		c.now = end
		return nil
	}
	w := c.waiting[first]
	delete(c.waiting, first)
	if w.at.After(c.now) {
		c.now = w.at
	}
	return w.wake
}

// Sleep moves the clock without firing timers, as a suspended machine does.
func (c *Clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
