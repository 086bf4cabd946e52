package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"swapkeep/internal/clock"
)

// ErrNotLoopback means that other machines could reach a listen address. The sandbox's
// keys are public and its control endpoint has no authentication.
var ErrNotLoopback = errors.New("the sandbox listens on loopback addresses only")

// A server is an HTTP server on its own loopback port.
type server struct {
	http *http.Server
	addr string
}

// listen serves handler on a free port of host, a loopback IP address.
func listen(ctx context.Context, host string, handler http.Handler) (*server, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("listen address %q: %w", host, ErrNotLoopback)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	s := &server{
		addr: l.Addr().String(),
		http: &http.Server{Handler: localOnly(handler), ReadHeaderTimeout: 10 * time.Second},
	}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// localOnly refuses with 403 what a web page could send: a Host other than localhost or a
// loopback address (DNS rebinding), or any request with an Origin.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip, err := netip.ParseAddr(host)
		local := host == "localhost" || (err == nil && ip.IsLoopback())
		if !local || r.Header.Get("Origin") != "" {
			http.Error(w, "the sandbox answers local programs only", http.StatusForbidden)
			return
		}
		w.Header().Set("Date", clock.Now().UTC().Format(http.TimeFormat)) // clients check our clock against it
		next.ServeHTTP(w, r)
	})
}

// Close stops at once and cuts off held or delayed requests.
func (s *server) Close() error { return s.http.Close() }
