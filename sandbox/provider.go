package sandbox

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/operator"
)

// A provider is a kind of swap provider or price service that the sandbox simulates.
type provider struct {
	kind string // as in the daemon's configuration: providers.<kind>
	// paths are the configuration keys of the daemon that hold an address of this
	// provider, with the path of each URL. The first is the base URL.
	paths []pathKey
	// prices marks a price service, which the daemon configures as prices.sources.<kind>.
	prices bool
	// deploy deploys the provider's contracts at genesis; nil = it has none.
	deploy func(g *genesis)
	// open creates the simulator; the chains are running by then.
	open func(o simulatorDeps) (*simulator, error)
}

type pathKey struct{ key, path string }

// providers is the table of the swap providers.
var providers = []provider{
	{"dex", []pathKey{{"base_url", "/v1"}}, false, (*genesis).uniswapX, openDEX},
	{"bridge", []pathKey{{"base_url", ""}}, false, (*genesis).bridge, openBridge},
	{"intent", []pathKey{{"base_url", ""}, {"frontend_base_url", ""}}, false, (*genesis).intent, openIntent},
	{"gasless", []pathKey{{"base_url", ""}}, false, (*genesis).gasless, openGasless},
}

// simulatorDeps holds the dependencies of a simulator.
type simulatorDeps struct {
	contracts *contracts.Set
	chains    []operator.Chain             // every chain of the table, running or not
	services  map[string]*operator.Account // by name; see services in accounts.go
	layout    uint64                       // as in genesis
	market    *market.Market
	options   Options
}

// A simulated provider answers as the real one does. Reset removes faults, restores the
// default settings and forgets its orders. Close stops its background work and must be
// called once only.
type simulated[S any] interface {
	http.Handler
	Settings() S
	Set(S) error
	Reset()
	Close() error
}

// A simulator is a simulated provider with its server and controls.
type simulator struct {
	provider
	http.Handler
	faults   *inject.Book
	settings func() any
	set      func(r *http.Request) error
	reset    func()
	close    func() error
	// controls are further requests of the control endpoint, such as "GET /orders",
	// served under the provider's kind.
	controls map[string]func(r *http.Request) (any, error)

	server *server
}

// simulate wraps a provider with settings of type S, which are read and changed as JSON.
func simulate[S any](p simulated[S], faults *inject.Book, controls map[string]func(*http.Request) (any, error)) *simulator {
	return &simulator{
		Handler: p, faults: faults, reset: p.Reset, close: p.Close, controls: controls,
		settings: func() any { return p.Settings() },
		set: func(r *http.Request) error {
			settings, err := body(r, p.Settings())
			if err == nil {
				err = p.Set(settings)
			}
			return err
		},
	}
}

// openProviders starts every simulator on its own port.
func (s *Sandbox) openProviders(ctx context.Context, set *contracts.Set, o Options) error {
	out := simulatorDeps{contracts: set, chains: s.operatorChains(), services: map[string]*operator.Account{}, layout: s.layout, options: o, market: s.market}
	for name, a := range s.services {
		out.services[name] = operator.NewAccount(a.Key)
	}
	for _, p := range append(slices.Clone(providers), priceServices()...) {
		sim, err := p.open(out)
		if err != nil {
			return err
		}
		sim.provider = p
		s.simulators = append(s.simulators, sim)
		if sim.server, err = listen(ctx, o.Host, sim); err != nil {
			return err
		}
	}
	return nil
}

// operatorChains returns all chains of the table as the operators of the providers see them.
func (s *Sandbox) operatorChains() []operator.Chain {
	var all []operator.Chain
	for _, n := range Networks() {
		c := operator.Chain{Network: n}
		if running := s.Chain(n.ID); running != nil {
			c = running.operatorChain()
		}
		all = append(all, c)
	}
	return all
}

// Close closes the port first, then stops the simulator.
func (s *simulator) Close() error {
	var err error
	if s.server != nil {
		err = s.server.Close()
	}
	return errors.Join(err, s.close())
}

// address returns the provider's URL for a configuration key of the daemon.
func (s *simulator) address(k pathKey) string { return "http://" + s.server.addr + k.path }

// simulator returns the simulator of a kind; nil if there is none.
func (s *Sandbox) simulator(kind string) *simulator {
	for _, sim := range s.simulators {
		if sim.kind == kind {
			return sim
		}
	}
	return nil
}

// kinds lists the kinds of the simulators.
func (s *Sandbox) kinds() []string {
	var all []string
	for _, sim := range s.simulators {
		all = append(all, sim.kind)
	}
	return all
}

// BaseURL returns the base URL of the simulator of a kind; "" if there is none.
func (s *Sandbox) BaseURL(kind string) string {
	if sim := s.simulator(kind); sim != nil {
		return sim.address(sim.paths[0])
	}
	return ""
}

// Faults returns the fault rules of a simulator, by endpoint path; nil if there is none
// of the kind.
func (s *Sandbox) Faults(kind string) *inject.Book {
	if sim := s.simulator(kind); sim != nil {
		return sim.faults
	}
	return nil
}
