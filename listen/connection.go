package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A quiet is the way in which a connection is inactive.
type quiet int64

const (
	idle    quiet = iota // between two requests
	silent               // its first request has not arrived
	stalled              // its client does not read what is written
	busy                 // none of these
)

// started is the time that elapsed counts from.
var started = time.Now()

func elapsed() time.Duration { return time.Since(started) }

// A connection tracks its state without a lock: thousands change theirs at once.
type connection struct {
	net.Conn
	l    *Listener
	from origin

	heard   bool         // the first Read has begun; used by the reading goroutine only
	does    atomic.Int64 // 0 = being answered or new; else when it became idle or silent, and, in the lowest bit, which
	writing atomic.Int64 // when the write of the current piece began; 0 = none
	once    sync.Once
	err     error
}

// is sets the connection's state.
func (c *connection) is(q quiet) {
	if q == busy {
		c.does.Store(0)
		return
	}
	c.does.Store(int64(elapsed())<<1 | int64(q))
	c.l.signal()
}

// quiet returns the connection's state, and since when.
func (c *connection) quiet() (how quiet, since time.Duration) {
	if d := c.does.Load(); d != 0 {
		return quiet(d & 1), time.Duration(d >> 1)
	}
	if w := c.writing.Load(); w != 0 {
		return stalled, time.Duration(w)
	}
	return busy, 0
}

// Read marks a connection as silent from the first call on: what arrived before that, on
// a busy machine, was not read yet, but the client was not silent.
func (c *connection) Read(b []byte) (int, error) {
	if !c.heard { // only one goroutine reads
		c.heard = true
		c.is(silent)
	}
	return c.Conn.Read(b)
}

// Write writes piece by piece: a client that takes one now and then is slow, not stalled.
func (c *connection) Write(b []byte) (n int, err error) {
	defer c.writing.Store(0)
	for {
		c.writing.Store(int64(elapsed()))
		m, err := c.Conn.Write(b[n:min(n+piece, len(b))])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// Close closes the connection and frees its place.
func (c *connection) Close() error {
	c.once.Do(func() {
		c.err = c.Conn.Close()
		c.l.mu.Lock()
		delete(c.l.open, c)
		if c.l.of[c.from]--; c.l.of[c.from] == 0 {
			delete(c.l.of, c.from)
		}
		c.l.mu.Unlock()
		c.l.signal()
	})
	return c.err
}

// CloseWrite lets net/http end a connection so that the client can still read.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// bound limits the send buffer: the system would take megabytes of answers that nobody
// reads.
func bound(n net.Conn) {
	if outer, ok := n.(interface{ NetConn() net.Conn }); ok {
		n = outer.NetConn()
	}
	if tcp, ok := n.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(unread) // on failure the system's own limit applies
	}
}

// An origin is where a connection comes from: an address, or a network that belongs to
// one client; zero = this machine, or unknown.
type origin struct{ netip.Prefix }

func originOf(a net.Addr) origin {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return origin{}
	}
	at := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := at.BitLen()
	if at.Is6() {
		bits = 64
	}
	if p, err := at.Prefix(bits); err == nil && !at.IsLoopback() {
		return origin{p}
	}
	return origin{}
}
