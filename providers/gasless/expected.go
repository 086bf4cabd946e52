package gasless

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A expectedOrder is what an order must contain, whoever wrote it.
type expectedOrder struct {
	venue
	taker, receiver common.Address
	sellToken       common.Address // input token; the wrapped coin for a native input
	tokenOut        common.Address // zero = native
	amountIn        *big.Int
	feeBps          int
	feeReceiver     common.Address
	makerBps        int // most that the provider's side may charge on top
}

// buyToken is the output token as orders name it.
func (d expectedOrder) buyToken() common.Address {
	if d.tokenOut == nativeCoin {
		return nativePlaceholder
	}
	return d.tokenOut
}

// expectedFor is the deal for a quote request.
func (v venue) expectedFor(r swap.QuoteRequest) expectedOrder {
	_, _, makerBps := swap.DefaultFees().For(swap.Gasless)
	if !v.holdsFee {
		r.FeeBps, r.FeeReceiver = 0, common.Address{}
	}
	return expectedOrder{
		venue: v, taker: r.Account, receiver: r.Recipient, sellToken: sellTokenOf(v.deployment, r.TokenIn), tokenOut: r.TokenOut,
		amountIn: r.AmountIn, feeBps: r.FeeBps, feeReceiver: r.FeeReceiver, makerBps: makerBps,
	}
}

// expectedUnder is the deal for accepted terms.
func (v venue) expectedUnder(t swap.Terms) expectedOrder {
	return expectedOrder{
		venue: v, taker: t.Account, receiver: t.Recipient, sellToken: t.Input(), tokenOut: t.TokenOut,
		amountIn: t.AmountIn, feeBps: t.FeeBps, feeReceiver: t.FeeReceiver, makerBps: t.MakerFeeBps,
	}
}

// sellTokenOf is the token that an order spends for the input tokenIn.
func sellTokenOf(d deployment, tokenIn common.Address) common.Address {
	if tokenIn == nativeCoin {
		return d.wrapped()
	}
	return tokenIn
}

// A swapParams holds the values that quote requests and terms have in common.
type swapParams struct {
	src, dst           uint64
	account, recipient common.Address
	tokenIn, tokenOut  common.Address
	amountIn           *big.Int
	feeBps             int
	feeReceiver        common.Address
}

// check refuses values that no order of this provider can carry, or that would make an
// order ambiguous.
func (p swapParams) check() (deployment, error) {
	d, err := deploymentOn(p.src)
	zero := common.Address{}
	switch {
	case err != nil:
		return d, err
	case swap.SupportOf(swap.Gasless, p.src).Support != swap.Active:
		return d, refuse(swap.UnsupportedNetwork, "srcChainId", "is not used on chain %d; choose another provider or network", p.src)
	case p.src != p.dst:
		return d, refuse(swap.UnsupportedRoute, "dstChainId", "swaps on one chain only; choose the bridge or intent provider")
	case p.amountIn == nil || p.amountIn.Sign() <= 0:
		return d, refuse(swap.AmountZero, "amountIn", "needs an amount above zero")
	case p.amountIn.BitLen() > 256:
		return d, refuse(swap.BadRequest, "amountIn", "cannot take an amount of more than 256 bits")
	case p.tokenIn == p.tokenOut:
		return d, refuse(swap.SameToken, "tokenOut", "cannot swap a token for itself; choose another")
	case sellTokenOf(d, p.tokenIn) == p.tokenOut:
		return d, refuse(swap.UnsupportedRoute, "tokenOut", "does not wrap: wrapping needs no order; choose the dex provider")
	case d.isReserved(p.tokenIn) || d.isReserved(p.tokenOut):
		return d, refuse(swap.BadRequest, "tokenIn", "knows that address as a contract of the swap itself, which is no token; choose another")
	case p.account == zero || p.recipient == zero:
		return d, refuse(swap.BadRequest, "account", "needs an account and a recipient")
	case d.isReserved(p.account) || d.isReserved(p.recipient):
		return d, refuse(swap.BadRequest, "recipient", "cannot pay a contract of the swap itself; choose another recipient")
	case p.feeBps < 0 || p.feeBps > maxFeeBps || (p.feeBps > 0) != (p.feeReceiver != zero):
		return d, refuse(swap.BadRequest, "feeBps", "cannot take a fee of %d bps for %s", p.feeBps, p.feeReceiver)
	case p.feeBps > 0 && (p.feeReceiver == p.recipient || p.feeReceiver == p.account || d.isReserved(p.feeReceiver)):
		return d, refuse(swap.BadRequest, "feeReceiver", "cannot pay a fee to a party to the swap; configure another receiver")
	}
	return d, nil
}

// maxFeeBps is the highest partner fee that the spec allows, in bps. The API accepts 500.
const maxFeeBps = 300

func paramsOf(r swap.QuoteRequest) swapParams {
	return swapParams{r.SrcChain, r.DstChain, r.Account, r.Recipient, r.TokenIn, r.TokenOut, r.AmountIn, r.FeeBps, r.FeeReceiver}
}

// checkTerms refuses terms that an order cannot be checked against unambiguously.
func checkTerms(t swap.Terms) error {
	d, err := swapParams{t.SrcChain, t.DstChain, t.Account, t.Recipient, t.TokenIn, t.TokenOut, t.AmountIn, t.FeeBps, t.FeeReceiver}.check()
	switch {
	case err != nil:
		return err
	case t.Provider != swap.Gasless:
		return refuse(swap.NotAsAccepted, "provider", "was not accepted, but the %s provider", t.Provider)
	case t.Input() != sellTokenOf(d, t.TokenIn):
		return refuse(swap.NotAsAccepted, "wrap", "spends %s, which is not what was accepted", sellTokenOf(d, t.TokenIn))
	}
	return nil
}

// checkRequest refuses what this provider cannot quote.
func checkRequest(r swap.QuoteRequest) (deployment, error) {
	d, err := paramsOf(r).check()
	if err == nil && (r.SlippageBps < swap.MinSlippageBps || r.SlippageBps > swap.MaxSlippageBps) {
		err = refuse(swap.SlippageBounds, "slippage", "needs a slippage above 0 and at most 50 %%")
	}
	return d, err
}
