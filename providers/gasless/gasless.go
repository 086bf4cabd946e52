// Package gasless swaps on one chain by signed orders that Bebop settles: JAM v2,
// where solvers compete to pay at least what was signed, and RFQ v3, where one
// maker pays exactly that. Both are asked at once. What the API returns is a
// claim; what binds is the order, which is built here from the terms and the few
// fields that the API may choose, and only signed if it is what the API showed.
package gasless

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"swapkeep/fault"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// DefaultBase is the API's own address.
const DefaultBase = "https://api.bebop.xyz"

// A Config says where the API is and who asks.
type Config struct {
	Base    string // DefaultBase when empty
	Sandbox bool   // Base must be loopback and may be http; else https only
	// Source is the partner id under which the API knows the wallet; "" sends none.
	Source string
	// Key returns the API key, asked for with each call and sent as source-auth;
	// nil or "" sends none: quotes are then wider and strictly limited.
	Key    func(context.Context) (string, error)
	Limits rest.Limits      // zero fields take the defaults, with this provider's own for calls and bodies
	Now    func() time.Time // fault.Now when nil
}

const (
	// maxReply is far above a quote; offers are stored whole.
	maxReply = 64 << 10
	// callTime is how long either protocol may take to answer, repetitions
	// included; both are asked at once.
	callTime = 8 * time.Second
	// attempts: makers dislike to be asked often.
	attempts = 2

	maxSource = 64
)

// A Provider is the gasless provider as swap sees it. It may be used by several
// goroutines.
type Provider struct {
	api    map[string]*rest.Client // by the protocol's name: one that fails or is limited does not stop the other
	orders map[string]*rest.Client // nor do quotes that fail stop orders that are under way
	source string
	now    func() time.Time

	readings map[string]*wire.Readings[reading] // likewise
}

var (
	_ swap.Provider = (*Provider)(nil)
	_ swap.Settler  = (*Provider)(nil)
	_ swap.Streamer = (*Provider)(nil)
)

// New checks the configuration; it connects to nothing.
func New(c Config) (*Provider, error) {
	if c.Base == "" {
		c.Base = DefaultBase
	}
	if c.Now == nil {
		c.Now = fault.Now
	}
	if len(c.Source) > maxSource || strings.ContainsFunc(c.Source, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("gasless: source: want at most %d plain characters without spaces", maxSource)
	}
	reach := rest.Outside
	if c.Sandbox {
		reach = rest.OwnMachineAlone
	}
	p := &Provider{api: map[string]*rest.Client{}, orders: map[string]*rest.Client{}, readings: map[string]*wire.Readings[reading]{}, source: c.Source, now: c.Now}
	for _, pr := range protocols {
		api, err := rest.New(rest.Config{
			Name: string(swap.Gasless), Base: c.Base, Published: DefaultBase, Reach: reach, Limits: c.Limits.Or(rest.Limits{Body: maxReply, Call: callTime, Attempts: attempts}), Now: c.Now, Secrets: keyHeader(c.Key),
		})
		if err != nil {
			return nil, err
		}
		p.api[pr.name], p.orders[pr.name], p.readings[pr.name] = api, api.Apart(), new(wire.Readings[reading])
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

// service is the provider in what a person reads.
var service = wire.Service{Name: string(swap.Gasless), Failures: failures}
