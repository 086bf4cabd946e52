package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An AcceptRequest consents to an order's proposal.
type AcceptRequest struct {
	Caller
	Request     string // uuid
	Order       string
	Digest      common.Hash // of the proposal as shown
	Acknowledge []string    // codes of its findings that the user acknowledged
}

// Accept journals the user's consent to an order's proposal, which replaces the accepted
// terms; the engine then continues the order. It fails with ConsentNeeded if the order
// now proposes something other than r.Digest, or nothing. Blocking findings and findings
// that lack their acknowledgement refuse it as they do for Execute. Repeating a request
// returns the order.
func (s *Service) Accept(ctx context.Context, r AcceptRequest) (swap.Order, error) {
	if err := normalizeRequestID(&r.Request); err != nil {
		return swap.Order{}, err
	}
	slices.Sort(r.Acknowledge)
	content := crypto.Keccak256Hash([]byte("accept"), []byte(r.Order), r.Digest[:], []byte(strings.Join(r.Acknowledge, ",")))
	if o, ok, err := s.o.Journal.OrderOfRequest(r.Request, content); ok || err != nil {
		return o, err
	}
	o, err := s.proposed(r)
	if err != nil {
		return o, err
	}
	review := o.Proposal.Review
	until := earlier(plan.ProposalEnds(*o.Proposal), review.Terms.Deadline)
	m := s.moving(ctx, review.Terms, review.Offer.Request.SlippageBps) // the whole amount: an earlier consent by password was not counted
	if err := s.checkLimits(r.Caller, m, review.Terms.AmountIn); err != nil {
		return o, err
	}
	confirmed, err := s.confirm(ctx, &r.Caller, Act{Kind: "accept", Caller: r.Caller, Lines: s.linesNow(review), Until: until})
	if err != nil {
		return o, err
	}
	for range 10 {
		if s.engine.checkAccepted(o) != nil {
			o.AckCodes = nil // the record does not verify, so its acknowledgements prove nothing
		}
		if err = accept(&o, r.Acknowledge); err != nil {
			return o, err
		}
		o.Updated = s.o.Now().UTC()
		if o.Seal, err = s.engine.seal(consentOf(o), confirmed); err != nil {
			return o, err
		}
		err = s.commitAct(r.Caller, func() error {
			if s.o.Now().After(until) {
				return swap.Refuse(swap.ConsentNeeded, "the proposal is too old; look at the one that takes its place")
			}
			o, err = s.o.Journal.UpdateByRequest(r.Request, content, o, swap.NewCause(swap.UserAccepted), s.recordSpend(r.Caller, m))
			return err
		})
		if !errors.Is(err, journal.ErrStale) {
			break
		}
		if o, err = s.proposed(r); err != nil {
			return o, err
		}
		if swap.HashLines(o.Proposal.Lines) != swap.HashLines(review.Lines) {
			return o, swap.Refuse(swap.ConsentNeeded, "the proposal has changed; look at the new one")
		}
	}
	if err == nil {
		s.goOn(o)
	}
	return o, err
}

// proposed returns the order if it proposes r.Digest and that proposal may be accepted.
func (s *Service) proposed(r AcceptRequest) (swap.Order, error) {
	o, err := s.o.Journal.Get(r.Order)
	switch {
	case err != nil:
		return o, err
	case o.State.Final():
		return o, swap.Refuse(swap.OrderFinal, "the order is already %s", o.State)
	case o.Cancel:
		return o, swap.Refuse(swap.OrderFinal, "the order is being cancelled")
	case o.Condition != swap.NeedsConsent || o.Proposal == nil:
		return o, swap.Refuse(swap.ConsentNeeded, "the order proposes nothing now; look at it again")
	case o.Proposal.Digest != r.Digest:
		return o, swap.Refuse(swap.ConsentNeeded, "the proposal has changed; look at the new one")
	case s.o.Now().After(plan.ProposalEnds(*o.Proposal)), o.Proposal.Seal == nil:
		s.engine.Start(o.ID) // makes a new proposal
		return o, swap.Refuse(swap.ConsentNeeded, "the proposal is too old; look at the one that takes its place")
	}
	if err := s.engine.checkSeal(o.Proposal.Seal, proposalOf(o)); err != nil {
		return o, err
	}
	return o, checkFindings(o.Proposal.Findings, r.Acknowledge)
}

// accept replaces the accepted terms and plan with the proposal's. Finished steps keep
// their results; the rest of the plan starts over.
func accept(o *swap.Order, acknowledged []string) error {
	p := o.Proposal
	if o.OrderSigned() {
		return errOrderSigned
	}
	done := min(o.OwnSteps(), o.Step)
	o.AllowanceLocked = o.AllowanceLocked && p.Plan.Spender == o.Plan.Spender
	o.Terms, o.Offer, o.Plan, o.Digest, o.Proposal = p.Terms, p.Offer, p.Plan, p.Digest, nil
	o.SlippageBps, o.Permit = 0, nil
	rewind(o, done)
	for _, code := range acknowledgedCodes(p.Findings, acknowledged) {
		if !slices.Contains(o.AckCodes, code) {
			o.AckCodes = append(o.AckCodes, code)
		}
	}
	if o.State == swap.Executing && o.Plan.Steps[o.Step].Effect.Kind == swap.Approve {
		return o.SetState(swap.Approving)
	}
	return nil
}
