// Package dexsim answers as the Uniswap Trading API does, over the sandbox's
// chains: quotes come from the QuoterV2 contract, and the calldata it hands
// out is executed by the real Universal Router; auctions are filled, by a filler
// of its own, through the real reactors. It covers the AMM routes, auctions, WRAP
// and UNWRAP of EXACT_INPUT requests.
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

// routerVersion is the Universal Router version whose calldata is made.
const routerVersion = "2.1.2"

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
	// Auctions says whether auctions are offered; see AuctionsBest.
	Auctions string `json:"auctions"`
	// AuctionLeastUSD is the value in US dollars that they are offered from; 0 = 300.
	AuctionLeastUSD int64 `json:"auctionLeastUsd"`
	// AuctionImprovementBips is by how much they begin above the pools, in basis
	// points; null = 10.
	AuctionImprovementBips *int64 `json:"auctionImprovementBips"`
	// DeadlineSeconds is how long an order can be filled; 0 = as the real API, 300
	// for V2 and 120 for V3.
	DeadlineSeconds int64 `json:"deadlineSeconds"`
	// Mixed has the pools' quotes go over a V3 pool and then a V2 pair.
	Mixed bool `json:"mixed"`
	// Untagged has calldata end where its arguments do.
	Untagged bool `json:"untagged"`
	// Outcome is what becomes of orders posted from now on.
	Outcome Outcome `json:"outcome"`
}

// DefaultSettings demand no key and take no fee.
var DefaultSettings = Settings{MakerRecipient: common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")}

// maxMakerFee bounds the fee of the DEX's own, in basis points.
const maxMakerFee = 500

// A Server is the simulator. It is an http.Handler for paths under /v1.
type Server struct {
	// Faults decides what happens to requests, by endpoint path without /v1.
	Faults *inject.Book
	Options

	chains map[uint64]*market
	abis   abis
	orders orderBook
	ended  context.CancelFunc // of the fillers
	fills  sync.WaitGroup

	mu       sync.Mutex
	settings Settings
	limits   limit.Keys
}

// Options are what a simulator is made with.
type Options struct {
	APIKey   string            // demanded, and again after a Reset; "" = none
	Filler   *operator.Account // fills auctions from its own balance
	Cosigner *operator.Account // signs what an auction's quote became
}

// New makes a simulator over the chains.
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
	s.openFillers()
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
	if err := settings.checkAuctions(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
	s.limits.Reset()
	return nil
}

// Limits of the settings of auctions.
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
		{s.AuctionLeastUSD < 0 || s.AuctionLeastUSD > maxAuctionUSD, "auctionLeastUsd: want 0 or more"},
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

// Reset removes faults and counts, forgets every order and goes back to the
// default settings, with the API key that it was made with.
func (s *Server) Reset() {
	s.Faults.Reset()
	s.orders.forget()
	settings := DefaultSettings
	settings.APIKey = s.Options.APIKey
	_ = s.Set(settings)
}

// An endpoint answers one method and path. Check runs before the key is
// looked at, answer after.
type endpoint struct {
	method, path string
	check        func(body []byte, r *http.Request) error
	answer       func(s *Server, ctx context.Context, body []byte, r *http.Request) (any, error)
	status       int // of a good answer; 0 = 200
}

var endpoints = []endpoint{
	{http.MethodPost, "/check_approval", checkApproval, (*Server).approval, 0},
	{http.MethodPost, "/quote", checkQuote, (*Server).quote, 0},
	{http.MethodPost, "/swap", checkSwap, (*Server).swap, 0},
	{http.MethodGet, "/swaps", checkSwaps, (*Server).swaps, 0},
	{http.MethodGet, "/swappable_tokens", checkSwappable, (*Server).swappable, 0},
	{http.MethodPost, "/order", checkOrder, (*Server).order, http.StatusCreated},
	{http.MethodGet, "/orders", checkOrders, (*Server).ordersAsked, 0},
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

// market finds a chain that the API serves and that runs here.
func (s *Server) market(id uint64) (*market, error) {
	m := s.chains[id]
	if m == nil || !m.DEX || !m.Runs() {
		return nil, errChain
	}
	return m, nil
}

// ids lists the known chains in ascending order.
func (s *Server) ids() []uint64 { return slices.Sorted(maps.Keys(s.chains)) }
