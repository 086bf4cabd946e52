package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/failpoint"
	"swapkeep/swap"
	"swapkeep/swap/plan"

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
		tx, ev, err := e.pollSent(ctx, key)
		if err != nil {
			return swap.NoCause, err
		}
		if tx != nil {
			return e.watch(ctx, o, *tx, ev)
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
	if o.Plan.Spender != (common.Address{}) && s.Effect.Kind != swap.Fund {
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

// pollSent polls the transaction of a step; nil if none was signed yet.
func (e *Engine) pollSent(ctx context.Context, key string) (*chain.Tx, *chain.Evidence, error) {
	signed, err := e.Sender.Lookup(key)
	if err != nil || signed == nil {
		return nil, nil, err
	}
	tx, ev, err := e.Sender.Poll(ctx, key)
	return &tx, ev, err
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
	if s.Effect.Kind == swap.Fund {
		if err := checkIsolatedOwner(ctx, e.Isolated, o.Terms); err != nil {
			return swap.NoCause, err
		}
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
		return chain.Call{}, fmt.Errorf("provider %q is no DeferredBuilder", p.Kind())
	}
	failpoint.Point("engine.before_deferred")
	call, err := l.BuildDeferred(ctx, o, o.Step)
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
		return swap.RefuseFor(swap.InsufficientFunds, swap.BalanceShort, err)
	case errors.Is(err, chain.ErrCeiling):
		return swap.RefuseFor(swap.ConsentNeeded, swap.GasAboveCeiling, err)
	case errors.Is(err, chain.ErrWouldRevert):
		return swap.RefuseRevert(err)
	}
	return err
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

// stepKey returns the sender's key of a step's transaction. The wrap that goes first has
// a key of its own, so that it is sent once wherever a changed plan has it.
func stepKey(o swap.Order, step int) string {
	if step < len(o.Plan.Steps) && o.Terms.WrapsFirst(o.Plan.Steps[step].Effect) {
		return wrapKey(o)
	}
	return fmt.Sprintf("%s/%d", o.ID, step)
}

func wrapKey(o swap.Order) string { return o.ID + "/wrap" }
