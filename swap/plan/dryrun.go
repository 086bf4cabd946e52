package plan

import (
	"context"
	"math/big"
	"slices"
	"swapkeep/internal/clock"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A DryRun asks a provider as a swap would, and decodes its answers as far as bytes
// go, to show whether they are understood. It stores, simulates, signs and sends nothing.
// It makes no RPC request, and the account need not hold anything.
type DryRun struct {
	Provider swap.Provider
	Nodes    Nodes // only the networks' descriptions are used
	Fees     swap.FeeConfig
}

// Quote returns the provider's offers for a request, with the configuration's fees. It
// may be repeated. Errors are those of [swap.Provider].Quote and of the support table.
func (r DryRun) Quote(ctx context.Context, q swap.QuoteRequest) ([]swap.Offer, error) {
	k := r.Provider.Kind()
	if err := swap.CheckRoute(k, q.SrcChain, q.DstChain); err != nil {
		return nil, err
	}
	if err := checkRunning(r.Nodes, q); err != nil {
		return nil, err
	}
	net, err := r.Nodes.Network(q.SrcChain)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimeouts[k])
	defer cancel()
	q = r.Fees.Charge(q, k, net.WrappedNative)
	if i, ok := r.Provider.(IsolatingProvider); ok && i.IsolatesOn(q.SrcChain) {
		q.Isolated = standIn
	}
	offers, err := r.Provider.Quote(ctx, q)
	if wantsIsolated(r.Provider, err) {
		q.Isolated = standIn
		offers, err = r.Provider.Quote(ctx, q)
	}
	for i := range offers {
		offers[i].Provider, offers[i].Request = k, q.WithActualFee(offers[i].Fees)
	}
	return offers, err
}

// standIn is the isolated account of dry runs, which nobody has.
var standIn = common.BytesToAddress([]byte("nobody's isolated account"))

// Plan returns an offer's plan for an account without allowances: built by the provider,
// decoded, and checked against the terms that an acceptance now would have. It may be
// repeated.
func (r DryRun) Plan(ctx context.Context, o swap.Offer) (swap.Plan, error) {
	net, err := r.Nodes.Network(o.Request.SrcChain)
	if err != nil {
		return swap.Plan{}, err
	}
	pl := Planner{Nodes: r.Nodes, Fees: r.Fees, Now: clock.Now}
	t := pl.termsOf(o, net)
	plan, err := pl.build(ctx, r.Provider, o, t)
	if err != nil {
		return plan, err
	}
	var own []swap.Step
	if t.IsIsolated() {
		own = swap.FundSteps(t, t.GasCeiling)
	}
	if plan.Spender != (common.Address{}) {
		own = append(own, approveStep(t, plan.Spender, t.AmountIn, new(big.Int)))
	}
	if t.Wrap != (common.Address{}) {
		own = append(own, swap.WrapStep(t))
	}
	plan.Steps = slices.Concat(own, plan.Steps)
	return plan, swap.Check(t, plan.Effects(), r.Provider.Pins())
}
