//go:build faults

package clock

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// hurried makes the clock run times as fast until the test ends.
func hurried(t *testing.T, times float64) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pace")
	if err := SetPace(path, times); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(Follow(path))
	return path
}

// within checks that what takes from minimum to maximum of real time.
func within(t *testing.T, minimum, maximum time.Duration, what func()) {
	t.Helper()
	began := time.Now()
	what()
	if took := time.Since(began); took < minimum || took > maximum {
		t.Errorf("took %s, want %s to %s", took, minimum, maximum)
	}
}

const late = 10 * time.Second // allowed on a busy machine

// TestPace checks that the clock and timers run at the same pace.
func TestPace(t *testing.T) {
	hurried(t, 600)
	began := Now()
	within(t, 90*time.Millisecond, late, func() { <-After(time.Minute) })
	if passed := Now().Sub(began); passed < time.Minute {
		t.Errorf("%s passed in a minute", passed)
	}
	within(t, 90*time.Millisecond, late, func() {
		tick := NewTicker(30 * time.Second)
		defer tick.Stop()
		<-tick.C
		<-tick.C
	})
	fired := make(chan struct{})
	within(t, 90*time.Millisecond, late, func() {
		AfterFunc(time.Minute, func() { close(fired) })
		<-fired
	})
	if !NewTimer(time.Hour).Stop() {
		t.Error("a timer that has not fired is not stopped")
	}
}

// TestPaceChanges checks that what waits follows the current pace, and that time never
// jumps.
func TestPaceChanges(t *testing.T) {
	path := hurried(t, 1)
	hour := After(time.Hour)
	before := Now()
	if err := SetPace(path, 36000); err != nil {
		t.Fatal(err)
	}
	within(t, 50*time.Millisecond, late, func() { <-hour })
	if err := SetPace(path, 1); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	after := Now()
	if after.Sub(before) < time.Hour {
		t.Errorf("the clock went back to %s after the start", after.Sub(before))
	}
	if passed := Now().Sub(after); passed < 0 || passed > time.Minute {
		t.Errorf("%s passed in a moment", passed)
	}
}

// TestPaceOfLimits checks that limiters follow the faster clock, and refuse what would
// come after a deadline in real time.
func TestPaceOfLimits(t *testing.T) {
	hurried(t, 100)
	l := rate.NewLimiter(rate.Every(10*time.Second), 1)
	within(t, 190*time.Millisecond, late, func() {
		for range 3 {
			if err := Wait(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := Wait(ctx, l); err == nil || ctx.Err() != nil {
		t.Errorf("a turn after the deadline: %v, %v", err, ctx.Err())
	}
}
