package keyproxy

import (
	"sync"
	"time"
)

// places are so many of something that installations hold for a while. None holds more
// of them than it leaves free, which is half for one that is alone, and the last quarter
// is for those that hold none. Who finds none is refused and waits by itself, so that
// there is no queue to fill.
type places struct {
	mu   sync.Mutex
	free int
	all  int
	held map[*install]int
}

func newPlaces(n int) *places { return &places{free: n, all: n, held: map[*install]int{}} }

// take takes a place; who was not refused gives it back.
func (p *places) take(in *install) *refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.held[in]; p.free == 0 || held > 0 && p.free <= max(held, p.all/4) {
		full := refuse(busy, "too many calls are under way; try again in a second")
		full.after = time.Second
		return full
	}
	p.held[in]++
	p.free--
	return nil
}

func (p *places) give(in *install) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.held[in]--; p.held[in] == 0 {
		delete(p.held, in)
	}
}

func (p *places) taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all - p.free
}
