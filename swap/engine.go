package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/fault"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// Sender sends a call at most once per key. *chain.Sender satisfies it.
type Sender interface {
	Lookup(key string) (*chain.Tx, error)
	Held(chainID uint64, from common.Address, first, count uint64) ([]*chain.Tx, error)
	Submit(ctx context.Context, key string, c chain.Call, p chain.Policy) (*chain.Tx, error)
	Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error)
	Cancel(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error)
	Bump(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error)
}

// TypedSigner signs EIP-712 messages. *keys.Vault satisfies it.
type TypedSigner interface {
	SignTypedData(ctx context.Context, from common.Address, d apitypes.TypedData) ([]byte, error)
}

// An Engine carries orders to a proven end. One goroutine advances one order;
// what it knows is in the journal, so that it can be stopped anywhere.
type Engine struct {
	Journal   *Journal
	Providers map[Kind]Provider
	Nodes     Nodes
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Decimals  func(chainID uint64, token common.Address) bool
	Pricer    Pricer                                                                      // for the reviews of proposals
	Fees      FeeConfig                                                                   // likewise
	Tokens    func(chainID uint64) []common.Address                                       // the wallet's own, of which something may be allowed; nil = those of earlier orders alone
	Recognize func(ctx context.Context, chainID uint64, token common.Address) Recognition // of what is bought; nil = of nothing
	Unlocked  func() bool                                                                 // whether the signer would sign now
	IsLocked  func(error) bool                                                            // the signer's way of saying that the keys are locked
	Pause     func(still time.Duration) time.Duration                                     // after so long without progress
	Now       func() time.Time
	Notify    func(Order)              // after each recorded change; must not block
	Log       func(o Order, err error) // a temporary failure; must not block

	Keep AnswerKeeper // of answers that were refused; nil = none is kept

	mu       sync.Mutex
	wake     map[string]chan time.Duration // by order in progress: after how long it is to look
	keyless  map[string]bool               // those that may go on with unlocked keys
	queue    map[string]bool               // those that wait for another order
	turned   map[string]time.Time          // when it last began something again, by order
	checked  map[string]time.Time          // when it was last looked at to an answer, by order
	lookouts map[string]*lookout           // by order that a provider settles
	streams  int                           // of providers, open now
	looks    looks                         // how often all orders are looked at
	running  sync.WaitGroup
}

// Start advances an order in the background until it is final or ctx ends.
// Starting one that is in progress wakes it.
func (e *Engine) Start(ctx context.Context, id string) { e.start(ctx, id, 0) }

// start is Start after a while.
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
		delete(e.keyless, id)
		delete(e.queue, id)
		delete(e.turned, id)
		delete(e.checked, id)
		delete(e.lookouts, id)
		e.mu.Unlock()
		e.looks.leave(id)
	})
}

// Resume starts orders that an earlier process left, in turn: first those of which
// something is to be signed. One without a record is none.
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
		e.start(ctx, id, inTurn(i))
	}
}

// Wake lets the orders look again that wait for keys, which were unlocked: few of them
// at once, many in turn.
func (e *Engine) Wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := 0
	for id := range e.keyless {
		if c, ok := e.wake[id]; ok {
			wake(c, inTurn(i))
			i++
		}
	}
}

// Wait returns when every order has stopped, which is after ctx ended.
func (e *Engine) Wait() { e.running.Wait() }

// wake has an order look after a while, or sooner if it is to do that already. e.mu is
// held.
func wake(c chan time.Duration, after time.Duration) {
	select {
	case earlier := <-c:
		after = min(after, earlier)
	default:
	}
	c <- after
}

// run is the only loop: look, rest. While an order rests, which is nearly always,
// nothing of it is in memory but what wakes it; what looks at it, and holds copies of it
// meanwhile, is apart, so that the stack of one that rests is small.
func (e *Engine) run(ctx context.Context, id string, woken <-chan time.Duration) {
	ctx, cancel := context.WithCancel(ctx) // ends its provider's stream too
	defer cancel()
	select {
	case after := <-woken: // its turn after a restart
		_ = rest(ctx, after, woken)
	default:
	}
	s := stretch{still: e.Now()}
	for ctx.Err() == nil {
		pause, ended := e.look(ctx, id, &s)
		switch {
		case ended:
			return
		case pause != atOnce && rest(ctx, pause, woken):
			s.still = e.Now()
		}
	}
}

// A stretch is since when an order made no progress, and how far it went.
type stretch struct {
	still    time.Time
	furthest int
}

// atOnce is no pause, not even for a turn.
const atOnce time.Duration = -1

// look reads an order, makes one move, records it, tells, and says when to look again,
// or that it has ended. Only progress is followed up at once. Without it the pauses grow,
// whatever else there is to record: what a provider says may change for ever. They also
// grow over progress that only makes up for a step back, as a fresh quote is: it is used
// at once, or it would be old again, and there is none for a while then.
func (e *Engine) look(ctx context.Context, id string, s *stretch) (pause time.Duration, ended bool) {
	o, err := e.Journal.Get(id)
	if err == nil && o.State.Final() {
		return 0, true
	}
	advanced, read := false, err == nil
	if read {
		advanced, err = e.guarded(ctx, &o)
	}
	o.ID = id // also of one that cannot be read
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

// pause is how long an order that made no progress since then rests.
func (e *Engine) pause(o Order, read bool, still time.Time) time.Duration {
	e.mu.Lock()
	if e.keyless == nil {
		e.keyless = make(map[string]bool)
	}
	delete(e.keyless, o.ID)
	if read && o.needsKeys() {
		e.keyless[o.ID] = true
	}
	e.mu.Unlock()
	alone := e.Pause(e.Now().Sub(o.watchedSince(still)))
	if !read {
		e.looks.leave(o.ID)
		return alone
	}
	return e.looks.pause(o.ID, alone, o.share())
}

// rest waits for as long, or less where the order is woken, which it reports.
func rest(ctx context.Context, pause time.Duration, woken <-chan time.Duration) (early bool) {
	end := fault.Now().Add(pause)
	for {
		t := fault.NewTimer(end.Sub(fault.Now()))
		select {
		case <-ctx.Done():
			t.Stop()
			return early
		case after := <-woken:
			early, end = true, earlier(end, fault.Now().Add(after))
		case <-t.C:
			return early
		}
		t.Stop()
	}
}

// watchedSince is since when o made no progress, if that is known from still: all
// that a reported order waits for may never happen, whatever wakes it.
func (o Order) watchedSince(still time.Time) time.Time {
	if o.reported() {
		return earlier(still, o.Created)
	}
	return still
}

// progress grows with how far o has come.
func (o Order) progress() int {
	n := 2*o.Step + slices.IndexFunc(table, func(r row) bool { return r.State == o.State })
	if o.Sending != (common.Hash{}) {
		n++
	}
	return n
}

// guarded is move, with a panic made an error: one order that this program
// cannot handle must not stop the others, now and at every start.
func (e *Engine) guarded(ctx context.Context, o *Order) (advanced bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			advanced, err = false, fmt.Errorf("panic in state %s: %v", o.State, p)
		}
	}()
	return e.move(ctx, o)
}

// move makes one move, records it, and reports whether it [advances] o. A temporary
// failure is not recorded: a lost connection, or a provider's bad moment, must not end
// an order.
func (e *Engine) move(ctx context.Context, o *Order) (advanced bool, err error) {
	before := o.Clone()
	note, err := e.advance(ctx, o)
	var refused *Refusal
	switch {
	case err != nil && e.IsLocked(err):
		note, err = because(KeysLocked), nil
		o.Condition = WaitingForUnlock
	case errors.As(err, &refused) && refused.Code == JournalFailed, errors.Is(err, chain.ErrLedger):
		return false, err // nothing is promised without the journal
	case errors.As(err, &refused) && refused.Code == RecordChanged:
		note, err = o.changed(refused), nil
	case errors.As(err, &refused) && !refused.Code.temporary():
		note, err = e.refuse(ctx, o, refused)
	}
	if err != nil {
		return false, err
	}
	e.check(o.ID)
	e.missing(ctx, o)
	if o.Condition != NeedsConsent {
		o.Proposal = nil
	}
	if same(before, *o) {
		return false, nil
	}
	o.Updated = e.Now()
	err = e.Journal.Update(o, note)
	if errors.Is(err, errHeld) {
		e.Log(*o, err)
		*o = before
		o.Condition, o.Updated = WaitingForAllowance, e.Now()
		e.stand(o.ID)
		if before.Condition == WaitingForAllowance {
			return false, nil
		}
		err = e.Journal.Update(o, waits(WaitingForAllowance))
	}
	if err != nil {
		return false, err
	}
	e.Notify(o.Clone())
	if before.Holds && !o.Holds || o.State.Final() {
		e.callQueue()
	}
	return advances(before, *o), nil
}

// check notes that an order was looked at, and what there is to know of it was known.
func (e *Engine) check(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checked == nil {
		e.checked = make(map[string]time.Time)
	}
	e.checked[id] = e.Now()
}

// dated is o with the time at which it was last looked at.
func (e *Engine) dated(o Order) Order {
	if o.State.Final() {
		return o
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o.Checked = e.checked[o.ID]
	return o
}

// stand puts an order into the queue of those that wait for another one.
func (e *Engine) stand(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queue == nil {
		e.queue = make(map[string]bool)
	}
	e.queue[id] = true
}

// callQueue lets those that wait for another order look again: it let go of an
// allowance, or came to its end.
func (e *Engine) callQueue() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.queue {
		if c, ok := e.wake[id]; ok {
			wake(c, 0)
		}
	}
	clear(e.queue)
}

// advances reports whether a change is one to go on from at once: much of what is worth
// recording is only news.
func advances(a, b Order) bool {
	return a.State != b.State ||
		a.Step != b.Step ||
		a.Offer.ID != b.Offer.ID || // a fresh quote is soon old
		a.Sending != b.Sending || // what is sent is looked for
		!a.Holds && b.Holds || // others wait for the allowance
		len(a.Since) < len(b.Since) || // where a search begins is known, and the step may be signed
		!a.HeadsAt.Equal(b.HeadsAt) // heads are soon old, too
}

// same reports whether nothing worth recording changed.
func same(a, b Order) bool {
	return a.State == b.State && a.Condition == b.Condition && a.Step == b.Step && a.Reason == b.Reason && a.Cancel == b.Cancel &&
		len(a.Results) == len(b.Results) && a.Sending == b.Sending && len(a.Attempts) == len(b.Attempts) && sameBump(a.Bump, b.Bump) && a.Ref == b.Ref && a.Offer.ID == b.Offer.ID &&
		sameSubmission(a.Submission, b.Submission) && a.Holds == b.Holds && samePlan(a.Plan, b.Plan) && sameProposal(a.Proposal, b.Proposal) && sameClaim(a.Claim, b.Claim) && sameSeen(a.Seen, b.Seen) && maps.Equal(a.Since, b.Since) && a.HeadsAt.Equal(b.HeadsAt) && maps.Equal(a.Searched, b.Searched)
}

func sameSubmission(a, b *Submission) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Tries == b.Tries && a.Taken == b.Taken && a.Refused == b.Refused
}

func sameBump(a, b *Bump) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Tier == b.Tier && a.Over == b.Over
}

// samePlan looks at the approvals only: the rest changes with the offer.
func samePlan(a, b Plan) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(a, b Step) bool {
		return a.Kind == b.Kind && (a.Call == nil || b.Call == nil || bytes.Equal(a.Call.Data, b.Call.Data))
	})
}

func sameProposal(a, b *Proposal) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && a.Made.Equal(b.Made)
}

func sameClaim(a, b *Claim) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// refuse ends an order that nothing of was ever signed; one that may have left
// the process goes on being watched, with the reason shown.
//
// With an approval of ours mined, or a reset, a node that says the rest would fail
// may be behind that, or the price may have moved: it is asked again until the
// deadline.
func (e *Engine) refuse(ctx context.Context, o *Order, r *Refusal) (Cause, error) {
	signed, err := e.signed(*o)
	switch {
	case err != nil:
		return untold, err
	case signed:
		c := ofRefusal(Refused, r)
		o.because(c)
		return c.says(r.Error()), nil
	case r.Code == ConsentNeeded:
		return e.propose(ctx, o, r)
	case retried(*o, r):
		e.Log(*o, r)
		c := ofRefusal(RefusedForNow, r).says(r.Reason + "; it is tried again until the deadline")
		o.Condition = NoCondition
		o.because(c)
		return c, nil
	}
	return e.abandon(o, r)
}

// retried reports whether a refusal may be no more than a node that is behind: of two
// that disagree one, and else behind an approval, or a wrap, that o paid for.
func retried(o Order, r *Refusal) bool {
	switch r.Code {
	case WouldRevert:
		return slices.ContainsFunc(o.Results[:min(len(o.Results), o.own())], func(r Result) bool { return !r.Skipped })
	case InsufficientFunds:
		return o.Wrapped
	case NodesDisagree:
		return true
	}
	return false
}

// abandon ends an order of which nothing that spends was signed.
func (e *Engine) abandon(o *Order, r *Refusal) (Cause, error) {
	c := ofRefusal(RefusedUnsigned, r)
	o.Condition = NoCondition
	o.because(c)
	o.Verdict = withdrawn(*o, byWithdrawn)
	return c.says("refused before signing: " + r.Error()), o.to(Cancelled)
}

// unspent says why an order that signed() is false of took nothing.
func unspent(o Order) string {
	switch {
	case o.Wrapped:
		return "nothing that spends was signed; " + heldWrapped
	case len(o.Results) > 0:
		return "nothing that spends was signed"
	}
	return "nothing was signed"
}

// heldWrapped is where the input of an order is that wrapped it and did not fill.
const heldWrapped = "the input is held as the wrapped coin"

// signed reports whether anything may be on its way that o must not be left
// alone with: a step that spends the input, or an approval that is not mined
// yet and holds its nonce. Mined approvals and permits do not count: without our
// own call nobody can use them.
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

// stepKey names a step's transaction for the sender: the wrap that goes first by
// itself, so that it is sent once wherever a changed plan has it.
func stepKey(o Order, step int) string {
	if step < len(o.Plan.Steps) && o.Terms.wrapsFirst(o.Plan.Steps[step].Effect) {
		return wrapKey(o)
	}
	return fmt.Sprintf("%s/%d", o.ID, step)
}

func wrapKey(o Order) string { return o.ID + "/wrap" }

// advance makes one move of o by its state. It returns what to note of it.
func (e *Engine) advance(ctx context.Context, o *Order) (Cause, error) {
	switch o.State {
	case Accepted:
		return e.begin(o)
	case Approving, Executing:
		return e.execute(ctx, o)
	case Submitting:
		return e.submit(ctx, o)
	case Settling:
		return e.settling(ctx, o)
	}
	return untold, fmt.Errorf("order %s in state %q", o.ID, o.State)
}

// provider finds an order's provider. One that is no longer configured stops
// new signatures; what was sent is watched without it.
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

// begin leaves the first state.
func (e *Engine) begin(o *Order) (Cause, error) {
	if done, note, err := e.over(o); done {
		return note, err
	}
	if o.Plan.Steps[0].Effect.Kind == Approve {
		return because(BegunApproving), o.to(Approving)
	}
	return because(BegunExecuting), o.to(Executing)
}

// over ends an order that was cancelled or ran out of time before the present
// step, if nothing that spends was signed.
func (e *Engine) over(o *Order) (done bool, note Cause, err error) {
	late := e.Now().After(o.Terms.Deadline)
	if !o.Cancel && !late {
		return false, untold, nil
	}
	signed, err := e.signed(*o)
	if err != nil || signed {
		return err != nil, untold, err
	}
	by, why := byUnsignedLate, because(DeadlinePassed).says("the deadline passed; "+unspent(*o))
	if o.Cancel {
		by, why = byWithdrawn, because(Withdrawn).says("cancelled; "+unspent(*o))
	}
	o.Condition = NoCondition
	if o.Reason == "" {
		o.because(why)
	}
	o.Verdict = withdrawn(*o, by)
	return true, why.says(string(o.Verdict.State)), o.to(o.Verdict.State)
}

// withdrawn is the verdict on an order that took nothing.
func withdrawn(o Order, by string) *Verdict {
	v := verdictBy(by)
	v.Sources = unspent(o)
	return &v
}
