package pricetable

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Feed holds the newest table and wakes those who wait for the next. It is safe for
// concurrent use.
type Feed struct {
	now atomic.Pointer[Table]

	mu   sync.Mutex
	next chan struct{} // closed by the next Publish
}

// NewFeed returns a feed with an empty table.
func NewFeed() *Feed {
	f := &Feed{next: make(chan struct{})}
	f.now.Store(New(0, time.Time{}, nil))
	return f
}

// Now returns the newest table, never nil.
func (f *Feed) Now() *Table { return f.now.Load() }

// Publish makes b the newest table.
func (f *Feed) Publish(b *Table) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now.Store(b)
	close(f.next)
	f.next = make(chan struct{})
}

// Next returns the newest table and a channel that is closed when a newer one is published.
func (f *Feed) Next() (*Table, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now.Load(), f.next
}
