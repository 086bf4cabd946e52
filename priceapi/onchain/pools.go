package onchain

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A pool trades an asset against a coin.
type pool struct {
	at     common.Address
	market int // index into place.markets
	coin   coin
}

// Limits of the search for pools.
const (
	maxSearches  = 80 // assets whose pools are searched for in one fetch of a chain
	poolsPerCoin = 2  // pools kept per asset and coin: the deepest
)

// How much of its coin a pool must hold when found to be read again. That is far less than
// it needs for its price to count; it spares the node thousands of empty pools.
const (
	minBalanceDollars = 1000
	minBalanceWrapped = 1
)

// findPools searches for the pools of assets that are not cached.
func (s *Source) findPools(ctx context.Context, id uint64, w *readPlan) error {
	m, p := s.caches[id], chainConfigs[id]
	sought := s.uncached(id, w)
	found := map[common.Address][]pool{}
	q := &batch{}
	for _, asset := range sought {
		var qs []chain.Question
		var candidates []pool
		for _, c := range p.coins() {
			if c.address == asset {
				continue
			}
			for i, mk := range p.markets {
				for _, question := range mk.findQuestions(asset, c.address) {
					qs, candidates = append(qs, question), append(candidates, pool{market: i, coin: c})
				}
			}
		}
		q.add(func(answers [][]byte, _ blockStamp) {
			for i, out := range answers {
				if at, err := addressOf(out); err == nil && at != (common.Address{}) {
					c := candidates[i]
					c.at = at
					found[asset] = append(found[asset], c)
				}
			}
		}, qs...)
	}
	if err := s.send(ctx, id, q); err != nil {
		return err
	}
	if err := s.deepest(ctx, id, found); err != nil {
		return err
	}
	for _, asset := range sought {
		m.pools.put(asset, found[asset], s.now())
	}
	return nil
}

// uncached lists the assets to search for now: first the coins of pools, because other
// prices depend on them, then the tokens in the given order.
func (s *Source) uncached(id uint64, w *readPlan) []common.Address {
	var all []common.Address
	for _, c := range chainConfigs[id].coins() {
		all = append(all, c.address)
	}
	for _, t := range w.tokens {
		all = append(all, chainConfigs[id].asset(t.Address))
	}
	seen := map[common.Address]bool{}
	all = slices.DeleteFunc(all, func(a common.Address) bool {
		_, known := s.caches[id].pools.get(a, s.now())
		again := seen[a]
		seen[a] = true
		return known || again
	})
	return all[:min(len(all), maxSearches)]
}

// findQuestions asks a factory for its pools of two tokens.
func (mk market) findQuestions(a, b common.Address) []chain.Question {
	if mk.tiers == nil {
		return []chain.Question{{To: mk.factory, Data: calldata(mk.find, a, b)}}
	}
	var qs []chain.Question
	for _, tier := range mk.tiers {
		qs = append(qs, chain.Question{To: mk.factory, Data: calldata(mk.find, a, b, tier)})
	}
	return qs
}

// deepest keeps, for each asset and coin, the pools that hold most of the coin.
func (s *Source) deepest(ctx context.Context, id uint64, found map[common.Address][]pool) error {
	balances := map[pool]*big.Int{} // a pool of two coins appears twice, once for each
	q := &batch{}
	for _, pools := range found {
		for _, p := range pools {
			q.add(func(answers [][]byte, _ blockStamp) {
				if n, err := wordWithin(answers[0], 256); err == nil {
					balances[p] = n
				}
			}, ask(p.coin.address, "balanceOf(address)", p.at))
		}
	}
	if err := s.send(ctx, id, q); err != nil {
		return err
	}
	for asset, pools := range found {
		pools = slices.DeleteFunc(pools, func(p pool) bool {
			minimum := int64(minBalanceDollars)
			if p.coin == chainConfigs[id].wrapped {
				minimum = minBalanceWrapped
			}
			n := balances[p]
			return n == nil || n.Cmp(new(big.Int).Mul(big.NewInt(minimum), pow10(p.coin.decimals))) < 0
		})
		slices.SortStableFunc(pools, func(a, b pool) int {
			return cmp.Or(a.coin.address.Cmp(b.coin.address), balances[b].Cmp(balances[a]))
		})
		kept := map[coin]int{}
		found[asset] = slices.DeleteFunc(pools, func(p pool) bool {
			kept[p.coin]++
			return kept[p.coin] > poolsPerCoin
		})
	}
	return nil
}

func (s *Source) askPools(q *batch, id uint64, w *readPlan, h *chainData) {
	for asset := range w.assets {
		pools, _ := s.caches[id].pools.get(asset, s.now())
		for _, p := range pools {
			mk := chainConfigs[id].markets[p.market]
			q.add(func(answers [][]byte, of blockStamp) {
				h.pools[asset] = append(h.pools[asset], stateOf(p, mk, asset, answers, of))
			}, mk.stateQuestions(p)...)
		}
	}
}

// stateQuestions asks for what stateOf reads.
func (mk market) stateQuestions(p pool) []chain.Question {
	balance := ask(p.coin.address, "balanceOf(address)", p.at)
	if mk.words == 0 {
		return []chain.Question{balance, ask(p.at, "getReserves()")}
	}
	observe := chain.Question{To: p.at, Data: calldata(selector("observe(uint32[])"), int64(word), int64(2), int64(window.Seconds()), int64(0))}
	return []chain.Question{balance, ask(p.at, "slot0()"), ask(p.at, "liquidity()"), observe}
}
