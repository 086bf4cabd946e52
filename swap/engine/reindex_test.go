package engine

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// putEntry stores an entry in the journal's database, or deletes it if value is nil.
func putEntry(j *journal.Journal, t testing.TB, bucket, key, value []byte) {
	t.Helper()
	if err := j.DB().Update(func(tx *bolt.Tx) error {
		if value == nil {
			return tx.Bucket(bucket).Delete(key)
		}
		return tx.Bucket(bucket).Put(key, value)
	}); err != nil {
		t.Fatal(err)
	}
}

// reopened returns the journal as the next start opens it.
func reopened(j *journal.Journal, t testing.TB) *journal.Journal {
	t.Helper()
	next, err := journal.Open(j.DB())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestLineUnderAForeignKey checks that even before the next start an entry counts only
// for its own order, as a need, a hold or a reserved amount.
func TestLineUnderAForeignKey(t *testing.T) {
	j := newJournal(t)
	a, b, c := spends(j, t, swap.Signed, 10), spends(j, t, swap.Swap, 20), spends(j, t, swap.Swap, 40)
	move := func(o *swap.Order) { o.Terms.Account = thief }
	must(j, t, &b, move)
	must(j, t, &c, func(o *swap.Order) { o.Plan.Spender = router })
	must(j, t, &a, func(o *swap.Order) { o.AllowanceLocked = true })
	plant := func() {
		u, _ := needOf(a)
		for _, o := range []swap.Order{b, c} {
			putEntry(j, t, useBucket, append(allowanceKeyOf(o).Bytes(), a.ID...), swap.MustJSON(u))
		}
	}
	wants := func(when string, promised int64) {
		t.Helper()
		for _, o := range []swap.Order{b, c} {
			n, err := needs(j, o.Terms.Account, 1, swap.Grant{Token: usdc, Spender: o.Plan.Spender, Kind: swap.ByToken}, noon)
			if err != nil || n.share.Cmp(o.Terms.AmountIn) != 0 {
				t.Errorf("%s, of %s by %s is needed %s, %v", when, o.Terms.Account, o.Plan.Spender, n.share, err)
			}
		}
		for who, want := range map[common.Address]int64{account: promised, thief: 0} {
			if n, err := j.Promised(1, who, usdc, noon); err != nil || n.Int64() != want {
				t.Errorf("%s, %s promised %s, %v", when, who, n, err)
			}
		}
	}
	plant()
	wants("while it holds", 0)
	must(j, t, &b, func(o *swap.Order) { o.AllowanceLocked = true })
	must(j, t, &c, func(o *swap.Order) { o.AllowanceLocked = true })
	must(j, t, &a, func(o *swap.Order) {
		o.State, o.Step, o.Results = swap.Settling, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}
	})
	plant()
	wants("signed", 10)
	signed := swap.MustJSON(journal.Use{Order: a.ID, Amount: big.NewInt(10), Signed: true})
	must(j, t, &a, func(o *swap.Order) { o.State = swap.Filled })
	putEntry(j, t, useBucket, append(allowanceKeyOf(a).Bytes(), a.ID...), signed)
	wants("ended", 0)
	if err := checkNotNeeded(j, account, 1, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}, "", noon); err != nil {
		t.Errorf("an order that has ended needs it: %v", err)
	}
}

// TestDamagedUse checks that an unreadable allowance entry releases nothing, and that the
// next start restores it from its order. If that cannot be read either, the entry blocks
// other orders from the allowance but no listing.
func TestDamagedUse(t *testing.T) {
	j := newJournal(t)
	a, b := spends(j, t, swap.Swap, 10), spends(j, t, swap.Swap, 20)
	must(j, t, &a, func(o *swap.Order) { o.AllowanceLocked = true })
	line := append(allowanceKeyOf(a).Bytes(), a.ID...)
	putEntry(j, t, useBucket, line, []byte("{"))
	hold := func() error { o := b; o.AllowanceLocked = true; return j.Update(&o, swap.NewCause("test")) }
	if _, err := j.Uses(allowanceKeyOf(a)); !errors.Is(err, journal.ErrIndex) {
		t.Errorf("read: %v", err)
	}
	if err := hold(); !errors.Is(err, journal.ErrIndex) || errors.Is(err, &swap.Refusal{Code: swap.JournalFailed}) {
		t.Errorf("held beside it: %v", err)
	}
	if got := uses(reopened(j, t), t, a); len(got) != 2 || !got[a.ID].AllowanceLocked || got[a.ID].Amount.Int64() != 10 {
		t.Errorf("after the next start: %+v", got)
	}
	putEntry(j, t, useBucket, line, swap.MustJSON(journal.Use{Order: b.ID, Amount: big.NewInt(10)})) // names another order
	if got := uses(reopened(j, t), t, a); len(got) != 2 || !got[a.ID].AllowanceLocked {
		t.Errorf("after a letter changed: %+v", got)
	}
	putEntry(j, t, useBucket, line, []byte("{"))
	putEntry(j, t, orderBucket, []byte(a.ID), []byte("{"))
	reopened(j, t)
	if err := hold(); !errors.Is(err, journal.ErrAllowanceLocked) {
		t.Errorf("held beside an order that cannot be read: %v", err)
	}
	if n, err := needs(j, account, 1, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}, noon); err != nil || n.share.Int64() != 20 {
		t.Errorf("%+v, %v", n, err)
	}
	putEntry(j, t, useBucket, line, bytes.Replace(swap.MustJSON(journal.Use{Order: a.ID, Amount: big.NewInt(10), AllowanceLocked: true}), []byte("allowanceLocked"), []byte("allowanceLocket"), 1))
	reopened(j, t)
	if err := hold(); !errors.Is(err, journal.ErrAllowanceLocked) {
		t.Errorf("held beside one whose line has another letter, too: %v", err)
	}
	putEntry(j, t, useBucket, []byte("short"), []byte("{")) // of no order
	if err := reopened(j, t).DB().View(func(tx *bolt.Tx) error {
		if got := tx.Bucket(useBucket).Get([]byte("short")); got != nil {
			t.Errorf("%q stays", got)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
