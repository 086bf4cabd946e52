package pricesim

import (
	"net/http"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

var dexscreener = kind{
	name: "dexscreener",
	endpoints: []endpoint{
		{"GET /tokens/v1/{chain}/{addresses}", "/tokens/v1", (*Server).screenTokens},
		{"GET /latest/dex/tokens/{addresses}", "/latest/dex/tokens", (*Server).screenLatest},
	},
	refuse: func(e refusal) any { return map[string]string{"error": e.what} },
}

// maxScreen limits the addresses of a request.
const maxScreen = 30

var tooManyScreen = refusal{http.StatusBadRequest, "too many token addresses (30 at most)"}

// screenChains are DexScreener's names of chains, in search order. That of 5330 is assumed.
var screenChains = []struct {
	id    string
	chain uint64
}{
	{"ethereum", 1}, {"base", 8453}, {"bsc", 56}, {"optimism", 10}, {"arbitrum", 42161}, {"monad", 143}, {"avalanche", 43114}, {"superseed", 5330},
}

type screenToken struct {
	Address eip55.Address `json:"address"`
	Name    string        `json:"name"`
	Symbol  string        `json:"symbol"`
}

func screenOf(t token) screenToken { return screenToken{eip55.Address(t.Address), t.Name, t.Symbol} }

// A screenPair is a pool as DexScreener shows it.
type screenPair struct {
	ChainID       string             `json:"chainId"`
	DexID         string             `json:"dexId"`
	URL           string             `json:"url"`
	PairAddress   eip55.Address      `json:"pairAddress"`
	Labels        []string           `json:"labels,omitempty"`
	BaseToken     screenToken        `json:"baseToken"`
	QuoteToken    screenToken        `json:"quoteToken"`
	PriceNative   any                `json:"priceNative"`
	PriceUSD      any                `json:"priceUsd"`
	Txns          map[string]any     `json:"txns"`
	Volume        map[string]float64 `json:"volume"`
	PriceChange   map[string]float64 `json:"priceChange"`
	Liquidity     map[string]float64 `json:"liquidity"`
	FDV           int64              `json:"fdv"`
	MarketCap     int64              `json:"marketCap"`
	PairCreatedAt int64              `json:"pairCreatedAt"`
}

// screenPools are the pools of every token. The first price is slightly off, the second
// pool is the deepest with the token as base, the third is abandoned and has a wrong
// price, and in the last and deepest the token is the quote.
var screenPools = []struct {
	dex    string
	labels []string
	share  float64 // of the reserve
	off    float64 // factor on the price
	quote  bool
}{
	{"uniswap", []string{"v2"}, 0.02, 1.004, false},
	{"uniswap", []string{"v3"}, 1, 1, false},
	{"sushiswap", nil, 0.000_01, 0.7, false},
	{"uniswap", []string{"v4"}, 2, 1, true},
}

// screenPairs returns the pools of a token on a chain; nil if it is unknown.
func (s *Server) screenPairs(chain string, id uint64, address string) (pairs []screenPair) {
	t, ok := tokenAt(id, address)
	if !ok || t.native() || !s.Settings().knows(t.Symbol) {
		return nil
	}
	n, _ := network.ByID(id)
	other, _ := tokenAt(id, n.Wrapped.Address.Hex())
	if other.Address == t.Address {
		other, _ = tokenAt(id, n.Tokens[0].Address.Hex())
	}
	for i, p := range screenPools {
		base, quoted := t, other
		if p.quote {
			base, quoted = other, t
		}
		q, ok := s.currentQuote(base.Symbol)
		unit, _ := s.market.At(quoted.Symbol, q.at)
		if !ok {
			continue
		}
		q.dollars *= p.off
		native := q
		native.dollars /= unit / 1e6
		at := common.BytesToAddress(crypto.Keccak256(t.Address[:], []byte{byte(i)})[12:])
		depth := round(reserve(t)*p.share, 2)
		pairs = append(pairs, screenPair{
			ChainID: chain, DexID: p.dex, URL: "https://dexscreener.com/" + chain + "/" + strings.ToLower(at.Hex()), PairAddress: eip55.Address(at),
			Labels: p.labels, BaseToken: screenOf(base), QuoteToken: screenOf(quoted), PriceNative: native.text(), PriceUSD: q.text(),
			Txns:   screenTrades(p.share),
			Volume: map[string]float64{"h24": round(volume(t)*p.share, 2), "h6": round(volume(t)*p.share/4, 2)},
			PriceChange: map[string]float64{
				"m5": round(s.change(base.Symbol, q, 5*time.Minute), 2), "h1": round(s.change(base.Symbol, q, time.Hour), 2),
				"h6": round(s.change(base.Symbol, q, 6*time.Hour), 2), "h24": round(s.change(base.Symbol, q, 24*time.Hour), 2),
			},
			Liquidity: map[string]float64{"usd": depth, "base": round(depth/2/max(q.dollars, 1e-9), 4), "quote": round(depth/2/(unit/1e6), 4)},
			FDV:       base.asset.Cap(), MarketCap: base.asset.Cap(), PairCreatedAt: 1_620_000_000_000,
		})
	}
	return pairs
}

// screenTrades returns the number of trades by period. A nearly empty pool has no recent
// ones.
func screenTrades(share float64) map[string]any {
	spans := map[string]int{"m5": 1, "h1": 6, "h6": 31, "h24": 120}
	out := make(map[string]any, len(spans))
	for name, n := range spans {
		if share < 0.001 && name != "h24" {
			n = 0
		}
		out[name] = map[string]int{"buys": n, "sells": n * 5 / 6}
	}
	return out
}

func (s *Server) screenTokens(r *http.Request) (any, error) {
	requested, err := addresses(r.PathValue("addresses"), maxScreen, tooManyScreen)
	if err != nil {
		return nil, err
	}
	pairs := []screenPair{}
	for _, c := range screenChains {
		if c.id != r.PathValue("chain") {
			continue
		}
		for _, a := range requested {
			pairs = append(pairs, s.screenPairs(c.id, c.chain, a)...)
		}
	}
	return pairs, nil
}

func (s *Server) screenLatest(r *http.Request) (any, error) {
	requested, err := addresses(r.PathValue("addresses"), maxScreen, tooManyScreen)
	if err != nil {
		return nil, err
	}
	var pairs []screenPair // null if there are none
	for _, c := range screenChains {
		for _, a := range requested {
			pairs = append(pairs, s.screenPairs(c.id, c.chain, a)...)
		}
	}
	return map[string]any{"schemaVersion": "1.0.0", "pairs": pairs}, nil
}
