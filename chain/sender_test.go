package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"
)

const base = 8453

// crash is the value that a test's point panics with.
type crash string

// crashing runs f and reports whether it crashed at a point.
func crashing(f func()) (crashed bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			crashed = true
		}
	}()
	f()
	return false
}

// newBase returns a Base chain with one funded account and one endpoint, and its hub at
// depth 2.
func newBase(t *testing.T, secret string) (*testChain, *testKey, *MultiClient) {
	t.Helper()
	key := newTestKey(t, secret)
	c := newTestChain(t, base, funded(key.addr))
	return c, key, newTestClient(t, base, 2, c.serve(t))
}

// A fakeClock stands still until it is moved.
type fakeClock struct{ time.Time }

func (c *fakeClock) advance(d time.Duration) { c.Time = c.Add(d) }

// newSending is newBase with a sender that reads the clock now.
func newSending(t *testing.T, secret string) (c *testChain, key *testKey, s *Sender, now *fakeClock) {
	t.Helper()
	c, key, hub := newBase(t, secret)
	s, now = newTestSender(t, tempDB(t), hub, key), &fakeClock{time.Now()}
	s.now, s.rebroadcast = func() time.Time { return now.Time }, 0
	return c, key, s, now
}

// A crashFlow is what is done with one call, and how that must end wherever the process
// is stopped and started again.
type crashFlow struct {
	points []point // that it passes
	then   func(ctx context.Context, s *Sender, key string) error
	answer string // the node's answer to the first broadcast; "" = its own
	want   []TxState
}

// crashFlows are all flows; together they pass every point.
var crashFlows = map[string]crashFlow{
	"call": {
		points: []point{beforeSign, beforeJournal, afterJournal, beforeBroadcast, afterBroadcast, afterSent, beforeMined, afterMined},
		want:   []TxState{TxMined},
	},
	"reject": { // a process stopped before the refusal is on record may find that the node now accepts
		points: []point{beforeReject, afterReject}, answer: poor, want: []TxState{TxMined, TxRejected},
	},
	"bump": {
		points: []point{beforeJournal, afterSent, beforeBumpJournal, afterBumpJournal, beforeBroadcast, afterBroadcast, beforeMined, afterMined},
		then: func(ctx context.Context, s *Sender, key string) error {
			_, err := s.Bump(ctx, key, soon())
			if errors.Is(err, ErrEnded) { // before the crash
				return nil
			}
			return err
		},
		want: []TxState{TxMined},
	},
	"cancel": {
		points: []point{beforeJournal, afterSent, beforeCancelJournal, afterCancelJournal, beforeBroadcast, afterBroadcast, beforeMined, afterMined},
		then: func(ctx context.Context, s *Sender, key string) error {
			_, err := s.Cancel(ctx, key, soon())
			return err
		},
		want: []TxState{TxCancelled},
	},
}

// live runs f in one process, up to the nth time that it comes to a point, and reports
// whether it got there.
func (f crashFlow) live(t *testing.T, c *testChain, path string, hub *MultiClient, key *testKey, at point, nth int) (tx Tx, crashed bool) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := newTestSender(t, db, hub, key)
	s.onPoint = func(p point) {
		if p == at {
			if nth--; nth == 0 {
				panic(crash(pointNames[p]))
			}
		}
	}
	crashed = crashing(func() {
		if _, err := s.Submit(t.Context(), "order/0", crashCall(key), soon()); err != nil && !errors.Is(err, ErrRejected) {
			t.Fatal(err)
		}
		if f.then != nil {
			if err := f.then(t.Context(), s, "order/0"); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			c.Commit()
			if tx, _ = poll(t, s, "order/0"); tx.State.Final() {
				break
			}
		}
	})
	return tx, crashed
}

func crashCall(key *testKey) Call { return pay(base, key.addr, "0xc0ffee", 7) }

// TestCrashEverywhere stops the process at every point that a transaction, its speed-up,
// its cancel and its rejection pass, restarts it, and checks that a mined call happened
// exactly once, and a cancelled or rejected one not at all.
func TestCrashEverywhere(t *testing.T) {
	passed := map[point]bool{}
	for name, f := range crashFlows {
		for _, at := range f.points {
			passed[at] = true
			t.Run(name+"/"+pointNames[at], func(t *testing.T) { crashOnce(t, f, at, 1) })
			if f.then != nil && (at == beforeBroadcast || at == afterBroadcast) {
				t.Run(name+"/"+pointNames[at]+"/second", func(t *testing.T) { crashOnce(t, f, at, 2) })
			}
		}
	}
	for p, name := range pointNames {
		if !passed[point(p)] {
			t.Errorf("no flow passes %s", name)
		}
	}
}

func crashOnce(t *testing.T, f crashFlow, at point, nth int) {
	c, key, hub := newBase(t, "crash")
	path := filepath.Join(t.TempDir(), "orders.db")
	if f.answer != "" {
		sayOnSend(c, f.answer, false)
	}
	_, crashed := f.live(t, c, path, hub, key, at, nth)
	if !crashed {
		t.Fatal("the failpoint was never reached")
	}
	c.set(nil, nil)
	tx, crashed := f.live(t, c, path, hub, key, at, 0)
	if crashed {
		t.Fatal("crashed without being told to")
	}
	if !slices.Contains(f.want, tx.State) {
		t.Errorf("state = %s, want %s", tx.State, f.want)
	}
	want := map[TxState][2]uint64{TxMined: {7, 1}, TxCancelled: {0, 1}, TxRejected: {0, 0}}[tx.State]
	if got := balanceOf(t, c, crashCall(key).To); got != int64(want[0]) {
		t.Errorf("recipient has %d, want %d", got, want[0])
	}
	if n, _ := c.Client().NonceAt(t.Context(), key.addr, nil); n != want[1] {
		t.Errorf("nonce = %d, want %d", n, want[1])
	}
	kinds := map[AttemptKind]int{}
	for _, a := range tx.Attempts {
		kinds[a.Kind]++
	}
	if kinds[AttemptCall] != 1 || kinds[AttemptBump] > 1 || kinds[AttemptCancel] > 1 {
		t.Errorf("attempts: %v", kinds)
	}
}

// TestSubmitOnce checks that a key is signed once, however often and concurrently it is
// submitted.
func TestSubmitOnce(t *testing.T) {
	c, key, s, _ := newSending(t, "once")
	call := pay(base, key.addr, "0xaa", 1)
	var wg sync.WaitGroup
	hashes := make([]common.Hash, 8)
	for i := range hashes {
		wg.Go(func() {
			tx, err := s.Submit(t.Context(), "k", call, soon())
			if err != nil {
				t.Error(err)
				return
			}
			hashes[i] = tx.Last().Hash
		})
	}
	for i := range 8 {
		wg.Go(func() {
			if _, err := s.Submit(t.Context(), fmt.Sprintf("other/%d", i), pay(base, key.addr, "0xbb", 1), soon()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(slices.Compact(hashes)) != 1 {
		t.Errorf("one key, several transactions: %v", hashes)
	}
	if key.count() != 9 {
		t.Errorf("%d signatures, want 9", key.count())
	}
	c.Commit()
	c.Commit()
	if got := balanceOf(t, c, call.To); got != 1 {
		t.Errorf("recipient has %d, want 1", got)
	}
	if got := balanceOf(t, c, common.HexToAddress("0xbb")); got != 8 {
		t.Errorf("the others' recipient has %d, want 8", got)
	}
	tx, ev := poll(t, s, "k")
	if tx.State != TxMined || ev == nil || !ev.Success || ev.Depth != 2 || len(ev.Hosts) != 1 || ev.To != call.To || ev.FeePaid.Sign() <= 0 {
		t.Errorf("poll = %s, %+v", tx.State, ev)
	}
	again, err := s.Submit(t.Context(), "k", call, Policy{}) // returns the record, whatever the policy
	if err != nil || again.State != TxMined {
		t.Errorf("repeat = %+v, %v", again, err)
	}
	if _, err := s.Submit(t.Context(), "k", pay(base, key.addr, "0xaa", 2), soon()); !errors.Is(err, ErrKeyReused) {
		t.Errorf("another call under the key: %v", err)
	}
	if tx, err := s.Lookup("never"); tx != nil || err != nil {
		t.Errorf("lookup of nothing = %v, %v", tx, err)
	}
	if _, _, err := s.Poll(t.Context(), "never"); err == nil {
		t.Error("poll of nothing succeeded")
	}
}

// TestRefusalsBeforeSigning checks that nothing is signed and no nonce is used.
func TestRefusalsBeforeSigning(t *testing.T) {
	c, key, s, _ := newSending(t, "refusals")
	reverter := pay(base, key.addr, "0xdead", 0)
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_estimateGas" && strings.Contains(string(args[0]), "dead") {
			return nil, &rpcError{Code: 3, Message: "execution reverted", Data: "0x"}
		}
		return result, err
	})
	for _, tc := range []struct {
		name string
		call Call
		p    Policy
		is   error
	}{
		{"late", pay(base, key.addr, "0x1", 1), Policy{Until: time.Now().Add(-time.Second)}, ErrExpired},
		{"no deadline", pay(base, key.addr, "0x1", 1), Policy{}, ErrExpired},
		{"ceiling", pay(base, key.addr, "0x1", 1), Policy{Until: soon().Until, Ceiling: big.NewInt(20999)}, ErrCeiling},
		{"reverts", reverter, soon(), ErrWouldRevert},
		{"too poor", pay(base, newTestKey(t, "poor").addr, "0x1", 1), soon(), ErrFunds},
		{"no network", pay(1, key.addr, "0x1", 1), soon(), ErrNoNetwork},
		{"no value", Call{ChainID: base, From: key.addr}, soon(), nil},
		{"negative value", pay(base, key.addr, "0x1", -1), soon(), nil},
	} {
		tx, err := s.Submit(t.Context(), tc.name, tc.call, tc.p)
		if tx != nil || err == nil || tc.is != nil && !errors.Is(err, tc.is) {
			t.Errorf("%s: %v, %v, want %v", tc.name, tx, err, tc.is)
		}
	}
	if _, err := s.Submit(t.Context(), "", pay(base, key.addr, "0x1", 1), soon()); err == nil {
		t.Error("an empty key was taken")
	}
	if key.count() != 0 {
		t.Errorf("%d signatures, want none", key.count())
	}
	key.fail = errors.New("locked")
	if tx, err := s.Submit(t.Context(), "k", pay(base, key.addr, "0x1", 1), soon()); tx != nil || err == nil {
		t.Errorf("locked signer: %v, %v", tx, err)
	}
	key.fail = nil
	if tx, err := s.Submit(t.Context(), "k", pay(base, key.addr, "0x1", 1), soon()); err != nil || tx.Nonce != 0 {
		t.Errorf("after the refusals: %+v, %v", tx, err)
	}
}

// swapSigner returns another transaction than the one it was given.
type swapSigner struct{ *testKey }

func (s swapSigner) SignTx(ctx context.Context, from common.Address, _ *types.Transaction, id *big.Int) (*types.Transaction, error) {
	return s.testKey.SignTx(ctx, from, unsigned(pay(id.Uint64(), from, "0xbad", 1), 0, 21000, Fees{GasFeeCap: big.NewInt(1e9), GasTipCap: big.NewInt(1)}), id)
}

func TestSignerIsChecked(t *testing.T) {
	c, key, hub := newBase(t, "swap")
	s := newTestSender(t, tempDB(t), hub, swapSigner{key})
	if tx, err := s.Submit(t.Context(), "k", pay(base, key.addr, "0x1", 1), soon()); tx != nil || err == nil {
		t.Errorf("submit = %v, %v", tx, err)
	}
	s = newTestSender(t, tempDB(t), hub, newTestKey(t, "stranger"))
	if tx, err := s.Submit(t.Context(), "k", pay(base, key.addr, "0x1", 1), soon()); tx != nil || err == nil {
		t.Errorf("signed by a stranger = %v, %v", tx, err)
	}
	if c.count("eth_sendRawTransaction") != 0 {
		t.Error("something was broadcast")
	}
}

// sayOnSend makes node c answer text to every broadcast, whether or not it queues the
// bytes.
func sayOnSend(c *testChain, text string, queue bool) {
	c.set(func(w http.ResponseWriter, method string) bool {
		if method != "eth_sendRawTransaction" || queue {
			return false
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "error": rpcError{Code: -32000, Message: text}})
		return true
	}, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_sendRawTransaction" && err == nil {
			return nil, &rpcError{Code: -32000, Message: text}
		}
		return result, err
	})
}

const poor = "insufficient funds for gas * price + value"

// TestRejectedReleasesNonce checks that the nonce of a transaction that no node queued
// goes to the next call.
func TestRejectedReleasesNonce(t *testing.T) {
	c, key, hub := newBase(t, "rejected")
	db := tempDB(t)
	s := newTestSender(t, db, hub, key)
	sayOnSend(c, poor, false)
	call := pay(base, key.addr, "0xaa", 1)
	tx, err := s.Submit(t.Context(), "a", call, soon())
	if !errors.Is(err, ErrRejected) || tx == nil || tx.State != TxRejected || tx.Nonce != 0 || !strings.Contains(tx.Reason, poor) {
		t.Fatalf("submit = %+v, %v", tx, err)
	}
	c.set(nil, nil)
	if tx, err := s.Submit(t.Context(), "a", call, soon()); !errors.Is(err, ErrRejected) || tx.State != TxRejected {
		t.Errorf("repeat = %+v, %v", tx, err)
	}
	b, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), soon())
	if err != nil || b.Nonce != 0 {
		t.Fatalf("b = %+v, %v; want nonce 0", b, err)
	}
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "b"); tx.State != TxMined {
		t.Errorf("b is %s", tx.State)
	}
	if tx, ev := poll(t, s, "a"); tx.State != TxRejected || ev != nil {
		t.Errorf("a is %s", tx.State)
	}
	if balanceOf(t, c, call.To) != 0 {
		t.Error("the rejected call was mined")
	}
}

// TestRefusalProvesNothingLater checks that the same refusal leaves the outcome open
// after a restart, or when the bytes were sent twice.
func TestRefusalProvesNothingLater(t *testing.T) {
	c, key, hub := newBase(t, "later")
	db := tempDB(t)
	s := newTestSender(t, db, hub, key)
	s.onPoint = func(p point) {
		if p == afterJournal {
			panic(crash(pointNames[p]))
		}
	}
	call := pay(base, key.addr, "0xaa", 1)
	if !crashing(func() { _, _ = s.Submit(t.Context(), "a", call, soon()) }) {
		t.Fatal("the failpoint did not crash the sender")
	}
	sayOnSend(c, poor, false)
	s = newTestSender(t, db, hub, key)
	tx, err := s.Submit(t.Context(), "a", call, soon())
	if err != nil || tx.State != TxSigned || tx.Reason == "" {
		t.Fatalf("after restart: %+v, %v; want it open, with the nodes' words", tx, err)
	}
	if tx, _ := poll(t, s, "a"); tx.State != TxSigned {
		t.Errorf("poll: %s", tx.State)
	}

	// The second broadcast starts before the first one's refusal is recorded.
	s.onPoint = func(p point) {
		if p == afterBroadcast {
			s.onPoint = nil
			if _, err := s.Submit(t.Context(), "b", call, soon()); err != nil {
				t.Error(err)
			}
		}
	}
	if tx, err := s.Submit(t.Context(), "b", call, soon()); err != nil || tx.State != TxSigned || tx.Nonce != 1 {
		t.Errorf("offered twice: %+v, %v", tx, err)
	}
}

// TestAmbiguousStaysWatched checks that a transaction that was queued although the node
// said otherwise keeps its nonce, and that its receipt is found long after its deadline.
func TestAmbiguousStaysWatched(t *testing.T) {
	c, key, s, now := newSending(t, "ambiguous")
	sayOnSend(c, "upstream timed out", true)
	call := pay(base, key.addr, "0xaa", 1)
	if tx, err := s.Submit(t.Context(), "a", call, Policy{Until: now.Add(time.Second)}); err != nil || tx.State != TxSigned {
		t.Fatalf("submit = %+v, %v", tx, err)
	}
	now.advance(time.Hour)
	sent := c.count("eth_sendRawTransaction")
	if tx, _ := poll(t, s, "a"); tx.State != TxSigned {
		t.Fatalf("poll = %s", tx.State)
	}
	if c.count("eth_sendRawTransaction") != sent {
		t.Error("broadcast after the last moment")
	}
	c.set(nil, nil)
	b, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), Policy{Until: now.Add(time.Minute)})
	if err != nil || b.Nonce != 1 {
		t.Fatalf("b = %+v, %v; want nonce 1, since 0 is in the pool", b, err)
	}
	c.ends(t, s, map[string]TxState{"a": TxMined, "b": TxMined})
}

// TestNoGap checks that a transaction that is past its deadline and in no pool blocks the
// next one until it is cancelled.
func TestNoGap(t *testing.T) {
	c, key, s, now := newSending(t, "gap")
	sayOnSend(c, "please try again", false)
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), Policy{Until: now.Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	c.set(nil, nil)
	now.advance(time.Hour)
	later := Policy{Until: now.Add(time.Minute)}
	signs := key.count()
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), later); tx != nil || !errors.Is(err, ErrNonceBlocked) || !strings.Contains(err.Error(), `"a"`) {
		t.Fatalf("b = %v, %v, want ErrNonceBlocked by a", tx, err)
	}
	if key.count() != signs {
		t.Error("signed into a gap")
	}
	if tx, err := s.Cancel(t.Context(), "a", later); err != nil || tx.State != TxSent || len(tx.Attempts) != 2 {
		t.Fatalf("cancel = %+v, %v", tx, err)
	}
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 2), later); err != nil || tx.Nonce != 1 {
		t.Fatalf("b = %+v, %v", tx, err)
	}
	c.ends(t, s, map[string]TxState{"a": TxCancelled, "b": TxMined})
	if balanceOf(t, c, common.HexToAddress("0xaa")) != 0 {
		t.Error("the cancelled call was mined")
	}
}

// asksBase makes node c show that base fee.
func asksBase(c *testChain, fee *big.Int) {
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_feeHistory" {
			return nil, &rpcError{Code: -32601, Message: "method not found"}
		}
		raw, isRaw := result.(json.RawMessage)
		var block map[string]any
		if method != "eth_getBlockByNumber" || !isRaw || json.Unmarshal(raw, &block) != nil {
			return result, err
		}
		block["baseFeePerGas"] = (*hexutil.Big)(fee)
		return block, nil
	})
}

// TestCancelRestsOnAStillChain checks that a cancel that offers enough is not replaced,
// however long no block comes: fees and attempts are bounded.
func TestCancelRestsOnAStillChain(t *testing.T) {
	c, key, s, now := newSending(t, "still")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	for range 2 * maxAttempts {
		tx, err := s.Cancel(t.Context(), "a", Policy{Until: now.Add(24 * time.Hour)})
		if err != nil || len(tx.Attempts) != 2 {
			t.Fatalf("%d attempts, %v", len(tx.Attempts), err)
		}
		now.advance(cancelRest + time.Second)
	}
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxCancelled {
		t.Errorf("state = %s", tx.State)
	}
}

// TestCancelOutbids checks that every cancel pays an eighth more than all before it, in
// both fees, is idempotent for a while, and is bounded by its own policy.
func TestCancelOutbids(t *testing.T) {
	c, key, s, now := newSending(t, "outbid")
	later := func() Policy { return Policy{Until: now.Add(time.Hour)} }
	if _, err := s.Cancel(t.Context(), "a", later()); err == nil {
		t.Error("cancelled what does not exist")
	}
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), later()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Cancel(t.Context(), "a", Policy{Until: now.Add(-1)}); !errors.Is(err, ErrExpired) {
		t.Errorf("late cancel: %v", err)
	}
	if _, err := s.Cancel(t.Context(), "a", Policy{Until: later().Until, Ceiling: big.NewInt(21000)}); !errors.Is(err, ErrCeiling) {
		t.Errorf("expensive cancel: %v", err)
	}
	for want := 2; want <= 4; want++ {
		for range 2 { // the second one is a repetition
			tx, err := s.Cancel(t.Context(), "a", later())
			if err != nil || len(tx.Attempts) != want || tx.Reason != "" {
				t.Fatalf("cancel %d: %d attempts, %q, %v", want, len(tx.Attempts), tx.Reason, err)
			}
		}
		now.advance(cancelRest)
		asksBase(c, big.NewInt(int64(want)*1e11)) // more than the last one offers
	}
	tx, err := s.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range tx.Attempts[1:] {
		for _, before := range tx.Attempts[:i+1] {
			for _, fee := range [][2]*big.Int{{before.FeeCap.ToInt(), a.FeeCap.ToInt()}, {before.TipCap.ToInt(), a.TipCap.ToInt()}} {
				if new(big.Int).Mul(fee[1], big.NewInt(1000)).Cmp(new(big.Int).Mul(fee[0], big.NewInt(1125))) < 0 {
					t.Errorf("attempt %d offers %s after %s", i+2, fee[1], fee[0])
				}
			}
		}
	}
	c.Commit()
	if _, err := s.Cancel(t.Context(), "a", later()); !errors.Is(err, ErrNonceUsed) {
		t.Errorf("cancel of a used nonce: %v", err)
	}
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxCancelled || tx.Mined != tx.Last().Hash {
		t.Errorf("state = %s", tx.State)
	}
	if tx, err := s.Cancel(t.Context(), "a", later()); err != nil || tx.State != TxCancelled {
		t.Errorf("cancel of a final one = %+v, %v", tx, err)
	}
}

// TestCancelsRunOut checks that, when a node that asks for more each time has used up all
// attempts, the last cancel can be sent past its deadline without another signature.
func TestCancelsRunOut(t *testing.T) {
	c, key, s, now := newSending(t, "runout")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	day := func() Policy { return Policy{Until: now.Add(24 * time.Hour)} }
	asked := big.NewInt(1e10)
	for range maxAttempts + 3 {
		asksBase(c, asked)
		if tx, err := s.Cancel(t.Context(), "a", day()); err != nil || tx.Last().Kind != AttemptCancel {
			t.Fatalf("Cancel = %+v, %v, want a cancel attempt", tx, err)
		}
		asked = eighths(asked, 10)
		now.advance(cancelRest)
	}
	c.Rollback()
	now.advance(25 * time.Hour)
	signs := key.count()
	tx, err := s.Cancel(t.Context(), "a", day())
	if err != nil || len(tx.Attempts) != maxAttempts || key.count() != signs || signs != maxAttempts || !tx.Last().Until.After(now.Time) {
		t.Fatalf("%d signatures, %d attempts, %v", key.count(), len(tx.Attempts), err)
	}
	c.set(nil, nil)
	c.ends(t, s, map[string]TxState{"a": TxCancelled})
}

// TestCancelDespiteARevert checks that a cancel that a node expects to revert is sent all
// the same, since it uses the nonce either way.
func TestCancelDespiteARevert(t *testing.T) {
	c, key, s, _ := newSending(t, "revertingcancel")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_estimateGas" {
			return nil, &rpcError{Code: 3, Message: "execution reverted"}
		}
		return result, err
	})
	if _, err := s.Cancel(t.Context(), "a", soon()); err != nil {
		t.Fatal(err)
	}
	c.ends(t, s, map[string]TxState{"a": TxCancelled})
}

// TestNothingLeavesLate checks that a slow endpoint does not make the next one get the
// bytes after their deadline.
func TestNothingLeavesLate(t *testing.T) {
	key := newTestKey(t, "slow")
	c := newTestChain(t, base, funded(key.addr))
	slow, url := proxied(t, c)
	slow.set(func(_ http.ResponseWriter, method string) bool {
		if method == "eth_sendRawTransaction" {
			time.Sleep(600 * time.Millisecond)
		}
		return false
	}, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_sendRawTransaction" {
			return nil, errors.New("please try again")
		}
		return result, err
	})
	s := newTestSender(t, tempDB(t), newTestClient(t, base, 2, url, c.serve(t)), key)
	now := &fakeClock{time.Now()}
	s.now = func() time.Time { return now.Time }
	tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), Policy{Until: now.Add(300 * time.Millisecond)})
	if err != nil || tx.State != TxSigned || slow.count("eth_sendRawTransaction") != 1 || c.count("eth_sendRawTransaction") != 0 {
		t.Errorf("%+v, %v; offered %d times after its last moment", tx, err, c.count("eth_sendRawTransaction"))
	}
}

// TestFeePaidIsBounded checks that what was signed bounds the fee paid, whatever a node
// says.
func TestFeePaidIsBounded(t *testing.T) {
	c, key, s, _ := newSending(t, "feepaid")
	p := soon()
	p.Ceiling = big.NewInt(1e15)
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), p); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	c.Commit()
	for _, member := range []string{"effectiveGasPrice", "l1Fee"} {
		c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			var r map[string]any
			if raw, isRaw := result.(json.RawMessage); method != "eth_getTransactionReceipt" || !isRaw || json.Unmarshal(raw, &r) != nil || r == nil {
				return result, err
			}
			r[member] = "0xde0b6b3a7640000000000"
			return r, err
		})
		tx, ev := poll(t, s, "a")
		maxCost, err := tx.Last().maxGasCost()
		if err != nil || ev == nil || ev.FeePaid.Cmp(maxCost.Add(maxCost, p.Ceiling)) > 0 {
			t.Errorf("%s: %+v, want at most %s", member, ev, maxCost)
		}
	}
}

// TestCancelTooLate checks that a call that was mined despite its cancel ends as mined.
func TestCancelTooLate(t *testing.T) {
	c, key, s, _ := newSending(t, "toolate")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	s.onPoint = func(p point) {
		if p == afterCancelJournal {
			c.Commit()
		}
	}
	tx, err := s.Cancel(t.Context(), "a", soon())
	if err != nil || len(tx.Attempts) != 2 {
		t.Fatalf("cancel = %+v, %v", tx, err)
	}
	c.Commit()
	if tx, ev := poll(t, s, "a"); tx.State != TxMined || ev == nil || tx.Mined != tx.Attempts[0].Hash {
		t.Errorf("state = %s", tx.State)
	}
}

// TestReplaced checks that a nonce used by another wallet with the same key ends the
// transaction.
func TestReplaced(t *testing.T) {
	c, key, s, now := newSending(t, "replaced")
	sayOnSend(c, "please try again", false)
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	foreign := unsigned(pay(base, key.addr, "0xff", 5), 0, 21000, Fees{GasFeeCap: big.NewInt(5e9), GasTipCap: big.NewInt(1e9)})
	signed, err := key.SignTx(t.Context(), key.addr, foreign, big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Client().SendTransaction(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State.Final() {
		t.Errorf("%s at depth 1 of 2", tx.State)
	}
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State.Final() {
		t.Errorf("%s at the first look", tx.State)
	}
	now.advance(replacedTime)
	if tx, ev := poll(t, s, "a"); tx.State != TxReplaced || ev != nil {
		t.Errorf("state = %s, %+v", tx.State, ev)
	}
	c.set(nil, nil)
	later := Policy{Until: now.Add(time.Minute)}
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 1), later); err != nil || tx.Nonce != 1 {
		t.Errorf("next = %+v, %v", tx, err)
	}
}

// TestLaggingReceiptsAreNotAbsence checks that a mined call is not called replaced while
// receipts lag: its user would repeat it. One URL may have several nodes behind it, one
// with the block that used the nonce and another still without its receipts.
func TestLaggingReceiptsAreNotAbsence(t *testing.T) {
	c, key, s, now := newSending(t, "lagging")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	c.Commit()
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_getTransactionReceipt" {
			return nil, nil
		}
		return result, err
	})
	for range 5 {
		if tx, _ := poll(t, s, "a"); tx.State.Final() {
			t.Fatalf("%s while the receipts lag", tx.State)
		}
		now.advance(10 * time.Second)
	}
	c.set(nil, nil)
	if tx, ev := poll(t, s, "a"); tx.State != TxMined || ev == nil {
		t.Errorf("state = %s", tx.State)
	}
}

// TestIndexingIsNotAbsence checks that a used nonce does not mean that our transaction
// was replaced while a node says that it is still indexing.
func TestIndexingIsNotAbsence(t *testing.T) {
	c, key, s, _ := newSending(t, "indexing")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	c.Commit()
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_getTransactionReceipt" {
			return nil, &rpcError{Code: -32000, Message: "transaction indexing is in progress"}
		}
		return result, err
	})
	for range 3 {
		if tx, ev, err := s.Poll(t.Context(), "a"); err == nil || tx.State != TxSent || ev != nil {
			t.Fatalf("poll = %s, %v, %v", tx.State, ev, err)
		}
	}
	c.set(nil, nil)
	if tx, ev := poll(t, s, "a"); tx.State != TxMined || ev == nil {
		t.Errorf("state = %s", tx.State)
	}
}

// TestReverted checks that a call that fails on chain has evidence too.
func TestReverted(t *testing.T) {
	key := newTestKey(t, "reverted")
	alloc := funded(key.addr)
	at := common.HexToAddress("0x7e57")
	alloc[at] = types.Account{Balance: new(big.Int), Code: revertCode}
	c := newTestChain(t, base, alloc)
	hub := newTestClient(t, base, 1, c.serve(t))
	s := newTestSender(t, tempDB(t), hub, key)
	call := Call{ChainID: base, From: key.addr, To: at, Value: new(big.Int), Gas: 50000}
	if _, err := s.Submit(t.Context(), "a", call, soon()); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	if tx, ev := poll(t, s, "a"); tx.State != TxReverted || ev == nil || ev.Success {
		t.Errorf("poll = %s, %+v", tx.State, ev)
	}
}

// TestDropped checks that a transaction that the pool dropped is broadcast again.
func TestDropped(t *testing.T) {
	c, key, s, _ := newSending(t, "dropped")
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
		t.Fatal(err)
	}
	c.Rollback()
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxSent || tx.Depth != 0 {
		t.Fatalf("poll = %s, depth %d", tx.State, tx.Depth)
	}
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxSent || tx.Depth != 1 {
		t.Fatalf("poll = %s, depth %d", tx.State, tx.Depth)
	}
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxMined {
		t.Errorf("state = %s", tx.State)
	}
}

// TestReorg checks that a transaction in a block that is reorganised away is pending
// again and mined in the other branch. If the block was deeper than the network's depth,
// the record keeps its final state, and the evidence is missing until the transaction is
// mined again.
func TestReorg(t *testing.T) {
	for _, depth := range []uint64{1, 3} { // blocks that are reorganised away
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			key := newTestKey(t, "reorg")
			c := newTestChain(t, base, funded(key.addr))
			hub := newTestClient(t, base, 3, c.serve(t))
			s := newTestSender(t, tempDB(t), hub, key)
			genesis, err := c.Client().HeaderByNumber(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil {
				t.Fatal(err)
			}
			for range depth {
				c.Commit()
			}
			tx, ev := poll(t, s, "a")
			if tx.Depth != depth || (ev != nil) != (depth == 3) {
				t.Fatalf("before: %s, depth %d, %+v", tx.State, tx.Depth, ev)
			}
			state := tx.State
			if err := c.Fork(genesis.Hash()); err != nil {
				t.Fatal(err)
			}
			c.Rollback() // drops what went back to the pool
			if tx, ev = poll(t, s, "a"); tx.State != state || tx.Depth != 0 || ev != nil {
				t.Fatalf("after: %s, depth %d, %+v", tx.State, tx.Depth, ev)
			}
			for range 3 { // Poll broadcast the bytes again
				c.Commit()
			}
			if tx, ev = poll(t, s, "a"); tx.State != TxMined || ev == nil {
				t.Errorf("in the other branch: %s, depth %d", tx.State, tx.Depth)
			}
			if balanceOf(t, c, common.HexToAddress("0xaa")) != 1 {
				t.Error("recipient was not paid once")
			}
		})
	}
}

// TestRebroadcastRests checks that a transaction that a node has is not broadcast again
// too soon.
func TestRebroadcastRests(t *testing.T) {
	c, key, s, now := newSending(t, "rests")
	s.rebroadcast = 15 * time.Second
	if _, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), Policy{Until: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		poll(t, s, "a")
	}
	if got := c.count("eth_sendRawTransaction"); got != 1 {
		t.Errorf("sent %d times, want once", got)
	}
	now.advance(15 * time.Second)
	poll(t, s, "a")
	if got := c.count("eth_sendRawTransaction"); got != 2 {
		t.Errorf("sent %d times, want twice", got)
	}
}
