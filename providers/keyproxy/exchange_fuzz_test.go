package keyproxy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// FuzzRequest: whatever the client sends, the provider gets a path, parameters and headers
// from the allow-lists, each once.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"GET /v1/orders?orderId=0x1&limit=10 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/orders?orderId=1&orderId=2 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/orders?orderId=a%26apiKey=b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/%6frders HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/../v1/orders HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://a/v1/orders HTTP/1.1\r\nHost: a\r\n\r\n", "GET //v1/orders HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/orders?a=1;b=2 HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE /v1/orders HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /v1/quote HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Universal-Router-Version: 2.1.2\r\nX-Api-Key: mine\r\nX-Permit2-Disabled: true\r\n\r\n",
		"POST /v1/quote HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Type: text/html\r\n\r\n", "POST /v1/order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n",
		"POST /v1/swap HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Universal-Router-Version: 2.0\r\nX-Universal-Router-Version: 1.2\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	allowed := []string{"Accept", "User-Agent", "Content-Type", routerHeader}
	for i, name := range allowed {
		allowed[i] = http.CanonicalHeaderKey(name)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		e, refused := findEndpoint(r)
		if refused != nil {
			return
		}
		if path, _, _ := strings.Cut(r.RequestURI, "?"); path != prefix+e.path || r.Method != e.method {
			t.Fatalf("%q is taken for %s %s", r.RequestURI, e.method, e.path)
		}
		if header, refused := headers(r); refused == nil {
			for name, v := range header {
				if !slices.Contains(allowed, name) || len(v) != 1 || strings.ContainsAny(v[0], "\r\n") {
					t.Fatalf("%s: %q goes out", name, v)
				}
			}
		}
		query, refused := e.parameters(r.URL.RawQuery)
		if refused != nil {
			return
		}
		values, err := url.ParseQuery(query)
		if err != nil || strings.Contains(query, ";") || strings.Contains(query, "#") {
			t.Fatalf("%q goes out: %v", query, err)
		}
		for name, v := range values {
			if !slices.Contains(e.query, name) || len(v) != 1 {
				t.Fatalf("%q goes out to %s", query, e.path)
			}
		}
		if again, refused := e.parameters(query); refused != nil || again != query {
			t.Fatalf("%q is not stable: %q", query, again)
		}
	})
}

// FuzzReply: whatever the provider answers, the client gets either the reply as it is,
// which is JSON within the size limit and without the key, or a refusal that quotes
// nothing.
func FuzzReply(f *testing.F) {
	head := "HTTP/1.1 %s\r\nContent-Type: application/json\r\nDate: Fri, 20 Nov 2026 10:00:00 GMT\r\n"
	for _, s := range []string{
		fmt.Sprintf(head, "200 OK") + "\r\n{\"requestId\":\"r1\"}", fmt.Sprintf(head, "404 Not Found") + "\r\n{\"errorCode\":\"ResourceNotFound\"}",
		fmt.Sprintf(head, "401 No") + "\r\n{\"detail\":\"" + testKey + "\"}", fmt.Sprintf(head, "400 No") + "\r\n{\"detail\":\"" + testKey + "\"}",
		fmt.Sprintf(head, "400 No") + "\r\n{\"detail\":\"test\\u002dkey-of-no-service-1234\"}", fmt.Sprintf(head, "400 No") + "\r\n{\"test-key\\u002dof-no-service-1234\":[]}",
		fmt.Sprintf(head, "000 None") + "\r\n{}", fmt.Sprintf(head, "101 Switching Protocols") + "\r\n{}", fmt.Sprintf(head, "999 What") + "\r\n{}", fmt.Sprintf(head, "302 Found") + "Location: https://a\r\n\r\n{}",
		fmt.Sprintf(head, "429 Busy") + "Retry-After: 2147483648\r\n\r\n{}", fmt.Sprintf(head, "503 Busy") + "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n\r\n<html>",
		fmt.Sprintf(head, "200 OK") + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", fmt.Sprintf(head, "200 OK") + "\r\n{} {}", fmt.Sprintf(head, "200 OK") + "\r\n" + strings.Repeat(" ", 300) + "{}",
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
	} {
		f.Add([]byte(s))
	}
	u := &upstream{key: testKey, limits: Limits{Reply: 256}, now: func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }}
	f.Fuzz(func(t *testing.T, raw []byte) {
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
		if err != nil {
			return
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, u.limits.Reply+1))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		if out, err := u.checkReply(res, body); err != nil {
			asRefusal(err).write(w)
		} else if out.write(w); !bytes.Equal(w.Body.Bytes(), body) || w.Code != res.StatusCode {
			t.Fatalf("%d %q is passed on as %d %q", res.StatusCode, body, w.Code, w.Body)
		}
		var answer any
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code < 200 || w.Code > 599 || w.Code/100 == 3 {
			t.Fatalf("a client gets %d %q", w.Code, w.Body)
		}
		if strings.Contains(fmt.Sprint(answer, w.Header()), testKey) {
			t.Fatalf("a client gets the key: %q", w.Body)
		}
		if after := w.Header().Get("Retry-After"); after != "" {
			if n, err := strconv.Atoi(after); err != nil || n < 1 || n > 24*60*60 {
				t.Fatalf("to be repeated after %s", after)
			}
		}
	})
}

// FuzzUpstream: an accepted base URL is https and not loopback, or loopback in the sandbox,
// and has no user info, query or fragment.
func FuzzUpstream(f *testing.F) {
	for _, s := range []string{
		"https://api.example/v1", "https://api.example/v1///", "http://api.example", "http://127.0.0.1:1/v1", "https://localhost", "https://a:b@api.example", "https://api.example?x", "https://api.example?", "https://api.example#x",
		"https:api.example", "https://", "HTTPS://API.EXAMPLE", "http://[::1]:1", "http://127.0.0.1.example", "https://127.1", "https://[::ffff:127.0.0.1]", "http://localhost.", "https://api.example/%2e%2e", "https://api.example\\@a",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, raw string, sandbox bool) {
		base, err := upstreamBase(raw, sandbox)
		if err != nil {
			if len(raw) > 24 && strings.Contains(err.Error(), raw) {
				t.Fatalf("%v repeats the address", err)
			}
			return
		}
		u, err := url.Parse(base + "/quote")
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !strings.HasSuffix(u.Path, "/quote") {
			t.Fatalf("%q: %+v, %v", base, u, err)
		}
		if own := isLoopback(u.Hostname()); own != sandbox || !sandbox && u.Scheme != "https" {
			t.Fatalf("the key would go to %s", u)
		}
		if again, err := upstreamBase(base, sandbox); err != nil || again != base {
			t.Fatalf("%q is not stable: %q, %v", base, again, err)
		}
	})
}
