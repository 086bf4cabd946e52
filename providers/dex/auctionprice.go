package dex

import (
	"context"
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// An OwnPrice returns how much of token out an amount of token in on the same chain is
// worth, in base units, from our own sources and never the provider's. An error means
// unknown.
type OwnPrice func(ctx context.Context, chainID uint64, in, out common.Address, amount *big.Int) (*big.Int, error)

// checkAuctionMinimum refuses an auction that may end too low. It compares the auction's end, which
// is all that it guarantees, with what the pools give in the same round or, if they give
// nothing (nil), with our own price less the wallet's fee; either less the requested
// slippage. Where the auction begins is ignored, whether far above the pools or not.
// Without pools or a price it refuses with [swap.NoRoute].
func (p *Provider) checkAuctionMinimum(ctx context.Context, o swap.Offer, pools *big.Int) error {
	r, fair := o.Request, pools
	if fair == nil {
		own, err := p.ownPrice(ctx, r.SrcChain, r.TokenIn, r.TokenOut, r.AmountIn)
		if err != nil || own == nil || own.Sign() <= 0 {
			return refuse(swap.NoRoute, "minAmount", "the dex provider offers an auction alone, and no price of our own says what its minimum is worth; try another provider")
		}
		fair = minAfterSlippage(own, r.FeeBps)
	}
	if minOut := minAfterSlippage(fair, r.SlippageBps); o.MinOut.Cmp(minOut) < 0 {
		return refuse(swap.NotAsAccepted, "minAmount", "the auction ends below what the swap is worth now, less the slippage that was asked for").WithAmounts(swap.OfOutput, o.MinOut, minOut)
	}
	return nil
}
