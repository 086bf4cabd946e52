package source

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// DefiLlama reads coins.llama.fi, which needs no key and covers the most tokens. Its prices
// change about every five minutes and carry their own time and confidence.
type DefiLlama struct {
	*service
	archive *service // charts take longer to answer
}

// coinsPerCall is the number of coins per call; no limit is documented.
const coinsPerCall = 100

// NewDefiLlama prepares a client.
func NewDefiLlama(c Config) (*DefiLlama, error) {
	const base = "https://coins.llama.fi"
	// The free limit is not published; this is a quarter of what it is believed to be.
	s, err := c.open(price.DefiLlama, defaults{base: base, perMinute: 120, burst: 20})
	if err != nil {
		return nil, err
	}
	slow := defaults{base: base, perMinute: 60, burst: 4, limits: rest.Limits{Attempt: 15 * time.Second, Call: 35 * time.Second}}
	archive, err := c.open(price.DefiLlama, slow)
	if err != nil {
		return nil, err
	}
	return &DefiLlama{s, archive}, nil
}

// Close drops idle connections.
func (d *DefiLlama) Close() {
	d.service.Close()
	d.archive.Close()
}

// llamaAsks returns keys of the form chain:address. A native coin uses CoinGecko's ID,
// which several chains share.
func llamaAsks(ts []tokens.Token) *keySet {
	all := new(keySet)
	for _, t := range ts {
		n, id := networks[t.Chain], price.IDOf(t)
		if t.Address == tokens.Native {
			if n.coin != "" {
				all.add("coingecko:"+n.coin, id)
			}
			continue
		}
		for _, slug := range n.slugs {
			all.add(slug+":"+tokenKey(t), id)
		}
	}
	return all
}

// Now implements poll.Source.
func (d *DefiLlama) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	var qs []query
	for _, a := range llamaAsks(ts).batches(coinsPerCall) {
		qs = append(qs, query{
			from: d.service, keySet: a, read: readLlamaPrices, path: "/prices/current/{coins}",
			call: rest.Call{Method: http.MethodGet, Path: "/prices/current/" + strings.Join(a.keys, ",")},
		})
	}
	all, err := ask(ctx, d.timeout, qs)
	return all.readings, err
}

// readLlamaPrices reads {"coins":{"<requested key>":{"price","timestamp","confidence"}}};
// unknown coins are absent.
func readLlamaPrices(r *rest.Reply, asks *keySet, to *results) error {
	var doc struct {
		Coins map[string]json.RawMessage `json:"coins"`
	}
	if decodeDocument(r.Body, &doc) != nil || doc.Coins == nil {
		return ErrReply
	}
	for _, key := range asks.keys {
		var coin struct {
			Price      decimal `json:"price"`
			Timestamp  decimal `json:"timestamp"`
			Confidence decimal `json:"confidence"`
		}
		if !decodeRow(doc.Coins[key], &coin) {
			continue
		}
		v, priced := coin.Price.value()
		at, timed := coin.Timestamp.time(r.Received)
		confidence, ok := coin.Confidence.confidence()
		if priced && timed && ok {
			to.addReading(asks.ids[key], price.Reading{
				Sample: price.Sample{Value: v, At: at, Source: price.DefiLlama}, Confidence: confidence,
			})
		}
	}
	return nil
}

// MarketCaps implements poll.MetadataSource. The service does not document this call; if it is not
// available there are no caps.
func (d *DefiLlama) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	var qs []query
	for _, a := range llamaAsks(ts).batches(coinsPerCall) {
		body, err := json.Marshal(map[string][]string{"coins": a.keys})
		if err != nil {
			return nil, err
		}
		qs = append(qs, query{
			from: d.service, keySet: a, read: readLlamaCaps, path: "/mcaps",
			call: rest.Call{Method: http.MethodPost, Path: "/mcaps", Body: body, Repeatable: true},
		})
	}
	all, err := ask(ctx, slowFactor*d.timeout, qs)
	var e *rest.Error
	if errors.As(err, &e) && unsupported[e.Status] {
		err = nil
	}
	return all.marketCaps, err
}

// unsupported are the statuses of a call that is not available.
var unsupported = map[int]bool{
	http.StatusBadRequest: true, http.StatusForbidden: true, http.StatusNotFound: true,
	http.StatusMethodNotAllowed: true, http.StatusGone: true, http.StatusNotImplemented: true,
}

// maxCapAge is the maximum age of a market cap, which changes with the price.
const maxCapAge = 24 * time.Hour

// readLlamaCaps reads {"<requested key>":{"mcap","timestamp"}}.
func readLlamaCaps(r *rest.Reply, asks *keySet, to *results) error {
	var doc map[string]json.RawMessage
	if decodeDocument(r.Body, &doc) != nil || doc == nil {
		return ErrReply
	}
	for _, key := range asks.keys {
		var coin struct {
			Mcap      decimal `json:"mcap"`
			Timestamp decimal `json:"timestamp"`
		}
		if !decodeRow(doc[key], &coin) {
			continue
		}
		v, known := coin.Mcap.value()
		at, timed := coin.Timestamp.time(r.Received)
		if known && timed && r.Received.Sub(at) <= maxCapAge {
			setIfAbsent(to.marketCaps, asks.ids[key], v)
		}
	}
	return nil
}

// Holders implements poll.MetadataSource; there are none.
func (d *DefiLlama) Holders(context.Context, []tokens.Token) (map[price.ID]uint64, error) {
	return nil, nil
}
