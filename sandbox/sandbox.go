// Package sandbox is the outside world on one machine: EVM chains with the
// real chain ids, contracts and token addresses, and simulators of the swap
// providers that speak their wire formats and really settle on those chains.
// Everything in it can be made to fail and to lie.
//
// It is for tests and demonstrations. Its keys are public, it listens on
// loopback only, and it is no part of what users install.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/dexsim"
)

// Options say what to start. The zero value starts chains 1 and 8453 with a
// block a second.
type Options struct {
	Chains    []uint64      // ids of the table; nil = 1 and 8453
	Contracts string        // directory of the contracts; "" = see contracts.Open
	Host      string        // loopback address to listen on; "" = 127.0.0.1
	Period    time.Duration // time between blocks; 0 = 1 s, negative = on request only
	Instant   bool          // also make a block as soon as a transaction arrives
	DEXKey    string        // API key that the DEX demands; "" = none
}

// DefaultChains are started when none is named.
var DefaultChains = []uint64{1, 8453}

// A Sandbox is running. Its methods may be called concurrently.
type Sandbox struct {
	accounts []Account
	chains   []*Chain
	dex      *dexsim.Server

	dexServer, controlServer *server
	proxy, proxyToken        string // see BehindProxy
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
	s := &Sandbox{}
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
	switch {
	case o.Period == 0:
		o.Period = time.Second
	case o.Period < 0:
		o.Period = 0
	}
	for i, id := range o.Chains {
		if _, ok := networkByID(id); !ok {
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
	for _, id := range o.Chains {
		n, _ := networkByID(id)
		c, err := startChain(ctx, n, set, o)
		if err != nil {
			return err
		}
		s.chains = append(s.chains, c)
	}
	if s.dex, err = dexsim.New(set, s.dexChains(), o.DEXKey); err != nil {
		return err
	}
	if s.dexServer, err = listen(ctx, o.Host, s.dex); err != nil {
		return err
	}
	s.controlServer, err = listen(ctx, o.Host, s.control())
	return err
}

// dexChains describes every chain of the table to the DEX simulator, running
// or not.
func (s *Sandbox) dexChains() []dexsim.Chain {
	var all []dexsim.Chain
	for _, n := range networks {
		d := dexsim.Chain{
			ID: n.ID, Served: n.DEX, Wrapped: n.Wrapped.dex(),
			Permit2: n.Contracts.Permit2, Router: n.Contracts.UniversalRouter, Quoter: n.Contracts.QuoterV2,
			V2Factory: n.Contracts.V2Factory, V2Router: n.Contracts.V2Router, V3Factory: n.Contracts.V3Factory,
		}
		for _, t := range n.Tokens {
			d.Tokens = append(d.Tokens, t.dex())
		}
		if c := s.Chain(n.ID); c != nil {
			d.Client = c.Client()
		}
		all = append(all, d)
	}
	return all
}

func (t Token) dex() dexsim.Token {
	return dexsim.Token{Address: t.Address, Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals, MicroUSD: t.MicroUSD}
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

// DEX is the simulator of the DEX provider.
func (s *Sandbox) DEX() *dexsim.Server { return s.dex }

// DEXURL is its base URL.
func (s *Sandbox) DEXURL() string { return "http://" + s.dexServer.addr + "/v1" }

// BehindProxy makes the daemon's configuration name a key proxy in place of the
// DEX, and the file with the token that the proxy knows the daemon by. It goes
// before WriteFiles.
func (s *Sandbox) BehindProxy(base, tokenFile string) { s.proxy, s.proxyToken = base, tokenFile }

// ControlURL is where programs in other processes control the sandbox.
func (s *Sandbox) ControlURL() string { return "http://" + s.controlServer.addr }

// Reset removes every fault and lie, forgets what was counted, goes back to
// the default settings and lets blocks be made. What is on the chains stays.
func (s *Sandbox) Reset() {
	for _, c := range s.chains {
		c.Reset()
	}
	s.dex.Reset()
}

// Close stops everything and closes every port. It may be called once.
func (s *Sandbox) Close() error {
	var errs []error
	for _, srv := range []*server{s.controlServer, s.dexServer} {
		if srv != nil {
			errs = append(errs, srv.Close())
		}
	}
	for _, c := range s.chains {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
