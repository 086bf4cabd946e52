package keys

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

type clientKey struct{}

// WithClient tags a context with the client that makes the request. Requests are queued
// fairly between clients, and a client's wrong passwords delay only itself. All untagged
// requests count as one client.
func WithClient(ctx context.Context, client uint64) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

func clientOf(ctx context.Context) uint64 {
	client, _ := ctx.Value(clientKey{}).(uint64)
	return client
}

// A fairMutex is a mutex that is fair between clients. Clients are served in rounds, each once
// per round in order of arrival. A client with one request therefore waits for at most
// one request of every other client, however many those queue, and later arrivals do not
// overtake it.
type fairMutex struct {
	mu      sync.Mutex
	locked  bool
	round   uint64 // of the current or last holder
	passes  uint64
	waiting []*ticket
}

type ticket struct {
	client uint64
	round  uint64
	called chan struct{}
}

// lock waits for the turn. It returns ErrHung if one holder keeps it for longer than
// timeout, and waits on as long as holders change.
func (t *fairMutex) lock(ctx context.Context, timeout time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err // the select below could still take the turn
	}
	own := t.enqueue(clientOf(ctx))
	timer := time.NewTicker(timeout)
	defer timer.Stop()
	for seen := t.handovers(); ; {
		select {
		case <-own.called:
			return nil
		case <-ctx.Done():
			t.giveUp(own)
			return ctx.Err()
		case <-timer.C:
			if now := t.handovers(); now != seen {
				seen = now
				continue
			}
			t.giveUp(own)
			return fmt.Errorf("%w: another request is waiting for it", ErrHung)
		}
	}
}

// handovers returns how many times the turn was passed on.
func (t *fairMutex) handovers() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.passes
}

// enqueue appends the client to the next round, or to the first later round in which it has
// no place yet.
func (t *fairMutex) enqueue(client uint64) *ticket {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := &ticket{client, t.round + 1, make(chan struct{})}
	if !t.locked {
		t.locked = true
		close(own.called)
		return own
	}
	for _, other := range t.waiting {
		if other.client == client {
			own.round = other.round + 1
		}
	}
	behind := slices.IndexFunc(t.waiting, func(w *ticket) bool { return w.round > own.round })
	if behind < 0 {
		behind = len(t.waiting)
	}
	t.waiting = slices.Insert(t.waiting, behind, own)
	return own
}

// giveUp removes a ticket from the queue, or passes on the turn if the ticket just got
// it.
func (t *fairMutex) giveUp(own *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, own); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
		return
	}
	t.handOver()
}

func (t *fairMutex) unlock() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handOver()
}

// handOver hands the turn to the next ticket. The caller holds t.mu.
func (t *fairMutex) handOver() {
	if t.locked = len(t.waiting) > 0; !t.locked {
		return
	}
	next := t.waiting[0]
	t.waiting = slices.Delete(t.waiting, 0, 1)
	t.round = next.round
	t.passes++
	close(next.called)
}
