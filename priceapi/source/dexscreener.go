package source

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// DexScreener gives the prices of single markets on decentralized exchanges and needs no
// key. A token's price is that of its deepest market. Native coins are priced by their
// wrapped form.
type DexScreener struct{ *service }

// NewDexScreener prepares a client.
func NewDexScreener(c Config) (*DexScreener, error) {
	s, err := c.open(price.DexScreener, defaults{base: "https://api.dexscreener.com", perMinute: 300, burst: 20})
	if err != nil {
		return nil, err
	}
	return &DexScreener{s}, nil
}

// tokensPerPairCall is a third of what a call accepts: a token may have many pairs, and the
// limit of pairs in a reply is not documented.
const tokensPerPairCall = 10

// Now implements poll.Source.
func (d *DexScreener) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	var qs []query
	for _, chain := range byChain(ts, func(id uint64) string { return networks[id].dex }, marketKey) {
		path := "/tokens/v1/" + chain.slug + "/"
		for _, a := range chain.batches(tokensPerPairCall) {
			qs = append(qs, query{
				from: d.service, keySet: a, read: readPairs, path: path + "{addresses}",
				call: rest.Call{Method: http.MethodGet, Path: path + strings.Join(a.keys, ",")},
			})
		}
	}
	all, err := ask(ctx, d.timeout, qs)
	return all.readings, err
}

// A pair is one market. Its price is that of the base token.
type pair struct {
	ChainID   string `json:"chainId"`
	BaseToken struct {
		Address string `json:"address"`
	} `json:"baseToken"`
	PriceUSD  decimal `json:"priceUsd"`
	Liquidity struct {
		USD decimal `json:"usd"`
	} `json:"liquidity"`
	PriceChange struct {
		H24 decimal `json:"h24"`
	} `json:"priceChange"`
	Txns map[string]struct {
		Buys  decimal `json:"buys"`
		Sells decimal `json:"sells"`
	} `json:"txns"`
}

func readPairs(r *rest.Reply, asks *keySet, to *results) error {
	var doc []json.RawMessage
	if decodeDocument(r.Body, &doc) != nil || doc == nil {
		return ErrReply
	}
	now, ok := replyTime(r)
	if !ok {
		return nil
	}
	deepest := make(map[string]price.Value) // liquidity by address
	best := make(map[string]price.Reading)
	for _, raw := range doc {
		var p pair
		if !decodeRow(raw, &p) || p.ChainID != asks.slug {
			continue
		}
		key := strings.ToLower(p.BaseToken.Address)
		depth, deep := p.Liquidity.USD.value()
		if !deep || depth.Cmp(minLiquidity) < 0 || depth.Cmp(deepest[key]) <= 0 {
			continue
		}
		if reading, ok := p.reading(now); ok {
			deepest[key], best[key] = depth, reading
		}
	}
	for _, key := range asks.keys {
		if reading, ok := best[key]; ok {
			to.addReading(asks.ids[key], reading)
		}
	}
	return nil
}

func (p *pair) reading(now time.Time) (price.Reading, bool) {
	v, priced := p.PriceUSD.value()
	before, ok := p.PriceChange.H24.dayAgo(v)
	at, traded := p.lastTrade(now)
	return price.Reading{Sample: price.Sample{Value: v, At: at, Source: price.DexScreener}, DayAgo: before}, priced && ok && traded
}

// windows are the relevant time spans for which trades are counted.
var windows = []struct {
	name string
	span time.Duration
}{{"m5", 5 * time.Minute}, {"h1", time.Hour}}

// lastTrade returns the earliest possible time of the last trade. The service gives no time of
// the price, and an unused market keeps its last price for ever.
func (p *pair) lastTrade(now time.Time) (time.Time, bool) {
	for _, w := range windows {
		_, bought := p.Txns[w.name].Buys.count()
		_, sold := p.Txns[w.name].Sells.count()
		if bought || sold {
			return clampFuture(now.Add(-w.span), now)
		}
	}
	return time.Time{}, false
}
