// Package bridgesim answers as the Relay API does, over the sandbox's chains:
// deposits are seen in the depository's events, a solver with balances of its own
// pays them out on the other chain or back on the same, and swaps on one chain go
// through stand-ins of the router, whose calldata nobody but this package can
// read.
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

// Options are what a simulator is made with.
type Options struct {
	APIKey   string            // demanded, as the live API does, and again after a Reset; "" = none
	Solver   *operator.Account // pays from its own balance on every chain
	Stranger *operator.Account // pays where an outcome says so
	Layout   uint64            // the number that the routers were laid out with
}

// A market is one chain that the bridge goes to.
type market struct {
	operator.Chain
	abis   abis
	layout uint64

	heard heard // by the one goroutine that listens
}

// A Server is the simulator. It is an http.Handler.
type Server struct {
	// Faults decides what happens to requests, by endpoint path, and to the
	// frames of the websocket, as /ws/event.
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

// New makes a simulator over the chains and lets it listen for deposits.
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

// Close ends what the solver does, and every websocket. What it has sent stays
// sent.
func (s *Server) Close() error {
	s.end()
	s.ended.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hub.close()
	return nil
}

// Settings are the present ones.
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

// Reset removes faults and counts, goes back to the default settings, with the
// API key that it was made with, and forgets every order.
func (s *Server) Reset() {
	s.Faults.Reset()
	settings := DefaultSettings
	settings.APIKey = s.APIKey
	s.mu.Lock()
	defer s.mu.Unlock()
	// Ids go on: a deposit made before is not one of a later order.
	s.settings, s.book = settings, book{count: s.book.count}
	s.limits.Reset()
}

// An endpoint answers one method and path.
type endpoint struct {
	method, path string
	quotes       bool // needs the key, and counts against the limit of quotes
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
	s.Faults.Meet(r.URL.Path).Serve(w, r, serve, nil, nil)
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

// admit looks at the headers, the key and the rate.
func (s *Server) admit(e endpoint, r *http.Request) error {
	if e.method == http.MethodPost && !isJSON(r.Header.Get("Content-Type")) {
		return errMediaType
	}
	settings, key := s.Settings(), r.Header.Get("x-api-key")
	if e.quotes && settings.APIKey != "" && key != settings.APIKey {
		return errUnauthorized
	}
	most, bucket := settings.Limit, "other "+key
	if e.quotes {
		most, bucket = settings.QuoteLimit, "quote "+key
	}
	if !s.limits.Allow(bucket, most, time.Minute) {
		return errRate
	}
	return nil
}

// market finds a chain that the bridge goes to and that runs here.
func (s *Server) market(id uint64) (*market, error) {
	m := s.markets[id]
	if m == nil {
		return nil, errChain
	}
	if !m.Runs() || slices.Contains(s.Settings().Disabled, id) {
		return nil, errDisabled
	}
	return m, nil
}

// ids lists the known chains in ascending order.
func (s *Server) ids() []uint64 { return slices.Sorted(maps.Keys(s.markets)) }

// running are the chains that run here, in ascending order.
func (s *Server) running() []*market {
	var all []*market
	for _, id := range s.ids() {
		if m := s.markets[id]; m.Runs() {
			all = append(all, m)
		}
	}
	return all
}

// Haircut moves the market against every call of the chain's routers, by so many
// basis points. It waits for a block.
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

// contractsOf are those of the chain whose events tell of orders.
func (m *market) contractsOf() []common.Address {
	b := m.Bridge()
	all := []common.Address{b.Depository}
	for _, p := range b.Pairs {
		all = append(all, p.Router)
	}
	return all
}
