package onchain

import (
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// How long slowly changing data is cached, and how many entries.
const (
	remembered = 6 * time.Hour
	maxKept    = 4 * maxTokens
)

// A memory caches data of one chain.
type memory struct {
	decimals memo[uint8]      // of feeds
	sources  memo[aaveSource] // of Aave's assets
	pools    memo[[]pool]     // of assets
	rest     rest
}

func newMemory() *memory { return &memory{} }

// A memo caches values by address for [remembered]. It is safe for concurrent use.
type memo[V any] struct {
	mu   sync.Mutex
	kept map[common.Address]kept[V]
}

type kept[V any] struct {
	v  V
	at time.Time
}

func (m *memo[V]) get(a common.Address, now time.Time) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[a]
	if age := now.Sub(k.at); !ok || age >= remembered || age < 0 {
		var none V
		return none, false
	}
	return k.v, true
}

func (m *memo[V]) put(a common.Address, v V, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= maxKept {
		m.kept = map[common.Address]kept[V]{} // entries still needed are looked up again
	}
	m.kept[a] = kept[V]{v, now}
}

// Limits of the circuit breaker: after failuresAllowed failures in a row a chain is skipped
// for a pause that doubles.
const (
	failuresAllowed = 2
	firstPause      = time.Minute
	longestPause    = 15 * time.Minute
)

// A rest is a circuit breaker that keeps a failing chain from taking the time of every
// fetch.
type rest struct {
	mu       sync.Mutex
	failures int // in a row
	pause    time.Duration
	since    time.Time
}

// over reports whether the chain may be asked.
func (r *rest) over(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	past := now.Sub(r.since)
	return past >= r.pause || past < 0
}

// record notes the result of asking. After a pause one failure starts the next.
func (r *rest) record(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.failures, r.pause = 0, 0
		return
	}
	if r.failures++; r.failures >= failuresAllowed {
		r.pause, r.since = min(max(2*r.pause, firstPause), longestPause), now
	}
}
