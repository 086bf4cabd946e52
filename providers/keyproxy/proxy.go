// Package keyproxy stands between wallets and the DEX provider's API. Only the proxy holds
// the provider's API key; a wallet has an installation token instead. Endpoints, headers,
// query parameters and top-level fields pass only if they are on allow-lists. The wallet
// vendor's fee is forced into every quote, so that no client decides who is paid.
//
// Errors have the provider's own form, {"errorCode", "detail"}. Codes that begin with Proxy
// are the proxy's:
//
//	ProxyHostRefused 421          the Host header is not one of ours
//	ProxyOriginRefused 403        a browser asked; browsers do not call this
//	ProxyEndpointRefused 403      the path is not on the list
//	ProxyMethodRefused 405        the path is, with another method
//	ProxyUnauthorized 401         no token, or an unknown one
//	ProxyRateLimited 429          share or limit used up; see Retry-After
//	ProxyBusy 503                 the installation, or all, have too many calls under way; see Retry-After
//	ProxyHeaderRefused 400        a header with a value the API would refuse
//	ProxyMediaTypeRefused 415     content-type is not exactly application/json
//	ProxyQueryRefused 400         a query parameter that is not on the list
//	ProxyBodyTooLarge 413         more bytes than Limits.Body
//	ProxyBodyTimeout 408          the body did not arrive in time
//	ProxyBodyRefused 400          the body is not one unambiguous JSON object
//	ProxyFieldRefused 400         a top-level field that is not on the list
//	ProxyFeeRefused 403           another fee than the configured one
//	ProxyUpstreamTimeout 504      the provider was too slow; outcome unknown
//	ProxyUpstreamUnreachable 502  no connection, or lost; outcome unknown
//	ProxyUpstreamRedirect 502     the provider redirects; never followed
//	ProxyUpstreamKeyRefused 502   the provider refuses our key; not the token
//	ProxyUpstreamReplyRefused     a reply that is too long or not JSON, such as a
//	                              page of a CDN: its own status from 400, else 502
//
// Up to ProxyFeeRefused nothing was sent to the provider. Other replies are the provider's
// own, status and body unchanged.
package keyproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// A Config configures a proxy.
type Config struct {
	Upstream string   // base URL of the provider, such as https://host/v1
	Sandbox  bool     // Upstream must be loopback and may be http; else https only
	Key      string   // the provider's API key
	Hosts    []string // allowed Host values, with the port unless it is the scheme's default
	Fee      *Fee     // nil: no fee
	Tokens   []Token
	Limits   Limits
	Log      zerolog.Logger   // gets token names, endpoints and codes; no addresses, no secrets
	Now      func() time.Time // time.Now when nil
}

// Limits bound a proxy. Zero fields take the value of [defaultLimits].
type Limits struct {
	Rate      float64       // calls per second to the provider, all installations together
	Burst     int           // calls at once, all installations together
	Share     float64       // part of Rate that one installation may use, above 0 and up to 1
	Running   int           // concurrent calls; see places for an installation's part
	Bodies    int           // request bodies being read, divided in the same way
	Body      int64         // bytes of a request body
	Reply     int64         // bytes of a provider's reply, after decompression
	BodyTime  time.Duration // time for the request body to arrive
	ReplyTime time.Duration // time for the provider's whole reply
}

// defaultLimits suit the provider's default key: six calls per second.
func defaultLimits() Limits {
	return Limits{Rate: 6, Burst: 6, Share: 0.5, Running: 64, Bodies: 64, Body: 1 << 20, Reply: 4 << 20,
		BodyTime: 5 * time.Second, ReplyTime: 10 * time.Second}
}

func (l Limits) or(d Limits) Limits {
	return Limits{
		Rate: orElse(l.Rate, d.Rate), Burst: orElse(l.Burst, d.Burst), Share: orElse(l.Share, d.Share),
		Running: orElse(l.Running, d.Running), Bodies: orElse(l.Bodies, d.Bodies), Body: orElse(l.Body, d.Body), Reply: orElse(l.Reply, d.Reply),
		BodyTime: orElse(l.BodyTime, d.BodyTime), ReplyTime: orElse(l.ReplyTime, d.ReplyTime),
	}
}

func orElse[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

func (l Limits) check() error {
	if !(l.Rate > 0 && l.Rate <= 1000) || l.Burst < 1 || l.Burst > 1000 || !(l.Share > 0 && l.Share <= 1) ||
		l.Running < 1 || l.Running > 4096 || l.Bodies < 1 || l.Bodies > 4096 || l.Body < 1 || l.Body > 16<<20 || l.Reply < 1 || l.Reply > 16<<20 ||
		l.BodyTime <= 0 || l.BodyTime > time.Minute || l.ReplyTime <= 0 || l.ReplyTime > time.Minute {
		return errors.New("limits: a limit is out of bounds (rate and burst to 1000, share to 1, running and bodies to 4096, body and reply to 16 MiB, times to 1m)")
	}
	return nil
}

// A Proxy is the http.Handler in front of one provider. It is safe for concurrent use.
type Proxy struct {
	config   Config
	gate     *gate
	hosts    map[string]bool
	upstream *upstream
	bodies   *fairSemaphore // being read
	running  *fairSemaphore // calls to the provider
	draining atomic.Bool
	metrics  metrics
	now      func() time.Time
}

// New checks the configuration. It makes no connection. Its errors do not contain the key.
func New(c Config) (*Proxy, error) {
	c.Limits = c.Limits.or(defaultLimits())
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := errors.Join(c.Limits.check(), c.Fee.check(), CheckKey(c.Key)); err != nil {
		return nil, err
	}
	g, err := newGate(c.Tokens, c.Limits)
	if err != nil {
		return nil, err
	}
	up, err := newUpstream(c)
	if err != nil {
		return nil, err
	}
	p := &Proxy{config: c, gate: g, upstream: up, hosts: map[string]bool{}, bodies: newFairSemaphore(c.Limits.Bodies), running: newFairSemaphore(c.Limits.Running), now: c.Now}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/*@ ") {
			return nil, fmt.Errorf("hosts: %q is not a host name with or without a port", h)
		}
		p.hosts[strings.ToLower(h)] = true
	}
	if len(p.hosts) == 0 {
		return nil, errors.New("hosts: name the host that wallets call, such as dex.example.com")
	}
	return p, nil
}

// CheckKey refuses what cannot be an API key. The error does not contain it.
func CheckKey(key string) error {
	if len(key) < 8 || len(key) > 512 || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return errors.New("the api key is missing or malformed: 8 to 512 plain characters without spaces")
	}
	return nil
}

// SetTokens replaces the allowed tokens; an empty list allows nobody. Calls under way are
// still answered. On error nothing changes. It may be repeated.
func (p *Proxy) SetTokens(tokens []Token) error { return p.gate.setTokens(tokens) }

// MaxCallTime is how long a call may take between its headers and its answer.
func (p *Proxy) MaxCallTime() time.Duration {
	return p.config.Limits.BodyTime + p.config.Limits.ReplyTime
}

// Drain makes every further reply close its connection, so that clients move to the next
// process. Requests are still served.
func (p *Proxy) Drain() { p.draining.Store(true) }

// Close drops idle connections to the provider.
func (p *Proxy) Close() { p.upstream.transport.CloseIdleConnections() }

// securityHeaders headers guard against replies being opened in a browser.
var securityHeaders = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// ServeHTTP serves one call, or /health.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range securityHeaders {
		w.Header().Set(name, value)
	}
	if r.TLS != nil {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	if p.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	e, in, refused := p.identify(r)
	if in == nil { // no known token: one answer, then the connection is closed
		w.Header().Set("Connection", "close")
		stopReading(w, r)
	}
	switch {
	case refused != nil:
		p.refused(w, e.name(), "", refused)
	case in == nil:
		p.health(w, r)
	default:
		p.forward(w, r, e, in)
	}
}

// identify returns the endpoint and the installation of a request; both are nil for /health.
func (p *Proxy) identify(r *http.Request) (*endpoint, *install, *refusal) {
	if refused := p.checkHostAndOrigin(r); refused != nil {
		return nil, nil, refused
	}
	if r.URL.Path == "/health" {
		return nil, nil, nil
	}
	e, refused := findEndpoint(r)
	if refused != nil {
		return nil, nil, refused
	}
	in, refused := p.gate.authenticate(r)
	return e, in, refused
}

// stopReading keeps the server from waiting for the rest of a request's body.
func stopReading(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // a writer without deadlines has nothing to wait for
	}
}

// checkHostAndOrigin refuses requests with a foreign Host, or from a browser.
func (p *Proxy) checkHostAndOrigin(r *http.Request) *refusal {
	switch {
	case !p.hosts[strings.ToLower(r.Host)]:
		return refuse(hostRefused, "this proxy does not answer to that host name")
	case len(r.Header.Values("Origin")) != 0:
		return refuse(originRefused, "browsers do not call this proxy")
	}
	return nil
}

func (p *Proxy) health(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet:
		p.refused(w, "none", "", refuse(methodRefused, "health takes GET"))
	case p.draining.Load():
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "draining"})
	default:
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}
}

func (p *Proxy) refused(w http.ResponseWriter, path, install string, r *refusal) {
	p.metrics.count(path, string(r.code))
	level := zerolog.DebugLevel
	if r.httpStatus() >= http.StatusInternalServerError && r.code != busy { // busy stays at debug, since clients cause it at will
		level = zerolog.WarnLevel
	}
	p.config.Log.WithLevel(level).Str("endpoint", path).Str("install", install).
		Str("code", string(r.code)).Int("status", r.httpStatus()).Msg("refused")
	r.write(w)
}

// forward sends a known installation's call to the provider. It takes one of the running
// places only when all that is left is to wait for the provider.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, e *endpoint, in *install) {
	out, err := p.read(w, r, e, in)
	if err == nil {
		if limit := p.gate.reserveCall(in, p.now(), p.running.acquire); limit != nil {
			err = limit
		}
	}
	if err != nil {
		p.refused(w, e.path, in.name, asRefusal(err))
		return
	}
	defer p.running.release(in) // after the reply is written, since the reply takes memory
	start := time.Now()
	reply, err := p.upstream.do(r.Context(), out)
	p.metrics.observe(time.Since(start))
	if err != nil {
		p.refused(w, e.path, in.name, asRefusal(err))
		return
	}
	if reply.status == http.StatusTooManyRequests {
		p.gate.pause(p.now(), reply.after)
	}
	p.metrics.count(e.path, fmt.Sprintf("%dxx", reply.status/100))
	p.config.Log.Debug().Str("endpoint", e.path).Str("install", in.name).Int("status", reply.status).Msg("forwarded")
	reply.write(w)
}

// A call is a checked request, ready for the provider.
type call struct {
	method string
	path   string // with its query
	header http.Header
	body   []byte
}

// read checks the whole request. After it only the call's content is used.
func (p *Proxy) read(w http.ResponseWriter, r *http.Request, e *endpoint, in *install) (*call, error) {
	c, refused := e.head(r)
	var raw []byte
	if refused == nil && e.method == http.MethodPost {
		if refused = p.bodies.acquire(in); refused == nil {
			defer p.bodies.release(in) // after parsing, which is most of the work
			raw, refused = p.body(w, r)
		}
	}
	if refused != nil {
		stopReading(w, r)
		return nil, refused
	}
	if e.method == http.MethodGet {
		return c, nil
	}
	var err error
	c.body, err = e.filter(p.config.Fee, raw)
	return c, err
}

// head checks a request's headers, query and lack of an unexpected body.
func (e *endpoint) head(r *http.Request) (*call, *refusal) {
	h, refused := headers(r)
	if refused != nil {
		return nil, refused
	}
	query, refused := e.parameters(r.URL.RawQuery)
	if refused != nil {
		return nil, refused
	}
	if e.method == http.MethodGet && r.ContentLength != 0 {
		return nil, refuse(bodyRefused, "this call takes no body")
	}
	c := &call{method: e.method, path: e.path, header: h}
	if query != "" {
		c.path += "?" + query
	}
	return c, nil
}

// body reads the request body within its limits.
func (p *Proxy) body(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	control := http.NewResponseController(w)
	// Cleared afterwards, since the server then watches the connection for a disconnect.
	if err := control.SetReadDeadline(time.Now().Add(p.config.Limits.BodyTime)); err != nil {
		return nil, refuse(bodyRefused, "the body cannot be read within a bound")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.config.Limits.Body))
	var tooLarge *http.MaxBytesError
	var slow net.Error
	switch {
	case errors.As(err, &tooLarge):
		return nil, refuse(bodyTooLarge, "the body is above %d bytes", p.config.Limits.Body)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return nil, refuse(bodyTimeout, "the body did not arrive within %s", p.config.Limits.BodyTime)
	case err != nil && !errors.Is(err, context.Canceled):
		return nil, refuse(bodyRefused, "the body ended early")
	case err != nil || control.SetReadDeadline(time.Time{}) != nil:
		return nil, refuse(bodyRefused, "the connection was lost")
	}
	return raw, nil
}
