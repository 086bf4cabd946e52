package chain

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/ethclient/simulated"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
	bolt "go.etcd.io/bbolt"

	"swapkeep/test/await"
)

// An rpcError is a JSON-RPC error that a test node answers with.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// An rpcFunc answers one JSON-RPC request.
type rpcFunc func(ctx context.Context, method string, args []json.RawMessage) (any, error)

// A testNode serves JSON-RPC over HTTP and misbehaves as told.
type testNode struct {
	answer rpcFunc

	mu    sync.Mutex
	calls map[string]int
	// before, if set, may answer a request itself (done) with a raw HTTP response, or let
	// it pass.
	before func(w http.ResponseWriter, method string) (done bool)
	// rewrite, if set, may replace the answer to a request.
	rewrite func(method string, args []json.RawMessage, result any, err error) (any, error)
}

func (n *testNode) set(before func(w http.ResponseWriter, method string) bool, rewrite func(string, []json.RawMessage, any, error) (any, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before, n.rewrite = before, rewrite
}

func (n *testNode) count(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[method]
}

func (n *testNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&req); err != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	n.mu.Lock()
	if n.calls == nil {
		n.calls = make(map[string]int)
	}
	n.calls[req.Method]++
	before, rewrite := n.before, n.rewrite
	n.mu.Unlock()
	if before != nil && before(w, req.Method) {
		return
	}
	result, err := n.answer(r.Context(), req.Method, req.Params)
	if rewrite != nil {
		result, err = rewrite(req.Method, req.Params, result, err)
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": req.ID}
	var re *rpcError
	switch {
	case errors.As(err, &re):
		reply["error"] = re
	case err != nil:
		reply["error"] = &rpcError{Code: -32000, Message: err.Error()}
	default:
		reply["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}

// serve runs n on loopback and returns its URL.
func (n *testNode) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	return server.URL
}

// A testChain is a real EVM in process behind real HTTP.
type testChain struct {
	*simulated.Backend
	*testNode
}

// newTestChain starts a testChain. Only Commit mines blocks.
func newTestChain(t *testing.T, id uint64, alloc types.GenesisAlloc) *testChain {
	t.Helper()
	sim := simulated.NewBackend(alloc, func(_ *node.Config, c *ethconfig.Config) {
		cfg := *c.Genesis.Config
		cfg.ChainID = new(big.Int).SetUint64(id)
		cfg.BogotaTime = nil // a future fork with another gas schedule
		c.Genesis.Config = &cfg
		c.NetworkId = id
	})
	t.Cleanup(func() { _ = sim.Close() })
	// The simulated client hides its raw RPC client.
	inner := reflect.ValueOf(sim.Client()).FieldByName("Client").Interface().(*ethclient.Client).Client()
	sim.Commit()
	return &testChain{sim, &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		list := make([]any, len(args))
		for i, a := range args {
			list[i] = a
		}
		var result json.RawMessage
		var err error
		await.Holds(10*time.Second, func() bool { // on a loaded machine the node's index lags
			err = inner.CallContext(ctx, &result, method, list...)
			return err == nil || !strings.Contains(err.Error(), "indexing is in progress")
		})
		if err != nil {
			return nil, relayed(err)
		}
		return result, nil
	}}}
}

// ends mines two blocks and checks the final states of the transactions in want, with
// evidence.
func (c *testChain) ends(t *testing.T, s *Sender, want map[string]TxState) {
	t.Helper()
	c.Commit()
	c.Commit()
	for key, state := range want {
		if tx, ev := poll(t, s, key); tx.State != state || ev == nil {
			t.Errorf("%s is %s with evidence %v, want %s", key, tx.State, ev, state)
		}
	}
}

// relayed keeps code and data of the real node's error.
func relayed(err error) error {
	var re rpc.Error
	if !errors.As(err, &re) {
		return err
	}
	out := &rpcError{Code: re.ErrorCode(), Message: re.Error()}
	var de rpc.DataError
	if errors.As(err, &de) {
		out.Data = de.ErrorData()
	}
	return out
}

// newTestClient connects to one network's nodes, in the sandbox.
func newTestClient(t *testing.T, id, depth uint64, urls ...string) *MultiClient {
	t.Helper()
	h, err := NewMultiClient([]Endpoint{{Chain: id, URLs: urls, Depth: depth}}, Options{Sandbox: true, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// A testKey signs for one account and counts its signatures. Test keys only.
type testKey struct {
	key  *ecdsa.PrivateKey
	addr common.Address

	mu    sync.Mutex
	signs int
	fail  error
}

func newTestKey(t testing.TB, secret string) *testKey {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("test key: " + secret)))
	if err != nil {
		t.Fatal(err)
	}
	return &testKey{key: key, addr: crypto.PubkeyToAddress(key.PublicKey)}
}

func (k *testKey) SignTx(_ context.Context, _ common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return nil, k.fail
	}
	k.signs++
	return types.SignTx(tx, types.LatestSignerForChainID(id), k.key)
}

func (k *testKey) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.signs
}

// funded gives each account 100 coins.
func funded(accounts ...common.Address) types.GenesisAlloc {
	alloc := types.GenesisAlloc{}
	for _, a := range accounts {
		alloc[a] = types.Account{Balance: new(big.Int).Mul(big.NewInt(100), big.NewInt(params.Ether))}
	}
	return alloc
}

func openDB(t testing.TB, path string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func tempDB(t testing.TB) *bolt.DB {
	t.Helper()
	return openDB(t, filepath.Join(t.TempDir(), "orders.db"))
}

func newTestSender(t *testing.T, db *bolt.DB, nodes Nodes, signer Signer) *Sender {
	t.Helper()
	s, err := NewSender(db, nodes, signer, SenderOptions{Rebroadcast: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func soon() Policy { return Policy{Until: time.Now().Add(time.Minute)} }

// pay returns a call that sends n wei.
func pay(id uint64, from common.Address, to string, n int64) Call {
	return Call{ChainID: id, From: from, To: common.HexToAddress(to), Value: big.NewInt(n)}
}

func poll(t *testing.T, s *Sender, key string) (Tx, *Evidence) {
	t.Helper()
	tx, ev, err := s.Poll(t.Context(), key)
	if err != nil {
		t.Fatalf("poll %s: %v", key, err)
	}
	return tx, ev
}

func balanceOf(t *testing.T, c *testChain, a common.Address) int64 {
	t.Helper()
	b, err := c.Client().BalanceAt(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Int64()
}
