package inject_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/sandbox/inject"
)

const answer = `{"price":1.50,"list":[{"a/b":"x"}]}`

// serve starts a server that answers every request and counts those carried out.
func serve(t *testing.T) (*inject.Book, string, *atomic.Int64) {
	t.Helper()
	book, done := &inject.Book{}, &atomic.Int64{}
	carryOut := func(w http.ResponseWriter, _ *http.Request) {
		done.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		book.Decide(r.URL.Path).Serve(w, r, carryOut, nil, nil)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(book.Reset) // runs first and releases held requests
	return book, srv.URL, done
}

type seen struct {
	status int
	body   string
	kind   string // content type
	retry  string // Retry-After
	err    error
}

func get(t *testing.T, url string, timeout time.Duration) seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true // a new connection each time, so that the client does not retry
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return seen{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return seen{resp.StatusCode, string(body), resp.Header.Get("Content-Type"), resp.Header.Get("Retry-After"), err}
}

func TestKinds(t *testing.T) {
	cases := []struct {
		name    string
		rule    inject.Rule
		timeout time.Duration
		carried int64
		check   func(seen) bool
	}{
		{"rate limit as a page", inject.Rule{Kind: inject.HTTP, Status: 429}, time.Minute, 0, func(s seen) bool {
			return s.status == 429 && strings.HasPrefix(s.kind, "text/html") && strings.Contains(s.body, "Too Many Requests")
		}},
		{"status 500 unless named", inject.Rule{Kind: inject.HTTP}, time.Minute, 0, func(s seen) bool { return s.status == 500 }},
		{"own body", inject.Rule{Kind: inject.HTTP, Status: 504, Body: "<p>late"}, time.Minute, 0, func(s seen) bool { return s.status == 504 && s.body == "<p>late" }},
		{"garbage", inject.Rule{Kind: inject.Garbage}, time.Minute, 0, func(s seen) bool { return s.status == 200 && !json.Valid([]byte(s.body)) }},
		{"an rpc error where there is no rpc", inject.Rule{Kind: inject.Error}, time.Minute, 0, func(s seen) bool { return s.status == 500 }},
		{"delay", inject.Rule{Kind: inject.Delay, DelayMS: 1}, time.Minute, 1, func(s seen) bool { return s.body == answer }},
		{"delay beyond the timeout", inject.Rule{Kind: inject.Delay, DelayMS: 60_000}, 30 * time.Millisecond, 0, func(s seen) bool {
			return errors.Is(s.err, context.DeadlineExceeded)
		}},
		{"hold", inject.Rule{Kind: inject.Hold}, 30 * time.Millisecond, 0, func(s seen) bool { return errors.Is(s.err, context.DeadlineExceeded) }},
		{"stall", inject.Rule{Kind: inject.Stall}, 30 * time.Millisecond, 1, func(s seen) bool { return errors.Is(s.err, context.DeadlineExceeded) }},
		{"fail", inject.Rule{Kind: inject.Fail, Status: 503}, time.Minute, 1, func(s seen) bool {
			return s.status == 503 && strings.HasPrefix(s.kind, "text/html")
		}},
		{"drop", inject.Rule{Kind: inject.Drop}, time.Minute, 1, func(s seen) bool { return errors.Is(s.err, io.EOF) }},
		{"cut", inject.Rule{Kind: inject.Cut}, time.Minute, 1, func(s seen) bool {
			return s.status == 200 && errors.Is(s.err, io.ErrUnexpectedEOF) && s.body == answer[:len(answer)/2]
		}},
		{"truncate", inject.Rule{Kind: inject.Truncate}, time.Minute, 1, func(s seen) bool {
			return s.status == 200 && s.err == nil && s.body == answer[:len(answer)/2]
		}},
		{"trickle", inject.Rule{Kind: inject.Trickle, DelayMS: 16}, time.Minute, 1, func(s seen) bool { return s.err == nil && s.body == answer }},
		{"trickle beyond the timeout", inject.Rule{Kind: inject.Trickle, DelayMS: 600_000}, 30 * time.Millisecond, 1, func(s seen) bool {
			return s.status == 200 && errors.Is(s.err, context.DeadlineExceeded) && len(s.body) < len(answer)
		}},
		{"rate limit that says how long", inject.Rule{Kind: inject.HTTP, Status: 429, RetryAfter: 7}, time.Minute, 0, func(s seen) bool {
			return s.status == 429 && s.retry == "7"
		}},
		{"oversize", inject.Rule{Kind: inject.Oversize, Bytes: 100_000}, time.Minute, 1, func(s seen) bool {
			return len(s.body) == 100_000+len(answer) && json.Valid([]byte(s.body))
		}},
		{"lie", inject.Rule{Kind: inject.Lie, Pointer: "/list/0/a~1b", Value: json.RawMessage(`[7]`)}, time.Minute, 1, func(s seen) bool {
			return s.body == `{"list":[{"a/b":[7]}],"price":1.50}`
		}},
		{"a lie about nothing", inject.Rule{Kind: inject.Lie, Pointer: "/list/3", Value: json.RawMessage(`1`)}, time.Minute, 1, func(s seen) bool { return s.body == answer }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			book, url, done := serve(t)
			tc.rule.Target, tc.rule.Times = "/p*", 1
			if _, err := book.Add(tc.rule); err != nil {
				t.Fatal(err)
			}
			if s := get(t, url+"/path", tc.timeout); !tc.check(s) {
				t.Errorf("got %+v", s)
			}
			if got := done.Load(); got != tc.carried {
				t.Errorf("carried out %d times, want %d", got, tc.carried)
			}
			if s := get(t, url+"/path", time.Minute); s.body != answer {
				t.Errorf("after its one time: %+v", s)
			}
			if n := book.Counts()["/path"]; n != 2 {
				t.Errorf("%d requests counted", n)
			}
		})
	}
}

func TestLiesAndAFaultTogether(t *testing.T) {
	book, url, _ := serve(t)
	for _, r := range []inject.Rule{
		{Target: "/x", Kind: inject.Lie, Pointer: "/price", Value: json.RawMessage(`2`)},
		{Target: "/x", Kind: inject.Oversize, Bytes: 3},
		{Target: "/x", Kind: inject.HTTP}, // the older fault wins
		{Target: "/x", Kind: inject.Lie, Pointer: "/list", Value: json.RawMessage(`null`)},
	} {
		if _, err := book.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if s := get(t, url+"/x", time.Minute); s.body != `   {"list":null,"price":2}` {
		t.Errorf("got %+v", s)
	}
}

func TestSkipTimesAndRemoval(t *testing.T) {
	book, url, _ := serve(t)
	id, err := book.Add(inject.Rule{Target: "/x", Kind: inject.HTTP, Status: 503, Skip: 1, Times: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{200, 503, 503, 200} {
		if s := get(t, url+"/x", time.Minute); s.status != want {
			t.Errorf("request %d: %d, want %d", i, s.status, want)
		}
	}
	if !book.Remove(id) || book.Remove(id) || len(book.Rules()) != 0 {
		t.Error("a rule can be removed once")
	}
}

func TestBadRules(t *testing.T) {
	for _, r := range []inject.Rule{
		{Kind: inject.Drop},
		{Target: "*", Kind: "explode"},
		{Target: "*", Kind: inject.Drop, Times: -1},
		{Target: "*", Kind: inject.Delay},
		{Target: "*", Kind: inject.Delay, DelayMS: 3_600_000},
		{Target: "*", Kind: inject.Trickle},
		{Target: "*", Kind: inject.HTTP, RetryAfter: -1},
		{Target: "*", Kind: inject.HTTP, Status: 99},
		{Target: "*", Kind: inject.Fail, Status: 600},
		{Target: "*", Kind: inject.Lie, Pointer: "/a"},
		{Target: "*", Kind: inject.Lie, Pointer: "a", Value: json.RawMessage(`1`)},
		{Target: "*", Kind: inject.Oversize, Bytes: 1 << 40},
	} {
		if _, err := (&inject.Book{}).Add(r); !errors.Is(err, inject.ErrRule) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func FuzzReplace(f *testing.F) {
	for _, seed := range [][3]string{
		{answer, "/list/0/a~1b", `1`},
		{answer, "/price", `"x"`},
		{answer, "", `{}`},
		{`[1,2]`, "/1", `null`},
		{`{"~":1}`, "/~0", `2`},
		{`not json`, "/a", `1`},
		{`[]`, "/-1", `1`},
		{`{}`, "/\xff", `1`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, doc, pointer, value string) {
		if _, err := (&inject.Book{}).Add(inject.Rule{Target: "*", Kind: inject.Lie, Pointer: pointer, Value: json.RawMessage(value)}); err != nil {
			return
		}
		out, err := inject.Replace([]byte(doc), pointer, json.RawMessage(value))
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Errorf("no JSON: %q", out)
		}
		again, err := inject.Replace(out, pointer, json.RawMessage(value))
		if err != nil || (pointer != "" && string(again) != string(out)) {
			t.Errorf("a second time: %q, %v; first: %q", again, err, out)
		}
	})
}
