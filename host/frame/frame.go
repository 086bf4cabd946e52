// Package frame reads and writes the messages of native messaging: a 4-byte
// length in the machine's byte order, then that many bytes of UTF-8 JSON. The
// same frames travel over the browser's pipes and over the local transport.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"swapkeep/registers"
)

// Limits of one frame's body, in bytes, all inclusive.
const (
	// MaxIn is the largest body a Reader returns.
	MaxIn = 1 << 20
	// MaxOut is the largest body a Writer sends. Browsers close the port when
	// the header names one byte more.
	MaxOut = 1 << 20
	// MaxDrain is the largest body a Reader skips to stay in step; it is the
	// most that Chromium sends.
	MaxDrain = 64 << 20
)

const (
	headerSize = 4
	readBuffer = 32 << 10
	firstChunk = 16 << 10
)

// Errors that a caller decides on. Recoverable tells which of them leave the
// stream usable.
var (
	ErrZero       = errors.New("frame of zero length")
	ErrOverLength = errors.New("frame over its length limit")
)

// OverLengthError says how long a refused frame was. It is an ErrOverLength.
type OverLengthError struct {
	Length  uint64 // bytes of body, as the header or the caller said
	Limit   uint64 // bytes allowed
	Drained bool   // the body was skipped: the next frame can be read
}

func (e *OverLengthError) Error() string {
	return fmt.Sprintf("frame of %d bytes is over the limit of %d bytes", e.Length, e.Limit)
}

// Is makes errors.Is(err, ErrOverLength) true.
func (e *OverLengthError) Is(target error) bool { return target == ErrOverLength }

// Recoverable reports whether frames can still be read after err: true for a
// frame of zero length and for one that was too long but was skipped whole.
func Recoverable(err error) bool {
	var over *OverLengthError
	if errors.As(err, &over) {
		return over.Drained
	}
	return errors.Is(err, ErrZero)
}

// A Reader reads frames from a stream. It is not safe for concurrent use.
type Reader struct {
	r *bufio.Reader
}

// NewReader returns a Reader of r. It reads ahead, so nothing else may read r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, readBuffer)}
}

// Read returns the next frame's body, which the caller owns. Errors: io.EOF
// only when the stream ends between frames, io.ErrUnexpectedEOF when it ends
// inside one, ErrZero and ErrOverLength (see Recoverable), else what the
// stream returned. Memory follows the bytes that arrive, not the header.
func (r *Reader) Read() ([]byte, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, err
	}
	length := binary.NativeEndian.Uint32(head[:])
	switch {
	case length == 0:
		return nil, ErrZero
	case length > MaxIn:
		return nil, r.skip(length)
	}
	return r.body(int(length))
}

// body takes the bytes out of the read-ahead buffer and wipes them there: a
// frame may carry a password, and the buffer lives as long as the stream.
func (r *Reader) body(length int) ([]byte, error) {
	body := make([]byte, 0, min(length, firstChunk))
	for len(body) < length {
		if _, err := r.r.Peek(1); err != nil {
			clear(body)
			return nil, insideFrame(err)
		}
		if len(body) == cap(body) {
			body = grown(body, min(length, 2*cap(body)))
		}
		chunk, _ := r.r.Peek(min(cap(body)-len(body), r.r.Buffered()))
		body = append(body, chunk...)
		clear(chunk)
		registers.Clear() // before the next part is waited for: that may end on another thread
		_, _ = r.r.Discard(len(chunk))
	}
	return body, nil
}

// grown is body with more room, and no copy of it left behind.
func grown(body []byte, room int) []byte {
	bigger := append(make([]byte, 0, room), body...)
	clear(body)
	return bigger
}

func (r *Reader) skip(length uint32) error {
	over := &OverLengthError{Length: uint64(length), Limit: MaxIn}
	if length > MaxDrain {
		return over
	}
	if _, err := io.CopyN(io.Discard, r.r, int64(length)); err != nil {
		return insideFrame(err)
	}
	over.Drained = true
	return over
}

func insideFrame(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A Writer writes frames to a stream, each by a single Write. It is safe for
// concurrent use. After a failed Write the stream may hold half a frame, so
// every later Write returns that failure.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	buf    []byte
	broken error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one frame. A body that is empty (ErrZero) or longer than MaxOut
// (ErrOverLength) is refused before anything is sent; the Writer stays usable.
func (w *Writer) Write(body []byte) error {
	if err := checkOut(body); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	w.buf = binary.NativeEndian.AppendUint32(w.buf[:0], uint32(len(body)))
	w.buf = append(w.buf, body...)
	registers.Clear()
	_, err := w.w.Write(w.buf)
	clear(w.buf) // a frame may carry a password
	if cap(w.buf) > readBuffer {
		w.buf = nil
	}
	w.broken = err
	return err
}

func checkOut(body []byte) error {
	switch {
	case len(body) == 0:
		return ErrZero
	case len(body) > MaxOut:
		return &OverLengthError{Length: uint64(len(body)), Limit: MaxOut}
	}
	return nil
}
