package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

func TestHealth(t *testing.T) {
	for _, x := range []struct {
		found  Health
		status int
		want   string
	}{
		{Health{Healthy, "bbolt: ok", "in-process: ok"}, 200, `"status":"healthy","timestamp":"2025-12-27T10:15:30.123456Z","version":"1.2.3","database_status":"bbolt: ok","redis_status":"in-process: ok"`},
		{Health{Degraded, "postgresql: ok", "redis: failing"}, 200, `"status":"degraded","timestamp":"2025-12-27T10:15:30.123456Z","version":"1.2.3","database_status":"postgresql: ok","redis_status":"redis: failing"`},
		{Health{Unhealthy, "bbolt: failing", "in-process: ok"}, 503, `"status":"unhealthy","timestamp":"2025-12-27T10:15:30.123456Z","version":"1.2.3","database_status":"bbolt: failing","redis_status":"in-process: ok"`},
		{Health{"", "bbolt: ok", "in-process: ok"}, 503, `"status":"unhealthy","timestamp":"2025-12-27T10:15:30.123456Z","version":"1.2.3","database_status":"bbolt: ok","redis_status":"in-process: ok"`},
	} {
		c := config()
		c.Health = func(ctx context.Context) Health {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the look at the health is not bounded")
			}
			return x.found
		}
		r := serve(t, c).get(t, healthPath)
		if r.status != x.status || r.body != "{"+x.want+"}" || r.header.Get("Content-Type") != jsonType {
			t.Errorf("%+v: %d %s", x.found, r.status, r.body)
		}
	}
}

func TestStats(t *testing.T) {
	c := config()
	s := serve(t, c)
	if r := s.get(t, Base+"/stats"); r.body != `{"total_fetches":43200,"successful_fetches":43187,"tokens_monitored":10,"avg_fetch_duration_seconds":0.84}` {
		t.Error(r.body)
	}
	c.Charts.(*charts).fails.Store(true)
	if r := s.get(t, Base+"/stats"); r.status != 503 || into[Problem](t, r).Type != noHistory.urn() || strings.Contains(r.body, "disk") {
		t.Errorf("stats without a history: status %d, %s; want 503 and no detail", r.status, r.body)
	}
}

func TestHistory(t *testing.T) {
	c := config()
	s := serve(t, c)
	path := Base + "/tokens/" + opWeth.Hex() + "/history"
	for _, p := range price.Periods() {
		ch := into[Chart](t, s.get(t, path+"?period="+p.Name))
		if ch.ChainID != 10 || ch.Period != p.Name || ch.StepSeconds != int(p.Step.Seconds()) || len(ch.Data) != int(p.Span/p.Step) || ch.Timestamp != "2025-12-27T10:15:00.123456" {
			t.Errorf("%s: %+v", p.Name, ch)
		}
	}
	day, same := s.get(t, path), s.get(t, path+"?period=24h&chain_id=10")
	if day.body != same.body || !strings.Contains(day.body, `{"timestamp":"2025-12-27T10:15:00Z","open":"3015.100000000000000000","high":"3045.251000000000000000","low":"2984.949000000000000000","close":"3015.100000000000000000"}]`) {
		t.Error(day.body[len(day.body)-300:])
	}
	if r := s.get(t, Base+"/tokens/"+weth.Hex()+"/history?chain_id=56"); r.header.Get(StaleHeader) != "1" {
		t.Errorf("a stale token's chart: %v", r.header)
	}
	for path, want := range map[string]problemKind{
		Base + "/tokens/" + secretToken.Hex() + "/history": unknownToken,
		path + "?chain_id=1":      unknownToken,
		path + "?period=7d":       badParameter,
		path + "?period=24h,week": badParameter,
	} {
		if r := s.get(t, path); r.status != want.status || into[Problem](t, r).Type != want.urn() {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	c.Charts.(*charts).fails.Store(true)
	if r := s.get(t, path); r.status != 503 || r.header.Get("Retry-After") == "" || into[Problem](t, r).Type != noHistory.urn() {
		t.Errorf("a chart without a history: status %d, %s; want 503", r.status, r.body)
	}
}

func TestAvailable(t *testing.T) {
	c := config()
	s, history := serve(t, c), c.Charts.(*charts)
	const path = Base + "/tokens/history/available"
	history.fails.Store(true)
	if r := s.get(t, path); r.status != 503 {
		t.Errorf("%d without a history", r.status)
	}
	history.fails.Store(false)
	want := `{"data":[{"chain_id":10,"token_address":"0x0000000000000000000000000000000000000000","symbol":"ETH","since":"2025-12-27T09:15:30Z","periods":[{"period":"24h","step_seconds":300,"points":12}]},` +
		`{"chain_id":1,"token_address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","symbol":"WETH","since":"2025-11-26T10:15:30Z","periods":[{"period":"24h","step_seconds":300,"points":288},{"period":"week","step_seconds":1800,"points":336},{"period":"month","step_seconds":14400,"points":180}]}],"total_count":2,"timestamp":"2025-12-27T10:15:00.123456"}`
	if r := s.get(t, path); r.body != want {
		t.Errorf("%s\nwant\n%s", r.body, want)
	}
	for chain, n := range map[string]int{"1": 1, "10": 1, "56": 0} {
		if l := into[AvailableList](t, s.get(t, path+"?chain_id="+chain)); len(l.Data) != n || l.TotalCount != n {
			t.Errorf("chain %s: %+v", chain, l)
		}
	}
	if n := history.coverage.Load(); n != 2 {
		t.Errorf("the history was read %d times for one table, the failure included", n)
	}
}

// TestProblems checks that every problem is complete, has its own type, and is in the
// documentation.
func TestProblems(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range problemKinds {
		if seen[k.name] || k.title == "" || k.remedy == "" || http.StatusText(k.status) == "" {
			t.Errorf("a problem kind is incomplete or its name is used twice: %+v", k)
		}
		seen[k.name] = true
		if !strings.Contains(about(), k.urn()) {
			t.Errorf("%s is not in the documentation", k.name)
		}
	}
	s := serve(t, config())
	for path, want := range map[string]string{
		"/api/v1/tokens/price24h?limit=0&chain=1&offset=x":  "query.chain: unknown query parameter",
		"/api/v1/tokens/price24h?limit=0&offset=x":          "query.limit: expected number >= 1; query.offset: invalid integer",
		"/api/v1/tokens/price24h?chain_id=&limit=1&limit=2": "query.chain_id: parameter without a value; query.limit: given more than once",
		"/api/v1/tokens?api_key=hunter2":                    "query.api_key: unknown query parameter",
		"/api/v1/tokens?" + strings.Repeat("a", 500) + "=1": "query." + strings.Repeat("a", 74) + "…: unknown query parameter",
	} {
		r := s.get(t, path, "Accept", "application/xml, json;q=0.5")
		p := into[Problem](t, r)
		var says []string
		for _, e := range p.Errors {
			says = append(says, e.Location+": "+e.Message)
		}
		if got := strings.Join(says, "; "); got != want || r.status != 422 || r.header.Get("Content-Type") != problemType || r.header.Get("Cache-Control") != "no-store" || p.Remedy == "" {
			t.Errorf("%s: %d %v %s", path, r.status, r.header, r.body)
		}
		if strings.Contains(r.body, "hunter2") {
			t.Error("a value is repeated, which may be a secret")
		}
	}
}

func TestRoot(t *testing.T) {
	if r := serve(t, config()).get(t, "/"); r.status != 200 || r.body != `{"name":"Swapkeep price API","version":"1.2.3","api":"/api/v1","documentation":"/docs","openapi":"/openapi.json"}` {
		t.Errorf("GET /: status %d, %s", r.status, r.body)
	}
}

func TestNew(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"no feed":                func(c *Config) { c.Feed = nil },
		"no charts":              func(c *Config) { c.Charts = nil },
		"no health":              func(c *Config) { c.Health = nil },
		"no version":             func(c *Config) { c.Version = "" },
		"origin of anything":     func(c *Config) { c.Origins = []string{"*"} },
		"origin with a path":     func(c *Config) { c.Origins = []string{"https://app.example/"} },
		"origin in large":        func(c *Config) { c.Origins = []string{"https://App.example"} },
		"origin of an extension": func(c *Config) { c.Origins = []string{"null"} },
	} {
		c := config()
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	c := config()
	c.Origins = []string{"https://app.example", "http://127.0.0.1:3000"}
	if _, err := New(c); err != nil {
		t.Error(err)
	}
}

// TestPublicOnly checks that no answer mentions a token that is not public.
func TestPublicOnly(t *testing.T) {
	s := serve(t, config())
	for _, path := range []string{pricesPath + "?limit=1000", Base + "/tokens", Base + "/tokens/history/available", Base + "/stats"} {
		if r := s.get(t, path); strings.Contains(r.body, "SECRET") || strings.Contains(r.body, secretToken.Hex()) {
			t.Errorf("%s tells of it", path)
		}
	}
	for _, b := range []*pricetable.Table{nil, pricetable.New(1, then, nil)} {
		if m := string(event(b, s.c.Feed.Now())); strings.Contains(m, secretToken.Hex()) {
			t.Error("events tell of it")
		}
	}
}
