package swap

import (
	"context"
	"math/big"
	"slices"

	"swapkeep/fault"

	"github.com/ethereum/go-ethereum/common"
)

// A Rehearsal asks a provider as a swap would, and reads what it answers as far as bytes
// lead: for whoever wants to know whether an answer is understood. Nothing of it is kept,
// simulated, signed or sent; no node is asked, and the account need not hold anything.
type Rehearsal struct {
	Provider Provider
	Nodes    Nodes // of which only the networks' descriptions are used
	Fees     FeeConfig
}

// Quote is the provider's answer to a request, of which the fees are the configuration's.
// It may be repeated. Errors are those of [Provider].Quote, and what the table of
// supported networks refuses.
func (r Rehearsal) Quote(ctx context.Context, q QuoteRequest) ([]Offer, error) {
	k := r.Provider.Kind()
	if err := checkRoute(k, q.SrcChain, q.DstChain); err != nil {
		return nil, err
	}
	net, err := r.Nodes.Network(q.SrcChain)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimes[k])
	defer cancel()
	q = r.Fees.charge(q, k, net.WrappedNative)
	offers, err := r.Provider.Quote(ctx, q)
	for i := range offers {
		offers[i].Provider, offers[i].Request = k, q.Taking(offers[i].Fees)
	}
	return offers, err
}

// Plan is what an offer's plan would be for an account without allowances: built by the
// provider, decoded, and checked against the terms of an acceptance now. It may be
// repeated.
func (r Rehearsal) Plan(ctx context.Context, o Offer) (Plan, error) {
	net, err := r.Nodes.Network(o.Request.SrcChain)
	if err != nil {
		return Plan{}, err
	}
	e := Engine{Nodes: r.Nodes, Fees: r.Fees, Now: fault.Now}
	t := e.termsOf(o, net)
	plan, err := e.build(ctx, r.Provider, o, t)
	if err != nil {
		return plan, err
	}
	var own []Step
	if plan.Spender != (common.Address{}) {
		own = append(own, approveStep(t, plan.Spender, t.AmountIn, new(big.Int)))
	}
	if t.Wrap != (common.Address{}) {
		own = append(own, WrapStep(t))
	}
	plan.Steps = slices.Concat(own, plan.Steps)
	return plan, Check(t, plan.Effects(), r.Provider.Pins())
}
