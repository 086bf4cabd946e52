package main

import (
	"context"
	"sync"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web"
)

// Limits of a health check. One check serves all requests within healthFor, because
// anybody may ask.
const (
	healthFor  = time.Second
	healthTime = 2 * time.Second
)

// health checks what the service depends on.
type health struct {
	now             func() time.Time
	fetched         func() time.Time // end of the fetch that the current prices are from
	database, redis func(context.Context) error
	failures        *failureLog

	mu   sync.Mutex
	seen web.Health
	at   time.Time
}

// words describes a backend.
func words(name string, err error) string {
	if err != nil {
		return name + ": failing" // the reason is in the log only: anybody can read this
	}
	return name + ": ok"
}

// check checks both backends at once.
func (h *health) check(ctx context.Context) web.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if past := now.Sub(h.at); past >= 0 && past < healthFor {
		return h.seen
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTime) // the first client may disconnect
	defer cancel()
	var database, redis error
	var both sync.WaitGroup
	both.Go(func() { database = h.database(ctx) })
	both.Go(func() { redis = h.redis(ctx) })
	both.Wait()
	h.failures.record("postgresql", database)
	h.failures.record("redis", redis)
	fetched := h.fetched()
	fresh := !fetched.IsZero() && now.Sub(fetched) <= pricetable.StaleAfter
	h.seen = web.Health{Status: overallStatus(database == nil, redis == nil, fresh), Database: words("postgresql", database), Cache: words("redis", redis)}
	h.at = h.now()
	return h.seen
}

// overallStatus returns the overall status. Without the database prices are served while fresh.
func overallStatus(database, redis, fresh bool) web.Status {
	switch {
	case database && redis && fresh:
		return web.Healthy
	case !database && !fresh:
		return web.Unhealthy
	}
	return web.Degraded
}
