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
	f, err := stand(o, t)
	if err != nil {
		return swap.Built{}, err
	}
	if f.ends.Before(o.Expires.Add(leastLife)) {
		return swap.Built{}, refuse(swap.NotAsAccepted, "expires", "gave an offer that is not what its quote says")
	}
	body, err := json.Marshal(buildRequest{
		From: t.Account.Hex(), QuoteID: f.quoteID, RouteID: f.routeID, Recipient: t.Recipient.Hex(), RefundTo: t.RefundTo.Hex(), DepositMethod: contractCall,
	})
	if err != nil {
		return swap.Built{}, err
	}
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/v1/deposit/build", Body: body, Repeatable: true})
	if err != nil {
		return swap.Built{}, service.Refusal(err)
	}
	d, err := readPlan(reply.Body, t, p.depots)
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

// stand parses an offer again, which may come from storage, and checks it against the
// terms. It relies only on the offer's raw route, not on its other stored fields. It is
// pure.
func stand(o swap.Offer, t swap.Terms) (found, error) {
	r := o.Request
	err := service.CheckEchoes([]wire.Echo{
		{Field: "provider", There: true, Same: o.Provider == swap.Intent && t.Provider == swap.Intent},
		{Field: "account", There: true, Same: r.Account == t.Account},
		{Field: "srcChainId", There: true, Same: r.SrcChain == t.SrcChain && r.DstChain == t.DstChain},
		{Field: "tokenIn", There: true, Same: r.TokenIn == t.TokenIn && t.Wrap == common.Address{}},
		{Field: "tokenOut", There: true, Same: r.TokenOut == t.TokenOut},
		{Field: "amountIn", There: r.AmountIn != nil && t.AmountIn != nil, Same: r.AmountIn != nil && t.AmountIn != nil && r.AmountIn.Cmp(t.AmountIn) == 0},
		{Field: "recipient", There: true, Same: r.Recipient == t.Recipient && r.RefundTo == t.RefundTo},
		{Field: "feeBps", There: true, Same: r.FeeBps == t.FeeBps && r.FeeReceiver == t.FeeReceiver},
	})
	if err != nil {
		return found{}, err
	}
	if _, _, err := checkRequest(r); err != nil {
		return found{}, err
	}
	f, err := readOffered(o)
	switch {
	case err != nil:
		return found{}, err
	case !f.callable:
		return found{}, refuse(swap.UnsupportedRoute, "depositMethods", "takes the deposit of this route by other means than a contract call; choose another route")
	case !f.own:
		return found{}, refuse(swap.NotPinned, "to", "takes the deposit of this route by a contract that is not built in; choose another route")
	case o.MinOut == nil || f.least.Cmp(o.MinOut) != 0 || wire.Printable(f.routeID) != o.Routing:
		return found{}, refuse(swap.NotAsAccepted, "minAmountOut", "gave an offer that is not what its quote says")
	case t.FloorOut == nil || f.least.Cmp(t.FloorOut) < 0:
		return found{}, refuse(swap.NotAsAccepted, "floorOut", "promises less at least than was accepted").Amounts(swap.OfOutput, f.least, t.FloorOut)
	}
	return f, nil
}

// readOffered parses the route that an offer kept.
func readOffered(o swap.Offer) (found, error) {
	var kept offered
	if err := wire.ReadWhole(o.Raw, &kept); err != nil {
		return found{}, garbage("raw", fmt.Errorf("kept route: %w", err))
	}
	return readRoute(kept.QuoteID, kept.Route, o.Request)
}
