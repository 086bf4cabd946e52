package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"swapkeep/priceapi/pricetable"
)

// streamFull is how long a client is told to wait for a free stream.
const streamFull = 30 * time.Second

// events streams prices until the client has gone or is too slow, or the API stops.
func (a *API) events(w http.ResponseWriter, r *http.Request) {
	done, why := a.takeStream(r)
	if why != "" {
		fullStreams.problem(why).after(streamFull).write(w, r)
		return
	}
	defer done()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Accel-Buffering", "no") // turns off buffering in a reverse proxy
	if wasHead(r) {
		return
	}
	s := stream{w: w, control: http.NewResponseController(w), within: a.limits.StreamWrite}
	a.follow(r, s)
}

// clientsShare limits one client to 1/clientsShare of all streams, where clients are
// identified.
const clientsShare = 8

// takeStream takes a stream, or says why it cannot. Without Keys and Limiter, as on
// loopback, clients are not told apart.
func (a *API) takeStream(r *http.Request) (done func(), why string) {
	select {
	case a.streams <- struct{}{}:
	default:
		return nil, "as many event streams are open as this service serves"
	}
	if a.c.Limiter == nil && a.c.Keys == nil {
		return func() { <-a.streams }, ""
	}
	client, _ := a.client(r.Context(), r)
	a.streaming.Lock()
	defer a.streaming.Unlock()
	if a.streamsOf[client] >= max(1, cap(a.streams)/clientsShare) {
		<-a.streams
		return nil, "this client has as many event streams open as one may"
	}
	a.streamsOf[client]++
	return func() {
		a.streaming.Lock()
		defer a.streaming.Unlock()
		if a.streamsOf[client]--; a.streamsOf[client] == 0 {
			delete(a.streamsOf, client)
		}
		<-a.streams
	}, ""
}

// follow sends all prices, and after each table the changes.
func (a *API) follow(r *http.Request, s stream) {
	beat := time.NewTicker(a.limits.Heartbeat)
	defer beat.Stop()
	if !s.send([]byte("retry: 5000\n\n")) {
		return
	}
	var sent *pricetable.Table // the last table sent
	for {
		b, next := a.c.Feed.Next()
		if b != sent && !b.Fetched.IsZero() {
			if !s.send(a.changes.between(sent, b)) {
				return
			}
			sent = b
		}
		for waiting := true; waiting; {
			select {
			case <-next:
				waiting = false
			case <-beat.C:
				if !s.send([]byte(": still here\n\n")) {
					return
				}
			case <-r.Context().Done():
				return
			case <-a.stopping:
				s.send([]byte("event: end\ndata: {\"reason\":\"the service is stopping\"}\n\n"))
				return
			}
		}
	}
}

// A stream is one client's event stream.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// send writes a whole message and reports whether the client is still there.
func (s stream) send(message []byte) bool {
	// The error is ignored: without a connection to set a deadline on there is no slow
	// client.
	_ = s.control.SetWriteDeadline(time.Now().Add(s.within))
	if _, err := s.w.Write(message); err != nil {
		return false
	}
	return s.control.Flush() == nil
}

// changes caches the last messages, which all clients that keep up need alike.
type changes struct {
	mu             sync.Mutex
	whole, partial change
}

type change struct {
	from, to *pricetable.Table
	message  []byte
}

// between returns the event with the changes from one table to another; from nil, with
// every price.
func (c *changes) between(from, to *pricetable.Table) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := &c.partial
	if from == nil {
		kept = &c.whole
	}
	if kept.to != to || kept.from != from {
		*kept = change{from, to, event(from, to)}
	}
	return kept.message
}

// event encodes a table's prices that differ from an earlier table's.
func event(before, b *pricetable.Table) []byte {
	e := PriceEvent{Timestamp: formatNoZone(b.Fetched), Data: []EventPrice{}}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Public && r.Now.Known() && !sameAs(before, r) {
			e.Data = append(e.Data, eventPrice(*r))
		}
	}
	m := strconv.AppendUint([]byte("event: prices\nid: "), b.Seq, 10)
	m = append(append(m, "\ndata: "...), encode(e)...)
	return append(m, "\n\n"...)
}

func sameAs(before *pricetable.Table, r *pricetable.Row) bool {
	if before == nil {
		return false
	}
	old, ok := before.Row(r.ID())
	return ok && old.Public && old.Now.Value == r.Now.Value && old.Stale == r.Stale
}
