package pricesim

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"swapkeep/sandbox/market"
)

var coingecko = kind{
	name: "coingecko",
	base: "/api/v3",
	endpoints: []endpoint{
		{"GET /api/v3/simple/token_price/{platform}", "/simple/token_price", withKey((*Server).coinTokens)},
		{"GET /api/v3/simple/price", "/simple/price", withKey((*Server).coinPrices)},
		{"GET /api/v3/coins/markets", "/coins/markets", withKey((*Server).coinMarkets)},
		{"GET /api/v3/asset_platforms", "/asset_platforms", withKey((*Server).coinPlatforms)},
	},
	refuse: coinRefusal,
	hasKey: true,
}

func coinRefusal(e refusal) any {
	if e.status == http.StatusTooManyRequests || e.status == http.StatusUnauthorized {
		code := e.status
		if code == http.StatusUnauthorized {
			code = 10002
		}
		return map[string]any{"status": map[string]any{"error_code": code, "error_message": e.what}}
	}
	return map[string]string{"error": e.what}
}

// coinPlatformIDs are CoinGecko's names of chains. Those of 5330 and 39 are assumed.
var coinPlatformIDs = []struct {
	id, native string
	chain      uint64
}{
	{"ethereum", "ethereum", 1}, {"optimistic-ethereum", "ethereum", 10}, {"binance-smart-chain", "binancecoin", 56}, {"base", "ethereum", 8453},
	{"arbitrum-one", "ethereum", 42161}, {"monad", "monad", 143}, {"avalanche", "avalanche-2", 43114}, {"superseed", "ethereum", 5330}, {"u2u-network", "u2u-network", 39},
}

// withKey requires the key of the settings, if any, in a header or in the query.
func withKey(answer func(*Server, *http.Request) (any, error)) func(*Server, *http.Request) (any, error) {
	return func(s *Server, r *http.Request) (any, error) {
		want := s.Settings().APIKey
		shown := r.URL.Query().Get("x_cg_demo_api_key")
		for _, header := range []string{"x-cg-demo-api-key", "x-cg-pro-api-key"} {
			if k := r.Header.Get(header); k != "" {
				shown = k
			}
		}
		if want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(shown)) != 1 {
			return nil, refusal{http.StatusUnauthorized, "API Key Missing"}
		}
		return answer(s, r)
	}
}

func (s *Server) coinPlatforms(*http.Request) (any, error) {
	all := []any{}
	for _, p := range coinPlatformIDs {
		all = append(all, map[string]any{"id": p.id, "chain_identifier": p.chain, "name": p.id, "shortname": "", "native_coin_id": p.native})
	}
	return all, nil
}

// maxCoinList limits the ids or addresses of a request.
const maxCoinList = 250

// list splits a required parameter at commas.
func list(query url.Values, name string) ([]string, error) {
	if query.Get(name) == "" {
		return nil, refusal{http.StatusUnprocessableEntity, "Missing parameter " + name}
	}
	all := strings.Split(query.Get(name), ",")
	if len(all) > maxCoinList {
		return nil, refusal{http.StatusRequestURITooLong, "too many in " + name}
	}
	return all, nil
}

// inDollars checks that only prices in US dollars are requested; there are no others.
func inDollars(query url.Values, name string) error {
	all, err := list(query, name)
	if err != nil {
		return err
	}
	for _, c := range all {
		if !strings.EqualFold(c, "usd") {
			return refusal{http.StatusUnprocessableEntity, "invalid " + name}
		}
	}
	return nil
}

// coinSimple returns what the simple endpoints report of an asset.
func (s *Server) coinSimple(a market.Asset, query url.Values) (map[string]any, bool) {
	q, ok := s.currentQuote(a.Symbol)
	reply := map[string]any{"usd": q.number()}
	for parameter, member := range map[string]struct {
		name string
		of   func() any
	}{
		"include_market_cap":      {"usd_market_cap", func() any { return a.Cap() }},
		"include_24hr_vol":        {"usd_24h_vol", func() any { return a.Cap() / 50 }},
		"include_24hr_change":     {"usd_24h_change", func() any { return s.change(a.Symbol, q, 24*time.Hour) }},
		"include_last_updated_at": {"last_updated_at", func() any { return q.at.Unix() }},
	} {
		if query.Get(parameter) == "true" {
			reply[member.name] = member.of()
		}
	}
	return reply, ok
}

func (s *Server) coinTokens(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := inDollars(query, "vs_currencies"); err != nil {
		return nil, err
	}
	requested, err := list(query, "contract_addresses")
	if err != nil {
		return nil, err
	}
	for _, p := range coinPlatformIDs {
		if p.id != r.PathValue("platform") {
			continue
		}
		all := map[string]any{}
		for _, address := range requested {
			t, ok := tokenAt(p.chain, address)
			if !ok || t.native() || t.asset.CoinGeckoID == "" {
				continue
			}
			if reply, ok := s.coinSimple(t.asset, query); ok {
				all[strings.ToLower(address)] = reply
			}
		}
		return all, nil
	}
	return nil, refusal{http.StatusNotFound, "coin not found"}
}

func (s *Server) coinPrices(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := inDollars(query, "vs_currencies"); err != nil {
		return nil, err
	}
	requested, err := list(query, "ids")
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for _, id := range requested {
		if a, ok := market.ByCoinGeckoID(id); ok {
			if reply, ok := s.coinSimple(a, query); ok {
				all[id] = reply
			}
		}
	}
	return all, nil
}

// page returns the number, from 1, and the size of the requested page.
func page(query url.Values) (number, size int, err error) {
	number, size = 1, 100
	for name, to := range map[string]*int{"page": &number, "per_page": &size} {
		if text := query.Get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 1 || *to > 10_000 {
				return 0, 0, refusal{http.StatusUnprocessableEntity, "invalid " + name}
			}
		}
	}
	return number, min(size, maxCoinList), nil
}

func (s *Server) coinMarkets(r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := inDollars(query, "vs_currency"); err != nil {
		return nil, err
	}
	number, size, err := page(query)
	if err != nil {
		return nil, err
	}
	var requested []string
	if query.Get("ids") != "" {
		if requested, err = list(query, "ids"); err != nil {
			return nil, err
		}
	} else {
		for _, a := range market.Assets() {
			if a.CoinGeckoID != "" {
				requested = append(requested, a.CoinGeckoID)
			}
		}
	}
	all := []any{}
	for _, id := range requested {
		if a, ok := market.ByCoinGeckoID(id); ok {
			if row, ok := s.coinMarket(a); ok {
				all = append(all, row)
			}
		}
	}
	first := min((number-1)*size, len(all))
	return all[first:min(first+size, len(all))], nil
}

func (s *Server) coinMarket(a market.Asset) (map[string]any, bool) {
	q, ok := s.currentQuote(a.Symbol)
	change := s.change(a.Symbol, q, 24*time.Hour)
	supply := float64(a.Cap()) * 1e6 / float64(a.Start())
	return map[string]any{
		"id": a.CoinGeckoID, "symbol": strings.ToLower(a.Symbol), "name": a.Symbol, "image": "",
		"current_price": q.number(), "market_cap": a.Cap(), "market_cap_rank": nil, "fully_diluted_valuation": a.Cap(), "total_volume": a.Cap() / 50,
		"price_change_24h": round(q.dollars-q.dollars/(1+change/100), 10), "price_change_percentage_24h": change,
		"circulating_supply": round(supply, 2), "total_supply": round(supply, 2), "max_supply": nil,
		"last_updated": q.at.UTC().Format("2006-01-02T15:04:05.000Z"),
	}, ok
}
