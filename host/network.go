package host

import (
	"context"
	"slices"
	"strconv"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum/common"
)

func (c *call) networksList(context.Context, *protocol.None) (any, error) {
	active, err := c.s.activeNetwork()
	if err != nil {
		return nil, err
	}
	out := protocol.NetworksResult{Active: active, Networks: list(c.s.Networks.Networks(), networkOf)}
	health := c.s.Networks.Health()
	for i := range out.Networks {
		n := &out.Networks[i]
		n.RPC = []protocol.RPC{}
		for _, h := range health {
			if h.Chain == n.ChainID {
				n.RPC = append(n.RPC, rpcOf(h, clock.Now()))
			}
		}
	}
	return out, nil
}

// activeNetwork returns the chosen network, or the first configured one if none was
// chosen or the chosen one is no longer configured.
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
	if err := s.Settings.SetActiveNetwork(p.ChainID); err != nil { // also replaces a damaged choice
		return nil, err
	}
	if active != p.ChainID {
		s.dropPlans()
		s.broadcast("networks.changed", protocol.NetworksChanged{Active: p.ChainID})
	}
	return protocol.SelectResult{Active: p.ChainID}, nil
}

// chainOr returns the requested chain, or the active network for 0.
func (s *Server) chainOr(id uint64) (uint64, error) {
	if id == 0 {
		return s.activeNetwork()
	}
	if !s.hasNetwork(id) {
		return 0, unknownNetwork(id)
	}
	return id, nil
}

// pageOf returns the number of entries for a requested limit.
func pageOf(limit int) (int, error) {
	switch {
	case limit == 0:
		return protocol.PageDefault, nil
	case limit < 1 || limit > protocol.PageMax:
		return 0, badParam("limit", "must be 1 to 200")
	}
	return limit, nil
}

func evmAddress(a protocol.Address) common.Address { return common.HexToAddress(string(a)) }

// cutPage returns one page of all. A cursor is the index of the next page's first entry.
func cutPage[T any](all []T, cursor string, limit int) (page []T, next string, err error) {
	limit, err = pageOf(limit)
	if err != nil {
		return nil, "", err
	}
	from := 0
	if cursor != "" {
		from, err = strconv.Atoi(cursor)
		if err != nil || from < 0 || from > len(all) {
			return nil, "", badParam("cursor", "is none of this list")
		}
	}
	if from+limit < len(all) {
		next = strconv.Itoa(from + limit)
	}
	return slices.Clip(all[from:min(from+limit, len(all))]), next, nil
}
