// Package dex swaps on one chain through the Uniswap Trading API: the classic
// route with native input, and the wrapped native coin both ways. What the API
// returns is a claim; what binds is the calldata, which Decode executes
// abstractly, command by command, before anything is signed.
package dex

import (
	"context"
	"net/http"
	"time"

	"swapkeep/fault"
	"swapkeep/rest"
	"swapkeep/swap"
)

// A Config says where the API is. It is reached through a proxy that holds the
// API key, so that normally no key is needed here.
type Config struct {
	Base    string // such as https://host/v1
	Sandbox bool   // Base must be loopback and may be http; else https only
	// OwnProxy allows a key proxy on this machine outside the sandbox.
	OwnProxy bool
	// Key returns the API key for the header x-api-key; nil sends none.
	Key    func(context.Context) (string, error)
	Limits rest.Limits      // zero fields take the defaults, with the API's own rate
	Now    func() time.Time // fault.Now when nil
}

// maxReply is far above a quote with the longest route; offers are stored whole.
const maxReply = 1 << 20

// quotesPerSecond stays below the API's limit of six calls a second per key.
const quotesPerSecond = 5

// A Provider is the DEX as swap sees it. It may be used by several goroutines.
type Provider struct {
	api *rest.Client
	now func() time.Time
}

var _ swap.Provider = (*Provider)(nil)

// New checks the configuration; it connects to nothing.
func New(c Config) (*Provider, error) {
	if c.Now == nil {
		c.Now = fault.Now
	}
	if c.Limits.Rate == 0 {
		c.Limits.Rate = quotesPerSecond
	}
	if c.Limits.Body == 0 {
		c.Limits.Body = maxReply
	}
	api, err := rest.New(rest.Config{
		Name: string(swap.DEX), Base: c.Base, Reach: reach(c), Limits: c.Limits, Now: c.Now,
		Header:    http.Header{"X-Universal-Router-Version": {routerVersion}},
		Secrets:   keyHeader(c.Key),
		Temporary: func(e *rest.Error) bool { return e.Code == upstreamTimeout },
	})
	if err != nil {
		return nil, err
	}
	return &Provider{api: api, now: c.Now}, nil
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

func keyHeader(key func(context.Context) (string, error)) func(context.Context) (http.Header, error) {
	if key == nil {
		return nil
	}
	return func(ctx context.Context) (http.Header, error) {
		k, err := key(ctx)
		if err != nil || k == "" {
			return nil, err
		}
		return http.Header{"X-Api-Key": {k}}, nil
	}
}

// Kind is [swap.DEX].
func (p *Provider) Kind() swap.Kind { return swap.DEX }

// Close drops idle connections.
func (p *Provider) Close() { p.api.Close() }
