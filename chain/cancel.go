package chain

import (
	"context"
	"math/big"
	"time"
)

// cancelRest is how long after one cancelling transaction no other is signed over it.
const cancelRest = 30 * time.Second

// Cancel tries to close key's nonce with a transaction of the account to itself that
// sends nothing and pays at least an eighth more than every earlier attempt, and no less
// than p's tier. [Sender.Poll] tells which of them was mined. It may be repeated: within
// half a minute, and later while the last cancel still offers what the network asks, it
// offers the same bytes again, so that a stalled chain costs neither fees nor attempts;
// so does a cancel after [maxAttempts]. p bounds how long they may be broadcast. A final
// record is returned unchanged. Errors, besides those of Submit: ErrNonceUsed.
func (s *Sender) Cancel(ctx context.Context, key string, p Policy) (*Tx, error) {
	tx, err := s.known(key)
	if err != nil || tx.State.Final() {
		return tx, err
	}
	return s.replace(ctx, tx, replacement{
		kind: AttemptCancel, call: emptyCall(tx.Call), policy: p, before: beforeCancelJournal, after: afterCancelJournal,
		upToDate: func(tx *Tx, fees Fees) (bool, error) {
			return tx.State.Final() || s.cancelling(tx, fees), nil
		},
	})
}

// emptyCall returns an empty call of c's account to itself.
func emptyCall(c Call) Call {
	return Call{ChainID: c.ChainID, From: c.From, To: c.From, Value: new(big.Int)}
}

// cancelling reports whether tx's last attempt is a cancel within its deadline that is
// recent or offers no less than asked.
func (s *Sender) cancelling(tx *Tx, fees Fees) bool {
	last := tx.Last()
	now := s.now()
	if last.Kind != AttemptCancel || now.After(last.Until) {
		return false
	}
	return last.offers(fees) || now.Sub(last.Signed).Abs() < cancelRest // one signed before the clock was set back is not recent
}

// offers reports whether a pays no less than asked.
func (a Attempt) offers(fees Fees) bool {
	return a.FeeCap.ToInt().Cmp(fees.GasFeeCap) >= 0 && a.TipCap.ToInt().Cmp(fees.GasTipCap) >= 0
}
