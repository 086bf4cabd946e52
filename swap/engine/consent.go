package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
)

const (
	// restartInterval is the least time between two restarts of one order: a fresh quote, a
	// proposal, or an approval that is needed after all.
	restartInterval = 5 * time.Second
	// proposalTime is how long a proposal that depends on no quote is valid, and the
	// least time that any proposal stays valid.
	proposalTime = 30 * time.Second
	// leastConsent is how much time before its deadline a repeated proposal must leave;
	// otherwise it gets a new deadline, and with it another digest.
	leastConsent = 5 * time.Minute
)

// stale reports whether o needs a fresh quote before step s: the rest of the plan depends
// on a price, and the quote, or the order made from it, has expired or is about to.
// Approvals never do.
func (e *Engine) stale(o swap.Order, s swap.Step) bool {
	if s.Effect.Kind == swap.Approve || !o.Priced() {
		return false
	}
	end := o.Offer.Expires
	if s.Effect.Kind == swap.Signed {
		end = earlier(end, s.Effect.Deadline)
	}
	return e.Now().Add(minValidity[s.Effect.Kind]).After(end)
}

// ownStepCount returns how many leading steps of o's plan the wallet makes itself (approvals and
// the wrap that goes first).
func ownStepCount(o swap.Order) int {
	n := slices.IndexFunc(o.Plan.Steps, func(s swap.Step) bool { return !o.Terms.IsWalletStep(s.Effect) })
	if n < 0 {
		return len(o.Plan.Steps)
	}
	return n
}

// refresh replaces an expired quote by a fresh one under the same consent: the same
// effects, and a minimum received no lower than accepted. The wallet's own steps keep
// their place and results, so nothing is wrapped twice. The other steps start over, so a
// permit whose call was never signed is signed again. Anything else fails with
// ConsentNeeded. An order that is already signed is never replaced (errOrderSigned).
func (e *Engine) refresh(ctx context.Context, p swap.Provider, o *swap.Order) (swap.Cause, error) {
	if o.OrderSigned() {
		return swap.NoCause, errOrderSigned
	}
	if !e.mayRestart(o.ID) {
		return swap.NoCause, errors.New("there was a fresh quote a moment ago")
	}
	offers, err := e.requote(ctx, p, *o)
	if err != nil {
		return swap.NoCause, err
	}
	e.markRestart(o.ID)
	var why error
	for _, offer := range offers {
		plan, err := e.rebuild(ctx, p, *o, offer)
		if err != nil {
			why = preferTemporary(why, err)
			continue
		}
		offer.ID = o.Offer.ID + "'"
		if err := e.resealPlan(o, offer, plan, requestOf(*o).SlippageBps); err != nil {
			return swap.NoCause, err
		}
		rewind(o, ownStepCount(*o))
		return swap.NewCause(swap.Refreshed), nil
	}
	return swap.NoCause, why
}

// errOrderSigned refuses to replace a signed order; no path should lead there.
var errOrderSigned = errors.New("an order is signed already, and may live")

// preferTemporary picks the error to report when every fresh offer failed: a temporary one if
// there is one, else the first, which is the best offer's.
func preferTemporary(first, next error) error {
	var refused *swap.Refusal
	if first == nil || errors.As(first, &refused) && !refused.Code.Temporary() && !(errors.As(next, &refused) && !refused.Code.Temporary()) {
		return next
	}
	return first
}

// rebuild makes o's plan from a fresh offer, or fails with ConsentNeeded.
func (e *Engine) rebuild(ctx context.Context, p swap.Provider, o swap.Order, offer swap.Offer) (swap.Plan, error) {
	if !o.Terms.RefundCovered(offer) {
		return swap.Plan{}, swap.AskConsent(swap.RefundChanged)
	}
	plan, err := e.build(ctx, p, offer, o.Terms)
	if err == nil {
		plan.Steps = slices.Concat(o.Plan.Steps[:ownStepCount(o)], plan.Steps)
		err = swap.Check(o.Terms, plan.Effects(), p.Pins())
	}
	var refused *swap.Refusal
	switch {
	case errors.As(err, &refused) && !refused.Code.Temporary():
		return plan, &swap.Refusal{Code: swap.ConsentNeeded, ReasonCode: swap.OutsideTerms, Field: refused.Field, Data: refused.Data, Reason: "the fresh quote is not within what was accepted: " + refused.Reason, Err: err}
	case err != nil:
		return plan, err
	}
	return plan, sameConsent(o, plan)
}

// markRestart records that an order restarted; rested reports whether that was at least
// restartInterval ago. The time is not stored.
func (e *Engine) markRestart(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.restarted == nil {
		e.restarted = make(map[string]time.Time)
	}
	e.restarted[id] = e.Now()
}

func (e *Engine) mayRestart(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.Now().Before(e.restarted[id].Add(restartInterval))
}

// sameConsent fails with ConsentNeeded unless a rebuilt plan has o's digest, settlement
// and spender, and asks for a permit that was already signed with the same nonce, so that
// only one of the two can be used.
func sameConsent(o swap.Order, plan swap.Plan) error {
	if swap.Digest(o.Terms, plan.Effects()) != o.Digest || plan.Settlement != o.Plan.Settlement || plan.Spender != o.Plan.Spender {
		return swap.AskConsent(swap.ActsDifferently)
	}
	other := func(s swap.Step) bool { return s.Effect.Kind == swap.Permit && !allowsNonce(o.Permit, s.Effect.Nonce) }
	if slices.ContainsFunc(plan.Steps, other) {
		return swap.AskConsent(swap.PermitChanged)
	}
	return nil
}

// allowsNonce reports whether a permit for nonce may be signed: the first one, and later only the
// same nonce. A permit without a nonce is never signed again.
func allowsNonce(p *swap.SignedPermit, nonce *big.Int) bool {
	return p == nil || p.Nonce != nil && nonce != nil && p.Nonce.Cmp(nonce) == 0
}

// rewind makes step the next one. Nothing from there on may have been sent.
func rewind(o *swap.Order, step int) {
	o.Results, o.Step = o.Results[:min(step, len(o.Results)):min(step, len(o.Results))], min(step, o.Step)
	o.Condition = swap.NoCondition
	o.SetCause(swap.NoCause)
}

// requote returns offers of the accepted route whose enforced minimum is at least the
// accepted one, best first. If none qualifies with the accepted slippage, it asks once
// more with as little as needed. It fails with ConsentNeeded (KindGone, PriceFell).
func (e *Engine) requote(ctx context.Context, p swap.Provider, o swap.Order) ([]swap.Offer, error) {
	r, most := requestOf(o), new(big.Int)
	r.Routing = o.Offer.Routing
	for range 2 {
		fresh, err := e.freshOffers(ctx, p, o.Terms.Provider, r)
		if err != nil {
			return nil, err
		}
		fresh = slices.DeleteFunc(fresh, func(f swap.Offer) bool { return f.Routing != o.Offer.Routing || f.Wrap != o.Terms.Wrap })
		if len(fresh) == 0 {
			return nil, swap.AskConsent(swap.KindGone)
		}
		keep := slices.DeleteFunc(slices.Clone(fresh), func(f swap.Offer) bool { return f.MinOut.Cmp(o.Terms.MinOut) < 0 })
		if len(keep) > 0 {
			return keep[:min(len(keep), maxTried)], nil
		}
		most = fresh[0].MinOut
		if r.SlippageBps = slippageFor(withoutSlippage(fresh[0]), o.Terms.MinOut); r.SlippageBps < swap.MinSlippageBps {
			break
		}
	}
	return nil, swap.AskConsent(swap.PriceFell, "floor", o.Terms.MinOut.String(), "offered", most.String())
}

// maxTried bounds how many offers of one quote are built, one after the other.
const maxTried = 3

// requestOf returns the user's request, with the original slippage if a refresh used less.
func requestOf(o swap.Order) swap.QuoteRequest {
	r := o.Offer.Request
	r.Routing = ""
	if o.SlippageBps != 0 {
		r.SlippageBps = o.SlippageBps
	}
	return r
}

// errNoOffer is temporary: routes come back.
var errNoOffer = errors.New("the provider has no offer now")

// freshOffers returns the provider's valid offers for r, best first, with our request in
// place of the provider's echo of it.
func (e *Engine) freshOffers(ctx context.Context, p swap.Provider, k swap.Kind, r swap.QuoteRequest) (sound []swap.Offer, err error) {
	ctx, kept := e.keepAnswer(ctx, k, r.Account, r.Recipient, r.RefundTo)
	offers, err := p.Quote(ctx, r)
	kept(err)
	switch {
	case errors.Is(err, &swap.Refusal{Code: swap.NoRoute}), err == nil && len(offers) == 0:
		return nil, errNoOffer
	case err != nil:
		return nil, err
	}
	for _, o := range offers[:min(len(offers), maxOffersPerProvider)] {
		if o.Unusable != "" {
			continue
		}
		o = tidyOffer(o)
		o.Provider, o.Request = k, r.WithActualFee(o.Fees)
		if unsound := checkOffer(o, r); unsound != nil {
			err = errors.Join(err, unsound)
			swap.PartRefused(ctx, unsound)
			continue
		}
		sound = append(sound, o)
	}
	switch {
	case len(sound) > 0:
		return sound, nil
	case err == nil:
		return nil, errNoOffer
	}
	return nil, err
}

// withoutSlippage returns the output that an offer's minimum is based on. If the offer
// states only the minimum, as auctions do, it is computed from the slippage asked for.
func withoutSlippage(o swap.Offer) *big.Int {
	if o.AmountOut.Cmp(o.MinOut) != 0 {
		return o.AmountOut
	}
	n := new(big.Int).Mul(o.MinOut, big.NewInt(10_000))
	return n.Div(n, big.NewInt(int64(10_000-o.Request.SlippageBps)))
}

// slippageFor returns the widest slippage, in bps, that keeps amount at or above floor.
func slippageFor(amount, floor *big.Int) int {
	if amount.Cmp(floor) <= 0 {
		return 0
	}
	room := new(big.Int).Sub(amount, floor)
	bps := room.Mul(room, big.NewInt(10_000)).Div(room, amount)
	return int(bps.Int64())
}

// awaitsConsent reports whether o is left alone: while its proposal is valid, or without one
// until it has rested. After that the accepted terms are tried again, and a new proposal
// is made if they still cannot be met.
func (e *Engine) awaitsConsent(o swap.Order) bool {
	if o.Condition != swap.NeedsConsent || o.Proposal == nil {
		return o.Condition == swap.NeedsConsent && !e.mayRestart(o.ID)
	}
	return !e.Now().After(until(*o.Proposal))
}

// until returns the last moment at which the proposal may be accepted.
func until(p swap.Proposal) time.Time {
	if least := p.Made.Add(proposalTime); p.Expires.Before(least) {
		return least
	}
	return p.Expires
}

// propose makes o wait for consent to other terms, because of why. An error that no
// consent could fix ends the order; a temporary one of the provider leaves it waiting
// without a proposal, to be tried again.
func (e *Engine) propose(ctx context.Context, o *swap.Order, why *swap.Refusal) (swap.Cause, error) {
	e.markRestart(o.ID)
	if o.Proposal != nil && e.checkSeal(o.Proposal.Seal, proposalOf(*o)) != nil {
		o.Proposal = nil // also if the keys are locked and nobody can tell: the next proposal must not copy a forged one
	}
	fresh, err := e.proposal(ctx, *o, why)
	var refused *swap.Refusal
	switch {
	case errors.As(err, &refused) && (refused.Code == swap.JournalFailed || refused.Code == swap.RecordChanged):
		return swap.NoCause, err
	case errors.As(err, &refused) && !refused.Code.Temporary() && !retried(*o, refused):
		o.Condition = swap.NoCondition
		return e.abandon(o, refused)
	case err != nil:
		e.Log(*o, err)
	}
	c := swap.OfRefusal(swap.Refused, why)
	o.Condition, o.Proposal = swap.NeedsConsent, fresh
	if fresh != nil {
		if fresh.Seal, err = e.seal(proposalOf(*o), "propose", fresh.Made); err != nil {
			o.Proposal = nil // without a seal it could not be accepted
			return swap.NoCause, err
		}
	}
	o.SetCause(c)
	return c.WithText("needs consent: " + why.Reason), nil
}

// proposal makes a plan that could be accepted instead, from a fresh quote, checked and
// Priced like the first one.
func (e *Engine) proposal(ctx context.Context, o swap.Order, why *swap.Refusal) (*swap.Proposal, error) {
	p, err := e.provider(&o)
	if err != nil {
		return nil, err
	}
	net, err := e.Nodes.Network(o.Terms.SrcChain)
	if err != nil {
		return nil, err
	}
	if err := e.checkAccepted(o); err != nil {
		return nil, err
	}
	now := e.Now().UTC()
	held := o.Offer
	held.Expires = now.Add(proposalTime)
	offers := []swap.Offer{held}
	if o.Priced() {
		if offers, err = e.freshOffers(ctx, p, o.Terms.Provider, requestOf(o)); err != nil {
			return nil, err
		}
		if offers = slices.DeleteFunc(offers, func(f swap.Offer) bool { return f.Wrap != o.Terms.Wrap }); len(offers) == 0 {
			return nil, errNoOffer
		}
	}
	var failed error
	for _, offer := range offers[:min(len(offers), maxTried)] {
		made, err := e.proposeOffer(ctx, p, net, o, offer, now, errors.Is(why, chain.ErrCeiling))
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
func (e *Engine) proposeOffer(ctx context.Context, p swap.Provider, net chain.Network, o swap.Order, offer swap.Offer, now time.Time, dear bool) (*swap.Proposal, error) {
	if o.Priced() {
		offer.ID = o.Offer.ID + "'"
	}
	t := e.proposedTerms(o, offer, now)
	done := o.Plan.Steps[:min(ownStepCount(o), o.Step)]
	plan, found, err := e.assemble(ctx, p, offer, t, priorSteps{o.ID, done, o.Wrapped})
	if err != nil {
		return nil, err
	}
	r := swap.Review{Terms: t, Offer: offer, Plan: plan, Findings: found, Expires: offer.Expires}
	if err := e.weighProposal(ctx, &r, net, o, len(done), dear); err != nil {
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
func (e *Engine) proposedTerms(o swap.Order, offer swap.Offer, now time.Time) swap.Terms {
	if last := o.Proposal; last != nil && nearFloor(last.Terms.MinOut, offer) && last.Terms.RefundCovered(offer) && sameFee(last.Terms, offer) && last.Terms.Deadline.Sub(now) >= leastConsent {
		return last.Terms
	}
	t := o.Terms
	t.FeeBps, t.FeeReceiver = offer.Request.FeeBps, offer.Request.FeeReceiver
	if o.Priced() && offer.MinOut.Cmp(t.MinOut) < 0 {
		t.MinOut = offer.MinOut
	}
	if _, _, maker := e.Fees.For(t.Provider); o.Priced() && maker > t.MakerFeeBps {
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
func (e *Engine) weighProposal(ctx context.Context, r *swap.Review, net chain.Network, o swap.Order, done int, dear bool) error {
	steps, found := remainingSteps(r.Terms, r.Plan.Steps[done:], o.Wrapped), r.Findings
	spent := new(big.Int).Sub(o.Terms.GasCeiling, e.ceilingLeft(o))
	left := func() *big.Int { return new(big.Int).Sub(r.Terms.GasCeiling, spent) }
	if err := e.weigh(ctx, r, net, steps, left()); err != nil {
		return err
	}
	most := new(big.Int).Add(spent, oneAndHalf(r.Gas.Max))
	if dear && most.Cmp(oneAndHalf(o.Terms.GasCeiling)) < 0 {
		most = oneAndHalf(o.Terms.GasCeiling)
	}
	if limit := maxGasCeiling(net); most.Cmp(limit) > 0 {
		most = limit
	}
	if most.Cmp(r.Terms.GasCeiling) <= 0 || !dear && r.Gas.Max.Cmp(left()) <= 0 {
		return nil
	}
	r.Terms.GasCeiling, r.Findings = most, found
	return e.weigh(ctx, r, net, steps, left())
}

// judgeChange returns a finding for each respect in which the proposed terms are worse:
// the proposal's reason may be only one of several.
func judgeChange(was, now swap.Terms, symbol string) (found []swap.Finding) {
	if now.MinOut.Cmp(was.MinOut) < 0 {
		lost, _ := new(big.Rat).SetFrac(new(big.Int).Sub(was.MinOut, now.MinOut), was.MinOut).Float64()
		found = append(found, swap.Finding{Code: "floor_lowered", Severity: swap.Warn, Text: fmt.Sprintf("at worst %.1f %% less arrives than was accepted at worst", lost*100),
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
