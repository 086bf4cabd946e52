package engine

import (
	"context"
	"errors"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/failpoint"
	"swapkeep/swap"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
)

// minInvalidationLife is the least remaining life of a signed order for which a transaction that
// invalidates it is worth its gas.
const minInvalidationLife = 15 * time.Second

// needsInvalidation reports whether o is a signed order that may have left the process and that the
// user wants to cancel. One that was never submitted needs no transaction: it is simply not
// submitted any more.
func needsInvalidation(o swap.Order) bool {
	return o.Cancel && o.OrderSigned() && o.Submission != nil
}

// invalidateOrder carries the request to cancel a signed order one step further, after a search
// for its end that returned note and err. The order stays open until the transaction sent for it
// is final: otherwise its nonce would be left open.
func (e *Engine) invalidateOrder(ctx context.Context, o *swap.Order, note swap.Cause, err error) (swap.Cause, error) {
	key := invalidateKey(*o)
	tx, lookup := e.Sender.Lookup(key)
	switch ended := o.State.Final(); {
	case lookup != nil:
		return swap.NoCause, lookup
	case tx == nil && (ended || e.Now().Add(minInvalidationLife).After(o.Plan.LastEffect().Deadline)):
		if !ended && (o.Condition == swap.WaitingForUnlock || o.Tampered()) {
			o.Condition = swap.NoCondition
			o.SetCause(swap.NewCause(swap.InvalidationFailed))
		}
		return note, err // nothing was sent, and nothing needs to be
	case tx == nil:
		said, failed := e.sendInvalidation(ctx, o, key)
		if failed == nil || journalUncertain(failed) || e.IsLocked(failed) || errors.As(failed, new(*swap.Refusal)) {
			return said, failed
		}
		e.Log(*o, failed) // temporary, or it would revert: then something was mined that says why
		return note, err
	case tx.State.Final():
		if !ended && o.Condition == swap.Cancelling && tx.State != chain.TxMined {
			o.Condition = swap.NoCondition
			o.SetCause(swap.NewCause(swap.InvalidationFailed))
		}
		return note, err
	case ended: // not before its transaction is final
		o.State, o.Verdict = swap.Settling, nil
	}
	polled, _, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return swap.NoCause, err
	}
	setAttempts(o, polled)
	switch late := e.Now().After(polled.Policy.Until); {
	case polled.State.Final():
	case late:
		o.Bump = nil
		return e.cancel(ctx, o, polled)
	case o.Bump != nil:
		return e.speedUp(ctx, o, polled)
	case e.underpriced(ctx, polled):
		o.Bump = &swap.Bump{Tier: chain.Fast, Replaces: polled.Last().Hash}
	}
	o.Condition = swap.Cancelling
	return swap.NewCause(swap.Invalidating), nil
}

// underpricedAfter is the age from which a transaction's fee cap is compared with the base fee.
const underpricedAfter = 30 * time.Second

// underpriced reports whether a transaction's fee cap is below the present base fee.
func (e *Engine) underpriced(ctx context.Context, tx chain.Tx) bool {
	last := tx.Last()
	if elapsed(e.Now(), last.Signed) < underpricedAfter {
		return false
	}
	cost, err := e.Nodes.Cost(ctx, tx.Call)
	return err == nil && cost.Fees.BaseFee != nil && cost.Fees.BaseFee.Cmp(last.FeeCap.ToInt()) > 0
}

// sendInvalidation sends the account's own call that invalidates a signed order, within what is
// left of the gas ceiling. The sealed request to cancel it is enough: the call moves no funds,
// and an order without a seal can still be cancelled.
func (e *Engine) sendInvalidation(ctx context.Context, o *swap.Order, key string) (swap.Cause, error) {
	if !e.Unlocked() {
		o.Condition = swap.WaitingForUnlock
		return swap.NewCause(swap.KeysLocked), nil
	}
	if err := e.checkSeal(o.CancelSeal, cancelRequestOf(*o)); err != nil {
		return swap.NoCause, err
	}
	c, err := e.invalidationCall(*o)
	if err != nil {
		return swap.NoCause, err
	}
	sim, err := e.Nodes.Simulate(ctx, []chain.Call{c})
	if err == nil {
		err = swap.CheckSimulation(o.Terms, swap.Expected{}, sim)
	}
	if err != nil {
		return swap.NoCause, err
	}
	if o.Condition == swap.WaitingForUnlock {
		o.Condition = swap.NoCondition
	}
	failpoint.Point("engine.before_invalidate")
	defer failpoint.Point("engine.after_invalidate")
	return e.submitCall(ctx, o, key, c, o.Plan.LastEffect().Deadline, swap.Cancelling, swap.NewCause(swap.Invalidating))
}

// invalidationCall returns the call that invalidates o's signed order: to the pinned contract
// that takes its signature or settles it, without value and without a grant.
func (e *Engine) invalidationCall(o swap.Order) (c chain.Call, err error) {
	p, err := e.provider(&o)
	if err != nil {
		return c, err
	}
	canceller, ok := p.(swap.Canceller)
	if !ok {
		return c, swap.Refuse(swap.CannotCancel, "orders of the %s provider cannot be cancelled on-chain", p.Kind())
	}
	if c, err = canceller.CancelCall(o); err != nil {
		return c, err
	}
	if err := plan.CheckCall(o.Terms, c); err != nil {
		return c, err
	}
	f, pins := o.Plan.LastEffect(), p.Pins()
	of := func(r swap.Role, a common.Address) bool { return c.To == a && pins.Allows(f.Chain, r, a) }
	switch {
	case !of(swap.Verifier, f.Target) && !of(swap.Settlement, f.Settler):
		return c, swap.RefuseField(swap.NotPinned, "to", "the cancelling transaction calls %s, which neither verifies the order's signature nor settles it", c.To)
	case c.Value.Sign() != 0:
		return c, swap.RefuseField(swap.NotAsAccepted, "value", "the cancelling transaction would send native coin").WithAmounts(swap.OfCoin, c.Value, nil)
	case len(c.Data) < 4 || plan.IsApprove(c):
		return c, swap.RefuseField(swap.Undecodable, "data", "the cancelling transaction is not a cancelling call")
	}
	return c, nil
}
