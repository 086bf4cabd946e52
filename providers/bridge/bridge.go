// Package bridge swaps within a chain and between chains through Relay. Between chains the
// input is deposited, and Relay's solver pays the output or refunds the deposit. On one
// chain a Relay router swaps in one call. Replies of the API are claims: every step in one
// is checked against the request before anything is built. A deposit is decoded to the last
// byte. A router's call, whose format is not published, goes to built-in contracts only, or
// comes from an isolated account, and is bounded by package swap.
package bridge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// The API's own addresses.
const (
	defaultBase   = "https://api.relay.link"
	defaultSocket = "wss://ws.relay.link"
)

// A Config says where the API is and which key to use.
type Config struct {
	Base string // defaultBase when empty
	// Socket is the websocket that pushes status changes. When empty it is defaultSocket
	// for the default base, and /ws of the base in the sandbox; for any other base none is
	// known, and orders are polled.
	Socket  string
	Sandbox bool // Base and Socket must be loopback and may be plain; otherwise TLS only
	// Key returns the API key. It is called for every request, and the key is sent as
	// x-api-key; nil or "" sends none. Without one the API neither quotes nor pushes.
	Key    func(context.Context) (string, error)
	Limits rest.Limits      // zero fields get this provider's defaults
	Now    func() time.Time // clock.Now when nil
	// ChainsLife is how long the list of chains is cached: 0 = an hour, negative = not.
	ChainsLife time.Duration
}

const (
	// maxReply, in bytes, is what package swap keeps of an offer; quotes need a tenth.
	maxReply = 128 << 10
	// quoteTime bounds a quote with its retries: routes are searched on two chains.
	quoteTime = 15 * time.Second
	// The API allows 50 quotes, and 200 other calls, a minute.
	quotesPerSecond = 50.0 / 60
	callsPerSecond  = 200.0 / 60

	chainsLife = time.Hour
)

// A Provider is the bridge provider of package swap. It is safe for concurrent use.
type Provider struct {
	quotes *rest.Client // it has its own rate limit
	api    *rest.Client
	socket string // "" = none
	key    func(context.Context) (string, error)
	now    func() time.Time
	solver common.Address
	chains *chainList

	mu        sync.Mutex
	reindexed map[common.Hash]time.Time // requests whose deposit was reported again, and when
}

var (
	_ swap.Provider          = (*Provider)(nil)
	_ swap.Settler           = (*Provider)(nil)
	_ swap.Watcher           = (*Provider)(nil)
	_ swap.Lister            = (*Provider)(nil)
	_ swap.DestinationLister = (*Provider)(nil)
)

// New checks the configuration. It does no I/O.
func New(c Config) (*Provider, error) {
	p := &Provider{key: c.Key, now: c.Now, solver: solver, reindexed: map[common.Hash]time.Time{}}
	reach := rest.PublicOnly
	if c.Sandbox {
		reach, p.solver = rest.LoopbackOnly, sandboxSolver
	}
	if p.now == nil {
		p.now = clock.Now
	}
	if p.key == nil {
		p.key = func(context.Context) (string, error) { return "", nil }
	}
	p.socket = socketOf(c)
	if c.Base == "" {
		c.Base = defaultBase
	}
	if p.socket != "" {
		if err := checkSocket(p.socket, reach); err != nil {
			return nil, err
		}
	}
	called := rest.Config{Name: string(swap.Bridge), Base: c.Base, Published: defaultBase, Reach: reach, Secrets: p.secrets, Temporary: isTransient, Now: p.now}
	called.Limits = c.Limits.WithDefaults(rest.Limits{Attempt: quoteTime, Call: quoteTime, Body: maxReply, Rate: quotesPerSecond})
	var err error
	if p.quotes, err = rest.New(called); err != nil {
		return nil, err
	}
	called.Limits = c.Limits.WithDefaults(rest.Limits{Rate: callsPerSecond})
	if p.api, err = rest.New(called); err != nil {
		return nil, err
	}
	p.chains = newChainList(p.api.WithOwnBreaker(), p.now, c.ChainsLife)
	return p, nil
}

// socketOf returns the URL of the websocket, "" if there is none.
func socketOf(c Config) string {
	switch {
	case c.Socket != "":
		return strings.TrimRight(c.Socket, "/")
	case c.Base == "":
		return defaultSocket
	case c.Sandbox && strings.HasPrefix(c.Base, "http"):
		return "ws" + strings.TrimPrefix(strings.TrimRight(c.Base, "/"), "http") + "/ws"
	}
	return ""
}

// checkSocket applies the rules for base URLs to a websocket's.
func checkSocket(socket string, reach rest.Reach) error {
	tail, ok := strings.CutPrefix(socket, "ws")
	if !ok {
		return fmt.Errorf("bridge: websocket: must be wss")
	}
	if err := rest.CheckBase("http"+tail, reach); err != nil {
		return fmt.Errorf("bridge: websocket: %w", err)
	}
	return nil
}

// secrets returns the headers that carry the key.
func (p *Provider) secrets(ctx context.Context) (http.Header, error) {
	k, err := p.key(ctx)
	if err != nil || k == "" {
		return nil, err
	}
	return http.Header{"X-Api-Key": {k}}, nil
}

// Kind is [swap.Bridge].
func (p *Provider) Kind() swap.Kind { return swap.Bridge }

// Close drops idle connections.
func (p *Provider) Close() {
	p.quotes.Close()
	p.api.Close()
}

// service is the provider in texts for the user.
var service = wire.Service{Name: string(swap.Bridge), Failures: failures}
