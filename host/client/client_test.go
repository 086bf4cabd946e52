package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
)

// roles are the hosts that the test binary can act as.
var roles = map[string]func(){
	"echo":  func() { answerAll(stdio{}) },
	"stays": func() { time.Sleep(time.Minute) },
	"fails": func() { os.Exit(7) },
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && roles[os.Args[1]] != nil {
		roles[os.Args[1]]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }

type request struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

// answerAll answers each request with its own parameters.
func answerAll(conn io.ReadWriter) {
	in, out := frame.NewReader(conn), frame.NewWriter(conn)
	for {
		body, err := in.Read()
		if err != nil {
			return
		}
		var q request
		if json.Unmarshal(body, &q) != nil {
			return
		}
		_ = out.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, q.Params))
	}
}

// far is the daemon's end of a client's connection, controlled by the test.
type far struct {
	t    *testing.T
	conn net.Conn
	in   *frame.Reader
	out  *frame.Writer
}

func connected(t *testing.T) (*Client, *far) {
	t.Helper()
	near, other := net.Pipe()
	c := New(near)
	t.Cleanup(func() { _, _ = c.Close(), other.Close() })
	return c, &far{t, other, frame.NewReader(other), frame.NewWriter(other)}
}

func (f *far) read() request {
	var q request
	body, err := f.in.Read()
	if err == nil {
		err = json.Unmarshal(body, &q)
	}
	if err != nil {
		f.t.Error(err)
	}
	return q
}

func (f *far) send(format string, args ...any) {
	if err := f.out.Write(fmt.Appendf(nil, format, args...)); err != nil {
		f.t.Error(err)
	}
}

func TestCall(t *testing.T) {
	c, f := connected(t)
	go answerAll(f.conn)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			var got struct{ N int }
			if err := c.Call(t.Context(), "m", map[string]int{"n": n}, &got); err != nil || got.N != n {
				t.Errorf("%d: %d, %v", n, got.N, err)
			}
		})
	}
	wg.Wait()
}

func TestCallFails(t *testing.T) {
	c, f := connected(t)
	wire := protocol.New("wrong_password", "").With("wait", "2s")
	go func() {
		q := f.read()
		body, _ := json.Marshal(protocol.Response{JSONRPC: "2.0", ID: q.ID, Error: wire})
		_ = f.out.Write(body)
		q = f.read()
		f.send(`{"jsonrpc":"2.0","id":%s,"result":"text"}`, q.ID)
		f.read() // no answer
	}()
	err := c.Call(t.Context(), "keys.unlock", nil, nil)
	var got *protocol.Error
	if !errors.As(err, &got) || got.Name != "wrong_password" || got.Data["wait"] != "2s" || got.Remedy == "" {
		t.Fatalf("Call: error %+v, want wrong_password with wait 2s and a remedy", err)
	}
	var number int
	if err := c.Call(t.Context(), "m", nil, &number); err == nil || errors.As(err, &got) {
		t.Fatalf("a result out of form: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "m", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("no answer: %v", err)
	}
	if len(c.waiting) != 0 {
		t.Fatalf("still waiting for %v", c.waiting)
	}
	if err := c.Call(t.Context(), "m", strings.Repeat("x", frame.MaxOut), nil); !errors.Is(err, frame.ErrOverLength) || errors.Is(err, ErrClosed) {
		t.Fatalf("a request over the limit: %v", err)
	}
	if err := c.Call(t.Context(), "m", func() {}, nil); err == nil {
		t.Fatal("a request that cannot be encoded")
	}
}

func TestEndOfConnection(t *testing.T) {
	for name, tt := range map[string]struct {
		last []byte
		says string
	}{
		"clean":                  {nil, ""},
		"cut short":              {[]byte{9, 0, 0, 0, '{'}, "unexpected EOF"},
		"no JSON":                {[]byte{2, 0, 0, 0, '{', '!'}, "not a message"},
		"zero":                   {[]byte{0, 0, 0, 0}, "zero length"},
		"an error without an id": {framed(`{"jsonrpc":"2.0","id":null,"error":{"code":1005,"message":"no","data":{"name":"origin_refused"}}}`), "origin_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := connected(t)
			go func() {
				f.read()
				_, _ = f.conn.Write(tt.last)
				_ = f.conn.Close()
			}()
			err := c.Call(t.Context(), "m", nil, nil)
			if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("the call: %v", err)
			}
			<-c.Done()
			if err := c.Call(t.Context(), "m", nil, nil); !errors.Is(err, ErrClosed) {
				t.Fatalf("a later call: %v", err)
			}
			if !errors.Is(c.Err(), ErrClosed) || c.Close() != nil {
				t.Fatalf("Err: %v", c.Err())
			}
		})
	}
}

func framed(body string) []byte {
	return append([]byte{byte(len(body)), byte(len(body) >> 8), 0, 0}, body...)
}

func TestFaultsAndNotifications(t *testing.T) {
	c, f := connected(t)
	go func() {
		f.send(`{"jsonrpc":"2.0","method":"host.hello","params":{"instance":"a"}}`)
		f.send(`{"jsonrpc":"2.0","id":null,"error":{"code":1000,"message":"m","data":{"name":"frame_zero"}}}`)
		f.send(`{"jsonrpc":"2.0","id":99,"result":{}}`) // answers no request
		f.send(`{"jsonrpc":"2.0","method":"swap.order","params":{"n":1}}`)
	}()
	if n := <-c.Notifications(); n.Method != "host.hello" || string(n.Params) != `{"instance":"a"}` {
		t.Fatalf("notification = %+v, want host.hello of instance a", n)
	}
	if fault := <-c.Faults(); fault.Name != "frame_zero" {
		t.Fatal(fault)
	}
	if n := <-c.Notifications(); n.Method != "swap.order" {
		t.Fatalf("notification = %+v, want swap.order", n)
	}
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
}

func TestNotificationsAreBounded(t *testing.T) {
	c, f := connected(t)
	const over = 10
	for n := range maxNotifications + over {
		f.send(`{"jsonrpc":"2.0","method":"swap.order","params":%d}`, n)
	}
	for range maxFaults + over {
		f.send(`{"jsonrpc":"2.0","id":null,"error":{"code":1000,"message":"m"}}`)
	}
	go func() { f.read(); f.send(`{"jsonrpc":"2.0","id":1,"result":{}}`) }()
	if err := c.Call(t.Context(), "m", nil, nil); err != nil {
		t.Fatal(err)
	}
	if n := <-c.Notifications(); string(n.Params) != fmt.Sprint(over) || c.Dropped() != over {
		t.Fatalf("the oldest is %s, %d dropped", n.Params, c.Dropped())
	}
	if len(c.Faults()) != maxFaults {
		t.Fatalf("%d faults kept", len(c.Faults()))
	}
}

// TestReplacedDaemon checks that a call fails if the daemon is replaced before it
// answers.
func TestReplacedDaemon(t *testing.T) {
	c, f := connected(t)
	go func() {
		f.send(`{"jsonrpc":"2.0","method":"host.hello","params":{}}`)
		f.read()
		f.send(`{"jsonrpc":"2.0","method":"host.hello","params":{}}`)
		q := f.read()
		f.send(`{"jsonrpc":"2.0","id":%s,"result":{}}`, q.ID)
	}()
	var wire *protocol.Error
	if err := c.Call(t.Context(), "swap.execute", nil, nil); !errors.As(err, &wire) || wire.Name != "daemon_lost" || !wire.Retryable {
		t.Fatalf("got %v", err)
	}
	if err := c.Call(t.Context(), "swap.execute", nil, nil); err != nil {
		t.Fatal(err)
	}
}

func TestTerminal(t *testing.T) {
	near, other := net.Pipe()
	f := &far{t, other, frame.NewReader(other), frame.NewWriter(other)}
	go func() {
		q := f.read()
		if q.Method != "host.attach" || string(q.Params) != `{"kind":"terminal","origin":"terminal","version":"1"}` {
			t.Errorf("%s %s", q.Method, q.Params)
		}
		f.send(`{"jsonrpc":"2.0","id":%s,"result":{}}`, q.ID)
	}()
	c, err := Terminal(t.Context(), near, "1")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()

	near, other = net.Pipe()
	f = &far{t, other, frame.NewReader(other), frame.NewWriter(other)}
	go func() {
		q := f.read()
		f.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":1002,"message":"m","data":{"name":"busy"}}}`, q.ID)
	}()
	var wire *protocol.Error
	if _, err := Terminal(t.Context(), near, "1"); !errors.As(err, &wire) || wire.Name != "busy" {
		t.Fatalf("got %v", err)
	}
}

// refusing returns a connection to a daemon without room: it sends the error and closes
// without reading.
func refusing(t *testing.T) net.Conn {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = other.Write(framed(`{"jsonrpc":"2.0","id":null,"error":{"code":1002,"message":"m","data":{"name":"busy"}}}`))
	_ = other.Close()
	return near
}

// TestRefusedBeforeItSpoke checks that a refusal is reported even if it came before the
// first message could be written.
func TestRefusedBeforeItSpoke(t *testing.T) {
	for range 20 {
		var wire *protocol.Error
		if _, err := Terminal(t.Context(), refusing(t), "1"); !errors.As(err, &wire) || wire.Name != "busy" {
			t.Fatalf("got %v", err)
		}
	}
}

func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(role string) *Process {
		p, err := Start(exec.Command(exe, role))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start("echo")
	var got struct{ N int }
	if err := p.Call(t.Context(), "m", map[string]int{"n": 3}, &got); err != nil || got.N != 3 {
		t.Fatalf("Call: result %d, %v, want 3", got.N, err)
	}
	for range 2 {
		if took, err := p.Stop(); err != nil || took >= exitTimeout {
			t.Fatalf("after %s: %v", took, err)
		}
	}
	if p.ExitCode() != 0 {
		t.Fatalf("exit status %d", p.ExitCode())
	}
	if p = start("fails"); p.ExitCode() != 7 {
		t.Fatalf("exit status %d", p.ExitCode())
	}
	if _, err := p.Stop(); err == nil {
		t.Fatal("a host that failed counts as stopped well")
	}
	if took, err := start("stays").Stop(); err == nil || took < exitTimeout {
		t.Fatalf("a host that stays: %s, %v", took, err)
	}
	if _, err := Start(exec.Command(exe + "-absent")); err == nil {
		t.Fatal("started nothing")
	}
}

// TestAnswerOfNothing checks that an answer without a result is not a success, even if
// the call ignores the result.
func TestAnswerOfNothing(t *testing.T) {
	for answer, ok := range map[string]bool{
		`{"jsonrpc":"2.0","id":1}`: false, `{"jsonrpc":"2.0","id":1,"error":null}`: false,
		`{"jsonrpc":"2.0","id":1,"result":null}`: true, `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`: true,
	} {
		if err := callAnswered(t, []byte(answer), nil); (err == nil) != ok {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// callAnswered returns the result of a call whose other end sends body and closes.
func callAnswered(t *testing.T, body []byte, result any) error {
	t.Helper()
	near, other := net.Pipe()
	c := New(near)
	go func() {
		defer func() { _ = other.Close() }()
		far := &far{t, other, frame.NewReader(other), frame.NewWriter(other)}
		if _, err := far.in.Read(); err == nil {
			_ = far.out.Write(body)
		}
	}()
	err := c.Call(context.WithoutCancel(t.Context()), "m", nil, result)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	return err
}

// FuzzTake checks that a call always ends, succeeds only with an answer to it that has a
// result and no error, and fails with the answer's own error.
func FuzzTake(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":[1]},"error":null}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`))
	f.Add([]byte(`{"id":1}`))
	f.Add([]byte(`{"method":"host.hello"}`))
	f.Add([]byte(`{"id":null,"error":null}`))
	f.Add([]byte(`{"id":null,"error":{"code":1009,"message":"m","data":{"name":"daemon_lost"}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var result json.RawMessage
		err := callAnswered(t, body, &result)
		var m message
		read := json.Unmarshal(body, &m) == nil
		ours := read && m.Method == "" && string(m.ID) == "1"
		var reply *protocol.Error
		switch {
		case err == nil && (!ours || m.Error != nil || !bytes.Equal(result, m.Result)):
			t.Fatalf("%q: a call ends well, with %q", body, result)
		case err != nil && ours && m.Error == nil && m.Result != nil:
			t.Fatalf("%q: %v", body, err)
		case errors.As(err, &reply) && (!read || m.Error == nil || reply.Name != m.Error.Name || reply.Code != m.Error.Code):
			t.Fatalf("%q: the call ends with another error: %v", body, err)
		case err != nil && !ours && !errors.Is(err, ErrClosed):
			t.Fatalf("%q: %v does not say that the connection has ended", body, err)
		}
	})
}
