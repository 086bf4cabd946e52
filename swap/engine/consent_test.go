package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// offersBelow makes a trader's offers bps worse than the chain.
func offersBelow(bps int) func(*trader) {
	return func(tr *trader) { tr.price = func(out *big.Int) *big.Int { return swap.MinAfterSlippage(out, bps) } }
}

// priceFell returns an order whose approval is mined and whose price has since fallen below
// the minimum: it proposes other terms.
func priceFell(b *engineFixture, tr *trader) swap.Order {
	b.t.Helper()
	b.chain.Pause()
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	tr.set(offersBelow(400))
	b.clockOffset.Add(int64(time.Minute))
	b.chain.Resume()
	return b.waitUntil(o.ID, "in need of consent", proposes)
}

func proposes(o swap.Order) bool { return o.Condition == swap.NeedsConsent && o.Proposal != nil }

func acceptOf(o swap.Order) AcceptRequest {
	return AcceptRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Proposal.Digest, Caller: passwordCaller}
}

// TestProposal checks that a proposal has the fresh minimum, enough time, its own digest
// and everything that a review has, and that the accepted terms stay.
func TestProposal(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	p := o.Proposal
	want := o.Terms
	want.MinOut, want.Deadline = p.Terms.MinOut, p.Terms.Deadline
	if string(swap.MustJSON(p.Terms)) != string(swap.MustJSON(want)) {
		t.Errorf("proposes other terms:\n%s\n%s", swap.MustJSON(p.Terms), swap.MustJSON(want))
	}
	switch {
	case p.Terms.MinOut.Cmp(o.Terms.MinOut) >= 0 || p.Terms.MinOut.Cmp(p.Offer.MinOut) != 0:
		t.Errorf("floor %s, accepted %s, offered %s", p.Terms.MinOut, o.Terms.MinOut, p.Offer.MinOut)
	case !p.Terms.Deadline.After(o.Terms.Deadline) || p.Terms.Deadline.After(b.now().Add(consentLife)):
		t.Errorf("deadline %s, accepted %s", p.Terms.Deadline, o.Terms.Deadline)
	case p.Digest == o.Digest || p.Digest != swap.Digest(p.Terms, p.Plan.Effects()):
		t.Errorf("digest %s", p.Digest)
	case !slices.Equal(kinds(p.Plan), kinds(o.Plan)) || p.Plan.Steps[0].Call == nil:
		t.Errorf("plan %v", kinds(p.Plan))
	case !slices.Equal(findingLabels(p.Findings), []string{"minimum_lowered:warn", "not_simulated:note", "price_impact:note"}) || p.Reason == "" || len(p.Gas.Costs) != 1:
		t.Errorf("findings %v, gas %+v, reason %q", findingLabels(p.Findings), p.Gas, p.Reason)
	case o.Step != 1 || len(o.Results) != 1 || !o.AllowanceLocked:
		t.Errorf("step %d, %d results, holds %t", o.Step, len(o.Results), o.AllowanceLocked)
	}
	// While it waits no quotes are requested until the proposal expires; then the same
	// terms are proposed for as long as an offer meets them.
	quoted := tr.quoted.Load()
	time.Sleep(200 * time.Millisecond)
	if tr.quoted.Load() != quoted {
		t.Error("asked for quotes while the proposal holds")
	}
	b.clockOffset.Add(int64(45 * time.Second))
	again := b.waitUntil(o.ID, "proposed again", func(o swap.Order) bool { return proposes(o) && o.Proposal.Made.After(p.Made) })
	if again.Proposal.Digest != p.Digest || again.Proposal.Offer.Expires.Equal(p.Offer.Expires) {
		t.Error("the terms changed under the user's hand")
	}
	tr.set(offersBelow(900)) // and when none does, others
	b.clockOffset.Add(int64(45 * time.Second))
	lower := b.waitUntil(o.ID, "proposed lower", func(o swap.Order) bool { return proposes(o) && o.Proposal.Digest != p.Digest })
	if lower.Proposal.Terms.MinOut.Cmp(p.Terms.MinOut) >= 0 || lower.Terms.MinOut.Cmp(o.Terms.MinOut) != 0 {
		t.Errorf("floor %s", lower.Proposal.Terms.MinOut)
	}
	_, err := b.service.Accept(t.Context(), acceptOf(o))
	refusedWith(t, err, swap.ConsentNeeded)
}

// TestRecoversByItself checks that an order goes on under the first consent when the
// price recovers.
func TestRecoversByItself(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	tr.set(offersBelow(0))
	b.clockOffset.Add(int64(45 * time.Second))
	done := b.waitState(o.ID, swap.Filled)
	if done.Digest != o.Digest || done.Terms.MinOut.Cmp(o.Terms.MinOut) != 0 || done.Proposal != nil {
		t.Errorf("floor %s, accepted %s", done.Terms.MinOut, o.Terms.MinOut)
	}
	if !slices.ContainsFunc(b.history(o.ID), func(l journal.Entry) bool {
		return l.Condition == swap.NoCondition && l.Step == 1 && l.Note == "new quote, within what was accepted"
	}) {
		t.Errorf("%+v", b.history(o.ID))
	}
	b.wantNonce(2)
}

// TestAccepted checks that consent to a proposal counts once, however often requested.
func TestAccepted(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	ctx := t.Context()
	r := acceptOf(o)

	for name, change := range map[string]func(*AcceptRequest){
		"no session":     func(r *AcceptRequest) { r.Session = "" },
		"another digest": func(r *AcceptRequest) { r.Digest = o.Digest },
		"no uuid":        func(r *AcceptRequest) { r.Request = "1" },
		"another order":  func(r *AcceptRequest) { r.Order = "none" },
	} {
		bad := r
		change(&bad)
		if _, err := b.service.Accept(ctx, bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	got, err := b.service.Accept(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != r.Digest || got.Terms.MinOut.Cmp(o.Proposal.Terms.MinOut) != 0 || got.Condition != swap.NoCondition || got.Proposal != nil || got.Step != 1 {
		t.Errorf("accepted: %s %q, floor %s, step %d", got.State, got.Condition, got.Terms.MinOut, got.Step)
	}
	b.halt() // the acceptance is in the journal
	b.start()
	if again, err := b.service.Accept(ctx, r); err != nil || again.ID != o.ID {
		t.Errorf("repeated: %v", err)
	}
	other := r
	other.Request = uuid.NewString()
	if _, err = b.service.Accept(ctx, other); err == nil {
		t.Error("accepted twice")
	}
	other.Request, other.Digest = r.Request, o.Digest
	_, err = b.service.Accept(ctx, other)
	refusedWith(t, err, swap.RequestConflict)

	done := b.waitState(o.ID, swap.Filled)
	if done.Digest != r.Digest || done.Results[0].Tx != o.Results[0].Tx {
		t.Errorf("digest %s, approval %s", done.Digest, done.Results[0].Tx)
	}
	if by, err := b.service.o.Journal.ByDigest(r.Digest); err != nil || by.ID != o.ID {
		t.Errorf("the accepted plan is nobody's: %v", err)
	}
	b.wantNonce(2)
	b.wantPermit2Allowance(usdc, 0)
}

// TestDeclined covers a user who cancels instead or lets the deadline pass.
func TestDeclined(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	o = b.waitState(o.ID, swap.Cancelled)
	if o.Proposal != nil || o.AllowanceLocked || len(Leftovers(o)) != 1 {
		t.Errorf("holds %t, leftovers %v", o.AllowanceLocked, Leftovers(o))
	}
	b.wantNonce(1)

	b = newEngineFixture(t)
	tr = b.useTrader()
	o = priceFell(b, tr)
	b.clockOffset.Add(int64(consentLife))
	if o = b.waitState(o.ID, swap.Expired); len(Leftovers(o)) != 1 {
		t.Errorf("leftovers %v", Leftovers(o))
	}
	b.wantNonce(1)
	if _, err := b.service.Accept(t.Context(), AcceptRequest{Request: uuid.NewString(), Order: o.ID, Caller: passwordCaller}); !errors.Is(err, &swap.Refusal{Code: swap.OrderFinal}) {
		t.Errorf("accepted after the end: %v", err)
	}
}

// TestProposalIsJudged checks that a proposal which is absurd by our own prices cannot be
// accepted, and that a bad one needs an acknowledgement.
func TestProposalIsJudged(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	tr.set(offersBelow(6000))
	b.clockOffset.Add(int64(45 * time.Second))
	o = b.waitUntil(o.ID, "absurd", func(o swap.Order) bool { return proposes(o) && o.Proposal.Blocked() })
	_, err := b.service.Accept(t.Context(), acceptOf(o))
	refusedWith(t, err, swap.PriceRefused)

	tr.set(offersBelow(1500))
	b.clockOffset.Add(int64(45 * time.Second))
	o = b.waitUntil(o.ID, "bad", func(o swap.Order) bool { return proposes(o) && !o.Proposal.Blocked() })
	r := acceptOf(o)
	_, err = b.service.Accept(t.Context(), r)
	refusedWith(t, err, swap.NeedsAcknowledge)
	r.Acknowledge = []string{"price_impact"}
	if _, err = b.service.Accept(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if o = b.waitState(o.ID, swap.Filled); !slices.Contains(o.AckCodes, "price_impact") {
		t.Errorf("acknowledged %v", o.AckCodes)
	}
}

// TestNothingToPropose checks that an order ends if no consent could allow what the
// provider built: nothing that spends is signed, and the approval remains to be revoked.
func TestNothingToPropose(t *testing.T) {
	for name, twist := range map[string]func(*swap.Built){
		"another recipient": func(b *swap.Built) { b.Steps[1].Effect.Receives[0].To = thief },
		"another contract":  func(b *swap.Built) { b.Steps[1].Effect.Target = thief },
		"another spender":   func(b *swap.Built) { b.Spender = thief },
		"an own approval": func(b *swap.Built) {
			c := approveCall(swap.Terms{SrcChain: 1, Account: account, TokenIn: usdc}, thief, big.NewInt(1))
			b.Steps = append([]swap.Step{{Kind: swap.CallStep, Call: &c}}, b.Steps...)
		},
		"a fee above its bound": func(b *swap.Built) { b.Steps[1].Effect.Pays = []swap.Payment{{Token: weth, To: thief, Bps: 21}} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			tr := b.useTrader()
			b.chain.Pause()
			o := b.swap(usdc, thousand)
			b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
			signed := b.signer.signed.Load()
			tr.set(func(tr *trader) { tr.alterBuilt = twist })
			b.clockOffset.Add(int64(time.Minute))
			b.chain.Resume()
			o = b.waitState(o.ID, swap.Cancelled)
			if b.signer.signed.Load() != signed || len(Leftovers(o)) != 1 || o.Reason == "" {
				t.Errorf("signed %d more, leftovers %v, reason %q", b.signer.signed.Load()-signed, Leftovers(o), o.Reason)
			}
		})
	}
}

// TestHigherFeeIsProposed checks that a fee within the configured bound that was not
// accepted needs consent.
func TestHigherFeeIsProposed(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	b.signer.locked.Store(true)
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.halt()
	o, _, _ = b.service.Order(o.ID)
	o.Terms.MakerFeeBps = 0 // as accepted under an older configuration
	o.Digest = swap.Digest(o.Terms, o.Plan.Effects())
	o = b.signer.sealed(o)
	if err := b.service.o.Journal.Update(&o, swap.NewCause("test")); err != nil {
		t.Fatal(err)
	}
	tr.set(func(tr *trader) {
		tr.alterBuilt = func(b *swap.Built) { b.Steps[1].Effect.Pays = []swap.Payment{{Token: weth, To: thief, Bps: 10}} }
	})
	b.clockOffset.Add(int64(time.Minute))
	b.signer.locked.Store(false)
	b.start()
	o = b.waitUntil(o.ID, "in need of consent", proposes)
	if got := o.Proposal.Plan.Steps[2].Effect.Pays; o.Proposal.Terms.MakerFeeBps != 20 || len(got) != 1 || got[0].Bps != 10 {
		t.Errorf("proposes %d bps, %+v", o.Proposal.Terms.MakerFeeBps, got)
	}
	if !slices.Contains(findingLabels(o.Proposal.Findings), "fee_raised:warn") {
		t.Errorf("findings %v", findingLabels(o.Proposal.Findings))
	}
}

// TestGasIsProposed checks that gas above the ceiling needs consent to a higher one with
// headroom, and that the approval is paid for once.
func TestGasIsProposed(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.halt()
	r.Terms.GasCeiling = big.NewInt(1)
	r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
	b.start()
	b.service.KeepReviews(b.service.Generation(), r)
	o := b.waitUntil(b.execute(r).ID, "in need of consent", proposes)
	p := o.Proposal
	if least := new(big.Int).Rsh(new(big.Int).Mul(p.Gas.Max, big.NewInt(3)), 1); p.Terms.GasCeiling.Cmp(least) < 0 || p.Terms.MinOut.Cmp(o.Terms.MinOut) != 0 || p.Blocked() {
		t.Errorf("ceiling %s for gas of up to %s, findings %v", p.Terms.GasCeiling, p.Gas.Max, findingLabels(p.Findings))
	}
	if !slices.Contains(findingLabels(p.Findings), "ceiling_raised:warn") || slices.Contains(findingLabels(p.Findings), "minimum_lowered:warn") {
		t.Errorf("findings %v", findingLabels(p.Findings))
	}
	if _, err := b.service.Accept(t.Context(), acceptOf(o)); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(2)
}

// TestUnshownApprovalIsProposed checks that consent is needed for an approval that was
// not shown, because the allowance that the review counted on is gone.
func TestUnshownApprovalIsProposed(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.approvePermit2(usdc, thousand)
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.approvePermit2(usdc, 0)
	o := b.waitUntil(b.execute(r).ID, "in need of consent", proposes)
	if got := kinds(o.Proposal.Plan); !slices.Equal(got, []swap.EffectKind{swap.Approve, swap.Permit, swap.Swap}) {
		t.Fatalf("proposes %v", got)
	}
	got, err := b.service.Accept(t.Context(), acceptOf(o))
	if err != nil || got.State != swap.Approving {
		t.Fatalf("%s, %v", got.State, err)
	}
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(4)
	b.wantPermit2Allowance(usdc, 0)
}

// TestNothingIsSignedInTheMoveThatRecovers checks that an order in need of consent signs
// nothing before it has recorded that it needs none any more. A consent given at the same
// moment is then refused instead of being carried out as well.
func TestNothingIsSignedInTheMoveThatRecovers(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	b.halt()
	tr.set(offersBelow(0))
	b.clockOffset.Add(int64(45 * time.Second))
	signed := b.signer.signed.Load()
	e := b.service.engine
	seen := false
	for range 10 {
		o, _, _ = b.service.Order(o.ID)
		needed := o.Condition == swap.NeedsConsent
		if _, err := moveOnce(context.Background(), e, &o); err != nil {
			t.Fatal(err)
		}
		if needed && (b.signer.signed.Load() != signed || o.Step > 1) {
			t.Fatal("signed while it needed consent")
		}
		if seen = seen || needed && o.Condition == swap.NoCondition; o.Step > 1 {
			break
		}
	}
	if !seen || o.Step != 2 {
		t.Errorf("step %d, recovered %t", o.Step, seen)
	}
}

// TestRevokeAboveTheCeilingNeedsConsent checks that a revoke whose gas exceeds the ceiling needs
// consent to a higher one, as a swap does.
func TestRevokeAboveTheCeilingNeedsConsent(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.approvePermit2(usdc, 7)
	net, err := b.hub.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.ReviewRevoke(t.Context(), b.from, net, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken})
	if err != nil {
		t.Fatal(err)
	}
	r.Terms.GasCeiling, r.Findings = big.NewInt(1), nil
	r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
	b.service.KeepReviews(b.service.Generation(), r)
	o, err := b.service.Revoke(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	if err != nil {
		t.Fatal(err)
	}
	o = b.waitUntil(o.ID, "in need of consent", proposes)
	if o.Proposal.Blocked() || len(o.Proposal.Plan.Steps) != 1 || o.Proposal.Terms.GasCeiling.Cmp(o.Proposal.Gas.Max) < 0 {
		t.Fatalf("proposes %+v for gas %+v", o.Proposal.Terms, o.Proposal.Gas)
	}
	if _, err := b.service.Accept(t.Context(), acceptOf(o)); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(2)
	b.wantPermit2Allowance(usdc, 0)
}

// findingLabels returns each finding as "code:severity".
func findingLabels(fs []swap.Finding) (out []string) {
	for _, f := range fs {
		out = append(out, f.Code+":"+string(f.Severity))
	}
	return out
}
