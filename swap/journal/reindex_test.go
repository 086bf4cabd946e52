package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// putEntry stores an entry in the journal's database, or deletes it if value is nil.
func (j *Journal) putEntry(t testing.TB, bucket, key, value []byte) {
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
func (j *Journal) reopened(t testing.TB) *Journal {
	t.Helper()
	next, err := Open(j.DB())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestDamagedGrant checks that an unreadable key in the index of grants is an error and
// not taken for "nothing granted". The next start restores it from the orders and keeps
// the valid entries.
func TestDamagedGrant(t *testing.T) {
	whole := grantKey(account, 1, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken})
	for name, bad := range map[string][]byte{
		"only account and chain": whole[:28], "no spender": whole[:48], "half a spender": whole[:60], "no kind": whole[:68],
		"another kind": append(whole[:68:68], "erc2"...), "half an account": whole[:7],
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			grants := func(o *swap.Order) { o.Results = append(o.Results, swap.Result{Tx: common.Hash{1}}) }
			old, lost, ended := j.spends(t, swap.Signed, 10), j.spends(t, swap.Signed, 20), j.spends(t, swap.Swap, 30)
			for _, o := range []*swap.Order{&old, &lost, &ended} {
				j.must(t, o, grants)
			}
			j.must(t, &old, func(o *swap.Order) {
				o.Plan.Steps[1].Effect = swap.Effect{Kind: swap.Permit, Target: swap.Permit2Contract, Approves: []swap.Approval{{Token: weth, Spender: router, Amount: big.NewInt(1)}}}
			})
			sound := grantKey(account, 1, swap.Grant{Token: weth, Spender: router, Kind: swap.ByPermit2}) // of a step that was rebuilt since
			j.putEntry(t, grantBucket, whole, nil)
			j.putEntry(t, grantBucket, bad, []byte(lost.ID))
			j.putEntry(t, grantBucket, sound, []byte(old.ID))
			j.putEntry(t, orderBucket, []byte(ended.ID), []byte("{")) // does not block reading the others
			if all, err := j.Grants(account, 1); len(bad) >= 28 && !errors.Is(err, ErrIndex) {
				t.Errorf("read as %v, %v", all, err)
			}
			all, err := j.reopened(t).Grants(account, 1)
			if got := all[swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}]; err != nil || len(all) != 2 || got != old.ID && got != lost.ID || all[swap.Grant{Token: weth, Spender: router, Kind: swap.ByPermit2}] != old.ID {
				t.Errorf("after the next start: %v, %v", all, err)
			}
		})
	}
}

// TestGrantWithAnotherLetter checks that after any byte of a grant entry changed, the
// next start restores it from its order, so that the same grants are known. It keeps
// valid entries apart and forgets none that its order no longer names.
func TestGrantWithAnotherLetter(t *testing.T) {
	j, g := newJournal(t), swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}
	key := grantKey(account, 1, g)
	a, b := j.spends(t, swap.Signed, 10), j.spends(t, swap.Signed, 20)
	for _, o := range []*swap.Order{&a, &b} {
		j.must(t, o, func(o *swap.Order) { o.Results = append(o.Results, swap.Result{Tx: common.Hash{1}}) })
	}
	wants := func(what, id string) {
		t.Helper()
		n := 0
		j = j.reopened(t)
		_ = j.DB().View(func(tx *bolt.Tx) error { n = tx.Bucket(grantBucket).Stats().KeyN; return nil })
		if all, err := j.Grants(account, 1); err != nil || n > 2 || all[g] != id {
			t.Errorf("%s: %d entries, %v, %v; want %s", what, n, all, err, id)
		}
	}
	older, newer := min(a.ID, b.ID), max(a.ID, b.ID)
	for i := range key {
		bad := bytes.Clone(key)
		bad[i] ^= 1
		j.putEntry(t, grantBucket, key, nil)
		j.putEntry(t, grantBucket, bad, []byte(older))
		wants(fmt.Sprintf("byte %d of the key", i), older)
		j.putEntry(t, grantBucket, bad, nil)
	}
	replaced := grantKey(account, 1, swap.Grant{Token: weth, Spender: router, Kind: swap.ByToken})
	j.putEntry(t, grantBucket, replaced, []byte(older))
	wants("one more", older)
	if all, err := j.Grants(account, 1); all[swap.Grant{Token: weth, Spender: router, Kind: swap.ByToken}] != older {
		t.Errorf("of a step that was replaced: %v, %v", all, err)
	}
	j.putEntry(t, grantBucket, replaced, nil)
	j.putEntry(t, grantBucket, key, []byte(older))
	wants("sound", older)
	j.putEntry(t, grantBucket, key, []byte("x"+older[1:]))
	wants("a letter of the order", newer)
	for _, id := range []string{older, newer} {
		j.putEntry(t, orderBucket, []byte(id), []byte("{"))
	}
	wants("of an order that cannot be read", newer)
	j.putEntry(t, grantBucket, key, []byte("x"+older[1:]))
	wants("and a letter of it", "x"+older[1:])
}

// TestOpenWithAnotherLetter checks that after any damage to the index of open orders, the
// next start finds every order that has not ended, and no other.
func TestOpenWithAnotherLetter(t *testing.T) {
	letter := func(to string) func(*testing.T, *Journal, string, string) {
		return func(t *testing.T, j *Journal, open, _ string) {
			j.putEntry(t, openBucket, []byte(open), nil)
			j.putEntry(t, openBucket, []byte(to+open[1:]), []byte{1})
		}
	}
	for name, damage := range map[string]func(t *testing.T, j *Journal, open, ended string){
		"another id":   letter("x"),
		"no id":        letter("\x71\x00"),
		"missing":      func(t *testing.T, j *Journal, open, _ string) { j.putEntry(t, openBucket, []byte(open), nil) },
		"one too many": func(t *testing.T, j *Journal, _, ended string) { j.putEntry(t, openBucket, []byte(ended), []byte{1}) },
		"with its record": func(t *testing.T, j *Journal, open, _ string) {
			letter("x")(t, j, open, "")
			j.putEntry(t, orderBucket, []byte(open), []byte("{"))
		},
		"record of another": func(t *testing.T, j *Journal, open, ended string) {
			letter("x")(t, j, open, "")
			j.putEntry(t, orderBucket, []byte(ended), []byte("{"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			open, ended := j.spends(t, swap.Swap, 10), j.spends(t, swap.Swap, 20)
			j.must(t, &ended, func(o *swap.Order) { o.State = swap.Cancelled })
			damage(t, j, open.ID, ended.ID)
			j = j.reopened(t)
			if ids, err := j.Open(); err != nil || len(ids) != 1 || ids[0] != open.ID {
				t.Errorf("open are %q, %v; want %s and not %s", ids, err, open.ID, ended.ID)
			}
			if list, _, err := j.List(common.Address{}, true, "", 10); err != nil || len(list) != 1 || list[0].ID != open.ID {
				t.Errorf("listed are %+v, %v", list, err)
			}
			if n := len(j.uses(t, open)); n > 1 || n != 1 && name != "with its record" {
				t.Errorf("%d use the allowance", n)
			}
		})
	}
}

// TestOpenOfANewerVersion checks that an open order in a newer version's state stays.
func TestOpenOfANewerVersion(t *testing.T) {
	j := newJournal(t)
	o := j.spends(t, swap.Swap, 10)
	o.State = "resting"
	j.putEntry(t, orderBucket, []byte(o.ID), swap.MustJSON(o))
	if ids, err := j.reopened(t).Open(); err != nil || len(ids) != 1 {
		t.Errorf("open are %q, %v", ids, err)
	}
	j.putEntry(t, openBucket, []byte(o.ID), nil) // the newer version decides
	if ids, err := j.reopened(t).Open(); err != nil || len(ids) != 0 {
		t.Errorf("open are %q, %v", ids, err)
	}
}

// TestOpenEntryOfAnUnreadableOrder checks that an order whose record cannot be read stays in
// the index of open orders, even if its history says that it has ended.
func TestOpenEntryOfAnUnreadableOrder(t *testing.T) {
	j := newJournal(t)
	o := j.spends(t, swap.Swap, 10)
	j.must(t, &o, func(o *swap.Order) { o.State = swap.Cancelled })
	j.putEntry(t, orderBucket, []byte(o.ID), []byte("{"))
	if ids, err := j.reopened(t).Open(); err != nil || len(ids) != 0 {
		t.Errorf("open are %q, %v", ids, err)
	}
	j.putEntry(t, openBucket, []byte(o.ID), []byte{1})
	if ids, err := j.reopened(t).Open(); err != nil || len(ids) != 1 {
		t.Errorf("open are %q, %v", ids, err)
	}
}

// TestSaysEnded checks that recordEnded reads an order's end from the raw record, even if
// the record contains other text that looks like one.
func TestSaysEnded(t *testing.T) {
	o := soundOrder()
	o.Claim, o.Verdict, o.Reason, o.Revision = &swap.Claim{State: swap.Filled}, &swap.Verdict{State: swap.Filled}, `"revision":1,"state":"filled"`, math.MaxUint64
	o.Offer.Route = o.Reason
	for s, ended := range map[swap.State]bool{swap.Accepted: false, swap.Approving: false, swap.Executing: false, swap.Submitting: false, swap.Settling: false,
		swap.Filled: true, swap.Refunded: true, swap.Failed: true, swap.Expired: true, swap.Cancelled: true, "resting": false} {
		o.State = s
		if recordEnded(swap.MustJSON(o)) != ended {
			t.Errorf("%s is read otherwise", s)
		}
	}
	o.State, o.Offer.Raw = swap.Settling, []byte(`{"revision":1,"state":"filled"}`)
	if recordEnded(swap.MustJSON(o)) {
		t.Error("its provider says that it has ended")
	}
	for _, record := range []string{"", "{", `{"revision":`, `{"revision":1,"state":"`, `{"revision":1,"state":"filled`, `{"state":"filled"}`} {
		if recordEnded([]byte(record)) {
			t.Errorf("%q has ended", record)
		}
	}
}

// damagedLines change one byte of an allowance entry of an order that holds it.
var damagedLines = map[string]func(k, v []byte){
	"account":   func(k, _ []byte) { k[8] ^= 1 },
	"token":     func(k, _ []byte) { k[8+common.AddressLength] ^= 1 },
	"spender":   func(k, _ []byte) { k[balanceKeyLen] ^= 1 },
	"id":        func(k, _ []byte) { k[allowanceKeyLen] = 'x' },
	"it holds":  func(_, v []byte) { copy(v[bytes.Index(v, []byte("allowanceLocked")):], "x") },
	"who holds": func(_, v []byte) { copy(v[bytes.Index(v, []byte(`order":"`)):], `order":"x`) },
}

// TestLineWithAnotherLetter checks that after such a change and a restart only that order
// holds its allowance, and that the damaged entry counts nowhere else.
func TestLineWithAnotherLetter(t *testing.T) {
	for name, damage := range damagedLines {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			a, b := j.spends(t, swap.Swap, 10), j.spends(t, swap.Swap, 20)
			j.must(t, &a, func(o *swap.Order) { o.AllowanceLocked = true })
			u, _ := needOf(a)
			key, k, v := append(allowanceKeyOf(a).Bytes(), a.ID...), append(allowanceKeyOf(a).Bytes(), a.ID...), swap.MustJSON(u)
			damage(k, v)
			j.putEntry(t, useBucket, key, nil)
			j.putEntry(t, useBucket, k, v)
			hold := func() error { o := b; o.AllowanceLocked = true; return j.Update(&o, swap.NewCause("test")) }
			if err := hold(); name == "it holds" && !errors.Is(err, ErrAllowanceLocked) {
				t.Fatalf("held beside it before the next start: %v", err)
			} else if err == nil { // a restart cannot undo this: both records say so
				b, _ = j.Get(b.ID)
				b.AllowanceLocked = false
				j.must(t, &b, func(*swap.Order) {})
			}
			j = j.reopened(t)
			if got := j.uses(t, a); len(got) != 2 || !got[a.ID].AllowanceLocked || got[a.ID].Amount.Int64() != 10 || got[b.ID].AllowanceLocked {
				t.Errorf("after the next start: %+v", got)
			}
			_ = j.DB().View(func(tx *bolt.Tx) error {
				if n := tx.Bucket(useBucket).Stats().KeyN; n != 2 {
					t.Errorf("%d lines", n)
				}
				return nil
			})
			if err := hold(); !errors.Is(err, ErrAllowanceLocked) {
				t.Errorf("held beside it: %v", err)
			}
			j.must(t, &a, func(o *swap.Order) { o.Step, o.Results = 1, []swap.Result{{}} })
			j.must(t, &a, func(o *swap.Order) { o.State = swap.Cancelled })
			if err := hold(); err != nil {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

// TestTwoHolders covers two orders that both hold an allowance after damage to the file:
// the older continues first, then the other, and a third gets it after both.
func TestTwoHolders(t *testing.T) {
	j := newJournal(t)
	a, b, c := j.spends(t, swap.Swap, 10), j.spends(t, swap.Swap, 20), j.spends(t, swap.Swap, 30)
	if a.ID > b.ID {
		a, b = b, a
	}
	for _, o := range []*swap.Order{&a, &b} {
		o.AllowanceLocked = true
		j.putEntry(t, orderBucket, []byte(o.ID), swap.MustJSON(o))
	}
	line := append(allowanceKeyOf(a).Bytes(), a.ID...)
	for when, damage := range map[string]func(){"as it is": func() {}, "after the next start": func() { j.putEntry(t, useBucket, line, []byte("{")); j = j.reopened(t) }} {
		third, newer := c, b
		third.AllowanceLocked, newer.Condition = true, swap.WaitingForUnlock
		for _, o := range []*swap.Order{&third, &newer} {
			if damage(); !errors.Is(j.Update(o, swap.NewCause("test")), ErrAllowanceLocked) {
				t.Errorf("%s, %s goes on", when, o.ID)
			}
		}
		j.must(t, &a, func(o *swap.Order) { o.Condition = swap.Condition(when) })
	}
	j.must(t, &a, func(o *swap.Order) { o.Cancel = true })
	j.must(t, &a, func(o *swap.Order) { o.State = swap.Cancelled })
	j.must(t, &b, func(o *swap.Order) { o.State, o.Step, o.Results = swap.Executing, 2, []swap.Result{{}, {}} })
	c.AllowanceLocked = true
	j.must(t, &c, func(*swap.Order) {})
}
