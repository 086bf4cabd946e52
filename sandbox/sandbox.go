// Package sandbox simulates the outside world on one machine: EVM chains with the real
// chain ids, contracts and token addresses, and simulators of the swap providers that
// speak their wire formats and settle on those chains. Every server can be made to fail
// and to lie.
//
// It is for tests and demonstrations. Its keys are public, it listens on loopback only,
// and it is not part of what users install.
package sandbox

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/network"
)

// Options say what to start. The zero value starts [DefaultChains] with one block per
// second.
type Options struct {
	Chains    []uint64      // chain ids; nil = DefaultChains
	Contracts string        // directory of the contracts; "" = see contracts.Open
	Host      string        // loopback IP address to listen on; "" = 127.0.0.1
	Period    time.Duration // time between blocks; 0 = 1 s, negative = on request only
	Instant   bool          // also mine a block as soon as a transaction arrives
	DEXKey    string        // API key that the DEX demands; "" = none
	BridgeKey string        // API key that the bridge demands for quotes; "" = a random one
	// Layout seeds the argument layout of stand-ins for contracts whose interface is not
	// published; 0 = a random one.
	Layout uint64
	// Seed seeds the prices before the start.
	Seed uint64
}

// DefaultChains are started if Options.Chains is empty.
var DefaultChains = []uint64{1, 10, 8453, 42161}

// A Sandbox is a running sandbox. Its methods may be called concurrently.
type Sandbox struct {
	accounts   []Account
	services   map[string]Account
	layout     uint64
	chains     []*Chain
	market     *market.Market
	simulators []*simulator

	controlServer     *server
	proxy, proxyToken string // see BehindProxy
	bridgeKey         string
	bridgeKeyFile     string // see WriteKeys
}

// Start starts a sandbox. The context limits only the start; Close stops the sandbox.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	set, err := contracts.Open(o.Contracts)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{layout: o.Layout, bridgeKey: o.BridgeKey}
	if err := s.start(ctx, set, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Chains) == 0 {
		o.Chains = DefaultChains
	}
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	o.BridgeKey = cmp.Or(o.BridgeKey, crand.Text())
	if o.Layout == 0 {
		o.Layout = rand.Uint64() | 1 // never zero
	}
	switch {
	case o.Period == 0:
		o.Period = time.Second
	case o.Period < 0:
		o.Period = 0
	}
	for i, id := range o.Chains {
		if _, ok := network.ByID(id); !ok {
			return o, unknownChain(id)
		}
		if slices.Contains(o.Chains[:i], id) {
			return o, fmt.Errorf("chain %d is named twice", id)
		}
	}
	return o, nil
}

func (s *Sandbox) start(ctx context.Context, set *contracts.Set, o Options) error {
	var err error
	if s.accounts, err = Accounts(fundedAccounts); err != nil {
		return err
	}
	if s.services, err = Services(); err != nil {
		return err
	}
	if err := s.startChains(ctx, set, o); err != nil {
		return err
	}
	if err := s.openMarket(set, o); err != nil {
		return err
	}
	if err := s.openProviders(ctx, set, o); err != nil {
		return err
	}
	s.controlServer, err = listen(ctx, o.Host, s.control())
	return err
}

// startChains starts the chains in parallel.
func (s *Sandbox) startChains(ctx context.Context, set *contracts.Set, o Options) error {
	chains, errs := make([]*Chain, len(o.Chains)), make([]error, len(o.Chains))
	var all sync.WaitGroup
	for i, id := range o.Chains {
		n, _ := network.ByID(id)
		all.Go(func() { chains[i], errs[i] = s.startChain(ctx, n, set, o) })
	}
	all.Wait()
	for _, c := range chains {
		if c != nil {
			s.chains = append(s.chains, c)
		}
	}
	return errors.Join(errs...)
}

// Chains returns the running chains in the order of Options.Chains.
func (s *Sandbox) Chains() []*Chain { return slices.Clone(s.chains) }

// Chain returns a running chain; nil if it was not started.
func (s *Sandbox) Chain(id uint64) *Chain {
	for _, c := range s.chains {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Accounts returns the users' accounts, which hold native coins and tokens on every
// chain. Their keys are public.
func (s *Sandbox) Accounts() []Account { return slices.Clone(s.accounts) }

// Services returns the service accounts by name. They hold far more than the users'
// accounts. Their keys are public.
func (s *Sandbox) Services() map[string]Account { return maps.Clone(s.services) }

// BehindProxy makes Config name a key proxy in place of the DEX, with the file of the
// token that authenticates the daemon to it. Call it before WriteFiles.
func (s *Sandbox) BehindProxy(base, tokenFile string) { s.proxy, s.proxyToken = base, tokenFile }

// ControlURL returns the base URL of the control endpoint.
func (s *Sandbox) ControlURL() string { return "http://" + s.controlServer.addr }

// Reset removes all fault rules, clears the counts, restores the default settings and
// resumes block production. Chain state stays, except that moved prices return to the
// starting prices and bent oracles are repaired. The error concerns only these two;
// callers that never changed them may ignore it.
func (s *Sandbox) Reset() error {
	for _, c := range s.chains {
		c.Reset()
	}
	for _, sim := range s.simulators {
		sim.reset()
	}
	ctx, cancel := context.WithTimeout(context.Background(), resetTime)
	defer cancel()
	return s.market.Reset(ctx)
}

// resetTime limits how long the return to the starting prices may take.
const resetTime = 30 * time.Second

// Close stops everything and closes every port. It must be called once only.
func (s *Sandbox) Close() error {
	var errs []error
	if s.controlServer != nil {
		errs = append(errs, s.controlServer.Close())
	}
	for _, sim := range s.simulators {
		errs = append(errs, sim.Close())
	}
	if s.market != nil {
		errs = append(errs, s.market.Close())
	}
	for _, c := range s.chains {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
