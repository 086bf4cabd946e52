// Package intent swaps, mostly between chains, by deposits that fillers pay out: Khalani
// HyperStream. The provider finds routes, builds the actions of a deposit and follows the
// order. Every action is checked against the terms before the first is signed. The
// deposit's calldata format is not published, so a deposit goes only to built-in contracts
// or, on networks that have none, comes from an isolated account; and package swap bounds
// what it may take: the input, once, and nothing else.
package intent

import (
	"fmt"
	"slices"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// defaultBase is the base URL of the production API.
const defaultBase = "https://api.hyperstream.dev"

// A Config sets the API's address. The API needs no key.
type Config struct {
	Base string // defaultBase when empty
	// Frontend is the base URL for the token list shown to users; Base when empty.
	Frontend string
	Sandbox  bool             // Base must be loopback and may be http; else https only
	Limits   rest.Limits      // zero fields take rest's defaults, with this provider's own for Body, Call, Attempt and Rate
	Now      func() time.Time // clock.Now when nil
}

const (
	// maxReply, in bytes, is far above the size of a list of routes or tokens.
	maxReply = 1 << 20
	// streamTime is how long a stream of routes may take, within the time that package swap
	// gives a quote. attemptTime is how long any other exchange may take.
	streamTime  = 25 * time.Second
	attemptTime = 15 * time.Second
	// callsPerSecond stays below a rate limit whose value is not published.
	callsPerSecond = 4
)

// A Provider implements [swap.Provider] for HyperStream. It is safe for concurrent use.
type Provider struct {
	api              *rest.Client
	orders           *rest.Client // apart from api, so that failing quotes do not block open orders
	tokens           *rest.Client
	base, frontend   string
	now              func() time.Time
	depositContracts []depositContract
	tokenLists       tokenListCache
}

var (
	_ swap.Provider          = (*Provider)(nil)
	_ swap.Settler           = (*Provider)(nil)
	_ swap.Streamer          = (*Provider)(nil)
	_ swap.Lister            = (*Provider)(nil)
	_ swap.DestinationLister = (*Provider)(nil)
	_ swap.Endpointer        = (*Provider)(nil)
)

// New checks the configuration. It makes no connection.
func New(c Config) (*Provider, error) {
	if c.Base == "" {
		c.Base = defaultBase
	}
	if c.Now == nil {
		c.Now = clock.Now
	}
	if c.Frontend == "" {
		c.Frontend = c.Base
	}
	p := &Provider{base: c.Base, frontend: c.Frontend, now: c.Now, depositContracts: depositContracts, tokenLists: newTokenListCache()}
	reach := rest.PublicOnly
	if c.Sandbox {
		reach = rest.LoopbackOnly
	}
	var err error
	own := rest.Limits{Body: maxReply, Call: streamTime, Attempt: attemptTime, Rate: callsPerSecond}
	if p.api, err = rest.New(rest.Config{Name: string(swap.Intent), Base: c.Base, Published: defaultBase, Reach: reach, Limits: c.Limits.WithDefaults(own), Now: c.Now}); err != nil {
		return nil, fmt.Errorf("intent: %w", err)
	}
	p.orders, p.tokens = p.api.WithOwnBreaker(), p.api
	if c.Frontend == c.Base {
		return p, nil
	}
	if p.tokens, err = rest.New(rest.Config{Name: string(swap.Intent), Base: c.Frontend, Published: defaultBase, Reach: reach, Limits: c.Limits.WithDefaults(own), Now: c.Now}); err != nil {
		return nil, fmt.Errorf("intent: frontend base url: %w", err)
	}
	return p, nil
}

// Kind is [swap.Intent].
func (p *Provider) Kind() swap.Kind { return swap.Intent }

// Place returns the API's base URLs and the entry of each network.
func (p *Provider) Endpoint() swap.Endpoint {
	return swap.Endpoint{Base: p.base, Frontend: p.frontend, Networks: slices.Clone(networks)}
}

// Close drops idle connections.
func (p *Provider) Close() {
	p.api.Close()
	p.tokens.Close()
}

// service names the provider in texts for the user.
var service = wire.Service{Name: string(swap.Intent), Failures: failures}
