package plan

import (
	"cmp"
	"context"
	"errors"
	"math/big"
	"slices"
	"swapkeep/swap"
)

// preferTemporary picks the error to report when every fresh offer failed: a temporary one if
// there is one, else the first, which is the best offer's.
func preferTemporary(first, next error) error {
	var refused *swap.Refusal
	if first == nil || errors.As(first, &refused) && !refused.Code.Temporary() && !(errors.As(next, &refused) && !refused.Code.Temporary()) {
		return next
	}
	return first
}

// Rebuild makes the plan of an accepted order again, under the same consent, from the first
// of the offers (see FreshOffers) that allows it. If none does, it fails with ConsentNeeded or,
// if that may be different soon, with a temporary error.
func (pl *Planner) Rebuild(ctx context.Context, p swap.Provider, o swap.Order, offers []swap.Offer) (offer swap.Offer, plan swap.Plan, err error) {
	var why error
	for _, offer := range offers {
		plan, err := pl.rebuildFrom(ctx, p, o, offer)
		if err == nil {
			return offer, plan, nil
		}
		why = preferTemporary(why, err)
	}
	return offer, plan, cmp.Or(why, errNoOffer)
}

// rebuildFrom makes o's plan from a fresh offer, or fails with ConsentNeeded.
func (pl *Planner) rebuildFrom(ctx context.Context, p swap.Provider, o swap.Order, offer swap.Offer) (swap.Plan, error) {
	if !o.Terms.RefundCovered(offer) {
		return swap.Plan{}, swap.AskConsent(swap.RefundChanged)
	}
	plan, err := pl.build(ctx, p, offer, o.Terms)
	if err == nil {
		plan.Steps = slices.Concat(o.Plan.Steps[:o.OwnSteps()], plan.Steps)
		err = swap.Check(o.Terms, plan.Effects(), p.Pins())
	}
	var refused *swap.Refusal
	switch {
	case errors.As(err, &refused) && !refused.Code.Temporary():
		return plan, &swap.Refusal{Code: swap.ConsentNeeded, ReasonCode: swap.OutsideTerms, Field: refused.Field, Data: refused.Data, Reason: "the fresh quote is not within what was accepted: " + refused.Reason, Err: err}
	case err != nil:
		return plan, err
	}
	return plan, sameConsent(o, plan)
}

// sameConsent fails with ConsentNeeded unless a rebuilt plan has o's digest, settlement
// and spender, and asks for a permit that was already signed with the same nonce, so that
// only one of the two can be used.
func sameConsent(o swap.Order, plan swap.Plan) error {
	if swap.Digest(o.Terms, plan.Effects()) != o.Digest || plan.Settlement != o.Plan.Settlement || plan.Spender != o.Plan.Spender {
		return swap.AskConsent(swap.EffectsChanged)
	}
	other := func(s swap.Step) bool { return s.Effect.Kind == swap.Permit && !AllowsNonce(o.Permit, s.Effect.Nonce) }
	if slices.ContainsFunc(plan.Steps, other) {
		return swap.AskConsent(swap.PermitChanged)
	}
	return nil
}

// AllowsNonce reports whether a permit for nonce may be signed: the first one, and later only the
// same nonce. A permit without a nonce is never signed again.
func AllowsNonce(p *swap.SignedPermit, nonce *big.Int) bool {
	return p == nil || p.Nonce != nil && nonce != nil && p.Nonce.Cmp(nonce) == 0
}

// FreshOffers returns offers of the accepted route whose enforced minimum is at least the
// accepted one, best first. If none qualifies with the accepted slippage, it asks once
// more with as little as needed. It fails with ConsentNeeded (RouteUnavailable, PriceFell).
func (pl *Planner) FreshOffers(ctx context.Context, p swap.Provider, o swap.Order) ([]swap.Offer, error) {
	r, most := requestOf(o), new(big.Int)
	r.Routing = o.Offer.Routing
	for range 2 {
		fresh, err := pl.soundOffers(ctx, p, o.Terms.Provider, r)
		if err != nil {
			return nil, err
		}
		fresh = slices.DeleteFunc(fresh, func(f swap.Offer) bool { return f.Routing != o.Offer.Routing || f.Wrap != o.Terms.Wrap })
		if len(fresh) == 0 {
			return nil, swap.AskConsent(swap.RouteUnavailable)
		}
		keep := slices.DeleteFunc(slices.Clone(fresh), func(f swap.Offer) bool { return f.MinOut.Cmp(o.Terms.MinOut) < 0 })
		if len(keep) > 0 {
			return keep[:min(len(keep), maxTried)], nil
		}
		most = fresh[0].MinOut
		if r.SlippageBps = slippageFor(withoutSlippage(fresh[0]), o.Terms.MinOut); r.SlippageBps < swap.MinSlippageBps {
			break
		}
	}
	return nil, swap.AskConsent(swap.PriceFell, "minOut", o.Terms.MinOut.String(), "offered", most.String())
}

// maxTried bounds how many offers of one quote are built, one after the other.
const maxTried = 3

// requestOf returns the user's request, with the original slippage if a refresh used less.
func requestOf(o swap.Order) swap.QuoteRequest {
	r := o.Offer.Request
	r.Routing = ""
	if o.SlippageBps != 0 {
		r.SlippageBps = o.SlippageBps
	}
	return r
}

// errNoOffer is temporary: routes come back.
var errNoOffer = errors.New("the provider has no offer now")

// soundOffers returns the provider's valid offers for r, vetted, best first.
func (pl *Planner) soundOffers(ctx context.Context, p swap.Provider, k swap.Kind, r swap.QuoteRequest) (sound []swap.Offer, err error) {
	ctx, kept := pl.KeepAnswer(ctx, k, r.Accounts()...)
	offers, err := p.Quote(ctx, r)
	kept(err)
	switch {
	case errors.Is(err, &swap.Refusal{Code: swap.NoRoute}), err == nil && len(offers) == 0:
		return nil, errNoOffer
	case err != nil:
		return nil, err
	}
	for _, o := range offers[:min(len(offers), maxOffersPerProvider)] {
		if o.Unusable != "" {
			continue
		}
		o, unsound := vetOffer(ctx, k, r, o)
		if unsound != nil {
			err = errors.Join(err, unsound)
			continue
		}
		sound = append(sound, o)
	}
	switch {
	case len(sound) > 0:
		return sound, nil
	case err == nil:
		return nil, errNoOffer
	}
	return nil, err
}

// withoutSlippage returns the output that an offer's minimum is based on. If the offer
// states only the minimum, as auctions do, it is computed from the slippage asked for.
func withoutSlippage(o swap.Offer) *big.Int {
	if o.AmountOut.Cmp(o.MinOut) != 0 {
		return o.AmountOut
	}
	n := new(big.Int).Mul(o.MinOut, big.NewInt(10_000))
	return n.Div(n, big.NewInt(int64(10_000-o.Request.SlippageBps)))
}

// slippageFor returns the widest slippage, in bps, that keeps amount at or above floor.
func slippageFor(amount, floor *big.Int) int {
	if amount.Cmp(floor) <= 0 {
		return 0
	}
	room := new(big.Int).Sub(amount, floor)
	bps := room.Mul(room, big.NewInt(10_000)).Div(room, amount)
	return int(bps.Int64())
}
