package web

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const goodKey = "test-key-not-secret"

// A counter is a Limiter that allows each client n requests.
type counter struct {
	mu      sync.Mutex
	n       int
	fails   bool
	clients []string
}

func (c *counter) Allow(_ context.Context, client string) (Allowance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails {
		return Allowance{}, errors.New("redis is gone")
	}
	c.clients = append(c.clients, client)
	used := 0
	for _, a := range c.clients {
		if a == client {
			used++
		}
	}
	return Allowance{OK: used <= c.n, Limit: c.n, Remaining: c.n - used, RetryAfter: 1500 * time.Millisecond}, nil
}

func keyed() Config {
	c := config()
	c.Keys = func(_ context.Context, key string) (string, bool) {
		return "tester", subtle.ConstantTimeCompare([]byte(key), []byte(goodKey)) == 1
	}
	return c
}

func TestKeys(t *testing.T) {
	s := serve(t, keyed())
	for _, x := range []struct {
		path   string
		header []string
		want   int
	}{
		{pricesPath, nil, 401},
		{pricesPath, []string{keyHeader, "wrong"}, 401},
		{pricesPath, []string{keyHeader, ""}, 401},
		{pricesPath, []string{keyHeader, strings.Repeat("k", maxKey+1)}, 401},
		{pricesPath, []string{keyHeader, goodKey, keyHeader, goodKey}, 401},
		{pricesPath, []string{"Authorization", "Bearer " + goodKey}, 401},
		{pricesPath, []string{keyHeader, goodKey}, 200},
		{Base + "/events?x=1", nil, 401},
		{Base + "/nothing", nil, 401},
		{Base + "/stats", []string{keyHeader, goodKey}, 200},
		{healthPath, nil, 200},
		{docsPath, nil, 200},
		{specPath, nil, 200},
		{"/", nil, 200},
		{"/%61pi/v1/stats", nil, 401},
		{"//api/v1/stats", nil, 404},
	} {
		r := s.get(t, x.path, x.header...)
		if r.status != x.want || (r.status == 401) != (r.header.Get("Www-Authenticate") != "") {
			t.Errorf("%s with %q: %d, want %d", x.path, x.header, r.status, x.want)
		}
		if strings.Contains(r.body, goodKey) {
			t.Error("the key is repeated")
		}
	}
}

func TestRateLimit(t *testing.T) {
	c, limit := keyed(), &counter{n: 2}
	c.Limiter = limit
	s := serve(t, c)
	for i, want := range []int{200, 200, 429, 429} {
		r := s.get(t, pricesPath, keyHeader, goodKey)
		if r.status != want || r.header.Get("Ratelimit-Limit") != "2" || r.header.Get("Ratelimit-Remaining") != []string{"1", "0", "0", "0"}[i] || want == 429 && r.header.Get("Retry-After") != "2" {
			t.Errorf("request %d: %d %v", i, r.status, r.header)
		}
	}
	for i, want := range []int{401, 401, 429} { // guessed keys are counted too
		if r := s.get(t, pricesPath, keyHeader, "guess"); r.status != want {
			t.Errorf("guess %d: %d, want %d", i, r.status, want)
		}
	}
	if r := s.get(t, docsPath); r.status != 200 {
		t.Errorf("the documentation is %d", r.status)
	}
	if slices.Contains(limit.clients, "key:guess") || !slices.Contains(limit.clients, "key:tester") || !slices.Contains(limit.clients, "address:127.0.0.1") {
		t.Errorf("counted are %q", limit.clients)
	}
	limit.fails = true
	if r := s.get(t, pricesPath, keyHeader, goodKey); r.status != 503 || into[Problem](t, r).Type != noCount.urn() || strings.Contains(r.body, "redis is") {
		t.Errorf("without a count: %d %s", r.status, r.body)
	}
}

func TestForwarded(t *testing.T) {
	c := config()
	c.TrustForwarded = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		peer  string
		lines []string
		want  string
	}{
		{"203.0.113.9:1", nil, "203.0.113.9"},
		{"203.0.113.9:1", []string{"198.51.100.7"}, "203.0.113.9"}, // not a trusted proxy
		{"10.0.0.1:1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1:1", []string{"1.2.3.4, 198.51.100.7"}, "198.51.100.7"}, // written by the client itself
		{"10.0.0.1:1", []string{"1.2.3.4", "198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{"10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"10.0.0.1:1", []string{"198.51.100.7, nonsense"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"1.2.3.4, 198.51.100.7:4711"}, "198.51.100.7"}, // with the client's port
		{"10.0.0.1:1", []string{"[2001:db8:1:2::9]:4711, 10.0.0.2:80"}, "2001:db8:1:2::/64"},
		{"10.0.0.1:1", []string{"198.51.100.7:99999"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"10.0.0.1:1", nil, "10.0.0.1"},
		{"[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"[fd00::1]:1", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"[2001:db8:1:2::9]:1", nil, "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1", nil, "fe80::/64"},
		{"pipe", nil, "unknown"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = x.peer, x.lines
		if got := a.address(r); got != x.want {
			t.Errorf("%s with %q is %s, want %s", x.peer, x.lines, got, x.want)
		}
	}
}

func TestHosts(t *testing.T) {
	c := config()
	c.Hosts = []string{"prices.example"}
	s := serve(t, c)
	for host, want := range map[string]int{"prices.example": 200, s.address: 421, "prices.example:80": 421, "PRICES.example": 421, "x.prices.example": 421} {
		if r := s.get(t, pricesPath, "Host", host); r.status != want {
			t.Errorf("%s: %d, want %d", host, r.status, want)
		}
	}
	s = serve(t, config())
	_, port, _ := strings.Cut(s.address, ":")
	for host, want := range map[string]int{"localhost:" + port: 200, "[::1]:" + port: 200, "127.0.0.1:" + port: 200, "127.0.0.1": 421, "prices.example": 421} {
		if r := s.get(t, pricesPath, "Host", host); r.status != want {
			t.Errorf("%s: %d, want %d", host, r.status, want)
		}
	}
	a, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, pricesPath, nil))
	if w.Code != 421 {
		t.Errorf("before it is known what it is called, a request is %d", w.Code)
	}
}

// TestOriginForm: an origin that no browser would send as it is written is refused where
// it is configured.
func TestOriginForm(t *testing.T) {
	for _, o := range []string{"https://app.example", "http://127.0.0.1:3000", "http://[::1]:8080", "https://app.example:8443"} {
		if err := checkOrigin(o); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []string{"", "null", "*", "https://*.example", "https://app*example", "https://app.example/", "https://App.example", "https://app.example:443", "http://app.example:80", "https://app.example:", "ftp://app.example", "https://a b.example", "https://user@app.example"} {
		if checkOrigin(o) == nil {
			t.Errorf("%q is taken", o)
		}
	}
}

func TestOrigins(t *testing.T) {
	c := config()
	c.Origins = []string{"https://app.example"}
	s := serve(t, c)
	const friend = "https://app.example"
	for _, x := range []struct {
		header []string
		want   int
		allow  string
	}{
		{[]string{"Origin", friend}, 200, friend},
		{[]string{"Origin", friend, "Sec-Fetch-Site", "cross-site"}, 200, friend},
		{[]string{"Origin", "https://app.example.attacker.example"}, 403, ""},
		{[]string{"Origin", "http://app.example"}, 403, ""},
		{[]string{"Origin", friend, "Origin", "https://attacker.example"}, 403, ""},
		{[]string{"Origin", s.url}, 200, ""},
		{[]string{"Sec-Fetch-Site", "same-origin"}, 200, ""},
		{[]string{"Sec-Fetch-Site", "none"}, 200, ""},
		{[]string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{[]string{"Sec-Fetch-Site", "same-site"}, 403, ""},
		{nil, 200, ""},
	} {
		r := s.get(t, pricesPath, x.header...)
		if r.status != x.want || r.header.Get("Access-Control-Allow-Origin") != x.allow || r.header.Get("Vary") != "Origin" || r.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%q: %d %v", x.header, r.status, r.header)
		}
	}
	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for path, want := range map[string]int{docsPath: 200, pricesPath: 403, specPath: 403, "/": 403} {
		if r := s.get(t, path, link...); r.status != want {
			t.Errorf("a link to %s: %d, want %d", path, r.status, want)
		}
	}
	r := s.ask(t, http.MethodOptions, pricesPath, "Origin", friend, "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "x-api-key")
	if r.status != 204 || r.header.Get("Access-Control-Allow-Origin") != friend || !strings.Contains(r.header.Get("Access-Control-Allow-Headers"), keyHeader) {
		t.Errorf("preflight: %d %v", r.status, r.header)
	}
	for _, header := range [][]string{{"Origin", friend}, {"Origin", s.url, "Access-Control-Request-Method", "GET"}, nil} {
		if r := s.ask(t, http.MethodOptions, pricesPath, header...); r.status != 405 || r.header.Get("Allow") != readMethods {
			t.Errorf("OPTIONS with %q: %d", header, r.status)
		}
	}
}
