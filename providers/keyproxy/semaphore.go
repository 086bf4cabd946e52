package keyproxy

import (
	"sync"
	"time"
)

// fairSemaphore is a semaphore shared by installations. An installation gets another place only
// while more places are free than it holds, so one alone gets at most half. The last
// quarter goes only to those that hold none. There is no queue that could be filled: a
// caller without a place is refused and retries by itself.
type fairSemaphore struct {
	mu      sync.Mutex
	free    int
	all     int
	inUseBy map[*install]int
}

func newFairSemaphore(n int) *fairSemaphore {
	return &fairSemaphore{free: n, all: n, inUseBy: map[*install]int{}}
}

// acquire takes a place, which give must return, or refuses.
func (p *fairSemaphore) acquire(in *install) *refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if own := p.inUseBy[in]; p.free == 0 || own > 0 && p.free <= max(own, p.all/4) {
		full := refuse(busy, "too many calls are under way; try again in a second")
		full.after = time.Second
		return full
	}
	p.inUseBy[in]++
	p.free--
	return nil
}

func (p *fairSemaphore) release(in *install) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.inUseBy[in]--; p.inUseBy[in] == 0 {
		delete(p.inUseBy, in)
	}
}

func (p *fairSemaphore) inUse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all - p.free
}
