package bridge

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/gorilla/websocket"
)

// fakeStream is a websocket that sends one frame at once, one after the subscription, then the
// rest, and then closes.
func fakeStream(t *testing.T, frames ...string) string {
	stream, hangUp := fakeStreamOf(frames...)
	t.Cleanup(hangUp)
	return stream
}

func fakeStreamOf(frames ...string) (stream string, hangUp func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("apiKey") != "test-key-of-nobody" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		u := websocket.Upgrader{}
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for i, f := range frames {
			if i == 1 {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
			}
			if conn.WriteMessage(websocket.TextMessage, []byte(f)) != nil {
				return
			}
		}
	}))
	return "ws" + strings.TrimPrefix(s.URL, "http"), s.Close
}

// TestWatch checks that events about the order are reported and others are not, and that
// the end of the stream is an error.
func TestWatch(t *testing.T) {
	o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute)
	const ready, taken = `{"type":"connection","status":"ready"}`, `{"type":"subscribe","status":"success"}`
	event := func(status, id string) string {
		return `{"event":"request.status.updated","data":{"status":"` + status + `","requestId":"` + id + `"}}`
	}
	ours := "0x201aefa974dd7fb6760b5d8d14b06e915acba94ccd1831d12b2b6e0ed3d003be"
	for name, c := range map[string]struct {
		frames []string
		states []swap.State
	}{
		"a fill":                  {[]string{ready, taken, event("pending", ours), event("success", ours)}, []swap.State{swap.Settling, swap.Filled}},
		"another order's event":   {[]string{ready, taken, event("success", testOrderID.Hex()), event("refund", ours)}, []swap.State{swap.Refunded}},
		"unknown":                 {[]string{ready, taken, event("unknown", ours)}, nil},
		"other events":            {[]string{ready, taken, `{"event":"other","data":{"status":"success","requestId":"` + ours + `"}}`, `{"data":7}`, `{}`}, nil},
		"a failure":               {[]string{ready, taken, event("failure", ours)}, []swap.State{swap.Settling}},
		"not ready":               {[]string{taken, taken, event("success", ours)}, nil},
		"not subscribed":          {[]string{ready, `{"type":"error"}`, event("success", ours)}, nil},
		"no json":                 {[]string{ready, taken, `<html>`, event("success", ours)}, nil},
		"a frame above the limit": {[]string{ready, taken, `"` + strings.Repeat("x", maxFrame) + `"`, event("success", ours)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := providerOf(t, nil)
			p.socket = fakeStream(t, c.frames...)
			var states []swap.State
			if err := p.Watch(t.Context(), o, func(c swap.Claim) { states = append(states, c.State) }); err == nil {
				t.Error("a stream that was lost says nothing")
			}
			if len(states) != len(c.states) {
				t.Fatalf("states %v, want %v", states, c.states)
			}
			for i := range states {
				if states[i] != c.states[i] {
					t.Errorf("states %v, want %v", states, c.states)
				}
			}
		})
	}
}

// TestWatchNothing checks that nothing is connected to without a key or a websocket, and
// that no error contains the key.
func TestWatchNothing(t *testing.T) {
	o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute)
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/elsewhere?"+r.URL.RawQuery, http.StatusFound)
	}))
	defer s.Close()
	p := providerOf(t, nil)
	p.socket = "ws" + strings.TrimPrefix(s.URL, "http")
	err := p.Watch(t.Context(), o, func(swap.Claim) { t.Error("reported a claim, want none") })
	if err == nil || strings.Contains(err.Error(), "test-key") || asked.Load() != 1 {
		t.Errorf("a redirect, asked %d times: %v", asked.Load(), err)
	}
	p.socket = ""
	if err := p.Watch(t.Context(), o, nil); err != nil {
		t.Error(err)
	}
	p.socket, p.key = "ws"+strings.TrimPrefix(s.URL, "http"), func(context.Context) (string, error) { return "", nil }
	if err := p.Watch(t.Context(), o, nil); err != nil || asked.Load() != 1 {
		t.Errorf("without a key, asked %d times: %v", asked.Load(), err)
	}
}

// TestWatchEnds checks that a stream ends with its context.
func TestWatchEnds(t *testing.T) {
	o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := websocket.Upgrader{}
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		_, _, _ = conn.ReadMessage() // silent until the client is gone
	}))
	defer s.Close()
	p := providerOf(t, nil)
	p.socket = "ws" + strings.TrimPrefix(s.URL, "http")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := p.Watch(ctx, o, nil); err == nil || time.Since(begun) > 2*time.Second {
		t.Errorf("ended after %s: %v", time.Since(begun), err)
	}
}
