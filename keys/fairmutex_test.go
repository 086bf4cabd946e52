package keys

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// order returns the order in which waiting clients get the turn.
func order(t *testing.T, clients ...uint64) (served []uint64) {
	t.Helper()
	var q fairMutex
	if err := q.lock(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	called := make(chan uint64)
	for i, client := range clients {
		go func() {
			if err := q.lock(WithClient(t.Context(), client), time.Minute); err == nil {
				called <- client
			}
		}()
		waitFor(t, &q, i+1)
	}
	for range clients {
		q.unlock()
		served = append(served, <-called)
	}
	q.unlock()
	if q.locked || len(q.waiting) > 0 {
		t.Errorf("left behind: %+v", &q)
	}
	return served
}

// waitFor checks that that many wait once nothing moves. It is called in a bubble.
func waitFor(t *testing.T, q *fairMutex, waiting int) {
	t.Helper()
	synctest.Wait()
	if n := len(q.waiting); n != waiting {
		t.Fatalf("%d wait, want %d", n, waiting)
	}
}

func TestTurnsRotate(t *testing.T) {
	for _, c := range []struct{ come, served []uint64 }{
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}},
		{[]uint64{1, 1, 1, 2}, []uint64{1, 2, 1, 1}},
		{[]uint64{1, 1, 1, 2, 2, 3}, []uint64{1, 2, 3, 1, 2, 1}},
		{[]uint64{7, 7, 7, 7, 8, 9, 8}, []uint64{7, 8, 9, 7, 8, 7, 7}},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := order(t, c.come...); !slices.Equal(got, c.served) {
				t.Errorf("%v come, %v are served", c.come, got)
			}
		})
	}
}

// TestLateClientsDoNotOvertake checks that new clients that arrive later do not overtake, and
// that a client that gives up blocks no other.
func TestLateClientsDoNotOvertake(t *testing.T) {
	var q fairMutex
	_ = q.lock(t.Context(), time.Minute)
	mine := q.enqueue(1)
	for client := range uint64(60) {
		q.enqueue(100 + client)
	}
	q.unlock()
	select {
	case <-mine.called:
	default:
		t.Fatal("who came first is not served first")
	}
	next := q.enqueue(1) // again: behind all that are waiting now, ahead of all later ones
	for client := range uint64(60) {
		q.enqueue(1000 + client)
	}
	for served := 0; ; served++ {
		q.unlock()
		select {
		case <-next.called:
			if served != 60 {
				t.Errorf("%d were served before", served)
			}
			return
		default:
		}
	}
}

// TestSecondRequestOfAClientWaits checks that a client's second concurrent request waits for those
// who have already arrived, and not for clients that keep coming back.
func TestSecondRequestOfAClientWaits(t *testing.T) {
	var q fairMutex
	_ = q.lock(t.Context(), time.Minute)
	q.enqueue(1)
	second := q.enqueue(1)
	for served := 0; ; served++ {
		q.enqueue(100 + uint64(served%2)) // two clients that guess alternately
		q.unlock()
		select {
		case <-second.called:
			return
		default:
			if served > 4 {
				t.Fatal("the second want waits for ever")
			}
		}
	}
}

func TestWaiterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q fairMutex
		_ = q.lock(t.Context(), time.Minute)
		if err := q.lock(t.Context(), time.Millisecond); !errors.Is(err, ErrHung) {
			t.Errorf("too long: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- q.lock(ctx, time.Minute) }()
		waitFor(t, &q, 1)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || len(q.waiting) != 0 {
			t.Errorf("left: %v, %d wait", err, len(q.waiting))
		}
		called := q.enqueue(1) // gets the turn at the moment it gives up
		q.unlock()
		q.giveUp(called)
		if q.locked {
			t.Error("the turn stays with who is gone")
		}
		if err := q.lock(ctx, time.Minute); !errors.Is(err, context.Canceled) || q.locked {
			t.Errorf("one who is gone already: %v", err)
		}
	})
}

// TestMovingQueueIsNotHung checks that a long queue that moves is not treated as a
// hung keychain.
func TestMovingQueueIsNotHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 100 * time.Millisecond
		var q fairMutex
		_ = q.lock(t.Context(), time.Minute)
		for client := range uint64(20) {
			q.enqueue(100 + client)
		}
		done := make(chan error, 1)
		go func() { done <- q.lock(WithClient(t.Context(), 1), timeout) }()
		waitFor(t, &q, 21)
		for range 21 {
			select {
			case err := <-done:
				t.Fatalf("before its turn: %v", err)
			case <-time.After(timeout / 5):
				q.unlock()
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
