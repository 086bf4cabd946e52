// Package dex swaps on one chain through the Uniswap Trading API: the classic
// route, the auction route of UniswapX, and the wrapped native coin both ways. What
// the API returns is a claim; what binds is the calldata, which Decode executes
// abstractly, command by command, and the permit or the auction's order, which are
// built anew from values that were checked, before anything is signed.
package dex

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"time"

	"swapkeep/fault"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// published is the API's own base URL, which the proxy forwards to.
const published = "https://trade-api.gateway.uniswap.org/v1"

// A Config says where the API is. It is reached through a proxy that holds the
// API key, which never comes here; the proxy is told who asks by a token.
type Config struct {
	Base    string // such as https://host/v1
	Sandbox bool   // Base must be loopback and may be http; else https only
	// OwnProxy allows a key proxy on this machine outside the sandbox.
	OwnProxy bool
	// Token returns this installation's token for the proxy, asked for with each
	// call and sent as authorization: Bearer; nil or "" sends none.
	Token  func(context.Context) (string, error)
	Limits rest.Limits      // zero fields take the defaults, with the API's own rate
	Now    func() time.Time // fault.Now when nil
	// Own says what auctions are worth where no pool does; nil = they are not taken there.
	Own OwnPrice
	// Odd is told of what was taken though it is not as it usually is; nil = nobody is.
	Odd func(what string)
}

// maxReply is far above a quote with the longest route; offers are stored whole.
const maxReply = 1 << 20

// quotesPerSecond stays below the API's limit of six calls a second per key.
const quotesPerSecond = 5

// A Provider is the DEX as swap sees it. It may be used by several goroutines.
//
// The API's POST /check_approval is not called. What it would say is on the chain,
// where package swap reads it; the approval it offers is without limit, and ours is
// exact; and whether a token wants its allowance reset first (its "cancel") shows
// when our own node simulates the approval.
type Provider struct {
	api      *rest.Client
	orders   *rest.Client // quotes that fail do not stop orders that are under way
	now      func() time.Time
	cosigner common.Address // of auction orders
	own      OwnPrice
	odd      func(what string)
	without  chainsWithout // auctions
	readings wire.Readings[reading]
}

var (
	_ swap.Provider    = (*Provider)(nil)
	_ swap.LateBuilder = (*Provider)(nil)
	_ swap.Settler     = (*Provider)(nil)
	_ swap.Canceller   = (*Provider)(nil)
)

// New checks the configuration; it connects to nothing.
func New(c Config) (*Provider, error) {
	if c.Now == nil {
		c.Now = fault.Now
	}
	if c.Own == nil {
		c.Own = func(context.Context, uint64, common.Address, common.Address, *big.Int) (*big.Int, error) {
			return nil, errors.New("no source of prices")
		}
	}
	if c.Odd == nil {
		c.Odd = func(string) {}
	}
	api, err := rest.New(rest.Config{
		Name: string(swap.DEX), Base: c.Base, Published: published, Reach: reach(c), Limits: c.Limits.Or(rest.Limits{Rate: quotesPerSecond, Body: maxReply}), Now: c.Now,
		Header:    http.Header{"X-Universal-Router-Version": {routerVersion}},
		Secrets:   tokenHeader(c.Token),
		Temporary: func(e *rest.Error) bool { return e.Code == upstreamTimeout },
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{api: api, orders: api.Apart(), now: c.Now, own: c.Own, odd: c.Odd, cosigner: cosigner}
	if c.Sandbox {
		p.cosigner = sandboxCosigner
	}
	return p, nil
}

func reach(c Config) rest.Reach {
	switch {
	case c.Sandbox:
		return rest.OwnMachineAlone
	case c.OwnProxy:
		return rest.OutsideOrOwn
	}
	return rest.Outside
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
