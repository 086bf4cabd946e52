package relay

import (
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

// attachID is the id of the relay's own request. A browser may use the same:
// its frames follow after the answer.
const attachID = `"attach"`

// goingAway are refusals by a daemon that another will soon replace.
var goingAway = []string{"daemon_starting", "stopping"}

// session serves the browser over one connection to the daemon. It returns
// nil when the browser has ended and all its frames are handed over.
func (r *relay) session(ctx context.Context, conn net.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in, out := frame.NewReader(conn), frame.NewWriter(conn)
	if err := r.introduce(conn, in, out); err != nil {
		return ended(ctx, err)
	}
	gone := make(chan error, 1)
	go func() { gone <- r.down(in) }()
	for {
		body, open, err := r.next(ctx, gone)
		if err != nil || !open {
			return err
		}
		_ = conn.SetWriteDeadline(time.Now().Add(protocol.WriteTimeout))
		if err := out.Write(body); err != nil {
			r.pending = body // half a frame was never a request: it may go again
			return ended(ctx, fmt.Errorf("%w: %w", errDaemonGone, err))
		}
		clear(body) // it may hold a password
		r.pending = nil
	}
}

// next is the browser's next frame, that first which is still owed.
func (r *relay) next(ctx context.Context, gone <-chan error) (body []byte, open bool, err error) {
	if r.pending != nil {
		return r.pending, true, nil
	}
	select {
	case body, open = <-r.inbound:
		return body, open, nil
	case err = <-gone:
		return nil, true, ended(ctx, err)
	case <-ctx.Done():
		return nil, true, ctx.Err()
	}
}

// ended prefers the relay's own end over what that did to the connection.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// introduce sends host.attach and takes its answer out of the stream. What the
// daemon pushes before it goes to the browser.
func (r *relay) introduce(conn net.Conn, in *frame.Reader, out *frame.Writer) error {
	_ = conn.SetDeadline(time.Now().Add(protocol.AttachTimeout))
	defer func() { _ = conn.SetDeadline(time.Time{}) }()
	wrote := out.Write(r.attach) // a daemon that is full has answered and gone before it reads
	for {
		body, err := in.Read()
		if err != nil {
			return fmt.Errorf("%w: %w", errDaemonGone, errors.Join(wrote, err))
		}
		answer, ok := attachAnswer(body)
		if ok {
			return r.attached(answer)
		}
		r.up(body)
	}
}

// An answer is as much of a response as the relay looks at.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
}

func attachAnswer(body []byte) (answer, bool) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || a.Method != "" {
		return answer{}, false
	}
	// A refusal made before the request was read has no id.
	return a, string(a.ID) == attachID || len(a.Error) > 0
}

// attached passes a refusal on, without the relay's own id.
func (r *relay) attached(a answer) error {
	if len(a.Error) == 0 {
		return nil
	}
	var refusal protocol.Error
	if err := json.Unmarshal(a.Error, &refusal); err == nil && slices.Contains(goingAway, refusal.Name) {
		return fmt.Errorf("%w: %w", errDaemonGone, &refusal)
	}
	r.send(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   json.RawMessage `json:"error"`
	}{protocol.Version, noID, a.Error})
	return fmt.Errorf("%w: %w", ErrRefused, &refusal)
}

// down copies the daemon's frames to the browser until the daemon is gone.
func (r *relay) down(in *frame.Reader) error {
	for {
		body, err := in.Read()
		switch {
		case err == nil:
			r.up(body)
		case errors.Is(err, frame.ErrZero): // says nothing, and Firefox would close the port
		case frame.Recoverable(err):
			r.tell(protocol.New("result_too_large", ""))
		default:
			return fmt.Errorf("%w: %w", errDaemonGone, err)
		}
	}
}
