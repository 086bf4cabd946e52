// Package relay carries frames between a browser's pipes and the daemon. It
// holds no key, keeps nothing and changes nothing: what it adds to the stream is
// its own first message, host.attach, and errors about the stream.
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

// Waits of a relay, each the longest of its kind.
const (
	// DefaultWindow is how long a lost daemon is waited for.
	DefaultWindow = 10 * time.Second
	// DefaultStall is how long a browser may leave a message unread.
	DefaultStall = 30 * time.Second

	flushGrace     = 50 * time.Millisecond // from the browser's end to ours
	reconnectPause = 50 * time.Millisecond
	lastedShare    = 10 // of the window: a session that long has lasted
)

// queued frames from the browser, the memory a relay spends on a slow daemon.
const queued = 4

// Ways for a relay to end, besides the browser closing its side.
var (
	// ErrDaemonLost: no daemon within the window. The browser was told.
	ErrDaemonLost = errors.New("the daemon went away and did not come back")
	// ErrRefused: the daemon refused the attach. The browser was told.
	ErrRefused = errors.New("the daemon refused the connection")
	// ErrStalled: the browser stopped reading.
	ErrStalled = errors.New("the browser does not read")
	// ErrBrokenInput: the browser's stream ended inside a frame or lost step.
	ErrBrokenInput = errors.New("the browser's stream is broken")
)

// Reasons for a session to end that are not the relay's end.
var (
	errDaemonGone  = errors.New("the daemon is gone")
	errBrowserGone = errors.New("the browser is gone")
)

// Config is one relay.
type Config struct {
	In  io.Reader // the browser's requests
	Out io.Writer // the browser's replies, nothing else writes to it
	// Connect reaches the daemon, starting it if it must, until ctx ends;
	// again says that a daemon was lost since. A *protocol.Error in its error is
	// what the browser is told.
	Connect func(ctx context.Context, again bool) (net.Conn, error)
	Attach  protocol.AttachParams
	// Hangup, when not nil, is closed when nobody writes to In any more, even
	// while nobody reads it.
	Hangup <-chan struct{}
	Window time.Duration // 0: DefaultWindow
	Stall  time.Duration // 0: DefaultStall
}

type relay struct {
	Config
	attach  []byte // host.attach, encoded
	inbound chan []byte
	ended   chan struct{} // closed when In has ended
	inErr   error         // why, valid after ended
	pending []byte        // a frame that the last daemon did not take whole
	out     *frame.Writer
	stop    context.CancelCauseFunc
}

// Run relays until the browser closes its side, which gives nil within 100 ms,
// or for an error of this package. The daemon lives on. Run may leave
// goroutines blocked on In and Out: the process is to end after it.
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
	case <-ctx.Done(): // it may be stuck in a write that nobody takes
		err = ctx.Err()
	}
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	switch {
	case err == nil, errors.Is(err, errBrowserGone):
		return r.inputError()
	case errors.Is(err, context.Canceled):
		return nil // the caller's signal
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
	r := &relay{Config: c, attach: attach, stop: stop, inbound: make(chan []byte, queued), ended: make(chan struct{})}
	r.out = frame.NewWriter(watched{r})
	return r, nil
}

// inputError is why the browser's stream ended: nil for its clean end.
func (r *relay) inputError() error {
	select {
	case <-r.ended:
		return r.inErr
	default:
		return nil // it stopped listening first, as Chromium does
	}
}

// read queues the browser's frames. Faults of a single frame it answers
// itself: the daemon never sees them.
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
			r.tell(frameFault(err))
			if !frame.Recoverable(err) {
				r.inErr = fmt.Errorf("%w: %w", ErrBrokenInput, err)
				return
			}
		}
	}
}

// watchEnd sees to it that the relay ends with its browser, whatever it is
// blocked on.
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

// relay runs one session after another. Only a session that lasted renews the
// window: a daemon that dies at every start is lost too.
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
		if time.Since(began) > r.Window/lastedShare {
			until = time.Now().Add(r.Window)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(reconnectPause):
		}
	}
}

// connect reaches the daemon before the window closes, or tells the browser.
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
	_ = errors.As(err, &lost) // Connect may know better
	r.tell(lost)
	return nil, fmt.Errorf("%w: %w", ErrDaemonLost, err)
}
