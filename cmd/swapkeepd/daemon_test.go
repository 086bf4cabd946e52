package main

import (
	"testing"
	"time"
)

// A daemon waits for its repair to end, so that the next one does not find it half done.
func TestCloseWaitsForRepair(t *testing.T) {
	d := &daemon{stop: func() {}}
	over, closed := make(chan struct{}), make(chan error)
	d.background.Go(func() { <-over })
	go func() { closed <- d.close() }()
	select {
	case <-closed:
		t.Fatal("it has ended while it repairs")
	case <-time.After(50 * time.Millisecond):
	}
	close(over)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
