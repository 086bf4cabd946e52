package engine

import (
	"context"
	"slices"
	"sync"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestPartsAreTold checks that an unsound offer is reported to every context that asked for
// refused parts, in a quote and in a renewed quote, and that the sound offer is taken.
func TestPartsAreTold(t *testing.T) {
	b := newEngineFixture(t)
	var mu sync.Mutex
	var heard []string
	hears := func(name string) func(error) {
		return func(err error) {
			mu.Lock()
			defer mu.Unlock()
			refusedWith(t, err, swap.ProviderGarbage)
			heard = append(heard, name)
		}
	}
	b.service.engine.Keep = func(ctx context.Context, _ swap.Kind, _ ...common.Address) (context.Context, func(error)) {
		return swap.OnPartRefused(swap.OnPartRefused(ctx, hears("outer")), hears("inner")), func(error) {}
	}
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		sound, err := even(r)
		return append([]swap.Offer{{AmountOut: r.AmountIn, MinOut: r.AmountIn, Duration: -1}}, sound...), err
	}
	q, err := ask(b, nil)
	if err != nil || len(q.Offers) != 1 || !slices.Equal(heard, []string{"outer", "inner"}) {
		t.Errorf("%d offers, heard %v: %v", len(q.Offers), heard, err)
	}
	heard = nil
	fresh, err := b.service.engine.freshOffers(t.Context(), b.provider, swap.DEX, q.Offers[0].Request)
	if err != nil || len(fresh) != 1 || !slices.Equal(heard, []string{"outer", "inner"}) {
		t.Errorf("%d fresh offers, heard %v: %v", len(fresh), heard, err)
	}
	swap.PartRefused(t.Context(), errNoOffer) // no context has asked for it
}

// TestAnswersAreKept checks that Engine.Keep gets the outcome of a quote, and of a build
// together with its decoding, and the accounts involved.
func TestAnswersAreKept(t *testing.T) {
	b := newEngineFixture(t)
	var mu sync.Mutex
	var heard []error
	b.service.engine.Keep = func(ctx context.Context, k swap.Kind, accounts ...common.Address) (context.Context, func(error)) {
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
		return nil, swap.Refuse(swap.ProviderGarbage, "no json")
	}
	_, err := ask(b, nil)
	refusedWith(t, err, swap.ProviderGarbage)
	refusedWith(t, last(), swap.ProviderGarbage)
	b.provider.quote = even
	q, err := ask(b, nil)
	if err != nil || last() != nil {
		t.Fatal(err)
	}
	if _, err := b.service.Prepare(t.Context(), q.Offers[0].ID); err != nil || last() != nil {
		t.Fatal(err)
	}
	b.provider.decode = func(swap.Terms, swap.Step) (swap.Effect, error) {
		return swap.Effect{}, swap.Refuse(swap.NotUnderstood, "another tail")
	}
	_, err = b.service.Prepare(t.Context(), q.Offers[0].ID)
	refusedWith(t, err, swap.NotUnderstood)
	refusedWith(t, last(), swap.NotUnderstood)
}
