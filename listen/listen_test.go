package listen

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/test/await"
)

// init moves started back, so that times can be set in the past.
func init() { started = started.Add(-3 * time.Hour) }

// pairs is a listener for connections within the process.
type pairs struct{ next chan net.Conn }

func (p pairs) Accept() (net.Conn, error) {
	c, open := <-p.next
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pairs) Close() error   { return nil }
func (p pairs) Addr() net.Addr { return &net.TCPAddr{} }

// A far connection has the remote address from.
type far struct {
	net.Conn
	from string
}

func (f far) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.from), Port: 1} }

// A door is a Listener, and the connections that arrive at it.
type door struct {
	*Listener
	t    *testing.T
	next chan net.Conn
}

func open(t *testing.T, limits Limits) door {
	next := make(chan net.Conn, 10)
	return door{Bound(pairs{next}, limits), t, next}
}

// comes connects a client from an address; the client sends nothing.
func (d door) comes(from string) {
	server, client := net.Pipe()
	d.t.Cleanup(func() { _ = client.Close() })
	d.next <- far{server, from}
}

// accept takes the next connection and waits for its first request, as a server does.
func (d door) accept() *connection {
	d.t.Helper()
	n, err := d.Accept()
	if err != nil {
		d.t.Fatal(err)
	}
	d.ConnState(n, http.StateNew)
	go func() { _, _ = n.Read(make([]byte, 1)) }() // nothing is ever sent
	return d.until(n, silent)
}

// until waits until the connection is in the state want.
func (d door) until(n net.Conn, want connState) *connection {
	d.t.Helper()
	c := n.(*connection)
	await.Until(d.t, 5*time.Second, "the connection is quiet in that way", func() bool { how, _ := c.current(); return how == want })
	return c
}

func (d door) has(c *connection) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[c]
}

// asks puts connections into the state of being answered.
func (d door) asks(all ...*connection) {
	for _, c := range all {
		d.ConnState(c, http.StateActive)
	}
}

// ago makes a connection silent since d ago.
func ago(c *connection, d time.Duration) {
	c.stateSince.Store(int64(elapsed()-d)<<1 | int64(silent))
}

// TestWhoLeaves checks that the connection that is idle longest is closed first, then the
// one that holds back its first request or leaves its answer unread longest, and never
// one that is being answered and reads.
func TestWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, Limits{Open: 3, Fresh: time.Hour, Stalled: 50 * time.Millisecond})
		next := func() *connection {
			d.comes("127.0.0.1")
			return d.accept()
		}
		one, two, three := next(), next(), next()
		for _, c := range []*connection{two, one} {
			d.asks(c)
			d.ConnState(c, http.StateIdle)
			time.Sleep(time.Millisecond)
		}
		four := next()
		if d.has(two) || !d.has(one) || !d.has(three) {
			t.Error("not the one that is idle longest has left")
		}
		d.asks(one)
		d.ConnState(two, http.StateIdle) // net/http may report this late
		ago(three, 2*time.Hour)
		five := next()
		if d.has(three) || !d.has(one) || !d.has(four) {
			t.Error("not the oldest silent one has left")
		}
		d.asks(four, five)
		go func() { _, _ = four.Write(make([]byte, 3*writeChunk)) }() // nobody reads it
		d.until(four, stalled)
		six := next()
		if d.has(four) || !d.has(one) || !d.has(five) {
			t.Error("not the one that does not read has left")
		}
		d.asks(six)
		d.comes("127.0.0.1")
		waiting := make(chan net.Conn)
		go func() {
			n, _ := d.Accept()
			waiting <- n
		}()
		select {
		case <-waiting:
			t.Error("a fourth is let in while three are answered")
		case <-time.After(20 * time.Millisecond):
		}
		_ = five.Close()
		_ = five.Close() // as net/http does
		if (<-waiting) == nil || !d.has(one) || !d.has(six) || len(d.open) != 3 {
			t.Errorf("%d are open", len(d.open))
		}
	})
}

// TestReaderStays checks that a client that reads a long answer slowly does not count as
// one that does not read.
func TestReaderStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, Limits{Open: 1, Fresh: time.Hour, Stalled: 300 * time.Millisecond})
		server, client := net.Pipe()
		defer func() { _ = client.Close() }()
		d.next <- server
		slow := d.accept()
		d.asks(slow)
		ended := make(chan error, 1)
		go func() {
			_, err := slow.Write(make([]byte, 20*writeChunk))
			ended <- err
		}()
		synctest.Wait() // it writes when the next one comes
		d.comes("127.0.0.1")
		let := make(chan struct{})
		go func() { _, _ = d.Accept(); close(let) }()
		for range 20 { // longer in total than a single piece may take
			time.Sleep(100 * time.Millisecond)
			if _, err := io.ReadFull(client, make([]byte, writeChunk)); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		select {
		case <-let:
			t.Error("closed a connection whose client still reads")
		default:
		}
		_ = slow.Close()
		<-let
	})
}

// TestOneAddress checks that one address gets no more than its limit: a quiet connection
// of its own is closed for a new one, else the new one is. This machine is not counted,
// and an IPv6 network counts as one address.
func TestOneAddress(t *testing.T) {
	d := open(t, Limits{Open: 8, Address: 2, Fresh: time.Hour, Stalled: time.Hour})
	next := func(from string) *connection {
		d.comes(from)
		return d.accept()
	}
	one, two := next("192.0.2.1"), next("192.0.2.1")
	d.asks(one, two)
	d.comes("192.0.2.1")
	other := next("2001:db8::1") // the third one of 192.0.2.1 was closed
	if !d.has(one) || !d.has(two) || !d.has(other) || len(d.open) != 3 {
		t.Errorf("%d are open", len(d.open))
	}
	d.ConnState(one, http.StateIdle)
	if next("192.0.2.1"); d.has(one) || !d.has(two) {
		t.Error("its idle one has not left")
	}
	next("2001:db8::2")
	d.asks(other)
	d.comes("2001:db8::3")
	for range 3 {
		next("127.0.0.1")
	}
	if d.perOrigin[originOf(far{from: "2001:db8::9"}.RemoteAddr())] != 2 || len(d.open) != 7 {
		t.Errorf("%d are open, by address %v", len(d.open), d.perOrigin)
	}
	for c := range d.open {
		defer func() { _ = c.Close() }()
	}
}

// TestCloseServesWhoWasAccepted checks that a listener that stops still returns the
// connection that it took from the system's queue, where the next process would have
// found it.
func TestCloseServesWhoWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, Limits{Open: 1, Fresh: time.Hour, Stalled: time.Hour})
		d.comes("127.0.0.1")
		one := d.accept()
		d.asks(one)
		d.comes("127.0.0.1")
		last := make(chan net.Conn)
		go func() {
			n, _ := d.Accept()
			last <- n
		}()
		synctest.Wait() // Accept waits for room
		_ = d.Close()
		if n := <-last; n == nil || len(d.open) != 2 {
			t.Errorf("it was dropped: %d are open", len(d.open))
		}
		d.CloseIdle()
		if !d.has(one) {
			t.Error("one that is answered was cut off")
		}
		close(d.next)
		if _, err := d.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
