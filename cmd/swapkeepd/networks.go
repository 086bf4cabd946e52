package main

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"swapkeep/chain"
	"swapkeep/config"
)

// dialNetworks creates the hub. Outside the sandbox it has every built-in network, with
// default endpoints unless the configuration replaces them; in the sandbox only
// configured networks.
func dialNetworks(cfg config.Config) (*chain.MultiClient, error) {
	given, err := endpointsOf(cfg)
	if err != nil {
		return nil, err
	}
	var endpoints []chain.Endpoint
	for _, n := range chain.Networks() {
		e, ok := given[n.ID]
		delete(given, n.ID)
		switch {
		case ok:
			endpoints = append(endpoints, e)
		case !cfg.Sandbox:
			endpoints = append(endpoints, chain.Endpoint{Chain: n.ID})
		}
	}
	h, err := chain.NewMultiClient(endpoints, hubOptions(cfg))
	if err != nil {
		return nil, err
	}
	if err := h.SetFar(slices.Collect(maps.Values(given))); err != nil {
		return nil, fmt.Errorf("networks: %w", err)
	}
	return h, nil
}

func hubOptions(cfg config.Config) chain.Options {
	return chain.Options{Sandbox: cfg.Sandbox, AllowLoopback: cfg.Chains.AllowLoopback, Revived: cfg.Chains.Revived}
}

func endpointsOf(cfg config.Config) (map[uint64]chain.Endpoint, error) {
	out := map[uint64]chain.Endpoint{}
	for key, n := range cfg.Networks {
		id, err := strconv.ParseUint(key, 10, 64)
		if err != nil || strconv.FormatUint(id, 10) != key {
			return nil, fmt.Errorf("networks.%s: the key must be a chain id", key)
		}
		out[id] = chain.Endpoint{Chain: id, URLs: n.RPC, Depth: n.Depth}
	}
	return out, nil
}

// A gasMeter reads gas prices.
type gasMeter struct{ *chain.MultiClient }

// price returns the expected price of a unit of gas now, in wei, with the normal tip.
func (q gasMeter) price(ctx context.Context, id uint64) (*big.Int, error) {
	g, err := q.GasPrice(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case g.Normal.Legacy:
		return g.Normal.GasFeeCap, nil
	}
	return new(big.Int).Add(g.BaseFee, g.Normal.GasTipCap), nil
}
