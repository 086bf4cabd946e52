package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// A daemon is a fake daemon at the far end of the local transport.
type daemon struct {
	listener net.Listener
	attached chan json.RawMessage
	raw      func(conn net.Conn, n int) // if set, handles the whole connection; n counts connections
	behave   func(conn net.Conn, n int) // handles the connection after a granted attach
	refuse   func(n int) *protocol.Error
	conns    atomic.Int32
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &daemon{listener: l, attached: make(chan json.RawMessage, 100), behave: echo}
}

func (d *daemon) serve() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		n := int(d.conns.Add(1))
		go func() {
			defer func() { _ = conn.Close() }()
			switch {
			case d.raw != nil:
				d.raw(conn, n)
			case d.attach(conn, n):
				d.behave(conn, n)
			}
		}()
	}
}

// attach reads exactly the first frame and answers it.
func (d *daemon) attach(conn net.Conn, n int) bool {
	var first struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal(readOne(conn), &first) != nil || first.Method != "host.attach" {
		return false
	}
	d.attached <- first.Params
	out := frame.NewWriter(conn)
	if d.refuse != nil {
		if refusal := d.refuse(n); refusal != nil {
			body, _ := json.Marshal(protocol.Response{JSONRPC: "2.0", ID: first.ID, Error: refusal})
			return out.Write(body) != nil
		}
	}
	_ = out.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"host.hello","params":{"instance":%d}}`, n))
	return out.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, first.ID)) == nil
}

// readOne reads one frame and not a byte more.
func readOne(r io.Reader) []byte {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil
	}
	length := int(head[0]) | int(head[1])<<8
	body := make([]byte, length)
	_, _ = io.ReadFull(r, body)
	return body
}

func echo(conn net.Conn, _ int) {
	in, out := frame.NewReader(conn), frame.NewWriter(conn)
	for {
		body, err := in.Read()
		if err != nil {
			return
		}
		if out.Write(body) != nil {
			return
		}
	}
}

func deaf(conn net.Conn, _ int) { time.Sleep(5 * time.Second) }

// A browser is the near end of the relay.
type browser struct {
	in   *frame.Writer
	raw  *io.PipeWriter
	out  *frame.Reader
	back *io.PipeReader
	done chan error
}

func start(t *testing.T, d *daemon, change func(*Config)) *browser {
	t.Helper()
	if d != nil {
		go d.serve()
	}
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	c := Config{
		In: theirIn, Out: theirOut, Window: 2 * time.Second, Stall: 5 * time.Second,
		Attach: protocol.AttachParams{Kind: protocol.KindBrowser, Origin: "chrome-extension://x/", Version: "1"},
	}
	if d != nil {
		c.Connect = func(ctx context.Context, _ bool) (net.Conn, error) {
			var dial net.Dialer
			return dial.DialContext(ctx, "unix", d.listener.Addr().String())
		}
	}
	if change != nil {
		change(&c)
	}
	b := &browser{in: frame.NewWriter(in), raw: in, out: frame.NewReader(out), back: out, done: make(chan error, 1)}
	go func() { b.done <- Run(context.WithoutCancel(t.Context()), c) }()
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return b
}

func (b *browser) read(t *testing.T) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		body, err := b.out.Read()
		if err != nil {
			body = []byte(err.Error())
		}
		got <- string(body)
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(5 * time.Second):
		t.Fatal("the relay sent nothing")
		return ""
	}
}

func (b *browser) expect(t *testing.T, want string) {
	t.Helper()
	if got := b.read(t); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func (b *browser) expectFault(t *testing.T, name string) {
	t.Helper()
	got := b.read(t)
	var r protocol.Response
	if err := json.Unmarshal([]byte(got), &r); err != nil || r.Error == nil || r.Error.Name != name || string(r.ID) != "null" {
		t.Fatalf("got %s, want the error %s without id", got, name)
	}
}

func (b *browser) send(t *testing.T, body string) {
	t.Helper()
	if err := b.in.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) wait(t *testing.T, within time.Duration) error {
	t.Helper()
	select {
	case err := <-b.done:
		return err
	case <-time.After(within):
		t.Fatalf("the relay was there after %s", within)
		return nil
	}
}

const hello1 = `{"jsonrpc":"2.0","method":"host.hello","params":{"instance":1}}`
const hello2 = `{"jsonrpc":"2.0","method":"host.hello","params":{"instance":2}}`

func TestRelay(t *testing.T) {
	d := newDaemon(t)
	b := start(t, d, nil)
	b.expect(t, hello1)
	if got := string(<-d.attached); got != `{"kind":"browser","origin":"chrome-extension://x/","version":"1"}` {
		t.Fatalf("attached with %s", got)
	}
	for _, body := range []string{`{"id":1}`, `not JSON at all`, strings.Repeat("x", frame.MaxIn), `{"id":"attach"}`} {
		go func() { _ = b.in.Write([]byte(body)) }()
		b.expect(t, body)
	}
	_ = b.raw.Close()
	if err := b.wait(t, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
}

func TestFaultsOfFrames(t *testing.T) {
	tests := []struct {
		name, fault string
		bytes       []byte
		ends        bool
	}{
		{"zero", "frame_zero", []byte{0, 0, 0, 0}, false},
		{"over-length", "frame_too_long", append([]byte{1, 0, 16, 0}, bytes.Repeat([]byte{'x'}, frame.MaxIn+1)...), false},
		{"longer than what is drained", "frame_too_long", []byte{1, 0, 0, 4}, true},
		{"text", "frame_too_long", []byte("hello"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := start(t, newDaemon(t), nil)
			b.expect(t, hello1)
			go func() { _, _ = b.raw.Write(tt.bytes) }()
			b.expectFault(t, tt.fault)
			if tt.ends {
				if err := b.wait(t, time.Second); !errors.Is(err, ErrBrokenInput) {
					t.Fatal(err)
				}
				return
			}
			b.send(t, `{"id":1}`)
			b.expect(t, `{"id":1}`)
		})
	}
}

func TestCutShort(t *testing.T) {
	b := start(t, newDaemon(t), nil)
	b.expect(t, hello1)
	go func() {
		_, _ = b.raw.Write([]byte{9, 0, 0, 0, '{'})
		_ = b.raw.Close()
	}()
	b.expectFault(t, "invalid_request")
	if err := b.wait(t, time.Second); !errors.Is(err, ErrBrokenInput) {
		t.Fatal(err)
	}
}

// TestEndsWithItsBrowser checks that the relay ends with its browser, however it is
// blocked.
func TestEndsWithItsBrowser(t *testing.T) {
	never := func(ctx context.Context, _ bool) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	t.Run("while there is no daemon", func(t *testing.T) {
		b := start(t, nil, func(c *Config) { c.Connect = never })
		_ = b.raw.Close()
		if err := b.wait(t, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("while the daemon does not answer", func(t *testing.T) {
		mute, far := net.Pipe()
		defer func() { _ = far.Close() }()
		b := start(t, nil, func(c *Config) {
			c.Connect = func(context.Context, bool) (net.Conn, error) { return mute, nil }
		})
		_ = b.raw.Close()
		if err := b.wait(t, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("while the daemon takes nothing", func(t *testing.T) {
		d, hangup := newDaemon(t), make(chan struct{})
		d.behave = deaf
		b := start(t, d, func(c *Config) { c.Hangup = hangup })
		b.expect(t, hello1)
		go func() {
			for b.in.Write(bytes.Repeat([]byte{'x'}, 1<<18)) == nil {
			}
		}()
		time.Sleep(50 * time.Millisecond)
		close(hangup) // the end of the stream is behind unread bytes
		if err := b.wait(t, 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("by a signal", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		in, _ := io.Pipe()
		time.AfterFunc(20*time.Millisecond, cancel)
		if err := Run(ctx, Config{In: in, Out: io.Discard, Connect: never}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("which stopped reading first", func(t *testing.T) {
		d := newDaemon(t)
		b := start(t, d, nil)
		b.expect(t, hello1)
		_ = b.back.Close()
		b.send(t, `{"id":1}`)
		if err := b.wait(t, time.Second); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLastMessagesArrive checks that what a browser sent just before it left still reaches
// the daemon.
func TestLastMessagesArrive(t *testing.T) {
	d, received := newDaemon(t), make(chan string, 10)
	d.behave = func(conn net.Conn, _ int) {
		in := frame.NewReader(conn)
		for {
			body, err := in.Read()
			if err != nil {
				return
			}
			received <- string(body)
		}
	}
	b := start(t, d, nil)
	b.expect(t, hello1)
	b.send(t, `{"id":1,"method":"swap.execute"}`)
	_, _ = b.back.Close(), b.raw.Close()
	if err := b.wait(t, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-received:
		if got != `{"id":1,"method":"swap.execute"}` {
			t.Fatal(got)
		}
	case <-time.After(time.Second):
		t.Fatal("the message was lost")
	}
}

func TestReconnects(t *testing.T) {
	d := newDaemon(t)
	d.behave = func(conn net.Conn, n int) {
		if n == 1 {
			readOne(conn) // and the connection ends
			return
		}
		echo(conn, n)
	}
	b := start(t, d, nil)
	b.expect(t, hello1)
	b.send(t, `{"id":"lost with the first daemon"}`)
	b.expect(t, hello2)
	b.send(t, `{"id":2}`)
	b.expect(t, `{"id":2}`)
	if len(d.attached) != 2 {
		t.Fatalf("%d attaches", len(d.attached))
	}
}

// TestWaitsForTheNextDaemon checks that the relay retries after a refusal by a daemon
// that is starting or stopping.
func TestWaitsForTheNextDaemon(t *testing.T) {
	for _, name := range transientRefusals {
		d := newDaemon(t)
		d.refuse = func(n int) *protocol.Error {
			if n < 3 {
				return protocol.New(name, "")
			}
			return nil
		}
		b := start(t, d, nil)
		b.expect(t, strings.Replace(hello1, "1}", "3}", 1))
	}
}

const (
	granted  = `{"jsonrpc":"2.0","id":"attach","result":{}}`
	askHello = `{"id":1,"method":"host.hello","params":{}}`
	askOther = `{"id":2,"method":"keys.create","params":{"name":"host.hello"}}`
)

func refusal(name string) string {
	body, _ := json.Marshal(protocol.Response{JSONRPC: "2.0", ID: json.RawMessage(`"attach"`), Error: protocol.New(name, "")})
	return string(body)
}

func say(conn net.Conn, bodies ...string) {
	out := frame.NewWriter(conn)
	for _, body := range bodies {
		_ = out.Write([]byte(body))
	}
}

func expectNone(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if body := readOne(conn); len(body) > 0 {
		t.Errorf("%s came too early", body)
	}
	_ = conn.SetReadDeadline(time.Time{})
}

// TestHelloGoesAhead checks that a hello is sent before the attach is answered, and that
// everything else waits, in both directions.
func TestHelloGoesAhead(t *testing.T) {
	for _, first := range []string{askHello, askOther} {
		d, may := newDaemon(t), make(chan struct{})
		d.raw = func(conn net.Conn, _ int) {
			_ = readOne(conn) // the attach
			if first == askHello {
				if got := string(readOne(conn)); got != askHello {
					t.Errorf("%s came before the hello", got)
				}
			}
			expectNone(t, conn)
			say(conn, hello1, `{"id":1,"result":"not yet"}`)
			close(may)
			time.Sleep(50 * time.Millisecond)
			say(conn, granted)
			echo(conn, 1)
		}
		b := start(t, d, nil)
		b.send(t, first)
		go func() { _ = b.in.Write([]byte(askOther)) }()
		<-may
		began := time.Now()
		b.expect(t, hello1)
		if waited := time.Since(began); waited < 40*time.Millisecond {
			t.Errorf("the daemon was heard after %s, before it granted the attach", waited)
		}
		b.expect(t, `{"id":1,"result":"not yet"}`)
		b.expect(t, askOther)
		if first != askHello {
			b.expect(t, askOther)
		}
	}
}

// TestHelloIsOwedUntilTheAttachIsGranted checks that a hello that a daemon read but did
// not answer is sent to the next one, and not twice if the attach was granted.
func TestHelloIsOwedUntilTheAttachIsGranted(t *testing.T) {
	for name, first := range map[string]struct {
		says       string
		helloAgain bool
	}{
		"goes away":       {"", true},
		"is going away":   {refusal("stopping"), true},
		"grants and dies": {granted, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon(t)
			d.raw = func(conn net.Conn, n int) {
				_ = readOne(conn)
				if n > 1 {
					say(conn, granted)
					echo(conn, n)
					return
				}
				_ = readOne(conn)
				if first.says != "" {
					say(conn, first.says)
				}
			}
			b := start(t, d, nil)
			b.send(t, askHello)
			if first.helloAgain {
				b.expect(t, askHello)
			}
			time.Sleep(2 * reconnectPause) // what was not delivered to the first goes to the second
			b.send(t, askOther)
			b.expect(t, askOther)
		})
	}
}

// TestRefusedBrowserHearsNothingElse checks that a refused browser gets nothing that the
// daemon sent before the refusal.
func TestRefusedBrowserHearsNothingElse(t *testing.T) {
	d := newDaemon(t)
	d.raw = func(conn net.Conn, _ int) {
		_, _ = readOne(conn), readOne(conn)
		say(conn, hello1, refusal("origin_refused"), hello2)
	}
	b := start(t, d, nil)
	b.send(t, askHello)
	b.expectFault(t, "origin_refused")
	if err := b.wait(t, time.Second); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
}

// TestEndlessPrelude checks that the relay gives up on a daemon that sends messages
// without answering the attach.
func TestEndlessPrelude(t *testing.T) {
	d := newDaemon(t)
	d.raw = func(conn net.Conn, n int) {
		_ = readOne(conn)
		if n > 1 {
			say(conn, granted, hello2)
			echo(conn, n)
			return
		}
		for range 2 * maxEarly {
			say(conn, hello1)
		}
	}
	start(t, d, nil).expect(t, hello2)
}

// TestAnswersToTheAttach checks that only a result grants an attach and only an error
// object refuses it. A null error beside a result is no error, and a message with neither
// is not from a daemon.
func TestAnswersToTheAttach(t *testing.T) {
	for _, tt := range []struct {
		answer   string
		ends     error // nil: granted
		received string
	}{
		{`{"jsonrpc":"2.0","id":"attach","result":{},"error":null}`, nil, ""},
		{`{"jsonrpc":"2.0","id":"attach","result":{},"error":{"code":1002,"message":"no room"}}`, ErrRefused, `{"jsonrpc":"2.0","id":null,"error":{"code":1002,"message":"no room"}}`},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1002,"message":"no room"}}`, ErrRefused, `{"jsonrpc":"2.0","id":null,"error":{"code":1002,"message":"no room"}}`},
		{`{"jsonrpc":"2.0","id":"attach"}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","error":null}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","result":null}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","result":{},"error":"no"}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","error":{}}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":7,"error":{"code":1002,"message":"of another request"}}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","error":{"code":1010,"data":{"name":"daemon_starting"}}}`, errDaemonGone, ""},
		{`{"jsonrpc":"2.0","id":"attach","error":{"code":1,"message":"` + strings.Repeat("<", frame.MaxOut/2) + `"}}`, ErrRefused, "result_too_large"},
	} {
		received, err := grantOf(t, []byte(tt.answer))
		if !errors.Is(err, tt.ends) {
			t.Errorf("%.80s: %v, want %v", tt.answer, err, tt.ends)
		}
		if got := string(bytes.Join(received, nil)); got != tt.received && (tt.received != "result_too_large" || !strings.Contains(got, tt.received)) {
			t.Errorf("%.80s: the browser hears %.80s", tt.answer, got)
		}
	}
}

func TestRefusalIsPassedOn(t *testing.T) {
	d := newDaemon(t)
	d.refuse = func(int) *protocol.Error { return protocol.New("busy", "").With("connections", "64") }
	b := start(t, d, nil)
	b.expectFault(t, "busy")
	if err := b.wait(t, time.Second); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
}

// TestRefusedBeforeItSpoke uses a daemon without room, which sends the error and closes
// without reading.
func TestRefusedBeforeItSpoke(t *testing.T) {
	d := newDaemon(t)
	b := start(t, nil, func(c *Config) {
		c.Connect = func(context.Context, bool) (net.Conn, error) {
			near, err := net.Dial("unix", d.listener.Addr().String())
			if err != nil {
				return nil, err
			}
			other, err := d.listener.Accept()
			if err != nil {
				return nil, err
			}
			return near, errors.Join(WriteFault(other, protocol.New("busy", "")), other.Close())
		}
	})
	b.expectFault(t, "busy")
	if err := b.wait(t, time.Second); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
}

func TestDaemonLost(t *testing.T) {
	t.Run("never there", func(t *testing.T) {
		b := start(t, nil, func(c *Config) {
			c.Connect = func(context.Context, bool) (net.Conn, error) { return nil, errors.New("no such program") }
		})
		b.expectFault(t, "daemon_lost")
		if err := b.wait(t, time.Second); !errors.Is(err, ErrDaemonLost) {
			t.Fatal(err)
		}
	})
	t.Run("does not come back", func(t *testing.T) {
		d := newDaemon(t)
		d.behave = func(net.Conn, int) { time.Sleep(50 * time.Millisecond) }
		var once sync.Once
		b := start(t, d, func(c *Config) {
			c.Window = 300 * time.Millisecond
			dial := c.Connect
			c.Connect = func(ctx context.Context, again bool) (conn net.Conn, err error) {
				once.Do(func() { conn, err = dial(ctx, again) })
				if conn == nil && err == nil {
					<-ctx.Done()
					err = ctx.Err()
				}
				return conn, err
			}
		})
		b.expect(t, hello1)
		b.expectFault(t, "daemon_lost")
		if err := b.wait(t, time.Second); !errors.Is(err, ErrDaemonLost) {
			t.Fatal(err)
		}
	})
	t.Run("dies at every start", func(t *testing.T) {
		d := newDaemon(t)
		d.behave = func(net.Conn, int) {}
		b := start(t, d, func(c *Config) { c.Window = 500 * time.Millisecond })
		go func() {
			for {
				if _, err := b.out.Read(); err != nil {
					return
				}
			}
		}()
		if err := b.wait(t, 3*time.Second); !errors.Is(err, ErrDaemonLost) {
			t.Fatal(err)
		}
		if n := d.conns.Load(); n < 2 || n > 12 {
			t.Fatalf("%d attempts in half a second", n)
		}
	})
}

func TestStalledBrowser(t *testing.T) {
	d := newDaemon(t)
	closed := make(chan struct{})
	d.behave = func(conn net.Conn, _ int) {
		_, _ = io.Copy(io.Discard, conn)
		close(closed)
	}
	b := start(t, d, func(c *Config) { c.Stall = 100 * time.Millisecond })
	if err := b.wait(t, time.Second); !errors.Is(err, ErrStalled) { // nobody reads the hello
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(time.Second):
		t.Fatal("the daemon was left with a dead connection")
	}
}

// TestFaultyDaemon checks that invalid frames of the daemon do not reach the browser.
func TestFaultyDaemon(t *testing.T) {
	d := newDaemon(t)
	d.behave = func(conn net.Conn, _ int) {
		_, _ = conn.Write([]byte{0, 0, 0, 0})
		_, _ = conn.Write(append([]byte{1, 0, 16, 0}, bytes.Repeat([]byte{'x'}, frame.MaxOut+1)...))
		_, _ = conn.Write([]byte{2, 0, 0, 0, '{', '}'})
		_, _ = io.Copy(io.Discard, conn)
	}
	b := start(t, d, nil)
	b.expect(t, hello1)
	b.expectFault(t, "result_too_large")
	b.expect(t, `{}`)
}

type endless struct {
	frame []byte
	taken atomic.Int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		at := int(e.taken.Load()) % len(e.frame)
		got := copy(p[n:], e.frame[at:])
		n += got
		e.taken.Add(int64(got))
	}
	return n, nil
}

// TestBackPressure checks that a daemon that reads nothing limits how much the relay
// reads from the browser.
func TestBackPressure(t *testing.T) {
	d := newDaemon(t)
	d.behave = deaf
	var flood bytes.Buffer
	if err := frame.NewWriter(&flood).Write(bytes.Repeat([]byte{'x'}, 100_000)); err != nil {
		t.Fatal(err)
	}
	source := &endless{frame: flood.Bytes()}
	b := start(t, d, func(c *Config) { c.In = source })
	b.expect(t, hello1)
	time.Sleep(200 * time.Millisecond)
	before := source.taken.Load()
	time.Sleep(200 * time.Millisecond)
	if after := source.taken.Load(); after != before || after > 2<<20 {
		t.Fatalf("took %d, then %d bytes for a daemon that takes none", before, after)
	}
}

func TestTenThousandAtOnce(t *testing.T) {
	b := start(t, newDaemon(t), nil)
	b.expect(t, hello1)
	const many = 10_000
	go func() {
		for n := range many {
			_ = b.in.Write(fmt.Appendf(nil, `{"id":%d}`, n))
		}
	}()
	for n := range many {
		body, err := b.out.Read()
		if want := fmt.Sprintf(`{"id":%d}`, n); err != nil || string(body) != want {
			t.Fatalf("got %s, %v; want %s", body, err, want)
		}
	}
}
