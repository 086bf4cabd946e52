// Package pricesim answers as the price services do that the wallet asks over
// HTTP: DefiLlama, GeckoTerminal, CoinGecko, DexScreener, Blockscout and GoPlus. They
// know the tokens of the sandbox's chains and those of the wallet's built-in list.
// What they say follows the sandbox's market, unless they are told to lie.
package pricesim

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"swapkeep/fault"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
)

// A Market says what an asset was worth, in millionths of a US dollar.
type Market interface {
	At(symbol string, t time.Time) (micro float64, ok bool)
}

// A kind is a service.
type kind struct {
	name string
	// base is what the service's base URL ends in.
	base      string
	endpoints []endpoint
	// refuse writes what the service says instead of an answer.
	refuse func(e refusal) any
	// head, which may be nil, adds to the headers of good answers.
	head func(h http.Header, now time.Time)

	keyed     bool // demands a key, once it has one
	confident bool // says how sure it is
	aged      bool // has older instances of another form
}

// An endpoint answers one method and path.
type endpoint struct {
	pattern string
	// target names it for faults and counts: the path without its variables.
	target string
	answer func(s *Server, r *http.Request) (any, error)
}

// kinds is the table of them.
var kinds = []kind{defillama, geckoterminal, coingecko, dexscreener, blockscout, goplus}

// Kinds lists the services' names, as in the daemon's configuration:
// prices.sources.<name>.
func Kinds() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// A refusal is an answer that is none.
type refusal struct {
	status int
	what   string
}

func (e refusal) Error() string { return fmt.Sprintf("%d: %s", e.status, e.what) }

var (
	errNoPath = refusal{http.StatusNotFound, "Not found"}
	errLimit  = refusal{http.StatusTooManyRequests, "Too Many Requests"}
)

// A Server is one of the simulators. It is an http.Handler.
type Server struct {
	// Faults decides what happens to requests, by an endpoint's path without its
	// variables, such as /prices/current.
	Faults *inject.Book

	kind
	market Market
	now    func() time.Time

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
}

// New makes a simulator of the service with that name. now may be nil: the clock.
func New(name string, m Market, now func() time.Time) (*Server, error) {
	if now == nil {
		now = fault.Now
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

// Base is what the base URL of the service with that name ends in.
func Base(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.base
		}
	}
	return ""
}

// Settings are the present ones.
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

// Reset removes faults and counts and goes back to the default settings.
func (s *Server) Reset() {
	s.Faults.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = DefaultSettings.clone()
	s.limits.Reset()
}

// Close does nothing: a price service does nothing in the background.
func (s *Server) Close() error { return nil }

// maxURL is how long a request's path and query may be, as the servers in front of
// such services have it.
const maxURL = 8 << 10

// find is the first endpoint that a request fits, whose variables it sets.
func (k kind) find(r *http.Request) (endpoint, bool) {
	for _, e := range k.endpoints {
		method, path, _ := strings.Cut(e.pattern, " ")
		if method == r.Method && match(path, r) {
			return e, true
		}
	}
	return endpoint{target: "/unknown"}, false
}

// match holds a request's path against a pattern, a segment in braces being a
// variable that is not empty.
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
	s.Faults.Meet(e.target).Serve(w, r, func(w http.ResponseWriter, r *http.Request) {
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

var answers = form.Answer{ContentType: "application/json; charset=utf-8", Bare: true}

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
