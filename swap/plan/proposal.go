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

// proposalTime is how long a proposal stays valid that does not depend on a quote. One that
// does stays valid at least that long.
const proposalTime = 30 * time.Second

// minConsentTime is the time that the last proposal's deadline must leave for its terms to be
// proposed again. With less, the terms get a new deadline, and so a new digest.
const minConsentTime = 5 * time.Minute

// ProposalEnds returns the last moment at which the proposal may be accepted.
func ProposalEnds(p swap.Proposal) time.Time {
	if earliest := p.Made.Add(proposalTime); p.Expires.Before(earliest) {
		return earliest
	}
	return p.Expires
}

// Proposal makes a new plan for the user to accept in place of the plan of o, which was refused
// for the given reason. The new plan comes from a fresh quote and is checked and priced like
// the first one. The proposal is not sealed yet. Proposal may be called again: while the terms
// that were proposed last still fit, it proposes the same.
func (pl *Planner) Proposal(ctx context.Context, p swap.Provider, o swap.Order, refusal *swap.Refusal) (*swap.Proposal, error) {
	net, err := pl.Nodes.Network(o.Terms.SrcChain)
	if err != nil {
		return nil, err
	}
	now := pl.Now().UTC()
	accepted := o.Offer
	accepted.Expires = now.Add(proposalTime)
	offers := []swap.Offer{accepted}
	if o.Priced() {
		if offers, err = pl.soundOffers(ctx, p, o.Terms.Provider, requestOf(o)); err != nil {
			return nil, err
		}
		if offers = slices.DeleteFunc(offers, func(f swap.Offer) bool { return f.Wrap != o.Terms.Wrap }); len(offers) == 0 {
			return nil, errNoOffer
		}
	}
	var failure error
	for _, offer := range offers[:min(len(offers), maxTried)] {
		proposal, err := pl.proposeOffer(ctx, p, net, o, offer, now, errors.Is(refusal, chain.ErrCeiling))
		if err == nil {
			proposal.Reason, proposal.Cause = refusal.Reason, swap.OfRefusal(swap.Refused, refusal).Stored()
			return proposal, nil
		}
		if failure = preferTemporary(failure, err); !fallsBack(err) {
			break
		}
	}
	return nil, failure
}

// proposeOffer makes a proposal from offer. overCeiling says that the last attempt exceeded the
// gas ceiling.
func (pl *Planner) proposeOffer(ctx context.Context, p swap.Provider, net chain.Network, o swap.Order, offer swap.Offer, now time.Time, overCeiling bool) (*swap.Proposal, error) {
	if o.Priced() {
		offer.ID = o.Offer.ID + "'"
	}
	t := pl.proposedTerms(o, offer, now)
	done := o.Plan.Steps[:min(o.OwnSteps(), o.Step)]
	plan, findings, err := pl.assemble(ctx, p, offer, t, priorSteps{o.ID, done, o.Wrapped})
	if err != nil {
		return nil, err
	}
	r := swap.Review{Terms: t, Offer: offer, Plan: plan, Findings: findings, Expires: offer.Expires}
	if err := pl.judgeProposal(ctx, &r, net, o, len(done), overCeiling); err != nil {
		return nil, err
	}
	r.Findings = append(judgeChange(o.Terms, r.Terms, net.Symbol), r.Findings...)
	r.Digest = swap.Digest(r.Terms, plan.Effects())
	if err := swap.Check(r.Terms, plan.Effects(), p.Pins()); err != nil {
		return nil, err
	}
	pl.setLines(&r)
	return &swap.Proposal{Review: r, Made: now}, nil
}

// proposedTerms returns the accepted terms with a new deadline, loosened as far as the offer
// needs: a lower minimum, a higher maker fee, a smaller refund.
//
// The terms last proposed are returned while they still fit the offer, so that they do not
// change while the user reads them. They no longer fit when the offer's minimum is clearly
// higher: the user must not accept a low minimum next to a good price.
func (pl *Planner) proposedTerms(o swap.Order, offer swap.Offer, now time.Time) swap.Terms {
	if last := o.Proposal; last != nil && minimumFits(last.Terms.MinOut, offer) && last.Terms.RefundCovered(offer) && sameFee(last.Terms, offer) && last.Terms.Deadline.Sub(now) >= minConsentTime {
		return last.Terms
	}
	t := o.Terms
	t.FeeBps, t.FeeReceiver = offer.Request.FeeBps, offer.Request.FeeReceiver
	if o.Priced() && offer.MinOut.Cmp(t.MinOut) < 0 {
		t.MinOut = offer.MinOut
	}
	if _, _, makerFee := pl.Fees.For(t.Provider); o.Priced() && makerFee > t.MakerFeeBps {
		t.MakerFeeBps = makerFee
	}
	if o.Priced() && !t.RefundCovered(offer) {
		t.Refund = swap.RefundOf(offer)
	}
	t.Deadline = now.Add(consentLife).Truncate(time.Second)
	return t
}

// sameFee reports whether an offer has the same wallet fee as the terms.
func sameFee(t swap.Terms, o swap.Offer) bool {
	return t.FeeBps == o.Request.FeeBps && t.FeeReceiver == o.Request.FeeReceiver
}

// minimumFits reports whether an offer's minimum is at least floor and exceeds it by at most
// the default slippage, or the requested slippage if that is less.
func minimumFits(floor *big.Int, o swap.Offer) bool {
	lowest := swap.MinAfterSlippage(o.MinOut, min(o.Request.SlippageBps, swap.DefaultSlippageBps))
	return o.MinOut.Cmp(floor) >= 0 && floor.Cmp(lowest) >= 0
}

// judgeProposal adds the gas and the findings for the remaining steps to the review. If the
// steps may cost more than is left of the gas ceiling, it raises the ceiling by half more than
// they need now, since fees keep moving, but not above MaxGasCeiling. overCeiling says that the
// last attempt exceeded the ceiling.
func (pl *Planner) judgeProposal(ctx context.Context, r *swap.Review, net chain.Network, o swap.Order, done int, overCeiling bool) error {
	steps, earlier := remainingSteps(r.Terms, r.Plan.Steps[done:], o.Wrapped), r.Findings
	spent := new(big.Int).Sub(o.Terms.GasCeiling, o.GasLeft())
	left := func() *big.Int { return new(big.Int).Sub(r.Terms.GasCeiling, spent) }
	if err := pl.weigh(ctx, r, net, steps, left()); err != nil {
		return err
	}
	raised := new(big.Int).Add(spent, oneAndHalf(r.Gas.Max))
	if overCeiling && raised.Cmp(oneAndHalf(o.Terms.GasCeiling)) < 0 {
		raised = oneAndHalf(o.Terms.GasCeiling)
	}
	if limit := MaxGasCeiling(net); raised.Cmp(limit) > 0 {
		raised = limit
	}
	if raised.Cmp(r.Terms.GasCeiling) <= 0 || !overCeiling && r.Gas.Max.Cmp(left()) <= 0 {
		return nil
	}
	r.Terms.GasCeiling, r.Findings = raised, earlier
	return pl.weigh(ctx, r, net, steps, left())
}

// judgeChange returns a finding for each way in which the proposed terms are worse than the
// accepted ones: the reason of the proposal may be only one of several.
func judgeChange(accepted, proposed swap.Terms, symbol string) (found []swap.Finding) {
	if proposed.MinOut.Cmp(accepted.MinOut) < 0 {
		lost, _ := new(big.Rat).SetFrac(new(big.Int).Sub(accepted.MinOut, proposed.MinOut), accepted.MinOut).Float64()
		found = append(found, swap.Finding{Code: "minimum_lowered", Severity: swap.Warn, Text: fmt.Sprintf("the minimum received is %.1f %% lower than accepted", lost*100),
			Data: map[string]string{"accepted": accepted.MinOut.String(), "proposed": proposed.MinOut.String()}})
	}
	if proposed.GasCeiling.Cmp(accepted.GasCeiling) > 0 {
		found = append(found, swap.Finding{Code: "ceiling_raised", Severity: swap.Warn, Text: fmt.Sprintf("the network fee may be up to %s instead of the accepted %s", Units(proposed.GasCeiling, 18, symbol), Units(accepted.GasCeiling, 18, symbol)),
			Data: map[string]string{"accepted": accepted.GasCeiling.String(), "proposed": proposed.GasCeiling.String()}})
	}
	if proposed.MakerFeeBps > accepted.MakerFeeBps {
		found = append(found, swap.Finding{Code: "fee_raised", Severity: swap.Warn, Text: fmt.Sprintf("the provider may charge up to %d bps instead of the accepted %d", proposed.MakerFeeBps, accepted.MakerFeeBps),
			Data: map[string]string{"accepted": fmt.Sprint(accepted.MakerFeeBps), "proposed": fmt.Sprint(proposed.MakerFeeBps)}})
	}
	return found
}

// oneAndHalf returns n + n/2.
func oneAndHalf(n *big.Int) *big.Int {
	m := new(big.Int).Mul(n, big.NewInt(3))
	return m.Rsh(m, 1)
}

// maxCeilingFactor limits how far an order's gas ceiling may be raised, as a multiple of the
// network's own ceiling. A higher value is taken for a typing error.
const maxCeilingFactor = 10

// MaxGasCeiling returns the most that an order's gas ceiling may be raised to, in wei.
func MaxGasCeiling(net chain.Network) *big.Int {
	return new(big.Int).Mul(net.GasCeiling, big.NewInt(maxCeilingFactor))
}
