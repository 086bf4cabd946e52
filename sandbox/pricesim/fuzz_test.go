package pricesim

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"swapkeep/sandbox/market"
)

var testTime = time.Unix(1_772_813_396, 0)

func refused(t *testing.T, err error) {
	t.Helper()
	var e refusal
	if !errors.As(err, &e) || e.status < 400 || e.status > 499 {
		t.Errorf("no refusal of the caller's mistake: %v", err)
	}
}

// FuzzBatch checks that accepted batches are bounded and have valid times.
func FuzzBatch(f *testing.F) {
	f.Add(`{"coingecko:ethereum":[1772727000,1772640600]}`)
	f.Add(`{"base:0x4200000000000000000000000000000000000006":[-1]}`)
	f.Add(`{"x":[1e3,null,99999999999999]}`)
	f.Add(`[]`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, text string) {
		requested, err := parseBatch(text)
		if err != nil {
			refused(t, err)
			return
		}
		points := 0
		for _, times := range requested {
			points += len(times)
			for _, n := range times {
				if n < 0 || n > maxUnix {
					t.Errorf("time %d", n)
				}
			}
		}
		if requested == nil || len(requested) > maxCoins || points > maxPoints {
			t.Errorf("%d coins, %d points", len(requested), points)
		}
	})
}

func FuzzCaps(f *testing.F) {
	f.Add([]byte(`{"coins":["coingecko:ethereum","ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]}`))
	f.Add([]byte(`{"coins":null}`))
	f.Add([]byte(`{"coins":[1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		keys, err := parseCaps(raw)
		if err != nil {
			refused(t, err)
		} else if keys == nil || len(keys) > maxCoins {
			t.Errorf("%d keys", len(keys))
		}
	})
}

// FuzzChart checks that accepted charts have bounded times.
func FuzzChart(f *testing.F) {
	f.Add("start=1772727000&span=3&period=1h")
	f.Add("end=1772727000&span=96&period=15m&searchWidth=600")
	f.Add("period=9999999999W&span=-1&searchWidth=M")
	f.Add("start=1&end=1")
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		c, err := parseChart(query, testTime)
		if err != nil {
			refused(t, err)
			return
		}
		if c.points < 0 || c.points > maxPoints || c.period < time.Second || c.period > maxSpan || c.width < time.Second || c.width > maxSpan {
			t.Errorf("a chart request out of bounds is accepted: %+v", c)
		}
	})
}

// FuzzRequests checks that every service answers any request with JSON and never with a
// status of 5xx.
func FuzzRequests(f *testing.F) {
	for _, path := range []string{
		"/prices/current/optimism:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85,coingecko:ethereum",
		"/prices/historical/1772727000/optimism:0x4200000000000000000000000000000000000006?searchWidth=4h",
		"/batchHistorical?coins=%7B%22coingecko:ethereum%22:%5B1772727000%5D%7D", "/chart/coingecko:ethereum?start=1772727000&span=3&period=1h",
		"/chart/coingecko:ethereum?end=253402300799&span=1000&period=500W", "/percentage/coingecko:bitcoin?lookForward=true&period=3w", "/prices/first/base:0x",
		"/api/v2/networks?page=1", "/api/v2/simple/networks/eth/token_price/0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48?include_market_cap=true",
		"/api/v2/networks/bsc/tokens/multi/0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d,,", "/api/v2/networks/eth/tokens/multi/info",
		"/api/v3/simple/token_price/base?contract_addresses=0x4200000000000000000000000000000000000006&vs_currencies=usd&include_24hr_change=true",
		"/api/v3/coins/markets?vs_currency=usd&per_page=250&page=10000", "/api/v3/simple/price?ids=,&vs_currencies=USD", "/api/v3/asset_platforms",
		"/tokens/v1/base/0x4200000000000000000000000000000000000006", "/latest/dex/tokens/0x4200000000000000000000000000000000000006",
		"/8453/api/v2/tokens/0x4200000000000000000000000000000000000006", "/api/v2/tokens?items_count=9999999999", "/5330/api/v2/stats",
		"/api/v1/token_security/56?contract_addresses=0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
	} {
		for kind := range kinds {
			f.Add(uint8(kind), path)
		}
	}
	market := market.NewPrices(1, testTime)
	f.Fuzz(func(t *testing.T, kind uint8, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" {
			return
		}
		s, err := New(kinds[int(kind)%len(kinds)].name, market, func() time.Time { return testTime })
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(t.Context()))
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %d %.200s", s.name, target, w.Code, w.Body)
		}
	})
}
