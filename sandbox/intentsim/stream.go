package intentsim

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/sandbox/inject"
)

// delay is how long a filler takes for its route.
func (c Settings) delay(routeID string) time.Duration {
	return time.Duration(c.DelayMS[routeID]) * time.Millisecond
}

// slowest is how long a quote takes that waits for all its fillers.
func (s *Server) slowest(q *quote) time.Duration {
	settings := s.Settings()
	var longest time.Duration
	for _, r := range q.routes {
		longest = max(longest, settings.delay(r.id))
	}
	return longest
}

// A stream is an answer of one line a route, as each filler is ready.
type stream struct {
	settings Settings
	quote    *quote
}

func (s *Server) stream(q *quote) *stream { return &stream{s.Settings(), q} }

// write sends the lines until all are sent, the caller has left or the settings
// have it end otherwise.
func (t *stream) write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	out := &lines{w: w, flush: http.NewResponseController(w).Flush, Stream: t.settings.Stream}
	routes := slices.Clone(t.quote.routes)
	slices.SortStableFunc(routes, func(a, b *route) int { return int(t.settings.delay(a.id) - t.settings.delay(b.id)) })
	began := time.Now()
	for i, route := range routes {
		if !wait(r.Context(), time.Until(began.Add(t.settings.delay(route.id)))) {
			return
		}
		reply := t.quote.reply(route)
		reply.QuoteID = t.quote.id
		line, err := answers.Marshal(reply)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		for n := range t.settings.Stream.Repeat + 1 {
			last := i == len(routes)-1 && n == t.settings.Stream.Repeat
			if !out.send(r, line, last) {
				return
			}
		}
	}
}

// lines sends them, and goes wrong as it is told to.
type lines struct {
	w     http.ResponseWriter
	flush func() error
	sent  int
	Stream
}

// send sends one line and reports whether the stream goes on.
func (l *lines) send(r *http.Request, line []byte, last bool) bool {
	if l.StallAfter > 0 && l.sent == l.StallAfter {
		<-r.Context().Done()
		return false
	}
	if l.CutAfter > 0 && l.sent == l.CutAfter {
		_, _ = l.w.Write(line[:len(line)/2])
		_ = l.flush()
		panic(http.ErrAbortHandler) // the server's own way to break off
	}
	if l.Blank {
		line = append([]byte("\r\n"), line...)
	}
	if !last || !l.Blank {
		line = append(slices.Clone(line), '\n')
	}
	l.sent++
	_, err := l.w.Write(line)
	_ = l.flush() // a writer that keeps the answer back has nothing to flush
	return err == nil && r.Context().Err() == nil
}

// lieAbout applies a lie to the answer of a request: to a line of a stream, or
// to the whole.
func lieAbout(r *http.Request) func([]byte, inject.Rule) ([]byte, error) {
	if r.URL.Query().Get("mode") != "stream" {
		return nil
	}
	return func(body []byte, lie inject.Rule) ([]byte, error) {
		number, rest, more := strings.Cut(strings.TrimPrefix(lie.Pointer, "/"), "/")
		if more {
			rest = "/" + rest
		}
		all := bytes.Split(body, []byte("\n"))
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n >= len(all) || len(all[n]) == 0 {
			return nil, strconv.ErrRange
		}
		all[n], err = inject.Replace(all[n], rest, lie.Value)
		return bytes.Join(all, []byte("\n")), err
	}
}
