// Package client calls the daemon: for the command line over the local transport, and
// over the pipes of a started relay exactly as a browser does.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// Limits of what a client keeps unread. Above maxNotifications the oldest notification is
// dropped: each is only a hint to ask again.
const (
	maxNotifications = 256
	maxFaults        = 16
)

// finalMessageTimeout is how long to wait for a final message from the other end after a write
// failed.
const finalMessageTimeout = 100 * time.Millisecond

// ErrClosed means that the connection has ended. What the daemon has accepted goes on; a
// request may be repeated with its uuid on a new connection.
var ErrClosed = errors.New("the connection to the daemon has ended")

// A Notification is a message from the daemon that is not a response.
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
	fault   *protocol.Error // set if the last message was a fault
	err     error           // why the connection ended; valid after done

	notes  chan Notification
	faults chan *protocol.Error
	done   chan struct{}
}

type reply struct {
	result json.RawMessage
	err    error
}

// message is any message of the daemon or the relay.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

// New returns a client on a connection that is already attached, such as a relay's pipes.
// The client owns the connection.
func New(conn io.ReadWriteCloser) *Client {
	c := &Client{
		conn:    conn,
		out:     frame.NewWriter(deadlineWriter{conn}),
		waiting: map[string]chan reply{},
		notes:   make(chan Notification, maxNotifications),
		faults:  make(chan *protocol.Error, maxFaults),
		done:    make(chan struct{}),
	}
	go c.read()
	return c
}

// Terminal attaches as a command and returns the client. Errors: the daemon's refusal as
// a *protocol.Error, ErrClosed, those of ctx.
func Terminal(ctx context.Context, conn io.ReadWriteCloser, version string) (*Client, error) {
	c := New(conn)
	attach := protocol.AttachParams{Kind: protocol.KindTerminal, Origin: protocol.KindTerminal, Version: version, Display: protocol.DisplayOf(os.Getenv)}
	if err := c.Call(ctx, "host.attach", attach, nil); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Call sends a request and waits for the answer, which is decoded into result unless that
// is nil. params may be nil. Errors: the daemon's as a *protocol.Error, ErrClosed, those
// of ctx; daemon_lost if the daemon was replaced before it answered. A call with an
// unknown outcome may be repeated with the same uuid.
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
		return fmt.Errorf("%s: no response: %w", method, ctx.Err())
	}
}

// broken returns the reason of a failed write. A daemon that refuses a connection sends
// the error before it reads, and may be gone when the request is written.
func (c *Client) broken(cause error) error {
	select {
	case <-c.done:
		return c.err
	case <-time.After(finalMessageTimeout):
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

// expect reserves an id and the channel for its answer.
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

// Notifications returns the channel of the daemon's notifications, host.hello first. At
// most 256 are kept unread; Dropped counts the older ones that were dropped. The channel
// is never closed.
func (c *Client) Notifications() <-chan Notification { return c.notes }

func (c *Client) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped
}

// Faults returns the channel of errors that answer no request, such as a refused origin,
// a malformed frame or a lost daemon. It is never closed.
func (c *Client) Faults() <-chan *protocol.Error { return c.faults }

// Done returns a channel that is closed when the connection has ended; Err returns the
// reason.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns nil until Done is closed, and then an ErrClosed that also wraps the last
// fault as a *protocol.Error, if one came last.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Close closes the connection. It may be repeated.
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
		c.onNotification(Notification{m.Method, m.Params})
	case len(m.ID) == 0 || string(m.ID) == "null":
		c.onFault(m.Error)
	case m.Error != nil:
		c.onAnswer(string(m.ID), reply{err: m.Error})
	case m.Result == nil:
		c.onAnswer(string(m.ID), reply{err: errNeither})
	default:
		c.onAnswer(string(m.ID), reply{result: m.Result})
	}
	return nil
}

// errNeither is the error of an empty answer, which must not count as success.
var errNeither = errors.New("the daemon's answer has neither a result nor an error")

func (c *Client) onAnswer(id string, r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = nil
	if answer, ok := c.waiting[id]; ok {
		delete(c.waiting, id)
		answer <- r
	}
}

// onNotification queues a notification. A second hello means that the daemon was replaced, so
// that answers of the first one will never come.
func (c *Client) onNotification(n Notification) {
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

func (c *Client) onFault(fault *protocol.Error) {
	if fault == nil {
		return
	}
	c.mu.Lock()
	c.fault = fault
	c.mu.Unlock()
	select {
	case c.faults <- fault:
	default: // sixteen faults are unread; another adds nothing
	}
}

// end fails all waiting calls. A fault just before the end of the stream is the better
// error.
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

// deadlineWriter sets a write deadline, for a peer that does not read.
type deadlineWriter struct{ conn io.ReadWriteCloser }

func (d deadlineWriter) Write(p []byte) (int, error) {
	if timed, ok := d.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = timed.SetWriteDeadline(time.Now().Add(protocol.WriteTimeout))
	}
	return d.conn.Write(p)
}
