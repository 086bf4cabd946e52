package main

import (
	"testing"
	"time"
)

// A daemon that has ended changes nothing any more: the next one would find it half done.
func TestCloseWaitsForMending(t *testing.T) {
	d := &daemon{stop: func() {}}
	over, closed := make(chan struct{}), make(chan error)
	d.mending.Go(func() { <-over })
	go func() { closed <- d.close() }()
	select {
	case <-closed:
		t.Fatal("it has ended while it mends")
	case <-time.After(50 * time.Millisecond):
	}
	close(over)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
