package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
)

// A Caller says who asks for an act. The zero value is a browser without a session.
type Caller struct {
	Origin   string          // extension origin or terminal, for the record
	Session  string          // the connection's session, passed to the Confirmer
	Present  func() bool     // whether Session is still the connection's session; nil = no
	Ended    <-chan struct{} // closed when it is no more; nil = never
	Terminal bool            // otherwise a browser, which is bounded by [Limits]
	Password bool            // the wallet's password came with this act and is correct
	Amount   *big.Int        // at a terminal: the input amount, typed again; nil = not typed

	outside bool // a person confirmed a browser's act outside of it
}

// An ExecuteRequest is the user's consent to the plan of a swap or of a revoke.
type ExecuteRequest struct {
	Caller
	Request     string      // uuid; a repeat returns the order that it made
	Digest      common.Hash // of the review that was shown
	Acknowledge []string    // codes of the findings that the user acknowledged
}

// An Act is what a Confirmer is asked to confirm before anything is signed for it.
type Act struct {
	Kind   string      // execute, revoke, accept, cancel or speedup
	Caller             // who asks
	Lines  []swap.Line // what it does, in lines
	Until  time.Time   // it cannot be carried out later
}

// A Confirmer makes sure that a person wants an act that leads to a signature. It may take
// minutes, until the act's time is over or ctx ends, as it does with the session that asked.
// An error means no.
type Confirmer interface {
	Confirm(ctx context.Context, a Act) (swap.Confirmation, error)
}

// ByCall takes the call itself as confirmation: the popup or terminal sends the digest it
// showed. It requires a session.
type ByCall struct{}

// Confirm fails with ConsentDeclined if the act has no session.
func (ByCall) Confirm(_ context.Context, a Act) (swap.Confirmation, error) {
	if a.Session == "" {
		return swap.Confirmation{}, swap.Refuse(swap.ConsentDeclined, "unlock the wallet first")
	}
	by := swap.ByPopup
	if a.Terminal {
		by = swap.ByTerminal
	}
	return swap.Confirmation{By: by, Lines: swap.HashLines(a.Lines)}, nil
}

// linesNow returns a review's lines with what its amounts are worth now.
func (s *Service) linesNow(r swap.Review) []swap.Line {
	if s.o.Lines == nil {
		return r.Lines
	}
	return s.o.Lines(r)
}

// orderAct returns an act on an order as it is to be confirmed; nobody waits longer for it than
// orderActTime.
func (s *Service) orderAct(kind string, c Caller, o swap.Order) Act {
	a := Act{Kind: kind, Caller: c, Until: s.o.Now().Add(orderActTime)}
	if s.o.OrderLines != nil {
		a.Lines = s.o.OrderLines(kind, o)
	}
	return a
}

const orderActTime = 10 * time.Minute

// confirm has a person confirm an act, and returns it as it is sealed; it marks the caller if that
// was outside the browser.
func (s *Service) confirm(ctx context.Context, c *Caller, a Act) (swap.UserAct, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-a.Ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	yes, err := s.o.Confirmer.Confirm(ctx, a)
	c.outside = err == nil && !c.Terminal && yes.By != swap.ByPopup
	return swap.UserAct{Action: a.Kind, Origin: a.Origin, Confirmation: yes, ActedAt: s.o.Now().UTC()}, err
}

// Execute journals the user's consent to a prepared plan and starts it.
func (s *Service) Execute(ctx context.Context, r ExecuteRequest) (swap.Order, error) {
	return s.carryOut(ctx, "execute", r)
}

// carryOut implements Execute for both kinds of plan; act is "execute" or "revoke".
func (s *Service) carryOut(ctx context.Context, act string, r ExecuteRequest) (swap.Order, error) {
	if err := normalizeRequestID(&r.Request); err != nil {
		return swap.Order{}, err
	}
	slices.Sort(r.Acknowledge)
	content := crypto.Keccak256Hash([]byte(act), r.Digest[:], []byte(strings.Join(r.Acknowledge, ",")))
	if o, ok, err := s.o.Journal.OrderOfRequest(r.Request, content); ok || err != nil {
		return o, err
	}
	review, err := s.preparedPlan(act, r, swap.Review.Executable)
	if err != nil {
		return swap.Order{}, err
	}
	m := s.moving(ctx, review.Terms, review.Offer.Request.SlippageBps)
	if err := s.checkLimits(r.Caller, m, review.Terms.AmountIn); err != nil {
		return swap.Order{}, err
	}
	confirmed, err := s.confirm(ctx, &r.Caller, Act{Kind: act, Caller: r.Caller, Lines: s.linesNow(review), Until: review.Terms.Deadline})
	if err != nil {
		return swap.Order{}, err
	}
	id, err := uuid.NewV7() // ids ascend with time
	if err != nil {
		return swap.Order{}, err
	}
	if err := s.takeIsolated(ctx, review); err != nil {
		if o, ok, failed := s.o.Journal.OrderOfRequest(r.Request, content); ok || failed != nil { // made by another call meanwhile
			return o, failed
		}
		return swap.Order{}, err
	}
	now := s.o.Now().UTC()
	o := swap.Order{
		ID: id.String(),
		Consent: swap.Consent{Request: r.Request, Digest: r.Digest, Origin: r.Origin, Terms: review.Terms,
			Offer: review.Offer, Plan: review.Plan, AckCodes: acknowledgedCodes(review.Findings, r.Acknowledge)},
		Progress: swap.Progress{State: swap.Accepted},
		Created:  now, Updated: now,
	}
	if o.Seal, err = s.engine.seal(consentOf(o), confirmed); err != nil {
		return swap.Order{}, err
	}
	made := false
	err = s.commitAct(r.Caller, func() error {
		if again, ok, err := s.o.Journal.OrderOfRequest(r.Request, content); ok || err != nil { // made by another call while this one was confirmed
			o = again
			return err
		}
		if _, err := s.preparedPlan(act, r, swap.Review.Refreshable); err != nil {
			return err
		}
		o, made, err = s.o.Journal.Create(o, content, s.recordSpend(r.Caller, m))
		return err
	})
	if err != nil {
		return swap.Order{}, err
	}
	if made {
		s.EvictPlan(review)
		s.goOn(o)
	}
	return o, nil
}

// takeIsolated takes the isolated account of a plan that has one. It fails with PlanUnknown
// if another order has it, or it is not what the vault has.
func (s *Service) takeIsolated(ctx context.Context, r swap.Review) error {
	if !r.Terms.IsIsolated() {
		return nil
	}
	err := s.o.Isolated.TakeIsolated(ctx, r.Terms.Account, r.Offer.Request.Number)
	if err == nil {
		err = checkIsolatedOwner(ctx, s.o.Isolated, r.Terms)
	}
	if errors.Is(err, ErrIsolatedTaken) || errors.Is(err, errNotOurs) {
		return &swap.Refusal{Code: swap.PlanUnknown, Reason: "the isolated account of this plan was taken or is another one now; get a new quote", Err: err}
	}
	return err
}

// commitAct runs write, which journals an act, unless the caller's session ended while it
// was confirmed (SessionRequired). Plans cannot be dropped meanwhile. write must not call
// the vault: locking it waits for s.acting.
func (s *Service) commitAct(c Caller, write func() error) error {
	s.actMu.Lock()
	defer s.actMu.Unlock()
	if c.Present == nil || !c.Present() {
		return swap.Refuse(swap.SessionRequired, "the session has ended meanwhile: nothing was done; unlock the wallet here")
	}
	return write()
}

// goOn tells of an order for which an act was journaled, and has it go on.
func (s *Service) goOn(o swap.Order) {
	s.notify(o.Clone())
	s.engine.Start(o.ID)
}

// normalizeRequestID rewrites a uuid in its canonical form, or fails with BadRequest.
func normalizeRequestID(request *string) error {
	id, err := uuid.Parse(*request)
	if err != nil {
		return swap.RefuseField(swap.BadRequest, "request", "must be a uuid")
	}
	*request = id.String()
	return nil
}

// preparedPlan returns the prepared plan with r.Digest if it may be executed now; inTime says of
// it whether there still is time. It fails with PlanUnknown, PlanExecuted, QuoteExpired,
// AllowanceInUse (a revoke) or TooManyOrders, and as checkFindings does.
func (s *Service) preparedPlan(act string, r ExecuteRequest, inTime func(swap.Review, time.Time) bool) (swap.Review, error) {
	again := "prepare it again"
	if act == "revoke" {
		again = "list the allowances again"
	}
	review, ok := s.Reviewed(r.Digest, act == "revoke")
	if late := ok && !inTime(review, s.o.Now()); !ok || late {
		if o, err := s.o.Journal.ByDigest(r.Digest); err == nil {
			return review, &swap.Refusal{Code: swap.PlanExecuted, Reason: "this plan was already carried out; " + again, Data: map[string]string{"order": o.ID}}
		}
		if late {
			return review, swap.Refuse(swap.QuoteExpired, "too much time has passed since it was shown; %s", again)
		}
		return review, swap.Refuse(swap.PlanUnknown, "no prepared plan has this digest; %s (plans are dropped on lock, account and network changes)", again)
	}
	if act == "revoke" {
		if err := checkNotNeeded(s.o.Journal, review.Terms.Account, review.Terms.SrcChain, swap.GrantOf(review.Plan.Steps[0].Effect), "", s.o.Now()); err != nil {
			return review, err
		}
	}
	if err := checkFindings(review.Findings, r.Acknowledge); err != nil {
		return review, err
	}
	open, err := s.o.Journal.Open()
	if err != nil {
		return review, err
	}
	if len(open) < s.o.OpenOrders {
		return review, nil
	}
	busy, err := s.o.Journal.CountActive(open)
	if err == nil && busy >= s.o.OpenOrders {
		err = swap.Refuse(swap.TooManyOrders, "%d orders are in progress; wait for some to end", busy)
	}
	return review, err
}

// checkFindings fails if a finding blocks (see blockCodes), or with NeedsAcknowledge if one
// lacks its acknowledgement.
func checkFindings(found []swap.Finding, acknowledged []string) error {
	for _, f := range found {
		switch {
		case f.Severity == swap.Block:
			code, ok := blockCodes[f.Code]
			if !ok {
				code = swap.NotAsAccepted
			}
			return &swap.Refusal{Code: code, Reason: f.Text, Data: f.Data}
		case f.Severity == swap.Acknowledge && !slices.Contains(acknowledged, f.Code):
			return &swap.Refusal{Code: swap.NeedsAcknowledge, Field: f.Code, Reason: f.Text + "; accept it by naming " + f.Code, Data: f.Data}
		}
	}
	return nil
}

// acknowledgedCodes returns the acknowledged codes that belong to a finding that was shown, sorted.
func acknowledgedCodes(found []swap.Finding, acknowledged []string) (codes []string) {
	for _, f := range found {
		if f.Severity == swap.Acknowledge && slices.Contains(acknowledged, f.Code) && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// blockCodes maps a blocking finding's code to the refusal code that Execute returns.
var blockCodes = map[string]swap.Code{
	"gas_insufficient": swap.InsufficientGas,
	"gas_ceiling":      swap.InsufficientGas,
	"price_impact":     swap.PriceRefused,
}
