package chain

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// TestFarNetworks checks the list of far networks: it is the one of the research, with distinct
// operators, and has no network of the wallet's.
func TestFarNetworks(t *testing.T) {
	raw, err := os.ReadFile("../testdata/live/far-rpc.json")
	if err != nil {
		t.Fatal(err)
	}
	var found, rows []farRow
	if err := json.Unmarshal([]byte(strings.NewReplacer(`"finalized": "unknown"`, `"finalized": false`).Replace(string(raw))), &found); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(farJSON, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(found) || len(rows) < 20 {
		t.Errorf("%d networks, the research has %d", len(rows), len(found))
	}
	for _, r := range rows {
		i := slices.IndexFunc(found, func(f farRow) bool { return f.ChainID == r.ChainID })
		if i < 0 || !slices.Equal(r.Hosts, found[i].Hosts) || r.Finalized != found[i].Finalized {
			t.Errorf("chain %d is not as the research has it", r.ChainID)
		}
		operators := map[string]bool{}
		for _, h := range r.Hosts {
			if _, err := time.Parse(time.DateOnly, h.Date); err != nil || h.Source == "" || !strings.HasPrefix(h.URL, "https://") || h.Logs != "documented" && h.Logs != "unknown" || operators[h.Operator] {
				t.Errorf("chain %d: %+v, %v", r.ChainID, h, err)
			}
			operators[h.Operator] = true
		}
	}
	for _, n := range FarNetworks() {
		if _, own := NetworkByID(n.ID); own || n.Finalized == (n.Depth == farDepth) || len(n.RPC) == 0 {
			t.Errorf("%+v", n)
		}
	}
}

// TestFarNetworkIsReadOnly checks that a far network shows transactions and its head, and is no
// network for anything else.
func TestFarNetworkIsReadOnly(t *testing.T) {
	const far = 59144
	h := newTestClient(t, 1, 1, claimedTx{head: 12, block: 10}.node(1).serve(t))
	if h.ReadsTransactions(far) {
		t.Error("read before there is an endpoint")
	}
	if err := h.SetFar([]Endpoint{{Chain: far, URLs: []string{claimedTx{head: 12, block: 10}.node(far).serve(t)}, Depth: 2}}); err != nil {
		t.Fatal(err)
	}
	if ev, proven, err := h.Evidence(t.Context(), far, evidenceTx); err != nil || !proven || ev.Depth != 3 || !h.ReadsTransactions(far) {
		t.Errorf("proven %t at depth %d, %v", proven, ev.Depth, err)
	}
	if n, err := h.Head(t.Context(), far); err != nil || n != 12 {
		t.Errorf("head %d, %v", n, err)
	}
	_, err := h.Network(far)
	_, balance := h.Balance(t.Context(), far, common.Address{1}, common.Address{})
	_, _, settled := h.Settled(t.Context(), far)
	_, _, delta := h.BalanceDelta(t.Context(), far, common.Address{1}, 10)
	_, logs := h.Logs(t.Context(), far, LogFilter{}, 1)
	for i, err := range []error{err, balance, settled, delta, logs} {
		if !errors.Is(err, ErrNoNetwork) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if slices.ContainsFunc(h.Networks(), func(n Network) bool { return n.ID == far }) {
		t.Error("listed among the wallet's networks")
	}
	if err := h.SetFar([]Endpoint{{Chain: 1_000_003}}); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("an unknown network: %v", err)
	}
}

// TestFarNetworkAge checks that where no tag says what is final, a block must be a minute old as
// well as deep.
func TestFarNetworkAge(t *testing.T) {
	n := Network{Depth: 3, MinAge: time.Minute}
	for name, c := range map[string]struct {
		age   time.Duration
		depth uint64
	}{"a minute old": {61 * time.Second, 5}, "younger": {30 * time.Second, 2}} {
		if got := depthOf(n, 10, 14, 14, time.Now().Add(-c.age)); got != c.depth {
			t.Errorf("%s: depth %d, want %d", name, got, c.depth)
		}
	}
}
