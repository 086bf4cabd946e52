package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestReplace checks that a network's new endpoints are asked from then on, and that a
// bad URL changes nothing.
func TestReplace(t *testing.T) {
	serve := func(block string) string {
		n := &testNode{answer: func(_ context.Context, method string, _ []json.RawMessage) (any, error) {
			return map[string]string{"eth_chainId": "0x1", "eth_blockNumber": block}[method], nil
		}}
		return n.serve(t)
	}
	first, second := serve("0x1"), serve("0x2")
	h, err := NewMultiClient([]Endpoint{{Chain: 1, URLs: []string{first}, Depth: 9}}, Options{AllowLoopback: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	block := func() uint64 {
		t.Helper()
		r, err := h.Reader(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		n, err := r.BlockNumber(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := block(); n != 1 {
		t.Fatalf("block %d", n)
	}
	for _, urls := range [][]string{{"http://rpc.example"}, {"https://rpc.example/#key"}, {second, "ftp://rpc.example"}} {
		if err := h.Replace(1, urls); err == nil {
			t.Errorf("%v was taken", urls)
		}
	}
	if err := h.Replace(10, []string{second}); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("a network that is not configured: %v", err)
	}
	if n := block(); n != 1 {
		t.Fatalf("a refused URL is asked: block %d", n)
	}
	if err := h.Replace(1, []string{second}); err != nil {
		t.Fatal(err)
	}
	n, err := h.Network(1)
	if got := block(); got != 2 || err != nil || n.Depth != 9 || len(h.Networks()) != 1 {
		t.Errorf("block %d, %+v, %v", got, n, err)
	}
	if err := h.Replace(1, nil); err != nil {
		t.Fatal(err)
	}
	if n, _ := h.Network(1); n.RPC[0] != defaultURLs(1)[0] || n.Depth != 9 {
		t.Errorf("Networks without URLs = %+v", n)
	}
}

// TestNoWrapped checks that a network without a known wrapped coin says so.
func TestNoWrapped(t *testing.T) {
	for _, n := range Networks() {
		if (n.NoWrappedReason() == "") != (n.WrappedNative != common.Address{}) {
			t.Errorf("chain %d: %q", n.ID, n.NoWrappedReason())
		}
	}
}

// TestAskHostileToken checks that asking ends whatever code is at an address, and that a
// call that fails is an answer.
func TestAskHostileToken(t *testing.T) {
	endless := common.HexToAddress("0x1000000000000000000000000000000000000001")
	huge := common.HexToAddress("0x1000000000000000000000000000000000000002")
	failing := common.HexToAddress("0x1000000000000000000000000000000000000003")
	c := newTestChain(t, 1, types.GenesisAlloc{
		endless: {Balance: new(big.Int), Code: common.FromHex("5b600056")},     // jumps back for ever
		huge:    {Balance: new(big.Int), Code: common.FromHex("620f42405ff3")}, // returns a million zeros
		failing: {Balance: new(big.Int), Code: common.FromHex("5f5ffd")},       // reverts
	})
	h, err := NewMultiClient([]Endpoint{{Chain: 1, URLs: []string{c.serve(t)}}}, Options{Sandbox: true, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, at := range []common.Address{endless, failing} {
		a, err := h.AskToken(t.Context(), 1, at)
		if err != nil || len(a.Code) == 0 || a.Symbol != nil || a.Decimals != nil || a.NFT != nil {
			t.Errorf("%s: %+v, %v", at, a, err)
		}
	}
	a, err := h.AskToken(t.Context(), 1, huge)
	if err != nil || len(a.Symbol) != 1_000_000 || !bytes.Equal(a.Decimals[:32], make([]byte, 32)) {
		t.Errorf("%d bytes, %v", len(a.Symbol), err)
	}
	if a, err := h.AskToken(t.Context(), 1, common.Address{7}); err != nil || len(a.Code) != 0 {
		t.Errorf("nothing there: %+v, %v", a, err)
	}
}

// TestTokenSaysByHowMany checks that two hosts agree on a token where two are configured,
// and one where there is no other.
func TestTokenSaysByHowMany(t *testing.T) {
	c := newDecidingChain(t)
	for hosts, h := range map[int]*MultiClient{1: newTestClient(t, 1, 1, c.says(t, "", nil)), 2: newTestClient(t, 1, 1, c.says(t, "", nil), c.says(t, "", nil))} {
		if a, err := h.AskToken(t.Context(), 1, keeper); err != nil || a.Hosts != hosts || len(a.Decimals) == 0 {
			t.Errorf("%d: %+v, %v", hosts, a, err)
		}
	}
}
