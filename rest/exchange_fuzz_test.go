package rest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/time/rate"
)

// plantedKey is sent with every call, and must not come back.
const plantedKey = "key-of-the-user"

var planted = http.Header{"X-Api-Key": {plantedKey}, "Authorization": {"Bearer " + plantedKey}}

// overWire returns a client whose every connection answers with raw and closes.
func overWire(t testing.TB, raw []byte) *Client {
	t.Helper()
	c, err := New(Config{
		Name: "test", Base: "http://127.0.0.1:1", Reach: LoopbackOnly,
		Secrets: func(context.Context) (http.Header, error) { return planted, nil },
		Limits:  Limits{Attempt: 5 * time.Second, Call: 5 * time.Second, Body: 256, Attempts: 1, Rate: rate.Inf},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.http.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer func() { _ = there.Close() }()
			if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
				_, _ = there.Write(raw)
			}
		}()
		return here, nil
	}
	t.Cleanup(c.Close)
	return c
}

// TestStatusOfNothing checks that a status outside HTTP's range leaves the outcome of the
// call open, and is no refusal.
func TestStatusOfNothing(t *testing.T) {
	for _, status := range []string{"000", "099", "101", "199"} {
		raw := "HTTP/1.1 " + status + " X\r\nContent-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n{}"
		_, err := overWire(t, []byte(raw)).Do(t.Context(), Call{Method: http.MethodPost, Path: "/order", Body: []byte("{}")})
		var e *Error
		if !errors.As(err, &e) || e.Kind != Unreachable || !e.Temporary() {
			t.Errorf("%s: %v", status, err)
		}
	}
}

// FuzzExchange checks that, whatever a service sends back, a call ends with a reply
// within its limits, or with an error that says what failed and holds no secret.
func FuzzExchange(f *testing.F) {
	head := "HTTP/1.1 %d X\r\nDate: Mon, 23 Nov 2026 09:00:00 GMT\r\nContent-Type: %s\r\n"
	for _, s := range []string{
		fmt.Sprintf(head, 200, jsonType) + "Content-Length: 2\r\n\r\n{}",
		fmt.Sprintf(head, 200, "application/json; charset=utf-8") + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		fmt.Sprintf(head, 200, ndjsonType) + "\r\n1\n\n 2 \r\n3",
		fmt.Sprintf(head, 200, "text/html; "+plantedKey) + "\r\n<html>",
		fmt.Sprintf(head, 200, jsonType) + "\r\n" + strings.Repeat("x", 300),
		fmt.Sprintf(head, 200, ndjsonType) + "\r\n" + strings.Repeat("1\n", 200),
		fmt.Sprintf(head, 429, jsonType) + "Retry-After: 4294967295\r\n\r\n{\"errorCode\":\"A\",\"detail\":\"" + plantedKey + "\"}",
		fmt.Sprintf(head, 503, jsonType) + "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n\r\n{\"detail\":\"k\\u0065y-of-the-user\"}",
		fmt.Sprintf(head, 302, jsonType) + "Location: https://elsewhere.example/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
		plantedKey + " 200\r\n\r\n", "HTTP/9.9 " + plantedKey, "HTTP/1.1 200 OK\r\n" + plantedKey + "\r\n\r\n", "",
		"HTTP/1.1 204 No Content\r\nContent-Type: application/json\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: application/json\r\n\r\nx",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, stream bool) {
		c := overWire(t, raw)
		call := Call{Method: http.MethodGet, Path: "/x"}
		var reply *Reply
		var err error
		total := 0
		if stream {
			reply, err = c.Stream(t.Context(), call, func(head *Reply, line []byte) error {
				if total += len(line); len(line) == 0 || bytes.ContainsRune(line, '\n') || head.Status/100 != 2 {
					t.Fatalf("line %q under status %d", line, head.Status)
				}
				return nil
			})
		} else {
			reply, err = c.Do(t.Context(), call)
		}
		if err == nil {
			if total += len(reply.Body); reply.Status/100 != 2 || total > int(c.limits.Body) {
				t.Fatalf("status %d, %d bytes", reply.Status, total)
			}
			kind := reply.Header.Get("Content-Type")
			if !strings.Contains(strings.ToLower(kind), "json") || !stream && !isJSONType(kind) {
				t.Fatalf("content type %q passes", kind)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("untyped: %v", err)
		}
		soundError(t, e)
	})
}

// soundError checks that an error can be shown and acted on.
func soundError(t *testing.T, e *Error) {
	t.Helper()
	if strings.Contains(e.Error(), plantedKey) {
		t.Fatalf("%q has the key", e.Error())
	}
	for _, s := range []string{e.Code, e.Detail} {
		if len([]rune(s)) > maxDetail+len("content type …") || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("says %q", s)
		}
	}
	in := func(kinds ...Kind) bool {
		for _, k := range kinds {
			if e.Kind == k {
				return true
			}
		}
		return false
	}
	switch {
	case e.RetryAfter < 0:
		t.Fatalf("to be repeated after %s", e.RetryAfter)
	case e.Status == 0 && !in(Unreachable, TimedOut):
		t.Fatalf("%s without a status", e.Kind)
	case e.Status/100 == 2 && !in(NotJSON, TooLarge):
		t.Fatalf("%s with status %d", e.Kind, e.Status)
	case e.Status/100 == 3 && !in(Redirected, TooLarge):
		t.Fatalf("%s with status %d", e.Kind, e.Status)
	}
}

// FuzzRetryAfter checks that a wait is the header's seconds, or lasts until its date, and
// that no other value is one.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"0", "1", "4294967295", "4294967296", "-1", "+1", "1.5", " 1", "1e3", "Mon, 23 Nov 2026 09:00:30 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Monday, 23-Nov-26 09:00:30 GMT", "Mon Nov 23 09:00:30 2026", "Mon, 23 Nov 2026 09:00:30 +0100", ""} {
		f.Add(s)
	}
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, v string) {
		got := retryAfter(http.Header{"Retry-After": {v}}, now)
		at, err := http.ParseTime(v)
		switch digits := v != "" && strings.Trim(v, "0123456789") == ""; {
		case got < 0:
			t.Fatalf("%q is %s", v, got)
		case digits && got != 0 && fmt.Sprint(int64(got/time.Second)) != strings.TrimLeft(v, "0"):
			t.Fatalf("%q is %s", v, got)
		case !digits && got != 0 && (err != nil || !at.After(now)):
			t.Fatalf("%q, which is no wait, is %s", v, got)
		}
		var p pause
		p.until(now, min(got, maxPause))
		if left := p.left(now); left < 0 || left > maxPause {
			t.Fatalf("%q holds all calls back for %s", v, left)
		}
	})
}
