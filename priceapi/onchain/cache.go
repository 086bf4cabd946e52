package onchain

import (
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// How long slowly changing data is cached, and how many entries.
const (
	cacheTTL  = 6 * time.Hour
	maxCached = 4 * maxTokens
)

// A chainCache caches data of one chain.
type chainCache struct {
	decimals ttlCache[uint8]      // of feeds
	sources  ttlCache[aaveSource] // of Aave's assets
	pools    ttlCache[[]pool]     // of assets
	breaker  circuitBreaker
}

func newChainCache() *chainCache { return &chainCache{} }

// A ttlCache caches values by address for [cacheTTL]. It is safe for concurrent use.
type ttlCache[V any] struct {
	mu   sync.Mutex
	kept map[common.Address]cached[V]
}

type cached[V any] struct {
	v  V
	at time.Time
}

func (m *ttlCache[V]) get(a common.Address, now time.Time) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.kept[a]
	if age := now.Sub(k.at); !ok || age >= cacheTTL || age < 0 {
		var none V
		return none, false
	}
	return k.v, true
}

func (m *ttlCache[V]) put(a common.Address, v V, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= maxCached {
		m.kept = map[common.Address]cached[V]{} // entries still needed are looked up again
	}
	m.kept[a] = cached[V]{v, now}
}

// Limits of the circuit breaker: after failuresAllowed failures in a row a chain is skipped
// for a pause that doubles.
const (
	failuresAllowed = 2
	firstPause      = time.Minute
	longestPause    = 15 * time.Minute
)

// A circuitBreaker is a circuit breaker that keeps a failing chain from taking the time of every
// fetch.
type circuitBreaker struct {
	mu       sync.Mutex
	failures int // in a row
	pause    time.Duration
	since    time.Time
}

// allows reports whether the chain may be asked.
func (r *circuitBreaker) allows(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	past := now.Sub(r.since)
	return past >= r.pause || past < 0
}

// record notes the result of asking. After a pause one failure starts the next.
func (r *circuitBreaker) record(err error, now time.Time) {
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
