package engine

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// TestFalseEndsAreShown checks that a final state written into the file is shown, and
// that the order is not carried out.
func TestFalseEndsAreShown(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	done := b.waitState(b.swap(usdc, 200e6).ID, swap.Filled)
	b.signer.locked.Store(true)
	filled, withdrawn := b.swap(usdc, thousand), b.swap(usdc, 500e6)
	for _, o := range []swap.Order{filled, withdrawn} {
		b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	}
	told := &swap.Spend{Token: weth, Amount: big.NewInt(1e18)}
	b.tamper(filled.ID, func(o *swap.Order) {
		o.State, o.Verdict = swap.Filled, &swap.Verdict{State: swap.Filled, ProvenBy: swap.ProvenByOwnCall, Received: told, Sources: swap.TwoHosts, Evidence: done.Verdict.Evidence}
	})
	if err := b.markCancelled(withdrawn.ID); err != nil {
		t.Fatal(err)
	}
	b.restartUnlocked()
	b.waitState(b.swap(usdc, 100e6).ID, swap.Filled)
	page, _, err := b.service.o.Journal.List(b.from, false, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]swap.Order{}
	for _, o := range page {
		shown[o.ID] = o
	}
	if o := shown[filled.ID]; o.State != swap.Filled || o.Verdict == nil || o.Verdict.Received.Amount.Cmp(told.Amount) != 0 || o.Verdict.Sources != swap.TwoHosts {
		t.Errorf("%s, %+v", o.State, o.Verdict)
	}
	if o := shown[withdrawn.ID]; o.State != swap.Cancelled {
		t.Error(o.State)
	}
	b.wantNonce(4) // approval and swap of the two others
}

// TestForgedOrdersReserveFunds checks that an order in the file that looks signed and
// fillable reduces the amount that can be swapped, although nobody signed it.
func TestForgedOrdersReserveFunds(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	if _, err := b.review(usdc, 4500e6); err != nil {
		t.Fatal(err)
	}
	b.signedOut(1000e6, b.now().Add(time.Hour)) // seals it too, which is not needed here
	j, ids := b.service.o.Journal, []string(nil)
	ids, err := j.Open()
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	b.tamper(ids[0], func(o *swap.Order) { o.Seal = nil })
	b.restartUnlocked()
	_, err = b.review(usdc, 4500e6)
	refusedWith(t, err, swap.InsufficientFunds)
}

// pastDue sets the send deadline of every transaction in the file to the past.
func (b *engineFixture) pastDue() {
	b.t.Helper()
	err := b.db.Update(func(tx *bolt.Tx) error {
		records, changed := tx.Bucket([]byte("sender.tx")), map[string][]byte{}
		err := records.ForEach(func(k, v []byte) error {
			var record map[string]json.RawMessage
			var policy map[string]json.RawMessage
			if err := errors.Join(json.Unmarshal(v, &record), json.Unmarshal(record["policy"], &policy)); err != nil {
				return err
			}
			policy["until"], _ = json.Marshal(time.Now().Add(-time.Minute).UTC())
			record["policy"], _ = json.Marshal(policy)
			changed[string(k)], _ = json.Marshal(record)
			return nil
		})
		for k, v := range changed {
			err = errors.Join(err, records.Put([]byte(k), v))
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestClosedBeforeItsTime checks that a pending transaction which the file says is late
// is cancelled, for gas within what was accepted. If the order's record was changed that
// waits until the user cancels it, and then costs no more than the network's gas ceiling.
func TestClosedBeforeItsTime(t *testing.T) {
	closes := func(o swap.Order) bool {
		return slices.ContainsFunc(o.Attempts, func(a swap.Attempt) bool { return a.Kind == chain.AttemptCancel })
	}
	gone := func(b *engineFixture, o swap.Order) *big.Int {
		t.Helper()
		before, err := b.hub.Balance(t.Context(), 1, b.from, native)
		if err != nil {
			t.Fatal(err)
		}
		b.waitUntil(o.ID, "being closed", closes)
		b.chain.Resume()
		b.waitState(o.ID, swap.Cancelled)
		after, err := b.hub.Balance(t.Context(), 1, b.from, native)
		if err != nil {
			t.Fatal(err)
		}
		return before.Sub(before, after)
	}
	t.Run("as accepted", func(t *testing.T) {
		b := newEngineFixture(t)
		o := b.sentOrder(nil)
		b.halt()
		b.pastDue()
		b.restartUnlocked()
		if gas := gone(b, o); gas.Sign() <= 0 || gas.Cmp(o.Terms.GasCeiling) > 0 {
			t.Errorf("it cost %s wei of gas, accepted were %s", gas, o.Terms.GasCeiling)
		}
	})
	t.Run("changed", func(t *testing.T) {
		b := newEngineFixture(t)
		o := b.sentOrder(nil)
		b.tamper(o.ID, func(o *swap.Order) { payable(o, thief); o.Terms.GasCeiling = big.NewInt(1e18) })
		b.pastDue()
		before := b.signer.signed.Load()
		b.restartUnlocked()
		o = b.waitUntil(o.ID, "refused", isChanged)
		if b.signer.signed.Load() != before || closes(o) {
			t.Error("it is closed by nobody's wish")
		}
		if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
			t.Fatal(err)
		}
		net, err := b.hub.Network(1)
		if err != nil {
			t.Fatal(err)
		}
		if gas := gone(b, o); gas.Cmp(net.GasCeiling) > 0 {
			t.Errorf("it cost %s wei of gas, the network's ceiling is %s", gas, net.GasCeiling)
		}
		if o, _, _ := b.service.Order(o.ID); o.Terms.GasCeiling.Cmp(net.GasCeiling) > 0 {
			t.Errorf("up to %s wei were let", o.Terms.GasCeiling)
		}
	})
}

// TestAllowanceTheFileDoesNotKnow checks that an allowance left by an ended order blocks
// opaque calls to its contract only while the file has a record of it.
func TestAllowanceTheFileDoesNotKnow(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	c := b.newMaliciousContract()
	at := h.deployPinned(c, chameleon())
	take := func(tried, done uint64) []byte {
		return slices.Concat(pad(usdt), common.FromHex("0x23b872dd"), pad(b.from), pad(c.address), word(0), word(tried), word(done))
	}
	h.callTarget(at, take(thousand, thousand))
	r, err := b.reviewDeposit(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.chain.Pause()
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "approving", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	b.signer.locked.Store(true)
	b.chain.Resume()
	b.waitUntil(o.ID, "approved", func(o swap.Order) bool { return o.Step == 1 })
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Cancelled)
	b.signer.locked.Store(false)
	h.callTarget(at, take(0, thousand))
	_, err = b.reviewDeposit(native, 1e15)
	refusedWith(t, err, swap.NotAsAccepted)
	grants, err := b.service.o.Journal.Grants(b.from, 1)
	if err != nil || len(grants) == 0 {
		t.Fatal(grants, err)
	}
	for g := range grants {
		putEntry(b.service.o.Journal, t, grantBucket, grantKey(b.from, 1, g), nil)
	}
	if _, err := b.reviewDeposit(native, 1e15); err != nil {
		t.Errorf("it is known all the same: %v", err)
	}
}
