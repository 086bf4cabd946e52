package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"swapkeep/priceapi/pricetable"
)

// fuzzed returns an API that is called without a connection.
func fuzzed(f *testing.F) *API {
	f.Helper()
	c := config()
	c.Hosts = []string{"here"}
	a, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

// request returns a request as net/http would parse it; nil if it would reject it.
func request(t *testing.T, target string) *http.Request {
	u, err := url.ParseRequestURI(target)
	if err != nil || u.Host != "" || !strings.HasPrefix(target, "/") {
		return nil
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.URL, r.RequestURI, r.Host = u, target, "here"
	return r
}

// FuzzQuery checks that the short path never answers differently than the router, and that
// every query gets a list or a problem.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{
		"", "chain_id=1", "limit=5&offset=2", "limit=0", "limit=1001", "limit=000000001", "limit=0000000001", "chain_id=1&chain_id=1", "chain_id=", "limit",
		"limit=1&", "&limit=1", "limit=%31", "l%69mit=1", "limit=+1", "limit=1;offset=1", "symbols=weth,BNB", "symbols=%E2%82%BF", "addresses=0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
		"offset=999999999", "offset=1000000001", "chain_id=9007199254740992", "symbols=%00", "a=b=c", "%", "limit=1%0a",
	} {
		f.Add(q)
	}
	a := fuzzed(f)
	f.Fuzz(func(t *testing.T, query string) {
		r := request(t, pricesPath+"?"+query)
		if r == nil || strings.Contains(query, "#") {
			return
		}
		long := httptest.NewRecorder()
		a.router.ServeHTTP(long, r)
		switch long.Code {
		case 200:
			l := into[PriceList](t, reply{body: long.Body.String()})
			if len(l.Data) > maxLimit || len(checkQuery(r.URL.RawQuery)) > 0 {
				t.Fatalf("%q gives %d items", query, len(l.Data))
			}
		case 422:
			if p := into[Problem](t, reply{body: long.Body.String()}); len(p.Errors) == 0 || p.Remedy == "" || !utf8.Valid(long.Body.Bytes()) {
				t.Fatalf("%q: %s", query, long.Body)
			}
		default:
			t.Fatalf("%q: %d %s", query, long.Code, long.Body)
		}
		short := httptest.NewRecorder()
		if a.fastPath(short, r) && (short.Code != long.Code || short.Body.String() != long.Body.String() || short.Header().Get("Etag") != long.Header().Get("Etag")) {
			t.Fatalf("%q: the short way answers %d %s\nthe long way %d %s", query, short.Code, short.Body, long.Code, long.Body)
		}
	})
}

var singlePath = regexp.MustCompile(`^/api/v1/tokens/0x[0-9a-fA-F]{40}/price24h$`)

// FuzzPath checks that no path makes the API fail, redirect, or answer with another path's
// price.
func FuzzPath(f *testing.F) {
	for _, p := range []string{
		"/", "/docs", "/openapi.json", healthPath, pricesPath, Base + "/tokens/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2/price24h", Base + "/tokens/0x0/price24h",
		Base + "/tokens/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2/history", "/api/v1/../v1/health", "//", "/%2e%2e/", "/api/v1/tokens/%30xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2/price24h",
		"/api/v1/tokens/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2%2fprice24h", "/docs/start.js", "/docs/", "/api/v1/tokens/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756C%632/price24h?chain_id=1",
	} {
		f.Add(p)
	}
	a := fuzzed(f)
	f.Fuzz(func(t *testing.T, target string) {
		r := request(t, target)
		if r == nil || r.URL.Path == Base+"/events" {
			return
		}
		w := httptest.NewRecorder()
		a.serve(w, r)
		path, _, _ := strings.Cut(target, "?")
		if w.Code >= 300 && w.Code < 400 || w.Code >= 500 || w.Header().Get("Location") != "" {
			t.Fatalf("%q: %d %v", target, w.Code, w.Header())
		}
		if w.Code == 200 && strings.Contains(w.Body.String(), `"price_now":3050`) && !singlePath.MatchString(path) {
			t.Fatalf("%q tells a price", target)
		}
		if address, ok := plainAddress(r.URL.Path); ok && !strings.EqualFold(address.Hex(), r.URL.Path[len(singlePrefix)-2:len(singlePrefix)+40]) {
			t.Fatalf("%q is read as %s", target, address.Hex())
		}
	})
}

// FuzzForwarded checks that any header gives one name, which is an address or a network,
// and that a client that does not come through a trusted proxy cannot choose it.
func FuzzForwarded(f *testing.F) {
	for _, h := range []string{"1.2.3.4", "1.2.3.4, 10.0.0.1", "::1", ",", "[::1]:80", "1.2.3.4:80", "unknown", "::ffff:10.0.0.1", "10.0.0.2,,10.0.0.3", "fe80::1%eth0", "2001:db8::1"} {
		f.Add(h)
	}
	a := fuzzed(f)
	a.c.TrustForwarded = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = "203.0.113.9:4711", []string{header}
		if got := a.address(r); got != "203.0.113.9" {
			t.Fatalf("%q makes it %s", header, got)
		}
		r.RemoteAddr = "10.0.0.1:4711"
		got := a.address(r)
		if _, err := netip.ParseAddr(got); err != nil {
			if network, err := netip.ParsePrefix(got); err != nil || network.Bits() != 64 || network.Masked() != network {
				t.Fatalf("%q makes it %s", header, got)
			}
		}
	})
}

// FuzzHeaders checks the parsing of other headers.
func FuzzHeaders(f *testing.F) {
	f.Add(`W/"a", "b"`, "gzip;q=0.5, br", "https://app.example")
	f.Add(`*`, ";;;", "null")
	f.Add(`W/`, "gzip", "https://*.example")
	f.Fuzz(func(t *testing.T, have, accept, origin string) {
		if matches([]string{have}, `"5f2b"`) && !strings.Contains(have, `"5f2b"`) && !strings.Contains(have, "*") {
			t.Fatalf("%q matches", have)
		}
		if acceptsGzip(accept) && !strings.Contains(strings.ToLower(accept), "gzip") {
			t.Fatalf("%q takes gzip", accept)
		}
		if o, err := parseOrigin(origin); err == nil && o == origin && strings.ContainsAny(o, " *#?") {
			t.Fatalf("%q is taken as an origin", origin)
		}
	})
}

// FuzzText checks that the list is valid JSON with any symbol and name.
func FuzzText(f *testing.F) {
	f.Add("WETH", "Wrapped Ether")
	f.Add("<script>", "\"},{\"data\":[]")
	f.Add("\xff\xfe", "\u2028\x00")
	f.Fuzz(func(t *testing.T, symbol, name string) {
		r := row(1, weth, symbol, "1", "2", "3")
		r.Token.Name = name
		s := newSnapshot(pricetable.New(1, then, append(rows()[2:3], r)))
		l := into[PriceList](t, reply{body: string(s.priceList(s.priced[0], 2))})
		if len(l.Data) != 2 || l.Data[1].Symbol != strings.ToValidUTF8(symbol, "\ufffd") && utf8.ValidString(symbol) {
			t.Fatalf("%q: %+v", symbol, l)
		}
	})
}
