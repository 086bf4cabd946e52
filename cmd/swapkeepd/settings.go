package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/host/settings"
	"swapkeep/keys"
	"swapkeep/swap"

	"github.com/rs/zerolog"
)

// openSettings merges the settings of earlier runs into the configuration.
func (d *daemon) openSettings() error {
	o := settings.Options{
		Check: checkParts, DefaultRPC: defaultRPC, Apply: d.apply,
		ProveRPC: func(ctx context.Context, id uint64, urls []string) error {
			return proveRPC(ctx, d.settings.Config(), id, urls)
		},
	}
	for _, n := range chain.Networks() {
		o.Chains = append(o.Chains, n.ID)
	}
	var err error
	if d.settings, err = settings.Open(d.home.DB, d.cfg, o); err != nil {
		return err
	}
	d.cfg = d.settings.Config()
	return d.setLevel()
}

// setLevel sets the log level of the configuration.
func (d *daemon) setLevel() error {
	level, err := zerolog.ParseLevel(d.cfg.Log.Level)
	if err != nil {
		return fmt.Errorf("log.level: %w", err)
	}
	d.log = d.log.Level(level)
	return nil
}

// checkParts checks what a configuration says about networks, providers and price sources
// by opening them, which makes no connection.
func checkParts(cfg config.Config) error {
	hub, err := dialNetworks(cfg)
	if err != nil {
		return err
	}
	hub.Close()
	if _, err = openProviders(cfg, nil, providerDeps{}); err != nil {
		return err
	}
	sources, err := sourcesOf(cfg, nil, nil).Open()
	if err == nil {
		sources.Close()
	}
	return err
}

func defaultRPC(id uint64) []string {
	n, _ := chain.NetworkByID(id)
	return n.RPC
}

// proveTime limits how long one endpoint may take to say which chain it serves.
const proveTime = 10 * time.Second

// proveRPC checks each URL alone, so that a working one does not hide a failing one.
func proveRPC(ctx context.Context, cfg config.Config, id uint64, urls []string) error {
	for _, url := range urls {
		hub, err := chain.NewMultiClient([]chain.Endpoint{{Chain: id, URLs: []string{url}}}, hubOptions(cfg))
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, proveTime)
		_, err = hub.Reader(ctx, id)
		cancel()
		hub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// apply applies a changed setting to the running parts.
func (d *daemon) apply(key string, cfg config.Config) {
	if key == "keys.auto_lock" {
		d.vault.SetAutoLock(time.Duration(cfg.Keys.AutoLock))
	}
	if id := settings.NetworkOf(key); id != 0 {
		if err := d.hub.Replace(id, cfg.Networks[strconv.FormatUint(id, 10)].RPC); err != nil {
			d.log.Error().Err(err).Str("setting", key).Msg("takes effect at the next start")
		}
	}
}

// providerKeys stores API keys in the keychain. It refuses a key for a provider whose key
// is configured elsewhere, because the stored one would never be used.
type providerKeys struct {
	*keys.ProviderKeys
	config func() config.Config // with the current settings: a new URL's key may be set before the restart
}

func (k providerKeys) SetProviderKey(ctx context.Context, provider string, key []byte) error {
	c := k.config()
	p := c.Providers.DEX
	switch {
	case provider == string(swap.DEX) && len(key) > 0 && (p.Token != "" || p.TokenFile != ""):
		return protocol.New("setting_overridden", "the environment or providers.dex.token_file has a token, which overrides one in the keychain")
	case provider == string(swap.Bridge) && len(key) > 0 && c.Providers.Bridge.KeyFile != "":
		return protocol.New("setting_overridden", "providers.bridge.key_file has a key, which overrides one in the keychain")
	case provider == string(swap.Intent) && len(key) > 0:
		return protocol.New("setting_refused", "the intent provider uses no API key")
	}
	return k.ProviderKeys.SetProviderKey(ctx, keyItem(provider, c), key)
}

// settingProblems returns the settings that the configuration no longer allows.
func (d *daemon) settingProblems() []protocol.Problem {
	ignored := d.settings.Ignored()
	var out []protocol.Problem
	for _, key := range slices.Sorted(maps.Keys(ignored)) {
		remedy := "set it again, or reset it (settings.set)"
		if key == settings.NetworkKey {
			remedy = "choose a network again (networks.select)"
		}
		out = append(out, protocol.Problem{Name: "setting", Message: key + " as it was set is not used: " + ignored[key].Error(), Remedy: remedy})
	}
	return out
}
