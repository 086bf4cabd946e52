// Package limit limits the request rate of each caller of a simulated API.
package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"swapkeep/internal/clock"
)

// maxKeys limits the number of tracked keys; when it is reached, all are forgotten.
const maxKeys = 1000

// Keys is a rate limiter per key. The zero value is ready to use; its methods may be
// called concurrently.
type Keys struct {
	mu    sync.Mutex
	rates map[string]*rate.Limiter
}

// Allow reports whether a request of the key is within n requests per period, all of
// which may come at once; n = 0 means no limit. A key keeps the rate it was first seen
// with until Reset.
func (k *Keys) Allow(key string, n int, period time.Duration) bool {
	return n <= 0 || k.of(key, n, period).AllowN(clock.Now(), 1)
}

func (k *Keys) of(key string, n int, period time.Duration) *rate.Limiter {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rates == nil || len(k.rates) >= maxKeys {
		k.rates = map[string]*rate.Limiter{}
	}
	if k.rates[key] == nil {
		k.rates[key] = rate.NewLimiter(rate.Limit(float64(n)/period.Seconds()), n)
	}
	return k.rates[key]
}

// Reset forgets all keys.
func (k *Keys) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rates = nil
}
