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
	"swapkeep/fault"
	"swapkeep/priceapi"
	"swapkeep/priceapi/shared"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// Environment variables that may hold what the configuration names a file for.
const (
	postgresVariable  = "SWAPKEEP_SERVER_POSTGRES_URL"
	redisVariable     = "SWAPKEEP_SERVER_REDIS_URL"
	sourceVariable    = "SWAPKEEP_SERVER_%s_KEY" // of a source, in capital letters
	defaultPricesPort = "127.0.0.1:5330"
)

// A backend is how a database is reached: by a URL without a password here, or by one
// with it in a file of mode 0600 or in the environment.
type backend struct {
	URL     string `toml:"url"`
	URLFile string `toml:"url_file"`
}

// A pricesFile is the configuration of the prices command. Unknown keys are errors.
type pricesFile struct {
	Listen   string   `toml:"listen"`          // host:port; not used with a passed socket
	Hosts    []string `toml:"hosts"`           // what Host may say; empty: the address that is listened on
	Origins  []string `toml:"origins"`         // web pages that may read
	Proxies  []string `toml:"trusted_proxies"` // CIDRs whose X-Forwarded-For is believed
	TLS      tlsFiles `toml:"tls"`             // required off loopback
	Postgres struct {
		backend
		Connections int `toml:"connections"`
	} `toml:"postgres"`
	Redis struct {
		backend
		Prefix string `toml:"prefix"`
	} `toml:"redis"`
	KeysFile  string `toml:"keys_file"` // [[tokens]] with an API key's name and hash; empty: nobody needs one
	Anonymous bool   `toml:"anonymous"` // with keys_file: who has no key may ask too
	Limits    struct {
		Rate           float64  `toml:"rate"` // requests a second of a key
		Burst          int      `toml:"burst"`
		AnonymousRate  float64  `toml:"anonymous_rate"` // of an address without one
		AnonymousBurst int      `toml:"anonymous_burst"`
		Connections    int      `toml:"connections"`
		Streams        int      `toml:"streams"`
		Drain          duration `toml:"drain"`
	} `toml:"limits"`
	Poll        bool                    `toml:"poll"` // whether this process may be the one that polls
	HistoryDays int                     `toml:"history_days"`
	Lists       []string                `toml:"lists"` // files of tokens beside the built-in list
	Sources     map[string]sourceTable  `toml:"sources"`
	Networks    map[string]networkTable `toml:"networks"`
}

// A sourceTable is one source of prices.
type sourceTable struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"`
	Plan     string `toml:"plan"`     // of CoinGecko: demo or pro
	KeyFile  string `toml:"key_file"` // of CoinGecko and hosted
}

// A networkTable is one network.
type networkTable struct {
	RPC []string `toml:"rpc"`
}

// sources that there are, and whether they take a key.
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

// check refuses what no part would refuse by itself.
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
		{f.Anonymous && f.KeysFile == "", "anonymous says who may ask beside those with a key: it needs keys_file"},
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

// trusted are the proxies whose word on where a request comes from is taken.
func (f pricesFile) trusted() (all []netip.Prefix, err error) {
	for _, text := range f.Proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("trusted_proxies: %q is no network: write 10.0.0.0/8, or 192.0.2.1/32 for one address", text)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("trusted_proxies: %q is everybody, who could then say anything", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// read is the URL of a backend. No error repeats it.
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
		return "", fmt.Errorf("the %s url is given twice: by %s and by %s.url; keep one", name, variable, name)
	case hidden == "" && b.URL == "":
		return "", fmt.Errorf("no %s: set %s, or %s.url_file to a file of mode 0600 with its URL", name, variable, name)
	}
	return hidden + b.URL, nil
}

// carriesPassword also takes what it cannot read for one.
func carriesPassword(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || strings.Contains(strings.ToLower(raw), "password") {
		return true
	}
	_, has := u.User.Password()
	return has
}

// settings are those of the sources, with their keys.
func (f pricesFile) settings(sandbox bool) (priceapi.Settings, error) {
	s := priceapi.Settings{Of: map[string]priceapi.Setting{}, Local: sandbox, Now: fault.Now, Pro: f.Sources[priceapi.CoinGecko].Plan == "pro"}
	if sandbox {
		s.Reach = rest.OwnMachineAlone
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

// hub reaches the networks that are priced: each by what is configured, else, outside
// the sandbox, by its own defaults.
func (f pricesFile) hub(sandbox bool) (*chain.Hub, error) {
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
	return chain.NewHub(endpoints, chain.Options{Sandbox: sandbox})
}

// monitored are the tokens whose prices are kept: those of the built-in list, then of
// the files. A file that is not right keeps the process from starting.
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
