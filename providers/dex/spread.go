package dex

import (
	"context"
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// An OwnPrice says from sources of our own, never the provider's, how much of a token an
// amount of another on the same chain is worth, in base units. An error means unknown.
type OwnPrice func(ctx context.Context, chainID uint64, in, out common.Address, amount *big.Int) (*big.Int, error)

// worthwhile holds an auction's end, which is all that it promises, against what the pools
// give in the same round, or where they give nothing (nil) against our own price less the
// wallet's fee; either less the asked slippage. Where it begins counts for nothing: an
// auction that begins far above the pools is no worse for it, nor one that pretends to.
func (p *Provider) worthwhile(ctx context.Context, o swap.Offer, pools *big.Int) error {
	r, fair := o.Request, pools
	if fair == nil {
		own, err := p.own(ctx, r.SrcChain, r.TokenIn, r.TokenOut, r.AmountIn)
		if err != nil || own == nil || own.Sign() <= 0 {
			return refuse(swap.NoRoute, "minAmount", "the dex provider offers an auction alone, and no price of our own says what its minimum is worth; try another provider")
		}
		fair = floorOf(own, r.FeeBps)
	}
	if least := floorOf(fair, r.SlippageBps); o.MinOut.Cmp(least) < 0 {
		return refuse(swap.NotAsAccepted, "minAmount", "the auction ends below what the swap is worth now, less the slippage that was asked for").Amounts(swap.OfOutput, o.MinOut, least)
	}
	return nil
}
