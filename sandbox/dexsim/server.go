// Package dexsim simulates the Uniswap Trading API on the sandbox's chains. Quotes come
// from the chains' own pools and quoter contracts, the real Universal Router executes the
// calldata, and the simulator's own filler fills auctions through the real reactors. It
// covers EXACT_INPUT requests for AMM routes, auctions, WRAP and UNWRAP.
package dexsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/form"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/limit"
	"swapkeep/sandbox/operator"
)

// routerVersion is the Universal Router version for which calldata is made.
const routerVersion = "2.1.2"

// Settings can be changed while the simulator runs.
type Settings struct {
	// APIKey is the required value of the header x-api-key; "" requires none, as when the
	// caller goes through a key proxy.
	APIKey string `json:"apiKey"`
	// RateLimit is the allowed requests per second and key; 0 = no limit. The real API
	// allows 6.
	RateLimit int `json:"rateLimit"`
	// MakerFeeBips is a fee of the DEX's own, in basis points of the output after the
	// integrator's fee.
	MakerFeeBips int64 `json:"makerFeeBips"`
	// MakerRecipient receives that fee.
	MakerRecipient common.Address `json:"makerRecipient"`
	// Auctions says whether auctions are offered; see AuctionsBest.
	Auctions string `json:"auctions"`
	// AuctionMinUSD is the minimum value for an auction, in US dollars; 0 = 300.
	AuctionMinUSD int64 `json:"auctionLeastUsd"`
	// AuctionImprovementBips is how far auctions start above the pools, in basis points;
	// null = 10.
	AuctionImprovementBips *int64 `json:"auctionImprovementBips"`
	// DeadlineSeconds is how long an order can be filled; 0 = as in the real API, 300 for
	// V2 and 120 for V3.
	DeadlineSeconds int64 `json:"deadlineSeconds"`
	// Mixed routes pool quotes through a V3 pool and then a V2 pair.
	Mixed bool `json:"mixed"`
	// Untagged omits the API's tag at the end of calldata.
	Untagged bool `json:"untagged"`
	// Outcome applies to orders posted from now on.
	Outcome Outcome `json:"outcome"`
}

// DefaultSettings require no key and take no fee.
var DefaultSettings = Settings{MakerRecipient: common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")}

// maxMakerFee limits the fee of the DEX's own, in basis points.
const maxMakerFee = 500

// A Server is the simulator. It is an http.Handler for paths under /v1.
type Server struct {
	// Faults holds the fault rules, by endpoint path without /v1.
	Faults *inject.Book
	Options

	chains map[uint64]*market
	abis   abis
	orders orderBook
	ended  context.CancelFunc // stops the fillers
	fills  sync.WaitGroup

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
}

// Options configure a simulator.
type Options struct {
	APIKey   string            // required API key, restored by Reset; "" = none
	Filler   *operator.Account // fills auctions from its own balance
	Cosigner *operator.Account // cosigns the orders of auctions
}

// New returns a simulator on the chains and starts its fillers.
func New(set *contracts.Set, chains []operator.Chain, o Options) (*Server, error) {
	loaded, err := loadABIs(set)
	if err != nil {
		return nil, err
	}
	s := &Server{Faults: &inject.Book{}, Options: o, chains: map[uint64]*market{}, abis: loaded}
	s.Reset()
	for _, c := range chains {
		s.chains[c.ID] = &market{Chain: c, abis: loaded, posted: make(chan struct{}, 1)}
	}
	s.startFillers()
	return s, nil
}

// Settings returns the current settings.
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
	if err := settings.checkAuctions(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
	s.limits.Reset()
	return nil
}

// Limits of the auction settings.
const (
	maxImprovement = 1_000         // basis points, either way
	maxAuctionUSD  = 1 << 40       // US dollars
	maxDeadline    = 2 * 24 * 3600 // seconds; the order service takes half of it
)

func (s Settings) checkAuctions() error {
	bad := []struct {
		when bool
		why  string
	}{
		{!slices.Contains([]string{"", AuctionsBest, AuctionsNever, AuctionsAlways}, s.Auctions), "auctions: want best, never or always"},
		{s.AuctionMinUSD < 0 || s.AuctionMinUSD > maxAuctionUSD, "auctionLeastUsd: want 0 or more"},
		{s.improvement() < -maxImprovement || s.improvement() > maxImprovement, "auctionImprovementBips: want -1000 to 1000"},
		{s.DeadlineSeconds < 0 || s.DeadlineSeconds > maxDeadline, "deadlineSeconds: want 0 to 172800"},
	}
	for _, b := range bad {
		if b.when {
			return errors.New(b.why)
		}
	}
	if err := s.Outcome.check(); err != nil {
		return fmt.Errorf("outcome: %w", err)
	}
	return nil
}

// Reset removes faults and counts, forgets all orders and restores the default settings,
// with the API key of Options.
func (s *Server) Reset() {
	s.Faults.Reset()
	s.orders.forget()
	settings := DefaultSettings
	settings.APIKey = s.Options.APIKey
	_ = s.Set(settings)
}

// An endpoint answers one method and path. check runs before the API key is checked,
// answer after it.
type endpoint struct {
	method, path string
	check        func(body []byte, r *http.Request) error
	answer       func(s *Server, ctx context.Context, body []byte, r *http.Request) (any, error)
	status       int // of a success; 0 = 200
}

var endpoints = []endpoint{
	{http.MethodPost, "/check_approval", checkApproval, (*Server).approval, 0},
	{http.MethodPost, "/quote", checkQuote, (*Server).quote, 0},
	{http.MethodPost, "/swap", checkSwap, (*Server).swap, 0},
	{http.MethodGet, "/swaps", checkSwaps, (*Server).swaps, 0},
	{http.MethodGet, "/swappable_tokens", checkSwappable, (*Server).swappable, 0},
	{http.MethodPost, "/order", checkOrder, (*Server).order, http.StatusCreated},
	{http.MethodGet, "/orders", checkOrders, (*Server).requestedOrders, 0},
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, _ := strings.CutPrefix(r.URL.Path, "/v1")
	s.Faults.Decide(path).Serve(w, r, s.serve, nil, nil)
}

// serve checks in the API's order: route, schema with headers, key and rate. Then it
// answers the request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return r.Method == e.method && r.URL.Path == "/v1"+e.path })
	if i < 0 {
		writeError(w, errNoResource)
		return
	}
	body, err := form.Read(w, r)
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
	answers.Write(w, cmp.Or(endpoints[i].status, http.StatusOK), reply)
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
	if !s.limits.Allow(key, settings.RateLimit, time.Second) {
		return errRate
	}
	return nil
}

// market returns a running chain that the API serves, or errChain.
func (s *Server) market(id uint64) (*market, error) {
	m := s.chains[id]
	if m == nil || !m.DEX || !m.IsRunning() {
		return nil, errChain
	}
	return m, nil
}

// ids lists the known chains in ascending order.
func (s *Server) ids() []uint64 { return slices.Sorted(maps.Keys(s.chains)) }
