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
	s, err := p.readStoredOffer(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	if s.order.core.expiresAt().Before(o.Expires.Add(s.order.expected.settleMargin)) {
		return swap.Built{}, refuse(swap.NotAsAccepted, "expires", "gave an offer that is not what its quote says")
	}
	typed := s.order.typedData()
	return swap.Built{
		Steps:      []swap.Step{{Kind: swap.TypedStep, TypedData: &typed}},
		Settlement: swap.ByProvider, Spender: s.order.expected.spender,
	}, nil
}

// readStoredOffer parses an offer again, which may come from storage, and checks it against the
// terms. It relies only on the offer's raw quote, not on its other stored fields. It is
// pure.
func (p *Provider) readStoredOffer(o swap.Offer, t swap.Terms) (checkedQuote, error) {
	if err := checkTerms(t); err != nil {
		return checkedQuote{}, err
	}
	r := o.Request
	err := service.CheckEchoes([]wire.Echo{
		{Field: "provider", Present: true, Matches: o.Provider == swap.Gasless},
		{Field: "account", Present: true, Matches: r.Account == t.Account},
		{Field: "srcChainId", Present: true, Matches: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", Present: true, Matches: r.TokenIn == t.TokenIn && o.Wrap == t.Wrap},
		{Field: "tokenOut", Present: true, Matches: r.TokenOut == t.TokenOut},
		{Field: "amountIn", Present: r.AmountIn != nil, Matches: r.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", Present: true, Matches: r.Recipient == t.Recipient},
		{Field: "feeBps", Present: true, Matches: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	})
	if err != nil {
		return checkedQuote{}, err
	}
	v, err := venueOf(t.SrcChain, func(v venue) bool { return v.protocol.name == o.Routing })
	if err != nil {
		return checkedQuote{}, err
	}
	again, err := p.read(v, o.Raw, r)
	if err != nil {
		return checkedQuote{}, err
	}
	if q := again.offer; o.MinOut == nil || q.MinOut.Cmp(o.MinOut) != 0 || !slices.Equal(q.Fees, o.Fees) {
		return checkedQuote{}, refuse(swap.NotAsAccepted, "minAmountOut", "gave an offer that is not what its quote says")
	}
	if t.MinOut == nil {
		return checkedQuote{}, refuse(swap.NotAsAccepted, "minOut", "cannot build an order without a minimum")
	}
	again.order, err = again.order.withTerms(t)
	return again, err
}

// withTerms checks an order against accepted terms.
func (o order) withTerms(t swap.Terms) (order, error) {
	o.expected = o.expected.expectedUnder(t)
	if err := o.core.checkAgainst(o.expected, t.MinOut); err != nil {
		return order{}, err
	}
	return o, o.checkChoices(o.expected)
}

// minReceived is the accepted minimum received. Without one it returns 2^256, so every order is
// refused.
func minReceived(t swap.Terms) *big.Int {
	if t.MinOut == nil {
		return new(big.Int).Lsh(big.NewInt(1), 256)
	}
	return t.MinOut
}
