package web

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// keyHeader carries an API key.
const keyHeader = "X-API-Key"

// maxKey limits a key's length in bytes.
const maxKey = 256

// authorize requires a key and applies the rate limit, if these are configured. The
// documentation is open and not counted; health is counted, but needs no key.
func (a *API) authorize(w http.ResponseWriter, r *http.Request) *Problem {
	if a.c.Keys == nil && a.c.Limiter == nil || !strings.HasPrefix(r.URL.Path, Base+"/") {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.limits.Backend)
	defer cancel()
	client, known := a.client(ctx, r)
	if p := a.count(ctx, w, client); p != nil {
		return p
	}
	shown := len(r.Header["X-Api-Key"]) > 0
	if a.c.Keys != nil && !known && (shown || !a.c.Keyless) && r.URL.Path != healthPath {
		return keyNeeded.problem("missing or unknown API key").with("Www-Authenticate", `ApiKey header="`+keyHeader+`"`)
	}
	return nil
}

// client names the client: the key's owner, otherwise the address. Requests with an unknown
// key count for their address.
func (a *API) client(ctx context.Context, r *http.Request) (name string, known bool) {
	if keys := r.Header["X-Api-Key"]; a.c.Keys != nil && len(keys) == 1 && keys[0] != "" && len(keys[0]) <= maxKey {
		if owner, ok := a.c.Keys(ctx, keys[0]); ok {
			return "key:" + owner, true
		}
	}
	return "address:" + a.address(r), false
}

func (a *API) count(ctx context.Context, w http.ResponseWriter, client string) *Problem {
	if a.c.Limiter == nil {
		return nil
	}
	allowed, err := a.c.Limiter.Allow(ctx, client)
	if err != nil {
		return noCount.problem("cannot check the rate limit now").after(a.limits.Backend)
	}
	h := w.Header()
	h.Set("Ratelimit-Limit", strconv.Itoa(allowed.Limit))
	h.Set("Ratelimit-Remaining", strconv.Itoa(max(0, allowed.Remaining)))
	if !allowed.OK {
		return tooMany.problem("this client has used up its requests").after(allowed.RetryAfter)
	}
	return nil
}

// address returns the client's address: the last one that was not added by a trusted proxy.
// IPv6 is reduced to the /64 network, because one client has all of it.
func (a *API) address(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "unknown"
	}
	from := at.Addr().Unmap()
	if a.trusted(from) {
		from = a.forwarded(from, r.Header["X-Forwarded-For"])
	}
	if from.Is6() {
		network, _ := from.WithZone("").Prefix(64) // never longer than the address
		return network.String()
	}
	return from.String()
}

// forwarded walks X-Forwarded-For backwards as long as the entry was written by a trusted
// proxy.
func (a *API) forwarded(from netip.Addr, lines []string) netip.Addr {
	hops := strings.Split(strings.Join(lines, ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusted(from); i-- {
		next, ok := hop(strings.TrimSpace(hops[i]))
		if !ok {
			break
		}
		from = next.Unmap()
	}
	return from
}

// hop parses an entry; some proxies include the client's port.
func hop(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a, true
	}
	with, err := netip.ParseAddrPort(text)
	return with.Addr(), err == nil
}

func (a *API) trusted(from netip.Addr) bool {
	for _, p := range a.c.TrustForwarded {
		if p.Contains(from) {
			return true
		}
	}
	return false
}
