// Package sandbox is the outside world on one machine: EVM chains with the
// real chain ids, contracts and token addresses, and simulators of the swap
// providers that speak their wire formats and really settle on those chains.
// Everything in it can be made to fail and to lie.
//
// It is for tests and demonstrations. Its keys are public, it listens on
// loopback only, and it is no part of what users install.
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

// Options say what to start. The zero value starts [DefaultChains] with a block
// a second.
type Options struct {
	Chains    []uint64      // ids of the table; nil = DefaultChains
	Contracts string        // directory of the contracts; "" = see contracts.Open
	Host      string        // loopback address to listen on; "" = 127.0.0.1
	Period    time.Duration // time between blocks; 0 = 1 s, negative = on request only
	Instant   bool          // also make a block as soon as a transaction arrives
	DEXKey    string        // API key that the DEX demands; "" = none
	BridgeKey string        // API key that the bridge demands for quotes; "" = another every time
	// Layout chooses how stand-ins of contracts whose interface is not published
	// lay their arguments out; 0 = another way every time.
	Layout uint64
	// Seed chooses what prices were before the start.
	Seed uint64
}

// DefaultChains are started when none is named.
var DefaultChains = []uint64{1, 10, 8453, 42161}

// A Sandbox is running. Its methods may be called concurrently.
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

// Start brings a sandbox up. The context bounds the start only; Close ends it.
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

// startChains starts the chains beside each other.
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

// Chains are the chains that were started, in that order.
func (s *Sandbox) Chains() []*Chain { return slices.Clone(s.chains) }

// Chain is one of them, nil if it was not started.
func (s *Sandbox) Chain(id uint64) *Chain {
	for _, c := range s.chains {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Accounts hold native coins and tokens on every chain. Their keys are public.
func (s *Sandbox) Accounts() []Account { return slices.Clone(s.accounts) }

// Services are the accounts of those behind the providers, by name. They hold far
// more than the accounts of users. Their keys are public.
func (s *Sandbox) Services() map[string]Account { return maps.Clone(s.services) }

// BehindProxy makes the daemon's configuration name a key proxy in place of the
// DEX, and the file with the token that the proxy knows the daemon by. It goes
// before WriteFiles.
func (s *Sandbox) BehindProxy(base, tokenFile string) { s.proxy, s.proxyToken = base, tokenFile }

// ControlURL is where programs in other processes control the sandbox.
func (s *Sandbox) ControlURL() string { return "http://" + s.controlServer.addr }

// Reset removes every fault and lie, forgets what was counted, goes back to
// the default settings and lets blocks be made. What is on the chains stays, but
// that prices which were moved go back to the starting ones, and oracles that were
// made to fail are well again; the error is about those and may be ignored by who
// never touched them.
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

// resetTime bounds how long the chains may take to go back to the starting prices.
const resetTime = 30 * time.Second

// Close stops everything and closes every port. It may be called once.
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
