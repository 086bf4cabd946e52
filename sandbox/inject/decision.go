package inject

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A Decision is what a Book decided for one request.
type Decision struct {
	book    *Book
	targets []string
	fault   *entry
	lies    []Rule
}

// A Handler carries out a request and writes its response.
type Handler = func(w http.ResponseWriter, r *http.Request)

// Serve answers the request as decided. Alter applies one lie to the response body; if
// nil, the pointer is relative to the body's root. Reject answers with a JSON-RPC error;
// if nil, the Error kind answers as HTTP does.
func (f Decision) Serve(w http.ResponseWriter, r *http.Request, carryOut Handler, alter func([]byte, Rule) ([]byte, error), reject func(http.ResponseWriter, Rule)) {
	if alter == nil {
		alter = func(body []byte, lie Rule) ([]byte, error) { return Replace(body, lie.Pointer, lie.Value) }
	}
	if f.fault == nil {
		f.answer(w, r, carryOut, alter)
		return
	}
	rule := f.fault.Rule
	switch rule.Kind {
	case Delay:
		if sleep(r, time.Duration(rule.DelayMS)*time.Millisecond) {
			f.answer(w, r, carryOut, alter)
		}
	case Hold:
		if f.wait(r) {
			f.answer(w, r, carryOut, alter)
		}
	case HTTP:
		htmlPage(w, rule)
	case Garbage:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(orElse(rule.Body, "{\"garbage\":\x00\xff not json"))
	case Error:
		if reject == nil {
			htmlPage(w, rule)
			return
		}
		reject(w, rule)
	default:
		f.damage(w, r, carryOut, alter)
	}
}

// answer carries out the request and applies the lies.
func (f Decision) answer(w http.ResponseWriter, r *http.Request, carryOut Handler, alter func([]byte, Rule) ([]byte, error)) {
	if len(f.lies) == 0 {
		carryOut(w, r)
		return
	}
	f.record(r, carryOut, alter).send(w)
}

func (f Decision) record(r *http.Request, carryOut Handler, alter func([]byte, Rule) ([]byte, error)) *recorder {
	rec := &recorder{header: http.Header{}, status: http.StatusOK}
	carryOut(rec, r)
	body := rec.body.Bytes()
	for _, lie := range f.lies {
		altered, err := alter(body, lie)
		if err != nil {
			// If the pointer leads nowhere, the response is sent unchanged. The header
			// tells the test so.
			rec.header.Set("X-Sandbox-Lie", err.Error())
			continue
		}
		body = altered
	}
	rec.body = *bytes.NewBuffer(body)
	return rec
}

// damage carries out the request and damages the response.
func (f Decision) damage(w http.ResponseWriter, r *http.Request, carryOut Handler, alter func([]byte, Rule) ([]byte, error)) {
	rec := f.record(r, carryOut, alter)
	switch body := rec.body.Bytes(); f.fault.Kind {
	case Fail:
		htmlPage(w, f.fault.Rule)
	case Stall:
		if f.wait(r) {
			rec.send(w)
		}
	case Cut:
		rec.copyHeader(w)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(rec.status)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		hangUp(w)
	case Truncate:
		rec.body.Truncate(len(body) / 2)
		rec.send(w)
	case Trickle:
		rec.trickle(w, r, time.Duration(f.fault.DelayMS)*time.Millisecond)
	case Oversize:
		rec.copyHeader(w)
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.status)
		blank := bytes.Repeat([]byte(" "), 64<<10)
		for left := f.oversize(); left > 0; left -= len(blank) {
			if _, err := w.Write(blank[:min(left, len(blank))]); err != nil {
				return
			}
		}
		_, _ = w.Write(body)
	default: // Drop
		hangUp(w)
	}
}

func (f Decision) oversize() int {
	if f.fault.Bytes > 0 {
		return f.fault.Bytes
	}
	return 16 << 20
}

// wait blocks until the rule is released. It returns false if the client has
// disconnected.
func (f Decision) wait(r *http.Request) bool {
	f.book.hold(1)
	defer f.book.hold(-1)
	select {
	case <-f.fault.release:
		return true
	case <-r.Context().Done():
		return false
	}
}

func (b *Book) hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
}

func sleep(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

func htmlPage(w http.ResponseWriter, rule Rule) {
	status := rule.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if rule.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(rule.RetryAfter))
	}
	w.WriteHeader(status)
	text := http.StatusText(status)
	_, _ = w.Write(orElse(rule.Body, fmt.Sprintf("<!doctype html><title>%d %s</title><h1>%s</h1>\n", status, text, text)))
}

func orElse(s, fallback string) []byte {
	if s == "" {
		s = fallback
	}
	return []byte(s)
}

// hangUp closes the connection without sending more.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
		return
	}
	panic(http.ErrAbortHandler) // makes the server abort the response
}

// A recorder buffers a response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

func (r *recorder) copyHeader(w http.ResponseWriter) {
	for name, values := range r.header {
		w.Header()[name] = values
	}
}

func (r *recorder) send(w http.ResponseWriter) {
	r.copyHeader(w)
	w.Header().Set("Content-Length", strconv.Itoa(r.body.Len()))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes())
}

// pieces is the number of pieces in which Trickle sends a response.
const pieces = 16

// trickle sends the response in pieces, which take d together.
func (r *recorder) trickle(w http.ResponseWriter, req *http.Request, d time.Duration) {
	r.copyHeader(w)
	w.Header().Set("Content-Length", strconv.Itoa(r.body.Len()))
	w.WriteHeader(r.status)
	body := r.body.Bytes()
	for i := range pieces {
		piece := body[i*len(body)/pieces : (i+1)*len(body)/pieces]
		if _, err := w.Write(piece); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		if !sleep(req, d/pieces) {
			return
		}
	}
}
