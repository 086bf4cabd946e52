package intent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// buildRequest is the body of POST /v1/deposit/build.
type buildRequest struct {
	From          string `json:"from"`
	QuoteID       string `json:"quoteId"`
	RouteID       string `json:"routeId"`
	Recipient     string `json:"recipient"`
	RefundTo      string `json:"refundTo"`
	DepositMethod string `json:"depositMethod"`
}

// Build asks the provider for the deposit of a route and checks every action of the reply
// against the terms. The provider's approvals are checked and then dropped: package swap
// makes its own. It may be repeated until the quote expires.
func (p *Provider) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	if now := p.now(); !now.Before(o.Expires) || !now.Before(t.Deadline) {
		return swap.Built{}, refuse(swap.QuoteExpired, "expires", "gave a quote that has expired; get a new one")
	}
	f, err := readStoredOffer(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	if f.expiresAt.Before(o.Expires.Add(minQuoteLife)) {
		return swap.Built{}, refuse(swap.NotAsAccepted, "expires", "gave an offer that is not what its quote says")
	}
	body, err := json.Marshal(buildRequest{
		From: t.From().Hex(), QuoteID: f.quoteID, RouteID: f.routeID, Recipient: t.Recipient.Hex(), RefundTo: t.RefundTo.Hex(), DepositMethod: contractCall,
	})
	if err != nil {
		return swap.Built{}, err
	}
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/v1/deposit/build", Body: body, Repeatable: true})
	if err != nil {
		return swap.Built{}, service.Refusal(err)
	}
	d, err := readPlan(reply.Body, t, p.depositContracts)
	if err != nil {
		return swap.Built{}, err
	}
	if !p.now().Before(o.Expires) {
		return swap.Built{}, refuse(swap.QuoteExpired, "expires", "took so long that the quote has expired; get a new one")
	}
	built := swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: d.call(t)}}, Settlement: swap.ByProvider}
	if t.Input() != chain.Native {
		built.Spender = d.to
	}
	return built, nil
}

// readStoredOffer parses an offer again, which may come from storage, and checks it against the
// terms. It relies only on the offer's raw route, not on its other stored fields. It is
// pure.
func readStoredOffer(o swap.Offer, t swap.Terms) (parsedRoute, error) {
	r := o.Request
	err := service.CheckEchoes([]wire.Echo{
		{Field: "provider", Present: true, Matches: o.Provider == swap.Intent && t.Provider == swap.Intent},
		{Field: "account", Present: true, Matches: r.Account == t.Account && r.Isolated == t.Isolated},
		{Field: "srcChainId", Present: true, Matches: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", Present: true, Matches: r.TokenIn == t.TokenIn && t.Wrap == common.Address{}},
		{Field: "tokenOut", Present: true, Matches: r.TokenOut == t.TokenOut},
		{Field: "amountIn", Present: r.AmountIn != nil && t.AmountIn != nil, Matches: r.AmountIn != nil && t.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", Present: true, Matches: r.Recipient == t.Recipient && r.RefundTo == t.RefundTo},
		{Field: "feeBps", Present: true, Matches: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	})
	if err != nil {
		return parsedRoute{}, err
	}
	if _, _, err := checkRequest(r); err != nil {
		return parsedRoute{}, err
	}
	f, err := readStoredRoute(o)
	switch {
	case err != nil:
		return parsedRoute{}, err
	case !f.callable:
		return parsedRoute{}, refuse(swap.UnsupportedRoute, "depositMethods", "takes the deposit of this route by other means than a contract call; choose another route")
	case !f.depositable:
		return parsedRoute{}, refuse(swap.NotPinned, "to", "takes the deposit of this route by a contract that is not built in; choose another route")
	case o.MinOut == nil || f.minOut.Cmp(o.MinOut) != 0 || wire.Printable(f.routeID) != o.Routing:
		return parsedRoute{}, refuse(swap.NotAsAccepted, "minAmountOut", "gave an offer that is not what its quote says")
	case t.MinOut == nil || f.minOut.Cmp(t.MinOut) < 0:
		return parsedRoute{}, refuse(swap.NotAsAccepted, "minOut", "promises less at least than was accepted").WithAmounts(swap.OfOutput, f.minOut, t.MinOut)
	}
	return f, nil
}

// readStoredRoute parses the route that an offer kept.
func readStoredRoute(o swap.Offer) (parsedRoute, error) {
	var kept storedRoute
	if err := wire.ReadStrict(o.Raw, &kept); err != nil {
		return parsedRoute{}, garbage("raw", fmt.Errorf("kept route: %w", err))
	}
	return readRoute(kept.QuoteID, kept.Route, o.Request)
}
