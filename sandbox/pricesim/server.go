// Package pricesim simulates the price services that the wallet queries over HTTP:
// DefiLlama, GeckoTerminal, CoinGecko, DexScreener, Blockscout and GoPlus. They know the
// tokens of the sandbox's chains and of the wallet's built-in list. Prices follow the
// sandbox's market unless the settings or faults change them.
package pricesim

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
)

// A Market returns past and present prices, in millionths of a US dollar.
type Market interface {
	At(symbol string, t time.Time) (micro float64, ok bool)
}

// A kind is a service.
type kind struct {
	name string
	// base is the path of the service's base URL.
	base      string
	endpoints []endpoint
	// refuse returns the body of an error response.
	refuse func(e refusal) any
	// head, if not nil, adds headers to successful responses.
	head func(h http.Header, now time.Time)

	hasKey        bool // supports an API key
	hasConfidence bool // reports a confidence
	hasLegacy     bool // has older instances with other members
}

// An endpoint answers one method and path.
type endpoint struct {
	pattern string
	// target is its name for faults and counts: the path without variables.
	target string
	answer func(s *Server, r *http.Request) (any, error)
}

// kinds is the table of services.
var kinds = []kind{defillama, geckoterminal, coingecko, dexscreener, blockscout, goplus}

// Kinds lists the services' names as in the daemon's configuration:
// prices.sources.<name>.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// A refusal is an error response.
type refusal struct {
	status int
	what   string
}

func (e refusal) Error() string { return fmt.Sprintf("%d: %s", e.status, e.what) }

var (
	errNoPath = refusal{http.StatusNotFound, "Not found"}
	errLimit  = refusal{http.StatusTooManyRequests, "Too Many Requests"}
)

// A Server is a simulator of one service. It is an http.Handler.
type Server struct {
	// Faults holds the fault rules, by an endpoint's path without variables, such as
	// /prices/current.
	Faults *inject.Book

	kind
	market Market
	now    func() time.Time

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
}

// New returns a simulator of the named service. A nil now means clock.Now.
func New(name string, m Market, now func() time.Time) (*Server, error) {
	if now == nil {
		now = clock.Now
	}
	for _, k := range kinds {
		if k.name != name {
			continue
		}
		s := &Server{Faults: &inject.Book{}, kind: k, market: m, now: now}
		s.Reset()
		return s, nil
	}
	return nil, fmt.Errorf("no price service %q", name)
}

// Base returns the path of the named service's base URL.
func Base(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.base
		}
	}
	return ""
}

// Settings returns the current settings.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.clone()
}

// Set changes the settings.
func (s *Server) Set(settings Settings) error {
	if err := s.check(settings); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings.clone()
	s.limits.Reset()
	return nil
}

// Reset removes faults and counts and restores the default settings.
func (s *Server) Reset() {
	s.Faults.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = DefaultSettings.clone()
	s.limits.Reset()
}

// Close does nothing, as a price service does no background work.
func (s *Server) Close() error { return nil }

// maxURL limits a request's path and query, as the reverse proxies of such services do.
const maxURL = 8 << 10

// find returns the first endpoint that matches a request, and sets its path values.
func (k kind) find(r *http.Request) (endpoint, bool) {
	for _, e := range k.endpoints {
		method, path, _ := strings.Cut(e.pattern, " ")
		if method == r.Method && match(path, r) {
			return e, true
		}
	}
	return endpoint{target: "/unknown"}, false
}

// match matches a request's path against a pattern. A segment in braces is a non-empty
// variable.
func match(pattern string, r *http.Request) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(r.URL.Path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		variable := strings.HasPrefix(part, "{")
		if (variable && got[i] == "") || (!variable && got[i] != part) {
			return false
		}
	}
	for i, part := range want {
		if strings.HasPrefix(part, "{") {
			r.SetPathValue(strings.Trim(part, "{}"), got[i])
		}
	}
	return true
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, known := s.find(r)
	s.Faults.Decide(e.target).Serve(w, r, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case len(r.URL.RequestURI()) > maxURL:
			s.fail(w, refusal{http.StatusRequestURITooLong, "URI Too Long"})
		case !known:
			s.fail(w, errNoPath)
		default:
			s.answer(w, r, e)
		}
	}, nil, nil)
}

var answers = form.Answer{ContentType: "application/json; charset=utf-8", NoEscapeHTML: true}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, e endpoint) {
	settings := s.Settings()
	if !s.limits.Allow("", settings.RateLimit, time.Minute) {
		w.Header().Set("Retry-After", strconv.Itoa((60+settings.RateLimit-1)/settings.RateLimit))
		s.fail(w, errLimit)
		return
	}
	reply, err := e.answer(s, r)
	if err != nil {
		s.fail(w, err)
		return
	}
	if s.head != nil {
		s.head(w.Header(), s.now())
	}
	answers.Write(w, http.StatusOK, reply)
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	var e refusal
	if !errors.As(err, &e) {
		e = refusal{http.StatusInternalServerError, err.Error()}
	}
	answers.Write(w, e.status, s.refuse(e))
}
