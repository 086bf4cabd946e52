package host

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"swapkeep/chain"
	"swapkeep/host/protocol"

	"github.com/ethereum/go-ethereum/common"
)

func (c *call) networksList(context.Context, *protocol.None) (any, error) {
	active, err := c.s.activeNetwork()
	if err != nil {
		return nil, err
	}
	return protocol.NetworksResult{Active: active, Networks: list(c.s.Networks.Networks(), networkOf)}, nil
}

// activeNetwork is the one in use: the first configured until another is
// chosen, and when the chosen one is no longer configured.
func (s *Server) activeNetwork() (uint64, error) {
	all := s.Networks.Networks()
	if len(all) == 0 {
		return 0, protocol.New("network_unknown", "no network is configured")
	}
	id, err := s.Settings.ActiveNetwork(all[0].ID)
	if err != nil {
		return 0, err
	}
	if !s.hasNetwork(id) {
		return all[0].ID, nil
	}
	return id, nil
}

func (s *Server) hasNetwork(id uint64) bool {
	return slices.ContainsFunc(s.Networks.Networks(), func(n chain.Network) bool { return n.ID == id })
}

func unknownNetwork(id uint64) *protocol.Error {
	return protocol.Newf("network_unknown", "chain %d is not configured", id)
}

func (c *call) networksSelect(_ context.Context, p *protocol.SelectParams) (any, error) {
	s := c.s
	if !s.hasNetwork(p.ChainID) {
		return nil, unknownNetwork(p.ChainID)
	}
	s.network.Lock()
	defer s.network.Unlock()
	active, err := s.activeNetwork()
	if err != nil {
		return nil, err
	}
	if active != p.ChainID {
		if err := s.Settings.SetActiveNetwork(p.ChainID); err != nil {
			return nil, err
		}
		s.Swaps.DropPlans()
		s.broadcast("networks.changed", protocol.NetworksChanged{Active: p.ChainID})
	}
	return protocol.SelectResult{Active: p.ChainID}, nil
}

// chainOr is the chain asked for, or the active network.
func (s *Server) chainOr(id uint64) (uint64, error) {
	if id == 0 {
		return s.activeNetwork()
	}
	if !s.hasNetwork(id) {
		return 0, unknownNetwork(id)
	}
	return id, nil
}

func (c *call) tokensList(_ context.Context, p *protocol.TokensParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	limit, err := pageOf(p.Limit)
	if err != nil {
		return nil, err
	}
	all, from := c.s.Tokens.List(id), 0
	if p.Cursor != "" {
		from, err = strconv.Atoi(p.Cursor)
		if err != nil || from < 0 || from > len(all) {
			return nil, badParam("cursor", "is none of this list")
		}
	}
	out := protocol.TokensResult{Tokens: all[from:min(from+limit, len(all))]}
	if next := from + limit; next < len(all) {
		out.Cursor = strconv.Itoa(next)
	}
	return out, nil
}

// pageOf is the number of entries asked for.
func pageOf(limit int) (int, error) {
	switch {
	case limit == 0:
		return protocol.PageDefault, nil
	case limit < 1 || limit > protocol.PageMax:
		return 0, badParam("limit", "must be 1 to 200")
	}
	return limit, nil
}

func (c *call) tokensBalances(ctx context.Context, p *protocol.BalancesParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	asked := p.Tokens
	if len(asked) == 0 {
		asked = list(c.s.Tokens.List(id), func(t protocol.Token) protocol.Address { return t.Address })
	}
	tokens := list(asked, evmAddress)
	amounts, err := c.s.Networks.Balances(ctx, id, evmAddress(p.Account), tokens)
	if err != nil {
		return nil, err
	}
	if len(amounts) != len(tokens) {
		return nil, fmt.Errorf("balances of %d tokens: got %d", len(tokens), len(amounts))
	}
	out := protocol.BalancesResult{ChainID: id, Account: p.Account, Balances: make([]protocol.Balance, len(tokens))}
	for i, amount := range amounts {
		out.Balances[i] = protocol.Balance{Token: addressOf(tokens[i]), Amount: amountOf(amount)}
	}
	return out, nil
}

func evmAddress(a protocol.Address) common.Address { return common.HexToAddress(string(a)) }
