package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/web/webtest"
)

func TestContract(t *testing.T) {
	webtest.Contract(t, serve(t, config()).url, direct)
	c := config()
	c.Feed.Publish(pricetable.New(8, then, many(1500)))
	webtest.Contract(t, serve(t, c).url, direct)
}

// A liar is a transport that changes answers.
type liar struct {
	path, from, to string
}

func (l liar) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := direct.Transport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, l.path) {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	body = []byte(strings.ReplaceAll(string(body), l.from, l.to))
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if r.Method == http.MethodHead {
		res.ContentLength, _ = strconv.ParseInt(res.Header.Get("Content-Length"), 10, 64)
	}
	return res, err
}

// A verdict is a testing.TB that only records failures.
type verdict struct {
	testing.TB
	failed []string
}

func (v *verdict) Helper()                  {}
func (v *verdict) Context() context.Context { return context.Background() }
func (v *verdict) Error(args ...any)        { v.failed = append(v.failed, fmt.Sprint(args...)) }
func (v *verdict) Errorf(f string, args ...any) {
	v.failed = append(v.failed, fmt.Sprintf(f, args...))
}
func (v *verdict) Fatal(args ...any)            { v.Error(args...); runtime.Goexit() }
func (v *verdict) Fatalf(f string, args ...any) { v.Errorf(f, args...); runtime.Goexit() }

// TestContractNotices checks that the contract detects each of these deviations from the
// spec.
func TestContractNotices(t *testing.T) {
	s := serve(t, config())
	health, list, one := healthPath, pricesPath, Base+"/tokens/0x"
	for _, l := range []liar{
		{health, `"status"`, `"state"`},
		{health, `"version":"1.2.3"`, `"version":1`},
		{health, `30.123456Z`, `30Z`},
		{health, `30.123456Z`, `30.123456`},
		{health, `"redis_status":"in-process: ok"`, `"redis_status":"in-process: ok","more":1`},
		{Base + "/stats", `43200`, `43200.5`},
		{Base + "/stats", `0.84`, `"0.84"`},
		{Base + "/stats", `0.84`, `8.4e-1`},
		{list, `3050.120000000000000000`, `3050.12000000000000000`},
		{list, `"3050.120000000000000000"`, `3050.12`},
		{list, `51.720000000000000000`, `-51.720000000000000000`},
		{list, `1.72492`, `1.73`},
		{list, `1.72492`, `null`},
		{list, `1.72492`, `1.724919957`},
		{list, `367000000000.12`, `367000000000.1`},
		{list, `367000000000.12`, `1.12`},
		{list, `837494`, `"837494"`},
		{list, `"has_24h_data":true`, `"has_24h_data":1`},
		{list, `"has_24h_data":false`, `"has_24h_data":true`},
		{list, `"total_count":`, `"total_count":1`},
		{list, `"has_24h_data_count":`, `"has_24h_data_count":1`},
		{list, `00.123456"`, `00.123456Z"`},
		{list, `00.123456"`, `00"`},
		{list, `0xC02aaA39`, `0xc02aaA39`},
		{list, `"symbol":"WETH",`, `"symbol":"WETH","price_source":"x",`},
		{list, `"symbol":"WETH",`, `"symbol":"WETH","symbol":"WETH",`},
		{list, `"name":"ETH token",`, ``},
		{list, `"chain_id":56`, `"chain_id":57`},
		{list, `2025-12-27T10:15:00`, `2025-12-27T09:15:00`},
		{one, `"price_now":3050.12`, `"price_now":"3050.12"`},
		{one, `"price_now":3050.12`, `"price_now":3050.13`},
		{one, `"price_now":3050.12`, `"price_now":3.05012e3`},
		{one, `"price_24h_ago"`, `"price_24_ago"`},
		{one, `"remedy"`, `"help"`},
		{one, `"status":404`, `"status":200`},
		{Base + "/tokens", `"chain_id":8453`, `"chain_id":1`},
	} {
		v := &verdict{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			webtest.Contract(v, s.url, &http.Client{Transport: l})
		}()
		if <-done; len(v.failed) == 0 {
			t.Errorf("%s with %s for %s passes", l.path, l.to, l.from)
		}
	}
}
