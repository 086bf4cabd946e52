package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/clock"
	"swapkeep/priceapi"
	"swapkeep/priceapi/shared"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// Environment variables that may be used instead of a file named in the configuration.
const (
	postgresVariable  = "SWAPKEEP_SERVER_POSTGRES_URL"
	redisVariable     = "SWAPKEEP_SERVER_REDIS_URL"
	sourceVariable    = "SWAPKEEP_SERVER_%s_KEY" // %s is the source's name in capital letters
	defaultPricesPort = "127.0.0.1:5330"
)

// A backend is how a database is reached: a URL without a password, or one with a
// password in a file of mode 0600 or in the environment.
type backend struct {
	URL     string `toml:"url"`
	URLFile string `toml:"url_file"`
}

// A pricesFile is the configuration of the prices command. Unknown keys are errors.
type pricesFile struct {
	Listen   string   `toml:"listen"`          // host:port; not used with a socket from systemd
	Hosts    []string `toml:"hosts"`           // accepted Host headers; empty: the listening address
	Origins  []string `toml:"origins"`         // web origins that may read (CORS)
	Proxies  []string `toml:"trusted_proxies"` // CIDRs whose X-Forwarded-For is trusted
	TLS      tlsFiles `toml:"tls"`             // required unless on loopback
	Postgres struct {
		backend
		Connections int `toml:"connections"`
	} `toml:"postgres"`
	Redis struct {
		backend
		Prefix string `toml:"prefix"`
	} `toml:"redis"`
	KeysFile  string `toml:"keys_file"` // [[tokens]] with an API key's name and hash; empty: no key is required
	Anonymous bool   `toml:"anonymous"` // with keys_file: requests without a key are allowed too
	Limits    struct {
		Rate           float64  `toml:"rate"` // requests per second per key
		Burst          int      `toml:"burst"`
		AnonymousRate  float64  `toml:"anonymous_rate"` // requests per second per address without a key
		AnonymousBurst int      `toml:"anonymous_burst"`
		Connections    int      `toml:"connections"`
		Streams        int      `toml:"streams"`
		Drain          duration `toml:"drain"`
	} `toml:"limits"`
	Poll        bool                    `toml:"poll"` // whether this process may be the one that polls
	HistoryDays int                     `toml:"history_days"`
	Lists       []string                `toml:"lists"` // token list files in addition to the built-in list
	Sources     map[string]sourceTable  `toml:"sources"`
	Networks    map[string]networkTable `toml:"networks"`
}

// A sourceTable configures one price source.
type sourceTable struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"`
	Plan     string `toml:"plan"`     // CoinGecko only: demo or pro
	KeyFile  string `toml:"key_file"` // CoinGecko and hosted only
}

// A networkTable configures one network.
type networkTable struct {
	RPC []string `toml:"rpc"`
}

// sources are the known price sources, and whether they take a key.
var sources = map[string]bool{
	priceapi.DefiLlama: false, priceapi.OnChain: false, priceapi.GeckoTerminal: false, priceapi.CoinGecko: true,
	priceapi.DexScreener: false, priceapi.Blockscout: false, priceapi.GoPlus: false, priceapi.Hosted: true,
}

func readPricesConfig(path string) (pricesFile, error) {
	f := pricesFile{Listen: defaultPricesPort, Poll: true, HistoryDays: 32}
	f.Postgres.Connections = 8
	l := &f.Limits
	l.Rate, l.Burst, l.AnonymousRate, l.AnonymousBurst = 20, 100, 5, 60
	l.Connections, l.Streams, l.Drain = defaultConnections, 256, duration(5*time.Second)
	if path != "" {
		if err := decodeFile(path, nil, &f); err != nil {
			return f, err
		}
	}
	if err := f.check(); err != nil {
		return f, fmt.Errorf("%s%w", map[bool]string{true: path + ": "}[path != ""], err)
	}
	return f, nil
}

// check refuses what no other package would refuse.
func (f pricesFile) check() error {
	l := f.Limits
	for _, c := range []struct {
		bad bool
		why string
	}{
		{l.Connections < 1 || l.Connections > 1<<16, "limits.connections must be 1 to 65536"},
		{l.Streams < 1 || l.Streams > l.Connections, "limits.streams must be 1 to limits.connections"},
		{l.Drain <= 0 || time.Duration(l.Drain) > 10*time.Minute, "limits.drain must be up to 10m"},
		{f.Postgres.Connections < 1 || f.Postgres.Connections > 100, "postgres.connections must be 1 to 100"},
		{f.Anonymous && f.KeysFile == "", "anonymous requires keys_file"},
		{len(f.Redis.Prefix) > 64, "redis.prefix must be at most 64 characters"},
		{len(f.Lists) > 20 || slices.ContainsFunc(f.Lists, func(p string) bool { return !filepath.IsAbs(p) }), "lists must be at most 20 absolute paths"},
	} {
		if c.bad {
			return errors.New(c.why)
		}
	}
	if err := errors.Join(f.TLS.check(), f.keyed().Check(), f.keyless().Check()); err != nil {
		return err
	}
	for name, s := range f.Sources {
		takesKey, known := sources[name]
		switch {
		case !known:
			return fmt.Errorf("unknown key sources.%s", name)
		case s.KeyFile != "" && !takesKey:
			return fmt.Errorf("sources.%s takes no key", name)
		case s.Plan != "" && (name != priceapi.CoinGecko || s.Plan != "demo" && s.Plan != "pro"):
			return fmt.Errorf("sources.%s.plan: must be demo or pro, and of coingecko", name)
		}
	}
	_, err := f.trusted()
	return err
}

func (f pricesFile) keyed() shared.Rate {
	return shared.Rate{PerSecond: f.Limits.Rate, Burst: f.Limits.Burst}
}

func (f pricesFile) keyless() shared.Rate {
	return shared.Rate{PerSecond: f.Limits.AnonymousRate, Burst: f.Limits.AnonymousBurst}
}

// trusted returns the proxies whose X-Forwarded-For is trusted.
func (f pricesFile) trusted() (all []netip.Prefix, err error) {
	for _, text := range f.Proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("trusted_proxies: %q is not a network; write 10.0.0.0/8, or 192.0.2.1/32 for one address", text)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("trusted_proxies: %q includes everyone, who could then forge addresses", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// read returns the URL of a backend. Errors never contain it.
func (b backend) read(name, variable string) (string, error) {
	if b.URL != "" && b.URLFile != "" {
		return "", fmt.Errorf("%s: set url or url_file, not both", name)
	}
	if carriesPassword(b.URL) {
		return "", fmt.Errorf("%s.url has a password: move the URL into a file of mode 0600 and name that by %s.url_file, or into %s", name, name, variable)
	}
	hidden, err := secret{name + " url", variable, name + ".url_file", b.URLFile}.read()
	switch {
	case err != nil:
		return "", err
	case hidden != "" && b.URL != "":
		return "", fmt.Errorf("the %s url is set twice, in %s and in %s.url; keep one", name, variable, name)
	case hidden == "" && b.URL == "":
		return "", fmt.Errorf("no %s: set %s, or %s.url_file to a file of mode 0600 with its URL", name, variable, name)
	}
	return hidden + b.URL, nil
}

// carriesPassword reports whether a URL has a password or that word, or is malformed.
func carriesPassword(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || strings.Contains(strings.ToLower(raw), "password") {
		return true
	}
	_, has := u.User.Password()
	return has
}

// settings returns the settings of the price sources, with their keys.
func (f pricesFile) settings(sandbox bool) (priceapi.Settings, error) {
	s := priceapi.Settings{Of: map[string]priceapi.Setting{}, Local: sandbox, Now: clock.Now, Pro: f.Sources[priceapi.CoinGecko].Plan == "pro"}
	if sandbox {
		s.Reach = rest.LoopbackOnly
	}
	keys := map[string]string{}
	for name, takesKey := range sources {
		t := f.Sources[name]
		s.Of[name] = priceapi.Setting{Disabled: t.Disabled, Base: t.BaseURL}
		if !takesKey {
			continue
		}
		key, err := secret{"key of " + name, fmt.Sprintf(sourceVariable, strings.ToUpper(name)), "sources." + name + ".key_file", t.KeyFile}.read()
		if err != nil {
			return s, err
		}
		keys[name] = key
	}
	s.Key = keysOf(keys)
	hub, err := f.hub(sandbox)
	if err != nil {
		return s, err
	}
	if len(hub.Networks()) > 0 {
		s.Chain = hub
	}
	return s, nil
}

// hub connects to the networks with prices: each by its configured RPC URLs or, outside
// the sandbox, by the built-in defaults.
func (f pricesFile) hub(sandbox bool) (*chain.MultiClient, error) {
	given := maps.Clone(f.Networks)
	var endpoints []chain.Endpoint
	for _, n := range chain.Networks() {
		key := strconv.FormatUint(n.ID, 10)
		t, ok := given[key]
		delete(given, key)
		if ok || !sandbox {
			endpoints = append(endpoints, chain.Endpoint{Chain: n.ID, URLs: t.RPC})
		}
	}
	for key := range given {
		return nil, fmt.Errorf("networks.%s: not one of the networks", key)
	}
	return chain.NewMultiClient(endpoints, chain.Options{Sandbox: sandbox})
}

// monitored returns the tokens whose prices are kept: the built-in list, then the files.
// An invalid file is an error and keeps the process from starting.
func (f pricesFile) monitored() ([]tokens.Token, error) {
	all := tokens.Builtin().Tokens()
	for _, path := range f.Lists {
		text, err := readFile(path, nil)
		if err != nil {
			return nil, err
		}
		l, err := tokens.ParseList(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, l.Tokens()...)
	}
	type place struct {
		chain   uint64
		address [20]byte
	}
	seen := map[place]bool{}
	all = slices.DeleteFunc(all, func(t tokens.Token) bool {
		at := place{t.Chain, t.Address}
		again := seen[at] || t.Chain > math.MaxInt64
		seen[at] = true
		return again
	})
	if len(all) > maxMonitored {
		return nil, fmt.Errorf("lists: %d tokens in all: at most %d are monitored", len(all), maxMonitored)
	}
	return all, nil
}

const maxMonitored = 20_000
