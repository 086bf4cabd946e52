package journal

import (
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestSpenderChangeUpdatesTheAllowanceIndex checks that an order which continues with another
// spender is removed from the first spender's allowance index.
func TestSpenderChangeUpdatesTheAllowanceIndex(t *testing.T) {
	j := newJournal(t)
	o := j.spends(t, swap.Swap, 1000)
	j.must(t, &o, func(o *swap.Order) { o.AllowanceLocked = true })
	before := allowanceKeyOf(o)
	for _, spender := range []common.Address{router, {}} {
		j.must(t, &o, func(o *swap.Order) { o.Plan.Spender = spender })
		if uses, err := j.Uses(before); err != nil || len(uses) != 0 {
			t.Errorf("still in use: %+v, %v", uses, err)
		}
		before = allowanceKeyOf(o)
	}
}
