package source

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// GeckoTerminal gives prices from decentralized exchanges and needs no key. Native coins
// are priced by their wrapped form.
type GeckoTerminal struct{ *service }

// NewGeckoTerminal prepares a client.
func NewGeckoTerminal(c Config) (*GeckoTerminal, error) {
	s, err := c.open(price.GeckoTerminal, defaults{base: "https://api.geckoterminal.com/api/v2", perMinute: 30, burst: 10})
	if err != nil {
		return nil, err
	}
	return &GeckoTerminal{s}, nil
}

// tokensPerPoolCall is how many tokens GeckoTerminal accepts in one call.
const tokensPerPoolCall = 30

func (g *GeckoTerminal) prices(ts []tokens.Token, key func(tokens.Token) string) []query {
	var qs []query
	for _, chain := range byChain(ts, func(id uint64) string { return networks[id].gecko }, key) {
		path := "/simple/networks/" + chain.slug + "/token_price/"
		for _, a := range chain.batches(tokensPerPoolCall) {
			qs = append(qs, query{
				from: g.service, keySet: a, read: readGeckoPrices, path: path + "{addresses}",
				call: rest.Call{Method: http.MethodGet, Path: path + strings.Join(a.keys, ","), Query: url.Values{
					"include_market_cap": {"true"}, "mcap_fdv_fallback": {"false"}, "include_24hr_price_change": {"true"},
					"include_total_reserve_in_usd": {"true"},
					"include_inactive_source":      {"true"}, // without it, there is no time of the last trade
				}},
			})
		}
	}
	return qs
}

// Now implements poll.Source.
func (g *GeckoTerminal) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	all, err := ask(ctx, g.timeout, g.prices(ts, marketKey))
	return all.readings, err
}

// MarketCaps implements poll.MetadataSource with caps that the service has verified. Native coins
// have none: their wrapped form is only a small part of the supply.
func (g *GeckoTerminal) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	all, err := ask(ctx, slowFactor*g.timeout, g.prices(ts, tokenKey))
	return all.marketCaps, err
}

// minLiquidity is in dollars. In a market with less, a small trade can set the price.
var minLiquidity = must(price.Parse("10000"))

// geckoPrices are maps by lower-case address; the numbers are strings.
type geckoPrices struct {
	Prices   map[string]json.RawMessage `json:"token_prices"`
	Caps     map[string]json.RawMessage `json:"market_cap_usd"`
	Changes  map[string]json.RawMessage `json:"h24_price_change_percentage"`
	Reserves map[string]json.RawMessage `json:"total_reserve_in_usd"`
	Trades   map[string]json.RawMessage `json:"last_trade_timestamp"`
}

func readGeckoPrices(r *rest.Reply, asks *keySet, to *results) error {
	var doc struct {
		Data struct {
			Attributes *geckoPrices `json:"attributes"`
		} `json:"data"`
	}
	if decodeDocument(r.Body, &doc) != nil || doc.Data.Attributes == nil || doc.Data.Attributes.Prices == nil {
		return ErrReply
	}
	for _, key := range asks.keys {
		if x, marketCap, ok := doc.Data.Attributes.of(key, r); ok {
			to.addReading(asks.ids[key], x)
			if !marketCap.IsZero() {
				setIfAbsent(to.marketCaps, asks.ids[key], marketCap)
			}
		}
	}
	return nil
}

// of returns one token's reading, and its market cap or zero. The service does not say when
// a price was made. The time of the last trade is used, since the price cannot have changed
// later. A reply without any such times counts as current, because the service promises
// prices at most a minute old.
func (g *geckoPrices) of(key string, reply *rest.Reply) (r price.Reading, marketCap price.Value, ok bool) {
	var fields struct{ price, cap, change, reserve, trade decimal }
	for _, one := range []struct {
		from map[string]json.RawMessage
		to   *decimal
	}{{g.Prices, &fields.price}, {g.Caps, &fields.cap}, {g.Changes, &fields.change}, {g.Reserves, &fields.reserve}, {g.Trades, &fields.trade}} {
		if raw := one.from[key]; raw != nil && !decodeRow(raw, one.to) {
			return r, marketCap, false
		}
	}
	v, priced := fields.price.value()
	before, hasChange := fields.change.dayAgo(v)
	at, timed := fields.trade.time(reply.Received)
	if g.Trades == nil {
		at, timed = replyTime(reply)
	}
	reserve, deep := fields.reserve.value()
	deep = g.Reserves == nil || deep && reserve.Cmp(minLiquidity) >= 0
	if !priced || !hasChange || !timed || !deep {
		return r, marketCap, false
	}
	marketCap, _ = fields.cap.value() // null unless verified
	return price.Reading{Sample: price.Sample{Value: v, At: at, Source: price.GeckoTerminal}, DayAgo: before}, marketCap, true
}

// Holders implements poll.MetadataSource. It takes one of the few calls per token, so it is used
// only on chains without a Blockscout explorer, which also counts holders.
func (g *GeckoTerminal) Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error) {
	unexplored := func(id uint64) string {
		if networks[id].explorer != "" {
			return ""
		}
		return networks[id].gecko
	}
	var qs []query
	for _, chain := range byChain(ts, unexplored, tokenKey) {
		path := "/networks/" + chain.slug + "/tokens/"
		for _, a := range chain.batches(1) {
			qs = append(qs, query{
				from: g.service, keySet: a, read: readGeckoHolders, path: path + "{address}/info", unknown: true,
				call: rest.Call{Method: http.MethodGet, Path: path + a.keys[0] + "/info"},
			})
		}
	}
	all, err := ask(ctx, slowFactor*g.timeout, qs)
	return all.holders, err
}

// readGeckoHolders reads {"data":{"attributes":{"address","holders":{"count"}}}} of one
// token. holders is null if they are not counted.
func readGeckoHolders(r *rest.Reply, asks *keySet, to *results) error {
	var doc struct {
		Data struct {
			Attributes *struct {
				Address string          `json:"address"`
				Holders json.RawMessage `json:"holders"`
			} `json:"attributes"`
		} `json:"data"`
	}
	if decodeDocument(r.Body, &doc) != nil || doc.Data.Attributes == nil {
		return ErrReply
	}
	var holders struct {
		Count decimal `json:"count"`
	}
	key := asks.keys[0]
	if !strings.EqualFold(doc.Data.Attributes.Address, key) || !decodeRow(doc.Data.Attributes.Holders, &holders) {
		return nil
	}
	if n, ok := holders.Count.count(); ok {
		setIfAbsent(to.holders, asks.ids[key], n)
	}
	return nil
}
