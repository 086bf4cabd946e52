package swap

import (
	"context"
	"errors"
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
	plan, err := s.planOf(ctx, p, offer, t)
	if err != nil {
		return Review{}, err
	}
	r := Review{Digest: Digest(t, plan.Effects()), Terms: t, Offer: offer, Plan: plan, Expires: offer.Expires}
	if err := s.weigh(ctx, &r, net); err != nil {
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

// planOf builds, decodes, checks and simulates.
func (s *Service) planOf(ctx context.Context, p Provider, o Offer, t Terms) (Plan, error) {
	built, err := p.Build(ctx, o, t)
	if err != nil {
		return Plan{}, err
	}
	plan, err := decodeAll(p, t, built)
	if err != nil {
		return Plan{}, err
	}
	if err := Check(t, plan.Effects(), p.Pins()); err != nil {
		return Plan{}, err
	}
	balance, err := s.o.Nodes.Balance(ctx, t.SrcChain, t.Account, t.TokenIn)
	if err != nil {
		return Plan{}, err
	}
	if err := checkFunds(t.AmountIn, balance); err != nil {
		return Plan{}, err
	}
	first := plan.Steps[0]
	if first.Kind != CallStep {
		return plan, nil
	}
	sim, err := s.o.Nodes.Simulate(ctx, []chain.Call{*first.Call})
	if errors.Is(err, chain.ErrWouldRevert) {
		return Plan{}, &Refusal{Code: WouldRevert, Reason: "the transaction would fail: " + err.Error() + "; get a new quote", Err: err}
	}
	if err != nil {
		return Plan{}, err
	}
	return plan, CheckSimulation(t, first.Effect.Kind, sim)
}

// decodeAll gives each built step the effect that its bytes have. A late step
// has none yet: its provider states the effect, which the bytes must match.
func decodeAll(p Provider, t Terms, b Built) (Plan, error) {
	plan := Plan{Settlement: b.Settlement}
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
		if s.Kind == CallStep {
			if err := checkCall(t, *s.Call); err != nil {
				return plan, err
			}
		}
		if s.Kind != LateStep {
			f, err := p.Decode(t, s)
			if err != nil {
				return plan, err
			}
			s.Effect = f
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

// weigh adds the guards' findings to a review.
func (s *Service) weigh(ctx context.Context, r *Review, net chain.Network) error {
	gas, value, err := gasOf(ctx, s.o.Nodes, r.Terms, r.Offer, r.Plan)
	if err != nil {
		return fmt.Errorf("gas: %w", err)
	}
	r.Gas = gas
	r.Findings = append(r.Findings, judgeGas(&r.Gas, value, r.Terms.GasCeiling, worthInNative(ctx, s.o.Nodes, s.o.Pricer, r.Terms), net.Symbol)...)
	r.Findings = append(r.Findings, judgeSlippage(r.Offer.Request.SlippageBps)...)
	if wraps(r.Offer.Request, net.WrappedNative) {
		return nil // one to one, checked exactly
	}
	var own *big.Int
	if r.Terms.SrcChain == r.Terms.DstChain {
		if own, err = s.o.Pricer.Out(ctx, r.Terms.SrcChain, r.Terms.TokenIn, r.Terms.TokenOut, r.Terms.AmountIn); err != nil {
			own = nil // unknown is a finding of its own
		}
	}
	r.Findings = append(r.Findings, judgePrice(r.Offer.AmountOut, own)...)
	return nil
}
