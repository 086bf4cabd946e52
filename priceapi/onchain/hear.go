package onchain

import (
	"context"
	"errors"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// What was heard of one chain. Everything was asked for; what is missing was not
// answered.
type heard struct {
	feeds     map[common.Address]round
	aave      map[common.Address]aavePrice // by asset
	pools     map[common.Address][]state   // by asset
	sequencer error                        // why oracles of this chain are not believed now
}

// hear asks one chain. What came before an error holds. A chain that is not served
// or rests is not heard of, and that is no error.
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
		return h, err // nobody's failure
	}
	m.rest.record(err, s.now())
	return h, err
}

// hearAll asks for the oracles first and for unknown pools last: should time run
// out, the most is known.
func (s *Source) hearAll(ctx context.Context, id uint64, w *wish, h *heard) error {
	q := &inquiry{}
	s.askSequencer(q, id, h)
	s.askFeeds(q, id, w, h)
	if err := s.put(ctx, id, q); err != nil {
		return err
	}
	if len(w.assets) == 0 {
		return nil // asked for another chain's sake
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
