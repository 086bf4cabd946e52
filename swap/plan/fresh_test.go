package plan

import (
	"context"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestRefusedOffersAreReported checks that an unsound offer is reported to every context that asked for
// refused parts, in a quote and in a renewed quote, and that the sound offer is taken.
func TestRefusedOffersAreReported(t *testing.T) {
	var heard []string
	hears := func(name string) func(error) {
		return func(err error) {
			refusedWith(t, err, swap.ProviderInvalidResponse)
			heard = append(heard, name)
		}
	}
	p := fakeProvider{quote: func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
		n := big.NewInt(1e17)
		return []swap.Offer{{AmountOut: n, MinOut: n, Duration: -1}, {AmountOut: n, MinOut: n, Expires: time.Now().Add(time.Minute)}}, nil
	}}
	q := newTestQuoter(map[swap.Kind]swap.Provider{swap.DEX: p})
	q.planner.Keep = func(ctx context.Context, _ swap.Kind, _ ...common.Address) (context.Context, func(error)) {
		return swap.OnPartRefused(swap.OnPartRefused(ctx, hears("outer")), hears("inner")), func(error) {}
	}
	offers, err := q.ask(t.Context(), q.newRanking(t.Context(), pairAsked, nil), swap.DEX, func() error { return nil })
	if err != nil || len(offers) != 1 || !slices.Equal(heard, []string{"outer", "inner"}) {
		t.Fatalf("%d offers, heard %v: %v", len(offers), heard, err)
	}
	heard = nil
	fresh, err := q.planner.soundOffers(t.Context(), p, swap.DEX, offers[0].Request)
	if err != nil || len(fresh) != 1 || !slices.Equal(heard, []string{"outer", "inner"}) {
		t.Errorf("%d fresh offers, heard %v: %v", len(fresh), heard, err)
	}
	swap.PartRefused(t.Context(), errNoOffer) // no context has asked for it
}
