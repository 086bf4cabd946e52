package keys

import (
	"time"

	"swapkeep/fault"
)

// A Clock tells the time and wakes; only tests use another than the system's.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return fault.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return fault.AfterFunc(d, f).Stop
}

// idleCheck is how often an unlocked vault looks at the clock: timers stand
// still while a machine sleeps, so one long timer would fire late.
const idleCheck = 30 * time.Second

// An idleTimer remembers the last use of an unlocked vault.
type idleTimer struct {
	last time.Time
	stop func() bool
}

// elapsed is the longer of the time by the monotonic clock, which stands still
// while the machine sleeps, and by the wall clock, which may be set back.
func elapsed(since, now time.Time) time.Duration {
	return max(now.Sub(since), now.Round(0).Sub(since.Round(0)))
}

// Touch counts as use: an unlocked vault stays so for another AutoLock.
func (v *Vault) Touch() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open != nil && !v.idled() {
		v.idle.last = v.options.Clock.Now()
	}
}

// AutoLock is how long the vault stays unlocked without use.
func (v *Vault) AutoLock() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.options.AutoLock
}

// SetAutoLock changes it, for a vault that is unlocked too: one that has been
// unused for longer locks now. d is above zero.
func (v *Vault) SetAutoLock(d time.Duration) {
	v.mu.Lock()
	v.options.AutoLock = d
	v.mu.Unlock()
	v.lockIfIdle()
}

// idled reports whether the vault has been unused too long; v.mu is held.
func (v *Vault) idled() bool {
	return elapsed(v.idle.last, v.options.Clock.Now()) >= v.options.AutoLock
}

// watchIdle starts over the watch of an unlocked vault; v.mu is held.
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

// lockIfIdle locks a vault that has been unused too long.
func (v *Vault) lockIfIdle() {
	v.mu.Lock()
	expired := v.open != nil && v.idled()
	switch {
	case expired:
		v.wipe()
	case v.open != nil:
		v.wakeLater()
	}
	v.mu.Unlock()
	if expired {
		v.tell(Change{Kind: Locked, Idle: true})
	}
}
