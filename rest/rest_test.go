package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"swapkeep/test/await"
)

const secret = "test-key-not-secret"

// quick returns limits for test servers.
func quick() Limits {
	return Limits{Attempt: 300 * time.Millisecond, Call: 2 * time.Second, Body: 1 << 10, Attempts: 3,
		Backoff: time.Millisecond, MaxWait: 1200 * time.Millisecond, Rate: rate.Inf, Burst: 100, Failures: 100, Open: 50 * time.Millisecond}
}

// serve returns a client of a test server with handler h.
func serve(t *testing.T, l Limits, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := New(Config{
		Name: "test", Base: s.URL + "/v1/", Reach: LoopbackOnly, Limits: l,
		Header:  http.Header{"x-fixed": {"yes"}},
		Secrets: func(context.Context) (http.Header, error) { return http.Header{"x-api-key": {secret}}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// later sets a client's clock forward. No call may be under way.
func later(c *Client, by time.Duration) {
	now := c.now
	c.now = func() time.Time { return now().Add(by) }
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that is gone gets its own error
}

func failure(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("no *Error: %v", err)
	}
	return e
}

func TestRequestAndReply(t *testing.T) {
	c := serve(t, quick(), func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got := fmt.Sprint(r.Method, r.URL, r.Header["Accept"], r.Header["Content-Type"], r.Header.Get("X-Fixed"), r.Header.Get("X-Api-Key"), r.Header.Get("X-One"), string(body), err)
		want := `POST/v1/quote?a=1[application/json][application/json]yes` + secret + `two{"n": 1.0 }<nil>`
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("got %s\nwant %s", got, want)
		}
		w.Header().Set("Date", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
		reply(w, 201, `{"ok":true}`)
	})
	r, err := c.Do(t.Context(), Call{Method: "POST", Path: "/quote", Query: map[string][]string{"a": {"1"}}, Header: http.Header{"X-One": {"two"}}, Body: []byte(`{"n": 1.0 }`)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != 201 || string(r.Body) != `{"ok":true}` {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	if skew, ok := r.Skew(); !ok || skew < 85*time.Second || skew > 91*time.Second {
		t.Errorf("skew %s, %v", skew, ok)
	}
	if _, ok := (&Reply{Header: http.Header{}}).Skew(); ok {
		t.Error("a clock skew was reported without a date")
	}
}

// TestRepetition checks which calls are repeated and which are not.
func TestRepetition(t *testing.T) {
	for _, x := range []struct {
		name       string
		call       Call
		status     int
		retryAfter string
		want       int32 // exchanges
	}{
		{"get", Call{Method: "GET"}, 503, "", 3},
		{"put", Call{Method: "PUT"}, 503, "", 3},
		{"post", Call{Method: "POST"}, 503, "", 1},
		{"repeatable post", Call{Method: "POST", Repeatable: true}, 503, "", 3},
		{"delete", Call{Method: "DELETE"}, 503, "", 1},
		{"a refusal", Call{Method: "GET"}, 400, "", 1},
		{"not found", Call{Method: "GET"}, 404, "", 1},
		{"busy", Call{Method: "GET"}, 429, "", 3},
		{"busy, zero", Call{Method: "GET"}, 429, "0", 3},
		{"busy for long", Call{Method: "GET"}, 429, "3", 1},
		{"never comes back", Call{Method: "GET"}, 503, "99999999999", 3}, // an absurd value is ignored
		{"gateway", Call{Method: "GET"}, 504, "", 3},
	} {
		t.Run(x.name, func(t *testing.T) {
			var calls atomic.Int32
			c := serve(t, quick(), func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Retry-After", x.retryAfter)
				reply(w, x.status, `{"errorCode":"Code","detail":"text"}`)
			})
			x.call.Path = "/x"
			_, err := c.Do(t.Context(), x.call)
			e := failure(t, err)
			if calls.Load() != x.want || e.Status != x.status || e.Code != "Code" || e.Detail != "text" || !e.JSON {
				t.Errorf("%d exchanges, %+v", calls.Load(), e)
			}
		})
	}
}

// TestRetryAfterIsObeyed checks that, within limits, the next exchange waits as asked,
// and that other calls are held back meanwhile.
func TestRetryAfterIsObeyed(t *testing.T) {
	var calls atomic.Int32
	c := serve(t, quick(), func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			reply(w, 429, `{}`)
			return
		}
		reply(w, 200, `{}`)
	})
	begun := time.Now()
	done := make(chan error, 1)
	go func() {
		_, err := c.Do(context.Background(), Call{Method: "GET", Path: "/x"})
		done <- err
	}()
	await.Until(t, 10*time.Second, "the pause asked for", func() bool { return c.pause.left(c.now()) > 0 })
	if e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/y"}))); e.Kind != Throttled || !e.Temporary() || e.RetryAfter <= 0 {
		t.Errorf("meanwhile: %+v", e)
	}
	if err := <-done; err != nil || time.Since(begun) < time.Second || calls.Load() != 2 {
		t.Errorf("%v after %s, %d exchanges", err, time.Since(begun), calls.Load())
	}
}

func second(_ *Reply, err error) error { return err }

func TestRetryAfterForms(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for v, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "1.5": 0,
		now.Add(time.Minute).UTC().Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).UTC().Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %s, want %s", v, got, want)
		}
	}
}

func TestBackoffGrowsAndVaries(t *testing.T) {
	seen := map[time.Duration]bool{}
	for n := 1; n < 40; n++ {
		d := backoff(100*time.Millisecond, n)
		top := 100 * time.Millisecond << min(n-1, 6)
		if d < top/2 || d > top {
			t.Errorf("exchange %d waits %s, not %s to %s", n, d, top/2, top)
		}
		seen[d] = true
	}
	if len(seen) < 20 {
		t.Errorf("only %d different waits", len(seen))
	}
}

func TestKinds(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, x := range map[string]struct {
		do        http.HandlerFunc
		want      Kind
		temporary bool
	}{
		"page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<p>")
		}, NotJSON, false},
		"redirect": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, Redirected, false},
		"large":    {func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, strings.Repeat("a", 1<<10+1)) }, TooLarge, false},
		"broken":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unreachable, true},
		"silent":   {func(_ http.ResponseWriter, r *http.Request) { <-either(r.Context().Done(), release) }, TimedOut, true},
		"slow body": {func(w http.ResponseWriter, r *http.Request) {
			reply(w, 200, "{")
			w.(http.Flusher).Flush()
			<-either(r.Context().Done(), release)
		}, TimedOut, true},
		"500 page": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, BadStatus, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, quick(), x.do)
			e := failure(t, second(c.Do(t.Context(), Call{Method: "POST", Path: "/x"})))
			if e.Kind != x.want || e.Temporary() != x.temporary {
				t.Errorf("%+v", e)
			}
			if e.Error() == "" || !strings.HasPrefix(e.Error(), "test: POST /x: ") {
				t.Error(e)
			}
		})
	}
	exact := serve(t, quick(), func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, strings.Repeat("1", 1<<10)) })
	if _, err := exact.Do(t.Context(), Call{Method: "GET", Path: "/x"}); err != nil {
		t.Errorf("a body of exactly the limit: %v", err)
	}
}

func either(a <-chan struct{}, b <-chan struct{}) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		select {
		case <-a:
		case <-b:
		}
	}()
	return out
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	base := s.URL
	s.Close()
	c, err := New(Config{Name: "test", Base: base, Reach: LoopbackOnly, Limits: quick()})
	if err != nil {
		t.Fatal(err)
	}
	e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})))
	if e.Kind != Unreachable || strings.Contains(e.Error(), base) {
		t.Errorf("error = %v, want unreachable, without the address", e)
	}
}

// TestSecrets checks that no secret comes out, however the service repeats it, and that
// nothing is sent without the secret it needs.
func TestSecrets(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"in the code": func(w http.ResponseWriter, _ *http.Request) { reply(w, 400, `{"errorCode":"`+secret+`"}`) },
		"at the text's end": func(w http.ResponseWriter, _ *http.Request) {
			reply(w, 400, `{"detail":"`+strings.Repeat("a", maxDetail-5)+secret+`"}`)
		},
		"in the content type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", secret)
			w.WriteHeader(200)
		},
		"in a broken reply": func(w http.ResponseWriter, _ *http.Request) {
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = buf.WriteString(secret + " nonsense\r\n\r\n")
			_ = buf.Flush()
			_ = conn.Close()
		},
	} {
		c := serve(t, quick(), h)
		e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})))
		for _, part := range []string{e.Error(), fmt.Sprintf("%+v", *e), fmt.Sprint(e.Err)} {
			if strings.Contains(part, secret[:5]) {
				t.Errorf("%s: %s", name, part)
			}
		}
	}
	var calls atomic.Int32
	c := serve(t, quick(), func(w http.ResponseWriter, r *http.Request) { // repeats the token without its scheme
		reply(w, 400, `{"detail":"`+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}`)
	})
	c.config.Secrets = func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + secret}}, nil
	}
	if e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"}))); strings.Contains(fmt.Sprintf("%+v", *e), secret) || e.Detail != redacted {
		t.Errorf("a token comes back: %+v", *e)
	}
	c = serve(t, quick(), func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	c.config.Secrets = func(context.Context) (http.Header, error) { return nil, errors.New("locked") }
	if e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"}))); e.Kind != NoCredentials || calls.Load() != 0 {
		t.Errorf("%v, %d calls", e, calls.Load())
	}
}

func TestCircuit(t *testing.T) {
	var calls atomic.Int32
	var well atomic.Bool
	l := quick()
	l.Failures, l.Attempts = 3, 1
	c := serve(t, l, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if well.Load() {
			reply(w, 200, `{}`)
			return
		}
		reply(w, 500, `{}`)
	})
	get := func() error { return second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})) }
	for range 3 {
		if e := failure(t, get()); e.Kind != BadStatus {
			t.Fatal(e)
		}
	}
	if e := failure(t, get()); e.Kind != CircuitOpen || !e.Temporary() || calls.Load() != 3 {
		t.Errorf("%v after %d exchanges", e, calls.Load())
	}
	well.Store(true)
	later(c, 2*l.Open)
	for range 3 {
		if err := get(); err != nil {
			t.Errorf("it works again: %v", err)
		}
	}
	// Refusals of the request are not failures of the service.
	fine := serve(t, l, func(w http.ResponseWriter, _ *http.Request) { reply(w, 400, `{}`) })
	for range 10 {
		if e := failure(t, second(fine.Do(t.Context(), Call{Method: "GET", Path: "/x"}))); e.Kind != BadStatus {
			t.Fatal(e)
		}
	}
}

// TestCircuitProbe checks that a probe that times out opens the circuit again, and that
// after a probe that its caller gave up the next call is one; neither blocks for ever.
func TestCircuitProbe(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var mode atomic.Int32
	l := quick()
	l.Failures, l.Attempts = 1, 1
	c := serve(t, l, func(w http.ResponseWriter, r *http.Request) {
		switch mode.Load() {
		case 0:
			reply(w, 500, `{}`)
		case 1:
			<-either(r.Context().Done(), release)
		default:
			reply(w, 200, `{}`)
		}
	})
	if err := second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err == nil {
		t.Fatal("no failure")
	}
	mode.Store(1)
	later(c, 2*l.Open)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := second(c.Do(ctx, Call{Method: "GET", Path: "/x"})); err == nil {
		t.Fatal("no failure")
	}
	mode.Store(2)
	if e := failure(t, second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"}))); e.Kind != CircuitOpen {
		t.Error("after a probe without an answer:", e)
	}
	mode.Store(1)
	later(c, 2*l.Open)
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := second(c.Do(ctx, Call{Method: "GET", Path: "/x"})); err == nil {
		t.Fatal("no failure")
	}
	mode.Store(2)
	if err := second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err != nil {
		t.Error("after a probe that was given up:", err)
	}
}

func TestRateLimit(t *testing.T) {
	l := quick()
	l.Rate, l.Burst = 50, 1
	c := serve(t, l, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{}`) })
	begun := time.Now()
	for range 6 {
		if err := second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 95*time.Millisecond {
		t.Errorf("6 calls at 50 a second took %s", took)
	}
	l.Rate, l.Call = 0.01, 50*time.Millisecond
	slow := serve(t, l, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{}`) })
	if err := second(slow.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err != nil {
		t.Fatal(err)
	}
	if e := failure(t, second(slow.Do(t.Context(), Call{Method: "GET", Path: "/x"}))); e.Kind != Throttled {
		t.Error(e)
	}
}

func TestCancelled(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := serve(t, quick(), func(_ http.ResponseWriter, r *http.Request) { <-either(r.Context().Done(), release) })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	begun := time.Now()
	err := second(c.Do(ctx, Call{Method: "GET", Path: "/x"}))
	if !errors.Is(err, context.Canceled) || time.Since(begun) > 200*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	var e *Error
	if errors.As(err, &e) {
		t.Errorf("the caller's own act looks like the service's failure: %v", e)
	}
}

// TestConnections checks that calls in a row share one connection, and that concurrent
// ones are bounded.
func TestConnections(t *testing.T) {
	var mu sync.Mutex
	opened := map[string]bool{}
	running, maxRunning := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		maxRunning = max(maxRunning, running)
	}
	c := serve(t, quick(), func(w http.ResponseWriter, r *http.Request) {
		count(1)
		defer count(-1)
		mu.Lock()
		opened[r.RemoteAddr] = true
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		reply(w, 200, `{}`)
	})
	for range 10 {
		if err := second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err != nil {
			t.Fatal(err)
		}
	}
	if len(opened) != 1 {
		t.Errorf("%d connections for calls in a row", len(opened))
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if err := second(c.Do(t.Context(), Call{Method: "GET", Path: "/x"})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if maxRunning < 2 || maxRunning > maxConnections {
		t.Errorf("%d calls at once on the wire", maxRunning)
	}
}

func TestBase(t *testing.T) {
	for _, x := range []struct {
		base  string
		reach Reach
		ok    bool
	}{
		{"https://host.example/v1", PublicOnly, true},
		{"https://host.example/v1/", PublicOrLoopback, true},
		{"http://host.example/v1", PublicOnly, false},
		{"http://host.example/v1", PublicOrLoopback, false},
		{"ftp://host.example", PublicOnly, false},
		{"https://user:pass@host.example", PublicOnly, false},
		{"https://host.example/?key=1", PublicOnly, false},
		{"https://host.example/#x", PublicOnly, false},
		{"host.example", PublicOnly, false},
		{"", PublicOnly, false},
		{"https:host.example", PublicOnly, false},
		{"https://", PublicOnly, false},
		{"https://%zz", PublicOnly, false},
		{"https://127.0.0.1", PublicOnly, false},
		{"https://localhost:8443", PublicOnly, false},
		{"https://LOCALHOST.", PublicOnly, false},
		{"https://x.localhost", PublicOnly, false},
		{"https://[::1]", PublicOnly, false},
		{"https://0.0.0.0", PublicOnly, false},
		{"https://[::ffff:127.0.0.1]", PublicOnly, false},
		{"http://127.0.0.1:5/v1", PublicOrLoopback, true},
		{"http://127.9.9.9:5/v1", LoopbackOnly, true},
		{"http://localhost:5/v1", LoopbackOnly, true},
		{"http://[::1]:5/v1", LoopbackOnly, true},
		{"https://host.example/v1", LoopbackOnly, false},
	} {
		if _, err := New(Config{Name: "test", Base: x.base, Reach: x.reach}); (err == nil) != x.ok {
			t.Errorf("%q with reach %d: %v", x.base, x.reach, err)
		}
	}
}

func TestReadFailure(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"errorCode":"A","detail":"b"}`:            {"A", "b"},
		`{"error":{"errorCode":102,"message":"m"}}`: {"102", "m"},
		`{"name":"N","message":"m"}`:                {"N", "m"},
		`{"error":"e"}`:                             {"", "e"},
		`{"code":true}`:                             {"", ""},
		`{"detail":"a\nb\u202ec\u0007"}`:            {"", "a bc"},
		`[]`:                                        {"", ""},
		`nonsense`:                                  {"", ""},
		`{"detail":"` + strings.Repeat("ä", maxDetail+1) + `"}`: {"", strings.Repeat("ä", maxDetail) + "…"},
	} {
		if code, detail := readFailure([]byte(body), nil); code != want[0] || detail != want[1] {
			t.Errorf("%.60s: %q %q", body, code, detail)
		}
	}
}

// TestEscapedSecret checks that a key is removed even if the service repeats it with JSON
// escapes or with characters that are not shown.
func TestEscapedSecret(t *testing.T) {
	for _, body := range []string{
		`{"detail":"bad key k3y\/with+sign"}`, `{"detail":"bad key \u006b3y/with+sign"}`, `{"detail":"bad key k3y\u200b/with+sign"}`,
		`{"errorCode":"k3y\/with\u002bsign"}`, `{"error":{"message":"k3y\/with+sign"}}`,
	} {
		code, detail := readFailure([]byte(body), http.Header{"Authorization": {"Bearer k3y/with+sign"}})
		if message := code + detail; !strings.Contains(message, redacted) || strings.Contains(message, "k3y") {
			t.Errorf("%s: %q", body, message)
		}
	}
}

// FuzzReadFailure checks that text from outside comes out printable, bounded and without
// a secret.
func FuzzReadFailure(f *testing.F) {
	for _, s := range []string{`{"errorCode":"A","detail":"b"}`, `{"error":{"code":1e308,"message":"\u0000"}}`, `{"name":"\ud800"}`, `[]`, `{"detail":"k\u0065y-of-the-user\u200b"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		code, detail := readFailure(body, planted)
		for _, s := range []string{code, detail} {
			if len([]rune(s)) > maxDetail+1 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '\u202e' }) || strings.Contains(s, plantedKey) {
				t.Fatalf("error text %q is too long, unprintable or has the key", s)
			}
		}
	})
}
