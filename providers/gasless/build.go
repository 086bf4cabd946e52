package gasless

import (
	"context"
	"math/big"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/swap"
)

// Build turns an offer into a plan with one typed-data step: the order, built from the
// terms. It makes no network call and may be repeated. A refusal with [swap.QuoteExpired]
// means that a fresh quote is needed.
func (p *Provider) Build(_ context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	if now := p.now(); !now.Before(o.Expires) || !now.Before(t.Deadline) {
		return swap.Built{}, refuse(swap.QuoteExpired, "expires", "gave a quote that has expired; get a new one")
	}
	s, err := p.stand(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	if s.order.core.ends().Before(o.Expires.Add(s.order.deal.leastLife)) {
		return swap.Built{}, refuse(swap.NotAsAccepted, "expires", "gave an offer that is not what its quote says")
	}
	typed := s.order.typed()
	return swap.Built{
		Steps:      []swap.Step{{Kind: swap.TypedStep, Typed: &typed}},
		Settlement: swap.ByProvider, Spender: s.order.deal.spender,
	}, nil
}

// stand parses an offer again, which may come from storage, and checks it against the
// terms. It relies only on the offer's raw quote, not on its other stored fields. It is
// pure.
func (p *Provider) stand(o swap.Offer, t swap.Terms) (reading, error) {
	if err := checkTerms(t); err != nil {
		return reading{}, err
	}
	r := o.Request
	err := service.CheckEchoes([]wire.Echo{
		{Field: "provider", There: true, Same: o.Provider == swap.Gasless},
		{Field: "account", There: true, Same: r.Account == t.Account},
		{Field: "srcChainId", There: true, Same: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", There: true, Same: r.TokenIn == t.TokenIn && o.Wrap == t.Wrap},
		{Field: "tokenOut", There: true, Same: r.TokenOut == t.TokenOut},
		{Field: "amountIn", There: r.AmountIn != nil, Same: r.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", There: true, Same: r.Recipient == t.Recipient},
		{Field: "feeBps", There: true, Same: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	})
	if err != nil {
		return reading{}, err
	}
	v, err := venueOf(t.SrcChain, func(v venue) bool { return v.protocol.name == o.Routing })
	if err != nil {
		return reading{}, err
	}
	again, err := p.read(v, o.Raw, r)
	if err != nil {
		return reading{}, err
	}
	if q := again.offer; o.MinOut == nil || q.MinOut.Cmp(o.MinOut) != 0 || !slices.Equal(q.Fees, o.Fees) {
		return reading{}, refuse(swap.NotAsAccepted, "minAmountOut", "gave an offer that is not what its quote says")
	}
	if t.FloorOut == nil {
		return reading{}, refuse(swap.NotAsAccepted, "floorOut", "cannot build an order without a floor")
	}
	again.order, err = again.order.under(t)
	return again, err
}

// under checks an order against accepted terms.
func (o order) under(t swap.Terms) (order, error) {
	o.deal = o.deal.agreed(t)
	if err := o.core.fits(o.deal, t.FloorOut); err != nil {
		return order{}, err
	}
	return o, o.bounds(o.deal)
}

// floor is the accepted minimum received. Without one it returns 2^256, so every order is
// refused.
func floor(t swap.Terms) *big.Int {
	if t.FloorOut == nil {
		return new(big.Int).Lsh(big.NewInt(1), 256)
	}
	return t.FloorOut
}
