// Package engine executes accepted plans until the chain proves how each order ended. Its
// Service is what package host calls for quotes, plans and orders.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Sender sends a call at most once per key. *chain.Sender satisfies it.
type Sender interface {
	Lookup(key string) (*chain.Tx, error)
	RecordsByNonce(chainID uint64, from common.Address, first, count uint64) ([]*chain.Tx, error)
	Submit(ctx context.Context, key string, c chain.Call, p chain.Policy) (*chain.Tx, error)
	Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error)
	Cancel(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error)
	Bump(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error)
}

// TypedSigner signs EIP-712 messages. *keys.Vault satisfies it.
type TypedSigner interface {
	SignTypedData(ctx context.Context, from common.Address, d apitypes.TypedData) ([]byte, error)
}

// An Engine carries orders to a proven end. Each order is advanced by one goroutine, and
// all that matters is in the journal, so it can be stopped at any point.
type Engine struct {
	Journal   *journal.Journal
	Providers map[swap.Kind]swap.Provider
	Nodes     Nodes
	Planner   *plan.Planner // makes fresh plans under an old consent, and proposals
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Isolated  IsolatedVault                           // nil = there are no isolated accounts
	Unlocked  func() bool                             // whether the signer would sign now
	IsLocked  func(error) bool                        // whether a signer's error means that the keys are locked
	Pause     func(still time.Duration) time.Duration // before the next poll, by how long there was no progress
	Now       func() time.Time
	Mine      func(common.Address) bool     // whether an account is one of the wallet's
	Notify    func(swap.Order)              // after each recorded change; must not block
	Log       func(o swap.Order, err error) // a temporary failure; must not block

	mu          sync.Mutex
	ctx         context.Context        // while it lasts, orders may start; nil before Resume
	orders      map[string]*inProgress // by id
	streams     int                    // provider streams open now
	pollLimiter pollLimiter            // limits how often orders are polled
	running     sync.WaitGroup
}

// moveRecovered is move with panics turned into errors: an order that this program cannot
// handle must not stop the others, now and after every restart.
func (e *Engine) moveRecovered(ctx context.Context, p *inProgress, o *swap.Order) (advanced bool, err error) {
	defer func() {
		if why := recover(); why != nil {
			advanced, err = false, fmt.Errorf("panic in state %s: %v", o.State, why)
		}
	}()
	return e.move(ctx, p, o)
}

// move makes one move, records it, and reports whether it [advances] o. A temporary error
// is returned and not recorded: a lost connection or a provider's failure must not end an
// order.
func (e *Engine) move(ctx context.Context, p *inProgress, o *swap.Order) (advanced bool, err error) {
	before := o.Clone()
	note, err := e.advance(ctx, o)
	var refused *swap.Refusal
	switch {
	case err != nil && e.IsLocked(err):
		note, err = swap.NewCause(swap.KeysLocked), nil
		o.Condition = swap.WaitingForUnlock
	case errors.As(err, &refused) && refused.Code == swap.JournalFailed, errors.Is(err, chain.ErrLedger):
		return false, err // without the journal nothing is signed
	case errors.As(err, &refused) && refused.Code == swap.RecordChanged:
		note, err = markTampered(o, refused), nil
	case errors.As(err, &refused) && !refused.Code.Temporary():
		note, err = e.refuse(ctx, o, refused)
	}
	if err != nil {
		return false, err
	}
	e.markPolled(p)
	e.noteTakenAllowance(ctx, o)
	if o.Condition != swap.NeedsConsent {
		o.Proposal = nil
	}
	if same(before, *o) {
		return false, nil
	}
	o.Updated = e.Now()
	err = e.Journal.Update(o, note)
	if errors.Is(err, journal.ErrAllowanceLocked) {
		e.Log(*o, err)
		*o = before
		o.Condition, o.Updated = swap.WaitingForAllowance, e.Now()
		e.enqueue(o.ID)
		if before.Condition == swap.WaitingForAllowance {
			return false, nil
		}
		err = e.Journal.Update(o, swap.WaitCause(swap.WaitingForAllowance))
	}
	if err != nil {
		return false, err
	}
	e.Notify(o.Clone())
	if o.Condition == swap.LikelyPaid {
		e.enqueue(o.ID) // another order may prove that the payment is its own
	}
	if before.AllowanceLocked && !o.AllowanceLocked || o.State.Final() {
		e.wakeQueue()
	}
	return advances(before, *o), nil
}

// same reports whether nothing changed that is journaled for itself: every stored field but
// Updated and Cause. Cause goes with Reason, and its figures may change with every poll.
func same(a, b swap.Order) bool {
	record := func(o swap.Order) []byte {
		o.Updated, o.Cause = time.Time{}, nil
		return swap.MustJSON(o)
	}
	return bytes.Equal(record(a), record(b))
}

// refuse ends an order of which nothing that may be pending was signed; otherwise the
// order stays watched and shows the reason.
//
// If an approval or reset of ours is mined, a node that predicts a revert may be behind,
// or the price may have moved: the step is tried again until the deadline.
func (e *Engine) refuse(ctx context.Context, o *swap.Order, r *swap.Refusal) (swap.Cause, error) {
	signed, err := e.signed(*o)
	switch {
	case err != nil:
		return swap.NoCause, err
	case signed:
		c := swap.OfRefusal(swap.Refused, r)
		o.SetCause(c)
		return c.WithText(r.Error()), nil
	case r.Code == swap.ConsentNeeded:
		return e.propose(ctx, o, r)
	case retried(*o, r):
		e.Log(*o, r)
		c := swap.OfRefusal(swap.RefusedForNow, r).WithText(r.Reason + "; it is tried again until the deadline")
		o.Condition = swap.NoCondition
		o.SetCause(c)
		return c, nil
	}
	return e.abandon(o, r)
}

// retried reports whether a refusal may only be due to a node that is behind: the nodes
// disagree, or it does not show an approval or wrap that o already made.
func retried(o swap.Order, r *swap.Refusal) bool {
	switch r.Code {
	case swap.WouldRevert:
		return slices.ContainsFunc(o.Results[:min(len(o.Results), o.OwnSteps())], func(r swap.Result) bool { return !r.Skipped })
	case swap.InsufficientFunds:
		return o.Wrapped || o.Funded()
	case swap.NodesDisagree:
		return true
	}
	return false
}

// abandon cancels an order of which nothing that spends was signed.
func (e *Engine) abandon(o *swap.Order, r *swap.Refusal) (swap.Cause, error) {
	c := swap.OfRefusal(swap.RefusedUnsigned, r)
	o.Condition = swap.NoCondition
	o.SetCause(c)
	o.Verdict = withdrawn(*o, swap.ProvenByWithdrawn)
	return c.WithText("refused before signing: " + r.Error()), o.SetState(swap.Cancelled)
}

// nothingTaken says why an order for which signed is false took nothing.
func nothingTaken(o swap.Order) swap.SourceCode {
	switch {
	case o.Wrapped:
		return swap.WrappedOnly
	case o.Funded():
		return swap.IsolatedOnly
	case len(o.Results) > 0:
		return swap.NoSpendSigned
	}
	return swap.NothingSigned
}

// nothingTakenTexts has the English text of the results of nothingTaken.
var nothingTakenTexts = map[swap.SourceCode]string{
	swap.WrappedOnly:   "nothing that spends was signed; the input is held as the wrapped coin",
	swap.IsolatedOnly:  "nothing that spends was signed; what is left in the isolated account is moved back",
	swap.NoSpendSigned: "nothing that spends was signed",
	swap.NothingSigned: "nothing was signed",
}

// signed reports whether something may be pending that must stay watched: a step that
// spends the input, or an approval that is not mined yet and occupies its nonce. Mined
// approvals and permits do not count: nobody can use them without our own call.
func (e *Engine) signed(o swap.Order) (bool, error) {
	for i, s := range o.Plan.Steps {
		switch {
		case (s.Effect.Kind == swap.Approve || s.Effect.Kind == swap.Fund) && i < o.Step, s.Effect.Kind == swap.Permit, o.Wrapped && o.Terms.WrapsFirst(s.Effect):
			continue
		case s.Kind == swap.TypedStep && i < len(o.Results):
			return true, nil
		case s.Kind == swap.TypedStep:
			continue
		}
		tx, err := e.Sender.Lookup(stepKey(o, i))
		if err != nil || tx != nil {
			return tx != nil, err
		}
	}
	return false, nil
}

// actions has what the engine does with a watched order in each state that is not final. What the
// states mean, and the moves between them, is the table in swap/state.go.
var actions = map[swap.State]func(*Engine, context.Context, *swap.Order) (swap.Cause, error){
	swap.Accepted:   (*Engine).begin,
	swap.Approving:  (*Engine).execute,
	swap.Executing:  (*Engine).execute,
	swap.Submitting: (*Engine).submit,
	swap.Settling:   (*Engine).pollSettling,
	swap.Closed:     (*Engine).pollClosed,
}

// advance makes one move of o according to its state, and returns its cause.
func (e *Engine) advance(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	act, ok := actions[o.State]
	if !ok {
		return swap.NoCause, fmt.Errorf("order %s in state %q", o.ID, o.State)
	}
	return act(e, ctx, o)
}

// provider returns an order's provider. Without it nothing new is signed; what was
// already sent is still watched.
func (e *Engine) provider(o *swap.Order) (swap.Provider, error) {
	p, ok := e.Providers[o.Terms.Provider]
	if !ok {
		return nil, fmt.Errorf("the %s provider is not configured", o.Terms.Provider)
	}
	return p, nil
}

func (e *Engine) settler(o *swap.Order) (swap.Settler, error) {
	p, err := e.provider(o)
	if err != nil {
		return nil, err
	}
	s, ok := p.(swap.Settler)
	if !ok {
		return nil, fmt.Errorf("the %s provider does not settle", p.Kind())
	}
	return s, nil
}

// begin leaves the state Accepted.
func (e *Engine) begin(_ context.Context, o *swap.Order) (swap.Cause, error) {
	if done, note, err := e.endIfOver(o); done {
		return note, err
	}
	if o.Plan.Steps[0].Effect.Kind == swap.Approve {
		return swap.NewCause(swap.ReasonApproving), o.SetState(swap.Approving)
	}
	return swap.NewCause(swap.ReasonExecuting), o.SetState(swap.Executing)
}

// endIfOver ends an order that was cancelled or whose deadline passed before the present step,
// if nothing that may be pending was signed.
func (e *Engine) endIfOver(o *swap.Order) (done bool, note swap.Cause, err error) {
	late := e.Now().After(o.Terms.Deadline)
	if !o.Cancel && !late {
		return false, swap.NoCause, nil
	}
	signed, err := e.signed(*o)
	if err != nil || signed {
		return err != nil, swap.NoCause, err
	}
	by, why := swap.ProvenByNeverSigned, swap.NewCause(swap.DeadlinePassed).WithText("the deadline passed; "+nothingTakenTexts[nothingTaken(*o)])
	if o.Cancel {
		by, why = swap.ProvenByWithdrawn, swap.NewCause(swap.Withdrawn).WithText("cancelled; "+nothingTakenTexts[nothingTaken(*o)])
	}
	o.Condition = swap.NoCondition
	if o.Reason == "" {
		o.SetCause(why)
	}
	o.Verdict = withdrawn(*o, by)
	return true, why.WithText(string(o.Verdict.State)), o.SetState(o.Verdict.State)
}

// withdrawn returns the verdict on an order that took nothing.
func withdrawn(o swap.Order, by string) *swap.Verdict {
	v := swap.VerdictBy(by)
	v.Sources = nothingTaken(o)
	return &v
}
