package engine

import (
	"context"
	"slices"
	"sync"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestAnswersAreKept checks that Planner.Keep gets the outcome of a quote, and of a build
// together with its decoding, and the accounts involved.
func TestAnswersAreKept(t *testing.T) {
	b := newEngineFixture(t)
	var mu sync.Mutex
	var heard []error
	b.service.engine.Planner.Keep = func(ctx context.Context, k swap.Kind, accounts ...common.Address) (context.Context, func(error)) {
		if k != swap.DEX || !slices.Contains(accounts, b.from) {
			t.Errorf("the %s provider was asked for %v", k, accounts)
		}
		return ctx, func(err error) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, err)
		}
	}
	last := func() error {
		mu.Lock()
		defer mu.Unlock()
		defer func() { heard = nil }()
		if len(heard) != 1 {
			t.Fatalf("heard %v", heard)
		}
		return heard[0]
	}
	b.provider.quote = func(swap.QuoteRequest) ([]swap.Offer, error) {
		return nil, swap.Refuse(swap.ProviderInvalidResponse, "no json")
	}
	_, err := ask(b, nil)
	refusedWith(t, err, swap.ProviderInvalidResponse)
	refusedWith(t, last(), swap.ProviderInvalidResponse)
	b.provider.quote = even
	q, err := ask(b, nil)
	if err != nil || last() != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Prepare(t.Context(), q.Offers[0].ID); err != nil || last() != nil {
		t.Fatal(err)
	}
	b.provider.decode = func(swap.Terms, swap.Step) (swap.Effect, error) {
		return swap.Effect{}, swap.Refuse(swap.Undecodable, "another tail")
	}
	_, err = b.service.Prepare(t.Context(), q.Offers[0].ID)
	refusedWith(t, err, swap.Undecodable)
	refusedWith(t, last(), swap.Undecodable)
}
