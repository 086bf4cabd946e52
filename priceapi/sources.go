// Package priceapi puts the price service together: which sources there are, which of
// them lead, and which are asked for what those leave open.
package priceapi

import (
	"context"
	"fmt"
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

// The names of the sources, as the configuration has them.
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

// shown are the chains of the REST API (the spec's section 1). Prices of others are
// kept for the wallet.
var shown = map[uint64]bool{1: true, 10: true, 56: true, 8453: true, 5330: true}

// Shows reports whether the REST API shows a chain's tokens.
func Shows(chain uint64) bool { return shown[chain] }

// A Setting is one source's.
type Setting struct {
	Disabled bool
	Base     string // empty: the service's own address
}

// Settings say how the sources are reached.
type Settings struct {
	Of map[string]Setting // by name; what is absent is asked at its own address
	// Local: only what has an address is asked, as in the sandbox.
	Local bool
	Reach rest.Reach
	// Chain is what the networks' own contracts are asked through; nil = they are not.
	Chain onchain.Chain
	// Key returns a source's API key, "" if there is none; nil = there are none.
	Key func(ctx context.Context, name string) (string, error)
	Pro bool // CoinGecko's key is of a paid plan
	// Limits, where they are not zero, replace the sources' own.
	Limits rest.Limits
	Now    func() time.Time
}

// Sources are what a poller asks. Close them.
type Sources struct {
	Leading, Further []poll.Paced
	Archives         []poll.Archive
	Almanacs         []poll.Volume
	closers          []service
}

// Close drops idle connections.
func (s *Sources) Close() {
	for _, c := range s.closers {
		c.Close()
	}
}

// coinGeckoEvery keeps a demo key within 10,000 calls a month: the built-in list takes
// about seven of them.
const coinGeckoEvery = time.Hour

// A service is what a row opens: a [poll.Source], a [poll.Archive], a [poll.Almanac],
// or several of these.
type service interface{ Close() }

// A row is one service.
type row struct {
	name  string
	marks price.Source // what its market caps are marked as
	leads bool
	every time.Duration
	// base: it has no address of its own.
	base bool
	open func(source.Config) (service, error)
}

// rows are the services in the order in which they are preferred: of those that do not
// lead, the ones that need no key come first.
var rows = []row{
	{name: Hosted, marks: price.Hosted, leads: true, base: true, open: func(c source.Config) (service, error) { return source.NewHosted(c) }},
	{name: DefiLlama, marks: price.DefiLlama, leads: true, open: func(c source.Config) (service, error) { return source.NewDefiLlama(c) }},
	{name: GeckoTerminal, marks: price.GeckoTerminal, open: func(c source.Config) (service, error) { return source.NewGeckoTerminal(c) }},
	{name: CoinGecko, marks: price.CoinGecko, every: coinGeckoEvery, open: openCoinGecko},
	{name: DexScreener, open: func(c source.Config) (service, error) { return source.NewDexScreener(c) }},
	{name: Blockscout, marks: price.Blockscout, open: openBlockscout},
	{name: GoPlus, marks: price.GoPlus, open: func(c source.Config) (service, error) { return source.NewGoPlus(c) }},
}

// Open prepares the sources; it connects to nothing. Another Swapkeep's prices and
// DefiLlama's lead, with the networks' own contracts as their witness.
func (s Settings) Open() (*Sources, error) {
	out := &Sources{}
	for _, r := range rows {
		of := s.Of[r.name]
		if of.Disabled || of.Base == "" && (s.Local || r.base) {
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
		out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: contracts, Diluted: true, Trusted: true})
	}
	return out, nil
}

// add puts a service where what it can do is wanted.
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
	if of, ok := opened.(poll.Almanac); ok {
		s.Almanacs = append(s.Almanacs, poll.Volume{Almanac: of, Source: r.marks})
	}
}

func (s Settings) config(name string) source.Config {
	c := source.Config{Base: s.Of[name].Base, Reach: s.Reach, Now: s.Now, Pro: s.Pro, Limits: s.Limits}
	if s.Key != nil {
		c.Key = func(ctx context.Context) (string, error) { return s.Key(ctx, name) }
	}
	return c
}

// openBlockscout: an address that is configured stands for every explorer, each below
// its chain id.
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
	return keyed{made, c.Key}, err
}

// keyed is CoinGecko while there is a key for it; without one it says nothing, which
// is no failure.
type keyed struct {
	*source.CoinGecko
	key func(context.Context) (string, error)
}

// Now is CoinGecko's.
func (k keyed) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.Now(ctx, ts)
}

// MarketCaps are CoinGecko's.
func (k keyed) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.MarketCaps(ctx, ts)
}
