package source

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// GoPlus counts holders and needs no key. It is the only source of holders on BNB Smart
// Chain besides GeckoTerminal.
type GoPlus struct{ *service }

// NewGoPlus prepares a client.
func NewGoPlus(c Config) (*GoPlus, error) {
	s, err := c.open(price.GoPlus, defaults{base: "https://api.gopluslabs.io", perMinute: 30, burst: 10})
	if err != nil {
		return nil, err
	}
	return &GoPlus{s}, nil
}

// tokensPerSecurityCall keeps replies short: they contain much more about each token.
const tokensPerSecurityCall = 20

// MarketCaps implements poll.MetadataSource; there are none.
func (g *GoPlus) MarketCaps(context.Context, []tokens.Token) (map[price.ID]price.Value, error) {
	return nil, nil
}

// Holders implements poll.MetadataSource.
func (g *GoPlus) Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error) {
	covered := func(id uint64) string {
		if !networks[id].goplus {
			return ""
		}
		return strconv.FormatUint(id, 10)
	}
	var qs []query
	for _, chain := range byChain(ts, covered, tokenKey) {
		path := "/api/v1/token_security/" + chain.slug
		for _, a := range chain.batches(tokensPerSecurityCall) {
			qs = append(qs, query{
				from: g.service, keySet: a, read: readSecurity, path: path,
				call: rest.Call{Method: http.MethodGet, Path: path, Query: url.Values{"contract_addresses": {strings.Join(a.keys, ",")}}},
			})
		}
	}
	all, err := ask(ctx, slowFactor*g.timeout, qs)
	return all.holders, err
}

// Codes in a reply, whose status is always 200.
const (
	codeOK      = "1"
	codePartial = "2" // incomplete for some tokens
	codeTooMany = "4029"
)

// readSecurity reads {"code","result":{"<lower-case address>":{"holder_count"}}}.
func readSecurity(r *rest.Reply, asks *keySet, to *results) error {
	var doc struct {
		Code   decimal                    `json:"code"`
		Result map[string]json.RawMessage `json:"result"`
	}
	if decodeDocument(r.Body, &doc) != nil {
		return ErrReply
	}
	switch code := doc.Code; {
	case code == codeTooMany:
		return &rest.Error{
			Service: price.GoPlus.String(), Method: http.MethodGet, Path: "/api/v1/token_security", Kind: rest.Throttled, Status: r.Status,
			Code: codeTooMany, Detail: "too many calls",
		}
	case code != codeOK && code != codePartial:
		n, err := strconv.ParseInt(string(code), 10, 32)
		if err != nil {
			return ErrReply
		}
		return fmt.Errorf("%s: /api/v1/token_security: refused with code %d", price.GoPlus, n)
	case doc.Result == nil:
		return ErrReply
	}
	for _, key := range asks.keys {
		var token struct {
			Holders decimal `json:"holder_count"`
		}
		if !decodeRow(doc.Result[key], &token) {
			continue
		}
		if n, ok := token.Holders.count(); ok {
			setIfAbsent(to.holders, asks.ids[key], n)
		}
	}
	return nil
}
