// Package config loads the configuration of all Swapkeep programs: defaults, then the file,
// then the environment, then flags. Unknown keys are errors.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Config is all that can be configured. [Default] sets the fields whose default is not the
// zero value.
type Config struct {
	Home string `toml:"-"` // from SWAPKEEP_HOME; "" = the system's state directory
	File string `toml:"-"` // the file that was read; "" = none

	ExtensionsFile string              `toml:"-"` // path of the installer's list of allowed extensions; "" = none possible
	Installed      InstalledExtensions `toml:"-"` // its content, which is also merged into Extensions

	// Sandbox says that chains and providers are local and settle nothing real. It is
	// stored in a home when the home is created.
	Sandbox bool `toml:"sandbox"`

	Log        Log                `toml:"log"`
	Keys       Keys               `toml:"keys"`
	Extensions Extensions         `toml:"extensions"`
	Chains     Chains             `toml:"chains"`
	Networks   map[string]Network `toml:"networks"` // by chain id
	Providers  Providers          `toml:"providers"`
	Fees       Fees               `toml:"fees"`
	Limits     Limits             `toml:"limits"`
	Tokens     Tokens             `toml:"tokens"`
	Swap       Swap               `toml:"swap"`
	Prices     Prices             `toml:"prices"`
	UI         UI                 `toml:"ui"`

	origins map[string]Origin // by key; a missing key has its default
}

// Log configures the daemon's log file.
type Log struct {
	Level string `toml:"level"` // debug, info, warn or error
}

// Keys says where wallets are stored and how long they stay unlocked.
type Keys struct {
	Backend  string   `toml:"backend"`   // os (the keychain) or file
	AutoLock Duration `toml:"auto_lock"` // idle time, 1m to 24h
}

// Extensions are the browser extensions that may use the host, in addition to the built-in
// ones.
type Extensions struct {
	Chromium     []string `toml:"chromium"`
	Firefox      []string `toml:"firefox"`
	AllowUnknown bool     `toml:"allow_unknown"` // callers without an origin are allowed, read only
}

// Chains are settings for all networks.
type Chains struct {
	AllowLoopback []uint64 `toml:"allow_loopback"` // chain ids whose RPC may be on loopback
}

// Network replaces a built-in network's endpoints.
type Network struct {
	RPC   []string `toml:"rpc"`   // tried in order; two or more must agree on evidence
	Depth uint64   `toml:"depth"` // confirmations until a receipt is final; outside the sandbox only above the built-in number
}

// Providers are the swap providers' settings.
type Providers struct {
	DEX     Provider `toml:"dex"`
	Bridge  Bridge   `toml:"bridge"`
	Intent  Intent   `toml:"intent"`
	Gasless Gasless  `toml:"gasless"`
}

// Bridge is the bridge provider's settings.
type Bridge struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"` // empty: the provider's own
	// KeyFile holds the API key and overrides the keychain; for machines without one.
	KeyFile string `toml:"key_file"`
}

// Service is the settings of a service that needs no token of this installation.
type Service struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"` // empty: the provider's own
}

// Gasless is the gasless provider's settings.
type Gasless struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"` // empty: the provider's own
	Source   string `toml:"source"`   // partner id under which the provider knows the wallet; empty: none
}

// Intent is the intent provider's settings. The daemon and the token list shown to users
// may use different base URLs.
type Intent struct {
	Disabled        bool   `toml:"disabled"`
	BaseURL         string `toml:"base_url"`          // for the daemon; empty: the provider's own
	FrontendBaseURL string `toml:"frontend_base_url"` // for the token list; empty: the same
}

// Provider is the DEX provider's settings.
type Provider struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"`

	// TokenFile holds this installation's token for the key proxy and overrides the
	// keychain; for machines without one.
	TokenFile string `toml:"token_file"`
	Token     string `toml:"-"` // the token itself, only from SWAPKEEP_PROVIDERS_DEX_TOKEN
}

// Fees is the wallet vendor's fee configuration (spec section 2).
type Fees struct {
	FeeBps   int    `toml:"fee_bps"`
	Receiver string `toml:"receiver"` // empty: no fee is requested anywhere
	Name     string `toml:"name"`
	Website  string `toml:"website"`
}

// Limits bound what the daemon does.
type Limits struct {
	OpenOrders    int `toml:"open_orders"`
	HourlyDollars int `toml:"hourly_worth"` // dollars per hour that browsers may move before the password is needed again
	UnpricedDay   int `toml:"unpriced_day"` // likewise, dollars per 24 hours for swaps of unpriced tokens
}

// Tokens are the token lists in addition to the built-in one.
type Tokens struct {
	Lists []string `toml:"lists"` // absolute paths of files in the tokenlists.org format
}

// Swap is the defaults for swaps.
type Swap struct {
	Slippage Percent `toml:"slippage"` // for quotes that name none; percent, above 0, at most 50
}

// Prices configures the price API and its sources.
type Prices struct {
	Disabled    bool         `toml:"disabled"`     // nothing is fetched or served
	Listen      string       `toml:"listen"`       // loopback host:port of the REST API; off = none
	HistoryDays int          `toml:"history_days"` // how long hourly prices are kept
	Imported    bool         `toml:"imported"`     // the REST API also serves imported tokens
	AskImported bool         `toml:"ask_imported"` // services are also queried for imported tokens
	Sources     PriceSources `toml:"sources"`
}

// PriceSources are the price sources by name.
type PriceSources struct {
	DefiLlama     Service   `toml:"defillama"`
	OnChain       Switch    `toml:"onchain"`
	GeckoTerminal Service   `toml:"geckoterminal"`
	CoinGecko     CoinGecko `toml:"coingecko"`
	DexScreener   Service   `toml:"dexscreener"`
	Blockscout    Service   `toml:"blockscout"`
	GoPlus        Service   `toml:"goplus"`
	Hosted        Service   `toml:"hosted"` // another Swapkeep's price API; unused without base_url
}

// A Switch is the settings of something that can only be disabled.
type Switch struct {
	Disabled bool `toml:"disabled"`
}

// CoinGecko is used only if the keychain has a key for it.
type CoinGecko struct {
	Disabled bool   `toml:"disabled"`
	BaseURL  string `toml:"base_url"` // empty: the plan's own
	Plan     string `toml:"plan"`     // demo or pro
}

// NoListener is the listen address that means no listener.
const NoListener = "off"

// UI is the settings shared by all windows. The daemon only stores them.
type UI struct {
	Language string `toml:"language"` // BCP 47 tag
	Currency string `toml:"currency"` // ISO 4217 code, for values
}

// Percent is a number with at most two decimals, stored in hundredths: 0.5 is 50. It is a
// struct because the TOML decoder would store a whole number in an integer type as
// hundredths.
type Percent struct{ Hundredths int }

// UnmarshalText parses a number.
func (p *Percent) UnmarshalText(b []byte) error {
	whole, part, point := strings.Cut(string(b), ".")
	if !consistsOf(whole, 1, 2, digits) || len(whole) == 2 && whole[0] == '0' || point && !consistsOf(part, 1, 2, digits) {
		return fmt.Errorf("%q: want a number below 100 with at most two decimals", b)
	}
	n, err := strconv.Atoi(whole + (part + "00")[:2])
	p.Hundredths = n
	return err
}

// MarshalText formats a number.
func (p Percent) MarshalText() ([]byte, error) {
	s := fmt.Sprintf("%d.%02d", p.Hundredths/100, p.Hundredths%100)
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// Duration is a time.Duration written as text: 15m, 1h30m.
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// MarshalText writes a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

const (
	maxFile  = 1 << 20 // bytes of any file read here
	maxLists = 8       // token lists
)

// Character sets of the accepted forms. Regular expressions would be compiled at every
// start of a relay.
const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// consistsOf reports whether s has least to most characters, all of them from set.
func consistsOf(s string, least, most int, set string) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, set) == ""
}

// isLanguage accepts a BCP 47 tag: a language and at most three further parts.
func isLanguage(tag string) bool {
	parts := strings.Split(tag, "-")
	return len(parts) <= 4 && consistsOf(parts[0], 2, 3, lower) &&
		!slices.ContainsFunc(parts[1:], func(part string) bool { return !consistsOf(part, 2, 8, lower+capital+digits) })
}

// isCurrency accepts an ISO 4217 code.
func isCurrency(code string) bool { return consistsOf(code, 3, 3, capital) }

// Default is the configuration without file and environment.
func Default() Config {
	return Config{
		Log:    Log{Level: "info"},
		Keys:   Keys{Backend: "os", AutoLock: Duration(15 * time.Minute)},
		Fees:   Fees{FeeBps: 40},
		Limits: Limits{OpenOrders: 1000, HourlyDollars: 5000, UnpricedDay: 100},
		Swap:   Swap{Slippage: Percent{50}},
		Prices: Prices{Listen: "127.0.0.1:5330", HistoryDays: 32, Sources: PriceSources{CoinGecko: CoinGecko{Plan: "demo"}}},
		UI:     UI{Language: "en", Currency: "USD"},
	}
}

// Load reads the configuration for environ (entries as in os.Environ). flags are applied
// last; each is key=value.
func Load(environ []string, flags ...string) (Config, error) {
	c := Default()
	env := environment(environ)
	c.Home, c.Providers.DEX.Token = env["SWAPKEEP_HOME"], env[tokenVariable]
	if c.Home != "" && !filepath.IsAbs(c.Home) {
		return c, fmt.Errorf("SWAPKEEP_HOME is %q: must be an absolute path", c.Home)
	}
	seen := newPathChecker()
	if err := c.readFile(env, seen); err != nil {
		return c, err
	}
	if err := c.applyEnvironment(env); err != nil {
		return c, err
	}
	if err := c.readExtensions(seen); err != nil {
		return c, err
	}
	for _, f := range flags {
		key, value, ok := strings.Cut(f, "=")
		if !ok {
			return c, fmt.Errorf("flag %q: want key=value", f)
		}
		path := strings.Split(key, ".")
		if err := c.set(path, value); err != nil {
			return c, fmt.Errorf("flag %s: %w", key, err)
		}
		c.recordOrigin(path, FromFlag, key)
	}
	return c, c.Check()
}

// readFile reads $SWAPKEEP_CONFIG, or the file in the system's configuration directory if
// it exists.
func (c *Config) readFile(env map[string]string, seen *pathChecker) error {
	path, named := env["SWAPKEEP_CONFIG"], true
	if path == "" {
		dir := env["XDG_CONFIG_HOME"]
		switch {
		case dir != "" && !filepath.IsAbs(dir): // otherwise relay, daemon and terminal would each read another file
			return fmt.Errorf("XDG_CONFIG_HOME is %q: must be an absolute path", dir)
		case dir == "":
			var err error
			if dir, err = os.UserConfigDir(); err != nil {
				return nil // no home directory: no file
			}
		}
		path, named = filepath.Join(dir, "swapkeep", "config.toml"), false
	}
	c.ExtensionsFile = filepath.Join(filepath.Dir(path), "extensions.json")
	b, err := seen.readOwn(path)
	if errors.Is(err, os.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	c.File = path
	if err := c.parse(b); err != nil {
		return err
	}
	return c.recordFileOrigins(b)
}

// readOwn reads a file that only this user or root can write or replace: whoever can change
// the configuration can name another extension, provider or RPC.
func (s *pathChecker) readOwn(path string) ([]byte, error) {
	path, err := filepath.Abs(path) // ".." after a link must not lead elsewhere than the path that is checked
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil { // otherwise the error would name the first missing directory
		return nil, err
	}
	open, err := s.writableDirs(path)
	if err != nil {
		return nil, err
	}
	return readChecked(path, func(info fs.FileInfo) error {
		switch bad, err := s.writableByOthers(path, info); {
		case err != nil:
			return err
		case bad:
			open = append(open, path)
		}
		if len(open) == 0 {
			return nil
		}
		return fmt.Errorf("%s can be changed by others: check its content, then run chmod go-w %s", path, shellWords(open))
	})
}

// shellWords quotes paths for a shell.
func shellWords(paths []string) string {
	words := make([]string, 0, len(paths))
	for _, p := range paths {
		if strings.Trim(p, lower+capital+digits+"/._-") != "" {
			p = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
		words = append(words, p)
	}
	return strings.Join(words, " ")
}

// readChecked reads a file of at most maxFile bytes that passes check.
func readChecked(path string, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil {
		err = check(info)
	}
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is over %d bytes", path, maxFile)
	}
	return b, err
}

// parse decodes TOML over the present values of c.
func (c *Config) parse(b []byte) error {
	d := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields()
	err := d.Decode(c)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		e := unknown.Errors[0]
		row, _ := e.Position()
		return fmt.Errorf("configuration %s, line %d: unknown key %s", c.File, row, strings.Join(e.Key(), "."))
	}
	if err != nil {
		return fmt.Errorf("configuration %s: %w", c.File, err)
	}
	return nil
}

// Check refuses values outside their bounds.
func (c *Config) Check() error {
	auto := time.Duration(c.Keys.AutoLock)
	switch {
	case c.Keys.Backend != "os" && c.Keys.Backend != "file":
		return fmt.Errorf("keys.backend is %q: must be os or file", c.Keys.Backend)
	case auto < time.Minute || auto > 24*time.Hour:
		return fmt.Errorf("keys.auto_lock is %s: must be 1m to 24h", auto)
	case c.Swap.Slippage.Hundredths < 1 || c.Swap.Slippage.Hundredths > 5000:
		return errors.New("swap.slippage: must be above 0 and at most 50 percent")
	case !isLanguage(c.UI.Language):
		return fmt.Errorf("ui.language is %q: must be a language tag such as en or pt-BR", c.UI.Language)
	case !isCurrency(c.UI.Currency):
		return fmt.Errorf("ui.currency is %q: must be three capital letters such as USD", c.UI.Currency)
	case len(c.Tokens.Lists) > maxLists || slices.ContainsFunc(c.Tokens.Lists, func(p string) bool { return !filepath.IsAbs(p) }):
		return fmt.Errorf("tokens.lists: must be at most %d absolute paths", maxLists)
	case c.Limits.OpenOrders < 1 || c.Limits.OpenOrders > 100_000:
		return fmt.Errorf("limits.open_orders is %d: must be 1 to 100000", c.Limits.OpenOrders)
	case min(c.Limits.HourlyDollars, c.Limits.UnpricedDay) < 0 || max(c.Limits.HourlyDollars, c.Limits.UnpricedDay) > 1_000_000:
		return errors.New("limits.hourly_worth and limits.unpriced_day: must be 0 to 1000000 dollars")
	}
	if err := c.Prices.check(); err != nil {
		return fmt.Errorf("prices.%w", err)
	}
	if err := c.Providers.DEX.checkToken(); err != nil {
		return fmt.Errorf("providers.dex: %w", err)
	}
	if f := c.Providers.Bridge.KeyFile; f != "" && !filepath.IsAbs(f) {
		return fmt.Errorf("providers.bridge.key_file is %q: must be an absolute path", f)
	}
	for name, u := range c.urls() {
		if err := c.checkURL(u); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// check refuses values outside their bounds, such as a listen address that is not loopback.
func (p Prices) check() error {
	switch {
	case p.HistoryDays < 31 || p.HistoryDays > 366:
		return fmt.Errorf("history_days is %d: must be 31 to 366", p.HistoryDays)
	case p.Sources.CoinGecko.Plan != "demo" && p.Sources.CoinGecko.Plan != "pro":
		return fmt.Errorf("sources.coingecko.plan is %q: must be demo or pro", p.Sources.CoinGecko.Plan)
	case p.Listen == NoListener:
		return nil
	}
	at, err := netip.ParseAddrPort(p.Listen)
	if err != nil || !at.Addr().IsLoopback() || at.Addr().Zone() != "" {
		return fmt.Errorf("listen is %q: must be a loopback address with a port, such as 127.0.0.1:5330, or off", p.Listen)
	}
	return nil
}

// urls lists the service URLs by key. RPC URLs are checked by package chain, which knows
// the networks.
func (c *Config) urls() map[string]string {
	p, from := c.Providers, c.Prices.Sources
	out := map[string]string{
		"providers.dex.base_url":             p.DEX.BaseURL,
		"providers.bridge.base_url":          p.Bridge.BaseURL,
		"providers.intent.base_url":          p.Intent.BaseURL,
		"providers.intent.frontend_base_url": p.Intent.FrontendBaseURL,
		"providers.gasless.base_url":         p.Gasless.BaseURL,

		"prices.sources.defillama.base_url":     from.DefiLlama.BaseURL,
		"prices.sources.geckoterminal.base_url": from.GeckoTerminal.BaseURL,
		"prices.sources.coingecko.base_url":     from.CoinGecko.BaseURL,
		"prices.sources.dexscreener.base_url":   from.DexScreener.BaseURL,
		"prices.sources.blockscout.base_url":    from.Blockscout.BaseURL,
		"prices.sources.goplus.base_url":        from.GoPlus.BaseURL,
		"prices.sources.hosted.base_url":        from.Hosted.BaseURL,
	}
	maps.DeleteFunc(out, func(_, u string) bool { return u == "" })
	return out
}

// checkURL allows https to other machines, or in the sandbox only loopback. Errors name the
// host only: the rest may contain an access key.
func (c *Config) checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("not a plain URL: use scheme, host and path only")
	}
	loopback := u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" || u.Hostname() == "localhost"
	switch {
	case c.Sandbox && !loopback:
		return fmt.Errorf("%q: a sandbox may only reach this machine", u.Host)
	case !c.Sandbox && u.Scheme != "https":
		return fmt.Errorf("%q: must be https", u.Host)
	case !c.Sandbox && loopback:
		return fmt.Errorf("%q: a provider on this machine is only allowed in the sandbox", u.Host)
	}
	return nil
}
