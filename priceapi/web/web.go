// Package web is the token price REST API: the records of its contract, the same on
// loopback and hosted, and documentation that is generated from them.
//
// A request passes the guard (Host, Origin, size), the gate (keys and rates, where
// there are any), and then one of two ways. The plain form of the two hot requests is
// recognised and answered at once with bytes that are encoded once per board. All
// else goes the long way: the router, validation, a handler. Both ways end in the
// same handlers, and the short way takes only what the long way would take too.
package web

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"swapkeep/fault"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"
)

// Base is the prefix of every resource.
const Base = "/api/v1"

// A Config is what an API serves and whom.
type Config struct {
	Feed   *pricetable.Feed
	Charts Charts
	// Health looks at what the API stands on. It is asked at every health request and
	// bounded by its context.
	Health  func(ctx context.Context) Health
	Version string
	// Hosts is what the Host header may say, with its port; a name that was made to
	// point here by somebody else is refused by it. Empty: what Serve listens on, and
	// until then nothing.
	Hosts []string
	// Origins are the browser origins that may read besides the API's own, such as
	// https://app.example.
	Origins []string
	// TrustForwarded are the proxies whose X-Forwarded-For is believed.
	TrustForwarded []netip.Prefix
	// Keys tells whose an API key is, in constant time; nil = no keys are asked for.
	Keys func(ctx context.Context, key string) (client string, ok bool)
	// Keyless: with Keys, who shows no key may ask too.
	Keyless bool
	// Limiter bounds how often a client may ask; nil = as often as it likes.
	Limiter Limiter
	// Cache keeps encoded lists beyond this process; nil = in this process only.
	Cache  Cache
	Limits Limits
	// Log takes what net/http says of broken connections and panics; nil = nobody.
	Log *log.Logger
	Now func() time.Time // fault.Now when nil
}

// Charts are what a history tells the API. See [poll.History].
type Charts interface {
	Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error)
	Coverages(ctx context.Context, now time.Time) ([]poll.Coverage, error)
	Totals(ctx context.Context) (poll.Totals, error)
}

// Health is what a look at the system found. Database and Cache name the engine and
// how it is, such as "bbolt: ok".
type Health struct {
	Status          Status
	Database, Cache string
}

// A Status sums a system's health up.
type Status string

// The statuses. Degraded is working with something missing.
const (
	Healthy   Status = "healthy"
	Degraded  Status = "degraded"
	Unhealthy Status = "unhealthy"
)

// A Limiter counts the requests of clients. It may be called concurrently. An error
// means that it could not count, and the request is refused; a limiter that would
// rather let clients in counts by itself instead.
type Limiter interface {
	Allow(ctx context.Context, client string) (Allowance, error)
}

// An Allowance is a limiter's answer.
type Allowance struct {
	OK               bool
	Limit, Remaining int           // requests in the current window
	RetryAfter       time.Duration // when not OK
}

// A Cache keeps encoded answers for all processes of a service, whose boards must
// agree: Seq and Fetched together name one content. It may forget anything at any
// time; what it cannot do it does not report.
type Cache interface {
	Get(ctx context.Context, key string) (body []byte, ok bool)
	Set(ctx context.Context, key string, body []byte)
}

// An API serves one feed.
type API struct {
	c      Config
	now    func() time.Time
	limits Limits

	hosts   atomic.Pointer[map[string]bool]
	origins map[string]bool
	vary    []string // of every answer; nil = it depends on no header

	router *mux.Router
	docs   huma.API
	spec   func() *answer // /openapi.json

	current  atomic.Pointer[snapshot]
	renewing sync.Mutex    // held while a snapshot is made
	coverage chan struct{} // held while coverages are read
	reading  chan struct{} // held while a chart is read
	streams  chan struct{} // held by every event stream
	changes  changes

	streaming sync.Mutex
	streamsOf map[string]int // open ones by client, where clients are told apart

	served   atomic.Bool
	stopping chan struct{} // closed when Serve ends
}

// New checks the configuration and builds the routes. It listens to nothing.
func New(c Config) (*API, error) {
	switch {
	case c.Feed == nil || c.Charts == nil || c.Health == nil:
		return nil, errors.New("the price API needs a feed, charts and a look at the system's health")
	case c.Version == "":
		return nil, errors.New("the price API needs a version")
	}
	for _, o := range c.Origins {
		if err := checkOrigin(o); err != nil {
			return nil, err
		}
	}
	l := c.Limits.or(DefaultLimits())
	a := &API{
		c: c, now: c.Now, limits: l, origins: set(c.Origins),
		coverage: make(chan struct{}, 1), reading: make(chan struct{}, l.Charts), streams: make(chan struct{}, l.Streams),
		stopping: make(chan struct{}), streamsOf: map[string]int{},
	}
	if a.now == nil {
		a.now = fault.Now
	}
	if len(c.Origins) > 0 {
		a.vary = []string{"Origin"}
	}
	a.allowHosts(c.Hosts)
	a.route()
	a.spec = sync.OnceValue(a.document)
	return a, nil
}

// Handler serves every request. Until Hosts is configured or Serve was called it
// refuses them all.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }

func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	if p := a.guard(w, r); p != nil {
		p.write(w, r)
		return
	}
	if isPreflight(r) && a.preflight(w, r) {
		return
	}
	if p := a.gate(w, r); p != nil {
		p.write(w, r)
		return
	}
	switch {
	case a.short(w, r):
	case oddPath(r.URL.EscapedPath()):
		unknownPath.says("no resource has this path").write(w, r)
	default:
		a.router.ServeHTTP(w, asGet(r))
	}
}

// snapshot is the newest board's.
func (a *API) snapshot() *snapshot {
	if s := a.current.Load(); s != nil && s.board == a.c.Feed.Now() {
		return s
	}
	a.renewing.Lock()
	defer a.renewing.Unlock()
	b := a.c.Feed.Now()
	if s := a.current.Load(); s != nil && s.board == b {
		return s
	}
	s := newSnapshot(b)
	a.current.Store(s)
	return s
}

func (a *API) allowHosts(hosts []string) {
	allowed := set(hosts)
	a.hosts.Store(&allowed)
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for v := range slices.Values(list) {
		m[v] = true
	}
	return m
}

func checkOrigin(o string) error {
	u, err := parseOrigin(o)
	if err != nil || u != o {
		return fmt.Errorf("browser origin %q: write it as a browser does, such as https://app.example or http://127.0.0.1:3000", o)
	}
	return nil
}
