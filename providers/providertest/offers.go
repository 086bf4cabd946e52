package providertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"swapkeep/swap"
)

// quote requests the flow's offer. otherOffers is the other sources' offers as text.
func (h *harness) quote(ctx context.Context, p swap.Provider) (offer swap.Offer, otherOffers string, err error) {
	offers, err := h.offers(ctx, p)
	switch {
	case err != nil:
		return swap.Offer{}, "", err
	case len(offers) == 0:
		return swap.Offer{}, "", errors.New("no offer and no reason")
	case !h.flow.WithOtherSources:
		return offers[0], "", nil
	}
	i := slices.IndexFunc(offers, func(o swap.Offer) bool { return o.Routing == h.flow.Offer.Routing })
	others := slices.DeleteFunc(slices.Clone(offers), func(o swap.Offer) bool { return o.Routing == h.flow.Offer.Routing })
	switch otherOffers = text(others); {
	case h.otherOffers != "" && otherOffers != h.otherOffers:
		return swap.Offer{}, "", fmt.Errorf("another source's offer became %s", otherOffers)
	case i < 0:
		return swap.Offer{}, "", swap.Refuse(swap.NoRoute, "left out, beside another source's offer")
	}
	return offers[i], otherOffers, nil
}

// offers requests all offers, streamed if the flow is. Streamed offers must be as sound as
// the returned ones, and the same.
func (h *harness) offers(ctx context.Context, p swap.Provider) ([]swap.Offer, error) {
	s, ok := p.(swap.Streamer)
	if !h.flow.Streamed || !ok {
		return p.Quote(ctx, h.flow.Request)
	}
	var streamed []swap.Offer
	offers, err := s.Stream(ctx, h.flow.Request, func(o swap.Offer) { streamed = append(streamed, o) })
	for _, o := range streamed {
		if bad := h.sound(o); bad != nil {
			return nil, fmt.Errorf("told: %w", bad)
		}
		if err == nil && !slices.ContainsFunc(offers, func(other swap.Offer) bool { return bytes.Equal(other.Raw, o.Raw) }) {
			return nil, fmt.Errorf("told, and not among %d offers: %s", len(offers), o.Raw)
		}
	}
	if err == nil && len(streamed) != len(offers) {
		err = fmt.Errorf("told %d offers of %d", len(streamed), len(offers))
	}
	return offers, err
}
