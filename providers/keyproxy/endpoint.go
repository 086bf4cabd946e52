package keyproxy

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// prefix is the API version that starts every path.
const prefix = "/v1"

// An endpoint is an allowed method and path, with the parameters and fields that are
// allowed on it. Anything not in the table is refused.
type endpoint struct {
	method string
	path   string   // after prefix
	query  []string // parameters, each at most once
	fields []string // top-level fields of the body
	check  func(*Fee, object) (object, error)
}

// name is the endpoint's name in the log and the metrics.
func (e *endpoint) name() string {
	if e == nil {
		return "none"
	}
	return e.path
}

// endpoints is all that the wallet needs of the Trading API. Fields that would open other
// flows (permit as a transaction, V4 hooks, proxy approval) are left out on purpose.
var endpoints = []endpoint{
	{method: http.MethodPost, path: "/check_approval",
		fields: []string{"walletAddress", "token", "amount", "chainId", "tokenOut", "tokenOutChainId", "urgency"}},
	{method: http.MethodPost, path: "/quote",
		fields: []string{"type", "amount", "tokenIn", "tokenOut", "tokenInChainId", "tokenOutChainId", "swapper", "recipient",
			"slippageTolerance", "autoSlippage", "routingPreference", "protocols", "permitAmount", "urgency", "spreadOptimization", feeField},
		check: (*Fee).forceQuote},
	{method: http.MethodPost, path: "/swap",
		fields: []string{"quote", "permitData", "signature", "refreshGasPrice", "simulateTransaction", "safetyMode", "deadline", "urgency"},
		check:  (*Fee).checkReturnedQuote},
	{method: http.MethodPost, path: "/order",
		fields: []string{"signature", "quote", "routing"},
		check:  (*Fee).checkReturnedQuote},
	{method: http.MethodGet, path: "/orders",
		query: []string{"orderId", "orderIds", "orderType", "orderStatus", "swapper", "limit", "cursor", "sortKey", "sort"}},
	{method: http.MethodGet, path: "/swaps",
		query: []string{"txHashes", "chainId", "swapper"}},
	{method: http.MethodGet, path: "/swappable_tokens",
		query: []string{"tokenIn", "tokenInChainId"}},
}

// findEndpoint returns the endpoint of a request. A path in another spelling (encoded, with dots,
// with a trailing slash) is refused.
func findEndpoint(r *http.Request) (*endpoint, *refusal) {
	path, ok := strings.CutPrefix(r.URL.Path, prefix)
	if !ok || r.URL.RawPath != "" || r.URL.IsAbs() {
		return nil, refuse(endpointRefused, "this proxy does not serve that path")
	}
	known := false
	for i, e := range endpoints {
		if e.path == path && e.method == r.Method {
			return &endpoints[i], nil
		}
		known = known || e.path == path
	}
	if known {
		return nil, refuse(methodRefused, "this path does not take that method")
	}
	return nil, refuse(endpointRefused, "this proxy does not serve that path")
}

// maxValue bounds one query value, in bytes; fifty order ids fit.
const maxValue = 4096

// parameters checks a query and encodes it again, so that the provider reads exactly what
// was checked.
func (e *endpoint) parameters(raw string) (string, *refusal) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return "", refuse(queryRefused, "the query is malformed")
	}
	for name, v := range values {
		switch {
		case !slices.Contains(e.query, name):
			return "", refuse(queryRefused, "a query parameter is not allowed here; allowed: %s", listed(e.query))
		case len(v) != 1:
			return "", refuse(queryRefused, "%s is given more than once", name)
		case len(v[0]) > maxValue || strings.ContainsFunc(v[0], func(c rune) bool { return c < ' ' || c > '~' }):
			return "", refuse(queryRefused, "%s is too long or not plain text", name)
		}
	}
	return values.Encode(), nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

const (
	jsonType     = "application/json"
	routerHeader = "X-Universal-Router-Version"
	keyHeader    = "X-Api-Key"
)

// headers returns the headers to send upstream: accept, content-type and the router
// version, all checked. No other header is forwarded: Authorization is for the proxy, and
// some of the API's headers change what is approved.
func headers(r *http.Request) (http.Header, *refusal) {
	out := http.Header{"Accept": {jsonType}, "User-Agent": {"swapkeep-server"}}
	if r.Method == http.MethodPost {
		if v := r.Header.Values("Content-Type"); len(v) != 1 || v[0] != jsonType {
			return nil, refuse(mediaRefused, "content-type must be exactly %s", jsonType)
		}
		if len(r.Header.Values("Content-Encoding")) != 0 {
			return nil, refuse(mediaRefused, "the body must not be compressed")
		}
		out.Set("Content-Type", jsonType)
	}
	if v := r.Header.Values("Accept"); len(v) > 1 || len(v) == 1 && v[0] != jsonType && v[0] != "*/*" {
		return nil, refuse(headerRefused, "accept must be exactly %s", jsonType)
	}
	v := r.Header.Values(routerHeader)
	switch {
	case len(v) > 1 || len(v) == 1 && !isVersion(v[0]):
		return nil, refuse(headerRefused, "%s must be one version such as 2.1.2", strings.ToLower(routerHeader))
	case len(v) == 1:
		out.Set(routerHeader, v[0])
	}
	return out, nil
}

func isVersion(s string) bool {
	return s != "" && len(s) <= 16 && strings.Trim(s, "0123456789.") == ""
}
