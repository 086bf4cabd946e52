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

// maxKey bounds a key that is looked at, in bytes.
const maxKey = 256

// gate asks for a key and counts, where the configuration says so. The documentation
// is open and uncounted; the health is counted, and open to whoever watches.
func (a *API) gate(w http.ResponseWriter, r *http.Request) *Problem {
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
		return keyNeeded.says("the request carries no key that is known here").with("Www-Authenticate", `ApiKey header="`+keyHeader+`"`)
	}
	return nil
}

// client names who asks: the owner of the key, else the address. Who guesses keys is
// counted by address.
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
		return noCount.says("the rate limit cannot be checked now").after(a.limits.Backend)
	}
	h := w.Header()
	h.Set("Ratelimit-Limit", strconv.Itoa(allowed.Limit))
	h.Set("Ratelimit-Remaining", strconv.Itoa(max(0, allowed.Remaining)))
	if !allowed.OK {
		return tooMany.says("this client has used up its requests for now").after(allowed.RetryAfter)
	}
	return nil
}

// address is where a request comes from: the last address that no trusted proxy
// wrote, IPv6 by its network, since one client has all of a /64.
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

// forwarded walks the list of addresses backwards, as long as a trusted proxy wrote
// the entry.
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

// hop reads an entry; some proxies write the client's port too.
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
