package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
)

const (
	// turnRest is the least time between two moments at which one order begins
	// something again: by a fresh quote, a proposal, or an approval after all.
	turnRest = 5 * time.Second
	// proposalTime is how long a proposal holds that depends on no quote, and the
	// least that any is left standing.
	proposalTime = 30 * time.Second
	// leastConsent is how much time a proposal must leave for being carried out;
	// with less it gets a new deadline, and with it another digest.
	leastConsent = 5 * time.Minute
)

// stale reports whether o needs a fresh quote before its present step: what is
// left depends on a price, and the quote, or the order made from it, is over or
// about to be. Approvals do not wait for one.
func (e *Engine) stale(o Order, s Step) bool {
	if s.Effect.Kind == Approve || !o.priced() {
		return false
	}
	end := o.Offer.Expires
	if s.Effect.Kind == Signed {
		end = earlier(end, s.Effect.Deadline)
	}
	return e.Now().Add(leastLife[s.Effect.Kind]).After(end)
}

// priced reports whether the order's plan depends on a quote.
func (o Order) priced() bool { return priced(o.Plan.last().Kind) }

// own is how many steps o's plan begins with that the wallet makes by itself.
func (o Order) own() int {
	n := slices.IndexFunc(o.Plan.Steps, func(s Step) bool { return !o.Terms.own(s.Effect) })
	if n < 0 {
		return len(o.Plan.Steps)
	}
	return n
}

// refresh replaces an expired quote by a fresh one under the same consent: the
// same effects, and a floor at least as high as the accepted one. What the wallet
// itself has done keeps its place and its results, a wrap too, so that it is never
// wrapped twice; the rest begins again, so that a permit whose call was never
// signed is signed again. An order that was signed is never left for another.
// Anything else needs consent.
func (e *Engine) refresh(ctx context.Context, p Provider, o *Order) (Cause, error) {
	if o.ordered() {
		return untold, errOrdered
	}
	if !e.rested(o.ID) {
		return untold, errors.New("there was a fresh quote a moment ago")
	}
	offers, err := e.requote(ctx, p, *o)
	if err != nil {
		return untold, err
	}
	e.turns(o.ID)
	var why error
	for _, offer := range offers {
		plan, err := e.rebuild(ctx, p, *o, offer)
		if err != nil {
			why = gentler(why, err)
			continue
		}
		offer.ID = o.Offer.ID + "'"
		if err := e.rewrite(o, offer, plan, o.request().SlippageBps); err != nil {
			return untold, err
		}
		o.rewind(o.own())
		return because(Refreshed), nil
	}
	return untold, why
}

// errOrdered must not happen: nothing leads back from a signed order.
var errOrdered = errors.New("an order is signed already, and may live")

// ordered reports whether an order that somebody else settles was signed, handed
// over or not: until its end is proven no other is signed in its place.
func (o Order) ordered() bool {
	last := len(o.Plan.Steps) - 1
	return last >= 0 && o.Plan.Steps[last].Effect.Kind == Signed && len(o.Results) > last
}

// gentler is which of two reasons counts when every fresh offer has one: a bad
// moment, which passes, and else the first, of the offer that is best.
func gentler(first, next error) error {
	var refused *Refusal
	if first == nil || errors.As(first, &refused) && !refused.Code.temporary() && !(errors.As(next, &refused) && !refused.Code.temporary()) {
		return next
	}
	return first
}

// rebuild makes o's plan from a fresh offer, under the same consent.
func (e *Engine) rebuild(ctx context.Context, p Provider, o Order, offer Offer) (Plan, error) {
	if !o.Terms.refunds(offer) {
		return Plan{}, askConsent(RefundChanged)
	}
	plan, err := e.build(ctx, p, offer, o.Terms)
	if err == nil {
		plan.Steps = slices.Concat(o.Plan.Steps[:o.own()], plan.Steps)
		err = Check(o.Terms, plan.Effects(), p.Pins())
	}
	var refused *Refusal
	switch {
	case errors.As(err, &refused) && !refused.Code.temporary():
		return plan, &Refusal{Code: ConsentNeeded, Word: OutsideTerms, Field: refused.Field, Data: refused.Data, Reason: "the fresh quote is not within what was accepted: " + refused.Reason, Err: err}
	case err != nil:
		return plan, err
	}
	return plan, sameConsent(o, plan)
}

// turns notes that an order begins something again, rested whether that is long
// enough ago for another time. A restart forgets it.
func (e *Engine) turns(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turned == nil {
		e.turned = make(map[string]time.Time)
	}
	e.turned[id] = e.Now()
}

func (e *Engine) rested(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.Now().Before(e.turned[id].Add(turnRest))
}

// sameConsent wants a rebuilt plan to be what o's digest stands for, and a permit
// that was signed to be asked for again with the same nonce: only then can no
// second one be used.
func sameConsent(o Order, plan Plan) error {
	if Digest(o.Terms, plan.Effects()) != o.Digest || plan.Settlement != o.Plan.Settlement || plan.Spender != o.Plan.Spender {
		return askConsent(ActsDifferently)
	}
	other := func(s Step) bool { return s.Effect.Kind == Permit && !o.Permit.may(s.Effect.Nonce) }
	if slices.ContainsFunc(plan.Steps, other) {
		return askConsent(PermitChanged)
	}
	return nil
}

// may reports whether a permit for nonce may be signed: the first, and again the
// same. One that the contract knows no nonce of is never signed again.
func (p *SignedPermit) may(nonce *big.Int) bool {
	return p == nil || p.Nonce != nil && nonce != nil && p.Nonce.Cmp(nonce) == 0
}

// rewind makes step the next one. Nothing from there on may have been sent.
func (o *Order) rewind(step int) {
	o.Results, o.Step = o.Results[:min(step, len(o.Results)):min(step, len(o.Results))], min(step, o.Step)
	o.Condition = NoCondition
	o.because(untold)
}

// requote asks for offers of the accepted route whose enforced minimum keeps the
// accepted floor, best first: with the accepted slippage, or with as much less as
// the floor demands.
func (e *Engine) requote(ctx context.Context, p Provider, o Order) ([]Offer, error) {
	r, most := o.request(), new(big.Int)
	r.Routing = o.Offer.Routing
	for range 2 {
		fresh, err := e.freshOffers(ctx, p, o.Terms.Provider, r)
		if err != nil {
			return nil, err
		}
		fresh = slices.DeleteFunc(fresh, func(f Offer) bool { return f.Routing != o.Offer.Routing || f.Wrap != o.Terms.Wrap })
		if len(fresh) == 0 {
			return nil, askConsent(KindGone)
		}
		keep := slices.DeleteFunc(slices.Clone(fresh), func(f Offer) bool { return f.MinOut.Cmp(o.Terms.FloorOut) < 0 })
		if len(keep) > 0 {
			return keep[:min(len(keep), maxTried)], nil
		}
		most = fresh[0].MinOut
		if r.SlippageBps = slippageFor(fresh[0].withoutSlippage(), o.Terms.FloorOut); r.SlippageBps < MinSlippageBps {
			break
		}
	}
	return nil, askConsent(PriceFell, "floor", o.Terms.FloorOut.String(), "offered", most.String())
}

// maxTried bounds how many offers of one quote are built, one after the other.
const maxTried = 3

// request is what the user asked for: a refresh may have asked for less slippage.
func (o Order) request() QuoteRequest {
	r := o.Offer.Request
	r.Routing = ""
	if o.SlippageBps != 0 {
		r.SlippageBps = o.SlippageBps
	}
	return r
}

// errNoOffer is a provider's bad moment too: routes come back.
var errNoOffer = errors.New("the provider has no offer now")

// freshOffers are the provider's sound offers for a request of ours, best first.
// The request is ours, not the provider's echo of it.
func (e *Engine) freshOffers(ctx context.Context, p Provider, k Kind, r QuoteRequest) (sound []Offer, err error) {
	ctx, kept := e.keeping(ctx, k, r.Account, r.Recipient, r.RefundTo)
	offers, err := p.Quote(ctx, r)
	kept(err)
	switch {
	case errors.Is(err, &Refusal{Code: NoRoute}), err == nil && len(offers) == 0:
		return nil, errNoOffer
	case err != nil:
		return nil, err
	}
	for _, o := range offers[:min(len(offers), maxEach)] {
		if o.Unusable != "" {
			continue
		}
		o = o.tidy()
		o.Provider, o.Request = k, r.Taking(o.Fees)
		if unsound := checkOffer(o, r); unsound != nil {
			err = errors.Join(err, unsound)
			PartRefused(ctx, unsound)
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

// withoutSlippage is what an offer's minimum would be if none were asked for. One that
// promises its minimum alone, as auctions do, is taken to have begun from there.
func (o Offer) withoutSlippage() *big.Int {
	if o.AmountOut.Cmp(o.MinOut) != 0 {
		return o.AmountOut
	}
	n := new(big.Int).Mul(o.MinOut, big.NewInt(10_000))
	return n.Div(n, big.NewInt(int64(10_000-o.Request.SlippageBps)))
}

// slippageFor is the widest slippage, in bps, at which amount still keeps floor.
func slippageFor(amount, floor *big.Int) int {
	if amount.Cmp(floor) <= 0 {
		return 0
	}
	room := new(big.Int).Sub(amount, floor)
	bps := room.Mul(room, big.NewInt(10_000)).Div(room, amount)
	return int(bps.Int64())
}

// waits reports whether o is to be left alone until the user accepts: as long as
// what it proposes holds. Then it is tried again under the accepted terms, which
// may be met once more, and proposes anew if not.
func (e *Engine) waits(o Order) bool {
	if o.Condition != NeedsConsent || o.Proposal == nil {
		return o.Condition == NeedsConsent && !e.rested(o.ID)
	}
	return !e.Now().After(o.Proposal.until())
}

// until is the last moment at which a proposal may be accepted.
func (p Proposal) until() time.Time {
	if least := p.Made.Add(proposalTime); p.Expires.Before(least) {
		return least
	}
	return p.Expires
}

// propose makes an order wait for consent to other terms, because of why. What
// no consent could make good is refused, and ends the order; a provider's bad
// moment leaves it waiting without a proposal, and is tried again.
func (e *Engine) propose(ctx context.Context, o *Order, why *Refusal) (Cause, error) {
	e.turns(o.ID)
	if o.Proposal != nil && e.holds(o.Proposal.Seal, o.proposal()) != nil {
		o.Proposal = nil // also where locked keys cannot tell: none is made after a forged one's likeness
	}
	fresh, err := e.proposal(ctx, *o, why)
	var refused *Refusal
	switch {
	case errors.As(err, &refused) && refused.Code == JournalFailed:
		return untold, err
	case errors.As(err, &refused) && !refused.Code.temporary() && !retried(*o, refused):
		o.Condition = NoCondition
		return e.abandon(o, refused)
	case err != nil:
		e.Log(*o, err)
	}
	c := ofRefusal(Refused, why)
	o.Condition, o.Proposal = NeedsConsent, fresh
	if fresh != nil {
		if fresh.Seal, err = e.seal(o.proposal(), "propose", fresh.Made); err != nil {
			o.Proposal = nil // without its seal nobody could accept it
			return untold, err
		}
	}
	o.because(c)
	return c.says("needs consent: " + why.Reason), nil
}

// proposal is what could be consented to instead of the accepted terms: a plan
// from a fresh quote, checked and weighed like the first.
func (e *Engine) proposal(ctx context.Context, o Order, why *Refusal) (*Proposal, error) {
	p, err := e.provider(&o)
	if err != nil {
		return nil, err
	}
	net, err := e.Nodes.Network(o.Terms.SrcChain)
	if err != nil {
		return nil, err
	}
	if err := e.accepted(o); distrusted(err) {
		o, err = e.bare(o)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	now := e.Now().UTC()
	held := o.Offer
	held.Expires = now.Add(proposalTime)
	offers := []Offer{held}
	if o.priced() || !o.sealed() {
		if offers, err = e.freshOffers(ctx, p, o.Terms.Provider, o.request()); err != nil {
			return nil, err
		}
		if offers = slices.DeleteFunc(offers, func(f Offer) bool { return f.Wrap != o.Terms.Wrap }); len(offers) == 0 {
			return nil, errNoOffer
		}
	}
	var failed error
	for _, offer := range offers[:min(len(offers), maxTried)] {
		made, err := e.proposeOffer(ctx, p, net, o, offer, now, errors.Is(why, chain.ErrCeiling))
		if err == nil {
			made.Reason, made.Cause = why.Reason, ofRefusal(Refused, why).stored()
			return made, nil
		}
		if failed = gentler(failed, err); !fallsBack(err) {
			break
		}
	}
	return nil, failed
}

// proposeOffer is the proposal that an offer makes.
func (e *Engine) proposeOffer(ctx context.Context, p Provider, net chain.Network, o Order, offer Offer, now time.Time, dear bool) (*Proposal, error) {
	if o.priced() || !o.sealed() {
		offer.ID = o.Offer.ID + "'"
	}
	if !o.sealed() {
		o.Terms = e.termsOf(offer, net)
	}
	t := e.proposedTerms(o, offer, now)
	done := o.Plan.Steps[:min(o.own(), o.Step)]
	plan, found, err := e.assemble(ctx, p, offer, t, past{o.ID, done, o.Wrapped})
	if err != nil {
		return nil, err
	}
	r := Review{Terms: t, Offer: offer, Plan: plan, Findings: found, Expires: offer.Expires}
	if err := e.weighProposal(ctx, &r, net, o, len(done), dear); err != nil {
		return nil, err
	}
	r.Findings = append(judgeChange(o.Terms, r.Terms, net.Symbol), r.Findings...)
	r.Digest = Digest(r.Terms, plan.Effects())
	return &Proposal{Review: r, Made: now}, Check(r.Terms, plan.Effects(), p.Pins())
}

// proposedTerms are the accepted ones with what a fresh offer keeps of the floor,
// and time to carry them out. As long as the terms last proposed still do they
// stay, so that what the user is looking at does not change under the hand; but
// not when the fresh offer keeps clearly more than they ask for: nobody accepts a
// low floor by the look of a good price.
func (e *Engine) proposedTerms(o Order, offer Offer, now time.Time) Terms {
	if last := o.Proposal; last != nil && near(last.Terms.FloorOut, offer) && last.Terms.refunds(offer) && last.Terms.charges(offer) && last.Terms.Deadline.Sub(now) >= leastConsent {
		return last.Terms
	}
	t := o.Terms
	t.FeeBps, t.FeeReceiver = offer.Request.FeeBps, offer.Request.FeeReceiver
	if o.priced() && offer.MinOut.Cmp(t.FloorOut) < 0 {
		t.FloorOut = offer.MinOut
	}
	if _, _, maker := e.Fees.For(t.Provider); o.priced() && maker > t.MakerFeeBps {
		t.MakerFeeBps = maker
	}
	if o.priced() && !t.refunds(offer) {
		t.Refund = refundOf(offer)
	}
	t.Deadline = now.Add(consentTime).Truncate(time.Second)
	return t
}

// charges reports whether an offer takes the wallet's fee that the terms have.
func (t Terms) charges(o Offer) bool {
	return t.FeeBps == o.Request.FeeBps && t.FeeReceiver == o.Request.FeeReceiver
}

// near reports whether an offer keeps a floor, and not by much more than it: half
// a percent, or the slippage that was asked for where that is less.
func near(floor *big.Int, o Offer) bool {
	least := floorOf(o.MinOut, min(o.Request.SlippageBps, DefaultSlippageBps))
	return o.MinOut.Cmp(floor) >= 0 && floor.Cmp(least) >= 0
}

// weighProposal weighs the steps that are left, and raises the gas ceiling where
// they do not fit under what is left of it: by half as much again as they need
// now, since fees go on moving, but not above what a person may raise it to. dear
// says that the real cost was above it.
func (e *Engine) weighProposal(ctx context.Context, r *Review, net chain.Network, o Order, done int, dear bool) error {
	steps, found := ahead(r.Terms, r.Plan.Steps[done:], o.Wrapped), r.Findings
	spent := new(big.Int).Sub(o.Terms.GasCeiling, e.ceilingLeft(o))
	left := func() *big.Int { return new(big.Int).Sub(r.Terms.GasCeiling, spent) }
	if err := e.weigh(ctx, r, net, steps, left()); err != nil {
		return err
	}
	most := new(big.Int).Add(spent, oneAndHalf(r.Gas.Max))
	if dear && most.Cmp(oneAndHalf(o.Terms.GasCeiling)) < 0 {
		most = oneAndHalf(o.Terms.GasCeiling)
	}
	limit := highestCeiling(net)
	if !o.sealed() {
		limit = net.GasCeiling
	}
	if most.Cmp(limit) > 0 {
		most = limit
	}
	if most.Cmp(r.Terms.GasCeiling) <= 0 || !dear && r.Gas.Max.Cmp(left()) <= 0 {
		return nil
	}
	r.Terms.GasCeiling, r.Findings = most, found
	return e.weigh(ctx, r, net, steps, left())
}

// judgeChange names what of a proposal was not accepted before: its reason may be
// only one of several, and the review alone shows what they come to.
func judgeChange(was, now Terms, symbol string) (found []Finding) {
	if now.FloorOut.Cmp(was.FloorOut) < 0 {
		lost, _ := new(big.Rat).SetFrac(new(big.Int).Sub(was.FloorOut, now.FloorOut), was.FloorOut).Float64()
		found = append(found, Finding{"floor_lowered", Warn, fmt.Sprintf("at worst %.1f %% less arrives than was accepted at worst", lost*100),
			map[string]string{"accepted": was.FloorOut.String(), "proposed": now.FloorOut.String()}})
	}
	if now.GasCeiling.Cmp(was.GasCeiling) > 0 {
		found = append(found, Finding{"ceiling_raised", Warn, fmt.Sprintf("gas may cost up to %s, instead of the accepted %s", Units(now.GasCeiling, 18, symbol), Units(was.GasCeiling, 18, symbol)),
			map[string]string{"accepted": was.GasCeiling.String(), "proposed": now.GasCeiling.String()}})
	}
	if now.MakerFeeBps > was.MakerFeeBps {
		found = append(found, Finding{"fee_raised", Warn, fmt.Sprintf("the provider may take up to %d bps, instead of the accepted %d", now.MakerFeeBps, was.MakerFeeBps),
			map[string]string{"accepted": fmt.Sprint(was.MakerFeeBps), "proposed": fmt.Sprint(now.MakerFeeBps)}})
	}
	return found
}

// oneAndHalf is n and half as much again.
func oneAndHalf(n *big.Int) *big.Int {
	m := new(big.Int).Mul(n, big.NewInt(3))
	return m.Rsh(m, 1)
}
