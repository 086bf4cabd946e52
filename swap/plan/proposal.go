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
)

// proposalTime is how long a proposal that depends on no quote is valid, and the
// least time that any proposal stays valid.
const proposalTime = 30 * time.Second

// leastConsent is how much time before its deadline a repeated proposal must leave;
// otherwise it gets a new deadline, and with it another digest.
const leastConsent = 5 * time.Minute

// ProposalEnds returns the last moment at which the proposal may be accepted.
func ProposalEnds(p swap.Proposal) time.Time {
	if least := p.Made.Add(proposalTime); p.Expires.Before(least) {
		return least
	}
	return p.Expires
}

// Proposal makes, because of why, a plan that could be accepted instead of o's, from a
// fresh quote, checked and priced like the first one. It has no seal yet. It may be
// repeated: while the terms that o proposed last still fit, they stay as they are.
func (pl *Planner) Proposal(ctx context.Context, p swap.Provider, o swap.Order, why *swap.Refusal) (*swap.Proposal, error) {
	net, err := pl.Nodes.Network(o.Terms.SrcChain)
	if err != nil {
		return nil, err
	}
	now := pl.Now().UTC()
	held := o.Offer
	held.Expires = now.Add(proposalTime)
	offers := []swap.Offer{held}
	if o.Priced() {
		if offers, err = pl.soundOffers(ctx, p, o.Terms.Provider, requestOf(o)); err != nil {
			return nil, err
		}
		if offers = slices.DeleteFunc(offers, func(f swap.Offer) bool { return f.Wrap != o.Terms.Wrap }); len(offers) == 0 {
			return nil, errNoOffer
		}
	}
	var failed error
	for _, offer := range offers[:min(len(offers), maxTried)] {
		made, err := pl.proposeOffer(ctx, p, net, o, offer, now, errors.Is(why, chain.ErrCeiling))
		if err == nil {
			made.Reason, made.Cause = why.Reason, swap.OfRefusal(swap.Refused, why).Stored()
			return made, nil
		}
		if failed = preferTemporary(failed, err); !fallsBack(err) {
			break
		}
	}
	return nil, failed
}

// proposeOffer makes a proposal from offer. dear says that the last attempt exceeded the
// gas ceiling.
func (pl *Planner) proposeOffer(ctx context.Context, p swap.Provider, net chain.Network, o swap.Order, offer swap.Offer, now time.Time, dear bool) (*swap.Proposal, error) {
	if o.Priced() {
		offer.ID = o.Offer.ID + "'"
	}
	t := pl.proposedTerms(o, offer, now)
	done := o.Plan.Steps[:min(o.OwnSteps(), o.Step)]
	plan, found, err := pl.assemble(ctx, p, offer, t, priorSteps{o.ID, done, o.Wrapped})
	if err != nil {
		return nil, err
	}
	r := swap.Review{Terms: t, Offer: offer, Plan: plan, Findings: found, Expires: offer.Expires}
	if err := pl.weighProposal(ctx, &r, net, o, len(done), dear); err != nil {
		return nil, err
	}
	r.Findings = append(judgeChange(o.Terms, r.Terms, net.Symbol), r.Findings...)
	r.Digest = swap.Digest(r.Terms, plan.Effects())
	return &swap.Proposal{Review: r, Made: now}, swap.Check(r.Terms, plan.Effects(), p.Pins())
}

// proposedTerms returns the accepted terms with the offer's minimum if that is lower, and
// a new deadline. The terms last proposed are kept while they still fit, so that they do
// not change while the user reads them, but not when the fresh offer guarantees clearly
// more: the user must not accept a low minimum because the price shown is good.
func (pl *Planner) proposedTerms(o swap.Order, offer swap.Offer, now time.Time) swap.Terms {
	if last := o.Proposal; last != nil && nearFloor(last.Terms.MinOut, offer) && last.Terms.RefundCovered(offer) && sameFee(last.Terms, offer) && last.Terms.Deadline.Sub(now) >= leastConsent {
		return last.Terms
	}
	t := o.Terms
	t.FeeBps, t.FeeReceiver = offer.Request.FeeBps, offer.Request.FeeReceiver
	if o.Priced() && offer.MinOut.Cmp(t.MinOut) < 0 {
		t.MinOut = offer.MinOut
	}
	if _, _, maker := pl.Fees.For(t.Provider); o.Priced() && maker > t.MakerFeeBps {
		t.MakerFeeBps = maker
	}
	if o.Priced() && !t.RefundCovered(offer) {
		t.Refund = swap.RefundOf(offer)
	}
	t.Deadline = now.Add(consentLife).Truncate(time.Second)
	return t
}

// sameFee reports whether an offer has the wallet's fee of the terms.
func sameFee(t swap.Terms, o swap.Offer) bool {
	return t.FeeBps == o.Request.FeeBps && t.FeeReceiver == o.Request.FeeReceiver
}

// nearFloor reports whether an offer's minimum is at least floor and exceeds it by at most
// half a percent, or by the slippage asked for if that is less.
func nearFloor(floor *big.Int, o swap.Offer) bool {
	least := swap.MinAfterSlippage(o.MinOut, min(o.Request.SlippageBps, swap.DefaultSlippageBps))
	return o.MinOut.Cmp(floor) >= 0 && floor.Cmp(least) >= 0
}

// weighProposal prices the remaining steps. If they do not fit in what is left of the gas
// ceiling, it raises the ceiling to one and a half times what they need now, since fees
// keep moving, but at most to what the user may raise it to. dear says that the real cost
// exceeded the ceiling.
func (pl *Planner) weighProposal(ctx context.Context, r *swap.Review, net chain.Network, o swap.Order, done int, dear bool) error {
	steps, found := remainingSteps(r.Terms, r.Plan.Steps[done:], o.Wrapped), r.Findings
	spent := new(big.Int).Sub(o.Terms.GasCeiling, o.GasLeft())
	left := func() *big.Int { return new(big.Int).Sub(r.Terms.GasCeiling, spent) }
	if err := pl.weigh(ctx, r, net, steps, left()); err != nil {
		return err
	}
	most := new(big.Int).Add(spent, oneAndHalf(r.Gas.Max))
	if dear && most.Cmp(oneAndHalf(o.Terms.GasCeiling)) < 0 {
		most = oneAndHalf(o.Terms.GasCeiling)
	}
	if limit := MaxGasCeiling(net); most.Cmp(limit) > 0 {
		most = limit
	}
	if most.Cmp(r.Terms.GasCeiling) <= 0 || !dear && r.Gas.Max.Cmp(left()) <= 0 {
		return nil
	}
	r.Terms.GasCeiling, r.Findings = most, found
	return pl.weigh(ctx, r, net, steps, left())
}

// judgeChange returns a finding for each respect in which the proposed terms are worse:
// the proposal's reason may be only one of several.
func judgeChange(was, now swap.Terms, symbol string) (found []swap.Finding) {
	if now.MinOut.Cmp(was.MinOut) < 0 {
		lost, _ := new(big.Rat).SetFrac(new(big.Int).Sub(was.MinOut, now.MinOut), was.MinOut).Float64()
		found = append(found, swap.Finding{Code: "minimum_lowered", Severity: swap.Warn, Text: fmt.Sprintf("at worst %.1f %% less arrives than was accepted at worst", lost*100),
			Data: map[string]string{"accepted": was.MinOut.String(), "proposed": now.MinOut.String()}})
	}
	if now.GasCeiling.Cmp(was.GasCeiling) > 0 {
		found = append(found, swap.Finding{Code: "ceiling_raised", Severity: swap.Warn, Text: fmt.Sprintf("gas may cost up to %s, instead of the accepted %s", Units(now.GasCeiling, 18, symbol), Units(was.GasCeiling, 18, symbol)),
			Data: map[string]string{"accepted": was.GasCeiling.String(), "proposed": now.GasCeiling.String()}})
	}
	if now.MakerFeeBps > was.MakerFeeBps {
		found = append(found, swap.Finding{Code: "fee_raised", Severity: swap.Warn, Text: fmt.Sprintf("the provider may take up to %d bps, instead of the accepted %d", now.MakerFeeBps, was.MakerFeeBps),
			Data: map[string]string{"accepted": fmt.Sprint(was.MakerFeeBps), "proposed": fmt.Sprint(now.MakerFeeBps)}})
	}
	return found
}

// oneAndHalf returns n + n/2.
func oneAndHalf(n *big.Int) *big.Int {
	m := new(big.Int).Mul(n, big.NewInt(3))
	return m.Rsh(m, 1)
}

// maxCeilingFactor bounds what a person may raise an order's gas ceiling to, as a
// multiple of the network's own. More is taken for a typing error.
const maxCeilingFactor = 10

// MaxGasCeiling returns the most that an order's gas ceiling may be raised to, in wei.
func MaxGasCeiling(net chain.Network) *big.Int {
	return new(big.Int).Mul(net.GasCeiling, big.NewInt(maxCeilingFactor))
}
