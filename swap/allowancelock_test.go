package swap

import (
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

func newJournal(t *testing.T) *Journal {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	j, err := OpenJournal(db)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// spends journals an order with an ERC-20 input whose last step is of kind k.
func (j *Journal) spends(t *testing.T, k EffectKind, amount int64) Order {
	t.Helper()
	terms, effects := erc20()
	terms.AmountIn = big.NewInt(amount)
	last := Step{Kind: CallStep, Effect: effects[2]}
	if k == Signed {
		last = Step{Kind: TypedStep, Effect: Effect{Kind: Signed}}
	}
	id := uuid.NewString()
	o, _, err := j.Create(Order{ID: id, Request: id, Digest: common.BytesToHash([]byte(id)), Terms: terms, Offer: testOffer(), State: Accepted,
		Plan: Plan{Spender: permit2, Steps: []Step{{Kind: CallStep, Effect: effects[0]}, last}}}, common.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (j *Journal) must(t *testing.T, o *Order, change func(*Order)) {
	t.Helper()
	change(o)
	if err := j.Update(o, newCause("test")); err != nil {
		t.Fatal(err)
	}
}

func (j *Journal) uses(t *testing.T, o Order) map[string]Use {
	t.Helper()
	list, err := j.Uses(o.allowanceKey())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Use{}
	for _, u := range list {
		all[u.Order] = u
	}
	return all
}

// TestHolds checks that one order at a time holds an allowance, in the same commit as its
// record, until its pull is done or it has ended.
func TestHolds(t *testing.T) {
	j := newJournal(t)
	a, b := j.spends(t, Swap, 10), j.spends(t, Swap, 20)
	hold := func(o *Order) { o.AllowanceLocked = true }
	j.must(t, &a, hold)
	j.must(t, &a, func(o *Order) { o.Step, o.Results = 1, []Result{{}} })
	revision := b.Revision
	b.AllowanceLocked = true
	if err := j.Update(&b, newCause("test")); !errors.Is(err, errAllowanceLocked) {
		t.Fatalf("held by two: %v", err)
	}
	if b, _ = j.Get(b.ID); b.AllowanceLocked || b.Revision != revision {
		t.Errorf("a hold that was refused left a trace: %+v", b)
	}
	if got := j.uses(t, a); len(got) != 2 || !got[a.ID].AllowanceLocked || got[b.ID].AllowanceLocked || got[b.ID].Amount.Int64() != 20 {
		t.Errorf("%+v", got)
	}
	j.must(t, &a, func(o *Order) { o.State, o.Step, o.Results = Executing, 2, []Result{{}, {}} })
	if a.AllowanceLocked || len(j.uses(t, a)) != 1 {
		t.Error("held past the pull")
	}
	j.must(t, &b, hold)
	c := j.spends(t, Swap, 30)
	j.must(t, &b, func(o *Order) { o.State = Cancelled })
	if b.AllowanceLocked {
		t.Error("held past the end")
	}
	j.must(t, &c, hold)

	other := j.spends(t, Swap, 5) // another spender: no conflict
	j.must(t, &other, func(o *Order) { o.Plan.Spender = router })
	j.must(t, &other, hold)
}

// TestStaleHolderIsTakenOver checks that an index entry that claims more than its order
// does not block others, and that one whose order cannot be read does.
func TestStaleHolderIsTakenOver(t *testing.T) {
	ended := soundOrder()
	ended.State = Filled
	for name, c := range map[string]struct {
		order string
		held  bool
	}{
		"gone":       {"", false},
		"ended":      {strings.Replace(string(mustJSON(ended)), `"id":"a"`, `"id":"%s"`, 1), false},
		"unreadable": {`{`, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			a, b := j.spends(t, Swap, 10), j.spends(t, Swap, 20)
			j.must(t, &a, func(o *Order) { o.AllowanceLocked = true })
			err := j.DB().Update(func(tx *bolt.Tx) error {
				if c.order == "" {
					return tx.Bucket(orderBucket).Delete([]byte(a.ID))
				}
				return tx.Bucket(orderBucket).Put([]byte(a.ID), []byte(strings.Replace(c.order, "%s", a.ID, 1)))
			})
			if err != nil {
				t.Fatal(err)
			}
			b.AllowanceLocked = true
			if err := j.Update(&b, newCause("test")); errors.Is(err, errAllowanceLocked) != c.held || err != nil && !c.held {
				t.Error(err)
			}
		})
	}
}

// TestHoldsRace checks that of many simultaneous requests for an allowance one succeeds.
func TestHoldsRace(t *testing.T) {
	j := newJournal(t)
	var orders []Order
	for range 16 {
		orders = append(orders, j.spends(t, Swap, 1))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for _, o := range orders {
		wg.Go(func() {
			o.AllowanceLocked = true
			err := j.Update(&o, newCause("test"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, errAllowanceLocked):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d hold it", won)
	}
}

// TestShares checks that a signed order reserves its amount of allowance and balance
// until it ends, and an unsigned one reserves nothing.
func TestShares(t *testing.T) {
	j := newJournal(t)
	a, b := j.spends(t, Signed, 10), j.spends(t, Signed, 20)
	promised := func() int64 {
		t.Helper()
		n, err := j.Promised(1, account, usdc, a.Terms.Deadline)
		if err != nil {
			t.Fatal(err)
		}
		return n.Int64()
	}
	j.must(t, &a, func(o *Order) { o.AllowanceLocked = true })
	if promised() != 0 {
		t.Error("promised before it is signed")
	}
	sign := func(o *Order) { o.State, o.Step, o.Results = Executing, 2, []Result{{}, {Signature: make([]byte, 65)}} }
	j.must(t, &a, sign)
	if got := j.uses(t, a)[a.ID]; !got.Signed || got.AllowanceLocked || a.AllowanceLocked || promised() != 10 {
		t.Errorf("%+v, promised %d", got, promised())
	}
	j.must(t, &b, func(o *Order) { o.AllowanceLocked = true })
	j.must(t, &b, sign)
	other := j.spends(t, Signed, 5)
	j.must(t, &other, func(o *Order) { o.Plan.Spender = router })
	j.must(t, &other, sign)
	if promised() != 35 {
		t.Errorf("promised %d of the balance, whoever pulls it", promised())
	}
	j.must(t, &a, func(o *Order) { o.State = Settling })
	j.must(t, &a, func(o *Order) { o.State = Filled })
	if _, ok := j.uses(t, b)[a.ID]; ok || promised() != 25 {
		t.Errorf("promised %d after the end", promised())
	}
	if n, err := j.Promised(1, thief, usdc, a.Terms.Deadline); err != nil || n.Sign() != 0 {
		t.Errorf("promised %s by another account, %v", n, err)
	}
	after := b.pullableUntil().Add(pullSlack)
	for now, want := range map[time.Time]int64{after: 25, after.Add(time.Nanosecond): 0} {
		if n, err := j.Promised(1, account, usdc, now); err != nil || n.Int64() != want {
			t.Errorf("promised %s at %s, which is %s after the last moment: %v", n, now, now.Sub(after), err)
		}
	}
	refusedWith(t, checkFunds(big.NewInt(80), big.NewInt(100), big.NewInt(25)), InsufficientFunds)
	if err := checkFunds(big.NewInt(75), big.NewInt(100), big.NewInt(25)); err != nil {
		t.Error(err)
	}
}

// TestLapsed checks that the allowance of an order that can no longer be filled, and that
// nothing ends, counts as left behind and may be revoked. A transaction of the order's
// own that was sent may still use it for cancelTime.
func TestLapsed(t *testing.T) {
	j := newJournal(t)
	o := j.spends(t, Signed, 10)
	j.must(t, &o, func(o *Order) {
		o.State, o.Step, o.Results, o.Submission = Settling, 2, []Result{{}, {Signature: make([]byte, 65)}}, &Submission{}
	})
	g := grant{usdc, permit2, ByToken}
	before, after := o.pullableUntil().Add(pullSlack), o.pullableUntil().Add(pullSlack+time.Second)
	if n, err := j.needs(account, 1, g, before); err != nil || n.share.Int64() != 10 || o.lapsed(before) {
		t.Errorf("needs %s, %v", n.share, err)
	}
	refusedWith(t, j.checkNotNeeded(account, 1, g, "", before), AllowanceInUse)
	if n, err := j.needs(account, 1, g, after); err != nil || n.share.Sign() != 0 || !o.lapsed(after) {
		t.Errorf("needs %s, %v, after it", n.share, err)
	}
	if err := j.checkNotNeeded(account, 1, g, "", after); err != nil {
		t.Error(err)
	}
	unsigned := o
	unsigned.Results = nil
	if u, ok := unsigned.use(); ok {
		t.Errorf("without a signature it uses %+v", u)
	}
	own := j.spends(t, Swap, 10)
	if own.mayPull(after) {
		t.Error("a call that was never signed")
	}
	if own.CurrentTx = (common.Hash{1}); !own.mayPull(after) || own.lapsed(after) || own.mayPull(after.Add(cancelTime)) {
		t.Error("a call on its way counts for nothing, or for ever")
	}
}

// TestUnreadableIsNobodysNeed checks that an order that cannot be read neither hides an
// allowance nor blocks its revoke.
func TestUnreadableIsNobodysNeed(t *testing.T) {
	j := newJournal(t)
	a, b := j.spends(t, Swap, 10), j.spends(t, Swap, 20)
	if err := j.DB().Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte(a.ID), []byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	if n, err := j.needs(account, 1, grant{usdc, permit2, ByToken}, time.Now()); err != nil || n.share.Int64() != 20 || n.order != b.ID {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestGrantedLast checks that of two orders with one allowance the one that granted it
// last is named, even if the other changes afterwards.
func TestGrantedLast(t *testing.T) {
	j := newJournal(t)
	grants := func(o *Order) { o.Results = append(o.Results, Result{Tx: common.Hash{1}}) }
	a, b := j.spends(t, Signed, 50), j.spends(t, Signed, 100)
	j.must(t, &a, grants)
	j.must(t, &b, grants)
	j.must(t, &a, func(o *Order) { o.Condition = Cancelling })
	if all, err := j.grants(account, 1); err != nil || all[grant{usdc, permit2, ByToken}] != b.ID {
		t.Errorf("%v, %v; a is %s, b %s", all, err, a.ID, b.ID)
	}
}

// TestSharesAreApproved checks that a new approval covers the plan's amount and those of
// signed open orders, and that the consent covers only the plan's own part.
func TestSharesAreApproved(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	shared := func(amount int64) Order {
		j := b.service.o.Journal
		o := j.spends(t, Signed, amount)
		j.must(t, &o, func(o *Order) {
			o.Terms.Account, o.Terms.Deadline = b.from, b.now().Add(time.Hour)
			*o = b.signer.sealed(*o)
		})
		j.must(t, &o, func(o *Order) { o.State, o.Step, o.Results = Executing, 2, []Result{{}, {Signature: make([]byte, 65)}} })
		return o
	}
	open := shared(300e6)
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Plan.Steps[0].Effect.Approves[0]; a.Amount.Int64() != 1300e6 || a.Shares.Int64() != 300e6 {
		t.Fatalf("approves %s with a share of %v", a.Amount, a.Shares)
	}
	if _, err := b.review(usdc, 4800e6); !errors.Is(err, &Refusal{Code: InsufficientFunds}) {
		t.Errorf("a share counts as spent: %v", err)
	}
	// The others' amount changes between review and execution; the digest does not.
	more := shared(50e6)
	tr.set(func(tr *trader) { tr.lateErr = Refuse(ProviderDown, "a bad moment") })
	o := b.execute(r)
	o = b.waitUntil(o.ID, "at its last step", func(o Order) bool { return o.Step == 2 })
	b.wantPermit2Allowance(usdc, 1350e6)
	tr.set(func(tr *trader) { tr.lateErr = nil })
	o = b.waitState(o.ID, Filled)
	if o.Digest != r.Digest {
		t.Error("another digest")
	}
	b.wantPermit2Allowance(usdc, 350e6) // what the others need is still there
	// A plan that finds only that approves its own amount in addition.
	if r, err = b.review(usdc, 100e6); err != nil || r.Plan.Steps[0].Effect.Approves[0].Amount.Int64() != 450e6 {
		t.Errorf("plan %v, %v", kinds(r.Plan), err)
	}
	_, _ = open, more
}

// FuzzUse checks that no stored entry crashes decodeUse.
func FuzzUse(f *testing.F) {
	f.Add(`{"order":"a","amount":1,"holds":true}`)
	f.Add(`{"order":"a","amount":-1}`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, stored string) {
		if u, err := decodeUse([]byte(stored)); err == nil && (u.Order == "" || u.Amount.Sign() < 0) {
			t.Errorf("%+v", u)
		}
	})
}
