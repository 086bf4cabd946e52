package pricetable

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Feed holds the newest board and wakes those who wait for the next. It is safe for
// concurrent use.
type Feed struct {
	now atomic.Pointer[Board]

	mu   sync.Mutex
	next chan struct{} // closed by the next Publish
}

// NewFeed returns a feed with an empty board.
func NewFeed() *Feed {
	f := &Feed{next: make(chan struct{})}
	f.now.Store(New(0, time.Time{}, nil))
	return f
}

// Now returns the newest board, never nil.
func (f *Feed) Now() *Board { return f.now.Load() }

// Publish makes b the newest board.
func (f *Feed) Publish(b *Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.Store(b)
	close(f.next)
	f.next = make(chan struct{})
}

// Next returns the newest board and a channel that is closed when a newer one is published.
func (f *Feed) Next() (*Board, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Load(), f.next
}
