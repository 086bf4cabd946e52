package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
)

func framed(bodies ...[]byte) []byte {
	var out []byte
	for _, body := range bodies {
		out = binary.NativeEndian.AppendUint32(out, uint32(len(body)))
		out = append(out, body...)
	}
	return out
}

func header(length uint32) []byte { return binary.NativeEndian.AppendUint32(nil, length) }

func TestRead(t *testing.T) {
	full := bytes.Repeat([]byte{'x'}, MaxIn)
	long := bytes.Repeat([]byte{'x'}, MaxIn+1)
	next := []byte(`{"id":2}`)
	tests := []struct {
		name  string
		in    []byte
		err   error
		goes  bool
		first []byte
	}{
		{"one", framed([]byte(`{}`), next), nil, true, []byte(`{}`)},
		{"largest", framed(full, next), nil, true, full},
		{"zero", framed(nil, next), ErrZero, true, nil},
		{"one byte over", framed(long, next), ErrOverLength, true, nil},
		{"longer than what is drained", header(MaxDrain + 1), ErrOverLength, false, nil},
		{"text on the wire", []byte("hello world"), ErrOverLength, false, nil},
		{"end between frames", nil, io.EOF, false, nil},
		{"cut in the header", []byte{1, 0}, io.ErrUnexpectedEOF, false, nil},
		{"cut after the header", header(7), io.ErrUnexpectedEOF, false, nil},
		{"cut in the body", append(header(7), 'a'), io.ErrUnexpectedEOF, false, nil},
		{"cut while draining", append(header(MaxIn+7), 'a'), io.ErrUnexpectedEOF, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(tt.in))
			body, err := r.Read()
			if !errors.Is(err, tt.err) || !bytes.Equal(body, tt.first) {
				t.Fatalf("got %d bytes, %v; want %d bytes, %v", len(body), err, len(tt.first), tt.err)
			}
			if err != nil && Recoverable(err) != tt.goes {
				t.Fatalf("Recoverable(%v) = %v", err, !tt.goes)
			}
			if !tt.goes {
				return
			}
			if body, err = r.Read(); err != nil || !bytes.Equal(body, next) {
				t.Fatalf("next frame: %q, %v", body, err)
			}
		})
	}
}

func TestOverLengthSaysHowLong(t *testing.T) {
	_, err := NewReader(bytes.NewReader(header(1_819_043_176))).Read()
	var over *OverLengthError
	if !errors.As(err, &over) || over.Length != 1_819_043_176 || over.Limit != MaxIn {
		t.Fatalf("got %v", err)
	}
}

func TestReadSplit(t *testing.T) {
	want := [][]byte{[]byte(`{"a":1}`), bytes.Repeat([]byte{'y'}, 70_000), []byte(`[]`)}
	for name, split := range map[string]func(io.Reader) io.Reader{
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with error": iotest.DataErrReader,
	} {
		r := NewReader(split(bytes.NewReader(framed(want...))))
		for i, body := range want {
			if got, err := r.Read(); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%s: frame %d: %d bytes, %v", name, i, len(got), err)
			}
		}
		if _, err := r.Read(); err != io.EOF {
			t.Fatalf("%s: end: %v", name, err)
		}
	}
}

// TestReadAllocatesWhatArrives checks that a header that announces a megabyte allocates
// only for what arrives.
func TestReadAllocatesWhatArrives(t *testing.T) {
	in := append(header(MaxIn), "just these"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := NewReader(bytes.NewReader(in)).Read(); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; each > 2*(readBuffer+firstChunk) {
		t.Fatalf("%d bytes allocated for a frame of 10 bytes", each)
	}
}

// A keeper keeps the buffers that it was asked to fill.
type keeper struct {
	in   io.Reader
	seen [][]byte
}

func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	k.seen = append(k.seen, p[:n])
	return n, err
}

// TestReadLeavesNothingBehind checks that a password is only in the returned body, which
// the caller wipes.
func TestReadLeavesNothingBehind(t *testing.T) {
	secret := []byte("correct horse battery staple")
	long := append(bytes.Repeat([]byte{'x'}, 3*readBuffer), secret...)
	for name, split := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader, "one byte": iotest.OneByteReader,
	} {
		k := &keeper{in: split(bytes.NewReader(framed(secret, long, []byte(`{}`))))}
		r := NewReader(k)
		for range 3 {
			if _, err := r.Read(); err != nil {
				t.Fatal(err)
			}
		}
		for _, filled := range k.seen {
			if bytes.Contains(filled, secret[:1]) { // a character that occurs nowhere else here
				t.Fatalf("%s: the read buffer still holds it", name)
			}
		}
	}
}

func TestReaderPassesOtherErrors(t *testing.T) {
	boom := errors.New("boom")
	if _, err := NewReader(iotest.ErrReader(boom)).Read(); err != boom {
		t.Fatalf("got %v", err)
	}
}

type countingWriter struct {
	bytes.Buffer
	writes int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.writes++
	return c.Buffer.Write(p)
}

func TestWrite(t *testing.T) {
	var out countingWriter
	w := NewWriter(&out)
	full := bytes.Repeat([]byte{'z'}, MaxOut)
	if err := w.Write(full); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(append(full, 'z')); !errors.Is(err, ErrOverLength) {
		t.Fatalf("one byte over: %v", err)
	}
	if err := w.Write(nil); !errors.Is(err, ErrZero) {
		t.Fatalf("empty: %v", err)
	}
	if err := w.Write([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if want := framed(full, []byte(`{}`)); out.writes != 2 || !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("%d writes, %d bytes; want 2 writes, %d bytes", out.writes, out.Len(), len(want))
	}
}

type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return len(p) / 2, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriterStaysBroken(t *testing.T) {
	under := &failingWriter{left: 0}
	w := NewWriter(under)
	if err := w.Write([]byte("a")); err == nil {
		t.Fatal("no error from a broken stream")
	}
	under.left = 10
	if err := w.Write([]byte("a")); err == nil {
		t.Fatal("wrote after half a frame")
	}
}

func TestConcurrentWrites(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			for range 20 {
				_ = w.Write(bytes.Repeat([]byte{byte(n)}, n*37+1))
			}
		})
	}
	wg.Wait()
	r, frames := NewReader(&out), 0
	for {
		body, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil || len(body) != int(body[0])*37+1 || len(slices.Compact(body)) != 1 {
			t.Fatalf("frame %d torn: %v", frames, err)
		}
		frames++
	}
	if frames != 1000 {
		t.Fatalf("%d frames, want 1000", frames)
	}
}

// FuzzRead checks that frames written again equal the input, that splitting the input
// changes nothing, and that nothing panics.
func FuzzRead(f *testing.F) {
	f.Add(framed([]byte(`{}`)))
	f.Add(framed([]byte(`{"jsonrpc":"2.0"}`), nil, []byte(`[]`)))
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{5, 0, 0, 0, '{'})
	f.Add(append(header(MaxIn+1), 'x'))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole := readAll(iotest.DataErrReader(bytes.NewReader(in)))
		for _, split := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader} {
			if got := readAll(split(bytes.NewReader(in))); got != whole {
				t.Fatalf("split reads differ: %+v, whole %+v", got, whole)
			}
		}
		if whole.out != string(in[:len(whole.out)]) && whole.skipped == 0 {
			t.Fatal("round trip changed the bytes")
		}
		if whole.end == io.EOF && whole.skipped == 0 && len(whole.out) != len(in) {
			t.Fatalf("lost input: %d of %d bytes", len(whole.out), len(in))
		}
	})
}

type transcript struct {
	out     string // frames read, written again
	skipped int    // number of refused frames after which reading continued
	end     error
}

func readAll(in io.Reader) (t transcript) {
	r := NewReader(in)
	var out bytes.Buffer
	w := NewWriter(&out)
	for {
		body, err := r.Read()
		switch {
		case err == nil:
			_ = w.Write(body)
		case Recoverable(err):
			t.skipped++
		default:
			t.out, t.end = out.String(), err
			var over *OverLengthError
			if errors.As(err, &over) {
				t.end = ErrOverLength
			}
			return t
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"host.hello"}`), uint8(3))
	f.Add([]byte{0}, uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, times uint8) {
		var stream bytes.Buffer
		w := NewWriter(&stream)
		for range times {
			if err := w.Write(body); (err != nil) != (len(body) == 0) {
				t.Fatal(err)
			}
		}
		r := NewReader(iotest.OneByteReader(&stream))
		for range times {
			if len(body) == 0 {
				break
			}
			if got, err := r.Read(); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}
		if _, err := r.Read(); err != io.EOF {
			t.Fatalf("end: %v", err)
		}
	})
}
