// Package frame reads and writes native messaging frames: a 4-byte length in the
// machine's byte order, then that many bytes of UTF-8 JSON. The same frames are used on
// the browser's pipes and on the local transport.
package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"swapkeep/internal/zeroize"
)

// Limits of a frame's body, in bytes, inclusive.
const (
	// MaxIn is the largest body a Reader returns.
	MaxIn = 1 << 20
	// MaxOut is the largest body a Writer sends. Browsers close the port at one byte
	// more.
	MaxOut = 1 << 20
	// MaxDrain is the largest body a Reader skips to keep the stream usable. Chromium
	// sends at most that much.
	MaxDrain = 64 << 20
)

const (
	headerSize = 4
	readBuffer = 32 << 10
	firstChunk = 16 << 10
)

// Errors that callers handle. Recoverable reports which of them leave the stream usable.
var (
	ErrZero       = errors.New("frame of zero length")
	ErrOverLength = errors.New("frame over its length limit")
)

// OverLengthError gives the length of a refused frame. It is an ErrOverLength.
type OverLengthError struct {
	Length  uint64 // of the body in bytes, according to the header or the caller
	Limit   uint64 // in bytes
	Drained bool   // the body was skipped, so the next frame can be read
}

func (e *OverLengthError) Error() string {
	return fmt.Sprintf("frame of %d bytes is over the limit of %d bytes", e.Length, e.Limit)
}

// Is makes errors.Is(err, ErrOverLength) true.
func (e *OverLengthError) Is(target error) bool { return target == ErrOverLength }

// Recoverable reports whether frames can still be read after err: after a frame of zero
// length, and after one that was too long but was skipped.
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

// NewReader returns a Reader of r. It buffers, so nothing else may read from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, readBuffer)}
}

// Read returns the next frame's body, which the caller owns. Errors: io.EOF only if the
// stream ends between frames, io.ErrUnexpectedEOF if it ends inside one, ErrZero and
// ErrOverLength (see Recoverable), otherwise the stream's error. It allocates memory for
// the bytes that arrive, not for the length in the header.
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

// body copies the body out of the read buffer and wipes it there: a frame may contain a
// password, the buffer lives as long as the stream, and a copy passes registers.
func (r *Reader) body(length int) ([]byte, error) {
	body := make([]byte, 0, min(length, firstChunk))
	for len(body) < length {
		if _, err := r.r.Peek(1); err != nil {
			clear(body)
			return nil, insideFrame(err)
		}
		zeroize.Do(func() {
			if len(body) == cap(body) {
				body = grown(body, min(length, 2*cap(body)))
			}
			chunk, _ := r.r.Peek(min(cap(body)-len(body), r.r.Buffered()))
			body = append(body, chunk...)
			clear(chunk)
			_, _ = r.r.Discard(len(chunk))
		})
	}
	return body, nil
}

// grown returns body with more capacity and wipes the old copy.
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

// A Writer writes frames to a stream, each with a single Write. It is safe for concurrent
// use. After a failed Write the stream may contain half a frame, so every later Write
// returns the same error.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	buf    []byte
	broken error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write sends one frame. An empty body (ErrZero) or one longer than MaxOut
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
	zeroize.Do(func() {
		w.buf = binary.NativeEndian.AppendUint32(w.buf[:0], uint32(len(body)))
		w.buf = append(w.buf, body...)
	})
	_, err := w.w.Write(w.buf)
	clear(w.buf) // a frame may contain a password
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
