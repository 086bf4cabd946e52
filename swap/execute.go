package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/failpoint"

	"github.com/ethereum/go-ethereum/common"
)

// execute carries out the present step, or after the last one moves on to the next state.
func (e *Engine) execute(ctx context.Context, o *Order) (Cause, error) {
	if o.Step == len(o.Plan.Steps) {
		o.Condition = NoCondition
		if o.Plan.Settlement == ByOwnCall {
			return newCause(StepsDone), o.setState(Settling)
		}
		return newCause(StepsDone), o.setState(Submitting)
	}
	s := o.Plan.Steps[o.Step]
	if o.State == Approving && s.Effect.Kind != Approve {
		return newCause(Approved), o.setState(Executing)
	}
	key := stepKey(*o, o.Step)
	if s.Kind != TypedStep {
		tx, err := e.Sender.Lookup(key)
		if err != nil {
			return noReason, err
		}
		if tx != nil {
			return e.watch(ctx, o, key)
		}
	}
	if ok, note, err := e.mayBegin(o, s); !ok {
		return note, err
	}
	p, err := e.provider(o)
	if err != nil {
		return noReason, err
	}
	var x Expected
	if o.Plan.Spender != (common.Address{}) {
		if !o.AllowanceLocked {
			o.AllowanceLocked, o.Condition = true, NoCondition
			return newCause(HoldsAllowance), nil
		}
		if o.Terms.Provider != Wallet {
			var ready bool
			var note Cause
			if x, ready, note, err = e.alignApprovals(ctx, o, s); err != nil || !ready {
				return note, err
			}
		}
	}
	switch {
	case o.Plan.Settlement == ByProvider && len(o.SearchFrom) == 0 && s.Effect.Kind != Approve:
		return e.beginSearch(ctx, o)
	case e.stale(*o, s):
		return e.refresh(ctx, p, o)
	case e.needsHead(*o, s):
		return e.recordHead(ctx, o), nil
	case s.Kind == TypedStep:
		return e.signTyped(ctx, p, o, s)
	}
	return e.send(ctx, p, o, s, key, x)
}

// mayBegin reports whether step s, of which nothing was sent, may begin: o is not over,
// waits for nobody, and is what its user accepted.
func (e *Engine) mayBegin(o *Order, s Step) (ok bool, note Cause, err error) {
	if done, note, err := e.endIfOver(o); done {
		return false, note, err
	}
	e.dropForged(o)
	switch {
	case e.awaitsConsent(*o), (o.Condition == NeedsConsent || o.Tampered()) && !e.Unlocked():
		return false, noReason, nil // until the user accepts or cancels, or the deadline passes
	case !e.Unlocked():
		o.Condition = WaitingForUnlock
		return false, newCause(KeysLocked), nil
	}
	if e.Now().Add(minValidity[s.Effect.Kind]).After(o.Terms.Deadline) {
		return false, noReason, nil // too late to begin; a later move ends o
	}
	if err := e.checkAccepted(*o); err != nil {
		return false, noReason, err
	}
	return true, noReason, nil
}

// signTyped signs a typed message. The signature is journaled before it is submitted.
func (e *Engine) signTyped(ctx context.Context, p Provider, o *Order, s Step) (Cause, error) {
	if _, err := e.recheck(p, *o, s); err != nil {
		return noReason, err
	}
	if s.Effect.Kind == Permit && !o.Permit.allowsNonce(s.Effect.Nonce) {
		return noReason, askConsent(PermitChanged)
	}
	if s.Effect.Kind == Permit && s.Effect.Nonce != nil {
		if current, err := e.permitNonceCurrent(ctx, *o, s.Effect); err != nil {
			return noReason, err
		} else if !current {
			return e.refresh(ctx, p, o)
		}
	}
	var leaves []common.Hash
	if s.Effect.Kind == Signed {
		var alone bool
		var err error
		if leaves, alone, err = e.checkSignedOrder(ctx, *o); err != nil {
			return noReason, err
		}
		if !alone {
			o.Condition = WaitingForSimilar
			e.enqueue(o.ID)
			return waitCause(WaitingForSimilar), nil
		}
	}
	if o.Condition == NeedsConsent {
		return o.termsMetAgain()
	}
	failpoint.Point("engine.before_typed")
	if e.Now().After(o.Terms.Deadline) || e.stale(*o, s) {
		return noReason, nil // it expired during the checks: the next move ends o or refreshes the quote
	}
	if err := e.checkAccepted(*o); err != nil {
		return noReason, err
	}
	sig, err := e.Signer.SignTypedData(ctx, o.Terms.Account, *s.Typed)
	if err != nil {
		return noReason, err
	}
	failpoint.Point("engine.after_typed")
	if s.Effect.Kind == Permit {
		o.Permit = &SignedPermit{s.Effect.Nonce}
	}
	o.FillTraces = leaves
	return e.finish(o, Result{Signature: sig}, newCause(SignedMessage))
}

// checkSignedOrder checks what a simulation does not show of a signed order: that the account
// can pay it, and that its end can be proven. It returns the names of what its fill
// leaves on the chain (see Journal.checkDistinguishable); alone is false if another open order has one
// of them.
func (e *Engine) checkSignedOrder(ctx context.Context, o Order) (leaves []common.Hash, alone bool, err error) {
	if err := e.checkFunded(ctx, o.Terms, o.Wrapped); err != nil {
		return nil, false, err
	}
	if leaves, err = e.fillTraces(o); err != nil {
		return nil, false, err
	}
	err = e.Journal.checkDistinguishable(o.ID, leaves)
	if errors.Is(err, errIndistinguishable) {
		return nil, false, nil
	}
	return leaves, err == nil, err
}

// permitNonceCurrent reports whether a permit has the nonce that the contract expects now. A lower
// nonce was used since the quote, so a fresh quote is needed; a higher one means that a
// node is behind, and is an error.
func (e *Engine) permitNonceCurrent(ctx context.Context, o Order, f Effect) (bool, error) {
	a := f.Approves[0]
	kept, err := e.Nodes.PermitAllowances(ctx, f.Chain, f.Target, o.Terms.Account, []chain.Grantee{{Token: a.Token, Spender: a.Spender}})
	if err != nil {
		return false, err
	}
	now := new(big.Int).SetUint64(kept[0].Nonce)
	if f.Nonce.Cmp(now) > 0 {
		return false, fmt.Errorf("the permit has nonce %s, and the node expects %s: one of them is behind", f.Nonce, now)
	}
	return f.Nonce.Cmp(now) == 0, nil
}

// recheck decodes a step's real bytes again and checks the whole plan against the terms
// and the digest: what is signed must be what was accepted.
func (e *Engine) recheck(p Provider, o Order, s Step) (Effect, error) {
	f, err := decodeStep(p, o.Terms, s)
	if err != nil {
		return f, err
	}
	effects := o.Plan.Effects()
	effects[o.Step] = f
	if err := Check(o.Terms, effects, p.Pins()); err != nil {
		return f, err
	}
	if Digest(o.Terms, effects) != o.Digest {
		return f, Refuse(NotAsAccepted, "step %d is not what was accepted", o.Step+1)
	}
	return f, nil
}

// send checks and simulates a step's bytes, then has the sender sign, journal and
// broadcast them, in this order. x says what the simulation may show of allowances.
func (e *Engine) send(ctx context.Context, p Provider, o *Order, s Step, key string, x Expected) (Cause, error) {
	late, kept := e.keepOrderAnswer(ctx, *o)
	call, err := e.callOf(late, p, *o, s)
	s.Call = &call
	if err == nil {
		s.Effect, err = e.recheck(p, *o, s)
	}
	kept(err)
	if err != nil {
		return noReason, err
	}
	if err := e.recheckUnneeded(*o); err != nil {
		return noReason, err
	}
	if err := e.checkContract(ctx, o.Terms, s.Effect); err != nil {
		return noReason, err
	}
	if err := e.simulate(ctx, *o, s, x); err != nil {
		return noReason, err
	}
	if o.Condition == NeedsConsent {
		return e.termsMetIfAffordable(ctx, o, call)
	}
	if err := e.checkAccepted(*o); err != nil {
		return noReason, err
	}
	return e.submitCall(ctx, o, key, call, sendDeadline(*o, s.Effect), NoCondition, newCause(StepSent, "step", strconv.Itoa(o.Step+1)))
}

// submitCall has the sender sign and send a call, no later than until, and puts o in condition
// then. The caller has checked that o's user wants it. If an earlier transaction blocks
// the nonce, o waits with WaitingForNonce.
func (e *Engine) submitCall(ctx context.Context, o *Order, key string, c chain.Call, until time.Time, then Condition, note Cause) (Cause, error) {
	tx, err := e.Sender.Submit(ctx, key, c, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: until})
	if errors.Is(err, chain.ErrNonceBlocked) {
		o.Condition = WaitingForNonce
		return waitCause(WaitingForNonce), nil
	}
	if err != nil {
		return noReason, sendError(err)
	}
	o.setAttempts(*tx)
	o.Condition = then
	o.setCause(noReason)
	return note, nil
}

// termsMetAgain records that the accepted terms can be met again, before anything is signed
// under them. From then on no proposal can be accepted, so two plans of one order are
// never both carried out.
func (o *Order) termsMetAgain() (Cause, error) {
	o.Condition = NoCondition
	o.setCause(noReason)
	return newCause(WithinTerms), nil
}

// termsMetIfAffordable is recovered, if the call's cost is within the accepted gas ceiling.
func (e *Engine) termsMetIfAffordable(ctx context.Context, o *Order, c chain.Call) (Cause, error) {
	cost, err := e.Nodes.Cost(ctx, c)
	if err == nil && cost.Max.Cmp(e.ceilingLeft(*o)) > 0 {
		err = chain.ErrCeiling
	}
	if err != nil {
		return noReason, sendError(err)
	}
	return o.termsMetAgain()
}

// callOf returns a step's call; that of a late step is built now.
func (e *Engine) callOf(ctx context.Context, p Provider, o Order, s Step) (chain.Call, error) {
	if s.Kind == CallStep {
		return *s.Call, nil
	}
	l, ok := p.(LateBuilder)
	if !ok {
		return chain.Call{}, fmt.Errorf("provider %q makes no late calls", p.Kind())
	}
	failpoint.Point("engine.before_late")
	call, err := l.Late(ctx, o, o.Step)
	failpoint.Point("engine.after_late")
	return call, err
}

// simulate runs the call on our own nodes and checks what it moves against the terms.
func (e *Engine) simulate(ctx context.Context, o Order, s Step, x Expected) error {
	x.Effects = []Effect{s.Effect}
	err := e.checkSimulated(ctx, o.Terms, []chain.Call{*s.Call}, x)
	if errors.Is(err, chain.ErrWouldRevert) {
		return wouldRevert(err)
	}
	return err
}

// ceilingLeft returns what is left of the accepted gas ceiling, in wei.
func (e *Engine) ceilingLeft(o Order) *big.Int {
	left := new(big.Int).Set(o.Terms.GasCeiling)
	for _, r := range o.Results {
		if r.Evidence != nil && r.Evidence.FeePaid != nil && r.Evidence.FeePaid.Sign() > 0 {
			left.Sub(left, r.Evidence.FeePaid)
		}
	}
	return left
}

// sendDeadline returns the last moment at which a step's bytes may be sent: their own deadline
// if they carry one, else the quote's expiry if they depend on a price, and never after
// the accepted deadline.
func sendDeadline(o Order, f Effect) time.Time {
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

// minValidity is how long a step's signed bytes, and the quote behind them, must still be
// valid when the step is signed: a signed order must reach those who settle it, and a
// deposit must be mined, before the price expires.
var minValidity = map[EffectKind]time.Duration{
	Signed:  5 * time.Second,
	Deposit: 10 * time.Second,
	Opaque:  10 * time.Second,
}

// priced reports whether an effect depends on a quoted price.
func priced(k EffectKind) bool { return k != Approve && k != Wrap && k != Unwrap }

// sendError turns the sender's errors, after which nothing was signed, into refusals.
// ErrExpired is none: the next move finds the deadline passed or the quote expired.
func sendError(err error) error {
	switch {
	case errors.Is(err, chain.ErrFunds):
		return &Refusal{Code: InsufficientFunds, ReasonCode: BalanceShort, Reason: newCause(BalanceShort).Text(), Err: err}
	case errors.Is(err, chain.ErrCeiling):
		return &Refusal{Code: ConsentNeeded, ReasonCode: GasAboveCeiling, Reason: newCause(GasAboveCeiling).Text(), Err: err}
	case errors.Is(err, chain.ErrWouldRevert):
		return wouldRevert(err)
	}
	return err
}

// watch follows a step's transaction; receipts decide. Once its bytes may not be sent any
// more, or the user cancels, a cancelling transaction takes its nonce, and whichever is
// mined decides.
func (e *Engine) watch(ctx context.Context, o *Order, key string) (Cause, error) {
	tx, ev, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return noReason, err
	}
	o.setAttempts(tx)
	if tx.State.Final() {
		return e.ended(ctx, o, tx, ev)
	}
	if late := e.Now().After(tx.Policy.Until); o.Cancel || late {
		o.Bump = nil
		return e.cancel(ctx, o, tx)
	}
	if o.Bump != nil {
		return e.speedUp(ctx, o, tx)
	}
	o.Condition = NoCondition
	return newCause(Pending), nil
}

// ended applies the final state of a step's transaction to its order. A mined record
// without evidence was reorganised away: nothing is known until it is mined again.
func (e *Engine) ended(ctx context.Context, o *Order, tx chain.Tx, ev *chain.Evidence) (Cause, error) {
	switch tx.State {
	case chain.TxReplaced:
		o.setCause(newCause(NonceUsed))
		return e.end(o, byOtherNonce, nil, "its nonce was used elsewhere")
	case chain.TxRejected:
		return e.rejected(ctx, o, tx)
	case chain.TxUnknown:
		o.Condition = WrittenByNewer
		return waitCause(WrittenByNewer), nil
	}
	if ev == nil {
		return noReason, nil
	}
	if tx.State == chain.TxCancelled {
		o.setCause(newCause(CancelMined))
		return e.end(o, byCancel, ev, "")
	}
	return e.mined(o, *ev)
}

// mined handles a step's own transaction that is mined at the required depth.
func (e *Engine) mined(o *Order, ev chain.Evidence) (Cause, error) {
	if !ev.Success {
		o.setCause(newCause(Reverted))
		return e.end(o, byRevert, &ev, "")
	}
	return e.finish(o, Result{Tx: ev.Tx, Evidence: &ev}, newCause(StepMined, "step", strconv.Itoa(o.Step+1)))
}

// rejected handles a transaction that every node refused before queueing it. A node may
// have lied, so the order ends only once the bytes may not be sent any more.
func (e *Engine) rejected(ctx context.Context, o *Order, tx chain.Tx) (Cause, error) {
	hash := tx.Last().Hash
	ev, ok, err := e.Nodes.Evidence(ctx, tx.Call.ChainID, hash)
	twin := false
	if err == nil && ev.Block != 0 {
		twin, err = e.sentByAnother(*o, hash)
	}
	switch {
	case err != nil:
		return noReason, err
	case twin: // it counts for the other order
	case ok:
		return e.mined(o, ev)
	case ev.Block != 0:
		return noReason, nil // mined after all; wait for its depth
	}
	c := newCause(NotTaken).quoting(SaidByNode, tx.Reason)
	o.setCause(c)
	if !e.Now().After(tx.Policy.Until) {
		return c.withText("rejected"), nil
	}
	end := byNeverSent
	if o.Cancel {
		end = byNeverSentCancelled
	}
	return e.end(o, end, nil, "never sent")
}

// sentByAnother reports whether a transaction is another order's. The nonce of a rejected
// one is free again, so the same call of another order at the same price has the same
// bytes, and only one of the two orders sent it.
func (e *Engine) sentByAnother(o Order, hash common.Hash) (bool, error) {
	for cursor := ""; ; {
		page, next, err := e.Journal.List(o.Terms.Account, false, cursor, 100)
		if err != nil {
			return false, err
		}
		for _, other := range page {
			if other.State == Unreadable {
				return false, errors.New(other.Reason)
			}
			if other.ID == o.ID || other.Terms.SrcChain != o.Terms.SrcChain {
				continue
			}
			tx, err := e.Sender.Lookup(stepKey(other, other.Step))
			if err != nil {
				return false, err
			}
			sent := tx != nil && tx.State != chain.TxRejected && slices.ContainsFunc(tx.Attempts, func(a chain.Attempt) bool { return a.Hash == hash })
			if sent || slices.ContainsFunc(other.Results, func(r Result) bool { return r.Tx == hash }) {
				return true, nil
			}
		}
		if cursor = next; next == "" {
			return false, nil
		}
	}
}

// cancel takes the nonce of a transaction that may have been sent. Errors of nodes are
// only logged: the order stays watched.
func (e *Engine) cancel(ctx context.Context, o *Order, tx chain.Tx) (Cause, error) {
	last := tx.Last()
	onItsWay := last.Kind == chain.AttemptCancel && !e.Now().After(last.Until)
	switch {
	case e.Unlocked():
	case onItsWay: // already signed
		o.Condition = Cancelling
		return newCause(BeingEnded), nil
	case o.Tampered():
		return noReason, nil
	default:
		o.Condition = WaitingForUnlock
		return newCause(KeysLocked), nil
	}
	if err := e.checkEndable(*o, e.Now().After(tx.Policy.Until)); err != nil {
		if onItsWay && !errors.As(err, new(*Refusal)) { // keys are unlocked, but not this account's
			o.Condition = Cancelling
			return newCause(BeingEnded), nil
		}
		return noReason, err
	}
	done, err := e.Sender.Cancel(ctx, tx.Key, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: e.Now().Add(cancelTime)})
	switch {
	case errors.Is(err, chain.ErrNonceUsed):
		return noReason, nil // the nonce was used: the next poll says by what
	case errors.Is(err, chain.ErrCeiling):
		return noReason, &Refusal{Code: InsufficientGas, ReasonCode: CancelAboveCeiling, Reason: newCause(CancelAboveCeiling).Text(), Err: err}
	case err != nil:
		return noReason, err
	}
	o.setAttempts(*done)
	o.Condition = Cancelling
	o.setCause(noReason)
	return newCause(BeingEnded), nil
}

// cancelTime is how long a cancelling transaction may be broadcast.
const cancelTime = 24 * time.Hour

// end records a proven end; by is its row in the table of proofs. Without a receipt, how
// says what proves it.
func (e *Engine) end(o *Order, by string, ev *chain.Evidence, how string) (Cause, error) {
	if ev != nil {
		how = sources(ev.Hosts)
	}
	v := verdictBy(by)
	v.Sources, v.Evidence = how, ev
	o.Bump = nil
	return proven(o, v)
}

// finish records a step's result and makes the next step the present one.
func (e *Engine) finish(o *Order, r Result, note Cause) (Cause, error) {
	o.Wrapped = o.Wrapped || r.Evidence != nil && o.Terms.wrapsFirst(o.Plan.Steps[o.Step].Effect)
	o.Results = append(o.Results[:o.Step:o.Step], r)
	o.Step++
	o.CurrentTx, o.Attempts, o.Bump, o.Condition = common.Hash{}, nil, nil, NoCondition
	o.setCause(noReason)
	return note, nil
}
