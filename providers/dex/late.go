package dex

import (
	"context"

	"swapkeep/chain"
	"swapkeep/swap"
)

// Late makes the call of an order's late step: the swap with the permit that the
// step before has signed. The calldata is refused unless it carries that permit
// with that signature, and does what the quote said. It may be repeated; once the
// quote has expired it is refused with [swap.QuoteExpired] and wants a fresh one,
// under which the permit is signed anew for the same nonce. Nobody but the account
// can use the former: the router pulls from its caller alone.
func (p *Provider) Late(ctx context.Context, o swap.Order, step int) (chain.Call, error) {
	s, err := p.stand(o.Offer, o.Terms)
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

// signedBefore is the permit of the step before a late one, with the signature
// that it left.
func signedBefore(o swap.Order, step int) (signedPermit, error) {
	if step < 1 || step >= len(o.Plan.Steps) || step > len(o.Results) || o.Plan.Steps[step].Kind != swap.LateStep {
		return signedPermit{}, refuse(swap.NotUnderstood, "step", "step %d of the order is no late step with one before it", step+1)
	}
	before, signature := o.Plan.Steps[step-1], o.Results[step-1].Signature
	if before.Typed == nil || len(signature) != signatureLen {
		return signedPermit{}, refuse(swap.NotUnderstood, "signature", "the step before left no signature of a permit")
	}
	permit, err := permitFrom(*before.Typed)
	return signedPermit{permit, signature}, err
}
