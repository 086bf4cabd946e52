// Package source asks the services that tell prices over HTTP: one type a service,
// each a source of current prices, of past ones, or of what changes slowly.
//
// What a service says is read strictly where it is used and not at all elsewhere: a
// row that is malformed, or that nobody asked for, is dropped; a document that is
// malformed is an error. Nothing here believes a price: its age and the confidence in
// it are handed through to who does.
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

// A Config says how a service is reached.
type Config struct {
	// Base stands for the service's own URL; empty means that one. [NewHosted] needs
	// it, and [NewBlockscout] has Hosts instead.
	Base string
	// Hosts are the explorers that NewBlockscout asks, by chain; nil means those that
	// are known.
	Hosts map[uint64]string
	Reach rest.Reach
	Now   func() time.Time // never nil
	// Key returns the API key, for each call anew. [NewCoinGecko] needs one; NewHosted
	// takes one; nobody else looks at it.
	Key func(context.Context) (string, error)
	// Pro says that Key is of a paid plan of CoinGecko's, and not a demo key.
	Pro bool
	// Limits, where they are not zero, replace the source's own. The breaker is out of
	// the way by default: who asks several sources has one for each.
	Limits rest.Limits
	// Patience bounds one Now, with all its calls; 20 seconds if zero. What is less
	// urgent may take six times as long.
	Patience time.Duration
}

const (
	patience = 20 * time.Second
	leisure  = 6 // times the patience
)

// own is what a service is asked by unless the configuration says otherwise.
type own struct {
	base      string
	perMinute float64 // calls that the service grants, all kinds together
	burst     int     // of these, how many at once
	secrets   func(context.Context) (http.Header, error)
	limits    rest.Limits // what differs from the usual
}

// usual are the limits of a service of which others of its kind can stand in: short,
// and one repetition. The pause that a 429 asks for is never slept through: it goes
// back to who can ask another source.
var usual = rest.Limits{
	Attempt: 5 * time.Second, Call: 12 * time.Second, Body: 1 << 20,
	Attempts: 2, Backoff: 250 * time.Millisecond, MaxWait: 250 * time.Millisecond,
	Failures: 1000, Open: time.Nanosecond,
}

// A service is one provider, as it is asked.
type service struct {
	source   price.Source
	client   *rest.Client
	now      func() time.Time
	patience time.Duration
}

// open prepares a service; it connects to nothing.
func (c Config) open(s price.Source, o own) (*service, error) {
	if c.Now == nil {
		return nil, fmt.Errorf("%s: needs a clock", s)
	}
	l := c.Limits.Or(o.limits).Or(usual)
	l.Burst = cmp.Or(l.Burst, o.burst)
	l.Rate = cmp.Or(l.Rate, rate.Limit((o.perMinute-float64(o.burst))/60)) // with the burst, what is granted
	client, err := rest.New(rest.Config{
		Name: s.String(), Base: cmp.Or(c.Base, o.base), Reach: c.Reach, Secrets: o.secrets, Limits: l, Now: c.Now,
	})
	if err != nil {
		return nil, err
	}
	return &service{s, client, c.Now, cmp.Or(c.Patience, patience)}, nil
}

// keyed puts the key into a header. Without a key it refuses, or sends none.
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

// Name is what the API and the commands call the source.
func (s *service) Name() string { return s.source.String() }

// Source is what its prices are marked as.
func (s *service) Source() price.Source { return s.source }

// Close drops idle connections.
func (s *service) Close() { s.client.Close() }
