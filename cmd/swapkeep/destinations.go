package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"swapkeep/host/protocol"
)

// crossChainProviders are the providers that can pay out on chains outside the wallet's networks.
var crossChainProviders = []string{"bridge", "intent"}

// crossChainAmong returns those of crossing among providers; all if providers is empty.
func crossChainAmong(providers []string) []string {
	if len(providers) == 0 {
		return crossChainProviders
	}
	return slices.DeleteFunc(slices.Clone(crossChainProviders), func(k string) bool { return !slices.Contains(providers, k) })
}

func isUnknownNetwork(err error) bool { return errors.Is(err, protocol.New("network_unknown", "")) }

// destination finds the destination network: one of the wallet's, or one that a provider
// supports, by its chain id or full name. A name in chainNames is its chain id, whatever
// a provider calls it. Providers that do not answer are skipped.
func (l *daemonConn) destination(ctx context.Context, wanted string, providers []string) (protocol.Network, error) {
	n, err := l.network(ctx, wanted)
	if !isUnknownNetwork(err) {
		return n, err
	}
	id, err := strconv.ParseUint(wanted, 10, 64)
	if err != nil {
		id = chainNames[strings.ToLower(wanted)] // else 0, which no network has
	}
	names := l.networkNames()
	for _, provider := range crossChainAmong(providers) {
		r, failed := ask[protocol.DestinationsResult](ctx, l, "swap.destinations", protocol.DestinationsParams{Provider: provider})
		if failed != nil {
			l.t.remark(fmt.Sprintf("cannot list the networks of the %s provider: %v", provider, failed))
			continue
		}
		var named []protocol.Destination
		for _, d := range r.Destinations {
			names[d.ChainID] = d.Name
			if d.ChainID == id || id == 0 && strings.EqualFold(d.Name, wanted) {
				named = append(named, d)
			}
		}
		if len(named) == 1 {
			return l.destinationNetwork(named[0], wanted, id != 0)
		}
	}
	e := unknownNetwork(wanted, names)
	e.Remedy = "see swapkeep networks, and swapkeep networks list --provider bridge or intent"
	return n, e
}

// destinationNetwork converts a provider's destination to a network. Only an interactive user may
// name it by the provider's name: a provider could redirect a script by it. byID means
// that it was found by its chain id.
func (l *daemonConn) destinationNetwork(d protocol.Destination, wanted string, byID bool) (protocol.Network, error) {
	if !byID && (l.t.json || !l.t.interactive()) {
		return protocol.Network{}, providerNamedNetwork(wanted, d.ChainID)
	}
	l.destinationNames[d.ChainID] = d.Name
	return protocol.Network{ChainID: d.ChainID, Name: l.nameOf(d.ChainID), Symbol: d.Symbol, Decimals: d.Decimals}, nil
}

// destinationToken finds a token on the destination network. If that is not one of the wallet's
// networks, it is one of the tokens that providers trade there; any other token must be
// given by address, and its decimals are then unknown.
func (l *daemonConn) destinationToken(ctx context.Context, chain uint64, wanted string, providers []string) (protocol.Token, error) {
	if _, ours := l.networks[chain]; ours {
		return l.token(ctx, chain, wanted)
	}
	t, err := l.tokenOf(ctx, chain, wanted, l.tradedTokens(ctx, chain, providers))
	address, notAddress := protocol.ParseAddress(wanted)
	var refused *protocol.Error
	switch {
	case err != nil && notAddress == nil:
		return protocol.Token{ChainID: chain, Address: address}, nil
	case errors.As(err, &refused):
		refused.Remedy = fmt.Sprintf("see swapkeep tokens list --provider bridge --network %d, or use its address", chain)
	}
	return t, err
}

// tradedTokens lists the tokens that providers say they trade on a chain, without duplicates;
// the first provider's data wins. Providers that do not answer are skipped.
func (l *daemonConn) tradedTokens(ctx context.Context, chain uint64, providers []string) (out []protocol.Token) {
	for _, provider := range crossChainAmong(providers) {
		cursor := ""
		for range maxPages {
			r, err := ask[protocol.TokensResult](ctx, l, "tokens.list", protocol.TokensParams{ChainID: chain, Provider: provider, Cursor: cursor, Limit: protocol.PageMax})
			if err != nil {
				break
			}
			for _, t := range r.Tokens {
				if !slices.ContainsFunc(out, func(o protocol.Token) bool { return o.Address == t.Address }) {
					out = append(out, t)
				}
			}
			if cursor = r.Cursor; cursor == "" {
				break
			}
		}
	}
	return out
}
