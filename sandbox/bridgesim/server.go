// Package bridgesim simulates the Relay API on the sandbox's chains. It reads deposits
// from the depository's events; a solver with its own balances pays them out on the other
// chain or refunds them; and swaps on one chain go through stand-ins for the router,
// whose calldata layout only this package knows.
package bridgesim

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/websocket"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
	"swapkeep/sandbox/operator"
)

// Options configure a simulator.
type Options struct {
	APIKey   string            // required, as by the live API, and restored by Reset; "" = none
	Solver   *operator.Account // pays from its own balance on every chain
	Stranger *operator.Account // pays if an outcome says so
	Layout   uint64            // seeds the layouts of the routers
}

// A market is a chain that the bridge serves.
type market struct {
	operator.Chain
	abis   abis
	layout uint64

	scanned scanState // used only by the goroutine that listens
}

// A Server is the simulator. It is an http.Handler.
type Server struct {
	// Faults holds the fault rules, by endpoint path. /ws/event stands for the events of
	// the websocket.
	Faults *inject.Book
	Options

	markets map[uint64]*market
	end     context.CancelFunc
	ended   sync.WaitGroup

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
	book     book
	hub      hub
}

// New returns a simulator on the chains and starts to listen for deposits.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Server, error) {
	loaded, err := loadABIs(set)
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, Options: o, markets: map[uint64]*market{}}
	for _, c := range chains {
		if c.Bridge().Name != "" {
			s.markets[c.ID] = &market{Chain: c, abis: loaded, layout: o.Layout}
		}
	}
	s.Reset()
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.ended.Add(1)
	go s.settle(ctx)
	return s, nil
}

// Close stops the solver and closes every websocket. Transactions that were sent stay
// sent.
func (s *Server) Close() error {
	s.end()
	s.ended.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hub.close()
	return nil
}

// Settings returns the current settings.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.clone()
}

// Set changes the settings.
func (s *Server) Set(settings Settings) error {
	if err := settings.check(); err != nil {
		return err
	}
	if settings.Router != newest && !slices.ContainsFunc(slices.Collect(maps.Values(s.markets)), func(m *market) bool {
		p, err := m.pair(settings.Router)
		return err == nil && p.Version == settings.Router
	}) {
		return errRouter
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings.clone()
	s.limits.Reset()
	return nil
}

// Reset removes faults and counts, restores the default settings with the API key of
// Options, and forgets all orders.
func (s *Server) Reset() {
	s.Faults.Reset()
	settings := DefaultSettings
	settings.APIKey = s.APIKey
	s.mu.Lock()
	defer s.mu.Unlock()
	// The count of ids goes on, so that an earlier deposit cannot match a later order.
	s.settings, s.book = settings, book{count: s.book.count}
	s.limits.Reset()
}

// An endpoint answers one method and path.
type endpoint struct {
	method, path string
	quotes       bool // requires the key and counts against QuoteLimit
	answer       func(s *Server, ctx context.Context, body []byte, r *http.Request) (any, error)
}

var endpoints = []endpoint{
	{http.MethodGet, "/chains", false, (*Server).chainList},
	{http.MethodPost, "/currencies/v1", false, (*Server).currencyGroups},
	{http.MethodPost, "/currencies/v2", false, (*Server).currencyList},
	{http.MethodGet, "/currencies/token/price", false, (*Server).priceNumber},
	{http.MethodGet, "/currencies/token/price/v2", false, (*Server).priceText},
	{http.MethodPost, "/quote/v2", true, (*Server).quote},
	{http.MethodPost, "/quote", true, (*Server).quote},
	{http.MethodPost, "/price", true, (*Server).indicative},
	{http.MethodPost, "/transactions/index", false, (*Server).index},
	{http.MethodPost, "/transactions/single", false, (*Server).single},
	{http.MethodGet, "/intents/status/v3", false, (*Server).statusV3},
	{http.MethodGet, "/intents/status/v2", false, (*Server).statusV2},
	{http.MethodGet, "/intents/status", false, (*Server).statusV1},
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve := s.serve
	if r.URL.Path == socketPath || websocket.IsWebSocketUpgrade(r) {
		serve = s.socket
	}
	s.Faults.Decide(r.URL.Path).Serve(w, r, serve, nil, nil)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return r.Method == e.method && r.URL.Path == e.path })
	if i < 0 {
		writeError(w, noRoute(r))
		return
	}
	body, err := form.Read(w, r)
	if err != nil {
		writeError(w, errTooLarge)
		return
	}
	if err := s.admit(endpoints[i], r); err != nil {
		writeError(w, err)
		return
	}
	reply, err := endpoints[i].answer(s, r.Context(), body, r)
	if err != nil {
		writeError(w, err)
		return
	}
	answers.Write(w, http.StatusOK, reply)
}

// admit checks the content type, the key and the rate limit.
func (s *Server) admit(e endpoint, r *http.Request) error {
	if e.method == http.MethodPost && !isJSON(r.Header.Get("Content-Type")) {
		return errMediaType
	}
	settings, key := s.Settings(), r.Header.Get("x-api-key")
	if e.quotes && settings.APIKey != "" && key != settings.APIKey {
		return errUnauthorized
	}
	limit, bucket := settings.Limit, "other "+key
	if e.quotes {
		limit, bucket = settings.QuoteLimit, "quote "+key
	}
	if !s.limits.Allow(bucket, limit, time.Minute) {
		return errRate
	}
	return nil
}

// market returns a running chain that the bridge serves. The error is errChain or
// errDisabled.
func (s *Server) market(id uint64) (*market, error) {
	m := s.markets[id]
	if m == nil {
		return nil, errChain
	}
	if !m.IsRunning() || slices.Contains(s.Settings().Disabled, id) {
		return nil, errDisabled
	}
	return m, nil
}

// ids lists the known chains in ascending order.
func (s *Server) ids() []uint64 { return slices.Sorted(maps.Keys(s.markets)) }

// running returns the running chains, in ascending order of id.
func (s *Server) running() []*market {
	var all []*market
	for _, id := range s.ids() {
		if m := s.markets[id]; m.IsRunning() {
			all = append(all, m)
		}
	}
	return all
}

// Haircut makes all of the chain's routers pay less by so many basis points. It waits for
// a block.
func (s *Server) Haircut(ctx context.Context, chain uint64, bips int64) error {
	m, err := s.market(chain)
	if err != nil {
		return err
	}
	for _, p := range m.Bridge().Pairs {
		if err := s.haircut(ctx, m, p.Router, bips); err != nil {
			return err
		}
	}
	return nil
}

var _ http.Handler = (*Server)(nil)

// contractsOf returns the contracts whose events concern orders.
func (m *market) contractsOf() []common.Address {
	b := m.Bridge()
	all := []common.Address{b.Depository}
	for _, p := range b.Pairs {
		all = append(all, p.Router)
	}
	return all
}
