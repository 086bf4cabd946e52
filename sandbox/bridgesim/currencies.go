package bridgesim

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"swapkeep/sandbox/network"
)

// A currency is a currency as quotes show it. Token lists add vmType, and in v1 the
// group.
type currency struct {
	ChainID  uint64   `json:"chainId"`
	Address  string   `json:"address"`
	Symbol   string   `json:"symbol"`
	Name     string   `json:"name"`
	Decimals uint8    `json:"decimals"`
	VMType   string   `json:"vmType,omitempty"`
	GroupID  string   `json:"groupID,omitempty"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	LogoURI  string `json:"logoURI"`
	Verified bool   `json:"verified"`
	IsNative bool   `json:"isNative"`
}

func (m *market) currency(t network.Token) currency {
	return currency{
		ChainID: m.ID, Address: lower(t.Address), Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals,
		Metadata: metadata{logo(t), true, t.Address == native},
	}
}

// defaultLimit is the number of currencies listed if the request has no limit.
const defaultLimit = 20

type currenciesRequest struct {
	ChainIDs []uint64 `json:"chainIds"`
	Term     string   `json:"term"`
	Address  string   `json:"address"`
	ID       string   `json:"currencyId"`
	Tokens   []string `json:"tokens"`
	Verified *bool    `json:"verified"`
	Limit    *int     `json:"limit"`
}

var currenciesFields = []field{
	{"chainIds", false, each(1000, isCount)},
	{"term", false, isString},
	{"address", false, isString},
	{"currencyId", false, isString},
	{"tokens", false, each(1000, isString)},
	{"verified", false, isBoolean},
	{"limit", false, isCount},
}

// currencyList answers POST /currencies/v2.
func (s *Server) currencyList(_ context.Context, body []byte, _ *http.Request) (any, error) {
	var q currenciesRequest
	if err := decode(body, currenciesFields, &q); err != nil {
		return nil, err
	}
	return s.matching(q, false), nil
}

// currencyGroups answers POST /currencies/v1: the same, in groups.
func (s *Server) currencyGroups(_ context.Context, body []byte, _ *http.Request) (any, error) {
	var q currenciesRequest
	if err := decode(body, currenciesFields, &q); err != nil {
		return nil, err
	}
	groups := [][]currency{}
	for _, c := range s.matching(q, true) {
		i := slices.IndexFunc(groups, func(g []currency) bool { return g[0].GroupID == c.GroupID })
		if i < 0 {
			groups = append(groups, []currency{c})
		} else {
			groups[i] = append(groups[i], c)
		}
	}
	return groups, nil
}

func (s *Server) matching(q currenciesRequest, grouped bool) []currency {
	limit := defaultLimit
	if q.Limit != nil {
		limit = *q.Limit
	}
	found := []currency{}
	for _, id := range s.ids() {
		m := s.markets[id]
		for _, t := range m.currencies() {
			if len(found) < limit && q.wants(m.ID, t) {
				c := m.currency(t)
				c.VMType = "evm"
				if grouped {
					c.GroupID = strings.ToLower(t.Symbol)
				}
				found = append(found, c)
			}
		}
	}
	return found
}

func (q currenciesRequest) wants(chain uint64, t network.Token) bool {
	term := strings.ToLower(q.Term)
	known := func(s string) bool { return strings.Contains(strings.ToLower(s), term) }
	switch {
	case len(q.ChainIDs) > 0 && !slices.Contains(q.ChainIDs, chain),
		q.Address != "" && !strings.EqualFold(q.Address, lower(t.Address)),
		q.ID != "" && !strings.EqualFold(q.ID, t.Symbol),
		q.Verified != nil && !*q.Verified, // all of ours are verified
		len(q.Tokens) > 0 && !slices.ContainsFunc(q.Tokens, func(s string) bool {
			return strings.EqualFold(s, fmt.Sprintf("%d:%s", chain, lower(t.Address)))
		}):
		return false
	}
	return known(t.Symbol) || known(t.Name) || known(lower(t.Address))
}

// microUSD returns the price of the currency that a request names, in microdollars.
func (s *Server) microUSD(r *http.Request) (int64, error) {
	q := r.URL.Query()
	id, err := strconv.ParseUint(q.Get("chainId"), 10, 64)
	m := s.markets[id]
	a, ok := address(q.Get("address"))
	if err != nil || m == nil || !ok {
		return 0, errPrice
	}
	t, known := m.token(a)
	if !known {
		return 0, errPrice
	}
	return t.MicroUSD, nil
}

// priceNumber answers GET /currencies/token/price.
func (s *Server) priceNumber(_ context.Context, _ []byte, r *http.Request) (any, error) {
	micro, err := s.microUSD(r)
	return map[string]float64{"price": float64(micro) / dollar}, err
}

// priceText answers GET /currencies/token/price/v2.
func (s *Server) priceText(_ context.Context, _ []byte, r *http.Request) (any, error) {
	micro, err := s.microUSD(r)
	return map[string]string{"price": usd(big.NewInt(micro))}, err
}
