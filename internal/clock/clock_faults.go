//go:build faults

// Package clock is the clock by which everything here waits for time to pass, as opposed
// to waiting for a reply. Built with the tag faults, a test may shift it or speed it up;
// releases are built without, and use the system's.
package clock

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// SWAPKEEP_CLOCK_SHIFT=DURATION shifts the clock; with @FILE, it is shifted by what that
// file says whenever the clock is read. Timers are not affected.
//
// SWAPKEEP_CLOCK_PACE=FILE makes the clock run at another pace, and the timers of this
// package with it. SetPace writes the file, repeatedly if need be.
var (
	shift     time.Duration
	shiftFile string

	paced  atomic.Pointer[pace] // nil = real time
	mutex  sync.Mutex           // guards alarms
	alarms = map[*alarm]struct{}{}
)

// A pace is how fast time passes, and since when.
type pace struct {
	real, simulated time.Time
	rate            float64
}

// paceReadInterval is how often the pace file is read.
const paceReadInterval = time.Millisecond

func init() {
	moved, found := os.Getenv("SWAPKEEP_CLOCK_SHIFT"), false
	if shiftFile, found = strings.CutPrefix(moved, "@"); !found {
		shiftFile = ""
		shift, _ = time.ParseDuration(moved)
	}
	if path := os.Getenv("SWAPKEEP_CLOCK_PACE"); path != "" {
		Follow(path)
	}
}

// Follow makes this process follow the pace in a file, as SWAPKEEP_CLOCK_PACE does, until
// end is called. Timers started before that keep running.
func Follow(path string) (end func()) {
	look := func() {
		p, err := readPace(path)
		if old := paced.Load(); err != nil || old != nil && *old == p {
			return
		}
		paced.Store(&p)
		for _, a := range waiting() {
			a.check()
		}
	}
	look()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(paceReadInterval):
				look()
			}
		}
	}()
	return func() {
		close(stop)
		<-done
		paced.Store(nil)
	}
}

func waiting() []*alarm {
	mutex.Lock()
	defer mutex.Unlock()
	return slices.Collect(maps.Keys(alarms))
}

// SetShift sets how far ahead the clocks that read the file are from now on.
func SetShift(path string, ahead time.Duration) error { return replace(path, ahead.String()) }

// SetPace makes time pass times as fast, from now on, for processes that follow the file.
func SetPace(path string, times float64) error {
	now := time.Now()
	simulated := now
	if old, err := readPace(path); err == nil {
		simulated = old.at(now)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return replace(path, fmt.Sprintf("%d %d %g", now.UnixNano(), simulated.UnixNano(), times))
}

// replace writes a file in one step, since it may be read at any time.
func replace(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func readPace(path string) (pace, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return pace{}, err
	}
	var real, simulated int64
	p := pace{}
	if _, err := fmt.Sscanf(string(text), "%d %d %g", &real, &simulated, &p.rate); err != nil {
		return pace{}, err
	}
	p.real, p.simulated = time.Unix(0, real), time.Unix(0, simulated)
	return p, nil
}

func (p pace) at(now time.Time) time.Time {
	return p.simulated.Add(time.Duration(float64(now.Sub(p.real)) * p.rate))
}

// Now returns the current time by the test's clock.
func Now() time.Time {
	if p := paced.Load(); p != nil {
		return p.at(time.Now())
	}
	if shiftFile == "" {
		return time.Now().Add(shift)
	}
	text, _ := os.ReadFile(shiftFile)
	moved, _ := time.ParseDuration(strings.TrimSpace(string(text)))
	return time.Now().Add(moved)
}

// An alarm fires when our clock reaches a time. It is checked again when the pace
// changes.
type alarm struct {
	mu    sync.Mutex
	at    time.Time
	every time.Duration // 0 = it fires once
	ring  func(time.Time)
	timer *time.Timer
	over  bool
}

func setAlarm(d, every time.Duration, ring func(time.Time)) *alarm {
	a := &alarm{at: Now().Add(d), every: every, ring: ring}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(inReal(d), a.check)
	mutex.Lock()
	defer mutex.Unlock()
	alarms[a] = struct{}{}
	return a
}

// inReal returns how long d by our clock takes in real time at the current pace.
func inReal(d time.Duration) time.Duration {
	if p := paced.Load(); p != nil {
		d = time.Duration(float64(d) / p.rate)
	}
	return max(d, 0)
}

func (a *alarm) check() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	now := Now()
	if late := now.Sub(a.at); late >= 0 {
		a.ring(now)
		if a.every == 0 {
			a.end()
			return
		}
		a.at = now.Add(a.every - late%a.every)
	}
	a.timer.Reset(inReal(a.at.Sub(now)))
}

// end ends the alarm. The caller holds a.mu.
func (a *alarm) end() {
	a.over = true
	a.timer.Stop()
	mutex.Lock()
	defer mutex.Unlock()
	delete(alarms, a)
}

func (a *alarm) stop() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := !a.over
	a.end()
	return was
}

// A Timer is like time.Timer.
type Timer struct {
	C    <-chan time.Time
	stop func() bool
}

// Stop is like time.Timer.Stop.
func (t *Timer) Stop() bool { return t.stop() }

// NewTimer is time.NewTimer by our clock.
func NewTimer(d time.Duration) *Timer {
	if paced.Load() == nil {
		t := time.NewTimer(d)
		return &Timer{t.C, t.Stop}
	}
	return newTimer(d, 0)
}

func newTimer(d, every time.Duration) *Timer {
	c := make(chan time.Time, 1)
	a := setAlarm(d, every, func(now time.Time) {
		select {
		case c <- now:
		default:
		}
	})
	return &Timer{c, a.stop}
}

// NewTicker is time.NewTicker by our clock.
func NewTicker(d time.Duration) *Timer {
	if paced.Load() == nil {
		t := time.NewTicker(d)
		return &Timer{t.C, func() bool { t.Stop(); return true }}
	}
	return newTimer(d, d)
}

// After is time.After by our clock.
func After(d time.Duration) <-chan time.Time { return NewTimer(d).C }

// AfterFunc is time.AfterFunc by our clock.
func AfterFunc(d time.Duration, f func()) *Timer {
	if paced.Load() == nil {
		return &Timer{stop: time.AfterFunc(d, f).Stop}
	}
	return &Timer{stop: setAlarm(d, 0, func(time.Time) { go f() }).stop}
}

// Wait waits until the limiter allows an event by our clock. The context's deadline is in
// real time.
func Wait(ctx context.Context, l *rate.Limiter) error {
	if paced.Load() == nil {
		return l.Wait(ctx)
	}
	now := Now()
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if end, bounded := ctx.Deadline(); bounded && time.Until(end) < inReal(wait) {
		r.CancelAt(now)
		return errors.New("the turn would come after the deadline")
	}
	t := NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		r.CancelAt(Now())
		return ctx.Err()
	}
}
