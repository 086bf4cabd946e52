// Package onchain reads prices from the chains themselves, many at a time through
// Multicall3: from Chainlink feeds, Aave's oracles, DIA's adapters, and the pools of
// Uniswap and Velodrome.
//
// What an oracle says is taken where it is fresh by its own account and measures the
// token itself. Where its age cannot be seen, or it measures what the token only
// stands for (BTC for BTCB), it is taken only beside a pool of the token that says
// the same. What a pool says becomes dollars by the oracle of the coin it is quoted
// in, never by another pool. Every answer is of a block that is not older than five
// minutes; nothing is assumed, and what is in doubt is not told.
package onchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/fault"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Chain asks contracts. It returns an answer for each question, in order; nil for
// one that reverted. The questions of one call, which are at most as many as
// [Options].AtOnce, are to be of one block. chain.ErrNoNetwork means that it does not
// serve that chain.
type Chain interface {
	Ask(ctx context.Context, chainID uint64, qs []chain.Question) ([][]byte, error)
}

// Options of a Source.
type Options struct {
	Now      func() time.Time // nil = fault.Now
	Deadline time.Duration    // of one Now or MarketCaps; 0 = 20 s
	AtOnce   int              // questions in one call; 0 = 100, what public nodes take; at least 40
	// Refused hears of every price that was read and is not told; nil = nobody. It
	// may be called by several goroutines.
	Refused func(Refusal)
}

// A Refusal says why a price is not told. The address of ID is zero where it is about
// the native coin or, with an unknown source, about the whole chain.
type Refusal struct {
	ID     price.ID
	Source price.Source
	Err    error
}

const (
	defaultDeadline = 20 * time.Second
	defaultAtOnce   = 100
	leastAtOnce     = 40  // the most questions that belong together, and the stamps
	maxTokens       = 250 // of one chain; further ones are not asked about
)

// A Source is the chains as a source of prices. It is safe for concurrent use.
type Source struct {
	chain   Chain
	now     func() time.Time
	within  time.Duration
	atOnce  int
	refused func(Refusal)
	table   *table
	places  map[uint64]*memory
}

// New makes a source, which asks nothing yet.
func New(c Chain, o Options) *Source {
	s := &Source{chain: c, now: o.Now, within: o.Deadline, atOnce: o.AtOnce, refused: o.Refused, table: oracles(), places: map[uint64]*memory{}}
	if s.now == nil {
		s.now = fault.Now
	}
	if s.within <= 0 {
		s.within = defaultDeadline
	}
	if s.atOnce == 0 {
		s.atOnce = defaultAtOnce
	}
	s.atOnce = max(s.atOnce, leastAtOnce)
	if s.refused == nil {
		s.refused = func(Refusal) {}
	}
	for id := range places {
		s.places[id] = newMemory()
	}
	return s
}

// Name is what the source is called.
func (s *Source) Name() string { return "onchain" }

// Now reads the tokens' prices: at most one of an oracle and one of a pool for each,
// the oracle's first. Tokens that no oracle and no deep pool tells of are absent, as
// are those of chains that are not served. An error names the chains that could not
// be read, or not to the end; the readings hold all the same. A chain that fails
// again and again is left alone for up to 15 minutes, without an error. It may be
// repeated.
func (s *Source) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	wanted := s.plan(ts)
	heard, err := s.listen(ctx, wanted)
	return s.judge(heard, wanted), err
}

// A wish is what is to be read on one chain.
type wish struct {
	tokens []tokens.Token                 // whose prices are to be told
	assets map[common.Address]uint8       // what has prices there, with its decimals: tokens and the coins of pools
	feeds  map[common.Address]bool        // oracles to be read, for whatever chain
	aave   map[common.Address]aaveListing // by asset
}

// plan says what to ask of each chain.
func (s *Source) plan(ts []tokens.Token) map[uint64]*wish {
	wanted := map[uint64]*wish{}
	at := func(id uint64) *wish {
		if wanted[id] == nil {
			wanted[id] = &wish{assets: map[common.Address]uint8{}, feeds: map[common.Address]bool{}, aave: map[common.Address]aaveListing{}}
		}
		return wanted[id]
	}
	for _, t := range ts {
		p, ok := places[t.Chain]
		if !ok || t.Decimals > tokens.MaxDecimals {
			continue
		}
		w := at(t.Chain)
		if len(w.tokens) == maxTokens {
			s.refused(Refusal{price.IDOf(t), price.Unknown, fmt.Errorf("more than %d tokens of chain %d", maxTokens, t.Chain)})
			continue
		}
		w.tokens = append(w.tokens, t)
		w.assets[p.asset(t.Address)] = t.Decimals
	}
	for _, id := range slices.Collect(maps.Keys(wanted)) { // those with tokens; feeds add further chains
		for _, c := range places[id].coins() {
			wanted[id].assets[c.address] = c.decimals
		}
		for a := range wanted[id].assets {
			for _, f := range s.table.feeds[price.ID{Chain: id, Address: a}] {
				at(f.on).feeds[f.address] = true
			}
			if l, ok := s.table.aave[price.ID{Chain: id, Address: a}]; ok {
				wanted[id].aave[a] = l
			}
		}
	}
	return wanted
}

// errChains means that some chains could not be read.
var errChains = errors.New("not all chains were read")

// listen asks all chains at once. What came before an error holds.
func (s *Source) listen(ctx context.Context, wanted map[uint64]*wish) (map[uint64]*heard, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	all, failed := map[uint64]*heard{}, map[uint64]error{}
	for id, w := range wanted {
		wg.Go(func() {
			h, err := s.hear(ctx, id, w)
			mu.Lock()
			defer mu.Unlock()
			all[id] = h
			if err != nil {
				failed[id] = err
			}
		})
	}
	wg.Wait()
	if len(failed) == 0 {
		return all, nil
	}
	errs := []error{errChains}
	for _, id := range slices.Sorted(maps.Keys(failed)) {
		errs = append(errs, fmt.Errorf("chain %d: %w", id, failed[id]))
	}
	return all, errors.Join(errs...)
}
