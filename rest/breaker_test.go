package rest

import (
	"testing"
	"time"
)

// TestBreaker goes through the states of a breaker by a clock of its own.
func TestBreaker(t *testing.T) {
	now := time.Now()
	b := &breaker{limits: Limits{Failures: 2, Open: time.Minute}}
	refused := func(what string, want bool) {
		t.Helper()
		if left, ok := b.acquire(now); ok == want || left > 0 && !want || left > 66*time.Second {
			t.Errorf("%s: %t, %s left", what, ok, left)
		}
	}
	b.failed(now)
	b.succeeded()
	b.failed(now)
	refused("two failures, not in a row", false)
	b.failed(now)
	refused("two in a row", true)
	b.succeeded()
	b.failed(now)
	b.abandoned()
	refused("calls that began before it opened", true)
	now = now.Add(53 * time.Second)
	refused("too early", true)
	now = now.Add(14 * time.Second)
	refused("the one call", false)
	refused("a second beside it", true)
	b.abandoned()
	refused("in place of an abandoned one", false)
	b.failed(now)
	refused("it failed", true)
	now = now.Add(67 * time.Second)
	refused("the next one call", false)
	b.succeeded()
	refused("closed", false)
	b.failed(now)
	refused("counted anew", false)
	b.failed(now)
	now = now.Add(-time.Hour)
	refused("a clock that was set back", false)
}
