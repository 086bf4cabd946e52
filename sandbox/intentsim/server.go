// Package intentsim simulates the Khalani HyperStream API on the sandbox's chains. It
// quotes, builds deposits for a real contract, and its solver pays from its own account
// on the destination chain, or refunds on the source chain.
package intentsim

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
	"swapkeep/sandbox/operator"
)

// A Server is the simulator. It is an http.Handler for paths under /v1.
type Server struct {
	// Faults holds the fault rules, by path. The pointer of a lie about a streamed
	// response starts with the line number, from 0.
	Faults *inject.Book

	chains   []*chain
	solver   *operator.Account
	stranger *operator.Account
	tokens   abi.ABI
	deposit  abi.ABI
	pool     abi.ABI
	mux      *http.ServeMux

	stop context.CancelFunc
	done chan struct{} // closed when the solver has ended

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
	quotes   map[string]*quote // by id
	orders   []*order          // oldest first
}

// Options configure a simulator.
type Options struct {
	Solver   *operator.Account // fills and refunds from its own balance
	Stranger *operator.Account // pays if an outcome says so
	Layout   uint64            // seed of the deposit contracts' layouts; see NewLayout
}

// New returns a simulator on the chains and starts its solver, which Close stops.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Server, error) {
	token, err := set.Get("MockERC20")
	if err != nil {
		return nil, err
	}
	contract, err := set.Get("IntentDeposit")
	if err != nil {
		return nil, err
	}
	pool, err := set.Get("SpokePool")
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, solver: o.Solver, stranger: o.Stranger, tokens: token.ABI, deposit: contract.ABI, pool: pool.ABI, mux: http.NewServeMux(), done: make(chan struct{})}
	for _, c := range chains {
		s.chains = append(s.chains, &chain{Chain: c, layout: NewLayout(o.Layout, c.ID)})
	}
	for _, e := range endpoints {
		s.mux.HandleFunc(e.pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, e) })
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { writeError(w, errNotFound) })
	s.Reset()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.solve(ctx)
	return s, nil
}

// Close stops the solver. It must be called once only.
func (s *Server) Close() error {
	s.stop()
	<-s.done
	return nil
}

// Reset removes faults and counts, restores the default settings and forgets quotes and
// orders. Payments that were sent still arrive.
func (s *Server) Reset() {
	s.Faults.Reset()
	_ = s.Set(DefaultSettings()) // the defaults are never refused
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quotes, s.orders = map[string]*quote{}, nil
}

// An endpoint answers one method and path.
type endpoint struct {
	pattern string
	answer  func(s *Server, body []byte, r *http.Request) (any, error)
}

var endpoints = []endpoint{
	{"GET /v1/tokens", (*Server).listTokens},
	{"GET /v1/tokens/search", (*Server).searchTokens},
	{"GET /v1/tokens/top", (*Server).topTokens},
	{"GET /v1/chains", (*Server).listChains},
	{"POST /v1/quotes", (*Server).postQuotes},
	{"POST /v1/deposit/build", (*Server).postBuild},
	{"PUT /v1/deposit/submit", (*Server).putSubmit},
	{"GET /v1/orders/by-id/{order}", (*Server).getOrder},
	{"GET /v1/orders/{author}", (*Server).listOrders},
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Settings().ClockSeconds != 0 {
		w.Header().Set("Date", s.clock().UTC().Format(http.TimeFormat))
	}
	s.Faults.Decide(r.URL.Path).Serve(w, r, s.mux.ServeHTTP, lieAbout(r), nil)
}

// answer applies the rate limit and Settings.Errors before it handles the request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, e endpoint) {
	body, err := readBody(w, r)
	if err == nil {
		err = s.admit(r.URL.Path)
	}
	var reply any
	if err == nil {
		reply, err = e.answer(s, body, r)
	}
	switch streamed, isStream := reply.(*stream); {
	case err != nil:
		writeError(w, err)
	case isStream:
		streamed.write(w, r)
	default:
		answers.Write(w, http.StatusOK, reply)
	}
}

// readBody reads a JSON body; a body of another content type counts as {}.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := form.Read(w, r)
	if err != nil {
		return nil, fail("BadRequestException", "request entity too large", nil)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return []byte("{}"), nil
	}
	return body, nil
}

func (s *Server) admit(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.limits.Allow("", s.settings.RateLimit, time.Minute) {
		return fail("ThrottlerException", "", nil)
	}
	i := slices.IndexFunc(s.settings.Errors, func(e Error) bool { return e.matches(path) })
	if i < 0 {
		return nil
	}
	e := &s.settings.Errors[i]
	name := e.Name
	if e.Times--; e.Times == 0 {
		s.settings.Errors = slices.Delete(s.settings.Errors, i, i+1)
	}
	return fail(name, "", nil)
}

// clock returns the simulator's time, which ClockSeconds may shift.
func (s *Server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clockNow()
}

// clockNow is clock for callers that hold the lock.
func (s *Server) clockNow() time.Time {
	return clock.Now().Add(time.Duration(s.settings.ClockSeconds) * time.Second)
}

// Controls returns the simulator's requests of the control endpoint.
func (s *Server) Controls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /orders": func(*http.Request) (any, error) { return s.Orders(), nil },
	}
}
