package plan

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// consentLife is how long an accepted plan may wait for keys, approvals and
// fresh quotes before it ends.
const consentLife = 20 * time.Minute

// planOffer turns an offer into the plan that the user is shown: built by the provider,
// decoded from its bytes, checked against the terms, simulated on our own nodes, and
// judged by gas and price. If the provider cannot carry out the offer now, its next one
// takes its place, and the review says so.
func (q *Quoter) planOffer(ctx context.Context, offer cachedOffer) (swap.Review, error) {
	p, ok := q.planner.Providers[offer.Provider]
	if !ok {
		return swap.Review{}, swap.Refuse(swap.ProviderDown, "the %s provider is not configured", offer.Provider)
	}
	net, err := q.planner.Nodes.Network(offer.Request.SrcChain)
	if err != nil {
		return swap.Review{}, err
	}
	if q.planner.AwaitPrices != nil {
		q.planner.AwaitPrices(ctx)
	}
	if err := waitQuota(ctx, offer.Provider, q.limiters[offer.Provider].plans); err != nil {
		return swap.Review{}, err
	}
	r, err := q.prepare(ctx, p, net, offer)
	if err == nil {
		q.planner.setLines(&r)
	}
	return r, err
}

// setLines puts a finished review into lines.
func (pl *Planner) setLines(r *swap.Review) {
	if pl.Lines != nil {
		r.Lines = pl.Lines(*r)
	}
}

// prepare reviews an offer or, if that fails for one of fallbacks, one of the next. If
// none can be prepared, it returns the first error.
func (q *Quoter) prepare(ctx context.Context, p swap.Provider, net chain.Network, o cachedOffer) (swap.Review, error) {
	r, first := q.review(ctx, p, net, o.Offer)
	if first == nil {
		return r, nil
	}
	tried := 1
	for _, next := range o.rest {
		if !fallsBack(first) || tried == maxTried {
			break
		}
		if o.Provider == swap.DEX { // an auction instead of pools, or the reverse, is a different deal, which the user must choose
			break
		}
		if next.Unusable != "" || q.planner.Now().After(next.Expires) {
			continue
		}
		tried++
		r, err := q.review(ctx, p, net, next)
		if err == nil {
			why := asRefusal(first)
			r.Findings = append([]swap.Finding{{Code: "fallback_used", Severity: swap.Warn, Text: "the chosen offer cannot be carried out now (" + why.Reason + "): this is the provider's next one",
				Data: map[string]string{"offer": o.ID, "reason": string(why.Code)}}}, r.Findings...)
			return r, nil
		}
		if !fallsBack(err) {
			break
		}
	}
	return r, first
}

// fallbacks are the provider's failures after which its next offer is tried. An answer
// outside the terms is not one of them: it is refused and shown.
var fallbacks = []swap.Code{swap.ProviderBusy, swap.ProviderDown, swap.ProviderInvalidResponse, swap.ProviderRefused, swap.QuoteExpired, swap.NoRoute, swap.WouldRevert}

func fallsBack(err error) bool {
	var refused *swap.Refusal
	return errors.As(err, &refused) && slices.Contains(fallbacks, refused.Code)
}

// review builds the plan of an offer and judges it.
func (q *Quoter) review(ctx context.Context, p swap.Provider, net chain.Network, o swap.Offer) (swap.Review, error) {
	t := q.planner.termsOf(o, net)
	plan, found, err := q.planner.assemble(ctx, p, o, t, priorSteps{})
	if err != nil {
		return swap.Review{}, err
	}
	r := swap.Review{Digest: swap.Digest(t, plan.Effects()), Terms: t, Offer: o, Plan: plan, Findings: found, Expires: o.Expires}
	return r, q.planner.weigh(ctx, &r, net, plan.Steps, t.GasCeiling)
}

// termsOf returns the terms that the user would accept with an offer.
func (pl *Planner) termsOf(o swap.Offer, net chain.Network) swap.Terms {
	r := o.Request
	_, _, maker := pl.Fees.For(o.Provider)
	if swap.IsWrap(r, net.WrappedNative) {
		maker = 0 // one to one, without a maker
	}
	return swap.Terms{
		Provider: o.Provider, Account: r.Account, Isolated: r.Isolated,
		SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn,
		DstChain: r.DstChain, TokenOut: r.TokenOut, Recipient: r.Recipient,
		MinOut: o.MinOut, RefundTo: r.RefundTo,
		Deadline: pl.Now().Add(consentLife).UTC().Truncate(time.Second),
		FeeBps:   r.FeeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: maker,
		GasCeiling: net.GasCeiling, Refund: swap.RefundOf(o), Wrap: o.Wrap,
	}
}

// decodeAll gives each built step the effect decoded from its bytes. A deferred step has no
// bytes yet: its provider states the effect, which the bytes must match later.
func decodeAll(p swap.Provider, t swap.Terms, b swap.Built) (swap.Plan, error) {
	plan := swap.Plan{Settlement: b.Settlement, Spender: b.Spender}
	for i, s := range b.Steps {
		set := 0
		if s.Call != nil {
			set++
		}
		if s.TypedData != nil {
			set++
		}
		want, ok := map[swap.StepKind]int{swap.CallStep: 1, swap.TypedStep: 1, swap.DeferredStep: 0}[s.Kind]
		if !ok || set != want || (s.Kind == swap.CallStep) != (s.Call != nil) {
			return plan, swap.Refuse(swap.Undecodable, "step %d is not of a known form", i+1)
		}
		if s.Kind != swap.DeferredStep {
			f, err := DecodeStep(p, t, s)
			if err != nil {
				return plan, err
			}
			s.Effect = f
		}
		signed := s.Effect.Kind == swap.Permit || s.Effect.Kind == swap.Signed
		if signed != (s.Kind == swap.TypedStep) || s.Kind == swap.DeferredStep && i < len(b.Steps)-1 {
			return plan, swap.Refuse(swap.Undecodable, "step %d is no %s of that form", i+1, s.Effect.Kind)
		}
		plan.Steps = append(plan.Steps, s)
	}
	return plan, nil
}

// CheckCall refuses a call whose sender, chain, target or value is not within the terms.
func CheckCall(t swap.Terms, c chain.Call) error {
	switch {
	case c.From != t.From():
		return swap.RefuseField(swap.NotAsAccepted, "from", "the transaction is from %s, not from %s", c.From, t.From())
	case c.ChainID != t.SrcChain:
		return swap.RefuseField(swap.NotAsAccepted, "chainId", "the transaction is for chain %d, not for %d", c.ChainID, t.SrcChain)
	case c.To == (common.Address{}):
		return swap.RefuseField(swap.NotAsAccepted, "to", "the transaction has no target")
	case c.Value == nil || c.Value.Sign() < 0:
		return swap.RefuseField(swap.Undecodable, "value", "the transaction has no sound value")
	}
	most := new(big.Int)
	if t.TokenIn == (common.Address{}) {
		most = t.AmountIn
	}
	if c.Value.Cmp(most) > 0 {
		return swap.RefuseField(swap.NotAsAccepted, "value", "the transaction sends more of the coin than is swapped").WithAmounts(swap.OfCoin, c.Value, most)
	}
	return nil
}

// weigh adds the guards' findings to a review. steps are those still to be paid for,
// ceiling is what is left of the gas ceiling, in wei.
func (pl *Planner) weigh(ctx context.Context, r *swap.Review, net chain.Network, steps []swap.Step, ceiling *big.Int) error {
	gas, value, err := gasOf(ctx, pl.Nodes, r.Terms, r.Offer, swap.Plan{Steps: steps})
	if err != nil {
		return fmt.Errorf("gas: %w", err)
	}
	r.Gas = gas
	if r.Terms.Provider == swap.Wallet {
		r.Findings = append(r.Findings, judgeFunds(&r.Gas, value, ceiling, net.Symbol)...)
		return nil
	}
	r.Findings = append(r.Findings, judgeIsolated(*r, steps)...)
	r.Findings = append(r.Findings, judgeGas(&r.Gas, value, ceiling, valueInNative(ctx, pl.Nodes, pl.Pricer, r.Terms), net.Symbol)...)
	r.Findings = append(r.Findings, pl.judgeDecimals(r.Terms)...)
	r.Findings = append(r.Findings, judgeSlippage(r.Offer.Request.SlippageBps)...)
	if swap.IsWrap(r.Offer.Request, net.WrappedNative) {
		return nil // one to one, checked exactly
	}
	r.Findings = append(r.Findings, pl.judgeOutput(ctx, r.Terms)...)
	own, err := pl.Pricer.Out(ctx, r.Terms.SrcChain, r.Terms.TokenIn, r.Terms.DstChain, r.Terms.TokenOut, r.Terms.AmountIn)
	if err != nil {
		own = nil // judgePrice reports it as unknown
	}
	r.Findings = append(r.Findings, judgePrice(r.Offer.AmountOut, own)...)
	return nil
}
