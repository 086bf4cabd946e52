// Package priceapi assembles the price service: which sources exist, which of them lead,
// and which are asked about what those leave undecided.
package priceapi

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/priceapi/onchain"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/source"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// Names of the sources in the configuration.
const (
	DefiLlama     = "defillama"
	OnChain       = "onchain"
	GeckoTerminal = "geckoterminal"
	CoinGecko     = "coingecko"
	DexScreener   = "dexscreener"
	Blockscout    = "blockscout"
	GoPlus        = "goplus"
	Hosted        = "hosted"
)

// shown are the chains of the REST API (the spec's section 1). Prices on other chains are
// kept for the wallet only.
var shown = map[uint64]bool{1: true, 10: true, 56: true, 8453: true, 5330: true}

// Shows reports whether the REST API shows a chain's tokens.
func Shows(chain uint64) bool { return shown[chain] }

// A Setting configures one source.
type Setting struct {
	Disabled bool
	Base     string // base URL; empty = the service's own
}

// Settings configure the sources.
type Settings struct {
	Of map[string]Setting // by name; an absent source is enabled at its own address
	// Local: only HTTP services with a configured address are used, as in the sandbox.
	Local bool
	Reach rest.Reach
	// Chain reads the networks' own contracts; nil = they are not read.
	Chain onchain.Chain
	// Key returns a source's API key, "" if it has none; nil = no source has one.
	Key func(ctx context.Context, name string) (string, error)
	Pro bool // CoinGecko's key belongs to a paid plan
	// Limits that are not zero replace the sources' own.
	Limits rest.Limits
	Now    func() time.Time
}

// Sources are what a poller asks. They must be closed.
type Sources struct {
	Leading, Further []poll.Paced
	Archives         []poll.Archive
	MetadataSources  []poll.MetadataConfig
	closers          []service
}

// Close drops idle connections.
func (s *Sources) Close() {
	for _, c := range s.closers {
		c.Close()
	}
}

// coinGeckoEvery keeps a demo key within 10,000 calls a month: the built-in list takes
// about seven calls.
const coinGeckoEvery = time.Hour

// A service is what a row opens: a [poll.Source], a [poll.Archive], a [poll.MetadataSource], or
// several of these.
type service interface{ Close() }

// A row describes one service.
type row struct {
	name  string
	marks price.Source // source recorded for its market caps
	leads bool
	every time.Duration
	// base: it has no default address.
	base bool
	open func(source.Config) (service, error)
}

// rows are the services in order of preference. Of those that do not lead, the ones that
// need no key come first.
var rows = []row{
	{name: Hosted, marks: price.Hosted, leads: true, base: true, open: func(c source.Config) (service, error) { return source.NewHosted(c) }},
	{name: DefiLlama, marks: price.DefiLlama, leads: true, open: func(c source.Config) (service, error) { return source.NewDefiLlama(c) }},
	{name: GeckoTerminal, marks: price.GeckoTerminal, open: func(c source.Config) (service, error) { return source.NewGeckoTerminal(c) }},
	{name: CoinGecko, marks: price.CoinGecko, every: coinGeckoEvery, open: openCoinGecko},
	{name: DexScreener, open: func(c source.Config) (service, error) { return source.NewDexScreener(c) }},
	{name: Blockscout, marks: price.Blockscout, open: openBlockscout},
	{name: GoPlus, marks: price.GoPlus, open: func(c source.Config) (service, error) { return source.NewGoPlus(c) }},
}

// Open prepares the sources without connecting. Another Swapkeep and DefiLlama lead, and
// the networks' own contracts confirm their prices.
func (s Settings) Open() (*Sources, error) {
	out := &Sources{}
	for _, r := range rows {
		if s.skips(r) {
			continue
		}
		opened, err := r.open(s.config(r.name))
		if err != nil {
			out.Close()
			return nil, fmt.Errorf("prices.sources.%s: %w", r.name, err)
		}
		out.add(r, opened)
	}
	if !s.Of[OnChain].Disabled && s.Chain != nil {
		contracts := onchain.New(s.Chain, onchain.Options{Now: s.Now})
		out.Leading = append(out.Leading, poll.Paced{Source: contracts, Trusted: true})
		out.MetadataSources = append(out.MetadataSources, poll.MetadataConfig{MetadataSource: contracts, Diluted: true, Trusted: true})
	}
	return out, nil
}

// Services reports whether any service outside the networks may be asked.
func (s Settings) Services() bool {
	return slices.ContainsFunc(rows, func(r row) bool { return !s.skips(r) })
}

// skips reports whether a service is not used.
func (s Settings) skips(r row) bool {
	of := s.Of[r.name]
	return of.Disabled || of.Base == "" && (s.Local || r.base)
}

// add registers a service for each of the interfaces that it implements.
func (s *Sources) add(r row, opened service) {
	s.closers = append(s.closers, opened)
	if of, ok := opened.(poll.Source); ok {
		paced := poll.Paced{Source: of, Every: r.every}
		if r.leads {
			s.Leading = append(s.Leading, paced)
		} else {
			s.Further = append(s.Further, paced)
		}
	}
	if of, ok := opened.(poll.Archive); ok {
		s.Archives = append(s.Archives, of)
	}
	if of, ok := opened.(poll.MetadataSource); ok {
		s.MetadataSources = append(s.MetadataSources, poll.MetadataConfig{MetadataSource: of, Source: r.marks})
	}
}

func (s Settings) config(name string) source.Config {
	c := source.Config{Base: s.Of[name].Base, Reach: s.Reach, Now: s.Now, Pro: s.Pro, Limits: s.Limits}
	if s.Key != nil {
		c.Key = func(ctx context.Context) (string, error) { return s.Key(ctx, name) }
	}
	return c
}

// openBlockscout uses a configured address for every explorer, each under its chain id.
func openBlockscout(c source.Config) (service, error) {
	if c.Base != "" {
		c.Hosts = map[uint64]string{}
		for _, id := range source.Explorers() {
			c.Hosts[id] = strings.TrimSuffix(c.Base, "/") + "/" + strconv.FormatUint(id, 10)
		}
		c.Base = ""
	}
	return source.NewBlockscout(c)
}

func openCoinGecko(c source.Config) (service, error) {
	if c.Key == nil {
		c.Key = func(context.Context) (string, error) { return "", nil }
	}
	made, err := source.NewCoinGecko(c)
	return optionalCoinGecko{made, c.Key}, err
}

// A optionalCoinGecko is CoinGecko that returns nothing, without an error, while there is no key for
// it.
type optionalCoinGecko struct {
	*source.CoinGecko
	key func(context.Context) (string, error)
}

// Now asks CoinGecko if there is a key.
func (k optionalCoinGecko) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.Now(ctx, ts)
}

// MarketCaps asks CoinGecko if there is a key.
func (k optionalCoinGecko) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.MarketCaps(ctx, ts)
}
