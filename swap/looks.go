package swap

import (
	"sync"
	"time"
)

// mostLooks is how often a second all orders in progress are looked at together. A look
// is a few questions to a network: a thousand orders that each ask every second would use
// up what its endpoints grant, and the wallet with them. Few orders do not notice.
const mostLooks = 10

// looks shares that out, by how often each order would look were it alone.
type looks struct {
	mu    sync.Mutex
	wants map[string]float64 // looks a second, by order
	all   float64
}

// pause is what becomes of the pause that an order would make were it alone.
func (l *looks) pause(id string, alone time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wants == nil {
		l.wants = map[string]float64{}
	}
	want := 1 / max(alone, time.Second).Seconds()
	l.all += want - l.wants[id]
	l.wants[id] = want
	return time.Duration(float64(alone) * max(1, l.all/mostLooks))
}

// leave is for an order that has ended.
func (l *looks) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all -= l.wants[id]
	if delete(l.wants, id); len(l.wants) == 0 {
		l.all = 0 // and not what rounding left
	}
}
