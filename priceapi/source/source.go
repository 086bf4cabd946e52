// Package source reads prices from HTTP services. There is one type per service, which
// gives current prices, historical prices, or slowly changing market data.
//
// Fields that are used are decoded strictly, others are ignored. A malformed or unrequested
// row is dropped; a malformed document is an error. This package does not judge prices: age
// and confidence are passed on to the poller, which does.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"

	"golang.org/x/time/rate"
)

// A Config configures access to a service.
type Config struct {
	// Base replaces the service's own URL; empty = use that. [NewHosted] requires it;
	// [NewBlockscout] uses Hosts instead.
	Base string
	// Hosts are the explorers for NewBlockscout by chain; nil = the known ones.
	Hosts map[uint64]string
	Reach rest.Reach
	Now   func() time.Time // required
	// Key returns the API key and is called for each request. [NewCoinGecko] requires it,
	// NewHosted uses it if set, and the others ignore it.
	Key func(context.Context) (string, error)
	// Pro says that Key belongs to a paid CoinGecko plan instead of a demo key.
	Pro bool
	// Limits that are not zero replace the source's own. By default the client's circuit
	// breaker is practically off, because the poller has one per source.
	Limits rest.Limits
	// Timeout limits one Now with all its calls; 0 = 20 seconds. Less urgent requests may
	// take six times as long.
	Timeout time.Duration
}

const (
	defaultTimeout = 20 * time.Second
	slowFactor     = 6 // times patience, for less urgent requests
)

// An defaults holds a service's defaults.
type defaults struct {
	base      string
	perMinute float64 // calls that the service allows, of all kinds together
	burst     int     // how many of them may be made at once
	secrets   func(context.Context) (http.Header, error)
	limits    rest.Limits // differences from usual
}

// defaultLimits are the limits for a service that others can replace: short timeouts and one retry.
// The client does not sleep through the pause that a 429 asks for; it returns the error, so
// that the caller can use another source.
var defaultLimits = rest.Limits{
	Attempt: 5 * time.Second, Call: 12 * time.Second, Body: 1 << 20,
	Attempts: 2, Backoff: 250 * time.Millisecond, MaxWait: 250 * time.Millisecond,
	Failures: 1000, Open: time.Nanosecond,
}

// A service is the client for one provider.
type service struct {
	source  price.Source
	client  *rest.Client
	now     func() time.Time
	timeout time.Duration
}

// open prepares a service without connecting.
func (c Config) open(s price.Source, o defaults) (*service, error) {
	if c.Now == nil {
		return nil, fmt.Errorf("%s: needs a clock", s)
	}
	l := c.Limits.WithDefaults(o.limits).WithDefaults(defaultLimits)
	l.Burst = cmp.Or(l.Burst, o.burst)
	l.Rate = cmp.Or(l.Rate, rate.Limit((o.perMinute-float64(o.burst))/60)) // together with the burst, no more than is allowed
	client, err := rest.New(rest.Config{
		Name: s.String(), Base: cmp.Or(c.Base, o.base), Reach: c.Reach, Secrets: o.secrets, Limits: l, Now: c.Now,
	})
	if err != nil {
		return nil, err
	}
	return &service{s, client, c.Now, cmp.Or(c.Timeout, defaultTimeout)}, nil
}

// keyed sends the key in a header. Without a key it fails or, if optional, sends no header.
func (c Config) keyed(header string, optional bool) func(context.Context) (http.Header, error) {
	if c.Key == nil {
		return nil
	}
	return func(ctx context.Context) (http.Header, error) {
		key, err := c.Key(ctx)
		switch {
		case err != nil:
			return nil, err
		case key == "" && optional:
			return nil, nil
		case key == "":
			return nil, errors.New("the key is empty")
		}
		return http.Header{header: {key}}, nil
	}
}

// Name is the source's name in the API and on the command line.
func (s *service) Name() string { return s.source.String() }

// Source is the source recorded with its prices.
func (s *service) Source() price.Source { return s.source }

// Close drops idle connections.
func (s *service) Close() { s.client.Close() }
