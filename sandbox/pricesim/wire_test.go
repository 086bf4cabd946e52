package pricesim_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/pricesim"
	"swapkeep/sandbox/sandboxtest"
)

// now is the clock of every simulator here, and the time when the market began.
var now = time.Unix(1_772_813_396, 0)

// A service is a simulator with a URL.
type service struct {
	*testing.T
	*pricesim.Server
	url string
}

func open(t *testing.T, kind string) *service {
	t.Helper()
	s, err := pricesim.New(kind, market.NewPrices(1, now), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	t.Cleanup(s.Faults.Reset)
	return &service{t, s, srv.URL + pricesim.Base(kind)}
}

// set changes settings as the control endpoint does.
func (s *service) set(change string) {
	s.Helper()
	settings := s.Settings()
	if err := json.Unmarshal([]byte(change), &settings); err != nil {
		s.Fatal(err)
	}
	if err := s.Set(settings); err != nil {
		s.Fatal(err)
	}
}

// get sends a request that must succeed and returns the decoded body.
func (s *service) get(path string) any {
	s.Helper()
	return sandboxtest.MustAsk[any](s, http.MethodGet, s.url+path, nil)
}

// at follows members and indices of a decoded body; nil if there is no such value.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

// recorded decodes a recorded body.
func recorded(t *testing.T, body string) any {
	t.Helper()
	return sandboxtest.Decode[any](t, []byte(body))
}

const (
	usdcOnOP   = "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
	wethOnMain = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
	usdcOnMain = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	seedWETH   = "0x4200000000000000000000000000000000000006"
	seedUSDT   = "0xc5068BB6803ADbe5600DE5189fe27A4dAcE31170"
	bscUSDC    = "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"
)

var nobody = common.Address{1}.Hex()

func TestLlamaForms(t *testing.T) {
	s := open(t, "defillama")
	op, gecko := "optimism:"+usdcOnOP, "coingecko:ethereum"
	for _, tc := range []struct{ path, recorded string }{
		{"/prices/current/" + op + "," + gecko + ",base:" + nobody, `{"coins":{"` + op + `":{"decimals":6,"symbol":"USDC","price":0.99987,"timestamp":1772813395,"confidence":0.99},
			"coingecko:ethereum":{"symbol":"ETH","price":3050.12,"timestamp":1772813396,"confidence":0.99}}}`},
		{"/prices/historical/1772727000/" + op, `{"coins":{"` + op + `":{"decimals":6,"symbol":"USDC","price":2998.4,"timestamp":1772726905,"confidence":0.99}}}`},
		{"/batchHistorical?coins=" + url.QueryEscape(`{"coingecko:ethereum":[1772727000,1772640600],"nothing":[1]}`),
			`{"coins":{"coingecko:ethereum":{"symbol":"ETH","prices":[{"timestamp":1772726990,"price":2998.1,"confidence":0.99},{"timestamp":1772640555,"price":3011.7,"confidence":0.99}]}}}`},
		{"/chart/coingecko:ethereum?start=1772727000&span=3&period=1h",
			`{"coins":{"coingecko:ethereum":{"symbol":"ETH","confidence":0.99,"prices":[{"timestamp":1772726990,"price":2998.1},{"timestamp":1772730601,"price":3001.5},{"timestamp":1772734188,"price":3004.0}]}}}`},
		{"/percentage/coingecko:ethereum?timestamp=1772727000&period=1d", `{"coins":{"coingecko:ethereum":-1.2}}`},
		{"/prices/first/coingecko:ethereum", `{"coins":{"coingecko:ethereum":{"price":1.5,"symbol":"ETH","timestamp":1}}}`},
	} {
		sandboxtest.SameShape(t, tc.path, s.get(tc.path), recorded(t, tc.recorded))
	}
	caps := sandboxtest.MustAsk[any](t, http.MethodPost, s.url+"/mcaps", map[string]any{"coins": []string{op, "x:y"}})
	sandboxtest.SameShape(t, "mcaps", caps, recorded(t, `{"`+op+`":{"mcap":75000000000,"timestamp":1772813396}}`))
	resp := sandboxtest.Send(t, http.MethodGet, s.url+"/prices/current/"+op, nil)
	if until, err := http.ParseTime(resp.Header.Get("Expires")); err != nil || (until.Unix()-20)%300 != 0 || until.Sub(now) > 320*time.Second || until.Before(now) {
		t.Errorf("expires %q", resp.Header.Get("Expires"))
	}
}

// TestLlamaKeys checks which keys are known: addresses in any letter case with
// DefiLlama's own names of chains.
func TestLlamaKeys(t *testing.T) {
	s := open(t, "defillama")
	zero := common.Address{}.Hex()
	for key, want := range map[string]any{
		"ethereum:" + wethOnMain: 3000.0, "ethereum:" + strings.ToLower(wethOnMain): 3000.0, "ethereum:" + zero: 3000.0, "bsc:" + zero: 900.0,
		"base:" + zero: nil, "sseed:" + zero: nil, "coingecko:binancecoin": 900.0, "coingecko:superseed": 0.012,
		"sseed:" + seedWETH: 3000.0, "sseed:" + seedUSDT: nil, "superseed:" + seedWETH: nil, "10:" + usdcOnOP: nil, "bsc:" + bscUSDC: 1.0,
		"ethereum:" + nobody: nil, "ethereum": nil, "ethereum:": nil, "coingecko:nothing": nil,
		"monad:0x754704Bc059F8C67012fEd69BC8A327a5aafb603": 1.0, "u2u:0x5A4d000000000000000000000000000000000001": 0.01,
		"ethereum:0x7f39C581F595B53c5cb19bD0b3f8dA6c935E2Ca0": 3675.0, // wstETH, only on the wallet's list
	} {
		if got := at(s.get("/prices/current/"+key), "coins", key, "price"); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// TestLlamaPast checks that past prices vary, agree between endpoints and lead up to the
// present.
func TestLlamaPast(t *testing.T) {
	s := open(t, "defillama")
	key := "coingecko:ethereum"
	ago := now.Add(-24 * time.Hour).Round(5 * time.Minute)
	path := strconv.FormatInt(ago.Unix(), 10)
	historical := at(s.get("/prices/historical/"+path+"/"+key), "coins", key, "price").(float64)
	batch := at(s.get("/batchHistorical?coins="+url.QueryEscape(fmt.Sprintf(`{%q:[%d]}`, key, ago.Unix()))), "coins", key, "prices", 0, "price")
	chart := at(s.get("/chart/"+key+"?start="+path+"&span=289&period=5m"), "coins", key, "prices").([]any)
	if historical != batch || historical != at(chart[0], "price") || historical == 3000 || math.Abs(historical/3000-1) > 0.2 {
		t.Errorf("historical, batch and chart differ: %v, %v, %v", historical, batch, chart[0])
	}
	moved := map[any]bool{}
	for i, p := range chart {
		moved[at(p, "price")] = true
		if got := at(p, "timestamp").(float64); math.Abs(got-float64(ago.Unix()+int64(300*i))) > 150 {
			t.Fatalf("point %d is of %v", i, got)
		}
	}
	if last := at(chart[len(chart)-1], "price").(float64); len(moved) < 200 || math.Abs(last/3000-1) > 0.01 {
		t.Errorf("%d different prices, the last %v", len(moved), last)
	}
	percent := at(s.get("/percentage/"+key+"?timestamp="+strconv.FormatInt(now.Unix(), 10)+"&period=1d"), "coins", key).(float64)
	if math.Abs((3000/historical-1)*100-percent) > 0.2 {
		t.Errorf("%v %% after %v", percent, historical)
	}
	end := at(s.get("/chart/"+key+"?end="+strconv.FormatInt(now.Unix(), 10)+"&span=2&period=1d"), "coins", key, "prices").([]any)
	if len(end) != 2 || at(end[1], "price").(float64) != 3000 {
		t.Errorf("a chart that ends now is %v, want two points, the last 3000", end)
	}
	for _, absent := range []string{
		"/prices/historical/" + strconv.FormatInt(now.Add(24*time.Hour).Unix(), 10) + "/" + key,
		"/prices/historical/1000000000/" + key, "/prices/historical/" + strconv.FormatInt(ago.Unix()+100, 10) + "/" + key + "?searchWidth=1m",
	} {
		if got := at(s.get(absent), "coins", key); got != nil {
			t.Errorf("%s: %v, want no price", absent, got)
		}
	}
}

func TestGeckoForms(t *testing.T) {
	s := open(t, "geckoterminal")
	low := strings.ToLower(usdcOnMain)
	path := "/simple/networks/eth/token_price/" + usdcOnMain + "," + nobody
	simple := s.get(path + "?include_market_cap=true&mcap_fdv_fallback=false&include_24hr_price_change=true&include_24hr_vol=true&include_total_reserve_in_usd=true")
	sandboxtest.SameShape(t, "simple", simple, recorded(t, `{"data":{"id":"x","type":"simple_token_price","attributes":{"token_prices":{"`+low+`":"2084.57"},
		"market_cap_usd":{"`+low+`":"1"},"h24_price_change_percentage":{"`+low+`":"-1.88"},"h24_volume_usd":{"`+low+`":"1"},
		"total_reserve_in_usd":{"`+low+`":"1"},"last_trade_timestamp":{"`+low+`":1}}}}`))
	if got := at(simple, "data", "attributes", "token_prices", low); got != "1" {
		t.Errorf("USDC is worth %v", got)
	}
	sandboxtest.SameShape(t, "simple", s.get("/simple/networks/eth/token_price/"+usdcOnMain),
		recorded(t, `{"data":{"id":"x","type":"simple_token_price","attributes":{"token_prices":{"`+low+`":"1"},"last_trade_timestamp":{"`+low+`":1}}}}`))
	attributes := `"address":"x","name":"x","symbol":"x","decimals":6,"image_url":"x","coingecko_coin_id":"x"`
	sandboxtest.SameShape(t, "multi", s.get("/networks/eth/tokens/multi/"+usdcOnMain+","+nobody), recorded(t, `{"data":[{"id":"eth_x","type":"token","attributes":{`+attributes+`,
		"total_supply":"1","normalized_total_supply":"1","price_usd":"1","fdv_usd":"1","total_reserve_in_usd":"1","volume_usd":{"h24":"1"},"market_cap_usd":"1"}}]}`))
	info := s.get("/networks/eth/tokens/" + usdcOnMain + "/info")
	if got, _ := at(info, "data", "attributes", "holders", "count").(float64); got < 1 {
		t.Errorf("%v hold it", got)
	}
	if at(info, "data", "attributes", "holders", "distribution_percentage", "top_10") == nil || at(info, "data", "attributes", "holders", "last_updated") == nil {
		t.Errorf("token info lacks holders: %v", info)
	}
	// Each chain's network is in the list.
	found := map[any]any{}
	for _, n := range at(s.get("/networks?page=1"), "data").([]any) {
		found[at(n, "id")] = at(n, "attributes", "coingecko_asset_platform_id")
	}
	if found["eth"] != "ethereum" || found["optimism"] != "optimistic-ethereum" || len(at(s.get("/networks?page=2"), "data").([]any)) != 0 {
		t.Errorf("networks are %v", found)
	}
	zero := common.Address{}.Hex()
	if got := at(s.get("/simple/networks/eth/token_price/"+zero), "data", "attributes", "token_prices", zero); got != nil {
		t.Errorf("the native coin under the zero address: %v", got)
	}
	// A token that CoinGecko does not list has no market capitalisation.
	pt := "0x50D2C7992b802Eef16c04FeADAB310f31866a545"
	for query, want := range map[string]bool{"": false, "&mcap_fdv_fallback=true": true} {
		got := at(s.get("/simple/networks/eth/token_price/"+pt+"?include_market_cap=true"+query), "data", "attributes", "market_cap_usd", strings.ToLower(pt))
		if (got != nil) != want {
			t.Errorf("%q: capitalisation %v", query, got)
		}
	}
}

func TestCoinGeckoForms(t *testing.T) {
	s := open(t, "coingecko")
	low := strings.ToLower(wethOnMain)
	all := "&vs_currencies=usd&include_market_cap=true&include_24hr_change=true&include_24hr_vol=true&include_last_updated_at=true&precision=full"
	simple := `{"usd":76721,"usd_market_cap":9008047197.7,"usd_24h_change":-1.6,"usd_24h_vol":1,"last_updated_at":1779094527}`
	sandboxtest.SameShape(t, "tokens", s.get("/simple/token_price/ethereum?contract_addresses="+wethOnMain+","+nobody+all), recorded(t, `{"`+low+`":`+simple+`}`))
	prices := s.get("/simple/price?ids=ethereum,binancecoin,nothing" + all)
	sandboxtest.SameShape(t, "prices", prices, recorded(t, `{"ethereum":`+simple+`,"binancecoin":`+simple+`}`))
	if at(prices, "binancecoin", "usd") != 900.0 {
		t.Errorf("simple prices are %v, want 900 for BNB", prices)
	}
	if got := s.get("/simple/price?ids=tether&vs_currencies=usd"); len(at(got, "tether").(map[string]any)) != 1 {
		t.Errorf("a simple price without options is %v, want the price alone", got)
	}
	rows := s.get("/coins/markets?vs_currency=usd&ids=ethereum,chainlink&per_page=250&price_change_percentage=24h").([]any)
	if len(rows) != 2 || at(rows[1], "id") != "chainlink" || at(rows[0], "current_price") != 3000.0 {
		t.Errorf("markets are %v, want ether at 3000, then LINK", rows)
	}
	for _, member := range []string{"market_cap", "price_change_24h", "price_change_percentage_24h", "circulating_supply", "total_supply"} {
		if _, ok := at(rows[0], member).(float64); !ok {
			t.Errorf("%s is %v", member, at(rows[0], member))
		}
	}
	if _, err := time.Parse(time.RFC3339, at(rows[0], "last_updated").(string)); err != nil {
		t.Error(err)
	}
	second := s.get("/coins/markets?vs_currency=usd&per_page=10&page=2").([]any)
	if first := s.get("/coins/markets?vs_currency=usd&per_page=20").([]any); len(second) != 10 || at(second[0], "id") != at(first[10], "id") {
		t.Errorf("the second page has %d, %v", len(second), second)
	}
	// The key, once set, is required in a header or in the query.
	s.set(`{"apiKey":"CG-secret"}`)
	ask := s.url + "/simple/price?ids=ethereum&vs_currencies=usd"
	for _, tc := range []struct {
		url    string
		header []string
		status int
	}{
		{ask, nil, 401}, {ask, []string{"x-cg-demo-api-key", "wrong"}, 401}, {ask, []string{"x-cg-demo-api-key", "CG-secret"}, 200},
		{ask, []string{"x-cg-pro-api-key", "CG-secret"}, 200}, {ask + "&x_cg_demo_api_key=CG-secret", nil, 200},
	} {
		status, raw := sandboxtest.Ask(t, http.MethodGet, tc.url, nil, tc.header...)
		if status != tc.status || strings.Contains(string(raw), "secret") {
			t.Errorf("%v: %d %s", tc.header, status, raw)
		}
	}
}

func TestDexScreenerForms(t *testing.T) {
	s := open(t, "dexscreener")
	pairs := s.get("/tokens/v1/ethereum/" + usdcOnMain + "," + nobody).([]any)
	latest := s.get("/latest/dex/tokens/" + usdcOnMain)
	if at(latest, "schemaVersion") != "1.0.0" || len(at(latest, "pairs").([]any)) != len(pairs) {
		t.Errorf("the latest pairs are %v, want %d", latest, len(pairs))
	}
	deepest, price := 0.0, ""
	for _, p := range pairs {
		for _, member := range []string{"chainId", "dexId", "url", "pairAddress", "baseToken", "quoteToken", "priceNative", "priceUsd", "txns", "volume", "priceChange", "liquidity", "fdv", "marketCap", "pairCreatedAt"} {
			if at(p, member) == nil {
				t.Errorf("no %s in %v", member, p)
			}
		}
		if usd := at(p, "liquidity", "usd").(float64); at(p, "baseToken", "address") == usdcOnMain && usd > deepest {
			deepest, price = usd, at(p, "priceUsd").(string)
		}
		if _, ok := at(p, "priceChange", "h24").(float64); !ok {
			t.Errorf("a pair lacks the change of 24 hours: %v", p)
		}
	}
	if price != "1" || len(pairs) < 3 {
		t.Errorf("%q in the deepest of %d pairs", price, len(pairs))
	}
	// Clients must not take the first pair.
	if at(pairs[0], "priceUsd") == "1" {
		t.Error("the first pair is the right one")
	}
	if got := s.get("/tokens/v1/ethereum/" + nobody).([]any); len(got) != 0 {
		t.Errorf("pairs of an unknown token are %v, want none", got)
	}
	if got := at(s.get("/latest/dex/tokens/"+nobody), "pairs"); got != nil {
		t.Errorf("the latest pairs of an unknown token are %v, want null", got)
	}
}

func TestBlockscoutForms(t *testing.T) {
	s := open(t, "blockscout")
	token := `"symbol":"USDC","name":"x","decimals":"6","type":"ERC-20","exchange_rate":"0.99","volume_24h":"1","total_supply":"1","icon_url":null,"circulating_market_cap":"83606435600.36"`
	newer := recorded(t, `{"address_hash":"x","holders_count":"837494","circulating_supply":"1","reputation":"ok",`+token+`}`)
	for _, path := range []string{"/api/v2/tokens/" + usdcOnMain, "/1/api/v2/tokens/" + strings.ToLower(usdcOnMain)} {
		sandboxtest.SameShape(t, path, s.get(path), newer)
	}
	sandboxtest.SameShape(t, "counters", s.get("/1/api/v2/tokens/"+usdcOnMain+"/counters"), recorded(t, `{"token_holders_count":"1","transfers_count":"2"}`))
	if got := at(s.get("/8453/api/v2/stats"), "coin_price"); got != "3000" {
		t.Errorf("the coin's price is %v", got)
	}
	if holders := at(s.get("/1/api/v2/tokens/"+usdcOnMain), "holders_count"); holders != at(s.get("/1/api/v2/tokens/"+usdcOnMain+"/counters"), "token_holders_count") {
		t.Errorf("%v hold it", holders)
	}
	// On chain 5330 only some tokens have a price; all have holders.
	for address, want := range map[string]any{"0xC316C8252B5F2176d0135Ebb0999E99296998F2e": "1", seedUSDT: nil} {
		got := s.get("/5330/api/v2/tokens/" + address)
		if at(got, "exchange_rate") != want || at(got, "holders_count") == nil {
			t.Errorf("the token is %v, want exchange rate %v and holders", got, want)
		}
	}
	// The pages of the list contain every token of a chain.
	seen, path, pages := map[any]bool{}, "/1/api/v2/tokens?type=ERC-20", 0
	for ; pages < 5; pages++ {
		got := s.get(path)
		for _, item := range at(got, "items").([]any) {
			seen[at(item, "address_hash")] = true
		}
		next, ok := at(got, "next_page_params").(map[string]any)
		if !ok {
			break
		}
		query := url.Values{"type": {"ERC-20"}}
		for name, v := range next {
			query.Set(name, fmt.Sprint(v))
		}
		path = "/1/api/v2/tokens?" + query.Encode()
	}
	if len(seen) != 63 || pages != 1 {
		t.Errorf("%d tokens on %d further pages", len(seen), pages)
	}
	s.set(`{"legacy":true}`)
	sandboxtest.SameShape(t, "legacy", s.get("/1/api/v2/tokens/"+usdcOnMain), recorded(t, `{"address":"x","holders":"837494",`+token+`}`))
}

func TestGoPlusForms(t *testing.T) {
	s := open(t, "goplus")
	got := s.get("/api/v1/token_security/56?contract_addresses=" + bscUSDC + "," + nobody)
	result := at(got, "result", strings.ToLower(bscUSDC))
	if at(got, "code") != 1.0 || at(got, "message") != "OK" || len(at(got, "result").(map[string]any)) != 1 {
		t.Fatalf("token security is %v, want one token", got)
	}
	if n, err := strconv.ParseInt(at(result, "holder_count").(string), 10, 64); err != nil || n < 1 || at(result, "token_symbol") != "USDC" {
		t.Errorf("token security of USDC is %v, want its symbol and holders", result)
	}
	if got := s.get("/api/v1/token_security/5330?contract_addresses=" + seedWETH); at(got, "code") == 1.0 || at(got, "result") != nil {
		t.Errorf("token security on an unknown chain is %v, want an error", got)
	}
}

// TestRefusals checks which requests are refused and the form of the error.
func TestRefusals(t *testing.T) {
	many := func(n int, prefix string) string {
		var all []string
		for i := range n {
			all = append(all, prefix+common.Address{18: byte(i >> 8), 19: byte(i)}.Hex())
		}
		return strings.Join(all, ",")
	}
	for _, tc := range []struct {
		kind, path string
		status     int
		says       string
	}{
		{"defillama", "/prices/current/" + many(100, "base:"), 200, `"coins"`},
		{"defillama", "/prices/current/" + many(101, "base:"), 400, `"message"`},
		{"defillama", "/prices/current/" + many(200, "base:"), 414, `"message"`},
		{"defillama", "/prices/historical/soon/x:y", 400, `"message"`},
		{"defillama", "/chart/x:y?span=1001", 400, `"message"`},
		{"defillama", "/chart/x:y?start=1&end=2", 400, `"message"`},
		{"defillama", "/chart/x:y?period=1y", 400, `"message"`},
		{"defillama", "/batchHistorical?coins=[]", 400, `"message"`},
		{"defillama", "/batchHistorical", 400, `"message"`},
		{"defillama", "/mcaps", 404, `"message"`}, // it is a POST
		{"defillama", "/prices", 404, `"message"`},
		{"geckoterminal", "/simple/networks/eth/token_price/" + many(30, ""), 200, `"token_prices"`},
		{"geckoterminal", "/simple/networks/eth/token_price/" + many(31, ""), 422, `"errors"`},
		{"geckoterminal", "/networks/eth/tokens/multi/" + many(31, ""), 422, `"errors"`},
		{"geckoterminal", "/networks/eth/tokens/multi/0x12", 422, `"errors"`},
		{"geckoterminal", "/networks/nowhere/tokens/multi/" + usdcOnMain, 404, `"errors"`},
		{"geckoterminal", "/networks/eth/tokens/" + nobody + "/info", 404, `"errors"`},
		{"geckoterminal", "/networks/eth/tokens/" + nobody, 404, `"errors"`},
		{"coingecko", "/simple/price?ids=ethereum", 422, `Missing parameter vs_currencies`},
		{"coingecko", "/simple/price?vs_currencies=usd", 422, `Missing parameter ids`},
		{"coingecko", "/simple/price?ids=ethereum&vs_currencies=eur", 422, `invalid`},
		{"coingecko", "/simple/token_price/nowhere?vs_currencies=usd&contract_addresses=" + nobody, 404, `"error"`},
		{"coingecko", "/coins/markets?vs_currency=usd&page=0", 422, `invalid page`},
		{"dexscreener", "/tokens/v1/base/" + many(30, ""), 200, `[]`},
		{"dexscreener", "/tokens/v1/base/" + many(31, ""), 400, `"error"`},
		{"dexscreener", "/latest/dex/tokens/" + many(31, ""), 400, `"error"`},
		{"blockscout", "/1/api/v2/tokens/" + nobody, 404, `{"message":"Not found"}`},
		{"blockscout", "/56/api/v2/tokens/" + bscUSDC, 404, `{"message":"Not found"}`},
		{"blockscout", "/1/api/v2/tokens/" + common.Address{}.Hex(), 404, `{"message":"Not found"}`},
		{"blockscout", "/1/api/v2/tokens/0x12", 422, `"errors"`},
		{"goplus", "/api/v1/token_security", 404, `"code"`},
	} {
		status, raw := sandboxtest.Ask(t, http.MethodGet, open(t, tc.kind).url+tc.path, nil)
		if status != tc.status || !strings.Contains(string(raw), tc.says) || !json.Valid(raw) {
			t.Errorf("%s %.80s: %d %.200s", tc.kind, tc.path, status, raw)
		}
	}
	if status, _ := sandboxtest.Ask(t, http.MethodPost, open(t, "defillama").url+"/mcaps", []byte(`{"coins":1}`)); status != 400 {
		t.Errorf("mcaps of a number: %d", status)
	}
	if _, err := pricesim.New("nothing", market.NewPrices(1, now), nil); err == nil || pricesim.Base("nothing") != "" {
		t.Error("a service that there is not")
	}
}

// price is the request and member for the price of WETH on chain 1, by service.
var price = map[string]struct {
	path string
	at   []any
	text bool
}{
	"defillama":     {"/prices/current/ethereum:" + wethOnMain, []any{"coins", "ethereum:" + wethOnMain, "price"}, false},
	"geckoterminal": {"/simple/networks/eth/token_price/" + wethOnMain, []any{"data", "attributes", "token_prices", strings.ToLower(wethOnMain)}, true},
	"coingecko":     {"/simple/token_price/ethereum?vs_currencies=usd&contract_addresses=" + wethOnMain, []any{strings.ToLower(wethOnMain), "usd"}, false},
	"dexscreener":   {"/tokens/v1/ethereum/" + wethOnMain, []any{1, "priceUsd"}, true},
	"blockscout":    {"/1/api/v2/tokens/" + wethOnMain, []any{"exchange_rate"}, true},
}

// TestSettingsOfPrices checks every setting in every service that reports prices.
func TestSettingsOfPrices(t *testing.T) {
	past, _ := market.NewPrices(1, now).At("WETH", now.Add(-24*time.Hour))
	for kind, where := range price {
		s := open(t, kind)
		for _, tc := range []struct {
			change       string
			number, text any
		}{
			{`{}`, 3000.0, "3000"},
			{`{"factor":10}`, 30_000.0, "30000"},
			{`{"factor":-1}`, -3000.0, "-3000"},
			{`{"factor":0}`, 0.0, "0"},
			{`{"factor":10,"about":["USDC"]}`, 3000.0, "3000"},
			{`{"factor":10,"about":["USDC","WETH"]}`, 30_000.0, "30000"},
			{`{"say":"NaN"}`, "NaN", "NaN"},
			{`{"say":"0"}`, 0.0, "0"},
			{`{"say":"-5"}`, -5.0, "-5"},
			{`{"say":"1e400"}`, nil, "1e400"},
			{`{"say":"null"}`, nil, nil},
			{`{"unknown":["WETH"]}`, nil, nil},
			{`{"only":["USDC"]}`, nil, nil},
			{`{"only":["WETH"]}`, 3000.0, "3000"},
			{`{"stale":86400}`, math.Round(past*1e4) / 1e10, nil},
		} {
			s.Reset()
			s.set(tc.change)
			status, raw := sandboxtest.Ask(t, http.MethodGet, s.url+where.path, nil)
			var body any
			if err := json.Unmarshal(raw, &body); err != nil {
				if tc.change != `{"say":"1e400"}` || where.text { // out of range for a float64
					t.Errorf("%s %s: %d %s", kind, tc.change, status, raw)
				}
				continue
			}
			want, got := tc.number, at(body, where.at...)
			if where.text {
				want = tc.text
			}
			if tc.change == `{"stale":86400}` {
				text := fmt.Sprint(got)
				f, err := strconv.ParseFloat(text, 64)
				if err != nil || math.Abs(f-past/1e6) > 1e-6 {
					t.Errorf("%s: a day old: %v, want %v", kind, got, past/1e6)
				}
				continue
			}
			if got != want {
				t.Errorf("%s %s: %d, %v, want %v", kind, tc.change, status, got, want)
			}
		}
	}
	s := open(t, "defillama")
	s.set(`{"stale":7200,"confidence":0.5}`)
	got := at(s.get(price["defillama"].path), "coins", "ethereum:"+wethOnMain)
	if at(got, "timestamp") != float64(now.Unix()-7200) || at(got, "confidence") != 0.5 {
		t.Errorf("the price is %v, want it two hours old with confidence 0.5", got)
	}
}

func TestBadSettings(t *testing.T) {
	for kind, bad := range map[string][]string{
		"defillama": {`{"apiKey":"x"}`, `{"legacy":true}`, `{"confidence":1.1}`, `{"confidence":-1}`, `{"rateLimit":-1}`, `{"stale":-1}`, `{"stale":999999999999}`,
			`{"factor":1e13}`, `{"only":["DOGE"]}`, `{"unknown":["DOGE"]}`, `{"about":[""]}`, `{"say":"` + strings.Repeat("x", 201) + `"}`},
		"coingecko":  {`{"confidence":0.5}`, `{"legacy":true}`},
		"blockscout": {`{"apiKey":"x"}`},
	} {
		s := open(t, kind)
		for _, change := range bad {
			settings := s.Settings()
			if err := json.Unmarshal([]byte(change), &settings); err != nil {
				t.Fatal(err)
			}
			if s.Set(settings) == nil {
				t.Errorf("%s takes %.60s", kind, change)
			}
		}
		if got := s.Settings(); fmt.Sprint(got) != fmt.Sprint(pricesim.DefaultSettings) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// TestRateLimit checks that requests above the limit get 429 with Retry-After.
func TestRateLimit(t *testing.T) {
	paths := map[string]string{"goplus": "/api/v1/token_security/56"}
	for kind, p := range price {
		paths[kind] = p.path
	}
	for kind, path := range paths {
		s := open(t, kind)
		s.set(`{"rateLimit":2}`)
		for i, want := range []int{200, 200, 429} {
			resp := sandboxtest.Send(t, http.MethodGet, s.url+path, nil)
			if resp.StatusCode != want || (want == 429) != (resp.Header.Get("Retry-After") == "30") {
				t.Errorf("%s, request %d: %d, %q", kind, i, resp.StatusCode, resp.Header.Get("Retry-After"))
			}
		}
		s.set(`{"rateLimit":0}`)
		s.get(path)
	}
}

// TestFaultsOfEndpoints checks that fault targets are paths without variables.
func TestFaultsOfEndpoints(t *testing.T) {
	targets := map[string]string{
		"defillama": "/prices/current", "geckoterminal": "/simple/token_price", "coingecko": "/simple/token_price",
		"dexscreener": "/tokens/v1", "blockscout": "/api/v2/tokens/address",
	}
	for kind, target := range targets {
		s := open(t, kind)
		if _, err := s.Faults.Add(inject.Rule{Target: target, Kind: inject.HTTP, Status: 503, Times: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Faults.Add(inject.Rule{Target: target, Kind: inject.Truncate, Times: 1}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{503, 200, 200} {
			status, raw := sandboxtest.Ask(t, http.MethodGet, s.url+price[kind].path, nil)
			if status != want || json.Valid(raw) != (i == 2) {
				t.Errorf("%s: %d %s", kind, status, raw)
			}
		}
		if got := s.Faults.Counts(); got[target] != 3 || len(got) != 1 {
			t.Errorf("%s: counted %v", kind, got)
		}
	}
}
