package bridge

import (
	"context"
	"math/big"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Build turns an offer into the one call that pays the input. The quote's approvals are not
// among the steps. It may be repeated. A refusal with [swap.QuoteExpired] means that a
// fresh quote is needed.
func (p *Provider) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	if now := p.now(); !now.Before(o.Expires) || !now.Before(t.Deadline) {
		return swap.Built{}, refuse(swap.QuoteExpired, "expires", "gave a quote that has expired; get a new one")
	}
	d, err := checkTerms(t)
	if err != nil {
		return swap.Built{}, err
	}
	if d.wraps(t.SrcChain, t.DstChain, t.TokenIn, t.TokenOut) {
		return swap.Built{Steps: []swap.Step{d.wrapStep(t)}, Settlement: swap.ByOwnCall}, sameRequest(o, t)
	}
	x, err := checkOffer(o, t, p.solver)
	if err != nil {
		return swap.Built{}, err
	}
	ends, err := p.checkChains(ctx, t.SrcChain, t.DstChain)
	if err != nil {
		return swap.Built{}, err
	}
	if err := x.checkListed(ends, p.now()); err != nil {
		return swap.Built{}, err
	}
	b := swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &x.call}}, Settlement: swap.ByProvider}
	if t.TokenIn != nativeCoin {
		b.Spender = x.call.To
	}
	return b, nil
}

// sameRequest requires an offer to be for the terms.
func sameRequest(o swap.Offer, t swap.Terms) error {
	r := o.Request
	return service.CheckEchoes([]wire.Echo{
		{Field: "provider", Present: true, Matches: o.Provider == swap.Bridge},
		{Field: "account", Present: true, Matches: r.Account == t.Account && r.Isolated == t.Isolated},
		{Field: "srcChainId", Present: true, Matches: r.SrcChain == t.SrcChain},
		{Field: "dstChainId", Present: true, Matches: r.DstChain == t.DstChain},
		{Field: "tokenIn", Present: true, Matches: r.TokenIn == t.TokenIn},
		{Field: "tokenOut", Present: true, Matches: r.TokenOut == t.TokenOut},
		{Field: "amountIn", Present: r.AmountIn != nil, Matches: r.AmountIn != nil && t.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", Present: true, Matches: r.Recipient == t.Recipient},
		{Field: "refundTo", Present: true, Matches: r.RefundTo == t.RefundTo},
		{Field: "feeBps", Present: true, Matches: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	})
}

// checkOffer checks an offer, which may come from storage, against the terms. The result rests
// on the offer's quote, not on its other stored fields. No I/O.
func checkOffer(o swap.Offer, t swap.Terms, solver common.Address) (parsedQuote, error) {
	if _, err := checkTerms(t); err != nil {
		return parsedQuote{}, err
	}
	if err := sameRequest(o, t); err != nil {
		return parsedQuote{}, err
	}
	x, err := readQuote(o.Raw, o.Request, solver)
	if err != nil {
		return parsedQuote{}, err
	}
	switch q := x.offer; {
	case o.MinOut == nil || q.MinOut.Cmp(o.MinOut) != 0 || q.Routing != o.Routing || !slices.Equal(q.Fees, o.Fees) || !sameRefund(q.Refund, o.Refund):
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minAmountOut", "gave an offer that is not what its quote says")
	case t.MinOut == nil || q.MinOut.Cmp(t.MinOut) < 0:
		return parsedQuote{}, refuse(swap.NotAsAccepted, "minOut", "promises less than the accepted minimum").WithAmounts(swap.OfOutput, q.MinOut, t.MinOut)
	}
	return x, nil
}

// A swapParams is what a request and terms have in common.
type swapParams struct {
	src, dst                     uint64
	account, recipient, refundTo common.Address
	tokenIn, tokenOut            common.Address
	amountIn                     *big.Int
	feeBps                       int
	feeReceiver                  common.Address
}

// check refuses what the bridge cannot carry out, or what would make a step
// ambiguous.
func (p swapParams) check() (deployment, error) {
	d, err := deploymentOn(p.src)
	zero := common.Address{}
	if err == nil {
		err = checkDestination(p.dst)
	}
	switch {
	case err != nil:
		return d, err
	case p.amountIn == nil || p.amountIn.Sign() <= 0:
		return d, refuse(swap.AmountZero, "amountIn", "needs an amount above zero")
	case p.amountIn.BitLen() > 256:
		return d, refuse(swap.BadRequest, "amountIn", "cannot take an amount of more than 256 bits")
	case p.src == p.dst && p.tokenIn == p.tokenOut:
		return d, refuse(swap.SameToken, "tokenOut", "cannot swap a token for itself on one chain; choose another")
	case p.account == zero || p.recipient == zero || p.refundTo == zero:
		return d, refuse(swap.BadRequest, "account", "needs an account, a recipient and a refund address")
	case d.isContract(p.tokenIn) || d.isContract(p.tokenOut):
		return d, refuse(swap.BadRequest, "tokenIn", "knows that address as a contract of its own, which is no token; choose another")
	case d.isContract(p.account) || d.isContract(p.recipient) || d.isContract(p.refundTo):
		return d, refuse(swap.BadRequest, "recipient", "cannot pay a contract of its own; choose another recipient")
	case p.feeBps < 0 || p.feeBps > swap.DefaultFees().MaxFeeBps || (p.feeBps > 0) != (p.feeReceiver != zero):
		return d, refuse(swap.BadRequest, "feeBps", "cannot take a fee of %d bps for %s", p.feeBps, p.feeReceiver)
	case d.wraps(p.src, p.dst, p.tokenIn, p.tokenOut) && (p.recipient != p.account || p.feeBps > 0):
		return d, refuse(swap.UnsupportedRoute, "recipient", "wraps for the account itself alone, without a fee; send it on afterwards")
	}
	return d, nil
}

// isContract reports whether an address is one of the bridge's own contracts.
func (d deployment) isContract(a common.Address) bool {
	return a == d.depository || slices.ContainsFunc(d.pairs, func(p routerPair) bool { return a == p.router || a == p.proxy })
}

// checkRequest refuses what cannot be quoted.
func checkRequest(r swap.QuoteRequest) (deployment, error) {
	d, err := swapParams{r.SrcChain, r.DstChain, r.Account, r.Recipient, r.RefundTo, r.TokenIn, r.TokenOut, r.AmountIn, r.FeeBps, r.FeeReceiver}.check()
	if err == nil && (r.SlippageBps < swap.MinSlippageBps || r.SlippageBps > swap.MaxSlippageBps) {
		err = refuse(swap.SlippageBounds, "slippage", "needs a slippage above 0 and at most 50 %%")
	}
	return d, err
}

// checkTerms refuses terms under which no step could be decoded with certainty.
func checkTerms(t swap.Terms) (deployment, error) {
	d, err := swapParams{t.SrcChain, t.DstChain, t.Account, t.Recipient, t.RefundTo, t.TokenIn, t.TokenOut, t.AmountIn, t.FeeBps, t.FeeReceiver}.check()
	switch {
	case err != nil:
		return d, err
	case t.Provider != swap.Bridge:
		return d, refuse(swap.NotAsAccepted, "provider", "was not accepted, but the %s provider", t.Provider)
	case t.Wrap != common.Address{}:
		return d, refuse(swap.NotAsAccepted, "wrap", "takes the coin as it is, and nothing is wrapped first")
	}
	return d, nil
}
