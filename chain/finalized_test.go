package chain

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// withFinal makes a node's final block one of that number; 0 = it knows no such tag.
func withFinal(n *testNode, final uint64) *testNode {
	n.rewrite = func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method != "eth_getBlockByNumber" || string(args[0]) != `"finalized"` {
			return result, err
		}
		if final == 0 {
			return nil, &rpcError{Code: -32602, Message: "unknown tag"}
		}
		return map[string]any{"number": hexutil.Uint64(final), "hash": claimedHash(final, 0), "timestamp": hexutil.Uint64(1000 * final)}, nil
	}
	return n
}

// TestFinalizedDecides checks that on a network that goes by final blocks neither depth alone
// nor a final block alone proves anything, and that a host without the tag proves nothing.
func TestFinalizedDecides(t *testing.T) {
	const bnb = 56
	if n, _ := NetworkByID(bnb); !n.Finalized || n.Depth != 3 {
		t.Fatalf("%+v", n)
	}
	mined := claimedTx{head: 12, block: 10}
	shallow := mined
	shallow.head = 11
	for name, c := range map[string]struct {
		of      claimedTx
		final   uint64
		proven  bool
		depth   uint64
		settled uint64 // the last block that counts as final; 0 = unknown
	}{
		"final and deep":      {mined, 10, true, 3, 10},
		"deep and not final":  {mined, 9, false, 2, 9},
		"final and not deep":  {shallow, 10, false, 2, 9},
		"more final than old": {mined, 12, true, 3, 10},
		"no such tag":         {mined, 0, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTestClient(t, bnb, 0, withFinal(c.of.node(bnb), c.final).serve(t))
			ev, proven, err := h.Evidence(t.Context(), bnb, evidenceTx)
			if proven != c.proven || ev.Depth != c.depth || (err != nil) != (c.final == 0) {
				t.Errorf("proven %t at depth %d, %v", proven, ev.Depth, err)
			}
			b, _, err := h.Settled(t.Context(), bnb)
			if b.Number != c.settled || (err != nil) != (c.settled == 0) {
				t.Errorf("settled %d, %v", b.Number, err)
			}
		})
	}
}

// TestLocalDepth checks that a sandbox's own depth is all that counts there.
func TestLocalDepth(t *testing.T) {
	mined := claimedTx{head: 11, block: 10}
	h := newTestClient(t, 56, 2, withFinal(mined.node(56), 0).serve(t))
	if ev, proven, err := h.Evidence(t.Context(), 56, evidenceTx); !proven || err != nil {
		t.Errorf("%+v, %t, %v", ev, proven, err)
	}
}

// TestEndedNetwork checks that a network that was shut down has no gas price and is asked for
// none, that balances are still read, and that only a sandbox can treat it as running.
func TestEndedNetwork(t *testing.T) {
	const id = 5330
	n := &testNode{answer: constant(id)}
	h, err := NewMultiClient([]Endpoint{{Chain: id, URLs: []string{n.serve(t)}}}, Options{AllowLoopback: []uint64{id}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if of, err := h.Network(id); err != nil || !of.HasEnded() {
		t.Errorf("%+v, %v", of, err)
	}
	if _, err := h.GasPrice(t.Context(), id); !errors.Is(err, ErrNetworkEnded) {
		t.Error(err)
	}
	if err := h.WatchGas(t.Context(), id, func(GasPrice) {}); !errors.Is(err, ErrNetworkEnded) {
		t.Error(err)
	}
	if len(n.calls) != 0 {
		t.Errorf("it was asked for %v", n.calls)
	}
	if _, err := h.Balance(t.Context(), id, common.Address{1}, Native); n.count("eth_getBalance") != 1 {
		t.Errorf("its balances are not read: %v", err)
	}
	if _, err := NewMultiClient([]Endpoint{{Chain: id}}, Options{Revived: []uint64{id}}); err == nil {
		t.Error("it runs outside the sandbox")
	}
	h, err = NewMultiClient([]Endpoint{{Chain: id, URLs: []string{"http://127.0.0.1:1"}}}, Options{Sandbox: true, Revived: []uint64{id}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if of, _ := h.Network(id); of.HasEnded() {
		t.Error("it does not run in the sandbox")
	}
}

// TestRecordedRefusals probes hosts that refuse wide ranges of logs as real ones did: the
// search is narrowed until they answer. BNB's own refuse every range.
func TestRecordedRefusals(t *testing.T) {
	raw, err := os.ReadFile("../testdata/live/hosts/getlogs-refusals.json")
	if err != nil {
		t.Fatal(err)
	}
	var refusals []struct {
		ChainID uint64
		URL     string
		Answer  struct{ Error rpcError }
	}
	if err := json.Unmarshal(raw, &refusals); err != nil || len(refusals) < 6 {
		t.Fatal(len(refusals), err)
	}
	for _, r := range refusals {
		if _, known := NetworkByID(r.ChainID); !known {
			continue
		}
		t.Run(r.URL, func(t *testing.T) {
			none := strings.Contains(r.URL, "bsc-dataseed")
			n := (claimedTx{head: 5_000}).node(r.ChainID)
			n.rewrite = func(method string, args []json.RawMessage, result any, err error) (any, error) {
				switch {
				case method == "eth_getBlockByNumber":
					return map[string]any{"number": hexutil.Uint64(5_000), "hash": claimedHash(5_000, 0), "timestamp": hexutil.Uint64(time.Now().Unix())}, nil
				case method != "eth_getLogs":
					return result, err
				}
				var f struct{ FromBlock, ToBlock hexutil.Uint64 }
				if err := json.Unmarshal(args[0], &f); err != nil {
					return nil, err
				}
				if none || f.ToBlock-f.FromBlock >= 100 {
					return nil, &r.Answer.Error
				}
				return []any{}, nil
			}
			h := newTestClient(t, r.ChainID, 0, n.serve(t))
			found, err := h.Probe(t.Context(), r.ChainID)
			if err != nil || len(found) != 1 || found[0].Err != nil {
				t.Fatalf("%+v, %v", found, err)
			}
			if p := found[0]; (p.LogErr != nil) != none || !none && p.LogBlocks < MinLogRange {
				t.Errorf("logs over %d blocks, %v", p.LogBlocks, p.LogErr)
			}
		})
	}
}
