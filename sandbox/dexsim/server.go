// Package dexsim answers as the Uniswap Trading API does, over the sandbox's
// chains: quotes come from the QuoterV2 contract, and the calldata it hands
// out is executed by the real Universal Router. It covers the AMM routes,
// WRAP and UNWRAP of EXACT_INPUT requests.
package dexsim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"
	"golang.org/x/time/rate"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/inject"
)

// routerVersion is the Universal Router version whose calldata is made.
const routerVersion = "2.1.2"

// maxRequest bounds a request body; the largest real one is a few kilobytes.
const maxRequest = 1 << 20

// A Token is one that a chain's pools trade.
type Token struct {
	Address  common.Address
	Symbol   string
	Name     string
	Decimals uint8
	MicroUSD int64 // value of one token, for the gas fields in other units
}

// A Chain is what the simulator knows of a chain.
type Chain struct {
	ID      uint64
	Client  *ethclient.Client // nil for a chain that is known but not running
	Served  bool              // false: the API knows no such chain
	Wrapped Token
	Tokens  []Token

	Permit2, Router, V2Factory, V2Router, V3Factory, Quoter common.Address
}

// Settings are what a test or a demonstration may change while the simulator
// runs.
type Settings struct {
	// APIKey is demanded in the header x-api-key; "" demands none, as when the
	// caller talks through a key proxy.
	APIKey string `json:"apiKey"`
	// RateLimit is the requests a second that each key may make; 0 = no limit.
	// The real API allows 6.
	RateLimit int `json:"rateLimit"`
	// MakerFeeBips is a fee of the DEX's own, in basis points of the output
	// after the integrator's fee.
	MakerFeeBips int64 `json:"makerFeeBips"`
	// MakerRecipient receives it.
	MakerRecipient common.Address `json:"makerRecipient"`
}

// DefaultSettings demand no key and take no fee.
var DefaultSettings = Settings{MakerRecipient: common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")}

// maxMakerFee bounds the fee of the DEX's own, in basis points.
const maxMakerFee = 500

// A Server is the simulator. It is an http.Handler for paths under /v1.
type Server struct {
	// Faults decides what happens to requests, by endpoint path without /v1.
	Faults *inject.Book

	chains map[uint64]*market
	abis   abis
	apiKey string // demanded after a Reset

	mu       sync.Mutex
	settings Settings
	limiters map[string]*rate.Limiter
}

// New makes a simulator over the chains. It demands the API key; "" is none.
func New(set *contracts.Set, chains []Chain, apiKey string) (*Server, error) {
	loaded, err := loadABIs(set)
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, chains: map[uint64]*market{}, abis: loaded, apiKey: apiKey}
	s.Reset()
	for _, c := range chains {
		s.chains[c.ID] = &market{Chain: c, abis: loaded}
	}
	return s, nil
}

// Settings are the present ones.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Set changes the settings.
func (s *Server) Set(settings Settings) error {
	if settings.MakerFeeBips < 0 || settings.MakerFeeBips > maxMakerFee {
		return fmt.Errorf("makerFeeBips: want 0 to %d", maxMakerFee)
	}
	if settings.RateLimit < 0 {
		return errors.New("rateLimit: want 0 or more")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.limiters = settings, nil
	return nil
}

// Reset removes faults and counts and goes back to the default settings, with
// the API key that it was made with.
func (s *Server) Reset() {
	s.Faults.Reset()
	settings := DefaultSettings
	settings.APIKey = s.apiKey
	_ = s.Set(settings)
}

// An endpoint answers one method and path. Check runs before the key is
// looked at, answer after.
type endpoint struct {
	method, path string
	check        func(body []byte, r *http.Request) error
	answer       func(s *Server, ctx context.Context, body []byte, r *http.Request) (any, error)
}

var endpoints = []endpoint{
	{http.MethodPost, "/check_approval", checkApproval, (*Server).approval},
	{http.MethodPost, "/quote", checkQuote, (*Server).quote},
	{http.MethodPost, "/swap", checkSwap, (*Server).swap},
	{http.MethodGet, "/swaps", checkSwaps, (*Server).swaps},
	{http.MethodGet, "/swappable_tokens", checkSwappable, (*Server).swappable},
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, _ := strings.CutPrefix(r.URL.Path, "/v1")
	s.Faults.Meet(path).Serve(w, r, s.serve, nil, nil)
}

// serve goes through the checks in the API's order: route, headers, schema,
// key, rate, and then the request itself.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return r.Method == e.method && r.URL.Path == "/v1"+e.path })
	if i < 0 {
		writeError(w, errNoResource)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		writeError(w, invalid("request body too large"))
		return
	}
	if err := s.admit(endpoints[i], body, r); err != nil {
		writeError(w, err)
		return
	}
	reply, err := endpoints[i].answer(s, r.Context(), body, r)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, reply)
}

func (s *Server) admit(e endpoint, body []byte, r *http.Request) error {
	const want = "application/json"
	if r.Header.Get("Accept") != want || (e.method == http.MethodPost && r.Header.Get("Content-Type") != want) {
		return errContentType
	}
	if v := r.Header.Get("x-universal-router-version"); v != "" && v != routerVersion {
		return invalid(`"x-universal-router-version" must be one of [` + routerVersion + `]`)
	}
	if err := e.check(body, r); err != nil {
		return err
	}
	settings := s.Settings()
	key := r.Header.Get("x-api-key")
	if settings.APIKey != "" && key != settings.APIKey {
		return errUnauthorized
	}
	if settings.RateLimit > 0 && !s.limiter(key, settings.RateLimit).Allow() {
		return errRate
	}
	return nil
}

// maxKeys bounds how many keys' rates are remembered.
const maxKeys = 1000

func (s *Server) limiter(key string, perSecond int) *rate.Limiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limiters == nil || len(s.limiters) >= maxKeys {
		s.limiters = map[string]*rate.Limiter{}
	}
	if s.limiters[key] == nil {
		s.limiters[key] = rate.NewLimiter(rate.Limit(perSecond), perSecond)
	}
	return s.limiters[key]
}

// market finds a chain that the API serves and that runs here.
func (s *Server) market(id uint64) (*market, error) {
	m := s.chains[id]
	if m == nil || !m.Served || m.Client == nil {
		return nil, errChain
	}
	return m, nil
}

// ids lists the known chains in ascending order.
func (s *Server) ids() []uint64 { return slices.Sorted(maps.Keys(s.chains)) }

// now is the clock or, where a chain has been moved ahead of it, the chain's
// time.
func (m *market) now(ctx context.Context) (time.Time, error) {
	head, err := m.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	if ahead := time.Unix(int64(head.Time), 0); ahead.After(now) {
		return ahead, nil
	}
	return now, nil
}
