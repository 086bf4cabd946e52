package web

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections is a listener that keeps the number of its open connections bounded.
// When there are as many as there may be, a new one takes the place of the one that
// has been idle longest, else of the oldest that has not said anything for a while,
// else it waits for one of the others to end; those behind it wait in the kernel's
// queue, where they cost no descriptor. So nobody who is being answered is cut off,
// and nobody who is silent keeps others out.
type connections struct {
	net.Listener
	most  int
	fresh time.Duration // how long a new connection may be silent

	mu     sync.Mutex
	open   int
	silent list.List // of *connection: new ones, the oldest first
	idle   list.List // of *connection: between requests, the longest first
	moved  chan struct{}
	closed chan struct{}
	once   sync.Once
}

// A connection is in one of the lists, or busy.
type connection struct {
	net.Conn
	of    *connections
	heard bool      // its first bytes are waited for, or were read
	since time.Time // when that began
	in    *list.List
	place *list.Element
	gone  bool // never to be in a list again
	once  sync.Once
	err   error
}

func newConnections(l net.Listener, most int, fresh time.Duration) *connections {
	return &connections{Listener: l, most: min(most, spareDescriptors()), fresh: fresh, moved: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Accept returns the next connection when there is room for it.
func (c *connections) Accept() (net.Conn, error) {
	n, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		leaving, wait := c.room()
		if leaving != nil {
			_ = leaving.Close() // it is to go, in whatever state
			continue
		}
		if wait == 0 {
			return c.admit(n), nil
		}
		select {
		case <-c.moved:
		case <-time.After(wait):
		case <-c.closed:
			_ = n.Close() // nobody serves it any more
			return nil, net.ErrClosed
		}
	}
}

// room says who has to leave for a new connection, or how long to wait at most before
// asking again; neither when there is room.
func (c *connections) room() (leaving *connection, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open < c.most {
		return nil, 0
	}
	if e := c.idle.Front(); e != nil {
		return e.Value.(*connection), 0
	}
	if e := c.silent.Front(); e != nil {
		oldest := e.Value.(*connection)
		if wait = c.fresh - time.Since(oldest.since); wait <= 0 {
			return oldest, 0
		}
		return nil, wait
	}
	return nil, time.Second
}

func (c *connections) admit(n net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	return &connection{Conn: n, of: c}
}

// Read counts a connection as silent from when somebody waits for its first bytes:
// what has come already on a busy machine is no silence.
func (c *connection) Read(b []byte) (int, error) {
	if !c.heard { // only ever one goroutine reads
		c.heard, c.since = true, time.Now()
		c.move(&c.of.silent)
	}
	return c.Conn.Read(b)
}

// state follows what net/http says of a connection.
func (c *connections) state(n net.Conn, s http.ConnState) {
	at := n.(*connection)
	switch s {
	case http.StateNew: // nobody reads yet
	case http.StateIdle:
		at.move(&c.idle)
	default:
		at.move(nil)
	}
}

// move puts the connection at the end of a list; nil = it is busy.
func (c *connection) move(to *list.List) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.gone {
		return
	}
	c.leave()
	if to != nil {
		c.in, c.place = to, to.PushBack(c)
		c.of.signal()
	}
}

// leave takes it out of its list. The caller holds the lock.
func (c *connection) leave() {
	if c.in != nil {
		c.in.Remove(c.place)
		c.in = nil
	}
}

// signal wakes Accept; a signal that is not taken yet is enough.
func (c *connections) signal() {
	select {
	case c.moved <- struct{}{}:
	default:
	}
}

// Close ends the connection and gives its place away.
func (c *connection) Close() error {
	c.once.Do(func() {
		c.err = c.Conn.Close()
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.leave()
		c.gone = true
		c.of.open--
		c.of.signal()
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

// Close stops listening.
func (c *connections) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Listener.Close()
}

// closeQuiet ends the connections that nobody is being answered on.
func (c *connections) closeQuiet() {
	for {
		c.mu.Lock()
		e := c.silent.Front()
		if e == nil {
			e = c.idle.Front()
		}
		c.mu.Unlock()
		if e == nil {
			return
		}
		_ = e.Value.(*connection).Close() // it is to go, in whatever state
	}
}
