package bridge

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// maxCostBps bounds what the quoted costs may take from what counts as a full refund. What
// comes back after higher costs is a refund too, but short.
const maxCostBps = 1000

// A refund is what comes back to the account if nobody pays the output: the input token or,
// if a router swaps that before the deposit, the token that it deposits.
type refund struct {
	token   common.Address
	minimum *big.Int
}

// refund reads it from the quote: at least the deposit less the quoted costs, as far as
// those are in the input token or in the deposited one. Costs in other tokens are ignored.
func (q quoteReply) refund(r swap.QuoteRequest, direct bool) (refund, error) {
	costs, err := q.Fees.Relayer.in(r.SrcChain, r.TokenIn)
	if err != nil {
		return refund{}, err
	}
	back, bps := refund{r.TokenIn, r.AmountIn}, bpsOf(costs, r.AmountIn)
	if c := q.Details.RefundCurrency; c != nil && !c.Currency.is(r.SrcChain, r.TokenIn) {
		if back.minimum, err = q.deposited(c, r, direct); err != nil {
			return refund{}, err
		}
		back.token = c.Currency.Address.Address
		if costs, err = q.Fees.Relayer.in(r.SrcChain, back.token); err != nil {
			return refund{}, err
		}
		bps = max(bps, bpsOf(costs, back.minimum))
	}
	back.minimum = new(big.Int).Sub(back.minimum, shareOf(back.minimum, bps))
	return back, nil
}

// deposited returns the least that a router deposits, in the refund's currency. Everything
// that the quote says about it must agree.
func (q quoteReply) deposited(c *amount, r swap.QuoteRequest, direct bool) (*big.Int, error) {
	refused := refuse(swap.NotAsAccepted, "refundCurrency", "would give the deposit back in a currency that is not what is deposited on chain %d", r.SrcChain)
	if direct || !c.present() || c.Minimum == nil || !c.Currency.ChainID.IsID(r.SrcChain) || q.Protocol == nil || q.Protocol.V2 == nil || q.Protocol.V2.Details == nil {
		return nil, refused
	}
	to := q.Protocol.V2.Details
	if !to.Currency.Is(c.Currency.Address.Address) || !to.Amount.Is(c.Amount.Int) {
		return nil, refused
	}
	if c.Minimum.Sign() <= 0 || c.Minimum.Cmp(c.Amount.Int) > 0 || c.Minimum.Cmp(minAfterSlippage(c.Amount.Int, r.SlippageBps)) < 0 {
		return nil, refuse(swap.NotAsAccepted, "refundCurrency", "has a least deposit that does not follow from the slippage that was asked for")
	}
	return c.Minimum.Int, nil
}

// bpsOf returns a part of an amount in basis points, rounded up, at most maxCostBps.
func bpsOf(part, of *big.Int) int {
	n := new(big.Int).Mul(part, big.NewInt(10_000))
	n.Div(n.Add(n, new(big.Int).Sub(of, big.NewInt(1))), of)
	if n.Cmp(big.NewInt(maxCostBps)) > 0 {
		return maxCostBps
	}
	return int(n.Int64())
}

// shown returns what a review shows, nil on one chain, where nothing is deposited.
func (b refund) shown(r swap.QuoteRequest) *swap.Spend {
	if r.SrcChain == r.DstChain {
		return nil
	}
	return &swap.Spend{Token: b.token, Amount: b.minimum}
}

func sameRefund(a, b *swap.Spend) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Token == b.Token && b.Amount != nil && a.Amount.Cmp(b.Amount) == 0
}
