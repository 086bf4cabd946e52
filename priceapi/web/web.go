// Package web is the token price REST API: its records, which are the same on loopback and
// hosted, and documentation generated from them.
//
// A request first passes guard (Host, Origin, size) and gate (keys and rate limits, if
// configured). The plain form of the two hot requests is then answered directly with bytes
// that are encoded once per table. Everything else goes through the router and validation
// to a handler. Both paths use the same handlers, and the short one accepts only what the
// long one would.
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

	"swapkeep/internal/clock"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"
)

// Base is the prefix of every resource.
const Base = "/api/v1"

// A Config configures an API.
type Config struct {
	Feed   *pricetable.Feed
	Charts Charts
	// Health checks what the API depends on. It is called for every health request, with a
	// context that has a deadline.
	Health  func(ctx context.Context) Health
	Version string
	// Hosts are the accepted Host headers, with port. Checking them stops DNS rebinding: a
	// foreign name that is made to point here is rejected. Empty = the listener's names
	// once Serve is called, and none before.
	Hosts []string
	// Origins are browser origins that may read besides the API's own, such as
	// https://app.example.
	Origins []string
	// TrustForwarded are the proxies whose X-Forwarded-For is trusted.
	TrustForwarded []netip.Prefix
	// Keys returns the owner of an API key, in constant time; nil = no keys are required.
	Keys func(ctx context.Context, key string) (client string, ok bool)
	// Keyless: clients without a key are allowed although Keys is set.
	Keyless bool
	// Limiter applies a rate limit per client; nil = no limit.
	Limiter Limiter
	// Cache shares encoded lists with other processes; nil = none.
	Cache  Cache
	Limits Limits
	// Log receives net/http's messages about broken connections and panics; nil =
	// discarded.
	Log *log.Logger
	Now func() time.Time // nil = clock.Now
}

// Charts is the part of a history that the API needs. See [poll.History].
type Charts interface {
	Chart(ctx context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error)
	Coverages(ctx context.Context, now time.Time) ([]poll.Coverage, error)
	Totals(ctx context.Context) (poll.Totals, error)
}

// Health is the result of a health check. Database and Cache give the engine and its state,
// such as "bbolt: ok".
type Health struct {
	Status          Status
	Database, Cache string
}

// A Status is the overall health.
type Status string

// The statuses. Degraded means working with something missing.
const (
	Healthy   Status = "healthy"
	Degraded  Status = "degraded"
	Unhealthy Status = "unhealthy"
)

// A Limiter counts requests of clients and may be called concurrently. If it returns an
// error the request is rejected; a limiter that would rather admit clients must fall back
// to a count of its own.
type Limiter interface {
	Allow(ctx context.Context, client string) (Allowance, error)
}

// An Allowance is a limiter's answer.
type Allowance struct {
	OK               bool
	Limit, Remaining int           // requests in the current window
	RetryAfter       time.Duration // if not OK
}

// A Cache shares encoded answers among all processes of a service. Their tables must agree:
// the same Seq and Fetched mean the same content. It may lose entries at any time and
// reports no errors.
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
	vary    []string // Vary header of every answer; nil = none

	router *mux.Router
	docs   huma.API
	spec   func() *answer // /openapi.json

	current  atomic.Pointer[snapshot]
	renewing sync.Mutex    // held while a snapshot is made
	coverage chan struct{} // semaphore for reading coverages
	reading  chan struct{} // semaphore for reading charts
	streams  chan struct{} // semaphore for event streams
	changes  changes

	streaming sync.Mutex
	streamsOf map[string]int // open streams by client, where clients are identified

	served   atomic.Bool
	stopping chan struct{} // closed when Serve ends
}

// New checks the configuration and builds the routes. It does not listen.
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
	l := c.Limits.withDefaults(DefaultLimits())
	a := &API{
		c: c, now: c.Now, limits: l, origins: set(c.Origins),
		coverage: make(chan struct{}, 1), reading: make(chan struct{}, l.Charts), streams: make(chan struct{}, l.Streams),
		stopping: make(chan struct{}), streamsOf: map[string]int{},
	}
	if a.now == nil {
		a.now = clock.Now
	}
	if len(c.Origins) > 0 {
		a.vary = []string{"Origin"}
	}
	a.allowHosts(c.Hosts)
	a.route()
	a.spec = sync.OnceValue(a.document)
	return a, nil
}

// Handler serves every request. Until Hosts is configured or Serve is called it rejects all
// of them.
func (a *API) Handler() http.Handler { return http.HandlerFunc(a.serve) }

func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	if p := a.guard(w, r); p != nil {
		p.write(w, r)
		return
	}
	if isPreflight(r) && a.preflight(w, r) {
		return
	}
	if p := a.authorize(w, r); p != nil {
		p.write(w, r)
		return
	}
	switch {
	case a.fastPath(w, r):
	case ambiguousPath(r.URL.EscapedPath()):
		unknownPath.problem("no resource has this path").write(w, r)
	default:
		a.router.ServeHTTP(w, headToGet(r))
	}
}

// snapshot returns the snapshot of the newest table.
func (a *API) snapshot() *snapshot {
	if s := a.current.Load(); s != nil && s.table == a.c.Feed.Now() {
		return s
	}
	a.renewing.Lock()
	defer a.renewing.Unlock()
	b := a.c.Feed.Now()
	if s := a.current.Load(); s != nil && s.table == b {
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
