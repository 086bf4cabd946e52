// Package gasless swaps on one chain by signed orders that Bebop settles: JAM v2, where
// solvers compete to pay at least the signed amount, and RFQ v3, where one maker pays
// exactly that. Both are quoted in parallel. The API's replies are only claims. The order
// is what binds: it is built here from the terms and the few fields that the API may
// choose, and is signed only if it equals the one that the API returned.
package gasless

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// defaultBase is the base URL of the production API.
const defaultBase = "https://api.bebop.xyz"

// A Config sets the API's address and how the wallet identifies itself.
type Config struct {
	Base    string // defaultBase when empty
	Sandbox bool   // Base must be loopback and may be http; else https only
	// Source is the partner id under which the API knows the wallet; "" sends none.
	Source string
	// Key returns the API key. It is called for each request, and the key is sent as
	// source-auth. With nil or "" no key is sent: quotes are then wider and strictly
	// limited.
	Key    func(context.Context) (string, error)
	Limits rest.Limits      // zero fields take rest's defaults, with this provider's own for Body, Call and Attempts
	Now    func() time.Time // clock.Now when nil
}

const (
	// maxReply, in bytes, is far above the size of a quote. Offers are stored whole.
	maxReply = 64 << 10
	// callTime is how long either protocol may take to answer, retries included. Both are
	// called in parallel.
	callTime = 8 * time.Second
	// attempts is low because makers dislike frequent requests.
	attempts = 2

	maxSource = 64
)

// A Provider implements [swap.Provider] for Bebop. It is safe for concurrent use.
type Provider struct {
	api    map[string]*rest.Client // by protocol name, so that a failing or rate-limited protocol does not block the other
	orders map[string]*rest.Client // by protocol name, apart from api, so that failing quotes do not block open orders
	source string
	now    func() time.Time

	quoteCache map[string]*wire.ReplyCache[checkedQuote] // by protocol name
}

var (
	_ swap.Provider = (*Provider)(nil)
	_ swap.Settler  = (*Provider)(nil)
	_ swap.Streamer = (*Provider)(nil)
)

// New checks the configuration. It makes no connection.
func New(c Config) (*Provider, error) {
	if c.Base == "" {
		c.Base = defaultBase
	}
	if c.Now == nil {
		c.Now = clock.Now
	}
	if len(c.Source) > maxSource || strings.ContainsFunc(c.Source, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("gasless: source: want at most %d plain characters without spaces", maxSource)
	}
	reach := rest.PublicOnly
	if c.Sandbox {
		reach = rest.LoopbackOnly
	}
	p := &Provider{api: map[string]*rest.Client{}, orders: map[string]*rest.Client{}, quoteCache: map[string]*wire.ReplyCache[checkedQuote]{}, source: c.Source, now: c.Now}
	for _, pr := range protocols {
		api, err := rest.New(rest.Config{
			Name: string(swap.Gasless), Base: c.Base, Published: defaultBase, Reach: reach, Limits: c.Limits.WithDefaults(rest.Limits{Body: maxReply, Call: callTime, Attempts: attempts}), Now: c.Now, Secrets: keyHeader(c.Key),
		})
		if err != nil {
			return nil, err
		}
		p.api[pr.name], p.orders[pr.name], p.quoteCache[pr.name] = api, api.WithOwnBreaker(), new(wire.ReplyCache[checkedQuote])
	}
	return p, nil
}

func keyHeader(key func(context.Context) (string, error)) func(context.Context) (http.Header, error) {
	if key == nil {
		return nil
	}
	return func(ctx context.Context) (http.Header, error) {
		k, err := key(ctx)
		if err != nil || k == "" {
			return nil, err
		}
		return http.Header{"Source-Auth": {k}}, nil
	}
}

// Kind is [swap.Gasless].
func (p *Provider) Kind() swap.Kind { return swap.Gasless }

// Close drops idle connections.
func (p *Provider) Close() {
	for _, api := range p.api {
		api.Close()
	}
}

// service names the provider in texts for the user.
var service = wire.Service{Name: string(swap.Gasless), Failures: failures}
