package keys

import (
	"context"
	"maps"
	"time"
)

// DefaultPace is the shortest time from the beginning of a try that was wrong to the
// next, whoever makes either. It is the bound on guesses that no number of programs and
// no restart gets around: 9,000 an hour. Longer it may not be: the right password of one
// among 64 connections waits for the 63 others.
const DefaultPace = 400 * time.Millisecond

// A wrong password makes the one who gave it wait besides, by the number of them in a row.
var backoffSteps = []time.Duration{
	0, 0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// forgiven is when mistakes are forgotten, so that those of programs that ended are no
// more than the pace lets in until then.
const forgiven = 10 * time.Minute

// Waits go by the monotonic clock alone, which nobody sets.

// mistakes are an asker's wrong passwords since its last right one.
type mistakes struct {
	wrong int
	since time.Time
}

// left is how long the asker has still to wait.
func (m mistakes) left(now time.Time) time.Duration {
	if m.wrong == 0 {
		return 0
	}
	step := backoffSteps[min(m.wrong, len(backoffSteps))-1]
	return min(step, max(0, step-now.Sub(m.since)))
}

// guesses are all tries of passwords.
type guesses struct {
	by    map[uint64]mistakes // by asker
	paced time.Time           // the beginning of the last try that was not right, or of the process
}

// beginGuess waits for the pace, and takes the try for a wrong one until passed says otherwise:
// what ends in between, the process included, gains nothing. The caller holds the turn.
// Errors: a [*BackoffError] where the asker has to wait for its own mistakes, ctx's.
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

// passed: the password was right.
func (v *Vault) passed(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.guesses.by, askerOf(ctx))
	v.guesses.paced = time.Time{}
}

// failed: the password was wrong.
func (v *Vault) failed(ctx context.Context) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.options.Clock.Now()
	maps.DeleteFunc(v.guesses.by, func(_ uint64, m mistakes) bool { return now.Sub(m.since) >= forgiven })
	v.guesses.by[askerOf(ctx)] = mistakes{v.guesses.by[askerOf(ctx)].wrong + 1, now}
}
