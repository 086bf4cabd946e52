package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/clock"

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
	Journal   *Journal
	Providers map[Kind]Provider
	Nodes     Nodes
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Decimals  func(chainID uint64, token common.Address) bool
	Pricer    Pricer                                                                      // for the reviews of proposals
	Fees      FeeConfig                                                                   // for the reviews of proposals
	Tokens    func(chainID uint64) []common.Address                                       // the wallet's tokens, checked for allowances; nil = only those of earlier orders
	Recognize func(ctx context.Context, chainID uint64, token common.Address) Recognition // what the wallet's lists say of the output token; nil = nothing
	Unlocked  func() bool                                                                 // whether the signer would sign now
	IsLocked  func(error) bool                                                            // whether a signer's error means that the keys are locked
	Pause     func(still time.Duration) time.Duration                                     // before the next poll, by how long there was no progress
	Now       func() time.Time
	Notify    func(Order)              // after each recorded change; must not block
	Log       func(o Order, err error) // a temporary failure; must not block

	Keep AnswerKeeper // keeps provider answers that were refused; nil = none

	mu                sync.Mutex
	wake              map[string]chan time.Duration // by order in progress: delay until its next poll
	needUnlock        map[string]bool               // orders that may continue once the keys are unlocked
	queue             map[string]bool               // orders that wait for another order
	restarted         map[string]time.Time          // when an order last restarted (see turns)
	polledAt          map[string]time.Time          // when an order was last polled without error
	settlementWatches map[string]*settlementWatch   // by order that a provider settles
	streams           int                           // provider streams open now
	pollLimiter       pollLimiter                   // limits how often orders are polled
	running           sync.WaitGroup
}

// Start advances an order in the background until it is final or ctx ends. If it is
// already in progress, Start wakes it.
func (e *Engine) Start(ctx context.Context, id string) { e.start(ctx, id, 0) }

// start is Start after a delay.
func (e *Engine) start(ctx context.Context, id string, after time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wake == nil {
		e.wake = make(map[string]chan time.Duration)
	}
	c, ok := e.wake[id]
	if ok {
		wake(c, after)
		return
	}
	c = make(chan time.Duration, 1)
	e.wake[id] = c
	if after > 0 {
		wake(c, after)
	}
	e.running.Go(func() {
		e.run(ctx, id, c)
		e.mu.Lock()
		delete(e.wake, id)
		delete(e.needUnlock, id)
		delete(e.queue, id)
		delete(e.restarted, id)
		delete(e.polledAt, id)
		delete(e.settlementWatches, id)
		e.mu.Unlock()
		e.pollLimiter.remove(id)
	})
}

// Resume starts the orders that an earlier process left, staggered, those that still need
// a signature first. An id without a record is logged and skipped.
func (e *Engine) Resume(ctx context.Context, ids []string) {
	var first, then []string
	for _, id := range ids {
		switch o, err := e.Journal.Get(id); {
		case errors.Is(err, &Refusal{Code: OrderUnknown}):
			e.Log(Order{ID: id}, err)
		case err == nil && o.needsKeys():
			first = append(first, id)
		default:
			then = append(then, id)
		}
	}
	for i, id := range append(first, then...) {
		e.start(ctx, id, startDelay(i))
	}
}

// Wake polls the orders that wait for unlocked keys, staggered if there are many.
func (e *Engine) Wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := 0
	for id := range e.needUnlock {
		if c, ok := e.wake[id]; ok {
			wake(c, startDelay(i))
			i++
		}
	}
}

// Wait returns when every order has stopped, which happens once ctx has ended.
func (e *Engine) Wait() { e.running.Wait() }

// wake schedules a poll after a delay, or leaves an earlier one. e.mu is held.
func wake(c chan time.Duration, after time.Duration) {
	select {
	case earlier := <-c:
		after = min(after, earlier)
	default:
	}
	c <- after
}

// run is an order's loop: poll, then rest. While it rests, nearly all of the time, it
// keeps nothing of the order in memory. Polling is a separate function (look), so that
// the stack of a resting order stays small.
func (e *Engine) run(ctx context.Context, id string, woken <-chan time.Duration) {
	ctx, cancel := context.WithCancel(ctx) // ends the provider's stream too
	defer cancel()
	select {
	case after := <-woken: // its delay after a restart
		_ = sleep(ctx, after, woken)
	default:
	}
	s := progress{still: e.Now()}
	for ctx.Err() == nil {
		pause, ended := e.poll(ctx, id, &s)
		switch {
		case ended:
			return
		case pause != atOnce && sleep(ctx, pause, woken):
			s.still = e.Now()
		}
	}
}

// A progress records since when an order has made no progress, and how far it has come.
type progress struct {
	still    time.Time
	furthest int
}

// atOnce means that the next poll follows immediately, without a rest.
const atOnce time.Duration = -1

// poll polls an order: it reads it, makes one move, records and reports it. It returns
// the pause until the next poll, or that the order has ended. After an advance the next
// poll follows at once; otherwise the pauses grow, even if something was recorded, since
// a provider's claim may keep changing. An advance that only makes up for a step back,
// such as a fresh quote, does not reset the pauses: the quote is used at once, and the
// next one comes later.
func (e *Engine) poll(ctx context.Context, id string, s *progress) (pause time.Duration, ended bool) {
	o, err := e.Journal.Get(id)
	if err == nil && o.State.Final() {
		return 0, true
	}
	advanced, read := false, err == nil
	if read {
		advanced, err = e.moveRecovered(ctx, &o)
	}
	o.ID = id // also if it could not be read
	if err != nil && !errors.Is(err, errStale) {
		e.Log(o, err)
	}
	switch n := o.progress(); {
	case errors.Is(err, errStale):
		s.still = e.Now()
		return atOnce, false
	case advanced && n > s.furthest:
		s.still, s.furthest = e.Now(), n
		return atOnce, false
	case advanced:
		return atOnce, false
	}
	return e.pause(o, read, s.still), false
}

// pause returns how long an order rests that has made no progress since still.
func (e *Engine) pause(o Order, read bool, still time.Time) time.Duration {
	e.mu.Lock()
	if e.needUnlock == nil {
		e.needUnlock = make(map[string]bool)
	}
	delete(e.needUnlock, o.ID)
	if read && o.needsKeys() {
		e.needUnlock[o.ID] = true
	}
	e.mu.Unlock()
	alone := e.Pause(e.Now().Sub(o.idleSince(still)))
	if !read {
		e.pollLimiter.remove(o.ID)
		return alone
	}
	return e.pollLimiter.pause(o.ID, alone, o.pollClass())
}

// sleep waits for pause, or less if the order is woken, and reports whether it was.
func sleep(ctx context.Context, pause time.Duration, woken <-chan time.Duration) (early bool) {
	end := clock.Now().Add(pause)
	for {
		t := clock.NewTimer(end.Sub(clock.Now()))
		select {
		case <-ctx.Done():
			t.Stop()
			return early
		case after := <-woken:
			early, end = true, earlier(end, clock.Now().Add(after))
		case <-t.C:
			return early
		}
		t.Stop()
	}
}

// idleSince returns since when o has made no progress, still if it is not a reported
// order. What a reported order waits for may never happen, so its age counts however
// often it is woken.
func (o Order) idleSince(still time.Time) time.Time {
	if o.unproven() {
		return earlier(still, o.Created)
	}
	return still
}

// progress returns a number that grows as o advances.
func (o Order) progress() int {
	n := 2*o.Step + slices.IndexFunc(stateTable, func(r stateRow) bool { return r.State == o.State })
	if o.CurrentTx != (common.Hash{}) {
		n++
	}
	return n
}

// moveRecovered is move with panics turned into errors: an order that this program cannot
// handle must not stop the others, now and after every restart.
func (e *Engine) moveRecovered(ctx context.Context, o *Order) (advanced bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			advanced, err = false, fmt.Errorf("panic in state %s: %v", o.State, p)
		}
	}()
	return e.move(ctx, o)
}

// move makes one move, records it, and reports whether it [advances] o. A temporary error
// is returned and not recorded: a lost connection or a provider's failure must not end an
// order.
func (e *Engine) move(ctx context.Context, o *Order) (advanced bool, err error) {
	before := o.Clone()
	note, err := e.advance(ctx, o)
	var refused *Refusal
	switch {
	case err != nil && e.IsLocked(err):
		note, err = newCause(KeysLocked), nil
		o.Condition = WaitingForUnlock
	case errors.As(err, &refused) && refused.Code == JournalFailed, errors.Is(err, chain.ErrLedger):
		return false, err // without the journal nothing is signed
	case errors.As(err, &refused) && refused.Code == RecordChanged:
		note, err = o.markTampered(refused), nil
	case errors.As(err, &refused) && !refused.Code.temporary():
		note, err = e.refuse(ctx, o, refused)
	}
	if err != nil {
		return false, err
	}
	e.markPolled(o.ID)
	e.noteTakenAllowance(ctx, o)
	if o.Condition != NeedsConsent {
		o.Proposal = nil
	}
	if same(before, *o) {
		return false, nil
	}
	o.Updated = e.Now()
	err = e.Journal.Update(o, note)
	if errors.Is(err, errAllowanceLocked) {
		e.Log(*o, err)
		*o = before
		o.Condition, o.Updated = WaitingForAllowance, e.Now()
		e.enqueue(o.ID)
		if before.Condition == WaitingForAllowance {
			return false, nil
		}
		err = e.Journal.Update(o, waitCause(WaitingForAllowance))
	}
	if err != nil {
		return false, err
	}
	e.Notify(o.Clone())
	if before.AllowanceLocked && !o.AllowanceLocked || o.State.Final() {
		e.wakeQueue()
	}
	return advances(before, *o), nil
}

// markPolled records the time of a poll that ended without error.
func (e *Engine) markPolled(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.polledAt == nil {
		e.polledAt = make(map[string]time.Time)
	}
	e.polledAt[id] = e.Now()
}

// withPollTime returns o with the time when it was last polled.
func (e *Engine) withPollTime(o Order) Order {
	if o.State.Final() {
		return o
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o.Checked = e.polledAt[o.ID]
	return o
}

// enqueue queues an order that waits for another one.
func (e *Engine) enqueue(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queue == nil {
		e.queue = make(map[string]bool)
	}
	e.queue[id] = true
}

// wakeQueue wakes the queued orders after an order released an allowance or ended.
func (e *Engine) wakeQueue() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.queue {
		if c, ok := e.wake[id]; ok {
			wake(c, 0)
		}
	}
	clear(e.queue)
}

// advances reports whether the change from a to b must be followed up at once; much of
// what is recorded is only information.
func advances(a, b Order) bool {
	return a.State != b.State ||
		a.Step != b.Step ||
		a.Offer.ID != b.Offer.ID || // a quote expires soon
		a.CurrentTx != b.CurrentTx || // look for the transaction that was sent
		!a.AllowanceLocked && b.AllowanceLocked || // other orders wait for this allowance
		len(a.SearchFrom) < len(b.SearchFrom) || // the search has its first block, so the step may be signed
		!a.HeadsAt.Equal(b.HeadsAt) // known heads are soon out of date
}

// same reports whether nothing changed that is journaled for itself: every stored field but
// Updated and Cause. Cause goes with Reason, and its figures may change with every poll.
func same(a, b Order) bool {
	record := func(o Order) []byte {
		o.Updated, o.Cause = time.Time{}, nil
		return mustJSON(o)
	}
	return bytes.Equal(record(a), record(b))
}

// samePlan compares the kinds and calldata of the steps; whatever else differs comes with
// another offer.
func samePlan(a, b Plan) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(a, b Step) bool {
		return a.Kind == b.Kind && (a.Call == nil || b.Call == nil || bytes.Equal(a.Call.Data, b.Call.Data))
	})
}

// sameProposal reports whether a and b ask consent to the same plan.
func sameProposal(a, b *Proposal) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && a.Made.Equal(b.Made)
}

// sameClaim reports whether a and b say the same.
func sameClaim(a, b *Claim) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// refuse ends an order of which nothing that may be pending was signed; otherwise the
// order stays watched and shows the reason.
//
// If an approval or reset of ours is mined, a node that predicts a revert may be behind,
// or the price may have moved: the step is tried again until the deadline.
func (e *Engine) refuse(ctx context.Context, o *Order, r *Refusal) (Cause, error) {
	signed, err := e.signed(*o)
	switch {
	case err != nil:
		return noReason, err
	case signed:
		c := ofRefusal(Refused, r)
		o.setCause(c)
		return c.withText(r.Error()), nil
	case r.Code == ConsentNeeded:
		return e.propose(ctx, o, r)
	case retried(*o, r):
		e.Log(*o, r)
		c := ofRefusal(RefusedForNow, r).withText(r.Reason + "; it is tried again until the deadline")
		o.Condition = NoCondition
		o.setCause(c)
		return c, nil
	}
	return e.abandon(o, r)
}

// retried reports whether a refusal may only be due to a node that is behind: the nodes
// disagree, or it does not show an approval or wrap that o already made.
func retried(o Order, r *Refusal) bool {
	switch r.Code {
	case WouldRevert:
		return slices.ContainsFunc(o.Results[:min(len(o.Results), o.ownStepCount())], func(r Result) bool { return !r.Skipped })
	case InsufficientFunds:
		return o.Wrapped
	case NodesDisagree:
		return true
	}
	return false
}

// abandon cancels an order of which nothing that spends was signed.
func (e *Engine) abandon(o *Order, r *Refusal) (Cause, error) {
	c := ofRefusal(RefusedUnsigned, r)
	o.Condition = NoCondition
	o.setCause(c)
	o.Verdict = withdrawn(*o, byWithdrawn)
	return c.withText("refused before signing: " + r.Error()), o.setState(Cancelled)
}

// nothingTakenText says why an order for which signed is false took nothing.
func nothingTakenText(o Order) string {
	switch {
	case o.Wrapped:
		return "nothing that spends was signed; " + heldWrapped
	case len(o.Results) > 0:
		return "nothing that spends was signed"
	}
	return "nothing was signed"
}

// heldWrapped says where the input is if an order wrapped it and did not fill.
const heldWrapped = "the input is held as the wrapped coin"

// signed reports whether something may be pending that must stay watched: a step that
// spends the input, or an approval that is not mined yet and occupies its nonce. Mined
// approvals and permits do not count: nobody can use them without our own call.
func (e *Engine) signed(o Order) (bool, error) {
	for i, s := range o.Plan.Steps {
		switch {
		case s.Effect.Kind == Approve && i < o.Step, s.Effect.Kind == Permit, o.Wrapped && o.Terms.wrapsFirst(s.Effect):
			continue
		case s.Kind == TypedStep && i < len(o.Results):
			return true, nil
		case s.Kind == TypedStep:
			continue
		}
		tx, err := e.Sender.Lookup(stepKey(o, i))
		if err != nil || tx != nil {
			return tx != nil, err
		}
	}
	return false, nil
}

// stepKey returns the sender's key of a step's transaction. The wrap that goes first has
// a key of its own, so that it is sent once wherever a changed plan has it.
func stepKey(o Order, step int) string {
	if step < len(o.Plan.Steps) && o.Terms.wrapsFirst(o.Plan.Steps[step].Effect) {
		return wrapKey(o)
	}
	return fmt.Sprintf("%s/%d", o.ID, step)
}

func wrapKey(o Order) string { return o.ID + "/wrap" }

// advance makes one move of o according to its state, and returns its cause.
func (e *Engine) advance(ctx context.Context, o *Order) (Cause, error) {
	switch o.State {
	case Accepted:
		return e.begin(o)
	case Approving, Executing:
		return e.execute(ctx, o)
	case Submitting:
		return e.submit(ctx, o)
	case Settling:
		return e.pollSettling(ctx, o)
	}
	return noReason, fmt.Errorf("order %s in state %q", o.ID, o.State)
}

// provider returns an order's provider. Without it nothing new is signed; what was
// already sent is still watched.
func (e *Engine) provider(o *Order) (Provider, error) {
	p, ok := e.Providers[o.Terms.Provider]
	if !ok {
		return nil, fmt.Errorf("the %s provider is not configured", o.Terms.Provider)
	}
	return p, nil
}

func (e *Engine) settler(o *Order) (Settler, error) {
	p, err := e.provider(o)
	if err != nil {
		return nil, err
	}
	s, ok := p.(Settler)
	if !ok {
		return nil, fmt.Errorf("the %s provider does not settle", p.Kind())
	}
	return s, nil
}

// begin leaves the state Accepted.
func (e *Engine) begin(o *Order) (Cause, error) {
	if done, note, err := e.endIfOver(o); done {
		return note, err
	}
	if o.Plan.Steps[0].Effect.Kind == Approve {
		return newCause(BegunApproving), o.setState(Approving)
	}
	return newCause(BegunExecuting), o.setState(Executing)
}

// endIfOver ends an order that was cancelled or whose deadline passed before the present step,
// if nothing that may be pending was signed.
func (e *Engine) endIfOver(o *Order) (done bool, note Cause, err error) {
	late := e.Now().After(o.Terms.Deadline)
	if !o.Cancel && !late {
		return false, noReason, nil
	}
	signed, err := e.signed(*o)
	if err != nil || signed {
		return err != nil, noReason, err
	}
	by, why := byUnsignedLate, newCause(DeadlinePassed).withText("the deadline passed; "+nothingTakenText(*o))
	if o.Cancel {
		by, why = byWithdrawn, newCause(Withdrawn).withText("cancelled; "+nothingTakenText(*o))
	}
	o.Condition = NoCondition
	if o.Reason == "" {
		o.setCause(why)
	}
	o.Verdict = withdrawn(*o, by)
	return true, why.withText(string(o.Verdict.State)), o.setState(o.Verdict.State)
}

// withdrawn returns the verdict on an order that took nothing.
func withdrawn(o Order, by string) *Verdict {
	v := verdictBy(by)
	v.Sources = nothingTakenText(o)
	return &v
}
