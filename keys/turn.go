package keys

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

type askerKey struct{}

// AskedBy marks a context with the program that asks: what it does with the context
// waits in that program's turn, and its wrong passwords make nobody else wait. Without
// a mark all who ask are one.
func AskedBy(ctx context.Context, asker uint64) context.Context {
	return context.WithValue(ctx, askerKey{}, asker)
}

func askerOf(ctx context.Context) uint64 {
	asker, _ := ctx.Value(askerKey{}).(uint64)
	return asker
}

// A turn is held by one at a time. Askers are served in rounds, each of them once in a
// round and in the order in which they came: whoever waits for one thing waits for no
// more than one of each other asker's, however many those ask for, and is not overtaken
// by those who come later.
type turn struct {
	mu      sync.Mutex
	held    bool
	round   uint64 // of whoever holds it, or held it last
	passes  uint64
	waiting []*ticket
}

type ticket struct {
	asker  uint64
	round  uint64
	called chan struct{}
}

// take waits for the turn as long as others go on: not for one that is held for longer
// than patience.
func (t *turn) take(ctx context.Context, patience time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err // a select might still take the turn
	}
	mine := t.queue(askerOf(ctx))
	timer := time.NewTicker(patience)
	defer timer.Stop()
	for seen := t.passed(); ; {
		select {
		case <-mine.called:
			return nil
		case <-ctx.Done():
			t.giveUp(mine)
			return ctx.Err()
		case <-timer.C:
			if now := t.passed(); now != seen {
				seen = now
				continue
			}
			t.giveUp(mine)
			return fmt.Errorf("%w: another request is waiting for it", ErrHung)
		}
	}
}

// passed is how many times the turn was passed on.
func (t *turn) passed() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.passes
}

// queue gives the asker a place behind all of the next round, or of the first one after it
// in which it has none yet.
func (t *turn) queue(asker uint64) *ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &ticket{asker, t.round + 1, make(chan struct{})}
	if !t.held {
		t.held = true
		close(mine.called)
		return mine
	}
	for _, other := range t.waiting {
		if other.asker == asker {
			mine.round = other.round + 1
		}
	}
	behind := slices.IndexFunc(t.waiting, func(w *ticket) bool { return w.round > mine.round })
	if behind < 0 {
		behind = len(t.waiting)
	}
	t.waiting = slices.Insert(t.waiting, behind, mine)
	return mine
}

// giveUp takes a ticket out of the queue, or passes on the turn that it was just given.
func (t *turn) giveUp(mine *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, mine); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
		return
	}
	t.pass()
}

func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass()
}

// pass calls the next; t.mu is held.
func (t *turn) pass() {
	if t.held = len(t.waiting) > 0; !t.held {
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	t.round = next.round
	t.passes++
	close(next.called)
}
