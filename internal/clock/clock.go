//go:build !faults

// Package clock is the clock by which everything here waits for time to pass, as opposed
// to waiting for a reply. Built with the tag faults, a test may shift it or speed it up;
// releases are built without, and use the system's.
package clock

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Now returns the current time.
func Now() time.Time { return time.Now() }

// NewTimer is time.NewTimer.
func NewTimer(d time.Duration) *time.Timer { return time.NewTimer(d) }

// NewTicker is time.NewTicker.
func NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// After is time.After.
func After(d time.Duration) <-chan time.Time { return time.After(d) }

// AfterFunc is time.AfterFunc.
func AfterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// Wait waits until the limiter allows an event.
func Wait(ctx context.Context, l *rate.Limiter) error { return l.Wait(ctx) }
