package pricesim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// blockscout is an explorer for several chains. The real explorers have a host per chain;
// here the path starts with the chain's id. Without an id, the first chain that knows the
// address answers.
var blockscout = kind{
	name:      "blockscout",
	endpoints: append(blockscoutPaths("/{chain}"), blockscoutPaths("")...),
	refuse: func(e refusal) any {
		if e.status == http.StatusUnprocessableEntity {
			return map[string]any{"errors": []map[string]any{
				{"title": "Invalid value", "source": map[string]string{"pointer": "/address_hash_param"}, "detail": e.what},
			}}
		}
		return map[string]string{"message": e.what}
	},
	hasLegacy: true,
}

func blockscoutPaths(chain string) []endpoint {
	return []endpoint{
		{"GET " + chain + "/api/v2/tokens", "/api/v2/tokens", (*Server).scoutList},
		{"GET " + chain + "/api/v2/tokens/{address}", "/api/v2/tokens/address", (*Server).scoutToken},
		{"GET " + chain + "/api/v2/tokens/{address}/counters", "/api/v2/tokens/counters", (*Server).scoutCounters},
		{"GET " + chain + "/api/v2/stats", "/api/v2/stats", (*Server).scoutStats},
	}
}

// scoutChains are the chains with an explorer.
var scoutChains = []uint64{1, 10, 5330, 8453, 42161}

// scoutPriced are the tokens of chain 5330 whose prices its explorer has.
var scoutPriced = []string{"USDC", "SUPR"}

// scoutPage is the page size of the token list.
const scoutPage = 50

// scoutChainsOf returns the chains of a request.
func scoutChainsOf(r *http.Request) ([]uint64, error) {
	text := r.PathValue("chain")
	if text == "" {
		return scoutChains, nil
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || !slices.Contains(scoutChains, id) {
		return nil, errNoPath
	}
	return []uint64{id}, nil
}

// scoutFind returns the token of a request.
func (s *Server) scoutFind(r *http.Request) (token, error) {
	chains, err := scoutChainsOf(r)
	if err != nil {
		return token{}, err
	}
	address := r.PathValue("address")
	if !strings.HasPrefix(address, "0x") || !common.IsHexAddress(address) {
		return token{}, refusal{http.StatusUnprocessableEntity, "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{40})$/"}
	}
	for _, id := range chains {
		if t, ok := tokenAt(id, address); ok && !t.native() && s.Settings().knows(t.Symbol) {
			return t, nil
		}
	}
	return token{}, errNoPath
}

func (s *Server) scoutRecord(t token) map[string]any {
	rate, volume24h, capital := any(nil), any(nil), any(nil)
	if q, ok := s.currentQuote(t.Symbol); ok && (t.Chain != 5330 || slices.Contains(scoutPriced, t.Symbol)) {
		rate, volume24h, capital = q.text(), decimal(volume(t)), decimal(float64(t.asset.Cap()))+".36"
	}
	record := map[string]any{
		"symbol": t.Symbol, "name": t.Name, "decimals": strconv.Itoa(int(t.Decimals)), "type": "ERC-20",
		"exchange_rate": rate, "volume_24h": volume24h, "circulating_market_cap": capital,
		"total_supply": strconv.FormatInt(t.supply(), 10) + strings.Repeat("0", int(t.Decimals)), "icon_url": nil,
	}
	address, holders := "address_hash", "holders_count"
	if s.Settings().Legacy {
		address, holders = "address", "holders"
	} else {
		record["circulating_supply"], record["reputation"] = strconv.FormatInt(t.supply(), 10), "ok"
	}
	record[address], record[holders] = eip55.Address(t.Address), strconv.FormatInt(t.holders(), 10)
	return record
}

func (s *Server) scoutToken(r *http.Request) (any, error) {
	t, err := s.scoutFind(r)
	if err != nil {
		return nil, err
	}
	return s.scoutRecord(t), nil
}

func (s *Server) scoutCounters(r *http.Request) (any, error) {
	t, err := s.scoutFind(r)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"token_holders_count": strconv.FormatInt(t.holders(), 10), "transfers_count": strconv.FormatInt(40*t.holders(), 10),
	}, nil
}

// scoutList answers with a page of a chain's tokens. Clients send next_page_params back
// as a query to get the next page.
func (s *Server) scoutList(r *http.Request) (any, error) {
	chains, err := scoutChainsOf(r)
	if err != nil {
		return nil, err
	}
	first := 0
	if text := r.URL.Query().Get("items_count"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 0 {
			return nil, refusal{http.StatusUnprocessableEntity, "Invalid items_count"}
		}
	}
	known := slices.DeleteFunc(onChain(chains[0]), func(t token) bool { return !s.Settings().knows(t.Symbol) })
	first = min(first, len(known))
	last := min(first+scoutPage, len(known))
	items, next := []any{}, any(nil)
	for _, t := range known[first:last] {
		items = append(items, s.scoutRecord(t))
	}
	if last < len(known) {
		t := known[last-1]
		next = map[string]any{
			"contract_address_hash": eip55.Address(t.Address), "holders_count": t.holders(), "items_count": last,
			"market_cap": decimal(float64(t.asset.Cap())), "name": t.Name, "is_name_null": false, "fiat_value": nil,
		}
	}
	return map[string]any{"items": items, "next_page_params": next}, nil
}

func (s *Server) scoutStats(r *http.Request) (any, error) {
	chains, err := scoutChainsOf(r)
	if err != nil {
		return nil, err
	}
	n, _ := network.ByID(chains[0])
	q, ok := s.currentQuote(n.Native)
	price := any(nil)
	if ok {
		price = q.text()
	}
	return map[string]any{"coin_price": price, "coin_price_change_percentage": nil, "total_blocks": "1", "total_addresses": "1"}, nil
}
