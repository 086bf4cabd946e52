package intent_test

import (
	"math/big"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/test/await"
)

// isolated checks that an order's call came from an isolated account exactly where no
// contract is built in, and that less than the price of a few transfers is left there.
func (c *walletFixture) isolated(t *testing.T, o swap.Order) {
	t.Helper()
	r := o.Terms
	if want := r.SrcChain == 10 || r.SrcChain == 143; r.IsIsolated() != want {
		t.Fatalf("from %d, isolated is %t", r.SrcChain, r.IsIsolated())
	}
	if !r.IsIsolated() {
		return
	}
	last := o.Plan.Steps[len(o.Plan.Steps)-1].Call
	if last.From != r.Isolated || r.Isolated == c.who || r.Recipient != c.who || r.RefundTo != c.who {
		t.Errorf("the call is from %s, terms %+v", last.From, r)
	}
	var moved *big.Int
	for _, s := range o.Plan.Steps {
		if s.Effect.Kind == swap.Fund && s.Effect.Spends[0].Token == native {
			moved = new(big.Int).Set(s.Effect.Spends[0].Amount)
		}
	}
	if r.TokenIn == native {
		moved.Sub(moved, r.AmountIn)
	}
	var left *big.Int
	if !await.Holds(time.Minute, func() bool {
		n, err := c.hub.Balance(t.Context(), r.SrcChain, r.Isolated, native)
		left = n
		return err == nil && n.Cmp(new(big.Int).Rsh(moved, 2)) < 0
	}) {
		t.Errorf("%s of the coin are left of %s for gas", left, moved)
	}
	if r.TokenIn != native {
		if n, err := c.hub.Balance(t.Context(), r.SrcChain, r.Isolated, r.TokenIn); err != nil || n.Sign() != 0 {
			t.Errorf("%v of the input are left there (%v)", n, err)
		}
	}
}
