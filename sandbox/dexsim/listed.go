package dexsim

import (
	"context"
	"fmt"

	"swapkeep/sandbox/network"
)

// List has a token that somebody made on a running chain traded too, in whatever pools
// it has by then, as the real API routes through any. It is not to be called while there
// are requests.
func (s *Server) List(ctx context.Context, chain uint64, t network.Token) error {
	m, err := s.market(chain)
	if err != nil {
		return err
	}
	known, err := m.discover(ctx)
	if err != nil {
		return err
	}
	pools, err := m.between(ctx, m.Wrapped.Address, t.Address)
	if err != nil {
		return fmt.Errorf("find the pools of %s: %w", t.Symbol, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Tokens = append(m.Tokens[:len(m.Tokens):len(m.Tokens)], t)
	m.pools = append(known[:len(known):len(known)], pools...)
	return nil
}
