package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

func TestNetworks(t *testing.T) {
	want := []uint64{1, 10, 56, 8453, 42161, 143, 43114, 5330, 39}
	all := Networks()
	if len(all) != len(want) {
		t.Fatalf("%d networks, want %d", len(all), len(want))
	}
	for i, n := range all {
		if n.ID != want[i] {
			t.Errorf("network %d is %d, want %d", i, n.ID, want[i])
		}
		if n.Name == "" || n.Symbol == "" || n.Decimals != 18 || n.Depth == 0 || n.BlockTime <= 0 || n.GasCeiling.Sign() <= 0 || !strings.HasPrefix(n.Explorer, "https://") {
			t.Errorf("network %d is incomplete: %+v", n.ID, n)
		}
		if (n.WrappedNative == common.Address{}) != (n.ID == 39) {
			t.Errorf("network %d: wrapped native is %s", n.ID, n.WrappedNative)
		}
		for _, u := range n.RPC {
			if _, err := endpointURL(u, n.ID, Options{}); err != nil {
				t.Errorf("network %d: %v", n.ID, err)
			}
		}
		if n.Fee != FeeMarket && n.Fee != FeeLegacy || n.MinTip.Cmp(n.MaxTip) >= 0 {
			t.Errorf("network %d: fee kind %q, tips from %s to %s", n.ID, n.Fee, n.MinTip, n.MaxTip)
		}
		if len(n.RPC) < 2 {
			t.Errorf("network %d has no second endpoint to agree with", n.ID)
		}
	}
	all[0].GasCeiling.SetInt64(1)
	all[0].MaxTip.SetInt64(1)
	all[0].RPC[0] = "changed"
	if n, _ := NetworkByID(1); n.GasCeiling.Int64() == 1 || n.MaxTip.Int64() == 1 || n.RPC[0] == "changed" {
		t.Error("a caller changed the table")
	}
}

func TestEndpointRules(t *testing.T) {
	const key = "s3cret-access-key"
	for _, c := range []struct {
		name string
		ep   Endpoint
		o    Options
		ok   bool
	}{
		{"https", Endpoint{Chain: 1, URLs: []string{"https://rpc.example/v2/" + key}}, Options{}, true},
		{"defaults", Endpoint{Chain: 1}, Options{}, true},
		{"http", Endpoint{Chain: 1, URLs: []string{"http://rpc.example/v2/" + key}}, Options{}, false},
		{"websocket", Endpoint{Chain: 1, URLs: []string{"wss://rpc.example/v2/" + key}}, Options{}, false},
		{"user in url", Endpoint{Chain: 1, URLs: []string{"https://u:" + key + "@rpc.example/"}}, Options{}, false},
		{"no host", Endpoint{Chain: 1, URLs: []string{"https:///" + key}}, Options{}, false},
		{"not a url", Endpoint{Chain: 1, URLs: []string{"https://%zz/" + key}}, Options{}, false},
		{"loopback", Endpoint{Chain: 1, URLs: []string{"http://127.0.0.1:1/" + key}}, Options{}, false},
		{"loopback https", Endpoint{Chain: 1, URLs: []string{"https://localhost:1/" + key}}, Options{}, false},
		{"loopback with a dot", Endpoint{Chain: 1, URLs: []string{"https://localhost.:1/" + key}}, Options{}, false},
		{"unspecified", Endpoint{Chain: 1, URLs: []string{"https://0.0.0.0:1/" + key}}, Options{}, false},
		{"loopback ipv6", Endpoint{Chain: 1, URLs: []string{"http://[::1]:1/" + key}}, Options{}, false},
		{"loopback allowed", Endpoint{Chain: 1, URLs: []string{"http://127.0.0.1:1"}}, Options{AllowLoopback: []uint64{1}}, true},
		{"loopback of another chain", Endpoint{Chain: 1, URLs: []string{"http://127.0.0.1:1/" + key}}, Options{AllowLoopback: []uint64{10}}, false},
		{"sandbox", Endpoint{Chain: 1, URLs: []string{"http://127.0.0.1:1"}}, Options{Sandbox: true}, true},
		{"sandbox outside", Endpoint{Chain: 1, URLs: []string{"https://rpc.example/" + key}}, Options{Sandbox: true}, false},
		{"sandbox with defaults", Endpoint{Chain: 1}, Options{Sandbox: true}, false},
		{"unknown chain", Endpoint{Chain: 137, URLs: []string{"https://rpc.example/" + key}}, Options{}, false},
		{"shallow", Endpoint{Chain: 1, URLs: []string{"https://rpc.example/" + key}, Depth: 1}, Options{}, false},
		{"deeper", Endpoint{Chain: 1, Depth: 64}, Options{}, true},
		{"never final", Endpoint{Chain: 1, Depth: 10_001}, Options{}, false},
		{"never final sandbox", Endpoint{Chain: 1, URLs: []string{"http://localhost:1"}, Depth: 1 << 63}, Options{Sandbox: true}, false},
		{"shallow sandbox", Endpoint{Chain: 1, URLs: []string{"http://localhost:1"}, Depth: 1}, Options{Sandbox: true}, true},
		{"too many", Endpoint{Chain: 1, URLs: strings.Split(strings.Repeat("https://a.example ", 9), " ")[:9]}, Options{}, false},
	} {
		h, err := NewMultiClient([]Endpoint{c.ep}, c.o)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error shows the access key: %v", c.name, err)
		}
		if h != nil {
			h.Close()
		}
	}
	if _, err := NewMultiClient([]Endpoint{{Chain: 1}, {Chain: 1}}, Options{}); err == nil {
		t.Error("a chain configured twice was taken")
	}
	h, err := NewMultiClient([]Endpoint{{Chain: 10}, {Chain: 1, Depth: 9}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if all := h.Networks(); len(all) != 2 || all[1].Depth != 9 {
		t.Errorf("networks = %+v", all)
	}
	if _, err := h.Network(56); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("network without endpoint: %v", err)
	}
	if _, err := h.Reader(t.Context(), 56); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("reader without endpoint: %v", err)
	}
}

// constant answers like an idle node of chain id at block 7.
func constant(id uint64) rpcFunc {
	return func(_ context.Context, method string, _ []json.RawMessage) (any, error) {
		switch method {
		case "eth_chainId":
			return fmt.Sprintf("%#x", id), nil
		case "eth_blockNumber":
			return "0x7", nil
		case "eth_getTransactionReceipt":
			return nil, nil
		}
		return nil, &rpcError{Code: -32601, Message: "the method " + method + " does not exist/is not available"}
	}
}

// TestEndpointFaults checks that the second endpoint answers whatever the first does, and
// that the first alone gives an error that names the host, never the URL.
func TestEndpointFaults(t *testing.T) {
	moved := httptest.NewServer(&testNode{answer: constant(1)})
	defer moved.Close()
	faults := []struct {
		name string
		do   func(w http.ResponseWriter)
		is   error
	}{
		{"garbage", func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>no</html>")) }, ErrUnreachable},
		{"empty", func(w http.ResponseWriter) {}, ErrUnreachable},
		{"429", func(w http.ResponseWriter) { http.Error(w, "slow down", http.StatusTooManyRequests) }, ErrUnreachable},
		{"500", func(w http.ResponseWriter) { http.Error(w, "oops", http.StatusInternalServerError) }, ErrUnreachable},
		{"hangs", func(w http.ResponseWriter) { time.Sleep(600 * time.Millisecond) }, context.DeadlineExceeded},
		{"redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", moved.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, ErrUnreachable},
		{"oversize", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":"`))
			chunk := []byte(strings.Repeat("0", 1<<20))
			for range 10 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
			_, _ = w.Write([]byte(`"}`))
		}, ErrUnreachable},
		{"cut short", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte(`{"jsonrpc":`))
		}, ErrUnreachable},
		{"rate limit", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit"}}`))
		}, nil},
		{"wrong chain", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":"0x2"}`))
		}, ErrWrongChain},
		{"null chain", func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
		}, ErrUnreachable},
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			bad := &testNode{before: func(w http.ResponseWriter, _ string) bool { f.do(w); return true }}
			good := &testNode{answer: constant(1)}
			badURL, goodURL := bad.serve(t)+"/v2/s3cret", good.serve(t)
			for _, urls := range [][]string{{badURL, goodURL}, {badURL}} {
				h, err := NewMultiClient([]Endpoint{{Chain: 1, URLs: urls}}, Options{Sandbox: true, Timeout: 250 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				r, err := h.Reader(t.Context(), 1)
				if len(urls) == 1 {
					if err == nil || f.is != nil && !errors.Is(err, f.is) {
						t.Errorf("alone: %v, want %v", err, f.is)
					}
					if err != nil && strings.Contains(err.Error(), "s3cret") {
						t.Errorf("the error shows the access key: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if n, err := r.BlockNumber(t.Context()); err != nil || n != 7 {
					t.Errorf("block = %d, %v", n, err)
				}
				if bad.count("eth_blockNumber") != 0 {
					t.Error("an endpoint that never proved its chain was asked something")
				}
			}
		})
	}
}

// TestChainIDAfterReconnect checks that an endpoint that serves another chain after a new
// connection is not believed, not even for the call that opened it.
func TestChainIDAfterReconnect(t *testing.T) {
	var id atomic.Uint64
	id.Store(1)
	n := &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		return constant(id.Load())(ctx, method, args)
	}}
	server := httptest.NewServer(n)
	defer server.Close()
	h := newTestClient(t, 1, 1, server.URL)
	r, err := h.Reader(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := r.BlockNumber(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := n.count("eth_chainId"); got != 1 {
		t.Errorf("chain id asked %d times on one connection, want 1", got)
	}
	id.Store(2)
	server.CloseClientConnections()
	if _, err := r.BlockNumber(t.Context()); err == nil {
		t.Fatal("an answer from another chain was believed")
	}
	if _, err := h.Reader(t.Context(), 1); !errors.Is(err, ErrWrongChain) {
		t.Errorf("reader = %v, want ErrWrongChain", err)
	}
	if all := h.Health(); len(all) != 1 || !strings.Contains(all[0].Failure, ErrWrongChain.Error()) || all[0].RetryAt.IsZero() {
		t.Errorf("health = %+v", all)
	}
	before := n.count("eth_blockNumber")
	_, _ = r.BlockNumber(t.Context())
	if n.count("eth_blockNumber") != before {
		t.Error("the endpoint was used after it proved wrong")
	}
	id.Store(1)
	if _, err := r.BlockNumber(t.Context()); err != nil {
		t.Errorf("the endpoint is right again: %v", err)
	}
}

// TestHealth checks that a failing endpoint is asked after its sibling until its backoff
// is over.
func TestHealth(t *testing.T) {
	a, b := &testNode{answer: constant(1)}, &testNode{answer: constant(1)}
	h := newTestClient(t, 1, 1, a.serve(t), b.serve(t))
	r, err := h.Reader(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	a.set(func(w http.ResponseWriter, _ string) bool { http.Error(w, "", http.StatusBadGateway); return true }, nil)
	for range 4 {
		if _, err := r.BlockNumber(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.count("eth_blockNumber"); got != 1 {
		t.Errorf("the failing endpoint was asked %d times, want 1", got)
	}
	if got := b.count("eth_blockNumber"); got != 4 {
		t.Errorf("its sibling answered %d times, want 4", got)
	}
	a.set(nil, nil)
	b.set(func(w http.ResponseWriter, _ string) bool { http.Error(w, "", http.StatusBadGateway); return true }, nil)
	if _, err := r.BlockNumber(t.Context()); err != nil {
		t.Errorf("a resting endpoint is still better than none: %v", err)
	}
}

// TestCallerGivesUp checks that a cancelled context is not counted as an endpoint's
// failure.
func TestCallerGivesUp(t *testing.T) {
	n := &testNode{answer: constant(1)}
	h := newTestClient(t, 1, 1, n.serve(t))
	r, err := h.Reader(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.BlockNumber(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if _, resting := h.pools[0].endpoints[0].backingOff(); resting {
		t.Error("the endpoint was blamed")
	}
}

func TestJudge(t *testing.T) {
	for text, want := range map[string]verdict{
		"already known": accepted,
		"known transaction: 7f657507aee0511e36d2d1972a6b22e917cc89f92b6c12c4dbd57eaabb236960": accepted,
		"call failed: AlreadyKnown":                             accepted,
		"INTERNAL_ERROR: existing tx with same hash":            accepted,
		"nonce too low: next nonce 2, tx nonce 0":               ambiguous,
		"OldNonce, Current nonce: 22, nonce of rejected tx: 17": ambiguous,
		"replacement transaction underpriced":                   ambiguous,
		"Replacement transaction underpriced":                   ambiguous,
		"INTERNAL_ERROR: could not replace existing tx":         ambiguous,
		"NonceGap, Future nonce. Expected nonce: 10":            ambiguous,
		"txpool is full":           ambiguous,
		"pending sub-pool is full": ambiguous,
		"FeeTooLowToCompete, Fee per gas needed to be added to pool is 7, got 6":             ambiguous,
		"future transaction tries to replace pending":                                        ambiguous,
		"Syncing, Node is syncing":                                                           ambiguous,
		"An invalid transaction with a lower nonce exists":                                   ambiguous,
		"address already reserved":                                                           ambiguous,
		"Existing transaction had higher priority":                                           ambiguous,
		"transaction type 2 conflicts with existing transaction for 0x1":                     ambiguous,
		"only replay-protected (EIP-155) transactions allowed over RPC":                      refused,
		"max priority fee per gas higher than 2^256-1":                                       refused,
		"max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2": refused,
		"insufficient funds for transfer":                                                    refused,
		"Wrong chainId":                                                                      refused,
		"sequencer pending tx pool full, please try again":                                   ambiguous,
		"":                  ambiguous,
		"internal error":    ambiguous,
		"request timed out": ambiguous,
		"insufficient funds for gas * price + value: balance 0, tx cost 9327080000000000, overshot 9327080000000000": refused,
		"Upfront cost exceeds account balance":                               refused,
		"InsufficientFunds, Account balance: 4, cumulative cost: 22":         refused,
		"Signer had insufficient balance":                                    refused,
		"transaction underpriced":                                            refused,
		"transaction underpriced: tip needed 1, tip permitted 0":             refused,
		"intrinsic gas too low: gas 0, minimum needed 21000":                 refused,
		"invalid sender: invalid chain id for signer: have 1 want 10":        refused,
		"tx fee (1.10 ether) exceeds the configured cap (1.00 ether)":        refused,
		"Transaction gas limit exceeds block gas limit":                      refused,
		"FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30": refused,
	} {
		if got := judge(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
	for _, a := range answers {
		if a.text != strings.ToLower(a.text) || a.nodes == "" {
			t.Errorf("%q can never be found, or has no source", a.text)
		}
		if got := judge("error: " + a.text + " (code -32000)"); got != a.verdict {
			t.Errorf("%q is hidden by an earlier row: %d, want %d", a.text, got, a.verdict)
		}
	}
}

// TestSendOutcome checks what two endpoints' answers to a broadcast mean together. "gone"
// is an address where nothing listens.
func TestSendOutcome(t *testing.T) {
	key := newTestKey(t, "a")
	tx, err := key.SignTx(t.Context(), key.addr, unsigned(pay(1, key.addr, "0xb", 1), 0, 21000, Fees{GasFeeCap: big.NewInt(1), GasTipCap: big.NewInt(1)}), big.NewInt(1))
	if err != nil {
		t.Fatal(err)
	}
	reply := func(kind string) string {
		if kind == "gone" {
			s := httptest.NewServer(nil)
			s.Close()
			return s.URL
		}
		n := &testNode{answer: constant(1)}
		n.set(func(w http.ResponseWriter, method string) bool {
			if method == "eth_sendRawTransaction" && kind == "lost" {
				panic(http.ErrAbortHandler)
			}
			return false
		}, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if method != "eth_sendRawTransaction" {
				return result, err
			}
			if kind == "ok" {
				return tx.Hash(), nil
			}
			return nil, &rpcError{Code: -32000, Message: kind}
		})
		return n.serve(t)
	}
	const poor, odd = "insufficient funds for gas * price + value", "something new"
	for _, c := range []struct {
		a, b string
		want string
	}{
		{"ok", odd, "accepted"},
		{poor, "ok", "accepted"},
		{"gone", "ok", "accepted"},
		{"lost", "already known", "accepted"},
		{poor, poor, "rejected"},
		{poor, "gone", "rejected"},
		{poor, odd, "open"},
		{odd, poor, "open"},
		{"lost", poor, "open"},
		{poor, "lost", "open"},
		{"nonce too low", poor, "open"},
		{"gone", "gone", "unreachable"},
		{"gone", odd, "open"},
	} {
		h := newTestClient(t, 1, 1, reply(c.a), reply(c.b))
		err := reader{h.pools[0]}.SendTransaction(t.Context(), tx)
		got := "open"
		switch {
		case err == nil:
			got = "accepted"
		case errors.Is(err, ErrRejected):
			got = "rejected"
		case errors.Is(err, ErrUnreachable):
			got = "unreachable"
		}
		if got != c.want {
			t.Errorf("%q then %q: %s (%v), want %s", c.a, c.b, got, err, c.want)
		}
	}
}
