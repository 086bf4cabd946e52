package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/test/await"
)

// foreign queues a transaction that another wallet with the same key made.
func foreign(t *testing.T, c *testChain, key *testKey, nonce uint64) {
	t.Helper()
	fees := Fees{GasFeeCap: big.NewInt(5e9), GasTipCap: big.NewInt(1e9)}
	tx, err := key.SignTx(t.Context(), key.addr, unsigned(pay(base, key.addr, "0xff", 5), nonce, 21000, fees), big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Client().SendTransaction(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// gapBehind sets up an account whose call has nonce 1, while the transaction of another
// wallet with nonce 0 was dropped.
func gapBehind(t *testing.T, capped bool) (c *testChain, key *testKey, s *Sender, now *fakeClock) {
	t.Helper()
	c, key, s, now = newSending(t, "gapbehind")
	foreign(t, c, key, 0)
	call, p := pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(time.Hour)}
	if capped { // enough for the call, not for two transactions
		cost, err := s.nodes.CostAt(t.Context(), call, Normal)
		if err != nil {
			t.Fatal(err)
		}
		p.Ceiling = eighths(cost.Max, 12)
	}
	tx, err := s.Submit(t.Context(), "b", call, p)
	if err != nil || tx.Nonce != 1 {
		t.Fatalf("b = %+v, %v", tx, err)
	}
	c.Rollback()
	return c, key, s, now
}

// TestGapIsFilled checks that a transaction behind an unused nonce gets through: after a
// while an empty transaction fills the gap.
func TestGapIsFilled(t *testing.T) {
	c, key, s, now := gapBehind(t, false)
	c.Commit()
	if tx, _ := poll(t, s, "b"); tx.State != TxSent || tx.Depth != 0 || key.count() != 2 {
		t.Fatalf("b is %s at depth %d, %d signatures", tx.State, tx.Depth, key.count())
	}
	now.advance(gapPatience)
	poll(t, s, "b")
	if key.count() != 2 {
		t.Error("the first look was believed")
	}
	now.advance(gapPatience)
	key.fail = errors.New("locked")
	if tx, _ := poll(t, s, "b"); !strings.Contains(tx.Reason, "nonce 0") || !strings.Contains(tx.Reason, "locked") {
		t.Errorf("locked: %q", tx.Reason)
	}
	key.fail = nil
	poll(t, s, "b") // too soon for another check
	if key.count() != 2 {
		t.Error("the gap was checked again at once")
	}
	now.advance(gapEvery)
	poll(t, s, "b")
	if key.count() != 3 {
		t.Fatalf("%d signatures, want one for the gap", key.count())
	}
	now.advance(gapEvery)
	poll(t, s, "b")
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "b"); tx.State != TxMined || key.count() != 3 {
		t.Errorf("b is %s, %d signatures", tx.State, key.count())
	}
	filler, err := s.ledger.holder(base, key.addr, 0)
	if err != nil || filler == nil || filler.State != TxCancelled || filler.Call.Value.Sign() != 0 || filler.Call.To != key.addr {
		t.Errorf("the filler: %+v, %v", filler, err)
	}
}

// TestGapIsTakenByTheNextCall checks that the next call takes the unused nonce, at no
// extra cost.
func TestGapIsTakenByTheNextCall(t *testing.T) {
	c, key, s, now := gapBehind(t, false)
	if tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), Policy{Until: now.Add(time.Hour)}); err != nil || tx.Nonce != 0 {
		t.Fatalf("a = %+v, %v", tx, err)
	}
	poll(t, s, "b")
	c.ends(t, s, map[string]TxState{"a": TxMined, "b": TxMined})
}

// TestGapIsNotFilledAboveTheCeiling checks that a gap is not filled above the ceiling,
// when the nodes refuse it each time, or for a transaction past its deadline.
func TestGapIsNotFilledAboveTheCeiling(t *testing.T) {
	_, key, s, now := gapBehind(t, true)
	now.advance(gapPatience)
	poll(t, s, "b")
	now.advance(gapPatience)
	if tx, _ := poll(t, s, "b"); !strings.Contains(tx.Reason, ErrCeiling.Error()) || key.count() != 2 {
		t.Errorf("%q, %d signatures", tx.Reason, key.count())
	}

	c, key, s, now := gapBehind(t, false)
	sayOnSend(c, poor, false)
	for range 2 * gapTries {
		now.advance(gapPatience)
		poll(t, s, "b")
	}
	if key.count() != 2+gapTries {
		t.Errorf("%d signatures", key.count())
	}
	now.advance(time.Hour)
	if tx, _ := poll(t, s, "b"); tx.State != TxSent || key.count() != 2+gapTries {
		t.Errorf("late: %s, %d signatures", tx.State, key.count())
	}
}

// look polls key several times, gapPatience apart.
func look(t *testing.T, s *Sender, now *fakeClock, key string, times int) (tx Tx) {
	t.Helper()
	for range times {
		now.advance(gapPatience)
		tx, _ = poll(t, s, key)
	}
	return tx
}

// TestGapsShareTheCeiling checks that all fillers, the call itself and its speed-up
// together cost no more than the call's ceiling.
func TestGapsShareTheCeiling(t *testing.T) {
	for name, back := range map[string]time.Duration{"a clock that goes on": 0, "a clock that was set back": time.Hour} {
		t.Run(name, func(t *testing.T) { gapsShareTheCeiling(t, back) })
	}
}

func gapsShareTheCeiling(t *testing.T, back time.Duration) {
	const gaps = 12
	c, key, s, now := newSending(t, "share"+back.String())
	for nonce := range uint64(gaps) {
		foreign(t, c, key, nonce)
	}
	call, p := pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(time.Hour)}
	cost, err := s.nodes.CostAt(t.Context(), call, Normal)
	if err != nil {
		t.Fatal(err)
	}
	p.Ceiling = new(big.Int).Mul(cost.Max, big.NewInt(4))
	if _, err := s.Submit(t.Context(), "b", call, p); err != nil {
		t.Fatal(err)
	}
	c.Rollback()
	now.advance(-back)
	look(t, s, now, "b", 2)
	for range maxBumps {
		if _, err = s.Bump(t.Context(), "b", p); err != nil {
			break
		}
		now.advance(bumpRest)
	}
	if !errors.Is(err, ErrCeiling) {
		t.Errorf("speed-ups beside the fillers: %v", err)
	}
	if tx := look(t, s, now, "b", 8); !strings.Contains(tx.Reason, ErrCeiling.Error()) {
		t.Errorf("b: %q", tx.Reason)
	}
	committed, fillers := new(big.Int), 0
	for nonce := range uint64(gaps + 1) {
		tx, err := s.ledger.holder(base, key.addr, nonce)
		if err != nil {
			t.Fatal(err)
		}
		if tx == nil {
			continue
		}
		maxCost, err := s.maxCost(t.Context(), tx)
		if err != nil {
			t.Fatal(err)
		}
		committed.Add(committed, maxCost)
		if tx.filler() {
			fillers++
		}
	}
	if committed.Cmp(p.Ceiling) > 0 || fillers == 0 {
		t.Errorf("%d fillers: %s of %s wei", fillers, committed, p.Ceiling)
	}
}

// TestFillersStayUnderTheNetworksCeiling checks that the ceiling in a record is no
// consent: all fillers together cost no more than the network's ceiling, or than the
// account signed for the transaction.
func TestFillersStayUnderTheNetworksCeiling(t *testing.T) {
	for name, ceiling := range map[string]*big.Int{"none": nil, "any": big.NewInt(1e18)} {
		t.Run(name, func(t *testing.T) {
			c, key, s, now := newSending(t, "fillers"+name)
			foreign(t, c, key, 0)
			if _, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			c.Rollback()
			rewritten(t, s, "b", func(tx *Tx) { tx.Policy.Ceiling = ceiling })
			until := func(ok func(Tx) bool) {
				t.Helper()
				var tx Tx
				if !await.Holds(10*time.Second, func() bool { tx = look(t, s, now, "b", 1); return ok(tx) }) { // the node may be indexing
					t.Errorf("%d signatures, %q", key.count(), tx.Reason)
				}
			}
			asksBase(c, big.NewInt(1e12))
			until(func(tx Tx) bool { return strings.Contains(tx.Reason, ErrCeiling.Error()) && key.count() == 2 })
			asksBase(c, big.NewInt(1e10))
			until(func(Tx) bool { return key.count() == 3 })
		})
	}
}

// TestDroppedFillerIsSentAgain checks that a filler is followed to its end while
// something waits for it, even after its first deadline.
func TestDroppedFillerIsSentAgain(t *testing.T) {
	c, key, s, now := newSending(t, "droppedfiller")
	foreign(t, c, key, 0)
	if _, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(4 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	c.Rollback()
	look(t, s, now, "b", 3)
	filler, err := s.ledger.holder(base, key.addr, 0)
	if err != nil || filler == nil || filler.State != TxSent {
		t.Fatalf("filler %+v, %v", filler, err)
	}
	c.Rollback()
	now.advance(10 * time.Minute)
	if _, err := s.Submit(t.Context(), "next", pay(base, key.addr, "0xcc", 2), Policy{Until: now.Add(time.Hour)}); !errors.Is(err, ErrNonceBlocked) {
		t.Errorf("next, behind two that are late: %v", err)
	}
	if _, err := s.Cancel(t.Context(), "b", Policy{Until: now.Add(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	asksBase(c, big.NewInt(1e10)) // more than the filler offers
	look(t, s, now, "b", 1)
	c.ends(t, s, map[string]TxState{filler.Key: TxCancelled, "b": TxCancelled})
	c.set(nil, nil)
	if filler, err = s.Lookup(filler.Key); err != nil || len(filler.Attempts) != 2 {
		t.Errorf("filler %+v, %v", filler, err)
	}
	if tx, err := s.Submit(t.Context(), "next", pay(base, key.addr, "0xcc", 2), Policy{Until: now.Add(time.Hour)}); err != nil || tx.Nonce != 2 {
		t.Errorf("next = %+v, %v", tx, err)
	}
}

// TestForeignIsNotCancelled checks that a nonce is not filled while any host shows
// another wallet's transaction with it, or did at the last check.
func TestForeignIsNotCancelled(t *testing.T) {
	key := newTestKey(t, "foreign")
	c := newTestChain(t, base, funded(key.addr))
	blind, url := proxied(t, c)
	s, now := newTestSender(t, tempDB(t), newTestClient(t, base, 2, url, c.serve(t)), key), &fakeClock{time.Now()}
	s.now, s.sleep = func() time.Time { return now.Time }, func(context.Context, time.Duration) error { return nil }
	foreign(t, c, key, 0)
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(24 * time.Hour)}); err != nil || tx.Nonce != 1 {
		t.Fatalf("b = %+v, %v", tx, err)
	}
	see := func(n *testNode, pools bool) {
		n.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if method == "eth_getTransactionCount" && !pools {
				return "0x0", nil
			}
			return result, err
		})
	}
	see(blind, false)
	if tx := look(t, s, now, "b", 60); key.count() != 2 || !strings.Contains(tx.Reason, "not ours") {
		t.Errorf("one host shows it: %d signatures, %q", key.count(), tx.Reason)
	}
	for range 10 {
		see(c.testNode, false)
		look(t, s, now, "b", 1)
		see(c.testNode, true)
		look(t, s, now, "b", 1)
	}
	if key.count() != 2 {
		t.Errorf("a host blinks: %d signatures", key.count())
	}
	see(c.testNode, false)
	look(t, s, now, "b", 1)
	asked := 0
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_getTransactionCount" && string(args[1]) == `"pending"` {
			if asked++; asked == 1 { // at the check
				return "0x0", nil
			}
		}
		return result, err
	})
	if tx := look(t, s, now, "b", 1); key.count() != 2 || asked < 2 {
		t.Errorf("it is back before the signature: %d signatures, asked %d times, %q", key.count(), asked, tx.Reason)
	}
	c.set(nil, nil)
	c.ends(t, s, map[string]TxState{"b": TxMined})
	if balanceOf(t, c, pay(base, key.addr, "0xff", 5).To) != 5 {
		t.Error("the other wallet's transaction was cancelled")
	}
}

// TestGapsAtOnce checks that concurrent polls behind the same gaps, while calls go on,
// leave one holder for each nonce and one attempt for each call.
func TestGapsAtOnce(t *testing.T) {
	const gaps, calls = 3, 4
	c, key, s, now := newSending(t, "atonce")
	for nonce := range uint64(gaps) {
		foreign(t, c, key, nonce)
	}
	later := Policy{Until: now.Add(time.Hour)}
	submit := func(i int) {
		if _, err := s.Submit(t.Context(), fmt.Sprint(i), pay(base, key.addr, "0xbb", 1), later); err != nil {
			t.Error(err)
		}
	}
	for i := range calls {
		submit(i)
	}
	c.Rollback()
	for i := range calls {
		look(t, s, now, fmt.Sprint(i), 1)
	}
	now.advance(gapPatience)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() { poll(t, s, fmt.Sprint(i)) })
		all.Go(func() { poll(t, s, fmt.Sprint(i)) })
	}
	all.Go(func() { submit(calls) })
	all.Wait()
	want := map[string]TxState{}
	for i := range calls + 1 {
		want[fmt.Sprint(i)] = TxMined
	}
	look(t, s, now, "0", 1)
	for i := range calls { // those that were dropped are sent again
		poll(t, s, fmt.Sprint(i))
	}
	c.ends(t, s, want)
	if got := balanceOf(t, c, pay(base, key.addr, "0xbb", 1).To); got != calls+1 {
		t.Errorf("paid %d times, want %d", got, calls+1)
	}
}
