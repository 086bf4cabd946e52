package swap

import (
	"context"
	"errors"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/failpoint"

	"github.com/ethereum/go-ethereum/common"
)

// leastVoid is the least remaining life of a signed order for which a transaction that
// invalidates it is worth its gas.
const leastVoid = 15 * time.Second

// voids reports whether o is a signed order that may have left the process and that the
// user wants ended. One that was never handed over needs no transaction: it is not handed
// over any more.
func (o Order) voids() bool {
	return o.Cancel && o.ordered() && o.Submission != nil
}

// void carries the request to end a signed order one step further, after a search for its
// end that returned note and err. The order stays open until the transaction sent for it
// is final: otherwise its nonce would be left open.
func (e *Engine) void(ctx context.Context, o *Order, note Cause, err error) (Cause, error) {
	key := voidKey(*o)
	tx, lookup := e.Sender.Lookup(key)
	switch ended := o.State.Final(); {
	case lookup != nil:
		return untold, lookup
	case tx == nil && (ended || e.Now().Add(leastVoid).After(o.Plan.last().Deadline)):
		if !ended && (o.Condition == WaitingForUnlock || o.Distrusted()) {
			o.Condition = NoCondition
			o.because(because(EndsByItself))
		}
		return note, err // nothing was sent, and nothing needs to be
	case tx == nil:
		said, failed := e.sendVoid(ctx, o, key)
		if failed == nil || unrecorded(failed) || e.IsLocked(failed) || errors.As(failed, new(*Refusal)) {
			return said, failed
		}
		e.Log(*o, failed) // temporary, or it would revert: then something was mined that says why
		return note, err
	case tx.State.Final():
		if !ended && o.Condition == Cancelling && tx.State != chain.TxMined {
			o.Condition = NoCondition
			o.because(because(EndsByItself))
		}
		return note, err
	case ended: // not before its transaction is final
		o.State, o.Verdict = Settling, nil
	}
	polled, _, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return untold, err
	}
	o.sent(polled)
	switch late := e.Now().After(polled.Policy.Until); {
	case polled.State.Final():
	case late:
		o.Bump = nil
		return e.cancel(ctx, o, polled)
	case o.Bump != nil:
		return e.speedUp(ctx, o, polled)
	case e.outpriced(ctx, polled):
		o.Bump = &Bump{Tier: chain.Fast, Over: polled.Last().Hash}
	}
	o.Condition = Cancelling
	return because(BeingVoided), nil
}

// patience is the age from which a transaction's fee cap is compared with the base fee.
const patience = 30 * time.Second

// outpriced reports whether a transaction's fee cap is below the present base fee.
func (e *Engine) outpriced(ctx context.Context, tx chain.Tx) bool {
	last := tx.Last()
	if apart(e.Now(), last.Signed) < patience {
		return false
	}
	cost, err := e.Nodes.Cost(ctx, tx.Call)
	return err == nil && cost.Fees.BaseFee != nil && cost.Fees.BaseFee.Cmp(last.FeeCap.ToInt()) > 0
}

// sendVoid sends the account's own call that invalidates a signed order, within what is
// left of the gas ceiling. The sealed request to end it is enough: the call gives nothing
// away, and an order without a seal can still be ended.
func (e *Engine) sendVoid(ctx context.Context, o *Order, key string) (Cause, error) {
	if !e.Unlocked() {
		o.Condition = WaitingForUnlock
		return because(KeysLocked), nil
	}
	if err := e.holds(o.Ending, o.ending()); err != nil {
		return untold, err
	}
	c, err := e.voidCall(*o)
	if err != nil {
		return untold, err
	}
	sim, err := e.Nodes.Simulate(ctx, []chain.Call{c})
	if err == nil {
		err = CheckSimulation(o.Terms, Expected{}, sim)
	}
	if err != nil {
		return untold, err
	}
	if o.Condition == WaitingForUnlock {
		o.Condition = NoCondition
	}
	failpoint.Point("engine.before_void")
	defer failpoint.Point("engine.after_void")
	return e.post(ctx, o, key, c, o.Plan.last().Deadline, Cancelling, because(BeingVoided))
}

// voidCall returns the call that invalidates o's signed order: to the pinned contract
// that takes its signature or settles it, without value and without a grant.
func (e *Engine) voidCall(o Order) (c chain.Call, err error) {
	p, err := e.provider(&o)
	if err != nil {
		return c, err
	}
	canceller, ok := p.(Canceller)
	if !ok {
		return c, Refuse(CannotCancel, "the %s provider's orders cannot be made void", p.Kind())
	}
	if c, err = canceller.CancelCall(o); err != nil {
		return c, err
	}
	if err := checkCall(o.Terms, c); err != nil {
		return c, err
	}
	f, pins := o.Plan.last(), p.Pins()
	of := func(r Role, a common.Address) bool { return c.To == a && pins.Allows(f.Chain, r, a) }
	switch {
	case !of(Verifier, f.Target) && !of(Settlement, f.Settler):
		return c, refuseField(NotPinned, "to", "the order would be made void by a call of %s, which neither takes its signature nor settles it", c.To)
	case c.Value.Sign() != 0:
		return c, refuseField(NotAsAccepted, "value", "making the order void would send the coin along").Amounts(OfCoin, c.Value, nil)
	case len(c.Data) < 4 || isApprove(c):
		return c, refuseField(NotUnderstood, "data", "making the order void is no call that could do that")
	}
	return c, nil
}
