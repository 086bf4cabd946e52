package web

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// The two hot paths, and health.
const (
	pricesPath   = Base + "/tokens/price24h"
	singlePrefix = Base + "/tokens/0x"
	singleSuffix = "/price24h"
	healthPath   = Base + "/health"
)

// fastPath answers the plain form of the two hot requests and reports whether it did. It
// handles only requests that the router would answer in the same way.
func (a *API) fastPath(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.URL.RawPath != "" {
		return false
	}
	if r.URL.Path == pricesPath {
		k, ok := plainPage(r.URL.RawQuery)
		if ok {
			a.prices(w, r, k, filter{})
		}
		return ok
	}
	address, ok := plainAddress(r.URL.Path)
	if !ok {
		return false
	}
	chain, ok := plainChain(r.URL.RawQuery)
	if ok {
		a.price(w, r, address, chain)
	}
	return ok
}

// plainAddress parses the path of a single token's price.
func plainAddress(path string) (a common.Address, ok bool) {
	text, ok := strings.CutPrefix(path, singlePrefix)
	if !ok {
		return a, false
	}
	text, ok = strings.CutSuffix(text, singleSuffix)
	if !ok || len(text) != 2*common.AddressLength {
		return a, false
	}
	_, err := hex.Decode(a[:], []byte(text))
	return a, err == nil
}

// plainChain parses an empty query or a chain_id.
func plainChain(query string) (chain uint64, ok bool) {
	if query == "" {
		return 0, true
	}
	digits, ok := strings.CutPrefix(query, "chain_id=")
	if !ok {
		return 0, false
	}
	chain, ok = plainNumber(digits)
	return chain, ok && chain >= 1
}

// plainPage parses a query of chain_id, limit and offset in plain digits, each at most
// once. Everything else, valid or not, is left to the router.
func plainPage(query string) (listKey, bool) {
	k := listKey{limit: defaultLimit}
	var seen [3]bool
	for more := query != ""; more; {
		var pair string
		pair, query, more = strings.Cut(query, "&")
		name, digits, _ := strings.Cut(pair, "=")
		n, ok := plainNumber(digits)
		which := 0
		switch name {
		case "chain_id":
			k.chain, ok = n, ok && n >= 1
		case "limit":
			which, k.limit, ok = 1, int(n), ok && n >= 1 && n <= maxLimit
		case "offset":
			which, k.offset = 2, int(n)
		default:
			return listKey{}, false
		}
		if !ok || seen[which] {
			return listKey{}, false
		}
		seen[which] = true
	}
	return k, true
}

// plainNumber parses up to nine digits.
func plainNumber(digits string) (n uint64, ok bool) {
	if digits == "" || len(digits) > 9 {
		return 0, false
	}
	for _, d := range []byte(digits) {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + uint64(d-'0')
	}
	return n, true
}
