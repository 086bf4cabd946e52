package engine

import (
	"math/big"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestReviewNamesDecimals checks that the review which asks for consent has that finding.
func TestReviewNamesDecimals(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	b.service.engine.Planner.Decimals = func(_ uint64, token common.Address) bool { return token == native }
	q, err := ask(b, func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(1e18) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil || !slices.Contains(findingLabels(r.Findings), "decimals_unconfirmed:warn") {
		t.Errorf("findings %v, %v", findingLabels(r.Findings), err)
	}
}
