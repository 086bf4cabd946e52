package plan

import (
	"context"
	"errors"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// reaching is a provider that pays out on one ended network and on one that runs.
type reaching struct{ swap.Provider }

func (reaching) Kind() swap.Kind { return swap.Bridge }

func (reaching) Destinations(context.Context) ([]swap.Destination, error) {
	return []swap.Destination{{ChainID: 10}, {ChainID: 5330}}, nil
}

// revived are nodes of a sandbox that runs every network.
type revived struct{ Nodes }

func (revived) Network(id uint64) (chain.Network, error) { return chain.Network{ID: id}, nil }

// TestEndedNetwork checks that nothing is offered from or to a network that was shut down, also
// if no node of it is configured, and no approval revoked there.
func TestEndedNetwork(t *testing.T) {
	asked := 0
	quoter := newTestQuoter(map[swap.Kind]swap.Provider{swap.Bridge: reaching{fakeProvider{quote: func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
		asked++
		return nil, nil
	}}}})
	for field, r := range map[string]swap.QuoteRequest{"srcChainId": {SrcChain: 5330, DstChain: 10}, "dstChainId": {SrcChain: 10, DstChain: 5330}} {
		r.Account, r.AmountIn, r.TokenIn, r.TokenOut = pairAsked.Account, pairAsked.AmountIn, native, native
		_, err := quoter.Quote(t.Context(), r, nil, nil)
		var refused *swap.Refusal
		if !errors.As(err, &refused) || refused.Code != swap.NetworkEnded || refused.Field != field || refused.Data["ended"] != "2026-08-15" {
			t.Errorf("%s: %v", field, err)
		}
		_, err = DryRun{Provider: reaching{fakeProvider{}}, Nodes: noNodes{}}.Quote(t.Context(), r)
		refusedWith(t, err, swap.NetworkEnded)
	}
	if asked != 0 {
		t.Errorf("a provider was asked %d times", asked)
	}
	superseed, _ := chain.NetworkByID(5330)
	_, err := quoter.ReviewRevoke(t.Context(), account, superseed, swap.Grant{Token: common.Address{1}, Spender: thief, Kind: swap.ByToken})
	refusedWith(t, err, swap.NetworkEnded)

	reached := func() (ids []uint64) {
		all, err := quoter.Destinations(t.Context(), swap.Bridge)
		if err != nil {
			t.Error(err)
		}
		for _, d := range all {
			ids = append(ids, d.ChainID)
		}
		return ids
	}
	if ids := reached(); !slices.Equal(ids, []uint64{10}) {
		t.Errorf("reached are %v", ids)
	}
	quoter.planner.Nodes = revived{}
	if ids := reached(); !slices.Equal(ids, []uint64{10, 5330}) {
		t.Errorf("reached in a sandbox are %v", ids)
	}
}
