package web

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/test/await"
)

// A message is a received event; a comment has only a name.
type message struct {
	name, id string
	data     PriceEvent
	raw      string
}

// follow opens a stream; messages is closed when the stream ends.
func (s *site) follow(t *testing.T, header ...string) (messages <-chan message, stop context.CancelFunc) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+Base+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	res, err := direct.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream: status %d, header %v; want 200 and text/event-stream", res.StatusCode, res.Header)
	}
	all := make(chan message, 100)
	go func() {
		defer close(all)
		defer func() { _ = res.Body.Close() }()
		var m message
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			name, value, _ := strings.Cut(in.Text(), ": ")
			switch name {
			case "event":
				m.name = value
			case "id":
				m.id = value
			case "data":
				m.raw = value
				if m.name == "prices" {
					if err := json.Unmarshal([]byte(value), &m.data); err != nil {
						t.Error(err)
					}
				}
			case "":
				if value != "" {
					m.name = "comment"
				} else if m.name != "" {
					all <- m
					m = message{}
				}
			}
		}
	}()
	return all, stop
}

// next returns the next message that is not a comment.
func next(t *testing.T, from <-chan message) message {
	t.Helper()
	for {
		select {
		case m, open := <-from:
			if !open {
				t.Fatal("the stream has ended")
			}
			if m.name != "comment" {
				return m
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no event comes")
		}
	}
}

func TestEvents(t *testing.T) {
	c := config()
	s := serve(t, c)
	stream, _ := s.follow(t)
	first := next(t, stream)
	if first.name != "prices" || first.id != "7" || len(first.data.Data) != 9 || first.data.Timestamp != "2025-12-27T10:15:00.123456" {
		t.Fatalf("the first event is %+v, want all 9 prices of table 7", first)
	}
	if want := (EventPrice{Identity{1, "0x0000000000000000000000000000000000000000"}, "3050.120000000000000000", "2998.400000000000000000", "1.72492", false}); first.data.Data[0] != want {
		t.Errorf("the first price is %+v, want %+v", first.data.Data[0], want)
	}
	changed := rows()
	changed[0].Now.Value = dollars("3051")
	changed[4].Stale = true
	changed[7] = row(1, newToken, "NEW", "1", "", "0")
	changed[1].DayAgo.Value = dollars("2990") // changes as time passes
	changed[9].Now.Value = dollars("8")       // not public
	c.Feed.Publish(pricetable.New(8, then, changed))
	second := next(t, stream)
	var got []string
	for _, p := range second.data.Data {
		got = append(got, string(p.TokenAddress)+" "+string(p.PriceNow))
	}
	if second.id != "8" || len(got) != 3 || !strings.HasPrefix(got[0], "0x0000000000000000000000000000000000000000 3051.0") || !second.data.Data[1].Stale || !strings.HasPrefix(got[2], newToken.Hex()) {
		t.Errorf("the second event is %s with %q, want 8 with three changes", second.id, got)
	}
	c.Feed.Publish(pricetable.New(9, then.Add(time.Minute), changed))
	if third := next(t, stream); third.id != "9" || len(third.data.Data) != 0 || !strings.Contains(third.raw, `"data":[]`) {
		t.Errorf("the third event is %+v, want 9 without changes", third)
	}
	// A client that reconnects gets all prices whatever its last ID, because IDs restart
	// with the service.
	for _, last := range []string{"9", "8", "99", "nonsense"} {
		again, stop := s.follow(t, "Last-Event-ID", last)
		if m := next(t, again); len(m.data.Data) != 10 {
			t.Errorf("after %s come %d prices", last, len(m.data.Data))
		}
		stop()
	}
	if r := s.ask(t, http.MethodHead, Base+"/events"); r.status != 200 || r.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v", r.status, r.header)
	}
}

func TestEventsBeforeTheFirstFetch(t *testing.T) {
	c := config()
	c.Feed = pricetable.NewFeed()
	c.Feed.Publish(pricetable.New(1, time.Time{}, rows())) // from before the restart, fetch time unknown
	s := serve(t, c)
	stream, _ := s.follow(t)
	c.Feed.Publish(pricetable.New(2, then, rows()))
	if m := next(t, stream); m.id != "2" || len(m.data.Data) != 9 {
		t.Errorf("%s with %d prices", m.id, len(m.data.Data))
	}
}

func TestHeartbeat(t *testing.T) {
	c := config()
	c.Limits.Heartbeat = 5 * time.Millisecond
	stream, _ := serve(t, c).follow(t)
	next(t, stream)
	for range 3 {
		select {
		case m := <-stream:
			if m.name != "comment" {
				t.Fatalf("an event while nothing changes: %+v, want comments only", m)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no sign of life")
		}
	}
}

// TestStreamsAreBounded checks the limit, and that a stream is free again when its client
// has gone.
func TestStreamsAreBounded(t *testing.T) {
	c := config()
	c.Limits.Streams = 2
	s := serve(t, c)
	one, stop := s.follow(t)
	two, _ := s.follow(t)
	next(t, one)
	next(t, two)
	if r := s.get(t, Base+"/events"); r.status != 503 || r.header.Get("Retry-After") != "30" || into[Problem](t, r).Type != fullStreams.urn() {
		t.Fatalf("one stream too many: status %d, %s; want 503", r.status, r.body)
	}
	stop()
	await.Until(t, 5*time.Second, "the place is free again", func() bool { return s.ask(t, http.MethodHead, Base+"/events").status == 200 })
}

// TestSlowReader checks that a client that does not read is cut off and delays no one.
func TestSlowReader(t *testing.T) {
	c := config()
	c.Limits.Streams, c.Limits.StreamWrite = 2, 50*time.Millisecond
	c.Feed.Publish(pricetable.New(8, then, many(10000)))
	s := serve(t, c)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET " + Base + "/events HTTP/1.1\r\nHost: " + s.address + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	await.Until(t, 10*time.Second, "the stream", func() bool { return len(s.streams) > 0 })
	for seq := uint64(9); len(s.streams) > 0; seq++ {
		if time.Now().After(deadline) {
			t.Fatal("a reader that does not read is kept")
		}
		all := many(10000)
		for i := range all {
			all[i].Now.Value = dollars("1." + strings.Repeat("0", 9) + string('0'+byte(seq%10)))
		}
		c.Feed.Publish(pricetable.New(seq, then, all))
		if r := s.get(t, pricesPath); r.status != 200 {
			t.Fatalf("GET prices: %+v, want status 200", r)
		}
	}
}

// TestStreamsOfOneClient checks that an identified client cannot take all streams.
func TestStreamsOfOneClient(t *testing.T) {
	c := config()
	c.Keys = func(_ context.Context, key string) (string, bool) { return key, key == "one" || key == "two" }
	c.Limits.Streams = 2 * clientsShare
	c.Feed.Publish(pricetable.New(1, then, many(1)))
	s := serve(t, c)
	for range 2 {
		_, stop := s.follow(t, "X-API-Key", "one")
		defer stop()
	}
	if got := s.get(t, Base+"/events", "X-API-Key", "one"); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "this client") {
		t.Errorf("a third stream: %v", got)
	}
	_, stop := s.follow(t, "X-API-Key", "two")
	stop()
}
