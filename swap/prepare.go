package swap

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// consentTime is how long an accepted plan may wait for keys, approvals and
// fresh quotes before it ends.
const consentTime = 20 * time.Minute

// Prepare turns an offer into the plan that the user is shown: built by the
// provider, decoded from its bytes, checked against the terms, simulated on our
// own nodes, and weighed by gas and price.
func (s *Service) Prepare(ctx context.Context, offerID string) (Review, error) {
	s.mu.Lock()
	offer, ok := s.offers.get(offerID)
	s.mu.Unlock()
	switch {
	case !ok:
		return Review{}, Refuse(QuoteUnknown, "no such offer; get a new quote")
	case s.o.Now().After(offer.Expires):
		return Review{}, Refuse(QuoteExpired, "the quote has expired; get a new one")
	}
	p, ok := s.o.Providers[offer.Provider]
	if !ok {
		return Review{}, Refuse(ProviderDown, "the %s provider is not configured", offer.Provider)
	}
	net, err := s.o.Nodes.Network(offer.Request.SrcChain)
	if err != nil {
		return Review{}, err
	}
	t := s.termsOf(offer, net)
	plan, found, err := s.engine.assemble(ctx, p, offer, t, "", nil)
	if err != nil {
		return Review{}, err
	}
	r := Review{Digest: Digest(t, plan.Effects()), Terms: t, Offer: offer, Plan: plan, Findings: found, Expires: offer.Expires}
	if err := s.engine.weigh(ctx, &r, net, plan.Steps, t.GasCeiling); err != nil {
		return Review{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.offers.get(offerID); !ok { // dropped meanwhile: locked, or account or network changed
		return Review{}, Refuse(QuoteUnknown, "the wallet was locked or switched meanwhile; get a new quote")
	}
	s.plans.put(r.Digest.Hex(), r)
	return r, nil
}

// termsOf is what the user would accept with an offer.
func (s *Service) termsOf(o Offer, net chain.Network) Terms {
	r := o.Request
	_, _, maker := s.o.Fees.For(o.Provider)
	if wraps(r, net.WrappedNative) {
		maker = 0 // one to one
	}
	return Terms{
		Provider: o.Provider, Account: r.Account,
		SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn,
		DstChain: r.DstChain, TokenOut: r.TokenOut, Recipient: r.Recipient,
		FloorOut: o.MinOut, RefundTo: r.RefundTo,
		Deadline: s.o.Now().Add(consentTime).UTC().Truncate(time.Second),
		FeeBps:   r.FeeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: maker,
		GasCeiling: net.GasCeiling,
	}
}

// decodeAll gives each built step the effect that its bytes have. A late step
// has none yet: its provider states the effect, which the bytes must match.
func decodeAll(p Provider, t Terms, b Built) (Plan, error) {
	plan := Plan{Settlement: b.Settlement, Spender: b.Spender}
	for i, s := range b.Steps {
		set := 0
		if s.Call != nil {
			set++
		}
		if s.Typed != nil {
			set++
		}
		want, ok := map[StepKind]int{CallStep: 1, TypedStep: 1, LateStep: 0}[s.Kind]
		if !ok || set != want || (s.Kind == CallStep) != (s.Call != nil) {
			return plan, Refuse(NotUnderstood, "step %d is not of a known form", i+1)
		}
		if s.Kind != LateStep {
			f, err := decodeStep(p, t, s)
			if err != nil {
				return plan, err
			}
			s.Effect = f
		}
		signed := s.Effect.Kind == Permit || s.Effect.Kind == Signed
		if signed != (s.Kind == TypedStep) || s.Kind == LateStep && i < len(b.Steps)-1 {
			return plan, Refuse(NotUnderstood, "step %d is no %s of that form", i+1, s.Effect.Kind)
		}
		plan.Steps = append(plan.Steps, s)
	}
	return plan, nil
}

// checkCall binds the envelope of a call: whose, where, what value.
func checkCall(t Terms, c chain.Call) error {
	switch {
	case c.From != t.Account:
		return refuseField(NotAsAccepted, "from", "the transaction is from %s, not from the account", c.From)
	case c.ChainID != t.SrcChain:
		return refuseField(NotAsAccepted, "chainId", "the transaction is for chain %d, not for %d", c.ChainID, t.SrcChain)
	case c.To == (common.Address{}):
		return refuseField(NotAsAccepted, "to", "the transaction has no target")
	case c.Value == nil || c.Value.Sign() < 0:
		return refuseField(NotUnderstood, "value", "the transaction has no sound value")
	}
	most := new(big.Int)
	if t.TokenIn == (common.Address{}) {
		most = t.AmountIn
	}
	if c.Value.Cmp(most) > 0 {
		return refuseField(NotAsAccepted, "value", "the transaction sends %s, more than %s", c.Value, most)
	}
	return nil
}

// weigh adds the guards' findings to a review: of the steps that are still to be
// paid for, against what is left of the gas ceiling.
func (e *Engine) weigh(ctx context.Context, r *Review, net chain.Network, steps []Step, ceiling *big.Int) error {
	gas, value, err := gasOf(ctx, e.Nodes, r.Terms, r.Offer, Plan{Steps: steps})
	if err != nil {
		return fmt.Errorf("gas: %w", err)
	}
	r.Gas = gas
	if r.Terms.Provider == Wallet {
		r.Findings = append(r.Findings, judgeFunds(&r.Gas, value, ceiling, net.Symbol)...)
		return nil
	}
	r.Findings = append(r.Findings, judgeGas(&r.Gas, value, ceiling, worthInNative(ctx, e.Nodes, e.Pricer, r.Terms), net.Symbol)...)
	r.Findings = append(r.Findings, judgeSlippage(r.Offer.Request.SlippageBps)...)
	if wraps(r.Offer.Request, net.WrappedNative) {
		return nil // one to one, checked exactly
	}
	var own *big.Int
	if r.Terms.SrcChain == r.Terms.DstChain {
		if own, err = e.Pricer.Out(ctx, r.Terms.SrcChain, r.Terms.TokenIn, r.Terms.TokenOut, r.Terms.AmountIn); err != nil {
			own = nil // unknown is a finding of its own
		}
	}
	r.Findings = append(r.Findings, judgePrice(r.Offer.AmountOut, own)...)
	return nil
}
