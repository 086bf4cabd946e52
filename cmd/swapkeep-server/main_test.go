//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"swapkeep/test/await"
)

const (
	testKey   = "test-key-of-no-service-1234"
	testToken = "test-token-of-no-installation"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "swapkeep-server")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "swapkeep-server")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as released; the race detector's tests have it on
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // regardless of the umask
		t.Fatal(err)
	}
	return path
}

// settings returns a configuration; top goes before its tables, tables after them.
func settings(upstream, host, top, tables string) string {
	return fmt.Sprintf("listen = \"127.0.0.1:0\"\nupstream = %q\nhosts = [%q]\n%s\n"+
		"[fee]\nbips = 20\nrecipient = \"0x90F79bf6EB2c4f870365E785982E1f101E93b906\"\n"+
		"[[tokens]]\nname = \"one\"\nsha256 = \"%x\"\n"+
		"[limits]\nrate = 1000.0\nburst = 1000\nshare = 1.0\nrunning = 256\n%s\n", upstream, host, top, sha256.Sum256([]byte(testToken)), tables)
}

// A server is a running binary.
type server struct {
	cmd   *exec.Cmd
	lines chan map[string]any
	ended chan error
	log   *strings.Builder // complete after ended was received
}

// start runs the proxy command; with passed it passes a socket as systemd does.
func start(t *testing.T, config string, passed *os.File, env ...string) *server {
	t.Helper()
	return startCommand(t, "proxy", config, passed, env...)
}

func startCommand(t *testing.T, command, config string, passed *os.File, env ...string) *server {
	t.Helper()
	args := []string{command, "--sandbox", "--config", config}
	cmd := exec.Command(binary, args...)
	if passed != nil {
		cmd = exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`, binary}, args...)...)
		cmd.ExtraFiles = []*os.File{passed}
	}
	cmd.Env = append(os.Environ(), env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: cmd, lines: make(chan map[string]any, 64), ended: make(chan error, 1), log: &strings.Builder{}}
	go func() {
		for in := bufio.NewScanner(stderr); in.Scan(); {
			s.log.WriteString(in.Text() + "\n")
			var line map[string]any
			if json.Unmarshal(in.Bytes(), &line) == nil {
				select {
				case s.lines <- line:
				default:
				}
			}
		}
		s.ended <- cmd.Wait()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return s
}

// told waits for a log line with that message and returns its address field.
func (s *server) told(t *testing.T, message string) string {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case line := <-s.lines:
			if line["message"] == message {
				a, _ := line["address"].(string)
				return a
			}
		case err := <-s.ended:
			t.Fatalf("ended before %q: %v\n%s", message, err, s.log)
		case <-limit:
			t.Fatalf("no %q in time", message)
		}
	}
}

func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("ended with %v\n%s", err, s.log)
		}
	case <-time.After(20 * time.Second):
		t.Error("did not end in time")
	}
	if strings.Contains(s.log.String(), testKey) {
		t.Error("the key is in the log")
	}
}

// newProvider answers after a delay and counts the calls that have the key.
func newProvider(t *testing.T, delay time.Duration) (*httptest.Server, *atomic.Int64) {
	var calls atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == testKey {
			calls.Add(1)
		}
		time.Sleep(delay)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"requestId":"r1"}`)
	}))
	t.Cleanup(s.Close)
	return s, &calls
}

func ask(ctx context.Context, c *http.Client, base string) error {
	return askAs(ctx, c, base, testToken)
}

func askAs(ctx context.Context, c *http.Client, base, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/check_approval", strings.NewReader(`{"chainId":1}`))
	if err != nil {
		return err
	}
	r.Host = "dex.example"
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != 200 || string(body) != `{"requestId":"r1"}`) {
		err = fmt.Errorf("%d %s", res.StatusCode, body)
	}
	return err
}

func TestServesWithKeyFileAndMetrics(t *testing.T) {
	up, calls := newProvider(t, 0)
	key := write(t, "key", testKey+"\n", 0o600)
	config := write(t, "c.toml", settings(up.URL+"/v1", "dex.example", fmt.Sprintf("metrics = \"127.0.0.1:0\"\nkey_file = %q", key), ""), 0o644)
	s := start(t, config, nil)
	metrics := s.told(t, "metrics")
	if err := ask(t.Context(), http.DefaultClient, "http://"+s.told(t, "serving")); err != nil || calls.Load() != 1 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	if text := fetched(t, "http://"+metrics+"/metrics"); !strings.Contains(text, `{endpoint="/check_approval",outcome="2xx"} 1`) {
		t.Errorf("metrics: %s", text)
	}
	s.stop(t)
}

// TestServesTLS: TLS is served with both HTTP protocols.
func TestServesTLS(t *testing.T) {
	up, _ := newProvider(t, 0)
	cert, key, pool := certificate(t)
	config := write(t, "c.toml", settings(up.URL+"/v1", "dex.example", "", fmt.Sprintf("[tls]\ncert = %q\nkey = %q", cert, key)), 0o644)
	s := start(t, config, nil, keyVariable+"="+testKey)
	address := s.told(t, "serving")
	for _, h2 := range []bool{true, false} {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
		if err := ask(t.Context(), &http.Client{Transport: tr}, "https://"+address); err != nil {
			t.Errorf("h2 %v: %v", h2, err)
		}
		tr.CloseIdleConnections()
	}
	s.stop(t)
}

func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, k.Public(), k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(text))
	return write(t, "cert", text, 0o644), write(t, "tls", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), 0o600), pool
}

func TestRefusesToStart(t *testing.T) {
	const up = "http://127.0.0.1:1/v1"
	open, closed := write(t, "open", testKey, 0o644), write(t, "closed", testKey, 0o600)
	short := write(t, "short", "se", 0o600)
	good := settings(up, "a", "", "")
	env := []string{keyVariable + "=" + testKey}
	for name, c := range map[string]struct {
		config string
		env    []string
		says   string
	}{
		"no key":          {good, nil, "no api key"},
		"empty key":       {good, []string{keyVariable + "="}, "no api key"},
		"bad key":         {good, []string{keyVariable + "=a b c d e f g h"}, "malformed"},
		"open key file":   {settings(up, "a", fmt.Sprintf("key_file = %q", open), ""), nil, "must be 0600"},
		"short key file":  {settings(up, "a", fmt.Sprintf("key_file = %q", short), ""), nil, "malformed"},
		"key twice":       {settings(up, "a", fmt.Sprintf("key_file = %q", closed), ""), env, "set twice"},
		"unknown key":     {settings(up, "a", "api_key = \"x\"", ""), env, "unknown key api_key"},
		"unknown limit":   {settings(up, "a", "", "rates = 1"), env, "unknown key limits.rates"},
		"plain off loop":  {strings.Replace(good, "127.0.0.1:0", "0.0.0.0:0", 1), env, "set tls.cert and tls.key"},
		"metrics outside": {settings(up, "a", "metrics = \"0.0.0.0:0\"", ""), env, "not loopback"},
		"half of tls":     {settings(up, "a", "", "[tls]\ncert = \"a\""), env, "both cert and key"},
		"upstream":        {settings("https://api.example/v1", "a", "", ""), env, "the sandbox reaches nothing else"},
		"no tokens":       {strings.Replace(good, "[[tokens]]", "[[tokens_]]", 1), env, "unknown key"},
		"tokens twice":    {settings(up, "a", "tokens_file = \"x\"", ""), env, "either in [[tokens]] or in tokens_file"},
		"open tokens":     {withTokens(settings(up, "a", "", ""), write(t, "t.toml", entryOf("a", testToken), 0o666)), env, "chmod go-w"},
		"checksum":        {strings.Replace(good, "0x90F79bf6EB2c", "0x90f79bf6EB2c", 1), env, "EIP-55"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary, "proxy", "--sandbox", "--config", write(t, "c.toml", c.config, 0o644))
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) || strings.Contains(string(out), testKey) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	cmd := exec.CommandContext(t.Context(), binary, "proxy", "--config", write(t, "c.toml", good, 0o644))
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "must be https") {
		t.Errorf("http without --sandbox: %v %s", err, out)
	}
}

// entryOf returns a token's entry in the configuration.
func entryOf(name, text string) string {
	return fmt.Sprintf("[[tokens]]\nname = %q\nsha256 = \"%x\"\n", name, sha256.Sum256([]byte(text)))
}

// withTokens returns a configuration whose tokens are in a separate file.
func withTokens(config, path string) string {
	return fmt.Sprintf("tokens_file = %q\n", path) + strings.Replace(config, entryOf("one", testToken), "", 1)
}

// TestTokensChangeWithoutRestart: a token is added and another withdrawn while the proxy
// runs, by SIGHUP and by the change of the file; a file that cannot be read changes
// nothing.
func TestTokensChangeWithoutRestart(t *testing.T) {
	up, _ := newProvider(t, 0)
	tokens := write(t, "tokens.toml", entryOf("one", testToken), 0o600)
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := write(t, "c.toml", withTokens(settings(up.URL+"/v1", "dex.example", "metrics = \"127.0.0.1:0\"", ""), tokens), 0o644)
	s := start(t, config, nil, keyVariable+"="+testKey)
	metrics := "http://" + s.told(t, "metrics") + "/metrics"
	base := "http://" + s.told(t, "serving")
	may := func(token string, want bool) {
		t.Helper()
		if err := askAs(t.Context(), http.DefaultClient, base, token); (err == nil) != want {
			t.Errorf("%s: %v", token, err)
		}
	}
	const other = "another-token-of-no-installation"
	may(testToken, true)
	may(other, false)
	rewrite(entryOf("one", testToken) + entryOf("two", other))
	s.hangUp(t, "tokens reloaded")
	may(testToken, true)
	may(other, true)
	if text := fetched(t, metrics); !strings.Contains(text, "swapkeep_keyproxy_installations 2\n") {
		t.Errorf("metrics: %s", text)
	}
	rewrite("[[tokens]]\nname = \"half a")
	s.hangUp(t, "cannot reload tokens; the previous ones stay valid")
	may(other, true)
	rewrite(entryOf("two", other))
	s.told(t, "tokens reloaded")
	may(testToken, false)
	may(other, true)
	rewrite("")
	s.hangUp(t, "cannot reload tokens; the previous ones stay valid")
	may(other, true)
	rewrite("tokens = []\n") // revokes the only token, as after a leak
	s.hangUp(t, "tokens reloaded")
	may(other, false)
	s.stop(t)
}

// TestOnlyTokenIsWithdrawn: the last token can also be removed from the configuration.
func TestOnlyTokenIsWithdrawn(t *testing.T) {
	up, _ := newProvider(t, 0)
	text := settings(up.URL+"/v1", "dex.example", "", "")
	config := write(t, "c.toml", text, 0o600)
	s := start(t, config, nil, keyVariable+"="+testKey)
	base := "http://" + s.told(t, "serving")
	if err := askAs(t.Context(), http.DefaultClient, base, testToken); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("tokens = []\n"+strings.Replace(text, entryOf("one", testToken), "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.hangUp(t, "tokens reloaded")
	if err := askAs(t.Context(), http.DefaultClient, base, testToken); err == nil {
		t.Error("a token that was withdrawn is let in")
	}
	s.stop(t)
}

// hangUp sends SIGHUP and waits for a log message.
func (s *server) hangUp(t *testing.T, word string) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.told(t, word)
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTokenCommand: the token command prints a valid entry of the tokens file, and its
// token is accepted.
func TestTokenCommand(t *testing.T) {
	var entry, secret strings.Builder
	cmd := exec.CommandContext(t.Context(), binary, "token", "Ann's \"laptop\"")
	cmd.Stdout, cmd.Stderr = &entry, &secret
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(secret.String())
	if len(text) < 22 || strings.Contains(entry.String(), text) || !strings.Contains(entry.String(), fmt.Sprintf("%x", sha256.Sum256([]byte(text)))) {
		t.Fatalf("entry %q", entry.String())
	}
	read, err := tokenSource{file: write(t, "t.toml", entry.String(), 0o600)}.read()
	if err != nil || len(read) != 1 || read[0].Name != "Ann's \"laptop\"" {
		t.Errorf("%+v, %v", read, err)
	}
}

// TestRestartDropsNothing restarts the binary under load, twice, on one passed socket:
// every request is answered once, with and without keep-alive.
func TestRestartDropsNothing(t *testing.T) {
	up, calls := newProvider(t, 20*time.Millisecond)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + ln.Addr().String()
	if err := ln.Close(); err != nil { // the file keeps the socket open
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	config := write(t, "c.toml", settings(up.URL+"/v1", "dex.example", "", ""), 0o644)
	run := func() *server {
		s := start(t, config, socket, keyVariable+"="+testKey)
		s.told(t, "serving")
		return s
	}
	s := run()
	ctx, cancel := context.WithCancel(t.Context())
	var sent atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		tr := &http.Transport{DisableKeepAlives: i%2 == 0}
		all.Go(func() {
			defer tr.CloseIdleConnections()
			for ctx.Err() == nil {
				sent.Add(1)
				if err := ask(t.Context(), &http.Client{Transport: tr, Timeout: 15 * time.Second}, base); err != nil {
					t.Errorf("dropped: %v", err)
				}
			}
		})
	}
	for range 2 {
		time.Sleep(300 * time.Millisecond)
		s.stop(t)
		s = run()
	}
	time.Sleep(300 * time.Millisecond)
	cancel()
	all.Wait()
	if sent.Load() < 100 || calls.Load() != sent.Load() {
		t.Errorf("%d requests, %d reached the provider", sent.Load(), calls.Load())
	}
	t.Logf("%d requests over two restarts", sent.Load())
	s.stop(t)
}

// TestStopFinishesWhatRuns: a running request is answered after SIGTERM.
func TestStopFinishesWhatRuns(t *testing.T) {
	up, calls := newProvider(t, 1500*time.Millisecond)
	config := write(t, "c.toml", settings(up.URL+"/v1", "dex.example", "", ""), 0o644)
	s := start(t, config, nil, keyVariable+"="+testKey)
	base := "http://" + s.told(t, "serving")
	done := make(chan error, 1)
	go func() { done <- ask(t.Context(), &http.Client{Transport: &http.Transport{}}, base) }()
	await.Until(t, 10*time.Second, "the request reaches the provider", func() bool { return calls.Load() > 0 })
	s.stop(t)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestIdleConnectionIsServedALastTime: a request sent over a kept connection while
// SIGTERM arrives is answered, with "Connection: close".
func TestIdleConnectionIsServedALastTime(t *testing.T) {
	up, _ := newProvider(t, 0)
	config := write(t, "c.toml", settings(up.URL+"/v1", "dex.example", "", ""), 0o644)
	s := start(t, config, nil, keyVariable+"="+testKey)
	conn, err := net.Dial("tcp", s.told(t, "serving"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	call := func(last bool) {
		t.Helper()
		const body = `{"chainId":1}`
		if _, err := fmt.Fprintf(conn, "POST /v1/check_approval HTTP/1.1\r\nHost: dex.example\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", testToken, len(body), body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if res.StatusCode != http.StatusOK || res.Close != last {
			t.Errorf("got %d, close %v", res.StatusCode, res.Close)
		}
	}
	call(false)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.told(t, "stopping")
	call(true)
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}
