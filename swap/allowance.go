package swap

import (
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// GrantsAllowance reports whether an approval is for more than zero; otherwise it is a reset.
func GrantsAllowance(f Effect) bool {
	return f.Kind == Approve && len(f.Approves) == 1 && f.Approves[0].Amount != nil && f.Approves[0].Amount.Sign() > 0
}

// pullSlack is how far this machine's clock may run ahead of the clock of a chain on
// which it still signs: its own error plus the difference between two chains' clocks.
const pullSlack = time.Minute + ClockSlack

// MayPull reports whether o can still take its input at now: a signed order until its
// last second, and a call that may be pending as long as its cancelling transaction too
// (CancelTime). Fields that are not sealed extend this by at most CancelTime.
func (o Order) MayPull(now time.Time) bool {
	until := o.PullableUntil().Add(pullSlack)
	if o.Step < len(o.Plan.Steps) && o.CurrentTx != (common.Hash{}) {
		until = until.Add(CancelTime)
	}
	return !now.After(until)
}

// PullableUntil returns the last moment at which the accepted plan may take its input.
func (o Order) PullableUntil() time.Time {
	if last := o.Plan.LastEffect(); o.OrderSigned() && !last.Deadline.IsZero() {
		return last.Deadline
	}
	return o.Terms.Deadline
}
