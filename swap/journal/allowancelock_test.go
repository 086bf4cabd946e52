package journal

import (
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/swap"

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
	j, err := Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// spends journals an order with an ERC-20 input whose last step is of kind k.
func (j *Journal) spends(t *testing.T, k swap.EffectKind, amount int64) swap.Order {
	t.Helper()
	terms, effects := erc20()
	terms.AmountIn = big.NewInt(amount)
	last := swap.Step{Kind: swap.CallStep, Effect: effects[2]}
	if k == swap.Signed {
		last = swap.Step{Kind: swap.TypedStep, Effect: swap.Effect{Kind: swap.Signed}}
	}
	id := uuid.NewString()
	o, _, err := j.Create(swap.Order{ID: id, Consent: swap.Consent{Request: id, Digest: common.BytesToHash([]byte(id)), Terms: terms, Offer: testOffer(),
		Plan: swap.Plan{Spender: permit2, Steps: []swap.Step{{Kind: swap.CallStep, Effect: effects[0]}, last}}}, Progress: swap.Progress{State: swap.Accepted}}, common.Hash{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (j *Journal) must(t *testing.T, o *swap.Order, change func(*swap.Order)) {
	t.Helper()
	change(o)
	if err := j.Update(o, swap.NewCause("test")); err != nil {
		t.Fatal(err)
	}
}

func (j *Journal) uses(t *testing.T, o swap.Order) map[string]Use {
	t.Helper()
	list, err := j.Uses(allowanceKeyOf(o))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Use{}
	for _, u := range list {
		all[u.Order] = u
	}
	return all
}

// TestAllowanceLock checks that one order at a time holds an allowance, in the same commit as its
// record, until its pull is done or it has ended.
func TestAllowanceLock(t *testing.T) {
	j := newJournal(t)
	a, b := j.spends(t, swap.Swap, 10), j.spends(t, swap.Swap, 20)
	hold := func(o *swap.Order) { o.AllowanceLocked = true }
	j.must(t, &a, hold)
	j.must(t, &a, func(o *swap.Order) { o.Step, o.Results = 1, []swap.Result{{}} })
	revision := b.Revision
	b.AllowanceLocked = true
	if err := j.Update(&b, swap.NewCause("test")); !errors.Is(err, ErrAllowanceLocked) {
		t.Fatalf("held by two: %v", err)
	}
	if b, _ = j.Get(b.ID); b.AllowanceLocked || b.Revision != revision {
		t.Errorf("a hold that was refused left a trace: %+v", b)
	}
	if got := j.uses(t, a); len(got) != 2 || !got[a.ID].AllowanceLocked || got[b.ID].AllowanceLocked || got[b.ID].Amount.Int64() != 20 {
		t.Errorf("%+v", got)
	}
	j.must(t, &a, func(o *swap.Order) { o.State, o.Step, o.Results = swap.Executing, 2, []swap.Result{{}, {}} })
	if a.AllowanceLocked || len(j.uses(t, a)) != 1 {
		t.Error("held past the pull")
	}
	j.must(t, &b, hold)
	c := j.spends(t, swap.Swap, 30)
	j.must(t, &b, func(o *swap.Order) { o.State = swap.Cancelled })
	if b.AllowanceLocked {
		t.Error("held past the end")
	}
	j.must(t, &c, hold)

	other := j.spends(t, swap.Swap, 5) // another spender: no conflict
	j.must(t, &other, func(o *swap.Order) { o.Plan.Spender = router })
	j.must(t, &other, hold)
}

// TestStaleHolderIsTakenOver checks that an index entry that claims more than its order
// does not block others, and that one whose order cannot be read does.
func TestStaleHolderIsTakenOver(t *testing.T) {
	ended := soundOrder()
	ended.State = swap.Filled
	for name, c := range map[string]struct {
		order string
		held  bool
	}{
		"gone":       {"", false},
		"ended":      {strings.Replace(string(swap.MustJSON(ended)), `"id":"a"`, `"id":"%s"`, 1), false},
		"unreadable": {`{`, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			a, b := j.spends(t, swap.Swap, 10), j.spends(t, swap.Swap, 20)
			j.must(t, &a, func(o *swap.Order) { o.AllowanceLocked = true })
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
			if err := j.Update(&b, swap.NewCause("test")); errors.Is(err, ErrAllowanceLocked) != c.held || err != nil && !c.held {
				t.Error(err)
			}
		})
	}
}

// TestAllowanceLockRace checks that of many simultaneous requests for an allowance one succeeds.
func TestAllowanceLockRace(t *testing.T) {
	j := newJournal(t)
	var orders []swap.Order
	for range 16 {
		orders = append(orders, j.spends(t, swap.Swap, 1))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for _, o := range orders {
		wg.Go(func() {
			o.AllowanceLocked = true
			err := j.Update(&o, swap.NewCause("test"))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.Is(err, ErrAllowanceLocked):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d hold it", won)
	}
}

// TestGrantedLast checks that of two orders with one allowance the one that granted it
// last is named, even if the other changes afterwards.
func TestGrantedLast(t *testing.T) {
	j := newJournal(t)
	grants := func(o *swap.Order) { o.Results = append(o.Results, swap.Result{Tx: common.Hash{1}}) }
	a, b := j.spends(t, swap.Signed, 50), j.spends(t, swap.Signed, 100)
	j.must(t, &a, grants)
	j.must(t, &b, grants)
	j.must(t, &a, func(o *swap.Order) { o.Condition = swap.Cancelling })
	if all, err := j.Grants(account, 1); err != nil || all[swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}] != b.ID {
		t.Errorf("%v, %v; a is %s, b %s", all, err, a.ID, b.ID)
	}
}

// FuzzUse checks that no stored entry crashes decodeUse.
func FuzzUse(f *testing.F) {
	f.Add(`{"order":"a","amount":1,"allowanceLocked":true}`)
	f.Add(`{"order":"a","amount":-1}`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, stored string) {
		if u, err := decodeUse([]byte(stored)); err == nil && (u.Order == "" || u.Amount.Sign() < 0) {
			t.Errorf("%+v", u)
		}
	})
}
