// Package rest is the client for outside HTTP services: https without redirects, a
// deadline for every call, a limit on every body, retries only of what may be repeated, a
// rate limit, a circuit breaker, and errors that carry what the caller decides on but
// never a secret.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"swapkeep/internal/clock"

	"golang.org/x/time/rate"
)

// jsonType is the only media type in use. Some services refuse it with a charset suffix,
// so it is sent without.
const jsonType = "application/json"

// maxConnections bounds the connections to one service; half may be idle.
const maxConnections = 16

// A Config describes one service.
type Config struct {
	Name string // for errors: dex, bridge …
	Base string // absolute URL without query, such as https://host/v1
	// Published is the publicly known base URL; "" = none. What Base has beyond it may be
	// the user's secret, such as a token in the path, and is not recorded.
	Published string
	Reach     Reach // where Base may point; the zero value is the strictest
	// Header is sent with every call.
	Header http.Header
	// Secrets returns headers whose values must stay secret, such as an API key. It is
	// called before each attempt; nil = none are needed. An error ends the call before
	// anything is sent.
	Secrets func(context.Context) (http.Header, error)
	// Temporary, if set, marks further failures as worth an unchanged repetition.
	Temporary func(*Error) bool
	Limits    Limits
	Now       func() time.Time // clock.Now if nil
}

// Limits bound a client. Zero fields take the value of [DefaultLimits].
type Limits struct {
	Attempt  time.Duration // one exchange, including connecting
	Call     time.Duration // a call with all its retries
	Body     int64         // bytes of a reply, after decompression
	Attempts int           // exchanges per call
	Backoff  time.Duration // before the second exchange; doubles, with jitter
	MaxWait  time.Duration // longest Retry-After that is obeyed
	Rate     rate.Limit    // exchanges per second
	Burst    int
	Failures uint          // in a row that open the circuit
	Open     time.Duration // until an open circuit lets a probe through
}

// DefaultLimits suit a service whose answer a person is waiting for.
func DefaultLimits() Limits {
	return Limits{
		Attempt: 10 * time.Second, Call: 25 * time.Second, Body: 4 << 20,
		Attempts: 3, Backoff: 250 * time.Millisecond, MaxWait: 5 * time.Second,
		Rate: 5, Burst: 5, Failures: 5, Open: 10 * time.Second,
	}
}

// WithDefaults returns l with its zero fields taken from d.
func (l Limits) WithDefaults(d Limits) Limits {
	return Limits{
		Attempt: cmp.Or(l.Attempt, d.Attempt), Call: cmp.Or(l.Call, d.Call), Body: cmp.Or(l.Body, d.Body),
		Attempts: cmp.Or(l.Attempts, d.Attempts), Backoff: cmp.Or(l.Backoff, d.Backoff), MaxWait: cmp.Or(l.MaxWait, d.MaxWait),
		Rate: cmp.Or(l.Rate, d.Rate), Burst: cmp.Or(l.Burst, d.Burst), Failures: cmp.Or(l.Failures, d.Failures), Open: cmp.Or(l.Open, d.Open),
	}
}

// A Client calls one service. It is safe for concurrent use.
type Client struct {
	config       Config
	base         *url.URL
	basePatterns []string // patterns for the user's own parts of base, which a [Recorder] hides
	limits       Limits
	now          func() time.Time
	http         *http.Client
	rate         *rate.Limiter
	breaker      *breaker
	pause        pause
}

// New checks the configuration; it opens no connection.
func New(c Config) (*Client, error) {
	base, err := parseBase(c.Base, c.Reach)
	if err != nil {
		return nil, fmt.Errorf("%s: base url: %w", c.Name, err)
	}
	l := c.Limits.WithDefaults(DefaultLimits())
	now := c.Now
	if now == nil {
		now = clock.Now
	}
	return &Client{
		config: c, base: base, basePatterns: privatePatterns(base, c.Published), limits: l, now: now,
		http:    &http.Client{Transport: newTransport(l), CheckRedirect: noRedirect},
		rate:    rate.NewLimiter(l.Rate, l.Burst),
		breaker: &breaker{limits: l},
	}, nil
}

// WithOwnBreaker returns a client of the same service that shares the connections and the rate
// limit but has its own circuit breaker and pause: if the service fails one kind of call,
// or asks to delay it, the other kind still goes through.
func (c *Client) WithOwnBreaker() *Client {
	return &Client{config: c.config, base: c.base, basePatterns: c.basePatterns, limits: c.limits, now: c.now, http: c.http, rate: c.rate, breaker: &breaker{limits: c.limits}}
}

func newTransport(l Limits) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment, // never used for loopback
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    l.Attempt,
		ResponseHeaderTimeout:  l.Attempt,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           maxConnections / 2,
		MaxIdleConnsPerHost:    maxConnections / 2,
		MaxConnsPerHost:        maxConnections,
		IdleConnTimeout:        time.Minute,
	}
}

// noRedirect returns the redirect as the reply, which judge turns into an error.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Call is one request. GET, HEAD and PUT may be repeated; other methods only if the
// caller says that sending the call twice is as good as once.
type Call struct {
	Method     string
	Path       string // appended to the base URL, starting with a slash
	Query      url.Values
	Header     http.Header
	Body       []byte // JSON, sent byte for byte; nil = none
	Repeatable bool

	lines func(*Reply, []byte) error // set by Stream
}

func (c Call) repeatable() bool {
	return c.Repeatable || c.Method == http.MethodGet || c.Method == http.MethodHead || c.Method == http.MethodPut
}

// A Reply is a 2xx answer whose body is JSON by its content type.
type Reply struct {
	Status   int
	Header   http.Header
	Body     []byte
	Received time.Time // by our clock
}

// Skew returns how far the service's clock is ahead of ours by its Date header, which has
// whole seconds; ok is false if there is none.
func (r *Reply) Skew() (skew time.Duration, ok bool) {
	date, err := http.ParseTime(r.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	return date.Sub(r.Received), true
}

// Do sends a call and returns the reply if it is 2xx and JSON. Any other outcome is an
// [*Error], except that the caller's own cancellation is returned as the context's error.
func (c *Client) Do(ctx context.Context, call Call) (*Reply, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, c.limits.Call)
	defer cancel()
	for n := 1; ; n++ {
		reply, err := c.once(ctx, call)
		if err == nil {
			return reply, nil
		}
		if errors.Is(caller.Err(), context.Canceled) {
			return nil, fmt.Errorf("%s: %s %s: %w", c.config.Name, call.Method, call.Path, caller.Err())
		}
		if n >= c.limits.Attempts || !call.repeatable() || !c.retryable(err) || !c.sleep(ctx, n, err.RetryAfter) {
			return nil, err
		}
	}
}

func (c *Client) retryable(e *Error) bool {
	if e.Kind == CircuitOpen || e.Kind == Throttled {
		return false
	}
	return e.Temporary() || c.config.Temporary != nil && c.config.Temporary(e)
}

// once is a single exchange, subject to the rate limit and the circuit breaker.
func (c *Client) once(ctx context.Context, call Call) (*Reply, *Error) {
	if left := c.pause.left(c.now()); left > 0 {
		return nil, c.failed(call, Error{Kind: Throttled, RetryAfter: left, Detail: "the service asked for a pause"})
	}
	if err := clock.Wait(ctx, c.rate); err != nil {
		return nil, c.failed(call, Error{Kind: Throttled, Err: err, Detail: "too many calls at once"})
	}
	secrets, err := c.secrets(ctx)
	if err != nil {
		return nil, c.failed(call, Error{Kind: NoCredentials, Err: err})
	}
	recorderOf(ctx).addSecrets(c.secretPatterns(call, secrets))
	if left, ok := c.breaker.acquire(c.now()); !ok {
		return nil, c.failed(call, Error{Kind: CircuitOpen, RetryAfter: left, Detail: "it failed too often just now"})
	}
	reply, e := c.exchange(ctx, call, secrets)
	c.record(ctx, e)
	if e != nil {
		if e.Err != nil && scrub(e.Err.Error(), secrets) != e.Err.Error() {
			e.Err = errors.New("the reply repeated a secret")
		}
		if e.Status == http.StatusTooManyRequests {
			c.pause.until(c.now(), min(e.RetryAfter, maxPause))
		}
		return nil, c.failed(call, *e)
	}
	return reply, nil
}

// record tells the breaker how the exchange went. Only failures of the service count; a
// probe that the caller cancelled proves nothing, and the next call is a probe again.
func (c *Client) record(ctx context.Context, e *Error) {
	switch {
	case e == nil || e.Kind == BadStatus && e.Status < http.StatusInternalServerError:
		c.breaker.succeeded()
	case !errors.Is(ctx.Err(), context.Canceled):
		c.breaker.failed(c.now())
	default:
		c.breaker.abandoned()
	}
}

func (c *Client) secrets(ctx context.Context) (http.Header, error) {
	if c.config.Secrets == nil {
		return nil, nil
	}
	return c.config.Secrets(ctx)
}

func (c *Client) exchange(ctx context.Context, call Call, secrets http.Header) (*Reply, *Error) {
	longest := c.limits.Attempt
	if call.lines != nil {
		longest = c.limits.Call
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	req, err := c.request(ctx, call, secrets)
	if err != nil {
		return nil, &Error{Kind: Unreachable, Err: err}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	defer res.Body.Close()
	if call.lines != nil && isNDJSON(res) {
		return c.readLines(ctx, res, call)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, c.limits.Body+1))
	switch {
	case err != nil:
		return nil, transportError(ctx, err)
	case int64(len(body)) > c.limits.Body:
		return nil, &Error{Kind: TooLarge, Status: res.StatusCode, Detail: fmt.Sprintf("more than %d bytes", c.limits.Body)}
	}
	recorderOf(ctx).record(call, res.StatusCode, body)
	if e := judge(res, body, secrets, c.now()); e != nil {
		return nil, e
	}
	return &Reply{Status: res.StatusCode, Header: res.Header, Body: body, Received: c.now()}, nil
}

func (c *Client) request(ctx context.Context, call Call, secrets http.Header) (*http.Request, error) {
	u := *c.base
	u.Path += call.Path
	u.RawQuery = call.Query.Encode()
	var body io.Reader
	if call.Body != nil {
		body = bytes.NewReader(call.Body)
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "swapkeep")
	for _, set := range []http.Header{c.config.Header, call.Header, secrets} {
		for name, values := range set {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	req.Header.Set("Accept", jsonType)
	if call.lines != nil {
		req.Header.Set("Accept", ndjsonType+", "+jsonType)
	}
	if call.Body != nil {
		req.Header.Set("Content-Type", jsonType)
	}
	return req, nil
}

// judge returns an error for every reply that is not JSON with a 2xx status.
func judge(res *http.Response, body []byte, secrets http.Header, now time.Time) *Error {
	isJSON := isJSONType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode < 200: // neither success nor failure: the outcome of the call is open
		return &Error{Kind: Unreachable, Err: fmt.Errorf("an answer of status %03d", res.StatusCode)}
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return &Error{Kind: Redirected, Status: res.StatusCode, Detail: "redirects are not followed"}
	case res.StatusCode >= 300:
		e := &Error{Kind: BadStatus, Status: res.StatusCode, JSON: isJSON, RetryAfter: retryAfter(res.Header, now)}
		if isJSON {
			e.Code, e.Detail = readFailure([]byte(scrub(string(body), secrets)), secrets)
		}
		return e
	case !isJSON:
		return &Error{Kind: NotJSON, Status: res.StatusCode, Detail: "content type " + clean(res.Header.Get("Content-Type"), secrets)}
	}
	return nil
}

// isJSONType accepts application/json and application/problem+json, with any parameters.
func isJSONType(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == jsonType || media == "application/problem+json")
}
