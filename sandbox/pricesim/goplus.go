package pricesim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

var goplus = kind{
	name: "goplus",
	endpoints: []endpoint{
		{"GET /api/v1/token_security/{chain}", "/api/v1/token_security", (*Server).plusTokens},
	},
	refuse: func(e refusal) any {
		code := 0
		if e == errLimit {
			code = plusLimit
		}
		return map[string]any{"code": code, "message": e.what, "result": nil}
	},
}

// Codes of responses. Those of the two errors are assumed.
const (
	plusOK      = 1
	plusNoChain = 2022
	plusLimit   = 4029
)

// plusChains are the chains that GoPlus serves.
var plusChains = []uint64{1, 10, 56, 8453, 42161}

func (s *Server) plusTokens(r *http.Request) (any, error) {
	chain, err := strconv.ParseUint(r.PathValue("chain"), 10, 64)
	if err != nil || !slices.Contains(plusChains, chain) {
		return map[string]any{"code": plusNoChain, "message": "chain not supported", "result": nil}, nil
	}
	result := map[string]any{}
	requested := strings.Split(r.URL.Query().Get("contract_addresses"), ",")
	for _, a := range requested[:min(len(requested), maxCoins)] {
		t, ok := tokenAt(chain, a)
		if !ok || t.native() || !s.Settings().knows(t.Symbol) {
			continue
		}
		result[lower(t)] = map[string]any{
			"holder_count": strconv.FormatInt(t.holders(), 10), "total_supply": strconv.FormatInt(t.supply(), 10),
			"token_symbol": t.Symbol, "token_name": t.Name, "is_honeypot": "0", "is_open_source": "1", "buy_tax": "0", "sell_tax": "0",
		}
	}
	return map[string]any{"code": plusOK, "message": "OK", "result": result}, nil
}
