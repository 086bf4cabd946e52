package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/config"
	"swapkeep/home"
	"swapkeep/keys"
	"swapkeep/live"
	"swapkeep/providers/refused"
	"swapkeep/swap"
)

// liveTime limits the whole comparison.
const liveTime = 5 * time.Minute

// compareLive compares the outside world with what this version expects and writes the
// result as JSON that may be sent to others: it contains no keys, and no accounts except
// placeholders. It needs no daemon and opens neither wallets nor databases; it reads only
// the providers' keys from the keychain.
func compareLive(ctx context.Context, out io.Writer, args, environ []string) error {
	w := live.BuiltIn()
	for len(args) > 1 && (args[0] == "--provider" || args[0] == "--network") {
		if args[0] == "--provider" {
			w.Provider = swap.Kind(args[1])
		} else if id, err := strconv.ParseUint(args[1], 10, 64); err == nil {
			w.Network = id
		} else {
			return fmt.Errorf("--network takes a chain id: %w", err)
		}
		args = args[2:]
	}
	cfg, err := load(environ, args)
	if err != nil {
		return err
	}
	hub, err := dialNetworks(cfg)
	if err != nil {
		return err
	}
	defer hub.Close()
	w.Nodes, w.Sandbox = hub, cfg.Sandbox
	if w.Provider != "" && !slices.Contains(swap.Kinds(), w.Provider) {
		return fmt.Errorf("--provider: %q is none of %v", w.Provider, swap.Kinds())
	}
	if _, err := hub.Network(w.Network); w.Network != 0 && err != nil {
		return fmt.Errorf("--network: %w", err)
	}
	if w.Fees, err = feesOf(cfg); err != nil {
		return err
	}
	if w.Providers, err = providersOf(cfg); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	ctx, write := refused.Report(ctx, chain.Nobody, w.Fees.Partner.Receiver)
	text, err := write(live.Examine(ctx, w))
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// providersOf returns the configured providers, with the API keys of the home if it
// exists.
func providersOf(cfg config.Config) (map[swap.Kind]swap.Provider, error) {
	stamp, err := home.ReadStamp(cfg.Home)
	if err != nil {
		return openProviders(cfg, func(context.Context, string) (string, error) { return "", nil }, providerDeps{})
	}
	store, err := keysOf(cfg, stamp, cfg.Home, "", keys.Limits{})
	if err != nil {
		return nil, err
	}
	return openProviders(cfg, keys.NewProviderKeys(store).Get, providerDeps{})
}
