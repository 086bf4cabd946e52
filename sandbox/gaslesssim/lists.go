package gaslesssim

import (
	"context"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// listChains answers GET /pmm/chains.
func (s *Server) listChains(context.Context, *request) (any, error) {
	chains := map[string]uint64{}
	for _, m := range s.markets {
		if rfq.offered(m.Chain) {
			chains[m.Gasless().Name] = m.ID
		}
	}
	return chains, nil
}

type tokenList struct {
	Tokens []listedToken `json:"tokens"`
	Total  int           `json:"total"`
}

type listedToken struct {
	ChainID    uint64        `json:"chainId"`
	Address    eip55.Address `json:"address"`
	Decimals   uint8         `json:"decimals"`
	Name       string        `json:"name"`
	Symbol     string        `json:"symbol"`
	LogoURI    string        `json:"logoURI"`
	Tags       []string      `json:"tags"`
	Extensions extensions    `json:"extensions"`
}

type extensions struct {
	Color           string       `json:"color"`
	DisplayDecimals int          `json:"displayDecimals"`
	Availability    availability `json:"availability"`
}

type availability struct {
	IsAvailable bool `json:"isAvailable"`
	CanBuy      bool `json:"canBuy"`
	CanSell     bool `json:"canSell"`
}

func (m *market) listed() []network.Token { return append([]network.Token{m.Wrapped}, m.Tokens...) }

// listTokens answers GET tokenlist.
func (s *Server) listTokens(_ context.Context, r *request) (any, error) {
	list := tokenList{Tokens: []listedToken{}}
	for _, t := range r.market.listed() {
		list.Tokens = append(list.Tokens, listedToken{
			ChainID: r.market.ID, Address: eip55.Address(t.Address), Decimals: t.Decimals, Name: t.Name, Symbol: t.Symbol,
			LogoURI: "https://example.invalid/token.png", Tags: []string{},
			Extensions: extensions{"#FFFFFF", 1, availability{true, true, true}},
		})
	}
	list.Total = len(list.Tokens)
	return list, nil
}

type tickerInfo struct {
	Decimals uint8         `json:"decimals"`
	Address  eip55.Address `json:"contractAddress"`
	Ticker   string        `json:"ticker"`
}

// tokenInfo answers GET token-info.
func (s *Server) tokenInfo(_ context.Context, r *request) (any, error) {
	tokens := map[string]tickerInfo{}
	for _, t := range r.market.listed() {
		tokens[t.Symbol] = tickerInfo{t.Decimals, eip55.Address(t.Address), t.Symbol}
	}
	return map[string]any{"tokens": tokens}, nil
}
