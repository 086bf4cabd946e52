package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// execute carries out the present step, or leaves the state after the last.
func (e *Engine) execute(ctx context.Context, o *Order) (string, error) {
	if o.Step == len(o.Plan.Steps) {
		o.Condition = NoCondition
		if o.Plan.Settlement == ByOwnCall {
			return "steps done", o.to(Settling)
		}
		return "steps done", o.to(Submitting)
	}
	s := o.Plan.Steps[o.Step]
	if o.State == Approving && s.Effect.Kind != Approve {
		return "approved", o.to(Executing)
	}
	key := stepKey(*o, o.Step)
	if s.Kind != TypedStep {
		tx, err := e.Sender.Lookup(key)
		if err != nil {
			return "", err
		}
		if tx != nil {
			return e.watch(ctx, o, key)
		}
	}
	if done, note, err := e.over(o); done {
		return note, err
	}
	switch {
	case o.Condition == NeedsConsent:
		return "", nil // until the user accepts, cancels, or the deadline passes
	case !e.Unlocked():
		o.Condition = WaitingForUnlock
		return "keys are locked", nil
	}
	p, err := e.provider(o)
	if err != nil {
		return "", err
	}
	if s.Kind == TypedStep {
		return e.signTyped(ctx, p, o, s)
	}
	return e.send(ctx, p, o, s, key)
}

// signTyped signs a message. The signature is recorded before it is handed on.
func (e *Engine) signTyped(ctx context.Context, p Provider, o *Order, s Step) (string, error) {
	if err := e.recheck(p, *o, s); err != nil {
		return "", err
	}
	sig, err := e.Signer.SignTypedData(ctx, o.Terms.Account, *s.Typed)
	if err != nil {
		return "", err
	}
	return e.finish(o, Result{Signature: sig}, "signed")
}

// recheck decodes a step's real bytes once more and compares the whole plan
// with the terms. What was accepted and what would be signed must be the same.
func (e *Engine) recheck(p Provider, o Order, s Step) error {
	if s.Call != nil {
		if err := checkCall(o.Terms, *s.Call); err != nil {
			return err
		}
	}
	f, err := p.Decode(o.Terms, s)
	if err != nil {
		return err
	}
	effects := o.Plan.Effects()
	effects[o.Step] = f
	if err := Check(o.Terms, effects, p.Pins()); err != nil {
		return err
	}
	if Digest(o.Terms, effects) != o.Digest {
		return Refuse(NotAsAccepted, "step %d is not what was accepted", o.Step+1)
	}
	return nil
}

// send checks and simulates a step's bytes, then has them signed, journaled and
// broadcast by the sender, in this order.
func (e *Engine) send(ctx context.Context, p Provider, o *Order, s Step, key string) (string, error) {
	if s.Kind == CallStep && priced(s.Effect.Kind) && e.Now().After(o.Offer.Expires) {
		return e.refresh(ctx, p, o)
	}
	call, err := e.callOf(ctx, p, *o, s)
	if err != nil {
		return "", err
	}
	s.Call = &call
	if err := e.recheck(p, *o, s); err != nil {
		return "", err
	}
	if err := e.simulate(ctx, *o, s); err != nil {
		return "", err
	}
	tx, err := e.Sender.Submit(ctx, key, call, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: until(*o, s.Effect)})
	if errors.Is(err, chain.ErrNonceBlocked) {
		o.Condition = WaitingForNonce
		return string(WaitingForNonce), nil
	}
	if err != nil {
		return "", sendError(err)
	}
	o.Sending, o.Condition, o.Reason = tx.Last().Hash, NoCondition, ""
	return fmt.Sprintf("step %d sent", o.Step+1), nil
}

// callOf is the call of a step; a late step's is made now.
func (e *Engine) callOf(ctx context.Context, p Provider, o Order, s Step) (chain.Call, error) {
	if s.Kind == CallStep {
		return *s.Call, nil
	}
	l, ok := p.(LateBuilder)
	if !ok {
		return chain.Call{}, fmt.Errorf("provider %q makes no late calls", p.Kind())
	}
	return l.Late(ctx, o, o.Step)
}

// simulate runs the call on our own node and compares what moves with the terms.
func (e *Engine) simulate(ctx context.Context, o Order, s Step) error {
	sim, err := e.Nodes.Simulate(ctx, []chain.Call{*s.Call})
	if errors.Is(err, chain.ErrWouldRevert) {
		return &Refusal{Code: WouldRevert, Reason: "the transaction would fail now: " + err.Error(), Err: err}
	}
	if err != nil {
		return err
	}
	return CheckSimulation(o.Terms, s.Effect.Kind, sim)
}

// ceilingLeft is what the accepted gas ceiling still allows.
func (e *Engine) ceilingLeft(o Order) *big.Int {
	left := new(big.Int).Set(o.Terms.GasCeiling)
	for _, r := range o.Results {
		if r.Evidence != nil && r.Evidence.FeePaid != nil {
			left.Sub(left, r.Evidence.FeePaid)
		}
	}
	return left
}

// until is the last moment at which a step's bytes may leave the process. Bytes
// that carry their own deadline, and those that depend on no price, outlive the
// quote they came from; all others end with it.
func until(o Order, f Effect) time.Time {
	end := o.Terms.Deadline
	if !f.Deadline.IsZero() {
		return earlier(end, f.Deadline)
	}
	if priced(f.Kind) {
		return earlier(end, o.Offer.Expires)
	}
	return end
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// priced reports whether an effect's worth depends on a quote.
func priced(k EffectKind) bool { return k != Approve && k != Wrap && k != Unwrap }

const aboveCeiling = "gas now costs more than the accepted ceiling"

// sendError turns the sender's decisions into refusals; nothing was signed. Too
// late is none: the next move finds the deadline passed, or the quote to be old.
func sendError(err error) error {
	switch {
	case errors.Is(err, chain.ErrFunds):
		return &Refusal{Code: InsufficientFunds, Reason: "the balance no longer covers the amount", Err: err}
	case errors.Is(err, chain.ErrCeiling):
		return &Refusal{Code: ConsentNeeded, Reason: aboveCeiling, Err: err}
	case errors.Is(err, chain.ErrWouldRevert):
		return &Refusal{Code: WouldRevert, Reason: "the transaction would fail now: " + err.Error(), Err: err}
	}
	return err
}

// watch follows a step's transaction. The receipts decide; when its bytes may
// no longer leave, or the user wants it ended, its nonce is closed by a
// cancelling transaction, and whichever is mined says what happened.
func (e *Engine) watch(ctx context.Context, o *Order, key string) (string, error) {
	tx, ev, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return "", err
	}
	if len(tx.Attempts) > 0 { // none are read of a newer version's record
		o.Sending = tx.Last().Hash
	}
	if tx.State.Final() {
		return e.ended(ctx, o, tx, ev)
	}
	if late := e.Now().After(tx.Policy.Until); o.Cancel || late {
		return e.cancel(ctx, o, tx)
	}
	o.Condition = NoCondition
	return "pending", nil
}

// ended says what the end of a step's transaction means for its order. A mined
// record without evidence was reorganised away: nothing is known until it is back.
func (e *Engine) ended(ctx context.Context, o *Order, tx chain.Tx, ev *chain.Evidence) (string, error) {
	switch tx.State {
	case chain.TxReplaced:
		o.Reason = "another transaction used its nonce; this one can never happen"
		return e.end(o, Failed, nil, "its nonce was used elsewhere")
	case chain.TxRejected:
		return e.rejected(ctx, o, tx)
	case chain.TxUnknown:
		o.Condition = UnknownStoredState
		return string(UnknownStoredState), nil
	}
	if ev == nil {
		return "", nil
	}
	if tx.State == chain.TxCancelled {
		o.Reason = "its cancelling transaction was mined first; the input did not leave"
		return e.end(o, Cancelled, ev, "")
	}
	return e.mined(o, *ev)
}

// mined: the step's own transaction is on the chain at depth.
func (e *Engine) mined(o *Order, ev chain.Evidence) (string, error) {
	if !ev.Success {
		o.Reason = "the transaction was mined and failed; only its gas was paid"
		return e.end(o, Failed, &ev, "")
	}
	return e.finish(o, Result{Tx: ev.Tx, Evidence: &ev}, fmt.Sprintf("step %d mined", o.Step+1))
}

// rejected: every node refused the bytes before queueing them. A node may have
// lied, so the order ends only when they are too late to have been sent.
func (e *Engine) rejected(ctx context.Context, o *Order, tx chain.Tx) (string, error) {
	ev, ok, err := e.Nodes.Evidence(ctx, tx.Call.ChainID, tx.Last().Hash)
	switch {
	case err != nil:
		return "", err
	case ok:
		return e.mined(o, ev)
	case ev.Block != 0:
		return "", nil // in a block after all; its depth decides
	}
	o.Reason = "no node took the transaction, nothing was sent: " + tx.Reason
	if !e.Now().After(tx.Policy.Until) {
		return "rejected", nil
	}
	end := Expired
	if o.Cancel {
		end = Cancelled
	}
	return e.end(o, end, nil, "never sent")
}

// cancel closes the nonce of a transaction that may or may not have left. What a
// node has against it is for the log: the order goes on being watched.
func (e *Engine) cancel(ctx context.Context, o *Order, tx chain.Tx) (string, error) {
	last := tx.Last()
	switch onItsWay := last.Kind == chain.AttemptCancel && !e.Now().After(last.Until); {
	case e.Unlocked():
	case onItsWay: // its bytes need no key
		o.Condition = Cancelling
		return "cancelling", nil
	default:
		o.Condition = WaitingForUnlock
		return "keys are locked", nil
	}
	done, err := e.Sender.Cancel(ctx, tx.Key, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: e.Now().Add(cancelTime)})
	switch {
	case errors.Is(err, chain.ErrNonceUsed):
		return "", nil // something was mined on it: the next look says what
	case errors.Is(err, chain.ErrCeiling):
		return "", &Refusal{Code: InsufficientGas, Reason: aboveCeiling, Err: err}
	case err != nil:
		return "", err
	}
	o.Sending, o.Condition = done.Last().Hash, Cancelling
	return "cancelling", nil
}

// cancelTime is how long a cancelling transaction may be broadcast.
const cancelTime = 24 * time.Hour

// end records a proven end. Without a receipt, how says what proves it.
func (e *Engine) end(o *Order, s State, ev *chain.Evidence, how string) (string, error) {
	if ev != nil {
		how = sources(ev.Hosts)
	}
	o.Condition = NoCondition
	o.Verdict = &Verdict{State: s, Sources: how, Evidence: ev}
	return "proven " + string(s), o.to(s)
}

// finish records a step's result and goes on to the next.
func (e *Engine) finish(o *Order, r Result, note string) (string, error) {
	o.Results = append(o.Results[:o.Step:o.Step], r)
	o.Step++
	o.Sending, o.Condition, o.Reason = common.Hash{}, NoCondition, ""
	return note, nil
}

// refresh replaces an expired quote by a fresh one under the same consent: the
// same effects, and a floor at least as high as the accepted one. Anything else
// waits for the user.
func (e *Engine) refresh(ctx context.Context, p Provider, o *Order) (string, error) {
	offer, err := e.requote(ctx, p, *o)
	if err != nil {
		return "", err
	}
	b, err := p.Build(ctx, offer, o.Terms)
	if err != nil {
		return "", err
	}
	plan, err := decodeAll(p, o.Terms, b)
	if err != nil {
		return "", err
	}
	if err := Check(o.Terms, plan.Effects(), p.Pins()); err != nil {
		return "", Refuse(ConsentNeeded, "the fresh quote is not within what was accepted: %v", err)
	}
	if Digest(o.Terms, plan.Effects()) != o.Digest || plan.Settlement != o.Plan.Settlement {
		return "", Refuse(ConsentNeeded, "the fresh quote would act differently from what was accepted")
	}
	offer.ID = o.Offer.ID + "'"
	o.Offer, o.Plan, o.Condition = offer, plan, NoCondition
	return "quote refreshed under the same consent", nil
}

// requote asks for an offer whose enforced minimum keeps the accepted floor:
// with the accepted slippage, or with as much less as the floor demands.
func (e *Engine) requote(ctx context.Context, p Provider, o Order) (Offer, error) {
	r := o.Offer.Request
	for range 2 {
		offers, err := p.Quote(ctx, r)
		if err != nil {
			return Offer{}, err
		}
		if len(offers) == 0 {
			return Offer{}, Refuse(NoRoute, "the provider has no offer any more")
		}
		best := offers[0]
		best.Provider, best.Request = o.Terms.Provider, r
		if err := checkOffer(best, r); err != nil {
			return Offer{}, err
		}
		if best.MinOut.Cmp(o.Terms.FloorOut) >= 0 {
			return best, nil
		}
		r.SlippageBps = slippageFor(best.AmountOut, o.Terms.FloorOut)
		if r.SlippageBps < MinSlippageBps {
			break
		}
	}
	return Offer{}, Refuse(ConsentNeeded, "the price fell: no offer reaches the accepted floor of %s", o.Terms.FloorOut)
}

// slippageFor is the widest slippage, in bps, at which amount still keeps floor.
func slippageFor(amount, floor *big.Int) int {
	if amount.Cmp(floor) <= 0 {
		return 0
	}
	room := new(big.Int).Sub(amount, floor)
	bps := room.Mul(room, big.NewInt(10_000)).Div(room, amount)
	return int(bps.Int64())
}
