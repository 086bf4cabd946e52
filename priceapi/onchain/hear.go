package onchain

import (
	"context"
	"errors"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A heard holds what was read from one chain. Whatever is missing was not answered.
type heard struct {
	feeds     map[common.Address]round
	aave      map[common.Address]aavePrice // by asset
	pools     map[common.Address][]state   // by asset
	sequencer error                        // why this chain's oracles are not accepted now
}

// hear reads one chain. Data read before an error is kept. A chain that is not configured
// or is paused yields nothing, without an error.
func (s *Source) hear(ctx context.Context, id uint64, w *wish) (*heard, error) {
	m := s.places[id]
	h := &heard{map[common.Address]round{}, map[common.Address]aavePrice{}, map[common.Address][]state{}, errSequencer}
	if !m.rest.over(s.now()) {
		return h, nil
	}
	err := s.hearAll(ctx, id, w, h)
	switch {
	case errors.Is(err, chain.ErrNoNetwork):
		return h, nil
	case errors.Is(err, context.Canceled):
		return h, err // not the chain's failure
	}
	m.rest.record(err, s.now())
	return h, err
}

// hearAll reads oracles first and searches for unknown pools late, so that the most
// important data is there if time runs out.
func (s *Source) hearAll(ctx context.Context, id uint64, w *wish, h *heard) error {
	q := &inquiry{}
	s.askSequencer(q, id, h)
	s.askFeeds(q, id, w, h)
	if err := s.put(ctx, id, q); err != nil {
		return err
	}
	if len(w.assets) == 0 {
		return nil // asked on behalf of another chain
	}
	if err := s.findSources(ctx, id, w); err != nil {
		return err
	}
	q = &inquiry{}
	s.askAave(q, id, w, h)
	if err := s.put(ctx, id, q); err != nil {
		return err
	}
	if err := s.findPools(ctx, id, w); err != nil {
		return err
	}
	q = &inquiry{}
	s.askPools(q, id, w, h)
	return s.put(ctx, id, q)
}
