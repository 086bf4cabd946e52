package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	defaultTimeout = 10 * time.Second
	maxEndpoints   = 8      // per network
	maxDepth       = 10_000 // blocks; with more, hardly anything would ever be final
)

// An Endpoint configures one network.
type Endpoint struct {
	Chain uint64
	URLs  []string // in order of preference; none = the network's defaults
	// Depth is how many confirmations count as final, at most 10,000; 0 = the network's
	// own. It may be less than that only in the sandbox or with AllowLoopback.
	Depth uint64
}

// Options configure a MultiClient.
type Options struct {
	// Sandbox allows only loopback URLs; otherwise they are refused, since sandbox chains
	// carry real chain ids.
	Sandbox bool
	// AllowLoopback lists the chains whose loopback URLs are allowed without Sandbox.
	AllowLoopback []uint64
	// Revived lists ended networks that run, on chains of the sandbox; refused without
	// Sandbox.
	Revived []uint64
	Timeout time.Duration // of one request to one endpoint; 0 = 10 s
	HTTP    *http.Client  // nil = a default client; redirects are refused in any case
}

// A MultiClient holds the RPC endpoints of the networks and answers questions about the networks.
// It is safe for concurrent use.
type MultiClient struct {
	sandbox bool
	options Options
	client  *http.Client
	watches gasWatches

	mu    sync.RWMutex
	pools []*pool // a pool is replaced, never changed

	far *MultiClient // networks of which only transactions are read; nil = none
}

// NewMultiClient checks the configuration; it opens no connection. It refuses an
// unknown or repeated chain, a URL that is neither https nor loopback http, and
// loopback or an ended network's revival where o does not allow it.
func NewMultiClient(endpoints []Endpoint, o Options) (*MultiClient, error) {
	if len(o.Revived) > 0 && !o.Sandbox {
		return nil, errors.New("an ended network runs in a sandbox only")
	}
	h := &MultiClient{sandbox: o.Sandbox, options: o, client: newHTTPClient(o)}
	for _, ep := range endpoints {
		if _, err := h.Network(ep.Chain); err == nil {
			return nil, fmt.Errorf("chain %d is configured twice", ep.Chain)
		}
		p, err := h.newPool(ep)
		if err != nil {
			return nil, err
		}
		h.pools = append(h.pools, p)
	}
	return h, nil
}

func (h *MultiClient) newPool(ep Endpoint) (*pool, error) {
	n, err := configured(ep, h.options)
	if err != nil {
		return nil, err
	}
	return h.poolOf(n)
}

// poolOf returns a network's pool.
func (h *MultiClient) poolOf(n Network) (*pool, error) {
	p := &pool{network: n}
	for _, raw := range n.RPC {
		u, err := endpointURL(raw, n.ID, h.options)
		if err != nil {
			return nil, fmt.Errorf("chain %d: %w", n.ID, err)
		}
		e, err := newEndpoint(n.ID, u, h.client, cmp.Or(h.options.Timeout, defaultTimeout))
		if err != nil {
			return nil, err
		}
		p.endpoints = append(p.endpoints, e)
	}
	return p, nil
}

// Replace gives a network other endpoints; none = its defaults. Its other settings stay,
// and requests under way finish at the old endpoints. It opens no connection, and refuses
// what NewMultiClient refuses, leaving everything as it was.
func (h *MultiClient) Replace(id uint64, urls []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.pools, func(p *pool) bool { return p.network.ID == id })
	if i < 0 {
		return fmt.Errorf("chain %d: %w", id, ErrNoNetwork)
	}
	old := h.pools[i].network
	p, err := h.newPool(Endpoint{Chain: id, URLs: urls, Depth: old.Depth})
	if err != nil {
		return err
	}
	h.pools[i] = p
	return nil
}

// configured returns ep's network with ep's settings applied.
func configured(ep Endpoint, o Options) (Network, error) {
	n, ok := NetworkByID(ep.Chain)
	if !ok {
		return n, fmt.Errorf("chain %d: %w", ep.Chain, ErrNoNetwork)
	}
	return withSettings(n, ep, o)
}

// withSettings returns n with ep's settings applied.
func withSettings(n Network, ep Endpoint, o Options) (Network, error) {
	if len(ep.URLs) > 0 {
		n.RPC = slices.Clone(ep.URLs)
	}
	if len(n.RPC) > maxEndpoints {
		return n, fmt.Errorf("chain %d: more than %d rpc urls", n.ID, maxEndpoints)
	}
	local := o.Sandbox || slices.Contains(o.AllowLoopback, n.ID)
	if ep.Depth != 0 {
		if ep.Depth < n.Depth && !local {
			return n, fmt.Errorf("chain %d: a depth of %d is below the network's %d", n.ID, ep.Depth, n.Depth)
		}
		if ep.Depth > maxDepth {
			return n, fmt.Errorf("chain %d: a depth of %d is above %d", n.ID, ep.Depth, maxDepth)
		}
		if ep.Depth < n.Depth { // a local chain's own depth is all it has
			n.Finalized, n.MinAge = false, 0
		}
		n.Depth = ep.Depth
	}
	if slices.Contains(o.Revived, n.ID) {
		n.Ended = time.Time{}
	}
	return n, nil
}

// endpointURL checks an RPC URL. Its errors name the host only: the rest may be an access
// key.
func endpointURL(raw string, chain uint64, o Options) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("malformed rpc url (want https://host/path, no user or fragment)")
	}
	loopback := isLoopback(u.Hostname())
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return nil, fmt.Errorf("rpc url of %s must be https", u.Host)
	case o.Sandbox && !loopback:
		return nil, fmt.Errorf("rpc url of %s is not loopback; a sandbox reaches nothing else", u.Host)
	case loopback && !o.Sandbox && !slices.Contains(o.AllowLoopback, chain):
		return nil, fmt.Errorf("rpc url of %s is loopback; allow it with chains.allow_loopback = [%d]", u.Host, chain)
	}
	return u, nil
}

func isLoopback(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) // 0.0.0.0 reaches this machine too
}

// newHTTPClient returns the HTTP client of all endpoints: no redirects, bounded responses and,
// in the sandbox, no connection to another machine.
func newHTTPClient(o Options) *http.Client {
	client := &http.Client{}
	if o.HTTP != nil {
		*client = *o.HTTP
	}
	base := client.Transport
	if base == nil {
		base = newTransport(o.Sandbox)
	}
	client.Transport = limitTransport{base}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

func newTransport(sandbox bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 5 * time.Second, MaxIdleConnsPerHost: 4, MaxConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if sandbox {
		t.Proxy = nil
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if host, _, err := net.SplitHostPort(address); err != nil || !isLoopback(host) {
				return errors.New("a sandbox reaches loopback only")
			}
			return nil
		}
	}
	return t
}

// limitTransport limits response bodies to maxResponse.
type limitTransport struct{ base http.RoundTripper }

func (b limitTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.base.RoundTrip(r)
	if err == nil {
		resp.Body = limitBody{http.MaxBytesReader(nil, resp.Body, maxResponse), resp.Body}
	}
	return resp, err
}

type limitBody struct {
	io.Reader
	io.Closer
}

// Networks returns the networks that have an endpoint, with what was configured in place
// of their defaults.
func (h *MultiClient) Networks() []Network {
	var all []Network
	for _, p := range h.current() {
		all = append(all, p.network.clone())
	}
	return all
}

// Network returns one of Networks; ErrNoNetwork if it has no endpoint.
func (h *MultiClient) Network(id uint64) (Network, error) {
	p, err := h.pool(id)
	if err != nil {
		return Network{}, err
	}
	return p.network.clone(), nil
}

// Reader returns the endpoints of a network once one of them has proven to serve the
// chain. Errors: ErrNoNetwork, ErrWrongChain, ErrUnreachable.
func (h *MultiClient) Reader(ctx context.Context, id uint64) (Reader, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	if _, err := read(ctx, p, func(ctx context.Context, e *endpoint) (struct{}, error) {
		return struct{}{}, e.check(ctx)
	}); err != nil {
		return nil, err
	}
	return reader{p}, nil
}

// Close ends every gas watch and drops idle connections.
func (h *MultiClient) Close() {
	h.watches.close()
	all := h.current()
	if h.far != nil {
		all = append(all, h.far.current()...)
	}
	for _, p := range all {
		for _, e := range p.endpoints {
			e.rpc.Close()
		}
	}
	if b, ok := h.client.Transport.(limitTransport); ok {
		if t, ok := b.base.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// current returns a snapshot of the pools.
func (h *MultiClient) current() []*pool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Clone(h.pools)
}

func (h *MultiClient) pool(id uint64) (*pool, error) {
	for _, p := range h.current() {
		if p.network.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("chain %d: %w", id, ErrNoNetwork)
}

// runningPool is pool for what makes no sense on a chain that was shut down.
func (h *MultiClient) runningPool(id uint64) (*pool, error) {
	p, err := h.pool(id)
	if err == nil && p.network.HasEnded() {
		return nil, fmt.Errorf("chain %d: %w", id, ErrNetworkEnded)
	}
	return p, err
}

// A pool is one network's endpoints.
type pool struct {
	network   Network
	endpoints []*endpoint
	surveys   survey
}

// order returns the endpoints as they should be tried: the healthy ones as configured,
// then those in backoff, soonest first, and last those that are behind.
func (p *pool) order() []*endpoint {
	type candidate struct {
		e       *endpoint
		rank    int
		retryAt time.Time
	}
	newest := p.newest()
	all := make([]candidate, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i].e = e
		if at, resting := e.backingOff(); resting {
			all[i].rank, all[i].retryAt = 1, at
		}
		if e.behind(newest, p.network) {
			all[i].rank = 2
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.retryAt.Compare(b.retryAt))
	})
	ordered := make([]*endpoint, len(all))
	for i, s := range all {
		ordered[i] = s.e
	}
	return ordered
}

// quorum returns how many hosts must agree before their answer is evidence: two, or one
// where no other is configured.
func (p *pool) quorum() int {
	hosts := make(map[string]bool)
	for _, e := range p.endpoints {
		hosts[e.host] = true
	}
	return min(2, len(hosts))
}

// read asks p's endpoints one after the other until one gives an answer that the others
// would give too: a result, or that a call reverts. One that is behind is asked last, or
// not at all.
func read[T any](ctx context.Context, p *pool, ask func(context.Context, *endpoint) (T, error)) (T, error) {
	p.survey(ctx)
	var errs []error
	for _, e := range p.current() {
		var v T
		_, err := e.do(ctx, func(ctx context.Context) (err error) {
			v, err = ask(ctx, e)
			return err
		})
		if err == nil {
			return v, nil
		}
		if _, isVerdict := reverted(err); isVerdict {
			return v, err
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	var zero T
	return zero, p.failure(errs)
}

// failure combines the errors of all endpoints. A node's own answer takes precedence.
func (p *pool) failure(errs []error) error {
	var ne *nodeError
	for _, err := range errs {
		if errors.As(err, &ne) {
			return fmt.Errorf("chain %d: %w", p.network.ID, err)
		}
	}
	wrong := 0
	for _, err := range errs {
		if errors.Is(err, ErrWrongChain) {
			wrong++
		}
	}
	if wrong == len(errs) && wrong > 0 {
		return fmt.Errorf("chain %d: %w", p.network.ID, errors.Join(errs...))
	}
	return &UnreachableError{Network: p.network.Name, errs: errs}
}
