package shared

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"swapkeep/priceapi/web"

	"github.com/redis/go-redis/v9"
)

// A Rate limits a client's requests: PerSecond is the sustained rate, Burst how many may
// come at once.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Bounds of rates.
const (
	minRate  = 0.001
	maxRate  = 100_000
	maxBurst = 1_000_000
)

// Check rejects rates that cannot be enforced.
func (r Rate) Check() error {
	if !(r.PerSecond >= minRate && r.PerSecond <= maxRate) || r.Burst < 1 || r.Burst > maxBurst {
		return fmt.Errorf("a rate is %g to %d a second, and a burst 1 to %d", minRate, maxRate, maxBurst)
	}
	return nil
}

// interval is the time that a request uses up.
func (r Rate) interval() time.Duration {
	return max(time.Microsecond, time.Duration(float64(time.Second)/r.PerSecond))
}

// keyed is the prefix of clients identified by a key (see [web.Config]).
const keyed = "key:"

// Limiter counts requests of clients across all processes, with one rate for clients with a
// key and another for the others. While Redis is down each process counts by itself. Errors
// are those of Rate.Check.
func (r *Redis) Limiter(withKey, without Rate) (web.Limiter, error) {
	if err := errors.Join(withKey.Check(), without.Check()); err != nil {
		return nil, err
	}
	return &limiter{Redis: r, keyed: withKey, others: without, fullAt: map[string]time.Time{}}, nil
}

type limiter struct {
	*Redis
	keyed, others Rate

	mu     sync.Mutex
	fullAt map[string]time.Time // by client: when its bucket will be full again
}

// tokenBucket is a token bucket with one number per client: when the bucket will be full again,
// in microseconds of Redis' own clock (the generic cell rate algorithm). An impossible
// number is ignored.
var tokenBucket = redis.NewScript(`
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = tonumber(redis.call('GET', KEYS[1]) or '') or now
local limit = now + interval * burst
local function keep() redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000) + 1) end
if not (full >= now) then full = now end
if not (full <= limit) then full = limit; keep() end
local wait = full + interval - limit
if wait > 0 then return {0, 0, math.ceil(wait)} end
full = full + interval
keep()
return {1, math.floor((limit - full) / interval), 0}
`)

// Allow implements [web.Limiter]. It never fails: see Limiter.
func (l *limiter) Allow(ctx context.Context, client string) (web.Allowance, error) {
	rate := l.others
	if strings.HasPrefix(client, keyed) {
		rate = l.keyed
	}
	var reply []int64
	err := l.do(ctx, requestTimeout, func(ctx context.Context) (err error) {
		reply, err = tokenBucket.Run(ctx, l.client, []string{l.prefix + "client:" + hashedName(l.seals.client, client)}, rate.interval().Microseconds(), rate.Burst).Int64Slice()
		return err
	})
	if err != nil || len(reply) != 3 {
		return l.allow(client, rate), nil
	}
	return web.Allowance{OK: reply[0] == 1, Limit: rate.Burst, Remaining: int(reply[1]), RetryAfter: time.Duration(reply[2]) * time.Microsecond}, nil
}

// maxClients limits the clients that a process counts by itself.
const maxClients = 50_000

// allow counts in this process.
func (l *limiter) allow(client string, rate Rate) web.Allowance {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, interval := l.now(), rate.interval()
	limit := now.Add(time.Duration(rate.Burst) * interval)
	full := l.fullAt[client]
	if full.Before(now) {
		full = now
	}
	if full.After(limit) { // the clock was set back
		full = limit
		l.fullAt[client] = full
	}
	full = full.Add(interval)
	if wait := full.Sub(limit); wait > 0 {
		return web.Allowance{Limit: rate.Burst, RetryAfter: wait}
	}
	if _, there := l.fullAt[client]; !there && len(l.fullAt) >= maxClients {
		l.evict(now)
	}
	l.fullAt[client] = full
	return web.Allowance{OK: true, Limit: rate.Burst, Remaining: int(math.Floor(float64(limit.Sub(full)) / float64(interval)))}
}

// evict removes clients with full buckets, then arbitrary ones. It frees a sixteenth at
// once, so that in a crowd of new clients not each one scans the whole map.
func (l *limiter) evict(now time.Time) {
	for client, full := range l.fullAt {
		if !full.After(now) {
			delete(l.fullAt, client)
		}
	}
	for client := range l.fullAt {
		if len(l.fullAt) < maxClients-maxClients/16 {
			break
		}
		delete(l.fullAt, client)
	}
}
