package listen

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A quiet is how nothing goes on in a connection.
type quiet int64

const (
	idle    quiet = iota // between two requests
	silent               // its first request has not arrived
	stalled              // its client does not take what is written
	busy                 // it is none of these
)

// started is what times are counted from.
var started = time.Now()

func elapsed() time.Duration { return time.Since(started) }

// A connection knows what it does without a lock: thousands change that at once.
type connection struct {
	net.Conn
	l    *Listener
	from origin

	heard   bool         // its first bytes are waited for, or were read; of the reader
	does    atomic.Int64 // 0 = is answered or new, else since when it is idle or silent, and which
	writing atomic.Int64 // since when a piece is written; 0 = none
	once    sync.Once
	err     error
}

// is says what the connection does from now on.
func (c *connection) is(q quiet) {
	if q == busy {
		c.does.Store(0)
		return
	}
	c.does.Store(int64(elapsed())<<1 | int64(q))
	c.l.signal()
}

// quiet says how, and since when.
func (c *connection) quiet() (how quiet, since time.Duration) {
	if d := c.does.Load(); d != 0 {
		return quiet(d & 1), time.Duration(d >> 1)
	}
	if w := c.writing.Load(); w != 0 {
		return stalled, time.Duration(w)
	}
	return busy, 0
}

// Read counts a connection as silent from when somebody waits for its first bytes:
// what has come already on a busy machine is no silence.
func (c *connection) Read(b []byte) (int, error) {
	if !c.heard { // only ever one goroutine reads
		c.heard = true
		c.is(silent)
	}
	return c.Conn.Read(b)
}

// Write writes piece by piece: who takes one now and then is slow, and not stalled.
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

// Close ends the connection and gives its place away.
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

// bound keeps the system from taking megabytes of answers that nobody reads.
func bound(n net.Conn) {
	if outer, ok := n.(interface{ NetConn() net.Conn }); ok {
		n = outer.NetConn()
	}
	if tcp, ok := n.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(unread) // else the system's own bound
	}
}

// An origin is who has a connection: an address, or a network that one client has all
// of; zero = this machine, or unknown.
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
