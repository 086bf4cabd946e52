package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// counting is a node that reports latest mined transactions of an account, and pending
// with those in its pool.
func counting(id, block, latest, pending uint64) *testNode {
	return &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		switch {
		case method == "eth_blockNumber":
			return hexutil.Uint64(block), nil
		case method == "eth_getTransactionCount" && string(args[1]) == `"pending"`:
			return hexutil.Uint64(pending), nil
		case method == "eth_getTransactionCount":
			return hexutil.Uint64(latest), nil
		}
		return constant(id)(ctx, method, args)
	}}
}

// TestNonces checks that no single host can raise a count above another's.
func TestNonces(t *testing.T) {
	for _, tc := range []struct {
		name  string
		nodes [][3]uint64 // block, latest, pending; zeros = it is down
		want  Nonces
	}{
		{"one", [][3]uint64{{9, 5, 6}}, Nonces{Block: 9, Latest: 5, Next: 6, Highest: 6}},
		{"two hosts agree", [][3]uint64{{9, 5, 6}, {8, 5, 6}}, Nonces{Block: 8, Latest: 5, Next: 6, Highest: 6}},
		{"the first host inflates", [][3]uint64{{9, 50, 60}, {9, 5, 6}}, Nonces{Block: 9, Latest: 5, Next: 6, Highest: 60}},
		{"the second host inflates", [][3]uint64{{9, 5, 6}, {9, 50, 60}}, Nonces{Block: 9, Latest: 5, Next: 6, Highest: 60}},
		{"one host inflates its pending nonce", [][3]uint64{{9, 5, 60}, {9, 5, 5}}, Nonces{Block: 9, Latest: 5, Next: 5, Highest: 60}},
		{"two hosts against one that inflates", [][3]uint64{{9, 50, 60}, {9, 5, 6}, {7, 5, 6}}, Nonces{Block: 7, Latest: 5, Next: 6, Highest: 60}},
		{"two hosts against one that deflates", [][3]uint64{{9, 1, 1}, {9, 5, 6}, {9, 5, 6}}, Nonces{Block: 9, Latest: 5, Next: 6, Highest: 6}},
		{"pending below latest", [][3]uint64{{9, 5, 3}}, Nonces{Block: 9, Latest: 5, Next: 5, Highest: 5}},
		{"one host is down", [][3]uint64{{9, 5, 6}, {}}, Nonces{Block: 9, Latest: 5, Next: 6, Highest: 6, SingleHost: true}},
	} {
		var urls []string
		for _, n := range tc.nodes {
			node := counting(10, n[0], n[1], n[2])
			if n[0] == 0 {
				node.set(func(w http.ResponseWriter, _ string) bool { http.Error(w, "", http.StatusBadGateway); return true }, nil)
			}
			urls = append(urls, node.serve(t))
		}
		got, err := newTestClient(t, 10, 3, urls...).Nonces(t.Context(), 10, common.Address{1})
		hosts := len(got.Hosts)
		got.Hosts = nil
		if err != nil || hosts == 0 || got.Block != tc.want.Block || got.Latest != tc.want.Latest || got.Next != tc.want.Next || got.Highest != tc.want.Highest || got.SingleHost != tc.want.SingleHost {
			t.Errorf("%s: %+v of %d hosts, %v; want %+v", tc.name, got, hosts, err, tc.want)
		}
	}
}

// inflate makes node c add n to every transaction count.
func inflate(c *testNode, n uint64) {
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		raw, isRaw := result.(json.RawMessage)
		var count hexutil.Uint64
		if method != "eth_getTransactionCount" || !isRaw || json.Unmarshal(raw, &count) != nil {
			return result, err
		}
		return count + hexutil.Uint64(n), nil
	})
}

// proxied serves the chain of c a second time, under another host.
func proxied(t *testing.T, c *testChain) (*testNode, string) {
	t.Helper()
	n := &testNode{answer: c.answer}
	return n, n.serve(t)
}

// TestNonceIsNotInflated checks that the next nonce is the honest host's where another
// lies, and that the liar alone is believed no further than our own records go.
func TestNonceIsNotInflated(t *testing.T) {
	key := newTestKey(t, "inflated")
	c := newTestChain(t, base, funded(key.addr))
	liar, url := proxied(t, c)
	inflate(liar, 7)
	s := newTestSender(t, tempDB(t), newTestClient(t, base, 2, url, c.serve(t)), key)
	var waited time.Duration
	s.sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
	tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon())
	if err != nil || tx.Nonce != 0 || waited != (nonceTries-1)*nonceWait {
		t.Fatalf("%+v, %v, after %v", tx, err, waited)
	}
	c.set(func(w http.ResponseWriter, _ string) bool { http.Error(w, "", http.StatusBadGateway); return true }, nil)
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 1), soon()); tx != nil || !errors.Is(err, ErrUnreachable) || key.count() != 1 {
		t.Errorf("the liar alone: %+v, %v", tx, err)
	}
	liar.set(nil, nil) // it now reports what we know of, none of it mined
	if tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 1), soon()); err != nil || tx.Nonce != 1 {
		t.Errorf("within our records: %+v, %v", tx, err)
	}
	c.set(nil, nil)
	if _, err := s.Cancel(t.Context(), "a", soon()); err != nil {
		t.Errorf("a cancel that one host calls too late: %v", err)
	}
	c.Commit()
	c.Commit()
	inflate(liar, 0)
	if tx, _ := poll(t, s, "a"); tx.State != TxCancelled {
		t.Errorf("a is %s", tx.State)
	}
}

// TestFirstBroadcastHoldsTheNonce checks that a call waits until it is known whether the
// nodes refuse the previous one of its account, and then takes that one's nonce.
func TestFirstBroadcastHoldsTheNonce(t *testing.T) {
	c, key, s, _ := newSending(t, "front")
	sayOnSend(c, poor, false)
	second := make(chan *Tx, 1)
	s.onPoint = func(p point) {
		switch p {
		case afterJournal:
			s.onPoint = nil
			go func() {
				tx, err := s.Submit(t.Context(), "b", pay(base, key.addr, "0xbb", 1), soon())
				if err != nil {
					t.Error(err)
				}
				second <- tx
			}()
			time.Sleep(20 * time.Millisecond) // time for something that must not happen
			if key.count() != 1 {
				t.Error("b was signed before a's nonce was settled")
			}
			s.onPoint = func(p point) {
				if p == afterReject {
					c.set(nil, nil)
				}
			}
		}
	}
	if tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); !errors.Is(err, ErrRejected) || tx.Nonce != 0 {
		t.Fatalf("a: %+v, %v", tx, err)
	}
	if b := <-second; b == nil || b.Nonce != 0 || b.State != TxSent {
		t.Errorf("b: %+v", b)
	}
}

// TestDroppedGoesToAll checks that a transaction that the first endpoint accepts and
// drops is offered to the others too.
func TestDroppedGoesToAll(t *testing.T) {
	key := newTestKey(t, "swallowed")
	c := newTestChain(t, base, funded(key.addr))
	hole, url := proxied(t, c)
	hole.set(func(w http.ResponseWriter, method string) bool {
		if method != "eth_sendRawTransaction" {
			return false
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "result": common.Hash{1}})
		return true
	}, nil)
	s := newTestSender(t, tempDB(t), newTestClient(t, base, 2, url, c.serve(t)), key)
	if tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon()); err != nil || tx.State != TxSent || c.count("eth_sendRawTransaction") != 0 {
		t.Fatalf("Submit = %+v, %v, want a sent transaction and no second broadcast", tx, err)
	}
	poll(t, s, "a")
	c.Commit()
	c.Commit()
	if tx, _ := poll(t, s, "a"); tx.State != TxMined {
		t.Errorf("a is %s", tx.State)
	}
}

// TestReplacedNamesHosts checks that a final state without evidence names the hosts it
// relies on.
func TestReplacedNamesHosts(t *testing.T) {
	key := newTestKey(t, "named")
	c := newTestChain(t, base, funded(key.addr))
	_, url := proxied(t, c)
	hub := newTestClient(t, base, 2, url, c.serve(t))
	s := newTestSender(t, tempDB(t), hub, key)
	now := &fakeClock{time.Now()}
	s.now = func() time.Time { return now.Time }
	tx, err := s.Submit(t.Context(), "a", pay(base, key.addr, "0xaa", 1), soon())
	if err != nil {
		t.Fatal(err)
	}
	c.Rollback()
	foreign, err := key.SignTx(t.Context(), key.addr, unsigned(pay(base, key.addr, "0xff", 5), tx.Nonce, 21000, Fees{GasFeeCap: big.NewInt(5e9), GasTipCap: big.NewInt(1e9)}), big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Client().SendTransaction(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	c.Commit()
	c.Commit()
	poll(t, s, "a")
	now.advance(replacedTime)
	got, _ := poll(t, s, "a")
	hosts := hub.pools[0].endpoints
	if got.State != TxReplaced || slices.ContainsFunc(hosts, func(e *endpoint) bool { return !strings.Contains(got.Reason, e.host) }) {
		t.Errorf("%s: %q", got.State, got.Reason)
	}
}

// TestSoleHostUnblocksMinedNonces checks that, with one of two hosts down, a record that is
// no longer polled blocks nothing once a later one is mined at depth.
func TestSoleHostUnblocksMinedNonces(t *testing.T) {
	key := newTestKey(t, "unlooked")
	c := newTestChain(t, base, funded(key.addr))
	other, url := proxied(t, c)
	s, now := newTestSender(t, tempDB(t), newTestClient(t, base, 2, c.serve(t), url), key), &fakeClock{time.Now()}
	s.now = func() time.Time { return now.Time }
	submit := func(k string) error {
		_, err := s.Submit(t.Context(), k, pay(base, key.addr, "0xaa", 1), Policy{Until: now.Add(time.Minute)})
		return err
	}
	if err := errors.Join(submit("a"), submit("b")); err != nil {
		t.Fatal(err)
	}
	c.ends(t, s, map[string]TxState{"b": TxMined})
	now.advance(time.Hour)
	other.set(down, nil)
	if err := submit("c"); err != nil {
		t.Error(err)
	}
}
