package keys

import (
	"context"
	"maps"
	"time"
)

// DefaultAttemptInterval is the minimum time from the start of a password attempt that was not right
// to the next attempt, across all clients. It bounds guessing to 9,000 attempts an hour
// however many programs take part and however often the daemon is restarted. It cannot be
// longer: with 64 connections, a right password may wait for 63 wrong ones.
const DefaultAttemptInterval = 400 * time.Millisecond

// backoffSteps are the extra pauses of a client after its own wrong passwords, indexed by
// the number of wrong passwords in a row.
var backoffSteps = []time.Duration{
	0, 0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// failuresForgottenAfter is the age at which a client's wrong passwords are forgotten. It bounds the
// map: entries of clients that have ended are no more than the pace allows in this time.
const failuresForgottenAfter = 10 * time.Minute

// All waits use the monotonic clock, which nobody can set.

// failedAttempts counts a client's wrong passwords since its last right one.
type failedAttempts struct {
	count int
	since time.Time
}

// waitLeft returns how long the client still has to wait.
func (m failedAttempts) waitLeft(now time.Time) time.Duration {
	if m.count == 0 {
		return 0
	}
	step := backoffSteps[min(m.count, len(backoffSteps))-1]
	return min(step, max(0, step-now.Sub(m.since)))
}

// unlockThrottle holds the state of password throttling.
type unlockThrottle struct {
	byClient    map[uint64]failedAttempts // by client
	lastAttempt time.Time                 // start of the last attempt that was not right, or of the process
}

// beginAttempt waits until the pace allows another attempt and counts the attempt as wrong
// until passed is called, so ending the request or the process in between gains nothing.
// The caller holds the turn. Errors: [*BackoffError] while the client has to wait for its
// own wrong passwords, and those of ctx.
func (v *Vault) beginAttempt(ctx context.Context) error {
	now := v.options.Clock.Now()
	v.mu.Lock()
	own, pace := v.unlockThrottle.byClient[clientOf(ctx)].waitLeft(now), v.options.AttemptInterval-now.Sub(v.unlockThrottle.lastAttempt)
	v.mu.Unlock()
	if own > 0 {
		return &BackoffError{Left: own}
	}
	if pace = min(pace, v.options.AttemptInterval); pace > 0 {
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
	v.unlockThrottle.lastAttempt = v.options.Clock.Now()
	return nil
}

// attemptSucceeded records that the password was right.
func (v *Vault) attemptSucceeded(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.unlockThrottle.byClient, clientOf(ctx))
	v.unlockThrottle.lastAttempt = time.Time{}
}

// attemptFailed records that the password was wrong.
func (v *Vault) attemptFailed(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.options.Clock.Now()
	maps.DeleteFunc(v.unlockThrottle.byClient, func(_ uint64, m failedAttempts) bool { return now.Sub(m.since) >= failuresForgottenAfter })
	v.unlockThrottle.byClient[clientOf(ctx)] = failedAttempts{v.unlockThrottle.byClient[clientOf(ctx)].count + 1, now}
}
