// Package gaslesssim simulates Bebop, with JAM v2 and RFQ v3, on the sandbox's chains. It
// quotes the tokens' starting prices; a solver or a maker with its own balance settles
// signed orders through stand-ins for the settlement contracts.
package gaslesssim

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
	"swapkeep/sandbox/operator"
)

// Options configure a simulator.
type Options struct {
	Solver *operator.Account // settles JAM orders
	Maker  *operator.Account // makes and settles RFQ trades
}

// A Server is the simulator. It is an http.Handler.
type Server struct {
	// Faults holds the fault rules, by path such as /jam/ethereum/v2/quote, or for all
	// chains by a target such as jam/quote.
	Faults *inject.Book
	Options

	markets []*market // running and served
	abis    abis

	background context.Context // ends with Close
	end        context.CancelFunc
	watching   sync.WaitGroup

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
	book     book
}

// abis are the ABIs of the contracts that the simulator calls.
type abis struct {
	jam, rfq, permit2, erc20 abi.ABI
}

func loadABIs(set *contracts.Set) (abis, error) {
	var a abis
	for name, to := range map[string]*abi.ABI{
		"JamSettlement": &a.jam, "RfqSettlement": &a.rfq, "Permit2": &a.permit2, "MockERC20": &a.erc20,
	} {
		c, err := set.Get(name)
		if err != nil {
			return abis{}, err
		}
		*to = c.ABI
	}
	return a, nil
}

// New returns a simulator on the chains. It follows their blocks until Close.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Server, error) {
	loaded, err := loadABIs(set)
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, Options: o, abis: loaded}
	s.Reset()
	s.background, s.end = context.WithCancel(context.Background())
	for _, c := range chains {
		if c.IsRunning() && c.Gasless().Name != "" {
			s.markets = append(s.markets, &market{Chain: c, abis: loaded})
		}
	}
	for _, m := range s.markets {
		if err := s.watch(m); err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("chain %d: follow its blocks: %w", m.ID, err)
		}
	}
	return s, nil
}

// Settings returns the current settings.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Set changes the settings. Orders accepted before keep their outcome.
func (s *Server) Set(settings Settings) error {
	if err := settings.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
	s.limits.Reset()
	return nil
}

// Reset removes faults and counts, restores the default settings and forgets quotes and
// orders. Chain state stays.
func (s *Server) Reset() {
	s.Faults.Reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.book = DefaultSettings, book{}
	s.limits.Reset()
}

// Close stops settling orders. It must be called once only.
func (s *Server) Close() error {
	s.end()
	s.watching.Wait()
	return nil
}

// A request is a request to an endpoint.
type request struct {
	*http.Request
	protocol *protocol // nil if the path names none
	market   *market   // nil if the path names no chain
	body     []byte
}

// An endpoint answers one method and path.
type endpoint struct {
	method, path string // {chain} stands for a chain's name
	protocol     *protocol
	answer       func(s *Server, ctx context.Context, r *request) (any, error)
}

// endpoints returns all endpoints.
func endpoints() []endpoint {
	all := []endpoint{
		{http.MethodGet, "/pmm/chains", nil, (*Server).listChains},
		{http.MethodGet, "/pmm/{chain}/v3/tokenlist", rfq, (*Server).listTokens},
		{http.MethodGet, "/pmm/{chain}/v3/token-info", rfq, (*Server).tokenInfo},
		{http.MethodGet, "/tokens/v1/{chain}/tokenlist", nil, (*Server).listTokens},
	}
	for _, p := range protocols() {
		base := "/" + p.path + "/{chain}/" + p.version
		all = append(all,
			endpoint{http.MethodGet, base + "/quote", p, (*Server).quote},
			endpoint{http.MethodPost, base + "/order", p, (*Server).order},
			endpoint{http.MethodGet, base + "/order-status", p, (*Server).orderStatus},
		)
	}
	return all
}

// match matches a path against an endpoint's and returns the chain's name.
func match(pattern, path string) (chain string, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return "", false
	}
	for i := range want {
		switch want[i] {
		case "{chain}":
			chain = got[i]
		case got[i]:
		default:
			return "", false
		}
	}
	return chain, true
}

// find returns the endpoint of a request. The error is errNoPath or errNoMethod.
func find(r *http.Request) (e endpoint, chain string, err error) {
	err = errNoPath
	for _, e := range endpoints() {
		if chain, ok := match(e.path, r.URL.Path); ok {
			if e.method == r.Method {
				return e, chain, nil
			}
			err = errNoMethod
		}
	}
	return endpoint{}, "", err
}

// target returns the fault target of an endpoint for all chains.
func (e endpoint) target() string {
	return e.protocol.name + e.path[strings.LastIndex(e.path, "/"):]
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	targets := []string{r.URL.Path}
	e, chain, err := find(r)
	if err == nil && e.protocol != nil {
		targets = append(targets, e.target())
	}
	s.Faults.Decide(targets...).Serve(w, r, func(w http.ResponseWriter, r *http.Request) {
		if err != nil {
			writeError(w, err)
			return
		}
		s.serve(w, r, e, chain)
	}, nil, nil)
}

// downPage is the response of a proxy in front of a service that is down.
const downPage = "<html><head><title>503 Service Temporarily Unavailable</title></head><body><h1>503 Service Temporarily Unavailable</h1></body></html>\n"

func (s *Server) serve(w http.ResponseWriter, r *http.Request, e endpoint, chain string) {
	settings := s.Settings()
	if e.protocol != nil && e.protocol.behaviour(&settings).Down {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, downPage)
		return
	}
	reply, err := s.answer(w, r, e, chain)
	if err != nil {
		writeError(w, err)
		return
	}
	answers.Write(w, http.StatusOK, reply)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, e endpoint, chain string) (any, error) {
	req := &request{Request: r, protocol: e.protocol}
	var err error
	if strings.Contains(e.path, "{chain}") {
		if req.market, err = s.market(e.protocol, chain); err != nil {
			return nil, err
		}
	}
	if err := s.admit(r); err != nil {
		return nil, err
	}
	if req.body, err = form.Read(w, r); err != nil {
		return nil, refusal{http.StatusRequestEntityTooLarge, "Request Entity Too Large"}
	}
	return e.answer(s, r.Context(), req)
}

// market looks up a chain by its name. If p is not nil, the chain must have that
// protocol.
func (s *Server) market(p *protocol, name string) (*market, error) {
	for _, m := range s.markets {
		if m.Gasless().Name == name && (p == nil || p.offered(m.Chain)) {
			return m, nil
		}
	}
	return nil, problems{{[]string{"path", "chain"}, "Input should be a supported chain", "enum"}}
}

// key returns the partner key of a request.
func key(r *http.Request) string {
	if k := r.Header.Get("source-auth"); k != "" {
		return k
	}
	return r.URL.Query().Get("source-auth")
}

func (s *Server) admit(r *http.Request) error {
	settings := s.Settings()
	if k := key(r); k != "" && settings.APIKey != "" && k != settings.APIKey {
		return errKey
	}
	if !s.limits.Allow(key(r), settings.RateLimit, time.Second) {
		return failure{111, "too many requests"}
	}
	return nil
}
