package bridge

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// maxCostBps is the most that the quoted costs may take from what counts as a
// refund in full. What comes back after more is a refund too, and short.
const maxCostBps = 1000

// A refund is what would come back to the account if nobody pays the output: the
// token paid or, where a router turns that into another before it is deposited,
// that other one.
type refund struct {
	token common.Address
	least *big.Int
}

// refund is what the quote says of it: at least the deposit less the quoted costs, where
// they are in the input or in what is deposited. Costs in anything else take nothing off.
func (q quoteReply) refund(r swap.QuoteRequest, direct bool) (refund, error) {
	costs, err := q.Fees.Relayer.in(r.SrcChain, r.TokenIn)
	if err != nil {
		return refund{}, err
	}
	back, bps := refund{r.TokenIn, r.AmountIn}, bpsOf(costs, r.AmountIn)
	if c := q.Details.RefundCurrency; c != nil && !c.Currency.is(r.SrcChain, r.TokenIn) {
		if back.least, err = q.deposited(c, r, direct); err != nil {
			return refund{}, err
		}
		back.token = c.Currency.Address.Address
		if costs, err = q.Fees.Relayer.in(r.SrcChain, back.token); err != nil {
			return refund{}, err
		}
		bps = max(bps, bpsOf(costs, back.least))
	}
	back.least = new(big.Int).Sub(back.least, shareOf(back.least, bps))
	return back, nil
}

// deposited is what at least a router deposits, in the refund's currency. All that
// the quote says of it must agree.
func (q quoteReply) deposited(c *amount, r swap.QuoteRequest, direct bool) (*big.Int, error) {
	refused := refuse(swap.NotAsAccepted, "refundCurrency", "would give the deposit back in a currency that is not what is deposited on chain %d", r.SrcChain)
	if direct || !c.there() || c.Minimum == nil || !c.Currency.ChainID.IsID(r.SrcChain) || q.Protocol == nil || q.Protocol.V2 == nil || q.Protocol.V2.Details == nil {
		return nil, refused
	}
	to := q.Protocol.V2.Details
	if !to.Currency.Is(c.Currency.Address.Address) || !to.Amount.Is(c.Amount.Int) {
		return nil, refused
	}
	if c.Minimum.Sign() <= 0 || c.Minimum.Cmp(c.Amount.Int) > 0 || c.Minimum.Cmp(floorOf(c.Amount.Int, r.SlippageBps)) < 0 {
		return nil, refuse(swap.NotAsAccepted, "refundCurrency", "has a least deposit that does not follow from the slippage that was asked for")
	}
	return c.Minimum.Int, nil
}

// bpsOf is a part of an amount in basis points, rounded up, at most maxCostBps.
func bpsOf(part, of *big.Int) int {
	n := new(big.Int).Mul(part, big.NewInt(10_000))
	n.Div(n.Add(n, new(big.Int).Sub(of, big.NewInt(1))), of)
	if n.Cmp(big.NewInt(maxCostBps)) > 0 {
		return maxCostBps
	}
	return int(n.Int64())
}

// back is what a review shows of it; on one chain nothing is deposited.
func (b refund) back(r swap.QuoteRequest) *swap.Spend {
	if r.SrcChain == r.DstChain {
		return nil
	}
	return &swap.Spend{Token: b.token, Amount: b.least}
}

func sameBack(a, b *swap.Spend) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Token == b.Token && b.Amount != nil && a.Amount.Cmp(b.Amount) == 0
}
