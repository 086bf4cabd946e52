package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"swapkeep/config"
	"swapkeep/priceapi"
	"swapkeep/providers/bridge"
	"swapkeep/providers/dex"
	"swapkeep/providers/gasless"
	"swapkeep/providers/intent"
	"swapkeep/swap"
)

// A providerRow makes one provider.
type providerRow struct {
	kind swap.Kind
	// open returns nil where the configuration has the provider switched off, or
	// does not say where it is. key is the provider's, from the keychain, asked for
	// when it is needed, so that one that is set counts at once.
	open func(c config.Config, key func(context.Context) (string, error), d desk) (swap.Provider, error)
}

// A desk is what else a provider has of the daemon. Fields may be nil.
type desk struct {
	own dex.OwnPrice
	odd func(what string) // told of what was taken though it is not as it usually is
}

// providerRows are the providers built in.
var providerRows = []providerRow{
	{swap.DEX, openDEX},
	{swap.Bridge, openBridge},
	{swap.Intent, openIntent},
	{swap.Gasless, openGasless},
}

// openProviders makes the providers that the configuration sets up.
func openProviders(cfg config.Config, provided func(ctx context.Context, item string) (string, error), d desk) (map[swap.Kind]swap.Provider, error) {
	out := map[swap.Kind]swap.Provider{}
	for _, r := range providerRows {
		p, err := r.open(cfg, func(ctx context.Context) (string, error) { return provided(ctx, keyItem(string(r.kind), cfg)) }, d)
		if err != nil {
			return nil, fmt.Errorf("providers.%s: %w", r.kind, err)
		}
		if p != nil {
			out[r.kind] = p
		}
	}
	return out, nil
}

// keyItem names the item of a provider's key, or of a source's of prices.
func keyItem(name string, c config.Config) string {
	p, from := c.Providers, c.Prices.Sources
	return keyOfHost(name, map[string]string{
		string(swap.DEX): p.DEX.BaseURL, string(swap.Bridge): p.Bridge.BaseURL, string(swap.Intent): p.Intent.BaseURL, string(swap.Gasless): p.Gasless.BaseURL,
		priceapi.CoinGecko: from.CoinGecko.BaseURL, priceapi.Hosted: from.Hosted.BaseURL,
	}[name])
}

// keyOfHost: a key is of the host that it was set for, and goes to no other one when
// the address is changed.
func keyOfHost(name, base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return name // the provider's own
	}
	host := sha256.Sum256([]byte(strings.ToLower(u.Hostname())))
	return name + "-" + hex.EncodeToString(host[:8]) // items have short names
}

// known reports whether a provider is to be used and its address known: outside
// the sandbox those that are called directly have one of their own.
func known(c config.Config, disabled bool, baseURL string) bool {
	return !disabled && (baseURL != "" || !c.Sandbox)
}

// openDEX: without a key proxy there is none.
func openDEX(c config.Config, key func(context.Context) (string, error), d desk) (swap.Provider, error) {
	p := c.Providers.DEX
	if p.BaseURL == "" || p.Disabled {
		return nil, nil
	}
	return dex.New(dex.Config{Base: p.BaseURL, Sandbox: c.Sandbox, Own: d.own, Odd: d.odd, Token: func(ctx context.Context) (string, error) {
		if token, err := p.InstallationToken(); token != "" || err != nil {
			return token, err
		}
		return key(ctx)
	}})
}

func openBridge(c config.Config, key func(context.Context) (string, error), _ desk) (swap.Provider, error) {
	p := c.Providers.Bridge
	if !known(c, p.Disabled, p.BaseURL) {
		return nil, nil
	}
	return bridge.New(bridge.Config{Base: p.BaseURL, Sandbox: c.Sandbox, Key: func(ctx context.Context) (string, error) {
		if fromFile, err := p.Key(); fromFile != "" || err != nil {
			return fromFile, err
		}
		return key(ctx)
	}})
}

// openIntent: its API takes no key.
func openIntent(c config.Config, _ func(context.Context) (string, error), _ desk) (swap.Provider, error) {
	p := c.Providers.Intent
	if !known(c, p.Disabled, p.BaseURL) {
		return nil, nil
	}
	return intent.New(intent.Config{Base: p.BaseURL, Frontend: p.FrontendBaseURL, Sandbox: c.Sandbox})
}

func openGasless(c config.Config, key func(context.Context) (string, error), _ desk) (swap.Provider, error) {
	p := c.Providers.Gasless
	if !known(c, p.Disabled, p.BaseURL) {
		return nil, nil
	}
	return gasless.New(gasless.Config{Base: p.BaseURL, Sandbox: c.Sandbox, Source: p.Source, Key: key})
}
