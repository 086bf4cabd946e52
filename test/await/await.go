// Package await waits in tests for what another goroutine, process or server is about to do.
//
// A condition is looked at in the caller's goroutine, so it may fail the test itself. It is
// looked at at once, and a last time after the limit, so that a busy machine fails no test
// whose condition is true by then. The pauses between two looks are an eighth of the time
// waited so far, from 1 to 50 ms: waiting takes hardly longer than what is waited for. The
// clock is package time's, which is fake in a bubble of testing/synctest.
package await

import (
	"testing"
	"time"
)

// Until looks at is until it is true, and ends the test if it is not within the limit. The
// failure reads "what: not within 5s".
func Until(t testing.TB, within time.Duration, what string, is func() bool) {
	t.Helper()
	if !Holds(within, is) {
		t.Fatalf("%s: not within %s", what, within)
	}
}

// Holds is Until for a caller that has more to say or to do at the end: it returns whether is
// became true within the limit.
func Holds(within time.Duration, is func() bool) bool {
	begun := time.Now()
	for {
		waited := time.Since(begun)
		if is() {
			return true
		}
		if waited > within {
			return false
		}
		time.Sleep(min(max(waited/8, minPause), maxPause))
	}
}

const minPause, maxPause = time.Millisecond, 50 * time.Millisecond
