// Package relay copies frames between a browser's pipes and the daemon. It holds no key,
// stores nothing and changes no message. It adds only its own first message, host.attach,
// and errors about the stream.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// Timeouts of a relay.
const (
	// DefaultWindow is how long to wait for a lost daemon.
	DefaultWindow = 10 * time.Second
	// DefaultStall is how long a browser may leave a message unread.
	DefaultStall = 30 * time.Second

	flushGrace     = 50 * time.Millisecond // between the browser's end and the relay's
	reconnectPause = 50 * time.Millisecond
	windowFraction = 10 // a session longer than this fraction of the window renews it
)

// maxQueuedFrames is the number of buffered frames from the browser, which bounds the memory spent
// on a slow daemon.
const maxQueuedFrames = 4

// Reasons for a relay to end, other than the browser closing its side.
var (
	// ErrDaemonLost means no daemon within the window. The browser was told.
	ErrDaemonLost = errors.New("connection to the daemon lost")
	// ErrRefused means that the daemon refused the attach. The browser was told.
	ErrRefused = errors.New("the daemon refused the connection")
	// ErrStalled means that the browser stopped reading.
	ErrStalled = errors.New("the browser stopped reading")
	// ErrBrokenInput means that the browser's stream ended inside a frame or had a frame
	// too long to skip.
	ErrBrokenInput = errors.New("the browser's stream is broken")
)

// Reasons for a session to end, after which the relay decides how to go on.
var (
	errDaemonGone  = errors.New("the daemon is gone")
	errBrowserGone = errors.New("the browser is gone")
)

// Config is the configuration of a relay.
type Config struct {
	In  io.Reader // the browser's requests
	Out io.Writer // the browser's replies; nothing else writes to it
	// Connect connects to the daemon until ctx ends, and starts the daemon if necessary.
	// again means that a daemon was lost before. A *protocol.Error in its error is sent
	// to the browser.
	Connect func(ctx context.Context, again bool) (net.Conn, error)
	Attach  protocol.AttachParams
	// Hangup, if not nil, is closed when nobody can write to In any more, even while
	// nobody reads it.
	Hangup <-chan struct{}
	Window time.Duration // 0: DefaultWindow
	Stall  time.Duration // 0: DefaultStall
}

type relay struct {
	Config
	attach  []byte // encoded host.attach
	inbound chan []byte
	ended   chan struct{} // closed when In has ended
	inErr   error         // the reason; valid after ended
	pending []byte        // a frame that has not been delivered to a daemon yet
	out     *frame.Writer
	stop    context.CancelCauseFunc
}

// Run relays until the browser closes its side, which returns nil within 100 ms, or until
// an error of this package. The daemon keeps running. Run may leave goroutines blocked on
// In and Out, so the process must end after it.
func Run(ctx context.Context, c Config) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r, err := newRelay(c, stop)
	if err != nil {
		return err
	}
	go r.read()
	go r.watchEnd(ctx)
	carried := make(chan error, 1)
	go func() { carried <- r.relay(ctx) }()
	select {
	case err = <-carried:
	case <-ctx.Done(): // the relay may be stuck in a write that nobody reads
		err = ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	switch {
	case err == nil, errors.Is(err, errBrowserGone):
		return r.inputError()
	case errors.Is(err, context.Canceled):
		return nil // the caller cancelled
	}
	return err
}

func newRelay(c Config, stop context.CancelCauseFunc) (*relay, error) {
	if c.Window == 0 {
		c.Window = DefaultWindow
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	attach, err := json.Marshal(protocol.Request{
		JSONRPC: protocol.Version, ID: json.RawMessage(attachID), Method: "host.attach", Params: c.Attach,
	})
	if err != nil {
		return nil, fmt.Errorf("encode host.attach: %w", err)
	}
	r := &relay{Config: c, attach: attach, stop: stop, inbound: make(chan []byte, maxQueuedFrames), ended: make(chan struct{})}
	r.out = frame.NewWriter(stallWriter{r})
	return r, nil
}

// inputError returns why the browser's stream ended; nil for a clean end.
func (r *relay) inputError() error {
	select {
	case <-r.ended:
		return r.inErr
	default:
		return nil // the browser stopped reading first, as Chromium does
	}
}

// read queues the browser's frames. It answers malformed frames itself; the daemon never
// sees them.
func (r *relay) read() {
	defer close(r.inbound)
	defer close(r.ended)
	in := frame.NewReader(r.In)
	for {
		body, err := in.Read()
		switch {
		case err == nil:
			r.inbound <- body
		case errors.Is(err, io.EOF):
			return
		default:
			r.sendError(frameFault(err))
			if !frame.Recoverable(err) {
				r.inErr = fmt.Errorf("%w: %w", ErrBrokenInput, err)
				return
			}
		}
	}
}

// watchEnd ends the relay when its browser ends, whatever the relay is blocked on.
func (r *relay) watchEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.ended:
	case <-r.Hangup:
	}
	time.Sleep(flushGrace)
	r.stop(errBrowserGone)
}

// relay runs one session after another. Only a session that lasted renews the window, so
// that a daemon that dies at every start counts as lost.
func (r *relay) relay(ctx context.Context) error {
	until := time.Now().Add(r.Window)
	for again := false; ; again = true {
		conn, err := r.connect(ctx, until, again)
		if err != nil {
			return err
		}
		began := time.Now()
		err = r.session(ctx, conn)
		_ = conn.Close()
		if !errors.Is(err, errDaemonGone) {
			return err
		}
		if time.Since(began) > r.Window/windowFraction {
			until = time.Now().Add(r.Window)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectPause):
		}
	}
}

// connect connects to the daemon before the window ends, or sends the browser an error.
func (r *relay) connect(ctx context.Context, until time.Time, again bool) (net.Conn, error) {
	dialing, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	conn, err := r.Connect(dialing, again)
	if err == nil {
		return conn, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lost := protocol.New("daemon_lost", "")
	_ = errors.As(err, &lost) // Connect may have a better error
	r.sendError(lost)
	return nil, fmt.Errorf("%w: %w", ErrDaemonLost, err)
}
