package dexsim

import (
	"context"
	"net/http"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

func checkSwappable(_ []byte, r *http.Request) error {
	q := r.URL.Query()
	if !address.MatchString(q.Get("tokenIn")) {
		return invalid(`"tokenIn" fails to match the required pattern: /` + address.String() + `/`)
	}
	return checkChainID(q, "tokenInChainId", true)
}

type swappableReply struct {
	RequestID string           `json:"requestId"`
	Tokens    []swappableToken `json:"tokens"`
}

type swappableToken struct {
	Name     string        `json:"name"`
	Symbol   string        `json:"symbol"`
	Address  eip55.Address `json:"address"`
	ChainID  uint64        `json:"chainId"`
	Project  project       `json:"project"`
	Decimals uint8         `json:"decimals"`
}

type project struct {
	Logo        *logo  `json:"logo"`
	SafetyLevel string `json:"safetyLevel"`
	IsSpam      bool   `json:"isSpam"`
}

type logo struct {
	URL string `json:"url"`
}

// swappable answers GET /swappable_tokens: the same token on other chains, that is, where
// a bridge could send it.
func (s *Server) swappable(_ context.Context, _ []byte, r *http.Request) (any, error) {
	q := r.URL.Query()
	id, _ := strconv.ParseUint(q.Get("tokenInChainId"), 10, 64)
	m, err := s.market(id)
	if err != nil {
		return nil, err
	}
	in, known := m.TokenAt(common.HexToAddress(q.Get("tokenIn")))
	if !known {
		return nil, errToken
	}
	reply := &swappableReply{RequestID: uuid.NewString(), Tokens: []swappableToken{}}
	for _, other := range s.ids() {
		c := s.chains[other]
		if other == id || !c.DEX {
			continue
		}
		for _, t := range append([]network.Token{c.Wrapped}, c.Tokens...) {
			if t.Symbol == in.Symbol {
				reply.Tokens = append(reply.Tokens, swappableToken{
					Name: t.Name, Symbol: t.Symbol, Address: eip55.Address(t.Address), ChainID: other, Decimals: t.Decimals,
					Project: project{Logo: &logo{"https://example.invalid/token.png"}, SafetyLevel: "VERIFIED"},
				})
			}
		}
	}
	return reply, nil
}
