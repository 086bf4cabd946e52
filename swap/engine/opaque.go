package engine

import (
	"context"
	"math/big"

	"swapkeep/swap"
)

// noteTakenAllowance adds to the end of an order that handed nothing over how much of the allowance
// it granted is gone: an approved contract can take the amount without the call that was
// to follow.
func (e *Engine) noteTakenAllowance(ctx context.Context, o *swap.Order) {
	left := Leftovers(*o)
	if len(left) == 0 || !swap.HandsOver(o.Plan.LastEffect().Kind) || o.Verdict == nil {
		return
	}
	a, err := e.Planner.Allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		e.Log(*o, err)
		o.SetCause(swap.NewCause(swap.AllowanceUnchecked, "spender", left[0].Spender.Hex()))
		o.Verdict.Sources += "; " + o.Reason
		return
	}
	gone := new(big.Int).Sub(a.Need(left[0].Amount), a.Present)
	if gone.Sign() <= 0 {
		return
	}
	o.SetCause(swap.NewCause(swap.AllowanceTaken, "gone", gone.String(), "allowed", left[0].Amount.String(), "spender", left[0].Spender.Hex()))
	o.Verdict.Sources += "; " + o.Reason
}
