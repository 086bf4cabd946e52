// Package config loads the configuration of all Swapkeep programs: defaults, then the file,
// then the environment, then flags. Unknown keys are errors.
package config

import (
	"time"
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

	// Confirm says where a person confirms what a browser asks for: outside of it, or in its popup.
	Confirm string `toml:"confirm"`

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
	Revived       []uint64 `toml:"revived"`        // chain ids of ended networks that run in a sandbox; only in builds for fault tests
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

// The values of [Config.Confirm].
const (
	ConfirmOutside = "outside" // in a dialog of the system, or at a terminal
	ConfirmPopup   = "popup"   // its call itself is the confirmation, within the limits
)

// UI is the settings shared by all windows. The daemon only stores them.
type UI struct {
	Language string `toml:"language"` // BCP 47 tag
	Currency string `toml:"currency"` // ISO 4217 code, for values
}

// Default is the configuration without file and environment.
func Default() Config {
	return Config{
		Confirm: ConfirmPopup,
		Log:     Log{Level: "info"},
		Keys:    Keys{Backend: "os", AutoLock: Duration(15 * time.Minute)},
		Fees:    Fees{FeeBps: 40},
		Limits:  Limits{OpenOrders: 1000, HourlyDollars: 5000, UnpricedDay: 100},
		Swap:    Swap{Slippage: Percent{50}},
		Prices:  Prices{Listen: "127.0.0.1:5330", HistoryDays: 32, Sources: PriceSources{CoinGecko: CoinGecko{Plan: "demo"}}},
		UI:      UI{Language: "en", Currency: "USD"},
	}
}
