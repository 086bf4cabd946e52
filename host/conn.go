package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// A conn is one client connection. Its reader never waits for a handler or for the client
// to read: requests above the limits are refused at once.
type conn struct {
	s        *Server
	nc       net.Conn
	out      *outbox
	base     context.Context // of the daemon; acting requests run in it
	ctx      context.Context // of the connection
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	who      atomic.Pointer[protocol.Connection] // nil until attached
	dropped  sync.Once                           // for drop
	received uint64                              // requests received so far; used by the reader only

	process int    // at the other end; 0: unknown
	client  uint64 // client number shared by all connections of this process

	mu      sync.Mutex
	ids     map[string]bool               // of requests without a reply
	pending int                           // requests whose reply is not yet queued
	bytes   int                           // total size of those requests
	queue   requestQueue                  // the queue of those requests
	session *session                      // nil: none open
	gas     map[uint64]context.CancelFunc // stops watching a gas price, by chain
	quotes  connQuotes
}

func newConn(ctx context.Context, s *Server, nc net.Conn) *conn {
	c := &conn{
		s: s, nc: nc, out: newOutbox(nc, s.waits.write), base: ctx, ids: map[string]bool{},
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

// caller returns the attached caller, or nil before host.attach.
func (c *conn) caller() *protocol.Connection { return c.who.Load() }

// connection returns the caller as shown to clients.
func (c *conn) connection() protocol.Connection {
	who := *c.caller()
	who.Session = c.sessionOf() != nil
	return who
}

func (c *conn) serve() error {
	frames := frame.NewReader(c.nc)
	if id, e := c.attach(frames); e != nil {
		return c.refuse(id, e)
	}
	err := c.read(frames)
	c.cancel()
	c.dropQueued()
	c.closeSession()
	switch {
	case errors.Is(err, frame.ErrOverLength): // the client gets the queued error before the connection closes
		c.out.finish()
	default:
		c.out.abort()
	}
	_ = c.nc.Close()
	<-c.out.done
	c.wg.Wait() // acting requests run to their end
	c.s.Log.Info().Str("origin", c.caller().Origin).Msg("connection ended")
	if err == io.EOF || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// refuse sends the error and closes a connection that is not attached.
func (c *conn) refuse(id json.RawMessage, e *protocol.Error) error {
	defer c.cancel()
	c.respond(id, nil, e)
	c.out.finish()
	_ = c.nc.Close()
	c.s.Log.Warn().Str("error", e.Name).Msg("connection refused")
	return e
}

// drop closes a connection because its client does not keep up or the daemon stops.
func (c *conn) drop(why string) {
	c.dropped.Do(func() {
		c.cancel()
		c.out.abort()
		_ = c.nc.Close() // ends the reader
		c.s.Log.Info().Str("why", why).Msg("connection dropped")
	})
}

// read reads frames until the connection ends and returns the reason.
func (c *conn) read(frames *frame.Reader) error {
	for {
		body, err := frames.Read()
		switch {
		case err == nil:
			c.admit(body)
		case errors.Is(err, frame.ErrZero):
			c.reply(nil, nil, protocol.New("frame_zero", ""))
		case errors.Is(err, frame.ErrOverLength):
			c.reply(nil, nil, overLength(err))
			if !frame.Recoverable(err) {
				return err
			}
		default:
			return err
		}
	}
}

func overLength(err error) *protocol.Error {
	e := protocol.New("frame_too_long", "")
	var over *frame.OverLengthError
	if errors.As(err, &over) {
		e.With("length", strconv.FormatUint(over.Length, 10)).With("most", strconv.FormatUint(over.Limit, 10))
	}
	return e
}

// attach reads the first message, which must arrive in time and be host.attach.
func (c *conn) attach(frames *frame.Reader) (json.RawMessage, *protocol.Error) {
	_ = c.nc.SetReadDeadline(time.Now().Add(c.s.waits.attach))
	body, err := frames.Read()
	if err != nil {
		return nil, protocol.New("attach_required", "")
	}
	defer clear(body)
	r, e := parseRequest(body)
	switch {
	case e != nil:
		return r.id, e
	case r.name != "host.attach":
		return r.id, protocol.Newf("attach_required", "the first message must be host.attach, not %s", shorten(r.name))
	}
	var p protocol.AttachParams
	if e := decode(r.params, &p, true); e != nil {
		return r.id, e
	}
	who, e := c.s.admits(p)
	if e == nil {
		e = c.s.register(c, who)
	}
	if e != nil {
		return r.id, e
	}
	_ = c.nc.SetReadDeadline(time.Time{})
	if p.Display != nil && c.s.Display != nil {
		c.s.Display(*p.Display)
	}
	c.reply(r.id, protocol.AttachResult{Connection: *who}, nil)
	c.notify("host.hello", c.hello(protocol.MinVersion))
	c.s.Log.Info().Str("origin", who.Origin).Str("version", who.Version).Bool("readOnly", who.ReadOnly).Msg("attached")
	return r.id, nil
}

// admit checks one request against the method table and the limits, and queues it.
func (c *conn) admit(body []byte) {
	r, e := parseRequest(body)
	c.received++
	r.number = c.received
	if e == nil {
		e = c.allowed(r)
	}
	if e == nil {
		e = c.reserve(r)
	}
	if e != nil {
		clear(body)
		c.reply(r.id, nil, e)
		return
	}
	c.enqueue(r)
}

// allowed returns an error if this connection may not call the method.
func (c *conn) allowed(r request) *protocol.Error {
	m, ok := protocol.MethodOf(r.name)
	switch {
	case !ok:
		return protocol.Newf("unknown_method", "no method %s", shorten(r.name)).With("method", shorten(r.name))
	case r.name == "host.attach":
		return protocol.New("invalid_request", "already attached")
	case m.Access == protocol.Terminal && c.caller().Kind != protocol.KindTerminal:
		return protocol.New("terminal_only", "")
	case m.Access != protocol.Reads && c.caller().ReadOnly:
		return protocol.New("read_only", "")
	}
	return nil
}

// reserve counts r against the limits. Errors: invalid_request if an unanswered request
// has the same id, busy above a limit.
func (c *conn) reserve(r request) *protocol.Error {
	size := len(r.body)
	all := c.s.inFlight.Add(int64(size))
	c.mu.Lock()
	defer c.mu.Unlock()
	var e *protocol.Error
	switch {
	case c.ids[string(r.id)]:
		e = protocol.New("invalid_request", "a request with this id has no reply yet")
	case c.pending >= protocol.MaxRunning+protocol.MaxQueued:
		e = protocol.New("busy", "")
	case c.bytes+size > protocol.MaxInFlight, all > protocol.MaxInFlightAll:
		e = protocol.New("busy", "too many bytes are waiting for an answer")
	}
	if e != nil {
		c.s.inFlight.Add(-int64(size))
		return e
	}
	c.ids[string(r.id)] = true
	c.pending++
	c.bytes += size
	return nil
}

// free releases what reserve counted, once the reply of r is queued.
func (c *conn) free(r request) {
	c.s.inFlight.Add(-int64(len(r.body)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
	c.bytes -= len(r.body)
}

// forget makes the id available to the client again.
func (c *conn) forget(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ids, string(id))
}

// answer runs one request and queues its reply. With a client that does not read it
// blocks here, and with it this client's requests only, until the outbox gives up.
func (c *conn) answer(r request) {
	defer c.free(r)
	defer clear(r.body)
	result, e := c.run(r)
	then := after(&result)
	body := c.encode(r.id, result, e)
	if shown, ok := result.(interface{ Zero() }); ok {
		shown.Zero()
	}
	c.forget(r.id)
	if err := c.out.send(body); err != nil {
		clear(body)
	}
	if then != nil {
		c.out.flush()
		then()
	}
}

// A resultThen is a result with an action to run after the result has been sent.
type resultThen struct {
	result any
	then   func()
}

func after(result *any) func() {
	if w, ok := (*result).(resultThen); ok {
		*result = w.result
		return w.then
	}
	return nil
}

// reply queues a response without waiting, and drops the client if there is no room.
func (c *conn) reply(id json.RawMessage, result any, e *protocol.Error) {
	if !c.respond(id, result, e) {
		c.drop("client does not read")
	}
}

func (c *conn) respond(id json.RawMessage, result any, e *protocol.Error) bool {
	return c.out.offer(c.encode(id, result, e))
}

// notify queues a notification for this connection without waiting.
func (c *conn) notify(method string, params any) {
	body, err := json.Marshal(protocol.Notification{JSONRPC: protocol.Version, Method: method, Params: params})
	if err != nil || len(body) > protocol.MaxResult {
		c.s.Log.Error().Err(err).Str("notification", method).Int("bytes", len(body)).Msg("notification not sent")
		return
	}
	c.push(body)
}

func (c *conn) push(body []byte) {
	if !c.out.offer(body) {
		c.drop("client does not read")
	}
}

var noID = json.RawMessage("null")

// encode encodes a response. A result that is too large becomes an error.
func (c *conn) encode(id json.RawMessage, result any, e *protocol.Error) []byte {
	if id == nil {
		id = noID
	}
	body, err := encoded(protocol.Response{JSONRPC: protocol.Version, ID: id, Error: e}, result)
	switch {
	case err != nil && e != nil: // our own errors always marshal
		panic(err)
	case err != nil:
		c.s.Log.Error().Err(err).Msg("result not encoded")
		return c.encode(id, nil, protocol.New("internal", ""))
	}
	if len(body) > protocol.MaxResult {
		tooLarge := protocol.New("result_too_large", "").With("length", strconv.Itoa(len(body)))
		return c.encode(id, nil, tooLarge.With("most", strconv.Itoa(protocol.MaxResult)))
	}
	return body
}
