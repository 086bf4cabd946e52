package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A connState is the way in which a connection is inactive.
type connState int64

const (
	idle    connState = iota // between two requests
	silent                   // its first request has not arrived
	stalled                  // its client does not read what is written
	busy                     // none of these
)

// started is the time that elapsed counts from.
var started = time.Now()

func elapsed() time.Duration { return time.Since(started) }

// A connection tracks its state without a lock: thousands change theirs at once.
type connection struct {
	net.Conn
	l    *Listener
	from origin

	readBegun  bool         // the first Read has begun; used by the reading goroutine only
	stateSince atomic.Int64 // 0 = being answered or new; else when it became idle or silent, and, in the lowest bit, which
	writing    atomic.Int64 // when the write of the current piece began; 0 = none
	once       sync.Once
	err        error
}

// setState sets the connection's state.
func (c *connection) setState(q connState) {
	if q == busy {
		c.stateSince.Store(0)
		return
	}
	c.stateSince.Store(int64(elapsed())<<1 | int64(q))
	c.l.signal()
}

// current returns the connection's state, and since when.
func (c *connection) current() (how connState, since time.Duration) {
	if d := c.stateSince.Load(); d != 0 {
		return connState(d & 1), time.Duration(d >> 1)
	}
	if w := c.writing.Load(); w != 0 {
		return stalled, time.Duration(w)
	}
	return busy, 0
}

// Read marks a connection as silent from the first call on: what arrived before that, on
// a busy machine, was not read yet, but the client was not silent.
func (c *connection) Read(b []byte) (int, error) {
	if !c.readBegun { // only one goroutine reads
		c.readBegun = true
		c.setState(silent)
	}
	return c.Conn.Read(b)
}

// Write writes piece by piece: a client that takes one now and then is slow, not stalled.
func (c *connection) Write(b []byte) (n int, err error) {
	defer c.writing.Store(0)
	for {
		c.writing.Store(int64(elapsed()))
		m, err := c.Conn.Write(b[n:min(n+writeChunk, len(b))])
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
		if c.l.perOrigin[c.from]--; c.l.perOrigin[c.from] == 0 {
			delete(c.l.perOrigin, c.from)
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

// limitSendBuffer limits the send buffer: the system would take megabytes of answers that nobody
// reads.
func limitSendBuffer(n net.Conn) {
	if outer, ok := n.(interface{ NetConn() net.Conn }); ok {
		n = outer.NetConn()
	}
	if tcp, ok := n.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // on failure the system's own limit applies
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
