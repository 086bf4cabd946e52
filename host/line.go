package host

import (
	"slices"

	"swapkeep/host/protocol"
)

// A line is the queue of one connection's waiting requests, oldest first. A waiting
// request costs only its bytes and no goroutine, because Go never frees the memory of
// goroutine descriptors.
type line struct {
	running int // requests in progress
	asking  int // those of them that call a network or a provider
	waiting []request
}

// next removes the oldest request that may run now. Requests over the MaxAsking limit are
// skipped and do not block others.
func (l *line) next() (r request, ok bool) {
	if l.running >= protocol.MaxRunning {
		return r, false
	}
	i := slices.IndexFunc(l.waiting, func(r request) bool { return !asking[r.name] || l.asking < protocol.MaxAsking })
	if i < 0 {
		return r, false
	}
	r = l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.count(r, 1)
	return r, true
}

func (l *line) count(r request, n int) {
	l.running += n
	if asking[r.name] {
		l.asking += n
	}
}

// begin queues r and starts a worker if a request may run now.
func (c *conn) begin(r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.waiting = append(c.line.waiting, r)
	if c.ctx.Err() != nil {
		return // the client is gone; forsake drops what waits
	}
	if r, ok := c.line.next(); ok {
		c.wg.Go(func() {
			for ok := true; ok; r, ok = c.following(r) {
				c.answer(r)
			}
		})
	}
}

// following returns the request to run after r, unless the client is gone.
func (c *conn) following(r request) (next request, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.count(r, -1)
	if c.ctx.Err() != nil {
		return next, false
	}
	return c.line.next()
}

// forsake drops the waiting requests, none of which has started.
func (c *conn) forsake() {
	c.mu.Lock()
	left := c.line.waiting
	c.line.waiting = nil
	c.mu.Unlock()
	for _, r := range left {
		clear(r.body)
		c.free(r)
	}
}
