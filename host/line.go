package host

import (
	"slices"

	"swapkeep/host/protocol"
)

// A line is where the requests of one connection stand that wait for an answer, oldest
// first. One that waits is its bytes and no goroutine: Go keeps what a goroutine was
// for as long as the daemon runs.
type line struct {
	running int // requests being answered
	asking  int // those of them that ask a network or a provider
	waiting []request
}

// next takes the oldest that may be answered now out of the line. One that has to wait
// for others that ask holds up none that does not.
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

// begin has r answered beside the others, or once one of them makes room.
func (c *conn) begin(r request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.waiting = append(c.line.waiting, r)
	if c.ctx.Err() != nil {
		return // the client is gone, and with it what waits
	}
	if r, ok := c.line.next(); ok {
		c.wg.Go(func() {
			for ok := true; ok; r, ok = c.following(r) {
				c.answer(r)
			}
		})
	}
}

// following is what takes the place of a request that was answered. For a client that is
// gone nothing more is begun.
func (c *conn) following(r request) (next request, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.count(r, -1)
	if c.ctx.Err() != nil {
		return next, false
	}
	return c.line.next()
}

// forsake forgets what waits: nothing of it was begun, and nobody waits for it.
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
