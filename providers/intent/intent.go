// Package intent swaps, mostly between chains, by deposits that fillers pay out:
// Khalani HyperStream. The provider finds routes, builds the actions of a deposit
// and follows the order. Every action is held to the terms before the first is
// signed; the deposit itself has no published form, so that it goes to built-in contracts
// alone, and package swap bounds it by what it may take: the input, once, nothing else.
package intent

import (
	"fmt"
	"slices"
	"time"

	"swapkeep/fault"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// DefaultBase is the API's own address.
const DefaultBase = "https://api.hyperstream.dev"

// A Config says where the API is. It needs no key.
type Config struct {
	Base string // DefaultBase when empty
	// Frontend is where the list of tokens that windows show is asked for; Base when empty.
	Frontend string
	Sandbox  bool             // Base must be loopback and may be http; else https only
	Limits   rest.Limits      // zero fields take the defaults, with this provider's own for calls and bodies
	Now      func() time.Time // fault.Now when nil
}

const (
	// maxReply is far above a list of routes or of tokens.
	maxReply = 1 << 20
	// streamTime is how long routes may take to come in, within what package swap
	// gives a quote; attemptTime how long one exchange may that is not a stream.
	streamTime  = 25 * time.Second
	attemptTime = 15 * time.Second
	// callsPerSecond keeps away from a limit whose figure is not published.
	callsPerSecond = 4
)

// A Provider is the intent provider as swap sees it. It may be used by several
// goroutines.
type Provider struct {
	api            *rest.Client
	orders         *rest.Client // quotes that fail do not stop orders that are under way
	tokens         *rest.Client
	base, frontend string
	now            func() time.Time
	depots         []depot
	fillers        []filler
	shelf          shelf
}

var (
	_ swap.Provider = (*Provider)(nil)
	_ swap.Settler  = (*Provider)(nil)
	_ swap.Streamer = (*Provider)(nil)
	_ swap.Lister   = (*Provider)(nil)
	_ swap.Reacher  = (*Provider)(nil)
	_ swap.Placed   = (*Provider)(nil)
)

// New checks the configuration; it connects to nothing.
func New(c Config) (*Provider, error) {
	if c.Base == "" {
		c.Base = DefaultBase
	}
	if c.Now == nil {
		c.Now = fault.Now
	}
	if c.Frontend == "" {
		c.Frontend = c.Base
	}
	p := &Provider{base: c.Base, frontend: c.Frontend, now: c.Now, depots: depots, fillers: fillers, shelf: newShelf()}
	reach := rest.Outside
	if c.Sandbox {
		reach, p.depots, p.fillers = rest.OwnMachineAlone, sandboxDepots(), sandboxFillers()
	}
	var err error
	own := rest.Limits{Body: maxReply, Call: streamTime, Attempt: attemptTime, Rate: callsPerSecond}
	if p.api, err = rest.New(rest.Config{Name: string(swap.Intent), Base: c.Base, Published: DefaultBase, Reach: reach, Limits: c.Limits.Or(own), Now: c.Now}); err != nil {
		return nil, fmt.Errorf("intent: %w", err)
	}
	p.orders, p.tokens = p.api.Apart(), p.api
	if c.Frontend == c.Base {
		return p, nil
	}
	if p.tokens, err = rest.New(rest.Config{Name: string(swap.Intent), Base: c.Frontend, Published: DefaultBase, Reach: reach, Limits: c.Limits.Or(own), Now: c.Now}); err != nil {
		return nil, fmt.Errorf("intent: frontend base url: %w", err)
	}
	return p, nil
}

// Kind is [swap.Intent].
func (p *Provider) Kind() swap.Kind { return swap.Intent }

// Place says where the API is, and the entry of each network.
func (p *Provider) Place() swap.Place {
	return swap.Place{Base: p.base, Frontend: p.frontend, Networks: slices.Clone(networks)}
}

// Close drops idle connections.
func (p *Provider) Close() {
	p.api.Close()
	p.tokens.Close()
}

// service is the provider in what a person reads.
var service = wire.Service{Name: string(swap.Intent), Failures: failures}
