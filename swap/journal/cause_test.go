package journal

import (
	"encoding/json"
	"math/big"
	"testing"

	"swapkeep/swap"
)

// TestOldOrdersHaveNoCause checks that orders from before causes keep their text.
func TestOldOrdersHaveNoCause(t *testing.T) {
	old, o := soundOrder(), swap.Order{}
	old.Reason, old.Proposal = "so it was", &swap.Proposal{Reason: "it fell", Review: swap.Review{Terms: old.Terms, Offer: old.Offer, Gas: swap.Gas{Expected: big.NewInt(1), Max: big.NewInt(1), Balance: big.NewInt(1)}}}
	if err := decodeOrder(swap.MustJSON(old), "a", &o); err != nil || o.Reason != "so it was" || o.Cause != nil || o.Clone().Proposal.Cause != nil {
		t.Errorf("%+v, %v", o, err)
	}
	var e Entry
	if err := json.Unmarshal([]byte(`{"note":"signed"}`), &e); err != nil || e.Note != "signed" || e.Cause != nil {
		t.Errorf("%+v, %v", e, err)
	}
}
