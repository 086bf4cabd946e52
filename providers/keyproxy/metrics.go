package keyproxy

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// buckets are the histogram's upper bounds, in seconds.
var buckets = [...]float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// A series is one counter. Both labels come from the package's own tables, never from a
// client, so their number is bounded.
type series struct{ endpoint, outcome string }

type metrics struct {
	mu      sync.Mutex
	calls   map[series]uint64
	spread  [len(buckets) + 1]uint64 // the last one counts values above all bounds
	seconds float64
}

func (m *metrics) count(endpoint, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[series]uint64{}
	}
	m.calls[series{endpoint, outcome}]++
}

func (m *metrics) observe(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spread[i]++
	m.seconds += d.Seconds()
}

// text renders all metrics in the Prometheus text format.
func (m *metrics) text(running, installs int) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := []byte("# HELP swapkeep_keyproxy_requests_total Requests by endpoint and outcome.\n# TYPE swapkeep_keyproxy_requests_total counter\n")
	keys := make([]series, 0, len(m.calls))
	for k := range m.calls {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b series) int {
		return cmp.Or(cmp.Compare(a.endpoint, b.endpoint), cmp.Compare(a.outcome, b.outcome))
	})
	for _, k := range keys {
		b = fmt.Appendf(b, "swapkeep_keyproxy_requests_total{endpoint=%q,outcome=%q} %d\n", k.endpoint, k.outcome, m.calls[k])
	}
	b = append(b, "# HELP swapkeep_keyproxy_upstream_seconds Time the provider took.\n# TYPE swapkeep_keyproxy_upstream_seconds histogram\n"...)
	var sum uint64
	for i, n := range m.spread {
		sum += n
		bound := "+Inf"
		if i < len(buckets) {
			bound = strconv.FormatFloat(buckets[i], 'g', -1, 64)
		}
		b = fmt.Appendf(b, "swapkeep_keyproxy_upstream_seconds_bucket{le=%q} %d\n", bound, sum)
	}
	b = fmt.Appendf(b, "swapkeep_keyproxy_upstream_seconds_sum %g\nswapkeep_keyproxy_upstream_seconds_count %d\n", m.seconds, sum)
	b = fmt.Appendf(b, "# HELP swapkeep_keyproxy_running Requests under way.\n# TYPE swapkeep_keyproxy_running gauge\nswapkeep_keyproxy_running %d\n", running)
	return fmt.Appendf(b, "# HELP swapkeep_keyproxy_installations Installations whose token is let in.\n# TYPE swapkeep_keyproxy_installations gauge\nswapkeep_keyproxy_installations %d\n", installs)
}

// Metrics serves GET /metrics in the Prometheus text format. It belongs on a loopback
// listener of its own and answers only requests whose Host is loopback.
func (p *Proxy) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		switch {
		case !isLoopback(host) || len(r.Header.Values("Origin")) != 0:
			refuse(hostRefused, "metrics are read on this machine").write(w)
		case r.URL.Path != "/metrics" || r.Method != http.MethodGet:
			refuse(endpointRefused, "there is only GET /metrics").write(w)
		default:
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_, _ = w.Write(p.metrics.text(p.running.inUse(), len(*p.gate.installs.Load())))
		}
	})
}
