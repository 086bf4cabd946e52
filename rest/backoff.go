package rest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxPause bounds how long one reply can hold back all calls of a client.
const maxPause = time.Minute

// sleep waits before exchange n+1 and reports whether there is time for it. The service's
// Retry-After counts if it is longer than the backoff; if it is longer than MaxWait there
// is no further exchange.
func (c *Client) sleep(ctx context.Context, n int, requested time.Duration) bool {
	wait := backoff(c.limits.Backoff, n)
	if requested > wait {
		if requested > c.limits.MaxWait {
			return false
		}
		wait = requested
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// backoff doubles from base and takes a random point in the upper half, so that clients
// that failed together do not retry together.
func backoff(base time.Duration, n int) time.Duration {
	d := base << min(n-1, 6)
	return d/2 + rand.N(d/2+1)
}

// retryAfter reads both forms of the header, seconds and date (RFC 9110 section 10.2.3).
// Invalid values and past dates are zero.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseUint(v, 10, 32); err == nil {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// A pause holds back every call of a client after the service answered 429.
type pause struct {
	mu  sync.Mutex
	end time.Time
}

func (p *pause) until(now time.Time, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if end := now.Add(d); end.After(p.end) {
		p.end = end
	}
}

func (p *pause) left(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.end.Sub(now); left <= maxPause { // else our clock was set back
		return left
	}
	p.end = time.Time{}
	return 0
}
