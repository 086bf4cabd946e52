//go:build hosted && unix

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/priceapi/web/webtest"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/pricesim"
	"swapkeep/test/await"
	"swapkeep/test/servers"

	"github.com/jackc/pgx/v5"
)

// A hosting is the backends of a hosted price API.
type hosting struct {
	t        *testing.T
	postgres *servers.PostgreSQL
	redis    *servers.Redis
	database string
	sources  string // configuration tables of the sources
}

func newHosting(t *testing.T) *hosting {
	t.Helper()
	h := &hosting{t: t, postgres: servers.StartPostgreSQL(t), redis: servers.StartRedis(t)}
	h.database = h.postgres.Database()
	prices := market.NewPrices(7, time.Now().Add(-40*24*time.Hour))
	for _, kind := range pricesim.Kinds() {
		sim, err := pricesim.New(kind, prices, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewServer(sim)
		t.Cleanup(s.Close)
		h.sources += fmt.Sprintf("[sources.%s]\nbase_url = %q\n", kind, s.URL+pricesim.Base(kind))
	}
	return h
}

// A process is one process of the service.
type process struct {
	*server
	url string
}

// start starts a process; top goes before the tables of its configuration, tables after
// them.
func (h *hosting) start(top, tables string) *process {
	h.t.Helper()
	t := h.t
	config := write(t, "prices.toml", fmt.Sprintf("listen = \"127.0.0.1:0\"\n%s\n[postgres]\nurl_file = %q\nconnections = 4\n%s\n%s\n",
		top, write(t, "postgres", h.database+"\n", 0o600), tables, h.sources), 0o644)
	s := startCommand(t, "prices", config, nil, redisVariable+"="+h.redis.URL())
	p := &process{server: s, url: "http://" + s.told(t, "serving")}
	t.Cleanup(func() {
		if text := p.log.String(); strings.Contains(text, h.postgres.Password) || strings.Contains(text, h.redis.Password) {
			t.Errorf("a password is in the log:\n%s", text)
		}
	})
	return p
}

const unlimited = "[limits]\nrate = 10000.0\nburst = 10000\nanonymous_rate = 10000.0\nanonymous_burst = 10000"

// get sends a GET request, with headers as name-value pairs.
func (p *process) get(t *testing.T, path string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/api/v1"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// field returns a member of a JSON answer.
func (p *process) field(t *testing.T, path, name string) string {
	t.Helper()
	_, body := p.get(t, path)
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return strings.Trim(string(all[name]), `"`)
}

// priced waits until a process has prices of every network.
func (p *process) priced(t *testing.T) {
	t.Helper()
	await.Until(t, 30*time.Second, "prices of all networks", func() bool {
		for _, chain := range []string{"1", "10", "56", "8453", "5330"} {
			res, body := p.get(t, "/tokens/price24h?chain_id="+chain)
			if res.StatusCode != http.StatusOK || strings.Contains(string(body), `"has_24h_data_count":0,`) {
				return false
			}
		}
		return true
	})
}

func (p *process) health(t *testing.T) string {
	t.Helper()
	res, body := p.get(t, "/health")
	var said struct {
		Status   string `json:"status"`
		Database string `json:"database_status"`
		Redis    string `json:"redis_status"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return fmt.Sprintf("%d %s, %s, %s", res.StatusCode, said.Status, said.Database, said.Redis)
}

// kill sends SIGKILL.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
}

func (s *server) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// term returns the number of the current term and of the fetches.
func (h *hosting) term() (term, fetches int64) {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.database)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	if err := conn.QueryRow(h.t.Context(), "SELECT term, fetches FROM swapkeep_prices.head").Scan(&term, &fetches); err != nil {
		h.t.Fatal(err)
	}
	return term, fetches
}

// TestHostedContract: every table of the spec holds on a process that polls and on one
// that only serves, and both answer identically byte for byte.
func TestHostedContract(t *testing.T) {
	h := newHosting(t)
	poller, reader := h.start("", unlimited), h.start("poll = false", unlimited)
	poller.told(t, "polling")
	poller.priced(t)
	reader.priced(t)
	for _, p := range []*process{poller, reader} {
		webtest.Contract(t, p.url, http.DefaultClient)
		if got, want := p.health(t), "200 healthy, postgresql: ok, redis: ok"; got != want {
			t.Errorf("got %s", got)
		}
	}
	await.Until(t, 10*time.Second, "the same list of both", func() bool {
		_, a := poller.get(t, "/tokens/price24h?limit=50")
		_, b := reader.get(t, "/tokens/price24h?limit=50")
		return string(a) == string(b)
	})
	await.Until(t, 30*time.Second, "a chart of a week", func() bool { // backfilled from an archive
		_, body := reader.get(t, "/tokens/0x0000000000000000000000000000000000000000/history?period=week&chain_id=1")
		return strings.Count(string(body), `"open"`) > 150
	})
	if keys := h.redis.Client().Keys(t.Context(), "swapkeep:prices:answer:*").Val(); len(keys) == 0 {
		t.Error("no answer is shared")
	}
	poller.stop(t)
	reader.stop(t)
}

// TestPollerIsReplaced: a poller that is killed, and one that is suspended and later
// resumed, is replaced within seconds, and the resumed one writes nothing more.
func TestPollerIsReplaced(t *testing.T) {
	h := newHosting(t)
	first := h.start("", unlimited)
	first.told(t, "polling")
	reader := h.start("poll = false", unlimited)
	reader.priced(t)
	second := h.start("", unlimited)
	_, fetches := h.term()
	began := time.Now()
	first.kill(t)
	second.told(t, "polling")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("replaced after %s", took)
	} else {
		t.Logf("one that was killed is replaced after %s", took)
	}
	await.Until(t, 20*time.Second, "a fetch of the second", func() bool { _, n := h.term(); return n > fetches })
	third := h.start("", unlimited)
	before, _ := h.term()
	began = time.Now()
	second.signal(t, syscall.SIGSTOP)
	third.told(t, "polling")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("replaced after %s", took)
	} else {
		t.Logf("one that was stopped is replaced after %s", took)
	}
	await.Until(t, 20*time.Second, "a fetch of the third", func() bool { _, n := h.term(); return n > fetches+1 })
	term, fetches := h.term()
	second.signal(t, syscall.SIGCONT)
	second.told(t, "no longer polling")
	if now, n := h.term(); now != term || term <= before || n > fetches+1 { // the third may have fetched meanwhile
		t.Errorf("term %d and %d fetches after term %d and %d", now, n, term, fetches)
	}
	sent := reader.field(t, "/stats", "total_fetches")
	if n, err := strconv.Atoi(sent); err != nil || int64(n) < fetches {
		t.Errorf("the reader says %s of %d fetches", sent, fetches)
	}
	third.stop(t) // lets the second take over at once
	second.told(t, "polling")
	second.stop(t)
}

// TestBackendsComeAndGo: prices are served without Redis and without PostgreSQL, and the
// health says which one is down.
func TestBackendsComeAndGo(t *testing.T) {
	h := newHosting(t)
	p := h.start("", unlimited)
	p.told(t, "polling")
	p.priced(t)
	is := func(want string) func() bool { return func() bool { return p.health(t) == want } }
	serves := func() string {
		t.Helper()
		res, _ := p.get(t, "/tokens/price24h?offset="+strconv.Itoa(int(time.Now().UnixNano()%1000)))
		if res.StatusCode != http.StatusOK {
			t.Errorf("a list: %d", res.StatusCode)
		}
		return p.field(t, "/tokens/price24h", "timestamp")
	}
	before := serves()
	h.redis.Stop()
	await.Until(t, 10*time.Second, "told of Redis", is("200 degraded, postgresql: ok, redis: failing"))
	serves()
	late := h.start("poll = false", unlimited) // gets its prices from PostgreSQL
	late.priced(t)
	h.postgres.Stop()
	await.Until(t, 10*time.Second, "told of both", is("200 degraded, postgresql: failing, redis: failing"))
	p.told(t, "no longer polling")
	if after := serves(); after < before {
		t.Errorf("prices of %s after those of %s", after, before)
	}
	began := time.Now()
	if res, _ := p.get(t, "/tokens/0x0000000000000000000000000000000000000000/history?period=24h&chain_id=1"); res.StatusCode != http.StatusServiceUnavailable || time.Since(began) > 5*time.Second {
		t.Errorf("a chart without a database: %d after %s", res.StatusCode, time.Since(began))
	}
	h.redis.Start()
	await.Until(t, 10*time.Second, "told of PostgreSQL", is("200 degraded, postgresql: failing, redis: ok"))
	h.postgres.Start()
	p.told(t, "polling")
	await.Until(t, 30*time.Second, "all well", is("200 healthy, postgresql: ok, redis: ok"))
	await.Until(t, 30*time.Second, "newer prices", func() bool { return serves() > before && late.field(t, "/tokens/price24h", "timestamp") > before })
	p.stop(t)
	late.stop(t)
}

// TestLimitsAcrossProcesses: two processes share a client's rate limit. X-Forwarded-For
// is ignored from a stranger and honoured from a trusted proxy.
func TestLimitsAcrossProcesses(t *testing.T) {
	h := newHosting(t)
	const limits = "[limits]\nanonymous_rate = 0.01\nanonymous_burst = 6"
	a, b := h.start("poll = false", limits), h.start("poll = false", limits)
	statuses := map[int]int{}
	for i := range 10 {
		p := []*process{a, b}[i%2]
		res, _ := p.get(t, "/tokens", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i), "Forwarded", "for=192.0.2.1")
		statuses[res.StatusCode]++
		if n, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode == http.StatusTooManyRequests && (err != nil || n < 80 || n > 101) {
			t.Errorf("Retry-After: %q", res.Header.Get("Retry-After"))
		}
	}
	if statuses[http.StatusOK] != 6 || statuses[http.StatusTooManyRequests] != 4 {
		t.Errorf("got %v", statuses)
	}
	proxied := h.start("poll = false\ntrusted_proxies = [\"127.0.0.0/8\"]", limits)
	for i := range 20 { // a different client each time, with the same forged first address
		if res, _ := proxied.get(t, "/tokens", "X-Forwarded-For", fmt.Sprintf("198.51.100.7, 192.0.2.%d", 100+i)); res.StatusCode != http.StatusOK {
			t.Errorf("client %d: %d", i, res.StatusCode)
		}
	}
	got := 0
	for i := range 10 { // one client that forges another address each time
		if res, _ := proxied.get(t, "/tokens", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d, 203.0.113.9", i)); res.StatusCode == http.StatusOK {
			got++
		}
	}
	if got != 6 {
		t.Errorf("%d of a burst of 6", got)
	}
	for _, p := range []*process{a, b, proxied} {
		p.stop(t)
	}
}

// TestAPIKeys: requests without a key are served only if the configuration allows it, a
// wrong key is never accepted, and the file is reloaded.
func TestAPIKeys(t *testing.T) {
	h := newHosting(t)
	const one, two = "an-api-key-of-somebody-1", "an-api-key-of-somebody-2"
	keys := write(t, "keys.toml", entryOf("one", one), 0o600)
	top := fmt.Sprintf("poll = false\nkeys_file = %q\n", keys)
	strict, open := h.start(top, unlimited), h.start(top+"anonymous = true", unlimited)
	may := func(p *process, key string, want int) {
		t.Helper()
		var header []string
		if key != "" {
			header = []string{"X-API-Key", key}
		}
		if res, body := p.get(t, "/tokens", header...); res.StatusCode != want {
			t.Errorf("%q: %d, want %d: %s", key, res.StatusCode, want, body)
		}
	}
	may(strict, "", http.StatusUnauthorized)
	may(strict, two, http.StatusUnauthorized)
	may(strict, one, http.StatusOK)
	may(open, "", http.StatusOK)
	may(open, two, http.StatusUnauthorized)
	may(open, one, http.StatusOK)
	if got := strict.health(t); !strings.Contains(got, "postgresql: ok, redis: ok") {
		t.Errorf("the health without a key: %s", got)
	}
	if err := os.WriteFile(keys, []byte(entryOf("two", two)), 0o600); err != nil {
		t.Fatal(err)
	}
	strict.hangUp(t, "tokens reloaded")
	may(strict, one, http.StatusUnauthorized)
	may(strict, two, http.StatusOK)
	for _, p := range []*process{strict, open} {
		p.stop(t)
		if text := p.log.String(); strings.Contains(text, one) || strings.Contains(text, two) {
			t.Error("a key is in the log")
		}
	}
}

// TestPassedSocketForPrices: a process serves the socket that is passed to it, and so
// does the next one.
func TestPassedSocketForPrices(t *testing.T) {
	h := newHosting(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	socket, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	config := write(t, "prices.toml", fmt.Sprintf("poll = false\nhosts = [%q]\n%s\n", ln.Addr(), unlimited), 0o644)
	for range 2 {
		s := startCommand(t, "prices", config, socket, redisVariable+"="+h.redis.URL(), postgresVariable+"="+h.database)
		p := &process{server: s, url: "http://" + s.told(t, "serving")}
		if res, _ := p.get(t, "/tokens"); res.StatusCode != http.StatusOK || p.url != "http://"+ln.Addr().String() {
			t.Errorf("%s: %d", p.url, res.StatusCode)
		}
		s.stop(t)
	}
}

// TestPricesOverTLS: TLS is required off loopback and possible on it.
func TestPricesOverTLS(t *testing.T) {
	h := newHosting(t)
	cert, key, pool := certificate(t)
	p := h.start("poll = false", fmt.Sprintf("[tls]\ncert = %q\nkey = %q", cert, key))
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get(strings.Replace(p.url, "http:", "https:", 1) + "/api/v1/tokens")
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK || res.ProtoMajor != 1 {
		t.Errorf("%d %s %v", res.StatusCode, res.Proto, err)
	}
	p.stop(t)
}
