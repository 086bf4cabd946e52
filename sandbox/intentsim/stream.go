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

// delay returns how long a filler takes for its route.
func (c Settings) delay(routeID string) time.Duration {
	return time.Duration(c.DelayMS[routeID]) * time.Millisecond
}

// slowest returns the time until all routes of a quote are ready.
func (s *Server) slowest(q *quote) time.Duration {
	settings := s.Settings()
	var longest time.Duration
	for _, r := range q.routes {
		longest = max(longest, settings.delay(r.id))
	}
	return longest
}

// A stream is a response with one line per route, sent as each filler is ready.
type stream struct {
	settings Settings
	quote    *quote
}

func (s *Server) stream(q *quote) *stream { return &stream{s.Settings(), q} }

// write sends all lines, unless the client disconnects or the settings say otherwise.
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

// lines writes the lines, with the errors of Settings.Stream.
type lines struct {
	w     http.ResponseWriter
	flush func() error
	sent  int
	Stream
}

// send sends one line and reports whether to continue.
func (l *lines) send(r *http.Request, line []byte, last bool) bool {
	if l.StallAfter > 0 && l.sent == l.StallAfter {
		<-r.Context().Done()
		return false
	}
	if l.CutAfter > 0 && l.sent == l.CutAfter {
		_, _ = l.w.Write(line[:len(line)/2])
		_ = l.flush()
		panic(http.ErrAbortHandler) // makes the server abort the response
	}
	if l.Blank {
		line = append([]byte("\r\n"), line...)
	}
	if !last || !l.Blank {
		line = append(slices.Clone(line), '\n')
	}
	l.sent++
	_, err := l.w.Write(line)
	_ = l.flush() // fails harmlessly if the writer buffers the response
	return err == nil && r.Context().Err() == nil
}

// lieAbout returns how a lie is applied to the response of a request: to one line if it
// is a stream, else nil for the whole.
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
