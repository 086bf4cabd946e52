package onchain

import (
	"context"
	"errors"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A chainData holds what was read from one chain. Whatever is missing was not answered.
type chainData struct {
	feeds     map[common.Address]round
	aave      map[common.Address]aavePrice // by asset
	pools     map[common.Address][]state   // by asset
	sequencer error                        // why this chain's oracles are not accepted now
}

// readChain reads one chain. Data read before an error is kept. A chain that is not configured
// or is paused yields nothing, without an error.
func (s *Source) readChain(ctx context.Context, id uint64, w *readPlan) (*chainData, error) {
	m := s.caches[id]
	h := &chainData{map[common.Address]round{}, map[common.Address]aavePrice{}, map[common.Address][]state{}, errSequencer}
	if !m.breaker.allows(s.now()) {
		return h, nil
	}
	err := s.readAll(ctx, id, w, h)
	switch {
	case errors.Is(err, chain.ErrNoNetwork):
		return h, nil
	case errors.Is(err, context.Canceled):
		return h, err // not the chain's failure
	}
	m.breaker.record(err, s.now())
	return h, err
}

// readAll reads oracles first and searches for unknown pools late, so that the most
// important data is there if time runs out.
func (s *Source) readAll(ctx context.Context, id uint64, w *readPlan, h *chainData) error {
	q := &batch{}
	s.askSequencer(q, id, h)
	s.askFeeds(q, id, w, h)
	if err := s.send(ctx, id, q); err != nil {
		return err
	}
	if len(w.assets) == 0 {
		return nil // asked on behalf of another chain
	}
	if err := s.findSources(ctx, id, w); err != nil {
		return err
	}
	q = &batch{}
	s.askAave(q, id, w, h)
	if err := s.send(ctx, id, q); err != nil {
		return err
	}
	if err := s.findPools(ctx, id, w); err != nil {
		return err
	}
	q = &batch{}
	s.askPools(q, id, w, h)
	return s.send(ctx, id, q)
}
