// Package limit bounds how often each caller of a simulated API may ask.
package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"swapkeep/fault"
)

// maxKeys bounds how many keys are remembered.
const maxKeys = 1000

// Keys hold how much of its rate each key has left. The zero value is ready for
// use; its methods may be called concurrently.
type Keys struct {
	mu    sync.Mutex
	rates map[string]*rate.Limiter
}

// Allow reports whether the key may ask now, where n requests are allowed in a
// period and at once; 0 = no limit. A key that is remembered keeps the rate that it
// was first seen with until Reset.
func (k *Keys) Allow(key string, n int, period time.Duration) bool {
	return n <= 0 || k.of(key, n, period).AllowN(fault.Now(), 1)
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

// Reset forgets every key.
func (k *Keys) Reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rates = nil
}
