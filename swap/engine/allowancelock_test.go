package engine

import (
	"errors"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

func newJournal(t *testing.T) *journal.Journal {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	j, err := journal.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// spends journals an order with an ERC-20 input whose last step is of kind k.
func spends(j *journal.Journal, t *testing.T, k swap.EffectKind, amount int64) swap.Order {
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

func must(j *journal.Journal, t *testing.T, o *swap.Order, change func(*swap.Order)) {
	t.Helper()
	change(o)
	if err := j.Update(o, swap.NewCause("test")); err != nil {
		t.Fatal(err)
	}
}

func uses(j *journal.Journal, t *testing.T, o swap.Order) map[string]journal.Use {
	t.Helper()
	list, err := j.Uses(allowanceKeyOf(o))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]journal.Use{}
	for _, u := range list {
		all[u.Order] = u
	}
	return all
}

// TestShares checks that a signed order reserves its amount of allowance and balance
// until it ends, and an unsigned one reserves nothing.
func TestShares(t *testing.T) {
	j := newJournal(t)
	a, b := spends(j, t, swap.Signed, 10), spends(j, t, swap.Signed, 20)
	promised := func() int64 {
		t.Helper()
		n, err := j.Promised(1, account, usdc, a.Terms.Deadline)
		if err != nil {
			t.Fatal(err)
		}
		return n.Int64()
	}
	must(j, t, &a, func(o *swap.Order) { o.AllowanceLocked = true })
	if promised() != 0 {
		t.Error("promised before it is signed")
	}
	sign := func(o *swap.Order) {
		o.State, o.Step, o.Results = swap.Executing, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}
	}
	must(j, t, &a, sign)
	if got := uses(j, t, a)[a.ID]; !got.Signed || got.AllowanceLocked || a.AllowanceLocked || promised() != 10 {
		t.Errorf("%+v, promised %d", got, promised())
	}
	must(j, t, &b, func(o *swap.Order) { o.AllowanceLocked = true })
	must(j, t, &b, sign)
	other := spends(j, t, swap.Signed, 5)
	must(j, t, &other, func(o *swap.Order) { o.Plan.Spender = router })
	must(j, t, &other, sign)
	if promised() != 35 {
		t.Errorf("promised %d of the balance, whoever pulls it", promised())
	}
	must(j, t, &a, func(o *swap.Order) { o.State = swap.Settling })
	must(j, t, &a, func(o *swap.Order) { o.State = swap.Filled })
	if _, ok := uses(j, t, b)[a.ID]; ok || promised() != 25 {
		t.Errorf("promised %d after the end", promised())
	}
	if n, err := j.Promised(1, thief, usdc, a.Terms.Deadline); err != nil || n.Sign() != 0 {
		t.Errorf("promised %s by another account, %v", n, err)
	}
	after := b.PullableUntil().Add(pullSlack)
	for now, want := range map[time.Time]int64{after: 25, after.Add(time.Nanosecond): 0} {
		if n, err := j.Promised(1, account, usdc, now); err != nil || n.Int64() != want {
			t.Errorf("promised %s at %s, which is %s after the last moment: %v", n, now, now.Sub(after), err)
		}
	}
}

// TestLapsed checks that the allowance of an order that can no longer be filled, and that
// nothing ends, counts as left behind and may be revoked. A transaction of the order's
// own that was sent may still use it for CancelTime.
func TestLapsed(t *testing.T) {
	j := newJournal(t)
	o := spends(j, t, swap.Signed, 10)
	must(j, t, &o, func(o *swap.Order) {
		o.State, o.Step, o.Results, o.Submission = swap.Settling, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}, &swap.Submission{}
	})
	g := swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}
	before, after := o.PullableUntil().Add(pullSlack), o.PullableUntil().Add(pullSlack+time.Second)
	if n, err := needs(j, account, 1, g, before); err != nil || n.share.Int64() != 10 || lapsed(o, before) {
		t.Errorf("needs %s, %v", n.share, err)
	}
	refusedWith(t, checkNotNeeded(j, account, 1, g, "", before), swap.AllowanceInUse)
	if n, err := needs(j, account, 1, g, after); err != nil || n.share.Sign() != 0 || !lapsed(o, after) {
		t.Errorf("needs %s, %v, after it", n.share, err)
	}
	if err := checkNotNeeded(j, account, 1, g, "", after); err != nil {
		t.Error(err)
	}
	unsigned := o
	unsigned.Results = nil
	if u, ok := needOf(unsigned); ok {
		t.Errorf("without a signature it uses %+v", u)
	}
	own := spends(j, t, swap.Swap, 10)
	if own.MayPull(after) {
		t.Error("a call that was never signed")
	}
	if own.CurrentTx = (common.Hash{1}); !own.MayPull(after) || lapsed(own, after) || own.MayPull(after.Add(swap.CancelTime)) {
		t.Error("a call on its way counts for nothing, or for ever")
	}
}

// TestUnreadableOrderBlocksNoRevoke checks that an order that cannot be read neither hides an
// allowance nor blocks its revoke.
func TestUnreadableOrderBlocksNoRevoke(t *testing.T) {
	j := newJournal(t)
	a, b := spends(j, t, swap.Swap, 10), spends(j, t, swap.Swap, 20)
	if err := j.DB().Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte(a.ID), []byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	if n, err := needs(j, account, 1, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}, time.Now()); err != nil || n.share.Int64() != 20 || n.order != b.ID {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestSharesAreApproved checks that a new approval covers the plan's amount and those of
// signed open orders, and that the consent covers only the plan's own part.
func TestSharesAreApproved(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	shared := func(amount int64) swap.Order {
		j := b.service.o.Journal
		o := spends(j, t, swap.Signed, amount)
		must(j, t, &o, func(o *swap.Order) {
			o.Terms.Account, o.Terms.Deadline = b.from, b.now().Add(time.Hour)
			*o = b.signer.sealed(*o)
		})
		must(j, t, &o, func(o *swap.Order) {
			o.State, o.Step, o.Results = swap.Executing, 2, []swap.Result{{}, {Signature: make([]byte, 65)}}
		})
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
	if _, err := b.review(usdc, 4800e6); !errors.Is(err, &swap.Refusal{Code: swap.InsufficientFunds}) {
		t.Errorf("a share counts as spent: %v", err)
	}
	// The others' amount changes between review and execution; the digest does not.
	more := shared(50e6)
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	o := b.execute(r)
	o = b.waitUntil(o.ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
	b.wantPermit2Allowance(usdc, 1350e6)
	tr.set(func(tr *trader) { tr.lateErr = nil })
	o = b.waitState(o.ID, swap.Filled)
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
