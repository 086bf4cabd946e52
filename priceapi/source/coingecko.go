package source

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// CoinGecko gives prices from exchanges of every kind. It needs a key. Its monthly quota
// would last only days at a request per minute, so calls are spread over the month; those
// ahead of schedule fail here as throttled, with the time to wait.
type CoinGecko struct {
	*service
	prices, caps *budget
	batch        atomic.Int32 // index in batchSizes
}

// A plan describes a kind of key.
type plan struct {
	base, header string
	perMinute    float64
	monthly      float64 // calls per month
}

// plans, by whether they are paid. For paid ones the smallest is assumed.
var plans = map[bool]plan{
	false: {"https://api.coingecko.com/api/v3", "X-Cg-Demo-Api-Key", 30, 10_000},
	true:  {"https://pro-api.coingecko.com/api/v3", "X-Cg-Pro-Api-Key", 250, 100_000},
}

// batchSizes are the numbers of addresses per call that plans have allowed over the years. The
// current limit is not published; exceeding it returns 400.
var batchSizes = []int{30, 10, 1}

// NewCoinGecko prepares a client.
func NewCoinGecko(c Config) (*CoinGecko, error) {
	if c.Key == nil {
		return nil, errors.New("coingecko: needs an API key")
	}
	p := plans[c.Pro]
	s, err := c.open(price.CoinGecko, defaults{
		base: p.base, perMinute: p.perMinute, burst: 10, secrets: c.keyed(p.header, false),
		limits: rest.Limits{Attempts: 1}, // a retry would count towards the quota
	})
	if err != nil {
		return nil, err
	}
	return &CoinGecko{service: s, prices: newBudget(p.monthly * 6 / 10), caps: newBudget(p.monthly * 4 / 10)}, nil
}

// queries requests prices and market caps together: native coins by ID, other tokens by
// platform and address.
func (c *CoinGecko) queries(ts []tokens.Token) []query {
	quoted := func() url.Values {
		return url.Values{
			"vs_currencies": {"usd"}, "include_market_cap": {"true"}, "include_24hr_change": {"true"},
			"include_last_updated_at": {"true"}, "precision": {"full"},
		}
	}
	coins := new(keySet)
	for _, t := range ts {
		if id := networks[t.Chain].coin; id != "" && t.Address == tokens.Native {
			coins.add(id, price.IDOf(t))
		}
	}
	var qs []query
	add := func(a *keySet, path, by string) {
		values := quoted()
		values.Set(by, strings.Join(a.keys, ","))
		qs = append(qs, query{
			from: c.service, keySet: a, read: readCoinGecko, path: path,
			call: rest.Call{Method: http.MethodGet, Path: path, Query: values},
		})
	}
	for _, a := range coins.batches(coinsPerCall) {
		add(a, "/simple/price", "ids")
	}
	for _, chain := range byChain(ts, func(id uint64) string { return networks[id].platform }, tokenKey) {
		for _, a := range chain.batches(batchSizes[c.batch.Load()]) {
			add(a, "/simple/token_price/"+chain.slug, "contract_addresses")
		}
	}
	return qs
}

// Now implements poll.Source.
func (c *CoinGecko) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	all, err := c.ask(ctx, c.prices, c.queries(ts), 1)
	return all.readings, err
}

// MarketCaps implements poll.MetadataSource.
func (c *CoinGecko) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	all, err := c.ask(ctx, c.caps, c.queries(ts), slowFactor)
	return all.marketCaps, err
}

// Holders implements poll.MetadataSource; there are none.
func (c *CoinGecko) Holders(context.Context, []tokens.Token) (map[price.ID]uint64, error) {
	return nil, nil
}

func (c *CoinGecko) ask(ctx context.Context, from *budget, qs []query, times time.Duration) (*results, error) {
	granted, wait := from.spend(c.now(), len(qs))
	if wait > 0 {
		return newResults(), &rest.Error{
			Service: c.Name(), Method: http.MethodGet, Path: "/simple", Kind: rest.Throttled, RetryAfter: wait,
			Detail: "the calls of a month are spread over it; more come with a larger plan",
		}
	}
	size := c.batch.Load()
	all, err := ask(ctx, times*c.timeout, qs[:granted])
	var e *rest.Error
	if errors.As(err, &e) && e.Status == http.StatusBadRequest && int(size) < len(batchSizes)-1 {
		c.batch.CompareAndSwap(size, size+1)
	}
	return all, err
}

// readCoinGecko reads {"<ID or lower-case address>":{"usd","usd_market_cap",
// "usd_24h_change","last_updated_at"}}.
func readCoinGecko(r *rest.Reply, asks *keySet, to *results) error {
	var doc map[string]json.RawMessage
	if decodeDocument(r.Body, &doc) != nil || doc == nil {
		return ErrReply
	}
	for _, key := range asks.keys {
		var coin struct {
			USD       decimal `json:"usd"`
			MarketCap decimal `json:"usd_market_cap"`
			Change    decimal `json:"usd_24h_change"`
			Updated   decimal `json:"last_updated_at"`
		}
		if !decodeRow(doc[key], &coin) {
			continue
		}
		v, priced := coin.USD.value()
		before, ok := coin.Change.dayAgo(v)
		at, timed := coin.Updated.time(r.Received)
		if !priced || !ok || !timed {
			continue
		}
		to.addReading(asks.ids[key], price.Reading{Sample: price.Sample{Value: v, At: at, Source: price.CoinGecko}, DayAgo: before})
		if marketCap, known := coin.MarketCap.value(); known && r.Received.Sub(at) <= maxCapAge {
			setIfAbsent(to.marketCaps, asks.ids[key], marketCap)
		}
	}
	return nil
}
