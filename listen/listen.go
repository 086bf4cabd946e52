// Package listen bounds how many connections an HTTP server keeps, and chooses which one
// is closed for a new one: never one whose client waits for an answer.
package listen

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound a Listener.
type Limits struct {
	Open    int           // connections at once; never above a quarter of the process's descriptors
	Address int           // of these, per address or per IPv6 network of 64 bits; this machine's own are not counted. 0 = Open
	Fresh   time.Duration // for the first request to arrive, while others wait
	Stalled time.Duration // for a client to take a piece of its answer, while others wait
}

// Bounds of what a client may leave unread before the server waits for it.
const (
	sendBuffer = 128 << 10 // bytes in the system's send buffer of a connection
	writeChunk = 32 << 10  // bytes per write
)

// A Listener bounds the number of its open connections. When the limit is reached, a new
// one replaces the one that has been idle longest, else the one whose time for its first
// request, or for reading its answer, ran out first. Else it waits for one to end, and
// those behind it wait in the system's queue, where they take no descriptor. It is for
// HTTP only: the server's ConnState must be [Listener.ConnState].
type Listener struct {
	net.Listener
	limits Limits

	mu        sync.Mutex
	open      map[*connection]bool
	perOrigin map[origin]int // open connections by address
	waiting   atomic.Bool    // Accept waits for room
	changed   chan struct{}
	closed    chan struct{}
	once      sync.Once
}

// Bound returns l bounded by limits.
func Bound(l net.Listener, limits Limits) *Listener {
	limits.Open = min(limits.Open, spareDescriptors())
	if limits.Address == 0 {
		limits.Address = limits.Open
	}
	return &Listener{
		Listener: l, limits: limits, open: map[*connection]bool{}, perOrigin: map[origin]int{},
		changed: make(chan struct{}, 1), closed: make(chan struct{}),
	}
}

// Accept returns the next connection when there is room for it. It closes one from an
// address that has reached its limit while none of that address can be closed.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		n, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(n); c != nil {
			return c, nil
		}
		_ = n.Close() // the caller never saw it
	}
}

// admit waits until there is room; nil = there is none for that address.
func (l *Listener) admit(n net.Conn) *connection {
	c := &connection{Conn: n, l: l, from: originOf(n.RemoteAddr())}
	l.waiting.Store(true)
	defer l.waiting.Store(false)
	for {
		leaving, wait := l.tryAdmit(c)
		switch {
		case leaving != nil:
			_ = leaving.Close() // in whatever state it is
			continue
		case wait < 0:
			return nil
		case wait == 0:
			limitSendBuffer(n)
			return c
		}
		select {
		case <-l.changed:
		case <-time.After(wait):
		case <-l.closed: // it was accepted: one too many is better than one without an answer
			l.mu.Lock()
			defer l.mu.Unlock()
			l.count(c)
			return c
		}
	}
}

// tryAdmit lets c in if there is room. Else it returns the connection to close first, or how
// long to wait at most before trying again; below 0, c is refused.
func (l *Listener) tryAdmit(c *connection) (leaving *connection, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.from != (origin{}) && l.perOrigin[c.from] >= l.limits.Address && l.limits.Address < l.limits.Open:
		if leaving, _ = l.victim(func(o *connection) bool { return o.from == c.from }); leaving == nil {
			return nil, -1
		}
		return leaving, 0
	case len(l.open) >= l.limits.Open:
		return l.victim(func(*connection) bool { return true })
	}
	l.count(c)
	return nil, 0
}

// count counts c. The caller holds the lock.
func (l *Listener) count(c *connection) {
	l.open[c] = true
	l.perOrigin[c.from]++
}

// victim returns which of these connections to close, or how long to wait until one may be
// closed. The caller holds the lock.
func (l *Listener) victim(of func(*connection) bool) (leaving *connection, wait time.Duration) {
	now := elapsed()
	wait = time.Second
	for c := range l.open {
		if left := l.closableAt(c) - now; left < wait && of(c) {
			leaving, wait = c, left
		}
	}
	if wait > 0 {
		return nil, wait
	}
	return leaving, 0
}

// never is later than any time that elapsed returns.
const never = time.Duration(1 << 60)

// closableAt returns from when on a connection may be closed if others wait.
func (l *Listener) closableAt(c *connection) time.Duration {
	switch how, since := c.current(); how {
	case idle:
		return since - never
	case silent:
		return since + l.limits.Fresh
	case stalled:
		return since + l.limits.Stalled
	}
	return never
}

// ConnState tracks what net/http does with a connection. It is for http.Server.ConnState.
func (l *Listener) ConnState(n net.Conn, s http.ConnState) {
	if outer, ok := n.(interface{ NetConn() net.Conn }); ok { // TLS
		n = outer.NetConn()
	}
	c, ok := n.(*connection)
	switch {
	case !ok || s == http.StateNew: // nothing is being read yet
	case s == http.StateIdle:
		c.setState(idle)
	default:
		c.setState(busy)
	}
}

// Close stops listening; open connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// CloseIdle closes the connections on which no request is being read or answered.
func (l *Listener) CloseIdle() {
	l.mu.Lock()
	var all []*connection
	for c := range l.open {
		if how, _ := c.current(); how == idle || how == silent {
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close() // in whatever state it is
	}
}

// signal wakes Accept; one pending signal is enough.
func (l *Listener) signal() {
	if !l.waiting.Load() {
		return
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}
