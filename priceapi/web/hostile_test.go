package web

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// closed as a status means that the connection is closed without an answer.
const closed = 0

// A hostile request is sent verbatim. HOST stands for the server's address.
type hostile struct {
	name string
	send string
	want []int // statuses of its answers; more answers than that are a failure
}

const ok = "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\n\r\n"

// get returns a request for a target.
func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: HOST\r\n\r\n" }

// from returns a valid request with additional header lines.
func from(lines ...string) string {
	return "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// to returns a valid request to another host.
func to(host string) string { return "GET /api/v1/health HTTP/1.1\r\nHost: " + host + "\r\n\r\n" }

var hostiles = []hostile{
	{"a healthy one", ok, []int{200}},

	{"rebinding: foreign name", to("attacker.example"), []int{421}},
	{"rebinding: foreign name, our port", to("attacker.example:PORT"), []int{421}},
	{"rebinding: our address without the port", to("127.0.0.1"), []int{421}},
	{"rebinding: our address, another port", to("127.0.0.1:1"), []int{421}},
	{"rebinding: name that ends like ours", to("127.0.0.1.attacker.example:PORT"), []int{421}},
	{"rebinding: name that begins like ours", to("localhost.attacker.example:PORT"), []int{421}},
	{"rebinding: all addresses", to("0.0.0.0:PORT"), []int{421}},
	{"rebinding: address in decimal", to("2130706433:PORT"), []int{421}},
	{"rebinding: address in hex", to("0x7f000001:PORT"), []int{421}},
	{"rebinding: another loopback address", to("127.1.1.1:PORT"), []int{421}},
	{"rebinding: mapped address", to("[::ffff:127.0.0.1]:PORT"), []int{421}},
	{"rebinding: trailing dot", to("localhost.:PORT"), []int{421}},
	{"rebinding: user before the host", to("attacker@127.0.0.1:PORT"), []int{400}},
	{"empty host", to(""), []int{421}},
	{"no host", "GET /api/v1/health HTTP/1.1\r\n\r\n", []int{400}},
	{"two hosts", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nHost: attacker.example\r\n\r\n", []int{400}},
	{"two hosts, both ours", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", []int{400}},
	{"host with a space", to("HOST evil"), []int{400}},
	{"host with a null byte", to("HOST\x00"), []int{400}},
	{"host folded over two lines", "GET /api/v1/health HTTP/1.1\r\nHost:\r\n attacker.example\r\n\r\n", []int{421}},
	{"absolute form, ours", get("http://HOST/api/v1/health"), []int{200}},
	{"absolute form, foreign", get("http://attacker.example/api/v1/health"), []int{421}},
	{"absolute form, file", get("file:///etc/passwd"), []int{421}},
	{"absolute form, user", get("http://attacker@HOST/api/v1/health"), []int{421}},

	{"foreign origin", from("Origin: https://attacker.example"), []int{403}},
	{"null origin", from("Origin: null"), []int{403}},
	{"empty origin", from("Origin:"), []int{403}},
	{"two origins", from("Origin: http://HOST", "Origin: https://attacker.example"), []int{403}},
	{"origin of another port", from("Origin: http://127.0.0.1:3000"), []int{403}},
	{"own origin", from("Origin: http://HOST"), []int{200}},
	{"picture on a foreign page", from("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"), []int{403}},
	{"picture on another port's page", from("Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"), []int{403}},
	{"frame on a foreign page", "GET /docs HTTP/1.1\r\nHost: HOST\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n\r\n", []int{403}},
	{"link to a record", from("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"), []int{403}},

	{"traversal", get("/api/v1/../../etc/passwd"), []int{404}},
	{"traversal to a resource", get("/api/v1/tokens/../health"), []int{404}},
	{"traversal, encoded", get("/api/v1/%2e%2e/%2e%2e/etc/passwd"), []int{404}},
	{"traversal, encoded twice", get("/api/v1/%252e%252e/etc/passwd"), []int{404}},
	{"traversal in the documentation", get("/docs/../../../etc/passwd"), []int{404}},
	{"traversal in the documentation, encoded", get("/docs/..%2f..%2fpages.go"), []int{404}},
	{"traversal in the address", get("/api/v1/tokens/../price24h"), []int{404}},
	{"dot segment", get("/api/v1/./health"), []int{404}},
	{"encoded slash", get("/api/v1%2fhealth"), []int{404}},
	{"encoded letter", get("/api/v1/%68ealth"), []int{404}},
	{"backslash", get(`/api/v1\health`), []int{404}},
	{"double slash", get("/api//v1/health"), []int{404}},
	{"double slash at the beginning", get("//api/v1/health"), []int{404}},
	{"foreign host as a path", get("//attacker.example/api/v1/health"), []int{404}},
	{"trailing slash", get("/api/v1/health/"), []int{404}},
	{"another case", get("/API/V1/health"), []int{404}},
	{"path parameters", get("/api/v1/health;a=b"), []int{404}},
	{"null byte, encoded", get("/api/v1/health%00"), []int{404}},
	{"null byte", get("/api/v1/health\x00"), []int{400}},
	{"bad escape", get("/api/v1/%zz"), []int{400}},
	{"cut escape", get("/api/v1/health%2"), []int{400}},
	{"unicode path", get("/api/v1/hëalth"), []int{404}},
	{"overlong UTF-8", get("/api/v1/%c0%af"), []int{404}},
	{"fragment", get("/api/v1/health#x"), []int{404}},
	{"no path", get("?limit=1"), []int{400}},
	{"empty target", "GET  HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{400}},
	{"hidden files", get("/.git/config"), []int{404}},

	{"negative limit", get("/api/v1/tokens/price24h?limit=-1"), []int{422}},
	{"limit beyond the bound", get("/api/v1/tokens/price24h?limit=1001"), []int{422}},
	{"limit beyond 64 bits", get("/api/v1/tokens/price24h?limit=18446744073709551617"), []int{422}},
	{"limit as a float", get("/api/v1/tokens/price24h?limit=1e3"), []int{422}},
	{"limit in hex", get("/api/v1/tokens/price24h?limit=0x10"), []int{422}},
	{"limit with a sign", get("/api/v1/tokens/price24h?limit=%2B5"), []int{422}},
	{"limit twice", get("/api/v1/tokens/price24h?limit=1&limit=1000"), []int{422}},
	{"limit twice, one encoded", get("/api/v1/tokens/price24h?limit=1&l%69mit=1000"), []int{422}},
	{"limit as a list", get("/api/v1/tokens/price24h?limit[]=1"), []int{422}},
	{"negative offset", get("/api/v1/tokens/price24h?offset=-1"), []int{422}},
	{"offset beyond all", get("/api/v1/tokens/price24h?offset=999999999"), []int{200}},
	{"offset beyond the bound", get("/api/v1/tokens/price24h?offset=9223372036854775807"), []int{422}},
	{"chain zero", get("/api/v1/tokens/price24h?chain_id=0"), []int{422}},
	{"chain without a value", get("/api/v1/tokens/price24h?chain_id="), []int{422}},
	{"chain without a sign", get("/api/v1/tokens/price24h?chain_id"), []int{422}},
	{"chain misspelt", get("/api/v1/tokens/price24h?chainId=1"), []int{422}},
	{"chain behind a semicolon", get("/api/v1/tokens/price24h?limit=1;chain_id=1"), []int{422}},
	{"chain in digits of another script", get("/api/v1/tokens/price24h?chain_id=%D9%A1"), []int{422}},
	{"chain in full-width digits", get("/api/v1/tokens?chain_id=%EF%BC%91"), []int{422}},
	{"bad escape in the query", get("/api/v1/tokens/price24h?chain_id=%zz"), []int{422}},
	{"bad UTF-8 in the query", get("/api/v1/tokens/price24h?symbols=%ff%fe"), []int{422}},
	{"null byte in the query", get("/api/v1/tokens/price24h?symbols=ETH%00"), []int{422}},
	{"line break in the query", get("/api/v1/tokens/price24h?symbols=%0d%0aSet-Cookie:a=b"), []int{422}},
	{"a lone ampersand", get("/api/v1/tokens/price24h?&"), []int{422}},
	{"SQL in a symbol", get("/api/v1/tokens/price24h?symbols=%27%20OR%201=1--"), []int{200}},
	{"SQL in a chain", get("/api/v1/tokens/price24h?chain_id=1%20OR%201=1"), []int{422}},
	{"script in a symbol", get("/api/v1/tokens/price24h?symbols=%3Cscript%3E"), []int{200}},
	{"a hundred and one symbols", get("/api/v1/tokens/price24h?symbols=" + strings.Repeat("A,", 100) + "A"), []int{422}},
	{"an empty symbol", get("/api/v1/tokens/price24h?symbols=ETH,,BNB"), []int{422}},
	{"short address", get("/api/v1/tokens/0x12/price24h"), []int{422}},
	{"address without 0x", get("/api/v1/tokens/C02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2/price24h"), []int{422}},
	{"address of no hex", get("/api/v1/tokens/0xZ02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2/price24h"), []int{422}},
	{"unknown period", get("/api/v1/tokens/0x0000000000000000000000000000000000000000/history?period=year"), []int{422}},

	{"long URL", get("/api/v1/tokens/price24h?symbols=" + strings.Repeat("A", 4100)), []int{414}},
	{"long header", from("X-Long: " + strings.Repeat("a", 64<<10)), []int{431}},
	{"many headers", from(strings.Repeat("X-A: b\r\n", 8000) + "X-B: c"), []int{431}},
	{"long header name", from(strings.Repeat("X", 64<<10) + ": a"), []int{431}},
	{"endless request line", "GET /" + strings.Repeat("a", 64<<10), []int{431}},

	{"POST", "POST /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n", []int{405}},
	{"POST to a hot path", "POST /api/v1/tokens/price24h HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{405}},
	{"POST with a body", "POST /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\n\r\nabc", []int{400}},
	{"DELETE", "DELETE /api/v1/tokens HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{405}},
	{"TRACE", "TRACE /api/v1/health HTTP/1.1\r\nHost: HOST\r\nCookie: a=b\r\n\r\n", []int{405}},
	{"PRI, which begins HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{421}},
	{"OPTIONS of everything", "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{404}},
	{"preflight of a foreign page", "OPTIONS /api/v1/health HTTP/1.1\r\nHost: HOST\r\nOrigin: https://attacker.example\r\nAccess-Control-Request-Method: GET\r\n\r\n", []int{403}},
	{"CONNECT", "CONNECT attacker.example:443 HTTP/1.1\r\nHost: attacker.example:443\r\n\r\n", []int{421}},
	{"CONNECT to ourselves", "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{404}},
	{"method of no letters", "G@T /api/v1/health HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{400}},
	{"unknown method", "BREW /api/v1/health HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{405}},
	{"method in small letters", "get /api/v1/health HTTP/1.1\r\nHost: HOST\r\n\r\n", []int{405}},
	{"upgrade to a websocket", from("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="), []int{200}},
	{"upgrade to HTTP/2", from("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), []int{200}},

	{"HTTP/0.9", "GET /api/v1/health\r\n\r\n", []int{400}},
	{"HTTP/1.0 without a host", "GET /api/v1/health HTTP/1.0\r\n\r\n", []int{421}},
	{"HTTP/3", "GET /api/v1/health HTTP/3.0\r\nHost: HOST\r\n\r\n", []int{505}},
	{"HTTP/9.9", "GET /api/v1/health HTTP/9.9\r\nHost: HOST\r\n\r\n", []int{505}},
	{"no version number", "GET /api/v1/health HTTP/x\r\nHost: HOST\r\n\r\n", []int{400}},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
	{"noise", "\x00\x01\x02\xff\xfe\r\n\r\n", []int{400}},
	{"line feeds alone", "GET /api/v1/health HTTP/1.1\nHost: HOST\n\n", []int{200}},
	{"nothing but line ends", "\r\n\r\n\r\n", []int{400}},
	{"header without a colon", from("Nonsense"), []int{400}},
	{"space before the colon", from("X-A : b"), []int{400}},
	{"null byte in a header", from("X-A: \x00"), []int{400}},
	{"bare carriage return in a header", from("X-A: b\rX-B: c"), []int{400}},
	{"header name of no ASCII", from("X-Ä: b"), []int{400}},

	{"smuggling: length and chunks", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ok, []int{400}},
	{"smuggling: chunks", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n" + ok, []int{400}},
	{"smuggling: two lengths", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n" + ok, []int{400}},
	{"smuggling: a list of lengths", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0, 44\r\n\r\n" + ok, []int{400}},
	{"smuggling: a length with a sign", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: +4\r\n\r\nabcd", []int{400}},
	{"smuggling: a negative length", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n", []int{400}},
	{"smuggling: a body that hides a request", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 50\r\n\r\n" + ok, []int{400}},
	{"smuggling: an unknown encoding", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n" + ok, []int{501}},
	{"smuggling: encodings in two lines", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + ok, []int{501}},
	{"a body that never comes", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1000000\r\n\r\n", []int{400}},
	{"a small body that never comes", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 10\r\n\r\n", []int{400}},
	{"a small body that never comes, to a foreign host", "GET / HTTP/1.1\r\nHost: attacker.example\r\nContent-Length: 10\r\n\r\n", []int{421}},
	{"a body that waits to be wanted", "GET /api/v1/health HTTP/1.1\r\nHost: HOST\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n", []int{400}},
	{"an expectation of no kind", from("Expect: 200-ok"), []int{417}},

	{"pipelining", ok + ok + get("/api/v1/stats"), []int{200, 200, 200}},
	{"pipelining behind a refusal", get("/nothing") + ok, []int{404, 200}},
	{"pipelining behind a foreign host", to("attacker.example") + ok, []int{421}},
	{"half a request line", "GET /api", []int{400}},
	{"half a head", "GET /api/v1/health HTTP/1.1\r\nHost: HO", []int{closed}},
}

// hostileLimits make slow requests time out soon.
func hostileLimits() Limits {
	return Limits{ReadHeader: 500 * time.Millisecond, Idle: 20 * time.Millisecond}
}

func TestAttackingRequests(t *testing.T) {
	if len(hostiles) < 60 {
		t.Fatalf("%d hostile requests", len(hostiles))
	}
	c := config()
	c.Limits = hostileLimits()
	s := serve(t, c)
	for _, h := range hostiles {
		t.Run(h.name, func(t *testing.T) {
			got := s.raw(t, h.send)
			if len(got) != len(h.want) && (h.want[0] != closed || len(got) > 0) {
				t.Fatalf("%d answers, want %d: %v", len(got), len(h.want), got)
			}
			for i, r := range got {
				if r.StatusCode != h.want[i] {
					t.Errorf("answer %d is %d, want %d", i, r.StatusCode, h.want[i])
				}
				if r.Header.Get("Location") != "" || r.StatusCode >= 300 && r.StatusCode < 400 {
					t.Errorf("answer %d redirects to %q", i, r.Header.Get("Location"))
				}
			}
			if r := s.get(t, healthPath); r.status != http.StatusOK {
				t.Fatalf("a healthy request after it is %d", r.status)
			}
		})
	}
}

// raw sends bytes and reads answers until the server closes the connection.
func (s *site) raw(t *testing.T, send string) (all []*http.Response) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.address)
	send = strings.NewReplacer("HOST", s.address, "PORT", port).Replace(send)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, send) // the server may reject the request before it is complete
	in := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			var slow net.Error
			if errors.As(err, &slow) && slow.Timeout() {
				t.Fatal("the connection is left open")
			}
			return all
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil && res.ContentLength >= 0 {
			t.Errorf("answer %d: %v", len(all), err)
		}
		all = append(all, res)
	}
}

// TestSlowHead checks that a request header sent byte by byte is cut off in time.
func TestSlowHead(t *testing.T) {
	c := config()
	c.Limits = hostileLimits()
	s := serve(t, c)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	for i := 0; ; i++ {
		if _, err = io.WriteString(conn, "G"); err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond) // the attack: it is slow
		if time.Since(began) > 5*time.Second {
			t.Fatal("the connection is left open")
		}
	}
	if r := s.get(t, healthPath); r.status != http.StatusOK {
		t.Fatalf("a healthy request after it is %d", r.status)
	}
}
