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

// A providerRow opens one provider.
type providerRow struct {
	kind swap.Kind
	// open returns nil if the configuration has the provider switched off or has no URL
	// for it. key reads its API key from the keychain for each use, so that a new key
	// takes effect at once.
	open func(c config.Config, key func(context.Context) (string, error), d providerDeps) (swap.Provider, error)
}

// A providerDeps is what else a provider needs from the daemon. Fields may be nil.
type providerDeps struct {
	ownPrice dex.OwnPrice
	unusual  func(what string) // called with a description of an answer that was accepted although it is unusual
}

var providerRows = []providerRow{
	{swap.DEX, openDEX},
	{swap.Bridge, openBridge},
	{swap.Intent, openIntent},
	{swap.Gasless, openGasless},
}

// openProviders opens the providers that the configuration sets up.
func openProviders(cfg config.Config, provided func(ctx context.Context, item string) (string, error), d providerDeps) (map[swap.Kind]swap.Provider, error) {
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

// keyItem returns the keychain item of the API key of a provider or price source.
func keyItem(name string, c config.Config) string {
	p, from := c.Providers, c.Prices.Sources
	return keyOfHost(name, map[string]string{
		string(swap.DEX): p.DEX.BaseURL, string(swap.Bridge): p.Bridge.BaseURL, string(swap.Intent): p.Intent.BaseURL, string(swap.Gasless): p.Gasless.BaseURL,
		priceapi.CoinGecko: from.CoinGecko.BaseURL, priceapi.Hosted: from.Hosted.BaseURL,
	}[name])
}

// keyOfHost returns the keychain item of a key for a host. A key belongs to the host it
// was set for and is not sent to another one after the URL changes.
func keyOfHost(name, base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return name // the default host
	}
	host := sha256.Sum256([]byte(strings.ToLower(u.Hostname())))
	return name + "-" + hex.EncodeToString(host[:8]) // keychain item names must be short
}

// known reports whether a provider is enabled and has a URL: outside the sandbox
// providers that are called directly have a default one.
func known(c config.Config, disabled bool, baseURL string) bool {
	return !disabled && (baseURL != "" || !c.Sandbox)
}

// openDEX returns nil without a key proxy.
func openDEX(c config.Config, key func(context.Context) (string, error), d providerDeps) (swap.Provider, error) {
	p := c.Providers.DEX
	if p.BaseURL == "" || p.Disabled {
		return nil, nil
	}
	return dex.New(dex.Config{Base: p.BaseURL, Sandbox: c.Sandbox, OwnPrice: d.ownPrice, OnAnomaly: d.unusual, Token: func(ctx context.Context) (string, error) {
		if token, err := p.InstallationToken(); token != "" || err != nil {
			return token, err
		}
		return key(ctx)
	}})
}

func openBridge(c config.Config, key func(context.Context) (string, error), _ providerDeps) (swap.Provider, error) {
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

// openIntent ignores the key, because the API takes none.
func openIntent(c config.Config, _ func(context.Context) (string, error), _ providerDeps) (swap.Provider, error) {
	p := c.Providers.Intent
	if !known(c, p.Disabled, p.BaseURL) {
		return nil, nil
	}
	return intent.New(intent.Config{Base: p.BaseURL, Frontend: p.FrontendBaseURL, Sandbox: c.Sandbox})
}

func openGasless(c config.Config, key func(context.Context) (string, error), _ providerDeps) (swap.Provider, error) {
	p := c.Providers.Gasless
	if !known(c, p.Disabled, p.BaseURL) {
		return nil, nil
	}
	return gasless.New(gasless.Config{Base: p.BaseURL, Sandbox: c.Sandbox, Source: p.Source, Key: key})
}
