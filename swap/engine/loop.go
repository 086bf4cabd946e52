package engine

import (
	"context"
	"errors"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
)

// An inProgress is an order in progress, and what the engine knows of it that is not in the
// journal: it is lost with the process. Engine.mu guards all but id.
type inProgress struct {
	id         string
	wake       chan time.Duration // takes the delay until its next poll; nil = its loop does not run
	needUnlock bool               // it may continue once the keys are unlocked
	queued     bool               // it waits for another order
	restarted  time.Time          // when it last restarted; see mayRestart
	polledAt   time.Time          // when it was last polled without error
	settlement *settlementWatch   // of an order that a provider settles
	reached    map[uint64]uint64  // by chain, the last block searched for its end; replaced, never changed
}

// inProgress returns what is known of an order, and begins to know it if nothing is. e.mu is
// held.
func (e *Engine) inProgress(id string) *inProgress {
	p := e.orders[id]
	if p == nil {
		if e.orders == nil {
			e.orders = make(map[string]*inProgress)
		}
		p = &inProgress{id: id}
		e.orders[id] = p
	}
	return p
}

// Start advances an order in the background until it is final or Resume's context ends. If
// it is already in progress, Start wakes it. Before Resume, and once its context has
// ended, it does nothing: the next start of the daemon finds the order in the journal.
func (e *Engine) Start(id string) { e.start(id, 0) }

// start is Start after a delay.
func (e *Engine) start(id string, after time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx := e.ctx
	if ctx == nil || ctx.Err() != nil {
		return
	}
	p := e.inProgress(id)
	if p.wake != nil {
		wake(p, after)
		return
	}
	p.wake = make(chan time.Duration, 1)
	if after > 0 {
		wake(p, after)
	}
	e.running.Go(func() {
		e.run(ctx, p)
		e.mu.Lock()
		delete(e.orders, id)
		e.mu.Unlock()
		e.pollLimiter.remove(p)
	})
}

// Resume starts the orders that an earlier process left, staggered, those that still need
// a signature first, and lets others start until ctx ends. An id without a record is
// logged and skipped.
func (e *Engine) Resume(ctx context.Context, ids []string) {
	e.mu.Lock()
	e.ctx = ctx
	e.mu.Unlock()
	var first, then []string
	for _, id := range ids {
		switch o, err := e.Journal.Get(id); {
		case errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}):
			e.Log(swap.Order{ID: id}, err)
		case err == nil && needsKeys(o):
			first = append(first, id)
		default:
			then = append(then, id)
		}
	}
	for i, id := range append(first, then...) {
		e.start(id, startDelay(i))
	}
}

// Wake polls the orders that wait for unlocked keys, staggered if there are many.
func (e *Engine) Wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := 0
	for _, p := range e.orders {
		if p.needUnlock && wake(p, startDelay(i)) {
			i++
		}
	}
}

// Wait returns when every order has stopped, which happens once ctx has ended.
func (e *Engine) Wait() { e.running.Wait() }

// wake schedules a poll after a delay, or leaves an earlier one, and reports whether p's loop
// runs. e.mu is held.
func wake(p *inProgress, after time.Duration) bool {
	if p == nil || p.wake == nil {
		return false
	}
	select {
	case earlier := <-p.wake:
		after = min(after, earlier)
	default:
	}
	p.wake <- after
	return true
}

// run is an order's loop: poll, then rest. While it rests, nearly all of the time, it
// keeps nothing of the order in memory but p. Polling is a separate function (poll), so that
// the stack of a resting order stays small.
func (e *Engine) run(ctx context.Context, p *inProgress) {
	ctx, cancel := context.WithCancel(ctx) // ends the provider's stream too
	defer cancel()
	select {
	case after := <-p.wake: // its delay after a restart
		_ = sleep(ctx, after, p.wake)
	default:
	}
	s := progress{still: e.Now()}
	for ctx.Err() == nil {
		pause, ended := e.poll(ctx, p, &s)
		switch {
		case ended:
			return
		case pause != atOnce && sleep(ctx, pause, p.wake):
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
func (e *Engine) poll(ctx context.Context, p *inProgress, s *progress) (pause time.Duration, ended bool) {
	o, err := e.Journal.Get(p.id)
	if err == nil && !o.Watched() {
		return 0, true
	}
	advanced, read := false, err == nil
	if read {
		advanced, err = e.moveRecovered(ctx, p, &o)
	}
	o.ID = p.id // also if it could not be read
	if err != nil && !errors.Is(err, journal.ErrStale) {
		e.Log(o, err)
	}
	switch n := o.Position(); {
	case errors.Is(err, journal.ErrStale):
		s.still = e.Now()
		return atOnce, false
	case advanced && n > s.furthest:
		s.still, s.furthest = e.Now(), n
		return atOnce, false
	case advanced:
		return atOnce, false
	}
	return e.pause(p, o, read, s.still), false
}

// pause returns how long an order rests that has made no progress since still.
func (e *Engine) pause(p *inProgress, o swap.Order, read bool, still time.Time) time.Duration {
	e.mu.Lock()
	p.needUnlock = read && needsKeys(o)
	e.mu.Unlock()
	alone := e.Pause(e.Now().Sub(idleSince(o, still)))
	if !read {
		e.pollLimiter.remove(p)
		return alone
	}
	return e.pollLimiter.pause(p, alone, pollClassOf(o))
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

// idleSince returns since when o has made no progress, still if it is neither reported nor
// closed. What such an order waits for may never happen, so its age counts however often it is
// woken.
func idleSince(o swap.Order, still time.Time) time.Time {
	if o.Unproven() || o.State == swap.Closed {
		return earlier(still, o.Created)
	}
	return still
}

// enqueue queues an order that waits for another one.
func (e *Engine) enqueue(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inProgress(id).queued = true
}

// wakeQueue wakes the queued orders after an order released an allowance or ended.
func (e *Engine) wakeQueue() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.orders {
		if p.queued {
			wake(p, 0)
			p.queued = false
		}
	}
}

// markPolled records the time of a poll that ended without error.
func (e *Engine) markPolled(p *inProgress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.polledAt = e.Now()
}

// withPresent returns o with what is not recorded: when it was last polled, and whether its chain
// was shut down.
func (e *Engine) withPresent(o swap.Order) swap.Order {
	if o.State.Final() {
		return o
	}
	_, o.ChainEnded = plan.HasEnded(e.Nodes, o.Terms.SrcChain)
	e.mu.Lock()
	defer e.mu.Unlock()
	o.Checked = time.Time{}
	if p := e.orders[o.ID]; p != nil {
		o.Checked = p.polledAt
	}
	return o
}

// advances reports whether the change from a to b must be followed up at once; much of
// what is recorded is only information.
func advances(a, b swap.Order) bool {
	return a.State != b.State ||
		a.Step != b.Step ||
		a.Offer.ID != b.Offer.ID || // a quote expires soon
		a.CurrentTx != b.CurrentTx || // look for the transaction that was sent
		!a.AllowanceLocked && b.AllowanceLocked || // other orders wait for this allowance
		len(a.SearchFrom) < len(b.SearchFrom) || // the search has its first block, so the step may be signed
		!a.HeadsAt.Equal(b.HeadsAt) // known heads are soon out of date
}
