// Package listen bounds how many connections a server of HTTP keeps, and says which of
// them has to leave for a new one: never one whose client waits for an answer.
package listen

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of a listener.
type Limits struct {
	Open    int           // connections at once; never above a quarter of the process's descriptors
	Address int           // of them, from one address, or one IPv6 network of 64 bits; this machine's own are not counted. 0 = Open
	Fresh   time.Duration // for the first request to arrive, while others wait
	Stalled time.Duration // for a client to take a piece of its answer, while others wait
}

// Bounds of what a client may leave unread before the server waits for it.
const (
	unread = 128 << 10 // bytes in the system's buffer of a connection
	piece  = 32 << 10  // bytes that are written at once
)

// A Listener keeps the number of its open connections bounded. When there are as many as
// there may be, a new one takes the place of the one that has been idle longest, else of
// the one that has kept its first request back, or left its answer unread, too long and
// longest; else it waits for one of the others to end, and those behind it wait in the
// system's queue, where they cost no descriptor. Its connections are for HTTP alone: the
// server's ConnState must be [Listener.State].
type Listener struct {
	net.Listener
	limits Limits

	mu      sync.Mutex
	open    map[*connection]bool
	of      map[origin]int // open ones by address
	waiting atomic.Bool    // Accept waits for room
	moved   chan struct{}
	closed  chan struct{}
	once    sync.Once
}

// Bound makes a listener bounded.
func Bound(l net.Listener, limits Limits) *Listener {
	limits.Open = min(limits.Open, spareDescriptors())
	if limits.Address == 0 {
		limits.Address = limits.Open
	}
	return &Listener{
		Listener: l, limits: limits, open: map[*connection]bool{}, of: map[origin]int{},
		moved: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Accept returns the next connection when there is room for it. One of an address that
// has too many, none of which can leave, is closed.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		n, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(n); c != nil {
			return c, nil
		}
		_ = n.Close() // nobody was told of it
	}
}

// admit waits until there is room; nil = there is none for that address.
func (l *Listener) admit(n net.Conn) *connection {
	c := &connection{Conn: n, l: l, from: originOf(n.RemoteAddr())}
	l.waiting.Store(true)
	defer l.waiting.Store(false)
	for {
		leaving, wait := l.enter(c)
		switch {
		case leaving != nil:
			_ = leaving.Close() // it is to go, in whatever state
			continue
		case wait < 0:
			return nil
		case wait == 0:
			bound(n)
			return c
		}
		select {
		case <-l.moved:
		case <-time.After(wait):
		case <-l.closed: // it was accepted: one too many is better than one unanswered
			l.mu.Lock()
			defer l.mu.Unlock()
			l.take(c)
			return c
		}
	}
}

// enter lets c in if there is room. Else it says who has to leave first, or how long to
// wait at most before asking again; below 0 = c is not let in.
func (l *Listener) enter(c *connection) (leaving *connection, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.from != (origin{}) && l.of[c.from] >= l.limits.Address && l.limits.Address < l.limits.Open:
		if leaving, _ = l.first(func(o *connection) bool { return o.from == c.from }); leaving == nil {
			return nil, -1
		}
		return leaving, 0
	case len(l.open) >= l.limits.Open:
		return l.first(func(*connection) bool { return true })
	}
	l.take(c)
	return nil, 0
}

// take counts c. The caller holds the lock.
func (l *Listener) take(c *connection) {
	l.open[c] = true
	l.of[c.from]++
}

// first says which of these connections has to leave, or how long to wait for one that
// may have to. The caller holds the lock.
func (l *Listener) first(of func(*connection) bool) (leaving *connection, wait time.Duration) {
	now := elapsed()
	wait = time.Second
	for c := range l.open {
		if left := l.until(c) - now; left < wait && of(c) {
			leaving, wait = c, left
		}
	}
	if wait > 0 {
		return nil, wait
	}
	return leaving, 0
}

// never is later than any time that is counted.
const never = time.Duration(1 << 60)

// until is when a connection has to leave at the latest, if others wait.
func (l *Listener) until(c *connection) time.Duration {
	switch how, since := c.quiet(); how {
	case idle:
		return since - never
	case silent:
		return since + l.limits.Fresh
	case stalled:
		return since + l.limits.Stalled
	}
	return never
}

// State follows what net/http says of a connection: http.Server.ConnState.
func (l *Listener) State(n net.Conn, s http.ConnState) {
	if outer, ok := n.(interface{ NetConn() net.Conn }); ok { // of TLS
		n = outer.NetConn()
	}
	c, ok := n.(*connection)
	switch {
	case !ok || s == http.StateNew: // nobody reads yet
	case s == http.StateIdle:
		c.is(idle)
	default:
		c.is(busy)
	}
}

// Close stops listening; open connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// CloseQuiet ends the connections on which no request is being read or answered.
func (l *Listener) CloseQuiet() {
	l.mu.Lock()
	var all []*connection
	for c := range l.open {
		if how, _ := c.quiet(); how == idle || how == silent {
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close() // it is to go, in whatever state
	}
}

// signal wakes Accept; a signal that is not taken yet is enough.
func (l *Listener) signal() {
	if !l.waiting.Load() {
		return
	}
	select {
	case l.moved <- struct{}{}:
	default:
	}
}
