package engine

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
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// execute carries out the present step, or after the last one moves on to the next state.
func (e *Engine) execute(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	if o.Step == len(o.Plan.Steps) {
		o.Condition = swap.NoCondition
		if o.Plan.Settlement == swap.ByOwnCall {
			return swap.NewCause(swap.StepsDone), o.SetState(swap.Settling)
		}
		return swap.NewCause(swap.StepsDone), o.SetState(swap.Submitting)
	}
	s := o.Plan.Steps[o.Step]
	if o.State == swap.Approving && s.Effect.Kind != swap.Approve {
		return swap.NewCause(swap.Approved), o.SetState(swap.Executing)
	}
	key := stepKey(*o, o.Step)
	if s.Kind != swap.TypedStep {
		tx, err := e.Sender.Lookup(key)
		if err != nil {
			return swap.NoCause, err
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
		return swap.NoCause, err
	}
	var x swap.Expected
	if o.Plan.Spender != (common.Address{}) {
		if !o.AllowanceLocked {
			o.AllowanceLocked, o.Condition = true, swap.NoCondition
			return swap.NewCause(swap.ReasonAllowanceLocked), nil
		}
		if o.Terms.Provider != swap.Wallet {
			var ready bool
			var note swap.Cause
			if x, ready, note, err = e.alignApprovals(ctx, o, s); err != nil || !ready {
				return note, err
			}
		}
	}
	switch {
	case o.Plan.Settlement == swap.ByProvider && len(o.SearchFrom) == 0 && s.Effect.Kind != swap.Approve:
		return e.beginSearch(ctx, o)
	case e.stale(*o, s):
		return e.refresh(ctx, p, o)
	case e.needsHead(*o, s):
		return e.recordHead(ctx, o), nil
	case s.Kind == swap.TypedStep:
		return e.signTyped(ctx, p, o, s)
	}
	return e.send(ctx, p, o, s, key, x)
}

// mayBegin reports whether step s, of which nothing was sent, may begin: o is not over,
// waits for nobody, and is what its user accepted.
func (e *Engine) mayBegin(o *swap.Order, s swap.Step) (ok bool, note swap.Cause, err error) {
	if done, note, err := e.endIfOver(o); done {
		return false, note, err
	}
	e.dropForged(o)
	switch {
	case e.awaitsConsent(*o), (o.Condition == swap.NeedsConsent || o.Tampered()) && !e.Unlocked():
		return false, swap.NoCause, nil // until the user accepts or cancels, or the deadline passes
	case !e.Unlocked():
		o.Condition = swap.WaitingForUnlock
		return false, swap.NewCause(swap.KeysLocked), nil
	}
	if e.Now().Add(minValidity[s.Effect.Kind]).After(o.Terms.Deadline) {
		return false, swap.NoCause, nil // too late to begin; a later move ends o
	}
	if err := e.checkAccepted(*o); err != nil {
		return false, swap.NoCause, err
	}
	return true, swap.NoCause, nil
}

// signTyped signs a typed message. The signature is journaled before it is submitted.
func (e *Engine) signTyped(ctx context.Context, p swap.Provider, o *swap.Order, s swap.Step) (swap.Cause, error) {
	if _, err := e.recheck(p, *o, s); err != nil {
		return swap.NoCause, err
	}
	if s.Effect.Kind == swap.Permit && !plan.AllowsNonce(o.Permit, s.Effect.Nonce) {
		return swap.NoCause, swap.AskConsent(swap.PermitChanged)
	}
	if s.Effect.Kind == swap.Permit && s.Effect.Nonce != nil {
		if current, err := e.permitNonceCurrent(ctx, *o, s.Effect); err != nil {
			return swap.NoCause, err
		} else if !current {
			return e.refresh(ctx, p, o)
		}
	}
	var leaves []common.Hash
	if s.Effect.Kind == swap.Signed {
		var alone bool
		var err error
		if leaves, alone, err = e.checkSignedOrder(ctx, *o); err != nil {
			return swap.NoCause, err
		}
		if !alone {
			o.Condition = swap.WaitingForSimilar
			e.enqueue(o.ID)
			return swap.WaitCause(swap.WaitingForSimilar), nil
		}
	}
	if o.Condition == swap.NeedsConsent {
		return termsMetAgain(o)
	}
	failpoint.Point("engine.before_typed")
	if e.Now().After(o.Terms.Deadline) || e.stale(*o, s) {
		return swap.NoCause, nil // it expired during the checks: the next move ends o or refreshes the quote
	}
	if err := e.checkAccepted(*o); err != nil {
		return swap.NoCause, err
	}
	sig, err := e.Signer.SignTypedData(ctx, o.Terms.Account, *s.Typed)
	if err != nil {
		return swap.NoCause, err
	}
	failpoint.Point("engine.after_typed")
	if s.Effect.Kind == swap.Permit {
		o.Permit = &swap.SignedPermit{Nonce: s.Effect.Nonce}
	}
	o.FillTraces = leaves
	return e.finish(o, swap.Result{Signature: sig}, swap.NewCause(swap.SignedMessage))
}

// checkSignedOrder checks what a simulation does not show of a signed order: that the account
// can pay it, and that its end can be proven. It returns the names of what its fill
// leaves on the chain (see Journal.checkDistinguishable); alone is false if another open order has one
// of them.
func (e *Engine) checkSignedOrder(ctx context.Context, o swap.Order) (leaves []common.Hash, alone bool, err error) {
	if err := e.Planner.CheckFunded(ctx, o.Terms, o.Wrapped); err != nil {
		return nil, false, err
	}
	if leaves, err = e.fillTraces(o); err != nil {
		return nil, false, err
	}
	err = e.Journal.CheckDistinguishable(o.ID, leaves)
	if errors.Is(err, journal.ErrIndistinguishable) {
		return nil, false, nil
	}
	return leaves, err == nil, err
}

// permitNonceCurrent reports whether a permit has the nonce that the contract expects now. A lower
// nonce was used since the quote, so a fresh quote is needed; a higher one means that a
// node is behind, and is an error.
func (e *Engine) permitNonceCurrent(ctx context.Context, o swap.Order, f swap.Effect) (bool, error) {
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
func (e *Engine) recheck(p swap.Provider, o swap.Order, s swap.Step) (swap.Effect, error) {
	f, err := plan.DecodeStep(p, o.Terms, s)
	if err != nil {
		return f, err
	}
	effects := o.Plan.Effects()
	effects[o.Step] = f
	if err := swap.Check(o.Terms, effects, p.Pins()); err != nil {
		return f, err
	}
	if swap.Digest(o.Terms, effects) != o.Digest {
		return f, swap.Refuse(swap.NotAsAccepted, "step %d is not what was accepted", o.Step+1)
	}
	return f, nil
}

// send checks and simulates a step's bytes, then has the sender sign, journal and
// broadcast them, in this order. x says what the simulation may show of allowances.
func (e *Engine) send(ctx context.Context, p swap.Provider, o *swap.Order, s swap.Step, key string, x swap.Expected) (swap.Cause, error) {
	late, kept := e.keepOrderAnswer(ctx, *o)
	call, err := e.callOf(late, p, *o, s)
	s.Call = &call
	if err == nil {
		s.Effect, err = e.recheck(p, *o, s)
	}
	kept(err)
	if err != nil {
		return swap.NoCause, err
	}
	if err := e.recheckUnneeded(*o); err != nil {
		return swap.NoCause, err
	}
	if err := e.Planner.CheckContract(ctx, o.Terms, s.Effect); err != nil {
		return swap.NoCause, err
	}
	if err := e.simulate(ctx, *o, s, x); err != nil {
		return swap.NoCause, err
	}
	if o.Condition == swap.NeedsConsent {
		return e.termsMetIfAffordable(ctx, o, call)
	}
	if err := e.checkAccepted(*o); err != nil {
		return swap.NoCause, err
	}
	return e.submitCall(ctx, o, key, call, sendDeadline(*o, s.Effect), swap.NoCondition, swap.NewCause(swap.StepSent, "step", strconv.Itoa(o.Step+1)))
}

// submitCall has the sender sign and send a call, no later than until, and puts o in condition
// then. The caller has checked that o's user wants it. If an earlier transaction blocks
// the nonce, o waits with WaitingForNonce.
func (e *Engine) submitCall(ctx context.Context, o *swap.Order, key string, c chain.Call, until time.Time, then swap.Condition, note swap.Cause) (swap.Cause, error) {
	tx, err := e.Sender.Submit(ctx, key, c, chain.Policy{Ceiling: o.GasLeft(), Until: until})
	if errors.Is(err, chain.ErrNonceBlocked) {
		o.Condition = swap.WaitingForNonce
		return swap.WaitCause(swap.WaitingForNonce), nil
	}
	if err != nil {
		return swap.NoCause, sendError(err)
	}
	setAttempts(o, *tx)
	o.Condition = then
	o.SetCause(swap.NoCause)
	return note, nil
}

// termsMetAgain records that the accepted terms can be met again, before anything is signed
// under them. From then on no proposal can be accepted, so two plans of one order are
// never both carried out.
func termsMetAgain(o *swap.Order) (swap.Cause, error) {
	o.Condition = swap.NoCondition
	o.SetCause(swap.NoCause)
	return swap.NewCause(swap.WithinTerms), nil
}

// termsMetIfAffordable is recovered, if the call's cost is within the accepted gas ceiling.
func (e *Engine) termsMetIfAffordable(ctx context.Context, o *swap.Order, c chain.Call) (swap.Cause, error) {
	cost, err := e.Nodes.Cost(ctx, c)
	if err == nil && cost.Max.Cmp(o.GasLeft()) > 0 {
		err = chain.ErrCeiling
	}
	if err != nil {
		return swap.NoCause, sendError(err)
	}
	return termsMetAgain(o)
}

// callOf returns a step's call; that of a late step is built now.
func (e *Engine) callOf(ctx context.Context, p swap.Provider, o swap.Order, s swap.Step) (chain.Call, error) {
	if s.Kind == swap.CallStep {
		return *s.Call, nil
	}
	l, ok := p.(swap.DeferredBuilder)
	if !ok {
		return chain.Call{}, fmt.Errorf("provider %q makes no late calls", p.Kind())
	}
	failpoint.Point("engine.before_deferred")
	call, err := l.Late(ctx, o, o.Step)
	failpoint.Point("engine.after_deferred")
	return call, err
}

// simulate runs the call on our own nodes and checks what it moves against the terms.
func (e *Engine) simulate(ctx context.Context, o swap.Order, s swap.Step, x swap.Expected) error {
	x.Effects = []swap.Effect{s.Effect}
	err := e.Planner.CheckSimulated(ctx, o.Terms, []chain.Call{*s.Call}, x)
	if errors.Is(err, chain.ErrWouldRevert) {
		return swap.RefuseRevert(err)
	}
	return err
}

// sendDeadline returns the last moment at which a step's bytes may be sent: their own deadline
// if they carry one, else the quote's expiry if they depend on a price, and never after
// the accepted deadline.
func sendDeadline(o swap.Order, f swap.Effect) time.Time {
	end := o.Terms.Deadline
	if !f.Deadline.IsZero() {
		return earlier(end, f.Deadline)
	}
	if swap.Priced(f.Kind) {
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
var minValidity = map[swap.EffectKind]time.Duration{
	swap.Signed:  5 * time.Second,
	swap.Deposit: 10 * time.Second,
	swap.Opaque:  10 * time.Second,
}

// sendError turns the sender's errors, after which nothing was signed, into refusals.
// ErrExpired is none: the next move finds the deadline passed or the quote expired.
func sendError(err error) error {
	switch {
	case errors.Is(err, chain.ErrFunds):
		return &swap.Refusal{Code: swap.InsufficientFunds, ReasonCode: swap.BalanceShort, Reason: swap.NewCause(swap.BalanceShort).Text(), Err: err}
	case errors.Is(err, chain.ErrCeiling):
		return &swap.Refusal{Code: swap.ConsentNeeded, ReasonCode: swap.GasAboveCeiling, Reason: swap.NewCause(swap.GasAboveCeiling).Text(), Err: err}
	case errors.Is(err, chain.ErrWouldRevert):
		return swap.RefuseRevert(err)
	}
	return err
}

// watch follows a step's transaction; receipts decide. Once its bytes may not be sent any
// more, or the user cancels, a cancelling transaction takes its nonce, and whichever is
// mined decides.
func (e *Engine) watch(ctx context.Context, o *swap.Order, key string) (swap.Cause, error) {
	tx, ev, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return swap.NoCause, err
	}
	setAttempts(o, tx)
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
	o.Condition = swap.NoCondition
	return swap.NewCause(swap.Pending), nil
}

// ended applies the final state of a step's transaction to its order. A mined record
// without evidence was reorganised away: nothing is known until it is mined again.
func (e *Engine) ended(ctx context.Context, o *swap.Order, tx chain.Tx, ev *chain.Evidence) (swap.Cause, error) {
	switch tx.State {
	case chain.TxReplaced:
		o.SetCause(swap.NewCause(swap.NonceUsed))
		return e.end(o, swap.ProvenByTxReplaced, nil, "its nonce was used elsewhere")
	case chain.TxRejected:
		return e.rejected(ctx, o, tx)
	case chain.TxUnknown:
		o.Condition = swap.WrittenByNewer
		return swap.WaitCause(swap.WrittenByNewer), nil
	}
	if ev == nil {
		return swap.NoCause, nil
	}
	if tx.State == chain.TxCancelled {
		o.SetCause(swap.NewCause(swap.CancelMined))
		return e.end(o, swap.ProvenByCancel, ev, "")
	}
	return e.mined(o, *ev)
}

// mined handles a step's own transaction that is mined at the required depth.
func (e *Engine) mined(o *swap.Order, ev chain.Evidence) (swap.Cause, error) {
	if !ev.Success {
		o.SetCause(swap.NewCause(swap.Reverted))
		return e.end(o, swap.ProvenByRevert, &ev, "")
	}
	return e.finish(o, swap.Result{Tx: ev.Tx, Evidence: &ev}, swap.NewCause(swap.StepMined, "step", strconv.Itoa(o.Step+1)))
}

// rejected handles a transaction that every node refused before queueing it. A node may
// have lied, so the order ends only once the bytes may not be sent any more.
func (e *Engine) rejected(ctx context.Context, o *swap.Order, tx chain.Tx) (swap.Cause, error) {
	hash := tx.Last().Hash
	ev, ok, err := e.Nodes.Evidence(ctx, tx.Call.ChainID, hash)
	twin := false
	if err == nil && ev.Block != 0 {
		twin, err = e.sentByAnother(*o, hash)
	}
	switch {
	case err != nil:
		return swap.NoCause, err
	case twin: // it counts for the other order
	case ok:
		return e.mined(o, ev)
	case ev.Block != 0:
		return swap.NoCause, nil // mined after all; wait for its depth
	}
	c := swap.NewCause(swap.NotBroadcast).Quoting(swap.SaidByNode, tx.Reason)
	o.SetCause(c)
	if !e.Now().After(tx.Policy.Until) {
		return c.WithText("rejected"), nil
	}
	end := swap.ProvenByNeverSent
	if o.Cancel {
		end = swap.ProvenByNeverSentCancelled
	}
	return e.end(o, end, nil, "never sent")
}

// sentByAnother reports whether a transaction is another order's. The nonce of a rejected
// one is free again, so the same call of another order at the same price has the same
// bytes, and only one of the two orders sent it.
func (e *Engine) sentByAnother(o swap.Order, hash common.Hash) (bool, error) {
	for cursor := ""; ; {
		page, next, err := e.Journal.List(o.Terms.Account, false, cursor, 100)
		if err != nil {
			return false, err
		}
		for _, other := range page {
			if other.State == swap.Unreadable {
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
			if sent || slices.ContainsFunc(other.Results, func(r swap.Result) bool { return r.Tx == hash }) {
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
func (e *Engine) cancel(ctx context.Context, o *swap.Order, tx chain.Tx) (swap.Cause, error) {
	last := tx.Last()
	onItsWay := last.Kind == chain.AttemptCancel && !e.Now().After(last.Until)
	switch {
	case e.Unlocked():
	case onItsWay: // already signed
		o.Condition = swap.Cancelling
		return swap.NewCause(swap.ReasonCancelling), nil
	case o.Tampered():
		return swap.NoCause, nil
	default:
		o.Condition = swap.WaitingForUnlock
		return swap.NewCause(swap.KeysLocked), nil
	}
	if err := e.checkEndable(*o, e.Now().After(tx.Policy.Until)); err != nil {
		if onItsWay && !errors.As(err, new(*swap.Refusal)) { // keys are unlocked, but not this account's
			o.Condition = swap.Cancelling
			return swap.NewCause(swap.ReasonCancelling), nil
		}
		return swap.NoCause, err
	}
	done, err := e.Sender.Cancel(ctx, tx.Key, chain.Policy{Ceiling: o.GasLeft(), Until: e.Now().Add(swap.CancelTime)})
	switch {
	case errors.Is(err, chain.ErrNonceUsed):
		return swap.NoCause, nil // the nonce was used: the next poll says by what
	case errors.Is(err, chain.ErrCeiling):
		return swap.NoCause, &swap.Refusal{Code: swap.InsufficientGas, ReasonCode: swap.CancelAboveCeiling, Reason: swap.NewCause(swap.CancelAboveCeiling).Text(), Err: err}
	case err != nil:
		return swap.NoCause, err
	}
	setAttempts(o, *done)
	o.Condition = swap.Cancelling
	o.SetCause(swap.NoCause)
	return swap.NewCause(swap.ReasonCancelling), nil
}

// end records a proven end; by is its row in the table of proofs. Without a receipt, how
// says what proves it.
func (e *Engine) end(o *swap.Order, by string, ev *chain.Evidence, how string) (swap.Cause, error) {
	if ev != nil {
		how = proof.Sources(ev.Hosts)
	}
	v := swap.VerdictBy(by)
	v.Sources, v.Evidence = how, ev
	o.Bump = nil
	return proven(o, v)
}

// finish records a step's result and makes the next step the present one.
func (e *Engine) finish(o *swap.Order, r swap.Result, note swap.Cause) (swap.Cause, error) {
	o.Wrapped = o.Wrapped || r.Evidence != nil && o.Terms.WrapsFirst(o.Plan.Steps[o.Step].Effect)
	o.Results = append(o.Results[:o.Step:o.Step], r)
	o.Step++
	o.CurrentTx, o.Attempts, o.Bump, o.Condition = common.Hash{}, nil, nil, swap.NoCondition
	o.SetCause(swap.NoCause)
	return note, nil
}
