package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// Hosted is the price API of another Swapkeep, server or daemon.
type Hosted struct{ *service }

// NewHosted prepares a client. It requires c.Base and uses c.Key if set.
func NewHosted(c Config) (*Hosted, error) {
	if c.Base == "" {
		return nil, errors.New("hosted: needs the URL of a price API, without /api/v1")
	}
	s, err := c.open(price.Hosted, defaults{
		perMinute: 60, burst: 30, secrets: c.keyed("X-Api-Key", true), limits: rest.Limits{Body: 2 << 20},
	})
	if err != nil {
		return nil, err
	}
	return &Hosted{s}, nil
}

// Limits of a list: rows per page, as in the API, and pages per chain.
const (
	maxRows  = 1000
	maxPages = 20
)

// A list is one of the API's lists, with the reader of its rows.
type list struct {
	path string
	row  func(raw json.RawMessage, asks *keySet, now time.Time, to *results)
}

var (
	allTokens = list{"/api/v1/tokens", readToken}
	dayOld    = list{"/api/v1/tokens/price24h", readDay}
)

// Now implements poll.Source.
func (h *Hosted) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	all, err := h.lists(ctx, ts, h.timeout)
	for i, r := range all.readings {
		all.readings[i].DayAgo = all.dayAgo[r.ID]
	}
	return all.readings, err
}

// MarketCaps implements poll.MetadataSource. It omits caps that the other side computed from the
// total supply, which can be done here as well.
func (h *Hosted) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	all, err := h.lists(ctx, ts, slowFactor*h.timeout)
	for id := range all.marketCaps {
		if !all.circulating[id] {
			delete(all.marketCaps, id)
		}
	}
	return all.marketCaps, err
}

// Holders implements poll.MetadataSource.
func (h *Hosted) Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error) {
	all, err := h.lists(ctx, ts, slowFactor*h.timeout)
	return all.holders, err
}

// lists reads all pages of both lists for each chain.
func (h *Hosted) lists(ctx context.Context, ts []tokens.Token, within time.Duration) (*results, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all := newResults()
	number := func(id uint64) string { return strconv.FormatUint(id, 10) }
	address := func(t tokens.Token) string { return strings.ToLower(t.Address.Hex()) } // zero for the native coin
	for _, l := range []list{allTokens, dayOld} {
		for _, chain := range byChain(ts, number, address) {
			if err := h.pages(ctx, l, chain, all); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// pages reads a list of one chain.
func (h *Hosted) pages(ctx context.Context, l list, asks *keySet, to *results) error {
	offset, end := 0, false
	for range maxPages {
		q := query{
			from: h.service, keySet: asks, path: l.path,
			call: rest.Call{Method: http.MethodGet, Path: l.path, Query: url.Values{
				"chain_id": {asks.slug}, "limit": {strconv.Itoa(maxRows)}, "offset": {strconv.Itoa(offset)},
			}},
			read: func(r *rest.Reply, asks *keySet, to *results) error {
				rows, total, err := l.read(r, asks, to)
				offset += rows
				end = rows == 0 || uint64(offset) >= total
				return err
			},
		}
		if err := q.do(ctx, to); err != nil || end {
			return err
		}
	}
	return fmt.Errorf("%s: %s has more than %d tokens on chain %s", h.Name(), l.path, maxRows*maxPages, asks.slug)
}

// read decodes a page, {"data":[rows],"total_count"}, and returns the number of its rows
// and that of the whole list.
func (l list) read(r *rest.Reply, asks *keySet, to *results) (rows int, total uint64, err error) {
	var doc struct {
		Data  []json.RawMessage `json:"data"`
		Total *uint64           `json:"total_count"`
	}
	if decodeDocument(r.Body, &doc) != nil || doc.Data == nil || doc.Total == nil || len(doc.Data) > maxRows {
		return 0, 0, ErrReply
	}
	for _, raw := range doc.Data {
		l.row(raw, asks, r.Received, to)
	}
	return len(doc.Data), *doc.Total, nil
}

// A listed is the common part of the rows of both lists.
type listed struct {
	Chain   decimal `json:"chain_id"`
	Address string  `json:"token_address"`
}

// of returns the requested tokens that the row is about, if any.
func (l listed) of(asks *keySet) []price.ID {
	if string(l.Chain) != asks.slug {
		return nil
	}
	return asks.ids[strings.ToLower(l.Address)]
}

// readToken reads the other side's current price and ignores a stale one.
func readToken(raw json.RawMessage, asks *keySet, now time.Time, to *results) {
	var token struct {
		listed
		Price   decimal `json:"price_now"`
		Updated string  `json:"price_updated_at"`
		Stale   *bool   `json:"stale"`
		Diluted *bool   `json:"market_cap_diluted"`
	}
	if !decodeRow(raw, &token) {
		return
	}
	ids := token.of(asks)
	if token.Diluted != nil && !*token.Diluted {
		setIfAbsent(to.circulating, ids, true)
	}
	v, priced := token.Price.value()
	at, err := time.Parse(time.RFC3339Nano, token.Updated)
	at, timed := clampFuture(at, now)
	if priced && err == nil && timed && token.Stale != nil && !*token.Stale {
		to.addReading(ids, price.Reading{Sample: price.Sample{Value: v, At: at, Source: price.Hosted}})
	}
}

// readDay reads the fields that only the price24h list has.
func readDay(raw json.RawMessage, asks *keySet, _ time.Time, to *results) {
	var token struct {
		listed
		Ago       decimal `json:"price_24h_ago"`
		Has       bool    `json:"has_24h_data"`
		MarketCap decimal `json:"market_cap"`
		Holders   decimal `json:"holders"`
	}
	if !decodeRow(raw, &token) {
		return
	}
	ids := token.of(asks)
	if v, ok := token.Ago.value(); ok && token.Has {
		setIfAbsent(to.dayAgo, ids, v)
	}
	if v, ok := token.MarketCap.value(); ok {
		setIfAbsent(to.marketCaps, ids, v)
	}
	if n, ok := token.Holders.count(); ok {
		setIfAbsent(to.holders, ids, n)
	}
}
