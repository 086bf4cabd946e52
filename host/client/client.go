// Package client asks the daemon: the command line's calls over the local
// transport, and, over a started relay's pipes, calls exactly as a browser
// makes them.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// Bounds of what a client keeps that nobody has taken yet. The oldest
// notification makes way: each is a hint to ask again, not the only record.
const (
	maxNotifications = 256
	maxFaults        = 16
)

// lastWords is how long what the other end said before it went may take to be
// read.
const lastWords = 100 * time.Millisecond

// ErrClosed: the connection has ended. What the daemon accepted goes on; a
// request may be repeated with its uuid on a new connection.
var ErrClosed = errors.New("the connection to the daemon has ended")

// A Notification is a message from the daemon that answers nothing.
type Notification struct {
	Method string
	Params json.RawMessage
}

// A Client is one connection. It is safe for concurrent use.
type Client struct {
	conn io.ReadWriteCloser
	out  *frame.Writer

	mu      sync.Mutex
	next    uint64
	waiting map[string]chan reply
	greeted bool
	dropped int
	fault   *protocol.Error // the last message was this one
	err     error           // why the connection ended, valid after done

	notes  chan Notification
	faults chan *protocol.Error
	done   chan struct{}
}

type reply struct {
	result json.RawMessage
	err    error
}

// message is whatever the daemon or the relay sends.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

// New returns a client on a connection that is attached already, as a relay's
// pipes are, and owns it from then on.
func New(conn io.ReadWriteCloser) *Client {
	c := &Client{
		conn:    conn,
		out:     frame.NewWriter(deadlined{conn}),
		waiting: map[string]chan reply{},
		notes:   make(chan Notification, maxNotifications),
		faults:  make(chan *protocol.Error, maxFaults),
		done:    make(chan struct{}),
	}
	go c.read()
	return c
}

// Terminal attaches as a command and returns the client. Errors: the daemon's
// refusal as a *protocol.Error, ErrClosed, ctx's.
func Terminal(ctx context.Context, conn io.ReadWriteCloser, version string) (*Client, error) {
	c := New(conn)
	attach := protocol.AttachParams{Kind: protocol.KindTerminal, Origin: protocol.KindTerminal, Version: version}
	if err := c.Call(ctx, "host.attach", attach, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Call asks and waits for the answer, which is decoded into result unless that
// is nil. params may be nil. Errors: the daemon's as a *protocol.Error,
// ErrClosed, ctx's; a daemon that was replaced while it owed the answer gives
// daemon_lost. A call whose end is unknown is repeated with the same uuid.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	id, answer, err := c.expect()
	if err != nil {
		return err
	}
	defer c.forget(id)
	body, err := json.Marshal(protocol.Request{
		JSONRPC: protocol.Version, ID: json.RawMessage(id), Method: method, Params: params,
	})
	if err != nil {
		return fmt.Errorf("%s: encode: %w", method, err)
	}
	err = c.out.Write(body)
	clear(body) // it may hold a password
	switch {
	case errors.Is(err, frame.ErrOverLength): // nothing was sent
		return fmt.Errorf("%s: %w", method, err)
	case err != nil:
		return fmt.Errorf("%s: %w", method, c.broken(err))
	}
	select {
	case got := <-answer:
		return decode(method, got, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: no answer: %w", method, ctx.Err())
	}
}

// broken is why nothing more can be written. A daemon that refuses a connection
// says so before it reads, and may be gone when the request is written.
func (c *Client) broken(cause error) error {
	select {
	case <-c.done:
		return c.err
	case <-time.After(lastWords):
		return fmt.Errorf("%w: %w", ErrClosed, cause)
	}
}

func decode(method string, got reply, result any) error {
	if got.err != nil || result == nil {
		return got.err
	}
	if err := json.Unmarshal(got.result, result); err != nil {
		return fmt.Errorf("%s: decode the answer: %w", method, err)
	}
	return nil
}

// expect reserves an id and the place its answer goes to.
func (c *Client) expect() (string, chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done:
		return "", nil, c.err
	default:
	}
	c.next++
	id, answer := strconv.FormatUint(c.next, 10), make(chan reply, 1)
	c.waiting[id] = answer
	return id, answer, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Notifications are the daemon's, host.hello first. At most 256 wait to be
// taken; Dropped counts the older ones that made way. It is never closed.
func (c *Client) Notifications() <-chan Notification { return c.notes }

// Dropped is how many notifications were never taken.
func (c *Client) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

// Faults are errors that answer no request: a refused origin, a frame out of
// form, a daemon that is lost. It is never closed.
func (c *Client) Faults() <-chan *protocol.Error { return c.faults }

// Done is closed when the connection has ended; Err says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is nil until Done is closed, then an ErrClosed, with the fault that came
// last as a *protocol.Error if one did.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Close ends the connection. It may be repeated.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

func (c *Client) read() {
	in := frame.NewReader(c.conn)
	for {
		body, err := in.Read()
		if err == nil {
			err = c.take(body)
		}
		if err != nil {
			c.end(err)
			return
		}
	}
}

func (c *Client) take(body []byte) error {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Errorf("not a message: %w", err)
	}
	switch {
	case m.Method != "":
		c.notified(Notification{m.Method, m.Params})
	case len(m.ID) == 0 || string(m.ID) == "null":
		c.faulted(m.Error)
	case m.Error != nil:
		c.answered(string(m.ID), reply{err: m.Error})
	case m.Result == nil:
		c.answered(string(m.ID), reply{err: errNeither})
	default:
		c.answered(string(m.ID), reply{result: m.Result})
	}
	return nil
}

// errNeither: an answer that says nothing must not pass for what was asked being done.
var errNeither = errors.New("the daemon's answer has neither a result nor an error")

func (c *Client) answered(id string, r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = nil
	if answer, ok := c.waiting[id]; ok {
		delete(c.waiting, id)
		answer <- r
	}
}

// notified also sees a daemon's replacement: its second hello means that the
// answers owed by the first will never come.
func (c *Client) notified(n Notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = nil
	if n.Method == "host.hello" {
		if c.greeted {
			c.failAll(protocol.New("daemon_lost", "the daemon was restarted before it answered"))
		}
		c.greeted = true
	}
	for {
		select {
		case c.notes <- n:
			return
		default:
		}
		select {
		case <-c.notes:
			c.dropped++
		default:
		}
	}
}

func (c *Client) faulted(fault *protocol.Error) {
	if fault == nil {
		return
	}
	c.mu.Lock()
	c.fault = fault
	c.mu.Unlock()
	select {
	case c.faults <- fault:
	default: // one of sixteen that nobody read says no more
	}
}

// end fails what is waiting. A fault just before tells more than the end of
// the stream does.
func (c *Client) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.fault != nil:
		c.err = fmt.Errorf("%w: %w", ErrClosed, c.fault)
	case errors.Is(cause, io.EOF):
		c.err = ErrClosed
	default:
		c.err = fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	c.failAll(c.err)
	_ = c.conn.Close()
	close(c.done)
}

func (c *Client) failAll(err error) {
	for id, answer := range c.waiting {
		delete(c.waiting, id)
		answer <- reply{err: err}
	}
}

// deadlined gives up on a peer that does not take a message.
type deadlined struct{ conn io.ReadWriteCloser }

func (d deadlined) Write(p []byte) (int, error) {
	if timed, ok := d.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = timed.SetWriteDeadline(time.Now().Add(protocol.WriteTimeout))
	}
	return d.conn.Write(p)
}
