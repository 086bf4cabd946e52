package plan

import (
	"context"
	"swapkeep/swap"
	"swapkeep/tokens"
)

// Providers lists what each provider supports and whether it is set up.
func (q *Quoter) Providers() []swap.ProviderInfo {
	out := make([]swap.ProviderInfo, 0, len(swap.Kinds()))
	for _, k := range swap.Kinds() {
		info := swap.ProviderInfo{Kind: k, Support: map[uint64]swap.Cell{}, Can: k.Capabilities(), Fee: q.planner.Fees.ForProvider(k)}
		var p swap.Provider
		if p, info.Ready = q.planner.Providers[k]; !info.Ready {
			info.Reason = "not configured"
		}
		if placed, ok := p.(swap.Endpointer); ok {
			at := placed.Endpoint()
			info.Endpoint = &at
		}
		for _, c := range swap.SupportedChains() {
			info.Support[c] = swap.SupportOf(k, c)
		}
		out = append(out, info)
	}
	return out
}

// Tokens lists what a provider trades on a network, if the provider can list it.
func (q *Quoter) Tokens(ctx context.Context, k swap.Kind, chainID uint64) ([]tokens.Token, error) {
	l, err := providerAs[swap.Lister](q, k, "lists no tokens; leave it out")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeouts[k])
	defer cancel()
	return l.Tokens(ctx, chainID)
}

// Destinations lists the chains that a provider pays out on, if it crosses chains, without
// those that were shut down.
func (q *Quoter) Destinations(ctx context.Context, k swap.Kind) ([]swap.Destination, error) {
	r, err := providerAs[swap.DestinationLister](q, k, "swaps on one chain only; ask bridge or intent")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeouts[k])
	defer cancel()
	all, err := r.Destinations(ctx)
	return running(q.planner.Nodes, all), err
}

// providerAs returns the provider of that kind as a T, an interface that not all implement.
// lack ends the refusal for the others.
func providerAs[T any](q *Quoter, k swap.Kind, lack string) (T, error) {
	var none T
	p, ok := q.planner.Providers[k]
	if !ok {
		return none, swap.Refuse(swap.ProviderDown, "the %s provider is not configured", k)
	}
	a, ok := p.(T)
	if !ok {
		return none, swap.RefuseField(swap.BadRequest, "provider", "the %s provider %s", k, lack)
	}
	return a, nil
}
