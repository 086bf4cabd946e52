package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// names returns the items of a price list as chain and symbol.
func names(l PriceList) (all []string) {
	for _, i := range l.Data {
		all = append(all, strconv.FormatUint(i.ChainID, 10)+i.Symbol)
	}
	return all
}

func TestPriceList(t *testing.T) {
	s := serve(t, config())
	order := []string{"1ETH", "10ETH", "56BNB", "1WETH", "10WETH", "8453WETH", "56OLD", "5330WETH", "5330SUPR"}
	for query, want := range map[string][]string{
		"":                                order,
		"?limit=2":                        order[:2],
		"?limit=1000":                     order,
		"?offset=7":                       order[7:],
		"?limit=3&offset=2":               order[2:5],
		"?offset=9":                       nil,
		"?offset=1000000000":              nil,
		"?chain_id=1":                     {"1ETH", "1WETH"},
		"?chain_id=5330&limit=1":          {"5330WETH"},
		"?chain_id=999":                   nil,
		"?chain_id=9007199254740991":      nil,
		"?symbols=weth":                   {"1WETH", "10WETH", "8453WETH", "5330WETH"},
		"?symbols=WeTh,bnb":               {"56BNB", "1WETH", "10WETH", "8453WETH", "5330WETH"},
		"?symbols=weth,WETH&limit=1":      {"1WETH"},
		"?symbols=weth&chain_id=10":       {"10WETH"},
		"?symbols=secret":                 nil,
		"?symbols=%3Cnew%3E%26":           nil, // has no price
		"?addresses=" + weth.Hex():        {"1WETH", "56OLD"},
		"?addresses=" + secretToken.Hex(): nil,
		"?addresses=0x" + strings.ToUpper(weth.Hex()[2:]):                                     {"1WETH", "56OLD"},
		"?addresses=0x0000000000000000000000000000000000000000," + weth.Hex() + "&chain_id=1": {"1ETH", "1WETH"},
		"?addresses=" + weth.Hex() + "&symbols=old,bnb":                                       {"56OLD"},
		"?addresses=" + weth.Hex() + "," + weth.Hex() + "&limit=1&offset=1":                   {"56OLD"},
	} {
		r := s.get(t, pricesPath+query)
		if r.status != http.StatusOK {
			t.Errorf("%s: %d %s", query, r.status, r.body)
			continue
		}
		l := into[PriceList](t, r)
		if got := names(l); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
		stale := ""
		if slices.Contains(want, "56OLD") {
			stale = "1"
		}
		if r.header.Get(StaleHeader) != stale {
			t.Errorf("%s: %q values are stale, want %q", query, r.header.Get(StaleHeader), stale)
		}
		if r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) || l.Timestamp != "2025-12-27T10:15:00.123456" {
			t.Errorf("%s: length %s, timestamp %s", query, r.header.Get("Content-Length"), l.Timestamp)
		}
	}
	if l := into[PriceList](t, s.get(t, pricesPath+"?limit=1&chain_id=1")); l.TotalCount != 2 || l.Has24hDataCount != 1 {
		t.Errorf("%d match, %d of the listed have 24 hours of data", l.TotalCount, l.Has24hDataCount)
	}
}

// TestItems compares items byte by byte.
func TestItems(t *testing.T) {
	s := serve(t, config())
	for query, want := range map[string]string{
		"?chain_id=1&offset=1": `{"data":[{"chain_id":1,"token_address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","symbol":"WETH","name":"WETH token","price_now":"3050.120000000000000001","price_24h_ago":"2998.400000000000000000","change_abs":"51.720000000000000001","change_pct":1.72492,"market_cap":"9008047197.70","holders":837494,"has_24h_data":true}],"total_count":2,"has_24h_data_count":1,"timestamp":"2025-12-27T10:15:00.123456"}`,
		// A fall of nearly everything and an enormous rise are still numbers.
		"?chain_id=5330": `{"data":[{"chain_id":5330,"token_address":"0x4200000000000000000000000000000000000006","symbol":"WETH","name":"WETH token","price_now":"0.000000000000000001","price_24h_ago":"100000000000000000000.000000000000000000","change_abs":"-99999999999999999999.999999999999999999","change_pct":-100,"market_cap":"20.00","holders":837494,"has_24h_data":true},` +
			`{"chain_id":5330,"token_address":"0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B","symbol":"SUPR","name":"SUPR token","price_now":"0.100000000000000000","price_24h_ago":"0.000000000000000001","change_abs":"0.099999999999999999","change_pct":10000000000000000000,"market_cap":"0.00","holders":837494,"has_24h_data":true}],"total_count":2,"has_24h_data_count":2,"timestamp":"2025-12-27T10:15:00.123456"}`,
		// The last known price of a stale one, and zeros.
		"?symbols=old": `{"data":[{"chain_id":56,"token_address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","symbol":"OLD","name":"OLD token","price_now":"1.500000000000000000","price_24h_ago":"0.000000000000000000","change_abs":"0.000000000000000000","change_pct":0,"market_cap":"5000.00","holders":837494,"has_24h_data":false}],"total_count":1,"has_24h_data_count":0,"timestamp":"2025-12-27T10:15:00.123456"}`,
	} {
		if r := s.get(t, pricesPath+query); r.body != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, r.body, want)
		}
	}
}

func TestSingle(t *testing.T) {
	s := serve(t, config())
	path := func(a string) string { return Base + "/tokens/" + a + "/price24h" }
	for _, x := range []struct {
		path   string
		status int
		want   string // the body of a price, or the type of a problem
	}{
		{path(weth.Hex()), 200, `{"token_address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","chain_id":1,"price_now":3050.120000000000000001,"price_24h_ago":2998.4,"symbol":"WETH","name":"WETH token"}`},
		{path(strings.ToLower(weth.Hex())) + "?chain_id=56", 200, `{"token_address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","chain_id":56,"price_now":1.5,"price_24h_ago":0,"symbol":"OLD","name":"OLD token"}`},
		// Known on 10, 5330 and 8453: the lowest chain id.
		{path(opWeth.Hex()), 200, `{"token_address":"0x4200000000000000000000000000000000000006","chain_id":10,"price_now":3050.14,"price_24h_ago":3050.14,"symbol":"WETH","name":"WETH token"}`},
		{path(opWeth.Hex()) + "?chain_id=5330", 200, `{"token_address":"0x4200000000000000000000000000000000000006","chain_id":5330,"price_now":0.000000000000000001,"price_24h_ago":100000000000000000000,"symbol":"WETH","name":"WETH token"}`},
		{path("0x0000000000000000000000000000000000000000"), 200, `{"token_address":"0x0000000000000000000000000000000000000000","chain_id":1,"price_now":3050.12,"price_24h_ago":2998.4,"symbol":"ETH","name":"ETH token"}`},
		{path("0x0000000000000000000000000000000000000000") + "?chain_id=56", 200, `{"token_address":"0x0000000000000000000000000000000000000000","chain_id":56,"price_now":600,"price_24h_ago":0,"symbol":"BNB","name":"BNB token"}`},
		{path("0x0000000000000000000000000000000000000000") + "?chain_id=8453", 404, unknownToken.urn()},
		{path(weth.Hex()) + "?chain_id=10", 404, unknownToken.urn()},
		{path(secretToken.Hex()), 404, unknownToken.urn()},
		{path(newToken.Hex()), 404, noPrice.urn()},
		{path(weth.Hex()[:41]), 422, badParameter.urn()},
		{path("0X" + weth.Hex()[2:]), 422, badParameter.urn()},
		{path(weth.Hex()) + "?chain_id=0", 422, badParameter.urn()},
		{path(weth.Hex()) + "?limit=100", 422, badParameter.urn()},
		{path(weth.Hex()) + "?chain_id=1&chain_id=1", 422, badParameter.urn()},
	} {
		r := s.get(t, x.path)
		got := r.body
		if x.status != 200 {
			got = into[Problem](t, r).Type
		}
		if r.status != x.status || got != x.want {
			t.Errorf("%s: %d %s\nwant %d %s", x.path, r.status, r.body, x.status, x.want)
		}
	}
}

func TestTokens(t *testing.T) {
	s := serve(t, config())
	l := into[TokenList](t, s.get(t, Base+"/tokens"))
	if l.TotalCount != 10 || len(l.Data) != 10 {
		t.Fatalf("%d of %d tokens", len(l.Data), l.TotalCount)
	}
	want := map[string]Token{
		"OLD":    {Identity{56, Address(weth.Hex())}, "OLD", "OLD token", 18, "1.500000000000000000", "defillama", "2025-12-27T10:14:38Z", true, false},
		"<NEW>&": {Identity{1, Address(newToken.Hex())}, "<NEW>&", "<NEW>& token", 18, "", "", "", false, false},
	}
	diluted := 0
	for _, got := range l.Data {
		if w, ok := want[got.Symbol]; ok && got != w {
			t.Errorf("%+v, want %+v", got, w)
		}
		if got.Symbol == "SECRET" {
			t.Error("a token that is not public is listed")
		}
		if got.MarketCapDiluted {
			diluted++
		}
	}
	if diluted != 1 {
		t.Errorf("%d market caps are diluted", diluted)
	}
	if l := into[TokenList](t, s.get(t, Base+"/tokens?chain_id=1&limit=1&offset=1")); len(l.Data) != 1 || l.TotalCount != 3 || l.Data[0].Symbol != "WETH" {
		t.Errorf("the second page is %+v, want WETH of 3 tokens", l)
	}
}

// TestBeforeTheFirstFetch checks that lists are not answered before they have a timestamp.
func TestBeforeTheFirstFetch(t *testing.T) {
	c := config()
	c.Feed = pricetable.NewFeed()
	s := serve(t, c)
	for _, query := range []string{"", "?limit=0100", "?symbols=ETH"} {
		if r := s.get(t, pricesPath+query); r.status != 503 || r.header.Get("Retry-After") != "5" || into[Problem](t, r).Type != notFetched.urn() {
			t.Errorf("before the first fetch: status %d, header %v, %s; want 503", r.status, r.header, r.body)
		}
	}
	if r := s.get(t, Base+"/tokens"); r.status != 200 || r.body != `{"data":[],"total_count":0,"timestamp":""}` {
		t.Errorf("tokens before the first fetch: status %d, %s; want an empty list", r.status, r.body)
	}
	c.Feed.Publish(pricetable.New(1, then, rows()))
	if r := s.get(t, pricesPath); r.status != 200 {
		t.Errorf("%d after the first fetch", r.status)
	}
}

// TestBothWays checks that the short path and the router answer identically, also to HEAD
// and If-None-Match. A number with leading zeros is left to the router.
func TestBothWays(t *testing.T) {
	s := serve(t, config())
	one := Base + "/tokens/" + opWeth.Hex() + "/price24h"
	for short, long := range map[string]string{
		pricesPath:                           pricesPath + "?limit=0000000100",
		pricesPath + "?limit=1":              pricesPath + "?limit=0000000001",
		pricesPath + "?chain_id=5330":        pricesPath + "?chain_id=0000005330",
		pricesPath + "?chain_id=10&offset=1": pricesPath + "?chain_id=0000000010&offset=1",
		pricesPath + "?offset=3&limit=2":     pricesPath + "?offset=3&limit=0000000002",
		one:                                  one + "?chain_id=0000000010",
		one + "?chain_id=8453":               one + "?chain_id=0000008453",
		one + "?chain_id=56":                 one + "?chain_id=0000000056",
		Base + "/tokens/" + newToken.Hex() + "/price24h": Base + "/tokens/" + newToken.Hex() + "/price24h?chain_id=0000000001",
	} {
		a, b := s.get(t, short), s.get(t, long)
		for _, h := range []http.Header{a.header, b.header} {
			h.Del("Date")
		}
		if a.status != b.status || a.body != b.body && a.status == 200 || len(a.header) != len(b.header) {
			t.Errorf("%s:\n%d %v %s\n%s:\n%d %v %s", short, a.status, a.header, a.body, long, b.status, b.header, b.body)
		}
		for name := range a.header {
			if a.header.Get(name) != b.header.Get(name) && a.status == 200 {
				t.Errorf("%s: %s is %q and %q", short, name, a.header.Get(name), b.header.Get(name))
			}
		}
		for _, path := range []string{short, long} {
			head := s.ask(t, http.MethodHead, path)
			if head.status != a.status || head.body != "" || head.header.Get("Content-Length") == "" || a.status == 200 && head.header.Get("Etag") != a.header.Get("Etag") {
				t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
			}
		}
	}
}

func TestETag(t *testing.T) {
	c := config()
	s := serve(t, c)
	one := Base + "/tokens/" + weth.Hex() + "/price24h"
	for _, path := range []string{pricesPath, one, Base + "/tokens", Base + "/stats", one[:len(one)-len("/price24h")] + "/history", Base + "/tokens/history/available", specPath, docsPath} {
		r := s.get(t, path)
		tag := r.header.Get("Etag")
		for have, want := range map[string]int{
			tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304,
			`"other"`: 200, strings.Trim(tag, `"`): 200, "": 200,
		} {
			again := s.get(t, path, "If-None-Match", have)
			if again.status != want || (again.body == "") != (want == 304) || again.header.Get("Etag") != tag || again.header.Get("Cache-Control") != "no-cache" {
				t.Errorf("%s with %s: %d %v, want %d", path, have, again.status, again.header, want)
			}
		}
	}
	// The same price on a new table is the same answer; the list has a new time.
	old, oldOne := s.get(t, pricesPath).header.Get("Etag"), s.get(t, one).header.Get("Etag")
	c.Feed.Publish(pricetable.New(8, then.Add(time.Minute), rows()))
	if r := s.get(t, pricesPath, "If-None-Match", old); r.status != 200 {
		t.Errorf("a new table's list: status %d", r.status)
	}
	if r := s.get(t, one, "If-None-Match", oldOne); r.status != 304 {
		t.Errorf("an unchanged price is %d", r.status)
	}
	changed := rows()
	changed[1].Now.Value = dollars("1")
	c.Feed.Publish(pricetable.New(9, then.Add(time.Minute), changed))
	if r := s.get(t, one, "If-None-Match", oldOne); r.status != 200 {
		t.Errorf("a changed price is %d", r.status)
	}
}

// TestChangingTables checks that every list comes from one table while tables change.
func TestChangingTables(t *testing.T) {
	c := config()
	s := serve(t, c)
	var readers sync.WaitGroup
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	for range 4 {
		readers.Go(func() {
			for ctx.Err() == nil {
				l := into[PriceList](t, s.get(t, pricesPath+"?chain_id=1&limit=1"))
				if second := l.Timestamp[17:19]; l.Data[0].PriceNow != Price(second+".000000000000000000") && !strings.HasPrefix(string(l.Data[0].PriceNow), "3050") {
					t.Errorf("price %s of a table of second %s", l.Data[0].PriceNow, second)
				}
			}
		})
	}
	for i := 0; ctx.Err() == nil; i++ {
		all := rows()
		at := time.Date(2025, 12, 27, 10, 0, 10+i%50, 0, time.UTC)
		all[0].Now.Value = dollars(strconv.Itoa(at.Second()))
		c.Feed.Publish(pricetable.New(uint64(10+i), at, all))
		time.Sleep(time.Millisecond) // lets readers read
	}
	readers.Wait()
}

// TestPagesAreBounded checks that unusual pages do not accumulate and are still right.
func TestPagesAreBounded(t *testing.T) {
	c := config()
	c.Feed.Publish(pricetable.New(8, then, many(3000)))
	s := serve(t, c)
	for i := range 2 * maxPages {
		limit := []int{1, 1000}[i/maxPages]
		r := s.get(t, pricesPath+"?limit="+strconv.Itoa(limit)+"&offset="+strconv.Itoa(i))
		if strings.Count(r.body, `"symbol"`) != limit || !strings.Contains(r.body[:140], `"symbol":"TOK`+strconv.Itoa(i)+`",`) {
			t.Fatalf("offset %d: %.200s", i, r.body)
		}
	}
	snapshot := s.snapshot()
	kept, bytes := *snapshot.lists.all.Load(), 0
	for _, a := range kept {
		bytes += len(a.body)
	}
	if len(kept) > maxPages || bytes > maxPageBytes || bytes != snapshot.lists.bytes || len(kept) < 2 {
		t.Fatalf("%d pages of %d bytes are kept, counted %d", len(kept), bytes, snapshot.lists.bytes)
	}
}

// A memoryCache is an in-memory Cache.
type memoryCache struct {
	mu   sync.Mutex
	kept map[string][]byte
	hits int
}

func (s *memoryCache) Get(_ context.Context, key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.kept[key]
	if ok {
		s.hits++
	}
	return b, ok
}

func (s *memoryCache) Set(_ context.Context, key string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[key] = body
}

// TestSharedCache checks that a second process uses the bytes of the first, but not invalid
// ones.
func TestSharedCache(t *testing.T) {
	cache := &memoryCache{kept: map[string][]byte{}}
	first, second := config(), config()
	first.Cache, second.Cache = cache, cache
	a := serve(t, first).get(t, pricesPath)
	b := serve(t, second).get(t, pricesPath)
	if a.body != b.body || a.header.Get("Etag") != b.header.Get("Etag") || b.header.Get(StaleHeader) != "1" || cache.hits != 1 {
		t.Errorf("%d hits, %v and %v", cache.hits, a.header, b.header)
	}
	for key := range cache.kept {
		cache.kept[key] = []byte(`{"data":[`)
	}
	if r := serve(t, second).get(t, pricesPath); r.body != a.body {
		t.Errorf("rubbish is served: %s", r.body)
	}
	other := config()
	other.Cache = cache
	other.Feed.Publish(pricetable.New(7, then, rows()[:2])) // the same number, another time
	if r := serve(t, other).get(t, pricesPath); len(into[PriceList](t, r).Data) != 2 {
		t.Errorf("another table's list is served: %s", r.body)
	}
}

// TestSharedCacheIsBounded checks that requests for every offset of one table do not fill
// the cache.
func TestSharedCacheIsBounded(t *testing.T) {
	cache := &memoryCache{kept: map[string][]byte{}}
	c := config()
	c.Cache = cache
	s := serve(t, c)
	for i := range maxPages + 20 {
		if r := s.get(t, fmt.Sprintf("%s?offset=%d", pricesPath, i)); r.status != 200 {
			t.Fatalf("offset %d: %d", i, r.status)
		}
	}
	if n := len(cache.kept); n != maxPages {
		t.Errorf("%d pages of one table are in the cache, at most %d belong there", n, maxPages)
	}
	c.Feed.Publish(pricetable.New(8, then.Add(time.Minute), rows()))
	s.get(t, pricesPath)
	if n := len(cache.kept); n != maxPages+1 {
		t.Errorf("the next table's page is not in the cache: %d", n)
	}
	if g := (&cacheQuota{}); g.take(maxPageBytes+1) || !g.take(maxPageBytes) || g.take(1) {
		t.Error("the bytes that are given are not bounded")
	}
}

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]Number{0: "0", -0.0000001: "0", 0.0000006: "0.000001", 1e-7: "0", -12.5: "-12.5", 100: "100", 1e22: "10000000000000000000000", 1.7249199573: "1.72492"} {
		if got := rounded(f); got != want {
			t.Errorf("%g is %s, want %s", f, got, want)
		}
	}
	for text, want := range map[string]Number{"0": "0", "100": "100", "0.5": "0.5", "1e-18": "0.000000000000000001", "1e20": "100000000000000000000", "10.10": "10.1"} {
		if got := exact(dollars(text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// TestCandlesAsEncoded checks that hand-written candles equal encoded ones.
func TestCandlesAsEncoded(t *testing.T) {
	candles := []price.Candle{
		{At: then, Open: dollars("1"), High: price.Max, Low: dollars("1e-18"), Close: dollars("0.5")},
		{At: then.Add(time.Hour).In(time.FixedZone("", 3600))},
	}
	for n := range len(candles) + 1 {
		chart := Chart{Symbol: `"data":[]`, Data: []Candle{}, Timestamp: "x"}
		empty := encode(chart)
		for _, c := range candles[:n] {
			chart.Data = append(chart.Data, candle(c))
		}
		if got, want := string(appendCandles(empty, candles[:n])), string(encode(chart)); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}
