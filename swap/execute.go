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
	"swapkeep/fault"

	"github.com/ethereum/go-ethereum/common"
)

// execute carries out the present step, or leaves the state after the last.
func (e *Engine) execute(ctx context.Context, o *Order) (Cause, error) {
	if o.Step == len(o.Plan.Steps) {
		o.Condition = NoCondition
		if o.Plan.Settlement == ByOwnCall {
			return because(StepsDone), o.to(Settling)
		}
		return because(StepsDone), o.to(Submitting)
	}
	s := o.Plan.Steps[o.Step]
	if o.State == Approving && s.Effect.Kind != Approve {
		return because(Approved), o.to(Executing)
	}
	key := stepKey(*o, o.Step)
	if s.Kind != TypedStep {
		tx, err := e.Sender.Lookup(key)
		if err != nil {
			return untold, err
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
		return untold, err
	}
	var x Expected
	if o.Plan.Spender != (common.Address{}) {
		if !o.Holds {
			o.Holds, o.Condition = true, NoCondition
			return because(HoldsAllowance), nil
		}
		if o.Terms.Provider != Wallet {
			var ready bool
			var note Cause
			if x, ready, note, err = e.arrange(ctx, o, s); err != nil || !ready {
				return note, err
			}
		}
	}
	switch {
	case o.Plan.Settlement == ByProvider && len(o.Since) == 0 && s.Effect.Kind != Approve:
		return e.beginSearch(ctx, o)
	case e.stale(*o, s):
		return e.refresh(ctx, p, o)
	case e.looksAhead(*o, s):
		return e.lookAhead(ctx, o), nil
	case s.Kind == TypedStep:
		return e.signTyped(ctx, p, o, s)
	}
	return e.send(ctx, p, o, s, key, x)
}

// mayBegin reports whether the present step s, of which nothing was sent, may be begun
// with: o is not over, waits for nobody, and is what its user accepted.
func (e *Engine) mayBegin(o *Order, s Step) (ok bool, note Cause, err error) {
	if done, note, err := e.over(o); done {
		return false, note, err
	}
	e.dropForged(o)
	switch {
	case e.waits(*o), (o.Condition == NeedsConsent || o.Distrusted()) && !e.Unlocked():
		return false, untold, nil // until the user accepts, cancels, or the deadline passes
	case !e.Unlocked():
		o.Condition = WaitingForUnlock
		return false, because(KeysLocked), nil
	}
	if e.Now().Add(leastLife[s.Effect.Kind]).After(o.Terms.Deadline) {
		return false, untold, nil // too late to begin with it; the next moves end o
	}
	if err := e.accepted(*o); err != nil {
		return false, untold, e.unsealed(*o, err)
	}
	return true, untold, nil
}

// signTyped signs a message. The signature is recorded before it is handed on.
func (e *Engine) signTyped(ctx context.Context, p Provider, o *Order, s Step) (Cause, error) {
	if _, err := e.recheck(p, *o, s); err != nil {
		return untold, err
	}
	if s.Effect.Kind == Permit && !o.Permit.may(s.Effect.Nonce) {
		return untold, askConsent(PermitChanged)
	}
	if s.Effect.Kind == Permit && s.Effect.Nonce != nil {
		if current, err := e.current(ctx, *o, s.Effect); err != nil {
			return untold, err
		} else if !current {
			return e.refresh(ctx, p, o)
		}
	}
	var leaves []common.Hash
	if s.Effect.Kind == Signed {
		var alone bool
		var err error
		if leaves, alone, err = e.orderable(ctx, *o); err != nil {
			return untold, err
		}
		if !alone {
			o.Condition = WaitingForTwin
			e.stand(o.ID)
			return waits(WaitingForTwin), nil
		}
	}
	if o.Condition == NeedsConsent {
		return o.recovered()
	}
	fault.Point("engine.before_typed")
	if e.Now().After(o.Terms.Deadline) || e.stale(*o, s) {
		return untold, nil // it passed while others were asked: the next move ends o, or asks for a fresh quote
	}
	if err := e.accepted(*o); err != nil {
		return untold, err
	}
	sig, err := e.Signer.SignTypedData(ctx, o.Terms.Account, *s.Typed)
	if err != nil {
		return untold, err
	}
	fault.Point("engine.after_typed")
	if s.Effect.Kind == Permit {
		o.Permit = &SignedPermit{s.Effect.Nonce}
	}
	o.Leaves = leaves
	return e.finish(o, Result{Signature: sig}, because(SignedMessage))
}

// orderable looks at what no simulation shows of an order that others settle: that it
// can be paid, that its end can be proven, by what its fill leaves, and whether that
// is no other open order's.
func (e *Engine) orderable(ctx context.Context, o Order) (leaves []common.Hash, alone bool, err error) {
	if err := e.funded(ctx, o.Terms, o.Wrapped); err != nil {
		return nil, false, err
	}
	if leaves, err = e.leaves(o); err != nil {
		return nil, false, err
	}
	err = e.Journal.alone(o.ID, leaves)
	if errors.Is(err, errTwin) {
		return nil, false, nil
	}
	return leaves, err == nil, err
}

// current reports whether a permit has the nonce that the contract would take
// now. A higher one than that is a node that is behind; a lower one was used
// since the quote, and a fresh quote asks for another.
func (e *Engine) current(ctx context.Context, o Order, f Effect) (bool, error) {
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

// recheck decodes a step's real bytes once more and compares the whole plan
// with the terms. What was accepted and what would be signed must be the same.
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

// send checks and simulates a step's bytes, then has them signed, journaled and
// broadcast by the sender, in this order.
// x says what the simulation may show of allowances.
func (e *Engine) send(ctx context.Context, p Provider, o *Order, s Step, key string, x Expected) (Cause, error) {
	late, kept := e.keepingOf(ctx, *o)
	call, err := e.callOf(late, p, *o, s)
	s.Call = &call
	if err == nil {
		s.Effect, err = e.recheck(p, *o, s)
	}
	kept(err)
	if err != nil {
		return untold, err
	}
	if err := e.stillUnneeded(*o); err != nil {
		return untold, err
	}
	if err := e.checkContract(ctx, o.Terms, s.Effect); err != nil {
		return untold, err
	}
	if err := e.simulate(ctx, *o, s, x); err != nil {
		return untold, err
	}
	if o.Condition == NeedsConsent {
		return e.affordable(ctx, o, call)
	}
	if err := e.accepted(*o); err != nil {
		return untold, err
	}
	return e.post(ctx, o, key, call, until(*o, s.Effect), NoCondition, because(StepSent, "step", strconv.Itoa(o.Step+1)))
}

// post has the sender sign a call of o's and send it, until then at the latest; o
// stands in the given condition afterwards. That its user wants it is seen to before.
func (e *Engine) post(ctx context.Context, o *Order, key string, c chain.Call, until time.Time, then Condition, note Cause) (Cause, error) {
	tx, err := e.Sender.Submit(ctx, key, c, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: until})
	if errors.Is(err, chain.ErrNonceBlocked) {
		o.Condition = WaitingForNonce
		return waits(WaitingForNonce), nil
	}
	if err != nil {
		return untold, sendError(err)
	}
	o.sent(*tx)
	o.Condition = then
	o.because(untold)
	return note, nil
}

// recovered records that the accepted terms hold once more, before anything is
// signed on the strength of it: from then on no proposal can be accepted, so that
// two plans of one order are never carried out beside each other.
func (o *Order) recovered() (Cause, error) {
	o.Condition = NoCondition
	o.because(untold)
	return because(WithinTerms), nil
}

// affordable is recovered, if the call fits under the accepted gas ceiling.
func (e *Engine) affordable(ctx context.Context, o *Order, c chain.Call) (Cause, error) {
	cost, err := e.Nodes.Cost(ctx, c)
	if err == nil && cost.Max.Cmp(e.ceilingLeft(*o)) > 0 {
		err = chain.ErrCeiling
	}
	if err != nil {
		return untold, sendError(err)
	}
	return o.recovered()
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
	fault.Point("engine.before_late")
	call, err := l.Late(ctx, o, o.Step)
	fault.Point("engine.after_late")
	return call, err
}

// simulate runs the call on our own nodes and compares what moves with the terms.
func (e *Engine) simulate(ctx context.Context, o Order, s Step, x Expected) error {
	x.Effects = []Effect{s.Effect}
	err := e.shows(ctx, o.Terms, []chain.Call{*s.Call}, x)
	if errors.Is(err, chain.ErrWouldRevert) {
		return wouldFail(err)
	}
	return err
}

// ceilingLeft is what the accepted gas ceiling still allows.
func (e *Engine) ceilingLeft(o Order) *big.Int {
	left := new(big.Int).Set(o.Terms.GasCeiling)
	for _, r := range o.Results {
		if r.Evidence != nil && r.Evidence.FeePaid != nil && r.Evidence.FeePaid.Sign() > 0 {
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

// leastLife is how much life what a step makes must have left, and the quote that
// it comes from, when it is signed: an order must reach those who settle it, and a
// deposit a block, before their price is over.
var leastLife = map[EffectKind]time.Duration{
	Signed:  5 * time.Second,
	Deposit: 10 * time.Second,
	Opaque:  10 * time.Second,
}

// priced reports whether an effect's worth depends on a quote.
func priced(k EffectKind) bool { return k != Approve && k != Wrap && k != Unwrap }

// sendError turns the sender's decisions into refusals; nothing was signed. Too
// late is none: the next move finds the deadline passed, or the quote to be old.
func sendError(err error) error {
	switch {
	case errors.Is(err, chain.ErrFunds):
		return &Refusal{Code: InsufficientFunds, Word: BalanceShort, Reason: causes[BalanceShort], Err: err}
	case errors.Is(err, chain.ErrCeiling):
		return &Refusal{Code: ConsentNeeded, Word: GasTooDear, Reason: causes[GasTooDear], Err: err}
	case errors.Is(err, chain.ErrWouldRevert):
		return wouldFail(err)
	}
	return err
}

// watch follows a step's transaction. The receipts decide; when its bytes may
// no longer leave, or the user wants it ended, its nonce is closed by a
// cancelling transaction, and whichever is mined says what happened.
func (e *Engine) watch(ctx context.Context, o *Order, key string) (Cause, error) {
	tx, ev, err := e.Sender.Poll(ctx, key)
	if err != nil {
		return untold, err
	}
	o.sent(tx)
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
	return because(Pending), nil
}

// ended says what the end of a step's transaction means for its order. A mined
// record without evidence was reorganised away: nothing is known until it is back.
func (e *Engine) ended(ctx context.Context, o *Order, tx chain.Tx, ev *chain.Evidence) (Cause, error) {
	switch tx.State {
	case chain.TxReplaced:
		o.because(because(NonceUsed))
		return e.end(o, byOtherNonce, nil, "its nonce was used elsewhere")
	case chain.TxRejected:
		return e.rejected(ctx, o, tx)
	case chain.TxUnknown:
		o.Condition = UnknownStoredState
		return waits(UnknownStoredState), nil
	}
	if ev == nil {
		return untold, nil
	}
	if tx.State == chain.TxCancelled {
		o.because(because(CancelMined))
		return e.end(o, byCancel, ev, "")
	}
	return e.mined(o, *ev)
}

// mined: the step's own transaction is on the chain at depth.
func (e *Engine) mined(o *Order, ev chain.Evidence) (Cause, error) {
	if !ev.Success {
		o.because(because(Reverted))
		return e.end(o, byRevert, &ev, "")
	}
	return e.finish(o, Result{Tx: ev.Tx, Evidence: &ev}, because(StepMined, "step", strconv.Itoa(o.Step+1)))
}

// rejected: every node refused the bytes before queueing them. A node may have
// lied, so the order ends only when they are too late to have been sent.
func (e *Engine) rejected(ctx context.Context, o *Order, tx chain.Tx) (Cause, error) {
	hash := tx.Last().Hash
	ev, ok, err := e.Nodes.Evidence(ctx, tx.Call.ChainID, hash)
	twin := false
	if err == nil && ev.Block != 0 {
		twin, err = e.sentByAnother(*o, hash)
	}
	switch {
	case err != nil:
		return untold, err
	case twin: // nothing of o's
	case ok:
		return e.mined(o, ev)
	case ev.Block != 0:
		return untold, nil // in a block after all; its depth decides
	}
	c := because(NotTaken).quoting(SaidByNode, tx.Reason)
	o.because(c)
	if !e.Now().After(tx.Policy.Until) {
		return c.says("rejected"), nil
	}
	end := byNeverSent
	if o.Cancel {
		end = byNeverSentCancelled
	}
	return e.end(o, end, nil, "never sent")
}

// sentByAnother reports whether a transaction is another order's. The nonce of a
// rejected one is free again: the same call of another order, at the same price,
// is the same bytes, and what is mined is the doing of one order only.
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

// cancel closes the nonce of a transaction that may or may not have left. What a
// node has against it is for the log: the order goes on being watched.
func (e *Engine) cancel(ctx context.Context, o *Order, tx chain.Tx) (Cause, error) {
	last := tx.Last()
	onItsWay := last.Kind == chain.AttemptCancel && !e.Now().After(last.Until)
	switch {
	case e.Unlocked():
	case onItsWay: // its bytes need no key
		o.Condition = Cancelling
		return because(BeingEnded), nil
	case o.Distrusted():
		return untold, nil
	default:
		o.Condition = WaitingForUnlock
		return because(KeysLocked), nil
	}
	if err := e.endable(*o, e.Now().After(tx.Policy.Until)); err != nil {
		if onItsWay && !errors.As(err, new(*Refusal)) { // there are keys, and not these
			o.Condition = Cancelling
			return because(BeingEnded), nil
		}
		return untold, err
	}
	done, err := e.Sender.Cancel(ctx, tx.Key, chain.Policy{Ceiling: e.ceilingLeft(*o), Until: e.Now().Add(cancelTime)})
	switch {
	case errors.Is(err, chain.ErrNonceUsed):
		return untold, nil // something was mined on it: the next look says what
	case errors.Is(err, chain.ErrCeiling):
		return untold, &Refusal{Code: InsufficientGas, Word: CancelTooDear, Reason: causes[CancelTooDear], Err: err}
	case err != nil:
		return untold, err
	}
	o.sent(*done)
	o.Condition = Cancelling
	o.because(untold)
	return because(BeingEnded), nil
}

// cancelTime is how long a cancelling transaction may be broadcast.
const cancelTime = 24 * time.Hour

// end records a proven end, by that row of the table of proofs. Without a receipt,
// how says what proves it.
func (e *Engine) end(o *Order, by string, ev *chain.Evidence, how string) (Cause, error) {
	if ev != nil {
		how = sources(ev.Hosts)
	}
	v := verdictBy(by)
	v.Sources, v.Evidence = how, ev
	o.Bump = nil
	return proven(o, v)
}

// finish records a step's result and goes on to the next.
func (e *Engine) finish(o *Order, r Result, note Cause) (Cause, error) {
	o.Wrapped = o.Wrapped || r.Evidence != nil && o.Terms.wrapsFirst(o.Plan.Steps[o.Step].Effect)
	o.Results = append(o.Results[:o.Step:o.Step], r)
	o.Step++
	o.Sending, o.Attempts, o.Bump, o.Condition = common.Hash{}, nil, nil, NoCondition
	o.because(untold)
	return note, nil
}
