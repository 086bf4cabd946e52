package dexsim

import (
	"context"
	"fmt"

	"swapkeep/sandbox/network"
)

// ListToken adds a token that was deployed on a running chain, with the pools it has against
// the wrapped native coin, as the real API routes through any pool. It must not be called
// while there are requests.
func (s *Server) ListToken(ctx context.Context, chain uint64, t network.Token) error {
	m, err := s.market(chain)
	if err != nil {
		return err
	}
	known, err := m.discover(ctx)
	if err != nil {
		return err
	}
	pools, err := m.poolsBetween(ctx, m.Wrapped.Address, t.Address)
	if err != nil {
		return fmt.Errorf("find the pools of %s: %w", t.Symbol, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Tokens = append(m.Tokens[:len(m.Tokens):len(m.Tokens)], t)
	m.pools = append(known[:len(known):len(known)], pools...)
	return nil
}
