package engine

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// pullSlack is how long after its deadlines an order may still pull, by this machine's clock.
const pullSlack = time.Minute + swap.ClockSlack

// signedOut returns an open order that its user accepted and whose signature was handed
// out and can be used until then.
func (b *engineFixture) signedOut(amount int64, until time.Time) swap.Order {
	b.t.Helper()
	j := b.service.o.Journal
	o := spends(j, b.t, swap.Signed, amount)
	must(j, b.t, &o, func(o *swap.Order) {
		o.Terms.Account, o.Terms.Deadline, o.Plan.Steps[1].Effect.Deadline = b.from, until, until
		*o = b.signer.sealed(*o)
	})
	must(j, b.t, &o, func(o *swap.Order) {
		o.State, o.Step, o.Results = swap.Settling, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}
	})
	return o
}

// TestNoOrderCountsTwice checks that index entries which name an order count once, so
// that its need is approved once.
func TestNoOrderCountsTwice(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	o := b.signedOut(3e6, b.now().Add(time.Hour))
	err := b.db.Update(func(tx *bolt.Tx) error {
		line := tx.Bucket(useBucket).Get(append(allowanceKeyOf(o).Bytes(), o.ID...))
		for i := range 1000 {
			if err := tx.Bucket(useBucket).Put(fmt.Appendf(allowanceKeyOf(o).Bytes(), "%s%d", o.ID, i), line); err != nil {
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

// TestEndedOrderReservesNothing checks that an accepted amount is reserved only until the
// order's deadline, whatever state its record is set back to.
func TestEndedOrderReservesNothing(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	j := b.service.o.Journal
	for name, c := range map[string]struct {
		left   time.Duration
		change func(*swap.Order)
	}{
		"signed":     {-pullSlack - time.Second, func(*swap.Order) {}},
		"unsigned":   {-pullSlack - time.Second, func(o *swap.Order) { o.State, o.Step, o.Results = swap.Executing, 0, nil }},
		"lengthened": {-pullSlack - time.Second, func(o *swap.Order) { o.Plan.Steps[1].Effect.Deadline = b.now().Add(time.Hour) }},
		"on its way": {-pullSlack - swap.CancelTime - time.Second, func(o *swap.Order) {
			o.State, o.Step, o.Results, o.CurrentTx = swap.Executing, 0, nil, common.Hash{1}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := b.signedOut(300e6, b.now().Add(c.left))
			must(j, t, &o, c.change)
			uses, err := b.service.engine.Planner.Orders.AcceptedUses(allowanceKeyOf(o))
			if lines, _ := j.Uses(allowanceKeyOf(o)); err != nil || len(lines) == 0 || len(uses) != 0 {
				t.Errorf("%+v of %d lines, %v", uses, len(lines), err)
			}
		})
	}
}

// storeUnsealed stores an order without a seal, as another program might write it, and not
// started.
func (b *engineFixture) storeUnsealed(like swap.Order, change func(*swap.Order)) swap.Order {
	b.t.Helper()
	o := like.Clone()
	o.ID, o.Request = uuid.Must(uuid.NewV7()).String(), uuid.NewString()
	o.State, o.Step, o.Results, o.Verdict, o.Wrapped, o.Revision, o.Seal, o.Permit = swap.Accepted, 0, nil, nil, false, 0, nil, nil
	b.made++
	o.Created, o.Terms.Deadline = b.now().UTC(), b.now().Add(consentLife+time.Duration(b.made)*time.Second).UTC().Truncate(time.Second)
	o.Offer.Expires = b.now().Add(time.Minute).UTC()
	change(&o)
	consistent(&o)
	b.storeOrder(o)
	return o
}

// TestUnsealedOrders checks that nothing is signed or proposed for an order without a seal,
// whatever else it says, and that it can be cancelled within the network's gas ceiling.
func TestUnsealedOrders(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	done := b.waitState(b.swap(usdc, thousand).ID, swap.Filled)
	before := b.signer.signed.Load()
	net, err := b.hub.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*swap.Order){
		"as it was":      func(*swap.Order) {},
		"begun":          func(o *swap.Order) { o.State, o.Step, o.Results = swap.Executing, 1, done.Results[:1] },
		"dear before":    func(o *swap.Order) { o.Results = done.Results[:1]; o.Results[0].Evidence.FeePaid = big.NewInt(1e18) },
		"wrapped":        func(o *swap.Order) { o.Wrapped = true },
		"a revoke":       func(o *swap.Order) { o.Terms.Provider = swap.Wallet },
		"no such chain":  func(o *swap.Order) { o.Terms.SrcChain, o.Terms.DstChain = 77, 77 },
		"no amount":      func(o *swap.Order) { o.Terms.AmountIn = new(big.Int) },
		"for another":    func(o *swap.Order) { payable(o, thief) },
		"back elsewhere": func(o *swap.Order) { o.Terms.RefundTo = thief },
		"much gas":       func(o *swap.Order) { o.Terms.GasCeiling = new(big.Int).Mul(big.NewInt(1000), big.NewInt(1e18)) },
		"an old seal":    func(o *swap.Order) { s := *done.Seal; s.Version, o.Seal = sealVersion-1, &s },
		"asks consent":   func(o *swap.Order) { o.Condition = swap.NeedsConsent },
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			o := b.storeUnsealed(done, change)
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", isChanged)
			if o.Cause.Code != swap.RecordChanged || o.Proposal != nil || b.signer.signed.Load() != before {
				t.Errorf("cause %+v, proposes %v, %d signatures", o.Cause, o.Proposal, b.signer.signed.Load()-before)
			}
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			if o = b.waitState(o.ID, swap.Cancelled); o.Terms.GasCeiling.Cmp(net.GasCeiling) > 0 || b.signer.signed.Load() != before {
				t.Errorf("ended for up to %s, with %d signatures", o.Terms.GasCeiling, b.signer.signed.Load()-before)
			}
		})
	}
}

// TestUnsealedWithSomethingPending checks that of an order without a seal nothing is signed
// for a cancel or speed-up that its record requests, and that the user's own cancel of the
// pending transaction stays within the network's gas ceiling.
func TestUnsealedWithSomethingPending(t *testing.T) {
	for name, wish := range map[string]func(*swap.Order){
		"an end":     func(o *swap.Order) { o.Cancel = true },
		"a speed-up": func(o *swap.Order) { o.Bump = &swap.Bump{Tier: "fast", Replaces: o.CurrentTx} },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			o := b.sentOrder(nil)
			b.tamper(o.ID, func(o *swap.Order) { o.Seal, o.Terms.GasCeiling = nil, big.NewInt(1e18); consistent(o); wish(o) })
			before := b.signer.signed.Load()
			b.restartUnlocked()
			o = b.waitUntil(o.ID, "refused", isChanged)
			if b.signer.signed.Load() != before {
				t.Errorf("%d signatures", b.signer.signed.Load()-before)
			}
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			o = b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
			if net, err := b.hub.Network(1); err != nil || o.Terms.GasCeiling.Cmp(net.GasCeiling) > 0 {
				t.Errorf("ended for up to %s, %v", o.Terms.GasCeiling, err)
			}
			b.chain.Resume()
			b.waitState(o.ID, swap.Cancelled)
		})
	}
}
