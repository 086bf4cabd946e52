package swap

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// plant puts an entry into the journal's database, or with nil takes it away.
func (j *Journal) plant(t testing.TB, bucket, key, value []byte) {
	t.Helper()
	if err := j.db.Update(func(tx *bolt.Tx) error {
		if value == nil {
			return tx.Bucket(bucket).Delete(key)
		}
		return tx.Bucket(bucket).Put(key, value)
	}); err != nil {
		t.Fatal(err)
	}
}

// reopened is the journal as the next start opens it.
func (j *Journal) reopened(t testing.TB) *Journal {
	t.Helper()
	next, err := OpenJournal(j.db)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestDamagedGrant: a key of the index of grants that cannot be read is not taken for
// nothing granted. The next start reads of the orders what it said, and leaves what is
// sound as it was.
func TestDamagedGrant(t *testing.T) {
	whole := grantKey(account, 1, grant{usdc, permit2, ByToken})
	for name, bad := range map[string][]byte{
		"only account and chain": whole[:28], "no spender": whole[:48], "half a spender": whole[:60], "no kind": whole[:68],
		"another kind": append(whole[:68:68], "erc2"...), "half an account": whole[:7],
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			grants := func(o *Order) { o.Results = append(o.Results, Result{Tx: common.Hash{1}}) }
			old, lost, ended := j.spends(t, Signed, 10), j.spends(t, Signed, 20), j.spends(t, Swap, 30)
			for _, o := range []*Order{&old, &lost, &ended} {
				j.must(t, o, grants)
			}
			sound := grantKey(account, 1, grant{weth, router, ByPermit2})
			j.plant(t, grantBucket, whole, nil)
			j.plant(t, grantBucket, bad, []byte(lost.ID))
			j.plant(t, grantBucket, sound, []byte(old.ID))
			j.plant(t, orderBucket, []byte(ended.ID), []byte("{")) // which keeps no other from being read
			if all, err := j.grants(account, 1); len(bad) >= 28 && !errors.Is(err, ErrIndex) {
				t.Errorf("read as %v, %v", all, err)
			}
			all, err := j.reopened(t).grants(account, 1)
			if got := all[grant{usdc, permit2, ByToken}]; err != nil || len(all) != 2 || got != old.ID && got != lost.ID || all[grant{weth, router, ByPermit2}] != old.ID {
				t.Errorf("after the next start: %v, %v", all, err)
			}
		})
	}
}

// TestDamagedUse: a line that cannot be read frees nothing of an allowance, and the next
// start reads of its order what it said; of an order that cannot be read either it keeps
// others from the allowance, and nobody from a list.
func TestDamagedUse(t *testing.T) {
	j := newJournal(t)
	a, b := j.spends(t, Swap, 10), j.spends(t, Swap, 20)
	j.must(t, &a, func(o *Order) { o.Holds = true })
	line := append(a.allowanceKey().bytes(), a.ID...)
	j.plant(t, useBucket, line, []byte("{"))
	hold := func() error { o := b; o.Holds = true; return j.Update(&o, because("test")) }
	if _, err := j.Uses(a.allowanceKey()); !errors.Is(err, ErrIndex) {
		t.Errorf("read: %v", err)
	}
	if err := hold(); !errors.Is(err, ErrIndex) || errors.Is(err, &Refusal{Code: JournalFailed}) {
		t.Errorf("held beside it: %v", err)
	}
	if got := j.reopened(t).uses(t, a); len(got) != 2 || !got[a.ID].Holds || got[a.ID].Amount.Int64() != 10 {
		t.Errorf("after the next start: %+v", got)
	}
	j.plant(t, useBucket, line, mustJSON(Use{Order: b.ID, Amount: big.NewInt(10)})) // of another order, it says
	if got := j.reopened(t).uses(t, a); len(got) != 2 || !got[a.ID].Holds {
		t.Errorf("after a letter changed: %+v", got)
	}
	j.plant(t, useBucket, line, []byte("{"))
	j.plant(t, orderBucket, []byte(a.ID), []byte("{"))
	j.reopened(t)
	if err := hold(); !errors.Is(err, errHeld) {
		t.Errorf("held beside an order that cannot be read: %v", err)
	}
	if n, err := j.needs(account, 1, grant{usdc, permit2, ByToken}, noon); err != nil || n.share.Int64() != 20 {
		t.Errorf("%+v, %v", n, err)
	}
	j.plant(t, useBucket, []byte("short"), []byte("{")) // of no order
	if err := j.reopened(t).db.View(func(tx *bolt.Tx) error {
		if got := tx.Bucket(useBucket).Get([]byte("short")); got != nil {
			t.Errorf("%q stays", got)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
