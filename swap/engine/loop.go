package engine

import (
	"context"
	"errors"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/swap"
	"swapkeep/swap/journal"
)

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
		case errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}):
			e.Log(swap.Order{ID: id}, err)
		case err == nil && needsKeys(o):
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
// keeps nothing of the order in memory. Polling is a separate function (poll), so that
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
	return e.pause(o, read, s.still), false
}

// pause returns how long an order rests that has made no progress since still.
func (e *Engine) pause(o swap.Order, read bool, still time.Time) time.Duration {
	e.mu.Lock()
	if e.needUnlock == nil {
		e.needUnlock = make(map[string]bool)
	}
	delete(e.needUnlock, o.ID)
	if read && needsKeys(o) {
		e.needUnlock[o.ID] = true
	}
	e.mu.Unlock()
	alone := e.Pause(e.Now().Sub(idleSince(o, still)))
	if !read {
		e.pollLimiter.remove(o.ID)
		return alone
	}
	return e.pollLimiter.pause(o.ID, alone, pollClassOf(o))
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
func idleSince(o swap.Order, still time.Time) time.Time {
	if o.Unproven() {
		return earlier(still, o.Created)
	}
	return still
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
