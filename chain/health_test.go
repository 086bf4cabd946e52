package chain

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// down answers every request with an error of the gateway in front of the node.
func down(w http.ResponseWriter, _ string) bool {
	http.Error(w, "", http.StatusBadGateway)
	return true
}

// at is a node whose latest block has that number and age.
func at(id, number uint64, age time.Duration) *testNode {
	return &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		switch method {
		case "eth_getBlockByNumber":
			return map[string]any{
				"number": hexutil.Uint64(number), "hash": common.Hash{1, byte(number)}, "baseFeePerGas": "0x1", "transactions": []common.Hash{},
				"timestamp": hexutil.Uint64(time.Now().Add(-age).Unix()),
			}, nil
		case "eth_getBalance":
			return hexutil.Uint64(number), nil
		}
		return constant(id)(ctx, method, args)
	}}
}

// TestBehind checks, on a network with blocks of two seconds, that a node well behind is
// not the one that is asked for state, and that a claim of a high number alone puts no
// other node behind.
func TestBehind(t *testing.T) {
	const far = 5 * time.Minute
	for _, tc := range []struct {
		name   string
		nodes  []*testNode
		behind []bool
		asked  int // the one that is asked for state
	}{
		{"level", []*testNode{at(10, 90, time.Second), at(10, 90, time.Second)}, []bool{false, false}, 0},
		{"a few blocks", []*testNode{at(10, 85, 10*time.Second), at(10, 90, time.Second)}, []bool{false, false}, 0},
		{"far", []*testNode{at(10, 60, far), at(10, 90, time.Second)}, []bool{true, false}, 1},
		{"a claim of a number", []*testNode{at(10, 90, 2*time.Second), at(10, 1e9, -time.Hour)}, []bool{false, false}, 0},
		{"late, but not long", []*testNode{at(10, 60, time.Minute), at(10, 90, time.Second)}, []bool{true, false}, 1},
		{"a chain that stands", []*testNode{at(10, 90, far), at(10, 90, far)}, []bool{false, false}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var urls []string
			for _, n := range tc.nodes {
				urls = append(urls, n.serve(t))
			}
			h := newTestClient(t, 10, 1, urls...)
			if all := h.Health(); len(all) != 2 || all[0].Head != 0 || all[0].Failure != "" {
				t.Errorf("before any use: %+v", all)
			}
			balance, err := h.Balance(t.Context(), 10, common.Address{1}, Native)
			if err != nil || tc.nodes[tc.asked].count("eth_getBalance") != 1 || tc.nodes[1-tc.asked].count("eth_getBalance") != 0 {
				t.Errorf("balance %v, %v; asked %d and %d times", balance, err, tc.nodes[0].count("eth_getBalance"), tc.nodes[1].count("eth_getBalance"))
			}
			for i, e := range h.Health() {
				if e.Behind != tc.behind[i] || e.Head == 0 || e.HeadTime.IsZero() || e.Chain != 10 {
					t.Errorf("endpoint %d: %+v", i, e)
				}
			}
		})
	}
}

// TestLyingHead checks that an endpoint that claims a newer head than all others, on a
// stalled chain or with a fast clock, is not the only one asked when it then gives no
// answer.
func TestLyingHead(t *testing.T) {
	for _, answer := range []error{&rpcError{Code: -32000, Message: "internal error"}, nil} {
		honest, liar := at(10, 90, time.Minute), at(10, 91, 0)
		liar.set(func(w http.ResponseWriter, method string) bool {
			return answer == nil && method == "eth_getBalance" && down(w, method)
		}, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if method == "eth_getBalance" {
				return nil, answer
			}
			return result, err
		})
		h := newTestClient(t, 10, 1, honest.serve(t), liar.serve(t))
		if balance, err := h.Balance(t.Context(), 10, common.Address{1}, Native); err != nil || balance.Int64() != 90 {
			t.Errorf("%v: balance %v, %v", answer, balance, err)
		}
	}
}

// TestGoneHead checks that the head of an endpoint whose last use failed does not count,
// however new it is.
func TestGoneHead(t *testing.T) {
	honest, liar := at(10, 90, time.Hour), at(10, 91, 0)
	h := newTestClient(t, 10, 1, honest.serve(t), liar.serve(t))
	liar.set(func(w http.ResponseWriter, method string) bool { return method == "eth_getBalance" && down(w, method) }, nil)
	ask := func() error {
		_, err := h.Balance(t.Context(), 10, common.Address{1}, Native)
		return err
	}
	if err := ask(); err == nil || honest.count("eth_getBalance") != 0 {
		t.Errorf("an hour behind: %v", err)
	}
	if err := ask(); err != nil {
		t.Error(err)
	}
}

// TestLaterBlockDoesNotPutAnEndpointBehind checks that a block made after an endpoint was last seen does
// not put it behind.
func TestLaterBlockDoesNotPutAnEndpointBehind(t *testing.T) {
	n, _ := NetworkByID(10)
	now := time.Now()
	e := &endpoint{seen: seenHead{number: 90, time: now.Add(-time.Minute), at: now, age: time.Minute}}
	for after, want := range map[time.Duration]bool{-time.Second: true, 10 * time.Second: false} {
		newest := seenHead{number: 91, time: now.Add(after), at: now.Add(after + time.Second), age: time.Second}
		if e.behind(newest, n) != want {
			t.Errorf("a block made %s after it was seen: behind = %v", after, !want)
		}
	}
}

// TestSurveyFindsTheDead checks that a survey also reaches endpoints that are only asked
// when others fail.
func TestSurveyFindsTheDead(t *testing.T) {
	good, dead, strange := at(10, 90, 0), at(10, 90, 0), at(1, 90, 0)
	dead.set(down, nil)
	h := newTestClient(t, 10, 1, good.serve(t), dead.serve(t), strange.serve(t))
	for range 5 {
		if _, err := h.Balance(t.Context(), 10, common.Address{1}, Native); err != nil {
			t.Fatal(err)
		}
	}
	all := h.Health()
	if all[0].Failure != "" || all[1].Failure == "" || all[1].RetryAt.IsZero() || all[2].Failure == "" {
		t.Errorf("health = %+v", all)
	}
	if n := good.count("eth_getBlockByNumber"); n != 1 {
		t.Errorf("surveyed %d times", n)
	}
}
