package engine

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// TestConsentCoversOnlyWhatWasShown checks that an accepted offer cannot be prepared again, and
// that acknowledged codes of findings that were not shown are dropped.
func TestConsentCoversOnlyWhatWasShown(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	q, err := ask(b, func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(1000) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller,
		Acknowledge: []string{"price_impact", "gas_excessive", "gas_excessive", strings.Repeat("x", 256)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.AckCodes, []string{"gas_excessive"}) {
		t.Errorf("acknowledged %q", o.AckCodes)
	}
	_, err = b.service.Prepare(t.Context(), q.Offers[0].ID)
	refusedWith(t, err, swap.QuoteUnknown)
}

// TestClaimsAreBounded checks that a provider whose claim keeps changing cannot fill the
// disk: at most maxClaimChanges claims are recorded, and the final one.
func TestClaimsAreBounded(t *testing.T) {
	o := swap.Order{}
	recorded := 0
	for i := range 10 * maxClaimChanges {
		before := o
		o.Claim = &swap.Claim{State: swap.Settling, Tx: common.BigToHash(big.NewInt(int64(i)))}
		if countClaim(&o, before); !swap.SameClaim(before.Claim, o.Claim) {
			recorded++
		}
	}
	before := o
	o.Claim = &swap.Claim{State: swap.Refunded}
	if countClaim(&o, before); recorded != maxClaimChanges || o.Claim.State != swap.Refunded {
		t.Errorf("%d recorded, then %+v", recorded, o.Claim)
	}
}
