// Package dex swaps on one chain through the Uniswap Trading API: over pools, by UniswapX
// auction, and between the native coin and its wrapped form. Replies of the API are claims.
// Before anything is signed, Decode executes calldata abstractly, command by command, and
// permits and auction orders are rebuilt from values that were checked.
package dex

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// published is the API's own base URL, which the key proxy forwards to.
const published = "https://trade-api.gateway.uniswap.org/v1"

// A Config says where the API is. It is reached through a proxy that holds the API key, so
// the key never gets here; a token tells the proxy who asks.
type Config struct {
	Base    string // such as https://host/v1
	Sandbox bool   // Base must be loopback and may be http; otherwise https only
	// OwnProxy allows a key proxy on this machine outside the sandbox.
	OwnProxy bool
	// Token returns this installation's token for the proxy. It is called for every request
	// and sent as "authorization: Bearer"; nil or "" sends none.
	Token  func(context.Context) (string, error)
	Limits rest.Limits      // zero fields get the defaults, with the API's own rate
	Now    func() time.Time // clock.Now when nil
	// OwnPrice values auctions where no pool has an offer; with nil they are refused there.
	OwnPrice OwnPrice
	// OnAnomaly, if not nil, is called with a description of unusual data that was accepted.
	OnAnomaly func(what string)
}

// maxReply, in bytes, is far above a quote with the longest route; offers store replies.
const maxReply = 1 << 20

// quotesPerSecond stays below the API's limit of six calls a second per key.
const quotesPerSecond = 5

// A Provider is the DEX provider of package swap. It is safe for concurrent use.
//
// The API's POST /check_approval is not called: package swap reads allowances from the
// chain; the approval that the API offers is unlimited, and ours is exact; and whether a
// token needs its allowance reset first (the API's "cancel") shows when our own node
// simulates the approval.
type Provider struct {
	api        *rest.Client
	orders     *rest.Client // a client of its own: failing quotes do not hold up open orders
	now        func() time.Time
	cosigner   common.Address // expected in auction orders
	ownPrice   OwnPrice
	onAnomaly  func(what string)
	noAuctions chainsWithoutAuctions // chains on which the API has no auctions
	readings   wire.ReplyCache[parsedQuote]
}

var (
	_ swap.Provider        = (*Provider)(nil)
	_ swap.DeferredBuilder = (*Provider)(nil)
	_ swap.Settler         = (*Provider)(nil)
	_ swap.Canceller       = (*Provider)(nil)
)

// New checks the configuration. It does no I/O.
func New(c Config) (*Provider, error) {
	if c.Now == nil {
		c.Now = clock.Now
	}
	if c.OwnPrice == nil {
		c.OwnPrice = func(context.Context, uint64, common.Address, common.Address, *big.Int) (*big.Int, error) {
			return nil, errors.New("no source of prices")
		}
	}
	if c.OnAnomaly == nil {
		c.OnAnomaly = func(string) {}
	}
	api, err := rest.New(rest.Config{
		Name: string(swap.DEX), Base: c.Base, Published: published, Reach: reach(c), Limits: c.Limits.WithDefaults(rest.Limits{Rate: quotesPerSecond, Body: maxReply}), Now: c.Now,
		Header:    http.Header{"X-Universal-Router-Version": {routerVersion}},
		Secrets:   tokenHeader(c.Token),
		Temporary: func(e *rest.Error) bool { return e.Code == upstreamTimeout },
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{api: api, orders: api.WithOwnBreaker(), now: c.Now, ownPrice: c.OwnPrice, onAnomaly: c.OnAnomaly, cosigner: cosigner}
	if c.Sandbox {
		p.cosigner = sandboxCosigner
	}
	return p, nil
}

func reach(c Config) rest.Reach {
	switch {
	case c.Sandbox:
		return rest.LoopbackOnly
	case c.OwnProxy:
		return rest.PublicOrLoopback
	}
	return rest.PublicOnly
}

func tokenHeader(token func(context.Context) (string, error)) func(context.Context) (http.Header, error) {
	if token == nil {
		return nil
	}
	return func(ctx context.Context) (http.Header, error) {
		t, err := token(ctx)
		if err != nil || t == "" {
			return nil, err
		}
		return http.Header{"Authorization": {"Bearer " + t}}, nil
	}
}

// Kind is [swap.DEX].
func (p *Provider) Kind() swap.Kind { return swap.DEX }

// Close drops idle connections.
func (p *Provider) Close() { p.api.Close() }
