package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/test/await"

	"github.com/rs/zerolog"
)

// TestMain fails if the tests leave goroutines of this package behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(); left != "" {
			fmt.Fprintln(os.Stderr, "goroutines left behind:\n"+left)
			code = 1
		}
	}
	os.Exit(code)
}

func leaked() (stacks string) {
	await.Holds(5*time.Second, func() bool {
		buf := make([]byte, 1<<20)
		stacks = ""
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "swapkeep/host.") && !strings.Contains(g, "TestMain") {
				stacks += g + "\n\n"
			}
		}
		return stacks == ""
	})
	return stacks
}

// A rig is a server with fakes, listening on a real socket.
type rig struct {
	t        testing.TB
	server   *Server
	wallet   *fakeWallet
	swaps    *fakeSwaps
	networks *fakeNetworks
	tokens   *fakeTokens
	settings *fakeSettings
	provided *fakeProviderKeys
	log      *logBuffer
	addr     string
	stopped  chan struct{}
	cancel   context.CancelFunc
	serving  sync.WaitGroup
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newRig(t testing.TB, change ...func(*Config)) *rig { return newRigWaiting(t, nil, change...) }

// newRigWaiting is newRig with other timeouts.
func newRigWaiting(t testing.TB, waits func(*waits), change ...func(*Config)) *rig {
	r := &rig{
		t: t, wallet: newFakeWallet(), swaps: &fakeSwaps{}, networks: &fakeNetworks{}, settings: &fakeSettings{},
		tokens: &fakeTokens{}, provided: &fakeProviderKeys{},
		log: &logBuffer{}, stopped: make(chan struct{}),
	}
	c := Config{
		Wallet: r.wallet, Swaps: r.swaps, Networks: r.networks, Tokens: r.tokens, Settings: r.settings, ProviderKeys: r.provided, Prices: newFakePrices(),
		Version: "0.1.0", Home: "a1b2c3d4", Directory: "/home/user/.local/state/swapkeep",
		Errors: fakeSentinels, Diagnose: fakeDiagnosis, Stop: func() { close(r.stopped) }, Log: zerolog.New(r.log),
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if r.server, err = New(c); err != nil {
		t.Fatal(err)
	}
	if waits != nil {
		waits(&r.server.waits)
	}
	dir, err := os.MkdirTemp("", "host") // t.TempDir() is too long for a socket path
	if err != nil {
		t.Fatal(err)
	}
	r.addr = filepath.Join(dir, "s")
	l, err := net.Listen("unix", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			r.serving.Go(func() { _ = r.server.Serve(ctx, nc) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.server.Close()
		cancel()
		r.serving.Wait()
		_ = os.RemoveAll(dir)
	})
	return r
}

type peer struct {
	t     testing.TB
	nc    net.Conn
	in    *frame.Reader
	out   *frame.Writer
	notes []message // notifications that came before a reply that was waited for
	next  int
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
	raw    []byte
}

func (r *rig) dial() *peer {
	r.t.Helper()
	nc, err := net.Dial("unix", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
	return &peer{t: r.t, nc: nc, in: frame.NewReader(nc), out: frame.NewWriter(nc)}
}

const extension = "chrome-extension://abcdefghijklmnopabcdefghijklmnop/"

var attaches = map[string]protocol.AttachParams{
	"extension": {Kind: "browser", Origin: extension, Version: "0.1.0"},
	"terminal":  {Kind: "terminal", Origin: "terminal", Version: "0.1.0"},
	"unknown":   {Kind: "browser", Origin: "unknown", Version: "0.1.0"},
}

// attach connects as one of attaches and reads the greeting.
func (r *rig) attach(caller string) *peer {
	r.t.Helper()
	p := r.dial()
	if e := p.call("host.attach", attaches[caller]).Error; e != nil {
		r.t.Fatal(e)
	}
	if n := p.note(); n.Method != "host.hello" {
		r.t.Fatalf("greeted with %s", n.Method)
	}
	return p
}

func (r *rig) session() *peer {
	r.t.Helper()
	p := r.attach("extension")
	p.must("keys.unlock", map[string]any{"password": password})
	return p
}

func (p *peer) write(body string) {
	p.t.Helper()
	if err := p.out.Write([]byte(body)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read() (message, error) {
	body, err := p.in.Read()
	if err != nil {
		return message{}, err
	}
	m := message{raw: body}
	if err := json.Unmarshal(body, &m); err != nil {
		p.t.Errorf("not a message: %s", body)
	}
	return m, nil
}

// reply reads up to the next reply and keeps the notifications before it.
func (p *peer) reply() message {
	p.t.Helper()
	for {
		m, err := p.read()
		if err != nil {
			p.t.Fatalf("no reply: %v", err)
		}
		if m.Method == "" {
			return m
		}
		p.notes = append(p.notes, m)
	}
}

func (p *peer) note() message {
	p.t.Helper()
	if len(p.notes) == 0 {
		m, err := p.read()
		if err != nil || m.Method == "" {
			p.t.Fatalf("want a notification, got %s %v", m.raw, err)
		}
		return m
	}
	m := p.notes[0]
	p.notes = p.notes[1:]
	return m
}

func (p *peer) closed() bool {
	for {
		if _, err := p.read(); err != nil {
			var timeout net.Error
			if ok := asTimeout(err, &timeout); ok {
				return false
			}
			return true
		}
	}
}

func asTimeout(err error, to *net.Error) bool {
	ne, ok := err.(net.Error)
	*to = ne
	return ok && ne.Timeout()
}

func (p *peer) send(method string, params any) string {
	p.t.Helper()
	p.next++
	id := fmt.Sprintf("%d", p.next)
	if params == nil {
		params = struct{}{}
	}
	body, err := json.Marshal(protocol.Request{JSONRPC: "2.0", ID: json.RawMessage(id), Method: method, Params: params})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(string(body))
	return id
}

func (p *peer) call(method string, params any) message {
	p.t.Helper()
	id := p.send(method, params)
	m := p.reply()
	if string(m.ID) != id {
		p.t.Fatalf("reply to %s, want %s: %s", m.ID, id, m.raw)
	}
	return m
}

func (p *peer) must(method string, params any) message {
	p.t.Helper()
	m := p.call(method, params)
	if m.Error != nil {
		p.t.Fatalf("%s: %v", method, m.Error)
	}
	return m
}

func (p *peer) refused(name, method string, params any) *protocol.Error {
	p.t.Helper()
	m := p.call(method, params)
	if m.Error == nil || m.Error.Name != name {
		p.t.Fatalf("%s: want %s, got %s", method, name, m.raw)
	}
	return m.Error
}
