package keys

import (
	"time"

	"swapkeep/internal/clock"
)

// A Clock provides the time and timers. Only tests replace the system's.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return clock.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return clock.AfterFunc(d, f).Stop
}

// idleCheck is how often an unlocked vault checks the time. Timers stop while the machine
// sleeps, so a single long timer would fire late.
const idleCheck = 30 * time.Second

// An idleTimer tracks the last use of an unlocked vault.
type idleTimer struct {
	last time.Time
	stop func() bool
}

// elapsed returns the longer of the monotonic time, which stops while the machine sleeps,
// and the wall-clock time, which may be set back.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// Touch resets the auto-lock timer of an unlocked vault.
func (v *Vault) Touch() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.unlocked != nil && !v.idled() {
		v.idle.last = v.options.Clock.Now()
	}
}

// AutoLock returns how long the vault stays unlocked without use.
func (v *Vault) AutoLock() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.options.AutoLock
}

// SetAutoLock sets the auto-lock time, also of an unlocked vault: one that has been
// unused for longer locks now. d must be above zero.
func (v *Vault) SetAutoLock(d time.Duration) {
	v.mu.Lock()
	v.options.AutoLock = d
	v.mu.Unlock()
	v.lockIfIdle()
}

// idled reports whether the vault has been unused for the auto-lock time. The caller
// holds v.mu.
func (v *Vault) idled() bool {
	return elapsed(v.idle.last, v.options.Clock.Now()) >= v.options.AutoLock
}

// watchIdle restarts the auto-lock timer. The caller holds v.mu.
func (v *Vault) watchIdle() {
	v.idle.last = v.options.Clock.Now()
	v.wakeLater()
}

func (v *Vault) wakeLater() {
	if v.idle.stop != nil {
		v.idle.stop()
	}
	left := v.options.AutoLock - elapsed(v.idle.last, v.options.Clock.Now())
	v.idle.stop = v.options.Clock.AfterFunc(min(max(left, 0), idleCheck), v.lockIfIdle)
}

// lockIfIdle locks the vault if it has been unused for the auto-lock time.
func (v *Vault) lockIfIdle() {
	v.mu.Lock()
	expired := v.unlocked != nil && v.idled()
	switch {
	case expired:
		v.wipe()
	case v.unlocked != nil:
		v.wakeLater()
	}
	v.mu.Unlock()
	if expired {
		v.notify(Change{Kind: Locked, Idle: true})
	}
}
