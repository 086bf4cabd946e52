package providertest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"
)

// A fault is one way for a service to fail, with the codes that may report it.
type fault struct {
	name string
	do   http.HandlerFunc
	want []swap.Code
}

func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // a client that is gone reports its own error
	}
}

func failing(status int) http.HandlerFunc {
	return answer(status, "application/json", `{"errorCode":"NobodyKnowsThis","detail":"no\u202eway"}`)
}

func page(status int) http.HandlerFunc {
	return answer(status, "text/html", "<html><body>Gateway</body></html>")
}

func ok(body string) http.HandlerFunc { return answer(http.StatusOK, "application/json", body) }

// hang sends nothing until it is released, the client is gone, or five seconds have passed.
func hang(release <-chan struct{}) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
		select {
		case <-release:
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func zipped(size int) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, errWrite := z.Write(make([]byte, size))
	if err := z.Close(); err != nil || errWrite != nil {
		panic(err) // a buffer takes everything
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes())
	}
}

// large sends a body of size bytes for as long as the client reads.
func large(size int) http.HandlerFunc {
	piece := bytes.Repeat([]byte("a"), 64<<10)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, `{"a":"`)
		for sent := 0; err == nil && sent < size; sent += len(piece) {
			_, err = w.Write(piece)
		}
	}
}

// later answers 429 with Retry-After.
func later(seconds string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", seconds)
		failing(http.StatusTooManyRequests)(w, r)
	}
}

// stall sends half of a body and then hangs.
func stall(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		hang(nil)(w, r)
	}
}

// cut sends less than its Content-Length.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"routing":`))
}

func broken(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

var (
	refusedOnes = []swap.Code{swap.ProviderRefused}
	missingOnes = []swap.Code{swap.NoRoute, swap.ProviderRefused, swap.OrderUnknown}
	keyOnes     = []swap.Code{swap.ProviderKey}
	downOnes    = []swap.Code{swap.ProviderDown}
	garbageOnes = []swap.Code{swap.ProviderInvalidResponse, swap.Undecodable}
)

func faultTable(x Exchange, elsewhere string) []fault {
	redirect := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere)
			w.WriteHeader(status)
		}
	}
	return []fault{
		{"400", failing(400), refusedOnes},
		{"401", failing(401), keyOnes},
		{"403", failing(403), keyOnes},
		{"404", failing(404), missingOnes},
		{"409", failing(409), refusedOnes},
		{"418", failing(418), refusedOnes},
		{"422", failing(422), refusedOnes},
		{"429", failing(429), []swap.Code{swap.ProviderBusy}},
		{"500", failing(500), downOnes},
		{"502", failing(502), downOnes},
		{"503", failing(503), downOnes},
		{"504", failing(504), downOnes},
		{"599", failing(599), downOnes},
		{"504 page", page(504), downOnes},
		{"404 page", page(404), garbageOnes},
		{"200 page", page(200), garbageOnes},
		{"another content type", answer(http.StatusOK, "text/html", string(x.Response.Body)), garbageOnes},
		{"no content type", answer(http.StatusOK, "", string(x.Response.Body)), garbageOnes},
		{"204", answer(204, "application/json", ""), garbageOnes},
		{"empty", ok(""), garbageOnes},
		{"null", ok("null"), garbageOnes},
		{"array", ok("[]"), garbageOnes},
		{"string", ok(`"x"`), garbageOnes},
		{"number", ok("1"), garbageOnes},
		{"object", ok("{}"), garbageOnes},
		{"half", ok(`{"routing":"CLA`), garbageOnes},
		{"twice", ok(`{}{}`), garbageOnes},
		{"not utf-8", ok("{\"\xff\xfe\":1}"), garbageOnes},
		{"deep", ok(strings.Repeat("[", 200_000)), garbageOnes},
		{"5 MB", large(5 << 20), garbageOnes},
		{"50 MB", large(50 << 20), garbageOnes},
		{"zip bomb", zipped(50 << 20), garbageOnes},
		{"301", redirect(301), garbageOnes},
		{"302", redirect(302), garbageOnes},
		{"307", redirect(307), garbageOnes},
		{"308", redirect(308), garbageOnes},
		{"cut", cut, downOnes},
		{"stalled", stall(x.Response.Body), downOnes},
		{"broken", broken, downOnes},
		{"silent", hang(nil), downOnes},
	}
}

// paused: a service that asks for a pause gets no calls for that long, and the refusal says
// for how long.
func (h *harness) paused(t *testing.T) {
	for path := range h.server.exchanges {
		p := h.provider(t, shortTimeout)
		h.server.override(path, later("600"))
		first := h.run(t.Context(), p)
		h.server.override(path, nil)
		again := h.run(t.Context(), p)
		for _, o := range []outcome{first, again} {
			var r *swap.Refusal
			if !errors.As(o.err, &r) || r.Code != swap.ProviderBusy && !(o.at == "submit" && isUncertain(o.err)) || r.Code == swap.ProviderBusy && r.Data["retryAfterSeconds"] == "" {
				t.Errorf("%s: refused with %v, want %s and for how long", path, o.err, swap.ProviderBusy)
			}
		}
	}
}

// clocks: a service whose clock is too far off gives no offers.
func (h *harness) clocks(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		h.server.clockError.Store(int64(off))
		offers, err := h.provider(t, longTimeout).Quote(t.Context(), h.flow.Request)
		h.server.clockError.Store(0)
		if c := code(err); c != swap.ClockSkew || len(offers) > 0 {
			t.Errorf("%s off: %d offers, refused with %q (%v), want %s", off, len(offers), c, err, swap.ClockSkew)
		}
	}
}

// apart: an order is still followed after failing quotes have opened the circuit breaker.
func (h *harness) apart(t *testing.T) {
	p, order := h.provider(t, longTimeout), h.order.Clone()
	if _, err := p.Quote(t.Context(), h.flow.Request); err != nil {
		t.Fatal(err)
	}
	ref, err := p.(swap.Settler).Submit(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	order.ProviderOrderID = ref
	for path := range h.server.exchanges {
		if path != h.flow.Settled.Submit && path != h.flow.Settled.Status {
			h.server.override(path, failing(http.StatusInternalServerError))
			defer h.server.override(path, nil)
		}
	}
	var suspended *rest.Error
	for n := 0; suspended == nil || suspended.Kind != rest.CircuitOpen; n++ {
		if _, err := p.Quote(t.Context(), h.flow.Request); n > 2000 || !errors.As(err, &suspended) {
			t.Fatalf("quote %d of a service that is down: %v", n, err)
		}
	}
	if _, err := p.(swap.Settler).Status(t.Context(), order); err != nil {
		t.Errorf("no quotes, and the order is not followed: %v", err)
	}
}

// faults: each failure gives a typed refusal in time, no redirect is followed, and the
// service is used again once it works.
func (h *harness) faults(t *testing.T) {
	var followed atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer trap.Close()
	for path, x := range h.server.exchanges {
		for _, f := range faultTable(x, trap.URL+path) {
			t.Run(strings.TrimPrefix(path, h.suite.Prefix+"/")+"/"+f.name, func(t *testing.T) {
				p := h.provider(t, shortTimeout)
				h.server.override(path, f.do)
				begun := time.Now()
				o := h.run(t.Context(), p)
				h.server.override(path, nil)
				if took := time.Since(begun); took > 4*time.Second {
					t.Errorf("took %s", took)
				}
				if c := code(o.err); !slices.Contains(f.want, c) && !(o.at == "submit" && h.prepaid() && c != "" && isUncertain(o.err)) {
					t.Errorf("refused with %q, want one of %v: %v", c, f.want, o.err)
				}
				if o.at == "submit" && !isUncertain(o.err) && (h.prepaid() || !slices.Contains(f.want, swap.ProviderRefused)) {
					t.Errorf("the order may have been taken, and the refusal says that it was not: %v", o.err)
				}
				if o.err != nil && strings.ContainsFunc(o.err.Error(), func(r rune) bool { return r == '\u202e' || r < ' ' }) {
					t.Errorf("the reason carries marks that hide text: %q", o.err)
				}
				if o := h.run(t.Context(), p); o.err != nil {
					t.Errorf("afterwards: %v", o.err)
				}
			})
		}
	}
	if n := followed.Load(); n > 0 {
		t.Errorf("%d redirects were followed", n)
	}
}
