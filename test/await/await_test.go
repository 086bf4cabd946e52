package await

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// A failing test notes how it ends.
type failing struct {
	testing.TB
	says string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.says = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// until calls Until and returns how the test ends and after what time.
func until(t *testing.T, within time.Duration, is func() bool) (says string, took time.Duration) {
	t.Helper()
	f := &failing{TB: t}
	begun := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Until(f, within, "light", is)
	}()
	<-done
	return f.says, time.Since(begun)
}

func TestWaitsForIt(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 7 * time.Millisecond, time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			says, took := until(t, time.Minute, func() bool { return time.Since(begun) >= after })
			if says != "" || took < after || took > after+after/8+minPause || took > after+maxPause {
				t.Errorf("what is true after %s: %q after %s", after, says, took)
			}
		})
	}
}

func TestFailsAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		says, took := until(t, 5*time.Second, func() bool { looks++; return false })
		if says != "light: not within 5s" || took < 5*time.Second || took > 5*time.Second+maxPause || looks < 100 {
			t.Errorf("%q after %s and %d looks", says, took, looks)
		}
	})
}

// TestLooksOnceMore checks that a condition that becomes true during a look that outlasts the
// limit is seen.
func TestLooksOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		if says, _ := until(t, time.Second, func() bool {
			if looks++; looks == 1 {
				time.Sleep(time.Minute)
			}
			return looks == 2
		}); says != "" {
			t.Error(says)
		}
	})
}
