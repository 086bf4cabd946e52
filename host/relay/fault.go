package relay

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// noID is the id of an error that answers no request in particular.
var noID = json.RawMessage("null")

// frameFault is the error that answers a frame which is none.
func frameFault(err error) *protocol.Error {
	var over *frame.OverLengthError
	switch {
	case errors.As(err, &over):
		return protocol.New("frame_too_long", "").
			With("length", strconv.FormatUint(over.Length, 10)).
			With("most", strconv.FormatUint(over.Limit, 10))
	case errors.Is(err, frame.ErrZero):
		return protocol.New("frame_zero", "")
	}
	return protocol.New("invalid_request", "the stream ended inside a message")
}

// WriteFault writes an error that answers no request as one frame: the way to
// tell a browser why there will be no connection.
func WriteFault(w io.Writer, fault *protocol.Error) error {
	body, err := json.Marshal(protocol.Response{JSONRPC: protocol.Version, ID: noID, Error: fault})
	if err != nil {
		return err
	}
	return frame.NewWriter(w).Write(body)
}

// tell sends an error to the browser as far as it listens.
func (r *relay) tell(fault *protocol.Error) {
	r.send(protocol.Response{JSONRPC: protocol.Version, ID: noID, Error: fault})
}

func (r *relay) send(message any) {
	body, err := json.Marshal(message)
	switch {
	case err != nil: // our own types encode
	case len(body) > frame.MaxOut: // the daemon's words, which encoding made longer
		r.tell(protocol.New("result_too_large", ""))
	default:
		r.up(body)
	}
}

// up hands one message to the browser and wipes it: it may be the words of a
// new wallet. A browser that takes no reply has left; what it sent before may
// still be on its way to the daemon and gets the grace.
func (r *relay) up(body []byte) {
	err := r.out.Write(body)
	clear(body)
	if err != nil {
		time.AfterFunc(flushGrace, func() { r.stop(errBrowserGone) })
	}
}

// watched is the browser's end of the pipe under a clock: a write that is not
// taken in time ends the relay, which abandons it.
type watched struct{ r *relay }

func (w watched) Write(p []byte) (int, error) {
	clock := time.AfterFunc(w.r.Stall, func() { w.r.stop(ErrStalled) })
	defer clock.Stop()
	return w.r.Out.Write(p)
}
