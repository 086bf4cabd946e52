// Package intentsim answers as the Khalani HyperStream API does, over the
// sandbox's chains: it quotes, builds deposits for a contract that really takes
// them, and its solver really pays on the destination chain, or back on the
// source chain, out of an account of its own.
package intentsim

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"swapkeep/fault"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
	"swapkeep/sandbox/operator"
)

// A Server is the simulator. It is an http.Handler for paths under /v1.
type Server struct {
	// Faults decides what happens to requests, by path. A lie about a streamed
	// answer begins its pointer with the number of the line.
	Faults *inject.Book

	chains   []*chain
	solver   *operator.Account
	stranger *operator.Account
	tokens   abi.ABI
	deposit  abi.ABI
	mux      *http.ServeMux

	stop context.CancelFunc
	done chan struct{} // closed when the solver has ended

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
	quotes   map[string]*quote // by id
	orders   []*order          // oldest first
}

// Options are what a simulator is made with.
type Options struct {
	Solver   *operator.Account // fills and refunds from its own balance
	Stranger *operator.Account // pays where an outcome says so
	Layout   uint64            // seed of the deposit contracts' layouts; see NewLayout
}

// New makes a simulator over the chains and starts its solver, which Close ends.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Server, error) {
	token, err := set.Get("MockERC20")
	if err != nil {
		return nil, err
	}
	contract, err := set.Get("IntentDeposit")
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, solver: o.Solver, stranger: o.Stranger, tokens: token.ABI, deposit: contract.ABI, mux: http.NewServeMux(), done: make(chan struct{})}
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

// Close ends the solver. It may be called once.
func (s *Server) Close() error {
	s.stop()
	<-s.done
	return nil
}

// Reset removes faults and counts, goes back to the default settings, and
// forgets quotes and orders. A payment that is under way arrives nevertheless.
func (s *Server) Reset() {
	s.Faults.Reset()
	_ = s.Set(DefaultSettings()) // they are never refused
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
	s.Faults.Meet(r.URL.Path).Serve(w, r, s.mux.ServeHTTP, lieAbout(r), nil)
}

// answer goes through the rate and the errors that were ordered before it looks
// at the request itself.
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

// readBody reads a JSON body; one of another type is ignored.
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

// clock is the simulator's own, which may go wrong.
func (s *Server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clockNow()
}

// clockNow is clock for those who hold the lock.
func (s *Server) clockNow() time.Time {
	return fault.Now().Add(time.Duration(s.settings.ClockSeconds) * time.Second)
}

// Controls are the further requests of the control endpoint.
func (s *Server) Controls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /orders": func(*http.Request) (any, error) { return s.Orders(), nil },
	}
}
