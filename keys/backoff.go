package keys

import (
	"context"
	"maps"
	"time"
)

// DefaultPace is the minimum time from the start of a password attempt that was not right
// to the next attempt, across all clients. It bounds guessing to 9,000 attempts an hour
// however many programs take part and however often the daemon is restarted. It cannot be
// longer: with 64 connections, a right password may wait for 63 wrong ones.
const DefaultPace = 400 * time.Millisecond

// backoffSteps are the extra pauses of a client after its own wrong passwords, indexed by
// the number of wrong passwords in a row.
var backoffSteps = []time.Duration{
	0, 0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// forgiven is the age at which a client's wrong passwords are forgotten. It bounds the
// map: entries of clients that have ended are no more than the pace allows in this time.
const forgiven = 10 * time.Minute

// All waits use the monotonic clock, which nobody can set.

// mistakes counts a client's wrong passwords since its last right one.
type mistakes struct {
	wrong int
	since time.Time
}

// left returns how long the client still has to wait.
func (m mistakes) left(now time.Time) time.Duration {
	if m.wrong == 0 {
		return 0
	}
	step := backoffSteps[min(m.wrong, len(backoffSteps))-1]
	return min(step, max(0, step-now.Sub(m.since)))
}

// guesses holds the state of password throttling.
type guesses struct {
	by    map[uint64]mistakes // by client
	paced time.Time           // start of the last attempt that was not right, or of the process
}

// beginGuess waits until the pace allows another attempt and counts the attempt as wrong
// until passed is called, so ending the request or the process in between gains nothing.
// The caller holds the turn. Errors: [*BackoffError] while the client has to wait for its
// own wrong passwords, and those of ctx.
func (v *Vault) beginGuess(ctx context.Context) error {
	now := v.options.Clock.Now()
	v.mu.Lock()
	own, pace := v.guesses.by[askerOf(ctx)].left(now), v.options.Pace-now.Sub(v.guesses.paced)
	v.mu.Unlock()
	if own > 0 {
		return &BackoffError{Left: own}
	}
	if pace = min(pace, v.options.Pace); pace > 0 {
		due := make(chan struct{})
		defer v.options.Clock.AfterFunc(pace, func() { close(due) })()
		select {
		case <-due:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.guesses.paced = v.options.Clock.Now()
	return nil
}

// passed records that the password was right.
func (v *Vault) passed(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.guesses.by, askerOf(ctx))
	v.guesses.paced = time.Time{}
}

// failed records that the password was wrong.
func (v *Vault) failed(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.options.Clock.Now()
	maps.DeleteFunc(v.guesses.by, func(_ uint64, m mistakes) bool { return now.Sub(m.since) >= forgiven })
	v.guesses.by[askerOf(ctx)] = mistakes{v.guesses.by[askerOf(ctx)].wrong + 1, now}
}
