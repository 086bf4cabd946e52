package main

import (
	"context"
	"sync"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web"
)

// Bounds of a look at the health. One look serves all who ask within its time: they
// may be strangers.
const (
	healthFor  = time.Second
	healthTime = 2 * time.Second
)

// health looks at what the service stands on.
type health struct {
	now             func() time.Time
	fetched         func() time.Time // when the last fetch ended that the board is of
	database, redis func(context.Context) error
	heard           *heard

	mu   sync.Mutex
	seen web.Health
	at   time.Time
}

// words are what is said of a backend.
func words(name string, err error) string {
	if err != nil {
		return name + ": failing" // why is in the log: strangers read this
	}
	return name + ": ok"
}

// look asks both at once.
func (h *health) look(ctx context.Context) web.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if past := now.Sub(h.at); past >= 0 && past < healthFor {
		return h.seen
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTime) // who asked first may leave
	defer cancel()
	var database, redis error
	var both sync.WaitGroup
	both.Go(func() { database = h.database(ctx) })
	both.Go(func() { redis = h.redis(ctx) })
	both.Wait()
	h.heard.of("postgresql", database)
	h.heard.of("redis", redis)
	fetched := h.fetched()
	fresh := !fetched.IsZero() && now.Sub(fetched) <= pricetable.StaleAfter
	h.seen = web.Health{Status: sum(database == nil, redis == nil, fresh), Database: words("postgresql", database), Cache: words("redis", redis)}
	h.at = h.now()
	return h.seen
}

// sum: without the database the last prices still go out, as long as they are fresh.
func sum(database, redis, fresh bool) web.Status {
	switch {
	case database && redis && fresh:
		return web.Healthy
	case !database && !fresh:
		return web.Unhealthy
	}
	return web.Degraded
}
