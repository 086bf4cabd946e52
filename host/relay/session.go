package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// attachID is the id of the relay's own request. A browser may use the same id, because
// the attach is answered before anything else.
const attachID = `"attach"`

// maxEarly is how many messages of a daemon are kept until it answers the attach.
const maxEarly = 16

// transientRefusals are refusals by a daemon that will soon be ready or replaced.
var transientRefusals = []string{"daemon_starting", "stopping"}

// session serves the browser over one connection to the daemon. It returns nil when the
// browser has ended and all its frames were delivered.
func (r *relay) session(ctx context.Context, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	out := frame.NewWriter(conn)
	_ = conn.SetDeadline(time.Now().Add(protocol.AttachTimeout))
	_ = out.Write(r.attach) // a full daemon has already answered and closed without reading
	granted, closed := make(chan error, 1), make(chan error, 1)
	go r.copyToBrowser(conn, granted, closed)
	if err := r.awaitGrant(ctx, out, granted); err != nil {
		return ended(ctx, err)
	}
	for {
		body, open, err := r.next(ctx, closed)
		if err != nil || !open {
			return err
		}
		_ = conn.SetWriteDeadline(time.Now().Add(protocol.WriteTimeout))
		if err := out.Write(body); err != nil {
			r.pending = body // half a frame was never a request, so it may be sent again
			return ended(ctx, fmt.Errorf("%w: %w", errDaemonGone, err))
		}
		clear(body) // it may contain a password
		r.pending = nil
	}
}

// awaitGrant waits until the daemon has granted the attach. A hello from the browser is
// sent to the daemon at once but stays pending until then, because it may be repeated to
// another daemon. Any other request waits, because it may not be repeated.
func (r *relay) awaitGrant(ctx context.Context, out *frame.Writer, granted <-chan error) error {
	relayed := false
	for inbound := r.inbound; ; {
		if r.pending != nil {
			inbound = nil
			relayed = isHello(r.pending) && out.Write(r.pending) == nil
		}
		select {
		case body, open := <-inbound:
			if r.pending = body; !open { // watchEnd handles the end
				inbound = nil
			}
		case err := <-granted:
			if err == nil && relayed {
				clear(r.pending)
				r.pending = nil
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isHello reports whether a request is a host.hello, which changes nothing.
func isHello(body []byte) bool {
	var m message
	return json.Unmarshal(body, &m) == nil && m.Method == "host.hello"
}

// next returns the browser's next frame, or first the one still pending.
func (r *relay) next(ctx context.Context, closed <-chan error) (body []byte, open bool, err error) {
	if r.pending != nil {
		return r.pending, true, nil
	}
	select {
	case body, open = <-r.inbound:
		return body, open, nil
	case err = <-closed:
		return nil, true, ended(ctx, err)
	case <-ctx.Done():
		return nil, true, ctx.Err()
	}
}

// ended returns ctx's error, if any, instead of the error that ctx's end caused on the
// connection.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// A message has the members that the relay looks at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// failed reports whether an answer has an error. JSON-RPC 2.0 omits the member if there
// is none, but many implementations write null.
func (m message) failed() bool { return len(m.Error) > 0 && string(m.Error) != "null" }

// grants reports whether an answer has the attach's result, which is an object.
func (m message) grants() bool {
	return !m.failed() && string(m.ID) == attachID && bytes.HasPrefix(m.Result, []byte("{"))
}

// attachAnswer parses a message and reports whether it answers the attach, with a result
// or an error.
func attachAnswer(body []byte) (message, bool) {
	var a message
	if err := json.Unmarshal(body, &a); err != nil || a.Method != "" {
		return message{}, false
	}
	// A refusal sent before the request was read has no id.
	none := len(a.ID) == 0 || string(a.ID) == string(noID)
	return a, string(a.ID) == attachID || none && a.failed()
}

// readGrant reads up to the answer to the attach, which is not passed on. Messages before it
// are kept until then, because a refused browser gets nothing else.
func (r *relay) readGrant(in *frame.Reader) error {
	var early [][]byte
	for len(early) <= maxEarly {
		body, err := in.Read()
		if err != nil {
			return fmt.Errorf("%w: %w", errDaemonGone, err)
		}
		a, ok := attachAnswer(body)
		if !ok {
			early = append(early, body)
			continue
		}
		if !a.grants() {
			return r.refused(a)
		}
		for _, body := range early {
			r.toBrowser(body)
		}
		return nil
	}
	return errNoAnswer
}

// errNoAnswer means that the other end is not a daemon.
var errNoAnswer = fmt.Errorf("%w: it answers no attach", errDaemonGone)

// refused passes a refusal on, without the relay's own id.
func (r *relay) refused(a message) error {
	var refusal protocol.Error
	switch {
	case json.Unmarshal(a.Error, &refusal) != nil || refusal.Code == 0:
		return errNoAnswer
	case slices.Contains(transientRefusals, refusal.Name):
		return fmt.Errorf("%w: %w", errDaemonGone, &refusal)
	}
	r.send(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
	}{protocol.Version, noID, a.Error})
	return fmt.Errorf("%w: %w", ErrRefused, &refusal)
}

// copyToBrowser reports whether the attach is granted and then copies the daemon's frames to the
// browser until the connection ends.
func (r *relay) copyToBrowser(conn net.Conn, granted, closed chan<- error) {
	in := frame.NewReader(conn)
	err := r.readGrant(in)
	if err == nil {
		_ = conn.SetReadDeadline(time.Time{})
	}
	granted <- err
	for err == nil {
		err = r.copyFrame(in)
	}
	closed <- err
}

// copyFrame copies one frame of the daemon to the browser. Its error means that the daemon
// is gone.
func (r *relay) copyFrame(in *frame.Reader) error {
	body, err := in.Read()
	switch {
	case err == nil:
		r.toBrowser(body)
	case errors.Is(err, frame.ErrZero): // empty, and Firefox would close the port
	case frame.Recoverable(err):
		r.sendError(protocol.New("result_too_large", ""))
	default:
		return fmt.Errorf("%w: %w", errDaemonGone, err)
	}
	return nil
}
