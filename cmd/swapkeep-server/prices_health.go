package main

import (
	"context"
	"sync"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web"
)

const (
	// healthCacheTime is how long the result of a check is reused: anybody may request it, and
	// each check uses the database.
	healthCacheTime = time.Second
	// healthTimeout limits a check.
	healthTimeout = 2 * time.Second
)

// health checks the database, Redis and the age of the prices.
type health struct {
	now             func() time.Time
	fetched         func() time.Time // when the current prices were fetched
	served          func() bool      // whether services outside the networks gave any of them, if they may be asked
	database, redis func(context.Context) error
	failures        *failureLog

	mu   sync.Mutex
	last web.Health // the result of the last check
	at   time.Time  // when it was made
}

// backendStatus describes a backend whose check returned err. Anybody can read it, so the
// reason of a failure is only logged.
func backendStatus(name string, err error) string {
	if err != nil {
		return name + ": failing"
	}
	return name + ": ok"
}

// check returns the health of the service. It checks both backends in parallel, unless the
// last check is recent.
func (h *health) check(ctx context.Context) web.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if age := now.Sub(h.at); age >= 0 && age < healthCacheTime {
		return h.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout) // the result is shared, so it must not fail because one client disconnects
	defer cancel()
	var database, redis error
	var wg sync.WaitGroup
	wg.Go(func() { database = h.database(ctx) })
	wg.Go(func() { redis = h.redis(ctx) })
	wg.Wait()
	h.failures.record("postgresql", database)
	h.failures.record("redis", redis)
	fetched := h.fetched()
	fresh := !fetched.IsZero() && now.Sub(fetched) <= pricetable.StaleAfter
	h.last = web.Health{Status: overallStatus(database == nil, redis == nil, fresh, h.served()), Database: backendStatus("postgresql", database), Cache: backendStatus("redis", redis)}
	h.at = h.now()
	return h.last
}

// overallStatus returns the overall status. Without the services outside it is degraded,
// whatever the networks' oracles say: most tokens then have no current price. Without the database the service is degraded while
// its prices are fresh, since it still serves them, and unhealthy afterwards.
func overallStatus(database, redis, fresh, served bool) web.Status {
	switch {
	case database && redis && fresh && served:
		return web.Healthy
	case !database && !fresh:
		return web.Unhealthy
	}
	return web.Degraded
}
