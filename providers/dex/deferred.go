package dex

import (
	"context"

	"swapkeep/chain"
	"swapkeep/swap"
)

// BuildDeferred returns the call of an order's deferred step: the swap with the permit that the step
// before has signed. The calldata is refused unless it carries that permit with that
// signature and does what was quoted. BuildDeferred may be repeated. Once the quote has expired it
// refuses with [swap.QuoteExpired]; under a fresh quote the permit is signed again for the
// same nonce. Only the account can use the old one: the router pulls only from its caller.
func (p *Provider) BuildDeferred(ctx context.Context, o swap.Order, step int) (chain.Call, error) {
	s, err := p.checkOffer(o.Offer, o.Terms)
	if err != nil {
		return chain.Call{}, err
	}
	signed, err := signedBefore(o, step)
	if err != nil {
		return chain.Call{}, err
	}
	if s.permit == nil || !s.permit.is(signed.permit) {
		return chain.Call{}, refuse(swap.NotAsAccepted, "permit", "the signed permit is not the one in the quote")
	}
	return p.fetch(ctx, s, &signed)
}

// signedBefore returns the permit of the step before a deferred one, with its signature.
func signedBefore(o swap.Order, step int) (signedPermit, error) {
	if step < 1 || step >= len(o.Plan.Steps) || step > len(o.Results) || o.Plan.Steps[step].Kind != swap.DeferredStep {
		return signedPermit{}, refuse(swap.Undecodable, "step", "step %d of the order is not a deferred step after a signed permit", step+1)
	}
	before, signature := o.Plan.Steps[step-1], o.Results[step-1].Signature
	if before.TypedData == nil || len(signature) != signatureLen {
		return signedPermit{}, refuse(swap.Undecodable, "signature", "the step before has no signed permit")
	}
	permit, err := permitFrom(*before.TypedData)
	return signedPermit{permit, signature}, err
}
