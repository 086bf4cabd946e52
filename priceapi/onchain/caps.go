package onchain

import (
	"context"
	"fmt"
	"math/big"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// MarketCaps returns price times totalSupply() of the tokens that Now has a price of and
// that have a contract: the diluted cap, on that chain only. It skips tokens whose oracle
// and pool disagree. With an error, the caps returned are still valid. It may be repeated.
func (s *Source) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, s.deadline)
	defer cancel()
	readings, err := s.Now(ctx, ts)
	prices := map[price.ID]price.Value{}
	disputed := map[price.ID]bool{}
	for _, x := range readings {
		if v, ok := prices[x.ID]; ok {
			disputed[x.ID] = v.RelativeDiff(x.Value) > agreement
			continue
		}
		prices[x.ID] = x.Value
	}
	byChain := map[uint64][]tokens.Token{}
	for _, t := range ts {
		id := price.IDOf(t)
		if _, ok := prices[id]; ok && !disputed[id] && t.Address != tokens.Native {
			byChain[t.Chain] = append(byChain[t.Chain], t)
		}
	}
	caps := map[price.ID]price.Value{}
	for id, ts := range byChain {
		if askErr := s.askCaps(ctx, id, ts, prices, caps); askErr != nil && err == nil {
			err = fmt.Errorf("%w: chain %d: %w", errChains, id, askErr)
		}
	}
	return caps, err
}

func (s *Source) askCaps(ctx context.Context, id uint64, ts []tokens.Token, prices, caps map[price.ID]price.Value) error {
	q := &batch{}
	for _, t := range ts {
		q.add(func(answers [][]byte, _ blockStamp) {
			supply, err := wordWithin(answers[0], 256)
			if err != nil {
				return
			}
			v, err := price.FromRatio(supply.Mul(supply, prices[price.IDOf(t)].Int()), new(big.Int).Mul(pow10(t.Decimals), pow10(price.Digits)))
			if err == nil && !v.IsZero() {
				caps[price.IDOf(t)] = v
			}
		}, ask(t.Address, "totalSupply()"))
	}
	return s.send(ctx, id, q)
}

// Holders returns nothing: a chain keeps no count of a token's holders.
func (s *Source) Holders(context.Context, []tokens.Token) (map[price.ID]uint64, error) {
	return nil, nil
}
