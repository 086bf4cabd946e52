package swap

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// signedOut returns an open order that its user accepted and whose signature was handed
// out and can be used until then.
func (b *engineFixture) signedOut(amount int64, until time.Time) Order {
	b.t.Helper()
	j := b.service.o.Journal
	o := j.spends(b.t, Signed, amount)
	j.must(b.t, &o, func(o *Order) {
		o.Terms.Account, o.Terms.Deadline, o.Plan.Steps[1].Effect.Deadline = b.from, until, until
		*o = b.signer.sealed(*o)
	})
	j.must(b.t, &o, func(o *Order) { o.State, o.Step, o.Results = Settling, 2, []Result{{}, {Signature: make([]byte, 65)}} })
	return o
}

// TestNoOrderCountsTwice checks that index entries which name an order count once, so
// that its need is approved once.
func TestNoOrderCountsTwice(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	o := b.signedOut(3e6, b.now().Add(time.Hour))
	err := b.db.Update(func(tx *bolt.Tx) error {
		line := tx.Bucket(useBucket).Get(append(o.allowanceKey().bytes(), o.ID...))
		for i := range 1000 {
			if err := tx.Bucket(useBucket).Put(fmt.Appendf(o.allowanceKey().bytes(), "%s%d", o.ID, i), line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Plan.Steps[0].Effect.Approves[0]; a.Amount.Int64() != 1003e6 || a.Shares.Int64() != 3e6 {
		t.Errorf("approves %s with a share of %v", a.Amount, a.Shares)
	}
}

// TestEndedOrderHasNoShare checks that an accepted amount is reserved only until the
// order's deadline, whatever state its record is set back to.
func TestEndedOrderHasNoShare(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	j := b.service.o.Journal
	for name, c := range map[string]struct {
		left   time.Duration
		change func(*Order)
	}{
		"signed":     {-pullSlack - time.Second, func(*Order) {}},
		"unsigned":   {-pullSlack - time.Second, func(o *Order) { o.State, o.Step, o.Results = Executing, 0, nil }},
		"lengthened": {-pullSlack - time.Second, func(o *Order) { o.Plan.Steps[1].Effect.Deadline = b.now().Add(time.Hour) }},
		"on its way": {-pullSlack - cancelTime - time.Second, func(o *Order) {
			o.State, o.Step, o.Results, o.CurrentTx = Executing, 0, nil, common.Hash{1}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := b.signedOut(300e6, b.now().Add(c.left))
			j.must(t, &o, c.change)
			uses, err := b.service.engine.uses(o.allowanceKey())
			if lines, _ := j.Uses(o.allowanceKey()); err != nil || len(lines) == 0 || len(uses) != 0 {
				t.Errorf("%+v of %d lines, %v", uses, len(lines), err)
			}
		})
	}
}

// storeUnsealed stores an order without a seal, as an older version or another program would
// write it, and not started.
func (b *engineFixture) storeUnsealed(like Order, change func(*Order)) Order {
	b.t.Helper()
	o := like.Clone()
	o.ID, o.Request = uuid.Must(uuid.NewV7()).String(), uuid.NewString()
	o.State, o.Step, o.Results, o.Verdict, o.Wrapped, o.Revision, o.Seal, o.Permit = Accepted, 0, nil, nil, false, 0, nil, nil
	b.made++
	o.Created, o.Terms.Deadline = b.now().UTC(), b.now().Add(consentLife+time.Duration(b.made)*time.Second).UTC().Truncate(time.Second)
	o.Offer.Expires = b.now().Add(time.Minute).UTC()
	change(&o)
	o.consistent()
	b.storeOrder(o)
	return o
}

// TestUnsealedIsProposedInOwnWords checks that for an order with no recorded acceptance
// only its route and amount are proposed. Recipient, minimum, fees and gas ceiling are
// set by this wallet.
func TestUnsealedIsProposedInOwnWords(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	done := b.waitState(b.swap(usdc, thousand).ID, Filled)
	before := b.signer.signed.Load()
	net, err := b.hub.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Order){
		"as it was": func(*Order) {},
		"terms": func(o *Order) {
			o.Terms.FeeBps, o.Terms.FeeReceiver, o.Terms.MakerFeeBps = 300, thief, 9000
			o.Terms.MinOut, o.Terms.GasCeiling = big.NewInt(1), new(big.Int).Mul(big.NewInt(1000), big.NewInt(1e18))
			o.Terms.Refund = &Spend{usdc, big.NewInt(1)}
			o.Offer.Request.FeeBps, o.Offer.Request.FeeReceiver, o.Offer.Request.SlippageBps = 300, thief, 5000
			o.SlippageBps, o.AckCodes = 5000, []string{"price_unknown"}
		},
		"no price": func(o *Order) { // the plan depends on no price, so the offer is kept
			o.Plan.Steps[len(o.Plan.Steps)-1].Effect.Kind = Unwrap
			o.Terms.MinOut, o.Offer.AmountOut, o.Offer.MinOut, o.Offer.Request.Recipient = big.NewInt(1), big.NewInt(1), big.NewInt(1), thief
		},
		"dear before": func(o *Order) {
			o.Results = []Result{{Evidence: done.Results[0].Evidence}}
			o.Results[0].Evidence.FeePaid = big.NewInt(1e18)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			o := b.storeUnsealed(done, change)
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "in need of consent", proposes)
			p := o.Proposal
			bps, receiver, maker := DefaultFees().For(DEX)
			if p.Terms.FeeBps != bps || p.Terms.FeeReceiver != receiver || p.Terms.MakerFeeBps != maker || p.Offer.Request.FeeReceiver != receiver {
				t.Errorf("pays %d bps to %s, asks for %s, and %d to the maker", p.Terms.FeeBps, p.Terms.FeeReceiver, p.Offer.Request.FeeReceiver, p.Terms.MakerFeeBps)
			}
			if least := minAfterSlippage(p.Offer.AmountOut, DefaultSlippageBps); p.Terms.MinOut.Cmp(least) < 0 || p.Offer.Request.SlippageBps > DefaultSlippageBps {
				t.Errorf("at least %s arrives, of %s with %d bps", p.Terms.MinOut, p.Offer.AmountOut, p.Offer.Request.SlippageBps)
			}
			if p.Terms.GasCeiling.Cmp(net.GasCeiling) > 0 || p.Terms.Recipient != b.from || p.Terms.RefundTo != b.from || p.Terms.Refund != nil || p.Terms.AmountIn.Int64() != thousand {
				t.Errorf("%+v", p.Terms)
			}
			if b.signer.signed.Load() != before {
				t.Error("signed before consent")
			}
			if o, err = b.service.Accept(t.Context(), acceptOf(o)); err != nil || len(o.AckCodes) != 0 {
				t.Fatal(o.AckCodes, err)
			}
			b.waitState(o.ID, Filled)
			before = b.signer.signed.Load()
		})
	}
}

// TestUnsealedIsNotProposed covers unsealed orders that are not proposed: unrecorded
// steps count as not done, and a revoke is requested anew. What an update may have left
// is RecordUnsealed, without an alarm; an order that pays somebody else is RecordTampered.
func TestUnsealedIsNotProposed(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	done := b.waitState(b.swap(usdc, thousand).ID, Filled)
	before := b.signer.signed.Load()
	for name, c := range map[string]struct {
		change func(*Order)
		want   Condition
	}{
		"done nowhere":   {func(o *Order) { o.State, o.Step, o.Results = Executing, 1, done.Results[:1] }, RecordUnsealed},
		"wrapped":        {func(o *Order) { o.Wrapped = true }, RecordUnsealed},
		"a revoke":       {func(o *Order) { o.Terms.Provider = Wallet }, RecordUnsealed},
		"no such chain":  {func(o *Order) { o.Terms.SrcChain, o.Terms.DstChain = 77, 77 }, RecordUnsealed},
		"no amount":      {func(o *Order) { o.Terms.AmountIn = new(big.Int) }, RecordUnsealed},
		"for another":    {func(o *Order) { o.payable(thief) }, RecordTampered},
		"back elsewhere": {func(o *Order) { o.Terms.RefundTo = thief }, RecordTampered},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			o := b.storeUnsealed(done, c.change)
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", func(o Order) bool { return o.Tampered() })
			if o.Condition != c.want || o.Cause.Word != NotSealed || o.Proposal != nil || b.signer.signed.Load() != before {
				t.Errorf("%q, cause %+v, %d signatures", o.Condition, o.Cause, b.signer.signed.Load()-before)
			}
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			b.waitState(o.ID, Cancelled)
		})
	}
}

// TestUpdateKeepsWhatIsDone checks that an unsealed order of an older version is proposed
// together with its mined approval, and continues from there.
func TestUpdateKeepsWhatIsDone(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	tr.set(func(tr *trader) { tr.lateErr = Refuse(ProviderDown, "a bad moment") })
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "at its last step", func(o Order) bool { return o.Step == 2 })
	b.tamper(o.ID, func(o *Order) { o.Seal = nil })
	tr.set(func(tr *trader) { tr.lateErr = nil })
	b.restartUnlocked()
	o = b.waitUntil(o.ID, "in need of consent", proposes)
	if got := o.Proposal.Plan.Steps; len(got) != 3 || got[0].Effect.Kind != Approve {
		t.Fatalf("proposes %v", kinds(o.Proposal.Plan))
	}
	if _, err := b.service.Accept(t.Context(), acceptOf(o)); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, Filled)
	b.wantNonce(2)
}

// TestUpdateWithSomethingPending checks that a cancel or speed-up requested in an older
// version for a pending transaction has to be requested again, without an alarm.
func TestUpdateWithSomethingPending(t *testing.T) {
	for name, wish := range map[string]func(*Order){
		"an end":     func(o *Order) { o.Cancel = true },
		"a speed-up": func(o *Order) { o.Bump = &Bump{Tier: "fast", Over: o.CurrentTx} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			o := b.sentOrder(nil)
			b.tamper(o.ID, func(o *Order) { o.Seal = nil; wish(o) })
			before := b.signer.signed.Load()
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", func(o Order) bool { return o.Tampered() })
			if o.Condition != RecordUnsealed || o.Cause.Word != NotSealed || b.signer.signed.Load() != before {
				t.Errorf("%q, cause %+v", o.Condition, o.Cause)
			}
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			b.waitUntil(o.ID, "cancelling", func(o Order) bool { return o.Condition == Cancelling })
			b.chain.Resume()
			b.waitState(o.ID, Cancelled)
		})
	}
}
