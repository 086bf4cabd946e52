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
	closers          []interface{ Close() }
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

// Open prepares the sources; it connects to nothing. Another Swapkeep's prices and
// DefiLlama's lead, with the networks' own contracts as their witness; of the further
// ones those come first that need no key.
func (s Settings) Open() (*Sources, error) {
	out := &Sources{}
	for _, add := range []func(Settings, *Sources) error{
		addHosted, addDefiLlama, addOnChain, addGeckoTerminal, addCoinGecko, addDexScreener, addBlockscout, addGoPlus, addDiluted,
	} {
		if err := add(s, out); err != nil {
			out.Close()
			return nil, fmt.Errorf("prices.sources.%w", err)
		}
	}
	return out, nil
}

// config is a source's, and whether it is to be asked at all.
func (s Settings) config(name string) (source.Config, bool) {
	of := s.Of[name]
	c := source.Config{Base: of.Base, Reach: s.Reach, Now: s.Now, Pro: s.Pro, Limits: s.Limits}
	if s.Key != nil {
		c.Key = func(ctx context.Context) (string, error) { return s.Key(ctx, name) }
	}
	return c, !of.Disabled && (of.Base != "" || !s.Local)
}

// opened notes a source that was opened.
func opened[T interface{ Close() }](out *Sources, made T, err error) (T, error) {
	if err == nil {
		out.closers = append(out.closers, made)
	}
	return made, err
}

func addHosted(s Settings, out *Sources) error {
	c, ok := s.config(Hosted)
	if !ok || c.Base == "" {
		return nil
	}
	made, err := source.NewHosted(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Leading = append(out.Leading, poll.Paced{Source: made})
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: made, Source: price.Hosted})
	return nil
}

func addDefiLlama(s Settings, out *Sources) error {
	c, ok := s.config(DefiLlama)
	if !ok {
		return nil
	}
	made, err := source.NewDefiLlama(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Leading = append(out.Leading, poll.Paced{Source: made})
	out.Archives = append(out.Archives, made)
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: made, Source: price.DefiLlama})
	return nil
}

func addOnChain(s Settings, out *Sources) error {
	if s.Of[OnChain].Disabled || s.Chain == nil {
		return nil
	}
	out.Leading = append(out.Leading, poll.Paced{Source: onchain.New(s.Chain, onchain.Options{Now: s.Now}), Trusted: true})
	return nil
}

func addGeckoTerminal(s Settings, out *Sources) error {
	c, ok := s.config(GeckoTerminal)
	if !ok {
		return nil
	}
	made, err := source.NewGeckoTerminal(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Further = append(out.Further, poll.Paced{Source: made})
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: made, Source: price.GeckoTerminal})
	return nil
}

func addCoinGecko(s Settings, out *Sources) error {
	c, ok := s.config(CoinGecko)
	if !ok || c.Key == nil {
		return nil
	}
	made, err := source.NewCoinGecko(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	k := keyed{made, c.Key}
	out.Further = append(out.Further, poll.Paced{Source: k, Every: coinGeckoEvery})
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: k, Source: price.CoinGecko})
	return nil
}

func addDexScreener(s Settings, out *Sources) error {
	c, ok := s.config(DexScreener)
	if !ok {
		return nil
	}
	made, err := source.NewDexScreener(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Further = append(out.Further, poll.Paced{Source: made})
	return nil
}

// addBlockscout: an address that is configured stands for every explorer, each below
// its chain id.
func addBlockscout(s Settings, out *Sources) error {
	c, ok := s.config(Blockscout)
	if !ok {
		return nil
	}
	if c.Base != "" {
		c.Hosts = map[uint64]string{}
		for _, id := range source.Explorers() {
			c.Hosts[id] = strings.TrimSuffix(c.Base, "/") + "/" + strconv.FormatUint(id, 10)
		}
		c.Base = ""
	}
	made, err := source.NewBlockscout(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Further = append(out.Further, poll.Paced{Source: made})
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: made, Source: price.Blockscout})
	return nil
}

func addGoPlus(s Settings, out *Sources) error {
	c, ok := s.config(GoPlus)
	if !ok {
		return nil
	}
	made, err := source.NewGoPlus(c)
	if made, err = opened(out, made, err); err != nil {
		return err
	}
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: made, Source: price.GoPlus})
	return nil
}

// addDiluted: the supply of the contracts themselves, for want of a better cap.
func addDiluted(s Settings, out *Sources) error {
	if s.Of[OnChain].Disabled || s.Chain == nil {
		return nil
	}
	out.Almanacs = append(out.Almanacs, poll.Volume{Almanac: onchain.New(s.Chain, onchain.Options{Now: s.Now}), Source: price.Unknown, Diluted: true, Trusted: true})
	return nil
}

// keyed is CoinGecko while there is a key for it; without one it says nothing, which
// is no failure.
type keyed struct {
	*source.CoinGecko
	key func(context.Context) (string, error)
}

func (k keyed) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.Now(ctx, ts)
}

func (k keyed) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	if key, err := k.key(ctx); key == "" || err != nil {
		return nil, err
	}
	return k.CoinGecko.MarketCaps(ctx, ts)
}
