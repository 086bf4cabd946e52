package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func linesClient(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := New(Config{Name: "test", Base: srv.URL, Reach: LoopbackOnly, Limits: Limits{Attempt: 200 * time.Millisecond, Call: time.Second, Body: 64, Attempts: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestStream checks that each line is passed on once, including a last one without
// newline, and that every failure is reported.
func TestStream(t *testing.T) {
	own := errors.New("not this one")
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		lines []string
		fail  error // returned by the line function at the second line
		kind  Kind
		body  string
	}{
		{"lines", say(200, ndjsonType, "{\"a\":1}\n\n  {\"a\":2}\r\n{\"a\":3}"), []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}, nil, "", ""},
		{"nothing", say(200, ndjsonType, ""), nil, nil, "", ""},
		{"plain json", say(200, jsonType, `{"routes":[]}`), nil, nil, "", `{"routes":[]}`},
		{"refused by the reader", say(200, ndjsonType, "1\n2\n3\n"), []string{"1", "2"}, own, "", ""},
		{"a failure", say(429, jsonType, `{}`), nil, nil, BadStatus, ""},
		{"a failure in lines", say(500, ndjsonType, "1\n"), nil, nil, BadStatus, ""},
		{"too many", say(200, ndjsonType, strings.Repeat("123\n", 30)), nil, nil, TooLarge, ""},
		{"a line without end", say(200, ndjsonType, strings.Repeat("1", 100)), nil, nil, TooLarge, ""},
		{"something else", say(200, "text/html", "1\n"), nil, nil, NotJSON, ""},
		{"a stalled stream", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", ndjsonType)
			fmt.Fprintln(w, "1")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, []string{"1"}, nil, TimedOut, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			reply, err := linesClient(t, c.serve).Stream(t.Context(), Call{Method: http.MethodPost, Path: "/q", Body: []byte("{}")}, func(head *Reply, b []byte) error {
				if _, ok := head.Skew(); !ok || head.Status != 200 {
					t.Errorf("line %q comes without its head", b)
				}
				if got = append(got, string(b)); len(got) == 2 {
					return c.fail
				}
				return nil
			})
			var e *Error
			switch {
			case c.fail != nil:
				if !errors.Is(err, c.fail) {
					t.Errorf("%v, want the reader's own error", err)
				}
			case c.kind != "":
				if !errors.As(err, &e) || e.Kind != c.kind {
					t.Errorf("%v, want %s", err, c.kind)
				}
			case err != nil:
				t.Error(err)
			case string(reply.Body) != c.body:
				t.Errorf("body %q, want %q", reply.Body, c.body)
			}
			if c.lines != nil && !slices.Equal(got, c.lines) {
				t.Errorf("lines %q, want %q", got, c.lines)
			}
		})
	}
}

// TestStreamArrives checks that a line arrives before the reply is complete, and that the
// caller's own cancellation is returned as such.
func TestStreamArrives(t *testing.T) {
	first := make(chan struct{})
	c := linesClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", ndjsonType)
		fmt.Fprintln(w, "1")
		w.(http.Flusher).Flush()
		select {
		case <-first:
			fmt.Fprintln(w, "2")
		case <-r.Context().Done():
		}
	})
	n := 0
	var began time.Time
	reply, err := c.Stream(t.Context(), Call{Method: http.MethodGet, Path: "/q"}, func(*Reply, []byte) error {
		if n++; n == 1 {
			began = time.Now()
			close(first)
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Fatalf("%d lines, %v", n, err)
	}
	if reply.Received.After(began) {
		t.Error("the head is said to have come after the first line: its date would say too little")
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.Stream(ctx, Call{Method: http.MethodGet, Path: "/q"}, func(*Reply, []byte) error { cancel(); <-ctx.Done(); return nil })
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func say(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}
