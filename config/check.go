package config

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"time"
)

const maxLists = 8 // token lists

// Check refuses values outside their bounds.
func (c *Config) Check() error {
	auto := time.Duration(c.Keys.AutoLock)
	switch {
	case c.Keys.Backend != "os" && c.Keys.Backend != "file":
		return fmt.Errorf("keys.backend is %q: must be os or file", c.Keys.Backend)
	case c.Confirm != ConfirmOutside && c.Confirm != ConfirmPopup:
		return fmt.Errorf("confirm is %q: must be outside or popup", c.Confirm)
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
	if err := c.Chains.check(c.Sandbox); err != nil {
		return fmt.Errorf("chains.%w", err)
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

// check refuses to revive ended networks outside the sandbox and in a release.
func (c Chains) check(sandbox bool) error {
	switch {
	case len(c.Revived) == 0:
		return nil
	case !sandbox:
		return errors.New("revived: a network that was shut down runs in a sandbox only")
	case !revives:
		return errors.New("revived: this build leaves networks that were shut down as they are")
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

// checkURL allows https to other machines, or in the sandbox only http and https to loopback.
// Errors name the host only: the rest may contain an access key.
func (c *Config) checkURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("not a plain URL: use scheme, host and path only")
	}
	loopback := u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" || u.Hostname() == "localhost"
	switch {
	case c.Sandbox && u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q: must be http or https", u.Host)
	case c.Sandbox && !loopback:
		return fmt.Errorf("%q: a sandbox may only reach this machine", u.Host)
	case !c.Sandbox && u.Scheme != "https":
		return fmt.Errorf("%q: must be https", u.Host)
	case !c.Sandbox && loopback:
		return fmt.Errorf("%q: a provider on this machine is only allowed in the sandbox", u.Host)
	}
	return nil
}
