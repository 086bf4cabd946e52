package host

import (
	"slices"

	"swapkeep/host/protocol"
)

// A requestQueue is the queue of one connection's waiting requests, oldest first. A waiting
// request costs only its bytes and no goroutine, because Go never frees the memory of
// goroutine descriptors.
type requestQueue struct {
	running  int // requests in progress
	upstream int // those of them that call a network or a provider
	waiting  []request
}

// next removes the oldest request that may run now. Requests over the MaxAsking limit are
// skipped and do not block others.
func (l *requestQueue) next() (r request, ok bool) {
	if l.running >= protocol.MaxRunning {
		return r, false
	}
	i := slices.IndexFunc(l.waiting, func(r request) bool { return !callsUpstream[r.name] || l.upstream < protocol.MaxAsking })
	if i < 0 {
		return r, false
	}
	r = l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.count(r, 1)
	return r, true
}

func (l *requestQueue) count(r request, n int) {
	l.running += n
	if callsUpstream[r.name] {
		l.upstream += n
	}
}

// enqueue queues r and starts a worker if a request may run now.
func (c *conn) enqueue(r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue.waiting = append(c.queue.waiting, r)
	if c.ctx.Err() != nil {
		return // the client is gone; forsake drops what waits
	}
	if r, ok := c.queue.next(); ok {
		c.wg.Go(func() {
			for ok := true; ok; r, ok = c.nextAfter(r) {
				c.answer(r)
			}
		})
	}
}

// nextAfter returns the request to run after r, unless the client is gone.
func (c *conn) nextAfter(r request) (next request, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue.count(r, -1)
	if c.ctx.Err() != nil {
		return next, false
	}
	return c.queue.next()
}

// dropQueued drops the waiting requests, none of which has started.
func (c *conn) dropQueued() {
	c.mu.Lock()
	left := c.queue.waiting
	c.queue.waiting = nil
	c.mu.Unlock()
	for _, r := range left {
		clear(r.body)
		c.free(r)
	}
}
