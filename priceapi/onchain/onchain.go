// Package onchain reads prices from the chains themselves, batched through Multicall3: from
// Chainlink feeds, Aave's oracles, DIA's adapters, and the pools of Uniswap and Velodrome.
//
// An oracle's price is used if it is fresh by its own timestamp and measures the token
// itself. If its age is unknown, if it is older than usual but less than a day old, or if
// it measures an asset that the token only represents (BTC for BTCB), it is used only if a
// pool of the token agrees. A pool's price is converted to dollars by the oracle of the
// coin it is quoted in, never by another pool. Every answer is from a block at most five
// minutes old. Doubtful prices are not returned.
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
	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Chain calls contracts. Ask returns one answer per question, in order; nil for a call
// that reverted. The questions of one call, at most [Options].AtOnce, must be answered from
// one block. chain.ErrNoNetwork means that the chain is not configured.
type Chain interface {
	Ask(ctx context.Context, chainID uint64, qs []chain.Question) ([][]byte, error)
}

// Options of a Source.
type Options struct {
	Now      func() time.Time // nil = clock.Now
	Deadline time.Duration    // of one Now or MarketCaps; 0 = 20 s
	AtOnce   int              // questions per call; 0 = 100, which public nodes accept; raised to at least 40
	// Rejected receives every price that was read and rejected; nil = not reported. It may
	// be called concurrently.
	Rejected func(Rejection)
}

// A Rejection says why a price was rejected. A zero address in ID means the native coin or,
// if Source is unknown, the whole chain.
type Rejection struct {
	ID     price.ID
	Source price.Source
	Err    error
}

const (
	defaultDeadline = 20 * time.Second
	defaultAtOnce   = 100
	minAtOnce       = 40  // the largest group plus the stamps
	maxTokens       = 250 // per chain; further tokens are ignored
)

// A Source is a price source that reads the chains. It is safe for concurrent use.
type Source struct {
	chain    Chain
	now      func() time.Time
	deadline time.Duration
	atOnce   int
	rejected func(Rejection)
	table    *table
	caches   map[uint64]*chainCache
}

// New makes a source without asking anything.
func New(c Chain, o Options) *Source {
	s := &Source{chain: c, now: o.Now, deadline: o.Deadline, atOnce: o.AtOnce, rejected: o.Rejected, table: oracles(), caches: map[uint64]*chainCache{}}
	if s.now == nil {
		s.now = clock.Now
	}
	if s.deadline <= 0 {
		s.deadline = defaultDeadline
	}
	if s.atOnce == 0 {
		s.atOnce = defaultAtOnce
	}
	s.atOnce = max(s.atOnce, minAtOnce)
	if s.rejected == nil {
		s.rejected = func(Rejection) {}
	}
	for id := range chainConfigs {
		s.caches[id] = newChainCache()
	}
	return s
}

// Name is the source's name.
func (s *Source) Name() string { return "onchain" }

// Now reads the tokens' prices: for each at most one from an oracle, which comes first, and
// one from a pool. Tokens without an oracle or a deep pool are absent, and so are those of
// chains that are not configured. An error names the chains that could not be read
// completely; the readings are valid all the same. A chain that fails repeatedly is skipped
// for up to 15 minutes, without an error. Now may be repeated.
func (s *Source) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	wanted := s.plan(ts)
	data, err := s.readChains(ctx, wanted)
	return s.judge(data, wanted), err
}

// A readPlan is what is to be read on one chain.
type readPlan struct {
	tokens []tokens.Token                 // tokens to return prices of
	assets map[common.Address]uint8       // assets priced on this chain, with decimals: tokens and the coins of pools
	feeds  map[common.Address]bool        // oracles on this chain, for assets of any chain
	aave   map[common.Address]aaveListing // by asset
}

// plan lists what to read on each chain.
func (s *Source) plan(ts []tokens.Token) map[uint64]*readPlan {
	wanted := map[uint64]*readPlan{}
	at := func(id uint64) *readPlan {
		if wanted[id] == nil {
			wanted[id] = &readPlan{assets: map[common.Address]uint8{}, feeds: map[common.Address]bool{}, aave: map[common.Address]aaveListing{}}
		}
		return wanted[id]
	}
	for _, t := range ts {
		p, ok := chainConfigs[t.Chain]
		if !ok || t.Decimals > tokens.MaxDecimals {
			continue
		}
		w := at(t.Chain)
		if len(w.tokens) == maxTokens {
			s.rejected(Rejection{price.IDOf(t), price.Unknown, fmt.Errorf("more than %d tokens of chain %d", maxTokens, t.Chain)})
			continue
		}
		w.tokens = append(w.tokens, t)
		w.assets[p.asset(t.Address)] = t.Decimals
	}
	for _, id := range slices.Collect(maps.Keys(wanted)) { // only chains with tokens; feeds add further chains
		for _, c := range chainConfigs[id].coins() {
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

// readChains reads all chains concurrently. Results read before an error are kept.
func (s *Source) readChains(ctx context.Context, wanted map[uint64]*readPlan) (map[uint64]*chainData, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	all, failed := map[uint64]*chainData{}, map[uint64]error{}
	for id, w := range wanted {
		wg.Go(func() {
			h, err := s.readChain(ctx, id, w)
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
