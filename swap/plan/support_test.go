package plan

import (
	"context"
	"errors"
	"swapkeep/swap"
	"swapkeep/tokens"
	"testing"
)

// A listingProvider is a provider that lists tokens and destinations, and names its endpoints.
type listingProvider struct{ swap.Provider }

func (listingProvider) Tokens(_ context.Context, id uint64) ([]tokens.Token, error) {
	t, _ := tokens.Unverified(id, usdc, "USDC", "USD Coin", 6, "intent")
	return []tokens.Token{t}, nil
}

func (listingProvider) Destinations(context.Context) ([]swap.Destination, error) {
	return []swap.Destination{{ChainID: 137, Name: "Polygon"}}, nil
}

func (listingProvider) Endpoint() swap.Endpoint {
	return swap.Endpoint{Base: "https://a.example", Frontend: "https://b.example", Networks: []swap.NetworkEntry{{ChainID: 1, ProviderChainID: 7}}}
}

// TestListing checks that tokens and destinations come from the providers that list them,
// and that a provider's endpoints are shown if it names them.
func TestListing(t *testing.T) {
	s := newTestQuoter(map[swap.Kind]swap.Provider{swap.Intent: listingProvider{}, swap.DEX: fakeProvider{}})
	list, err := s.Tokens(t.Context(), swap.Intent, 137)
	if err != nil || len(list) != 1 || list[0].Chain != 137 {
		t.Errorf("%+v, %v", list, err)
	}
	reached, err := s.Destinations(t.Context(), swap.Intent)
	if err != nil || len(reached) != 1 || reached[0].ChainID != 137 {
		t.Errorf("%+v, %v", reached, err)
	}
	for k, want := range map[swap.Kind]swap.Code{swap.DEX: swap.BadRequest, swap.Bridge: swap.ProviderDown} {
		if _, err := s.Destinations(t.Context(), k); !errors.Is(err, &swap.Refusal{Code: want}) {
			t.Errorf("destinations of %s: want %s, got %v", k, want, err)
		}
		if _, err := s.Tokens(t.Context(), k, 1); !errors.Is(err, &swap.Refusal{Code: want}) {
			t.Errorf("%s: want %s, got %v", k, want, err)
		}
	}
	for _, p := range s.Providers() {
		if placed := p.Kind == swap.Intent; (p.Endpoint != nil) != placed || placed && (p.Endpoint.Frontend != "https://b.example" || p.Endpoint.Networks[0].ProviderChainID != 7) {
			t.Errorf("%s: %+v", p.Kind, p.Endpoint)
		}
	}
}
