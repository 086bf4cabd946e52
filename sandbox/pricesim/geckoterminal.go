package pricesim

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

var geckoterminal = kind{
	name: "geckoterminal",
	base: "/api/v2",
	endpoints: []endpoint{
		{"GET /api/v2/networks", "/networks", (*Server).geckoNetworks},
		{"GET /api/v2/simple/networks/{network}/token_price/{addresses}", "/simple/token_price", (*Server).geckoSimple},
		{"GET /api/v2/networks/{network}/tokens/multi/{addresses}", "/tokens/multi", (*Server).geckoMulti},
		{"GET /api/v2/networks/{network}/tokens/{address}", "/tokens", (*Server).geckoToken},
		{"GET /api/v2/networks/{network}/tokens/{address}/info", "/tokens/info", (*Server).geckoInfo},
	},
	refuse: func(e refusal) any {
		return map[string]any{"errors": []map[string]string{{"status": strconv.Itoa(e.status), "title": e.what}}}
	},
}

// maxGecko limits the addresses of a request.
const maxGecko = 30

// geckoChains are GeckoTerminal's networks, in the order of its list. That of 5330 is
// assumed.
var geckoChains = []struct {
	id, name, platform string
	chain              uint64
}{
	{"eth", "Ethereum", "ethereum", 1},
	{"bsc", "BNB Chain", "binance-smart-chain", 56},
	{"base", "Base", "base", 8453},
	{"arbitrum", "Arbitrum", "arbitrum-one", 42161},
	{"optimism", "Optimism", "optimistic-ethereum", 10},
	{"monad", "Monad", "monad", 143},
	{"avax", "Avalanche", "avalanche", 43114},
	{"superseed", "Superseed", "superseed", 5330},
}

func (s *Server) geckoNetworks(r *http.Request) (any, error) {
	data := []any{}
	if page := r.URL.Query().Get("page"); page == "" || page == "1" {
		for _, c := range geckoChains {
			data = append(data, map[string]any{
				"id": c.id, "type": "network",
				"attributes": map[string]any{"name": c.name, "coingecko_asset_platform_id": c.platform},
			})
		}
	}
	return map[string]any{"data": data}, nil
}

func geckoChain(r *http.Request) (uint64, error) {
	for _, c := range geckoChains {
		if c.id == r.PathValue("network") {
			return c.chain, nil
		}
	}
	return 0, errNoPath
}

// addresses splits a list of at most the given number of addresses, in lower case.
func addresses(list string, limit int, tooMany refusal) ([]string, error) {
	all := strings.Split(list, ",")
	if len(all) > limit {
		return nil, tooMany
	}
	for i, a := range all {
		if !strings.HasPrefix(a, "0x") || !common.IsHexAddress(a) {
			return nil, refusal{http.StatusUnprocessableEntity, "Invalid address"}
		}
		all[i] = strings.ToLower(a)
	}
	return all, nil
}

var tooManyGecko = refusal{http.StatusUnprocessableEntity, "exceeded maximum number of addresses (30)"}

// geckoTokens returns the known tokens of a request's addresses.
func (s *Server) geckoTokens(r *http.Request) (found []token, err error) {
	chain, err := geckoChain(r)
	if err != nil {
		return nil, err
	}
	list, err := addresses(r.PathValue("addresses"), maxGecko, tooManyGecko)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if t, ok := tokenAt(chain, a); ok && !t.native() && s.Settings().knows(t.Symbol) {
			found = append(found, t)
		}
	}
	return found, nil
}

func lower(t token) string { return strings.ToLower(t.Address.Hex()) }

// geckoCap returns the market capitalisation; null unless verified, which here means
// listed at CoinGecko.
func geckoCap(t token) any {
	if t.asset.CoinGeckoID == "" {
		return nil
	}
	return decimal(float64(t.asset.Cap()))
}

// volume and reserve are invented, in US dollars.
func volume(t token) float64  { return float64(t.asset.Cap()) / 50 }
func reserve(t token) float64 { return float64(t.asset.Cap()) / 20 }

func (s *Server) geckoSimple(r *http.Request) (any, error) {
	found, err := s.geckoTokens(r)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	// Members are included if the parameter asked is true; "" = always.
	members := []struct {
		name, asked string
		of          func(t token, q quote) any
	}{
		{"token_prices", "", func(_ token, q quote) any { return q.text() }},
		{"market_cap_usd", "include_market_cap", func(t token, _ quote) any {
			if c := geckoCap(t); c != nil || query.Get("mcap_fdv_fallback") != "true" {
				return c
			}
			return decimal(float64(t.asset.Cap()))
		}},
		{"h24_volume_usd", "include_24hr_vol", func(t token, _ quote) any { return decimal(volume(t)) }},
		{"h24_price_change_percentage", "include_24hr_price_change", func(t token, q quote) any {
			return decimal(s.change(t.Symbol, q, 24*time.Hour))
		}},
		{"total_reserve_in_usd", "include_total_reserve_in_usd", func(t token, _ quote) any { return decimal(reserve(t)) }},
		{"last_trade_timestamp", "", func(_ token, q quote) any { return q.at.Unix() }},
	}
	attributes := map[string]map[string]any{}
	for _, m := range members {
		if m.asked != "" && query.Get(m.asked) != "true" {
			continue
		}
		attributes[m.name] = map[string]any{}
		for _, t := range found {
			if q, ok := s.currentQuote(t.Symbol); ok {
				attributes[m.name][lower(t)] = m.of(t, q)
			}
		}
	}
	return map[string]any{"data": map[string]any{"id": requestID(r), "type": "simple_token_price", "attributes": attributes}}, nil
}

// requestID returns the id of a response, formatted as a UUID.
func requestID(r *http.Request) string {
	sum := sha256.Sum256([]byte(r.URL.RequestURI()))
	return fmt.Sprintf("%x-%x-4%x-8%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:36]
}

func (s *Server) geckoRecord(r *http.Request, t token) map[string]any {
	q, _ := s.currentQuote(t.Symbol)
	supply := float64(t.supply())
	return map[string]any{
		"id": r.PathValue("network") + "_" + lower(t), "type": "token",
		"attributes": map[string]any{
			"address": lower(t), "name": t.Name, "symbol": t.Symbol, "decimals": t.Decimals,
			"image_url": "missing.png", "coingecko_coin_id": orNull(t.asset.CoinGeckoID),
			"total_supply": strconv.FormatInt(t.supply(), 10) + strings.Repeat("0", int(t.Decimals)) + ".0", "normalized_total_supply": decimal(supply),
			"price_usd": q.text(), "fdv_usd": decimal(float64(t.asset.Cap())), "total_reserve_in_usd": decimal(reserve(t)),
			"volume_usd": map[string]string{"h24": decimal(volume(t))}, "market_cap_usd": geckoCap(t),
		},
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (s *Server) geckoMulti(r *http.Request) (any, error) {
	found, err := s.geckoTokens(r)
	if err != nil {
		return nil, err
	}
	data := []any{}
	for _, t := range found {
		data = append(data, s.geckoRecord(r, t))
	}
	return map[string]any{"data": data}, nil
}

// geckoOne returns the one token that a request names.
func (s *Server) geckoOne(r *http.Request) (token, error) {
	chain, err := geckoChain(r)
	if err != nil {
		return token{}, err
	}
	t, ok := tokenAt(chain, r.PathValue("address"))
	if !ok || t.native() || !s.Settings().knows(t.Symbol) {
		return token{}, errNoPath
	}
	return t, nil
}

func (s *Server) geckoToken(r *http.Request) (any, error) {
	t, err := s.geckoOne(r)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": s.geckoRecord(r, t)}, nil
}

func (s *Server) geckoInfo(r *http.Request) (any, error) {
	t, err := s.geckoOne(r)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": map[string]any{
		"id": r.PathValue("network") + "_" + lower(t), "type": "token",
		"attributes": map[string]any{
			"address": lower(t), "name": t.Name, "symbol": t.Symbol, "decimals": t.Decimals, "image_url": "missing.png",
			"coingecko_coin_id": orNull(t.asset.CoinGeckoID), "websites": []string{}, "description": nil, "gt_score": 92.5, "is_honeypot": "no",
			"holders": map[string]any{
				"count":                   t.holders(),
				"distribution_percentage": map[string]string{"top_10": "41.1", "11_30": "12.5", "31_50": "5.2", "rest": "41.2"},
				"last_updated":            s.now().UTC().Format(time.RFC3339),
			},
		},
	}}, nil
}
