// Package shared stores in Redis the data that the processes of a hosted price API share:
// the newest table, encoded answers, and request counts. Everything there can be recreated,
// and tables and answers are used only if they carry the service's seal.
package shared

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"swapkeep/internal/clock"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Errors that need action by the operator. None repeats the URL, which contains a password.
var (
	ErrURL      = errors.New("the Redis URL cannot be read; write it as redis://:password@host:6379/0, rediss://… or unix://:password@/path")
	ErrPassword = errors.New("the Redis URL has no password; set requirepass or a user in Redis and put it into the URL, or use a Unix socket")
	ErrPlain    = errors.New("Redis off this machine is reached by TLS with a checked certificate only; write its URL as rediss://")
	// ErrDown means that Redis failed a moment ago and is not called for now.
	ErrDown = errors.New("redis did not answer a moment ago")
)

// Limits of calls. A request waits for Redis at most quick; after a failure Redis is not
// called until the pause has passed.
const (
	requestTimeout = 250 * time.Millisecond
	tableTimeout   = 3 * time.Second // for tables
	downPause      = time.Second
	poolSize       = 32
)

// Options of Open.
type Options struct {
	URL string
	// Secret is known only to the processes of the service; at least 32 bytes.
	Secret []byte
	// Prefix is the prefix of every key; empty = "swapkeep:prices:".
	Prefix string
	Now    func() time.Time // nil = clock.Now
}

// A Redis is the service's part of a Redis server. It is safe for concurrent use.
type Redis struct {
	client *redis.Client
	prefix string
	seals  seals
	now    func() time.Time

	downUntil atomic.Int64 // do not call Redis before this time, in Unix nanoseconds
}

func init() { logging.Disable() } // errors are returned, so the client's log is not needed

// Open checks the URL without connecting. Errors: ErrURL, ErrPassword, ErrPlain.
func Open(o Options) (*Redis, error) {
	c, err := configure(o.URL)
	if err != nil {
		return nil, err
	}
	if len(o.Secret) < 32 {
		return nil, errors.New("the service has no secret, or one below 32 bytes: a process that polls makes it; start one, or restore the row swapkeep_prices.head")
	}
	r := &Redis{client: redis.NewClient(c), prefix: o.Prefix, seals: newSeals(o.Secret), now: o.Now}
	if r.prefix == "" {
		r.prefix = "swapkeep:prices:"
	}
	if r.now == nil {
		r.now = clock.Now
	}
	return r, nil
}

func configure(url string) (*redis.Options, error) {
	c, err := redis.ParseURL(url)
	if err != nil {
		return nil, ErrURL // the parser's error repeats parts of it
	}
	if c.Network != "unix" {
		host, _, err := net.SplitHostPort(c.Addr)
		ip := net.ParseIP(host)
		own := host == "localhost" || ip != nil && ip.IsLoopback()
		switch {
		case err != nil:
			return nil, ErrURL
		case c.Password == "":
			return nil, ErrPassword
		case c.TLSConfig == nil && !own, c.TLSConfig != nil && c.TLSConfig.InsecureSkipVerify:
			return nil, ErrPlain
		}
	}
	c.ClientName, c.DisableIdentity = "", true
	c.ContextTimeoutEnabled, c.MaxRetries, c.DialerRetries = true, -1, 1
	c.DialTimeout, c.PoolTimeout, c.PoolSize, c.MaxActiveConns = requestTimeout, requestTimeout, poolSize, 2*poolSize
	c.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return c, nil
}

// Close closes the connections.
func (r *Redis) Close() { _ = r.client.Close() }

// do runs f with a time limit unless Redis failed a moment ago. A missing key does not
// count as a failure of Redis.
func (r *Redis) do(ctx context.Context, within time.Duration, f func(context.Context) error) error {
	if r.now().UnixNano() < r.downUntil.Load() {
		return ErrDown
	}
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := f(bounded)
	if err == nil || errors.Is(err, redis.Nil) {
		return err
	}
	var refused redis.Error
	if ctx.Err() == nil && !errors.As(err, &refused) && !errors.Is(err, redis.ErrPoolTimeout) {
		r.downUntil.Store(r.now().Add(downPause).UnixNano())
	}
	return fmt.Errorf("redis: %w", err)
}

// Check reports whether Redis answers and can be written.
func (r *Redis) Check(ctx context.Context) error {
	return r.do(ctx, requestTimeout, func(ctx context.Context) error {
		return r.client.Set(ctx, r.prefix+"probe", "1", time.Minute).Err()
	})
}
