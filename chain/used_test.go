package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A batcher splits a batch for a test node, or refuses it in one of the ways
// that nodes do.
type batcher struct {
	*testNode
	refuse  string // "", status, busy, object or elements
	batches atomic.Int32
}

func (b *batcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var calls []json.RawMessage
	if json.Unmarshal(body, &calls) != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		b.testNode.ServeHTTP(w, r)
		return
	}
	b.batches.Add(1)
	switch b.refuse {
	case "status":
		http.Error(w, "no batches", http.StatusBadRequest)
		return
	case "busy":
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	case "object":
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}`)
		return
	}
	var replies []json.RawMessage
	for i, call := range calls {
		one := httptest.NewRecorder()
		b.testNode.ServeHTTP(one, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(call)))
		reply := one.Body.Bytes()
		if b.refuse == "elements" && i > 2 {
			var id struct{ ID json.RawMessage }
			_ = json.Unmarshal(call, &id)
			reply = []byte(`{"jsonrpc":"2.0","id":` + string(id.ID) + `,"error":{"code":-32600,"message":"batch too long"}}`)
		}
		replies = append(replies, reply)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(replies)
}

// TestUsed checks that an account counts as used if it sent, has coins, or has a token.
func TestUsed(t *testing.T) {
	sender, rich, holder, fresh := common.Address{1}, common.Address{2}, common.Address{3}, common.Address{4}
	token, none := common.HexToAddress("0xaa00000000000000000000000000000000000001"), common.HexToAddress("0xaa00000000000000000000000000000000000002")
	alloc := funded(rich)
	alloc[sender] = types.Account{Nonce: 3, Balance: common.Big0}
	alloc[token] = types.Account{ // balanceOf reads the slot that its argument names
		Code: common.FromHex("60043554600052" + "60206000f3"), Balance: common.Big0,
		Storage: map[common.Hash]common.Hash{common.BytesToHash(holder[:]): {31: 7}},
	}
	want := []bool{true, true, true, false}
	for _, tc := range []struct {
		refuse string
		err    error
		single int // eth_getTransactionCount requests outside a batch
	}{
		{refuse: ""},
		{refuse: "status", single: 4},
		{refuse: "object", single: 4},
		{refuse: "elements", single: 4},
		{refuse: "busy", err: ErrUnreachable},
	} {
		b := &batcher{testNode: newTestChain(t, 1, alloc).testNode, refuse: tc.refuse}
		server := httptest.NewServer(b)
		t.Cleanup(server.Close)
		h := newTestClient(t, 1, 1, server.URL)
		used, err := h.Used(t.Context(), 1, []common.Address{sender, rich, holder, fresh}, []common.Address{token, none})
		if !errors.Is(err, tc.err) || err == nil && !slices.Equal(used, want) {
			t.Errorf("%q: %v, %v", tc.refuse, used, err)
		}
		inBatch := map[string]int{"": 4, "elements": 4}[tc.refuse]
		if n := b.count("eth_getTransactionCount"); n != inBatch+tc.single || b.batches.Load() != 1 {
			t.Errorf("%q: %d nonces, %d batches", tc.refuse, n, b.batches.Load())
		}
	}
}
