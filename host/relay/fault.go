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

// noID is the id of an error that answers no particular request.
var noID = json.RawMessage("null")

// frameFault returns the error that answers a malformed frame.
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
	return protocol.New("invalid_request", "the stream ended within a message")
}

// WriteFault writes an error without an id as one frame, to tell a browser why there will
// be no connection.
func WriteFault(w io.Writer, fault *protocol.Error) error {
	body, err := json.Marshal(protocol.Response{JSONRPC: protocol.Version, ID: noID, Error: fault})
	if err != nil {
		return err
	}
	return frame.NewWriter(w).Write(body)
}

func (r *relay) sendError(fault *protocol.Error) {
	r.send(protocol.Response{JSONRPC: protocol.Version, ID: noID, Error: fault})
}

func (r *relay) send(message any) {
	body, err := json.Marshal(message)
	switch {
	case err != nil: // our own types always marshal
	case len(body) > frame.MaxOut: // a message of the daemon's that encoding made longer
		r.sendError(protocol.New("result_too_large", ""))
	default:
		r.toBrowser(body)
	}
}

// toBrowser sends one message to the browser and wipes it, because it may contain the words of a
// new wallet. A browser that reads no replies has left. What it sent before may still be
// on its way to the daemon, so the relay ends only after flushGrace.
func (r *relay) toBrowser(body []byte) {
	err := r.out.Write(body)
	clear(body)
	if err != nil {
		time.AfterFunc(flushGrace, func() { r.stop(errBrowserGone) })
	}
}

// stallWriter writes to the browser with a timeout. A write that is not read in time ends the
// relay, which abandons the write.
type stallWriter struct{ r *relay }

func (w stallWriter) Write(p []byte) (int, error) {
	clock := time.AfterFunc(w.r.Stall, func() { w.r.stop(ErrStalled) })
	defer clock.Stop()
	return w.r.Out.Write(p)
}
