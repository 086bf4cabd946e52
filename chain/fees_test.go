package chain

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A pricer is a node with given gas prices.
type pricer struct {
	base    any    // base fee of the latest block
	tip     string // suggested tip
	price   string // suggested gas price
	history any    // nil = it has no eth_feeHistory
	gas     uint64 // gas estimate
}

func (p pricer) node(id uint64) *testNode {
	return &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		switch method {
		case "eth_getBlockByNumber":
			return map[string]any{"number": "0x7", "hash": common.Hash{1}, "timestamp": "0x6553f100", "baseFeePerGas": p.base, "transactions": []common.Hash{}}, nil
		case "eth_maxPriorityFeePerGas":
			return p.tip, nil
		case "eth_gasPrice":
			return p.price, nil
		case "eth_estimateGas":
			return hexutil.Uint64(p.gas), nil
		case "eth_call": // the L1 fee oracle, which a sandbox may lack
			return "0x", nil
		case "eth_feeHistory":
			if p.history != nil {
				return p.history, nil
			}
		}
		return constant(id)(ctx, method, args)
	}}
}

// history returns an answer to eth_feeHistory: next is the base fee after the latest
// block; each block has whether anybody paid, then what the percentiles paid, in mwei.
func history(next string, blocks ...[4]int64) map[string]any {
	used, rewards, base := []float64{}, [][]string{}, []string{}
	for _, b := range blocks {
		used, base = append(used, float64(b[0])), append(base, "0x64")
		row := []string{}
		for _, x := range b[1:] {
			row = append(row, hexutil.EncodeBig(mwei(x)))
		}
		rewards = append(rewards, row)
	}
	return map[string]any{"oldestBlock": "0x5", "baseFeePerGas": append(base, next), "gasUsedRatio": used, "reward": rewards}
}

// TestTiers checks the three tiers for each kind of network and answer. Prices are in
// mwei (0.001 gwei); the base fee is 1000 of them.
func TestTiers(t *testing.T) {
	const gwei = "0x3b9aca00"
	paid := history(gwei, [4]int64{1, 10, 20, 30}, [4]int64{0, 0, 0, 0}, [4]int64{1, 30, 40, 50}, [4]int64{1, 11, 21, 31})
	for _, tc := range []struct {
		name      string
		id        uint64
		p         pricer
		tips      [3]int64
		caps      [3]int64
		legacy    bool
		estimates bool
	}{
		{"the medians of what was paid", 1, pricer{base: gwei, history: paid}, [3]int64{11, 21, 31}, [3]int64{1261, 2021, 2031}, false, true},
		{"no history", 1, pricer{base: gwei, tip: "0x5f5e100"}, [3]int64{100, 113, 150}, [3]int64{1350, 2113, 2150}, false, true},
		{"only empty blocks in the history", 1, pricer{base: gwei, tip: "0x5f5e100", history: history(gwei, [4]int64{0, 0, 0, 0})}, [3]int64{100, 113, 150}, [3]int64{1350, 2113, 2150}, false, true},
		{"no tips in the history", 42161, pricer{base: gwei, tip: "0x0", history: history(gwei, [4]int64{1, 0, 0, 0})}, [3]int64{}, [3]int64{1250, 2000, 2000}, false, true},
		{"too few percentiles", 1, pricer{base: gwei, tip: "0x5f5e100", history: map[string]any{"baseFeePerGas": []string{gwei, gwei}, "gasUsedRatio": []float64{1}, "reward": [][]string{{"0x1"}}}},
			[3]int64{100, 113, 150}, [3]int64{1350, 2113, 2150}, false, true},
		{"no rewards", 1, pricer{base: gwei, tip: "0x5f5e100", history: map[string]any{"baseFeePerGas": []string{gwei, gwei}, "gasUsedRatio": []float64{1}, "reward": nil}},
			[3]int64{100, 113, 150}, [3]int64{1350, 2113, 2150}, false, true},
		{"absurd tips", 8453, pricer{base: gwei, history: history(gwei, [4]int64{1, 1, 1e9, 1e12})}, [3]int64{1, 10_000, 10_000}, [3]int64{1251, 12_000, 12_000}, false, true},
		{"tips out of order", 8453, pricer{base: gwei, history: history(gwei, [4]int64{1, 30, 20, 10})}, [3]int64{30, 30, 30}, [3]int64{1280, 2030, 2030}, false, true},
		{"a liar's next base fee", 8453, pricer{base: gwei, history: history("0x3b9aca0000", [4]int64{1, 10, 20, 30})}, [3]int64{10, 20, 30}, [3]int64{2510, 4020, 4030}, false, true},
		{"a liar's next base fee, too low", 8453, pricer{base: gwei, history: history("0x0", [4]int64{1, 10, 20, 30})}, [3]int64{10, 20, 30}, [3]int64{1104, 1770, 1780}, false, true},
		{"less than a builder takes", 56, pricer{base: "0x0", tip: "0x7"}, [3]int64{50, 50, 50}, [3]int64{50, 50, 50}, false, true},
		{"a market without base fee", 1, pricer{tip: "0x1", price: "0x64"}, [3]int64{}, [3]int64{}, false, false},
		{"an absurd base fee", 1, pricer{base: "0x1" + strings.Repeat("0", 40), tip: "0x1"}, [3]int64{}, [3]int64{}, false, false},
		{"an absurd tip", 1, pricer{base: gwei, tip: "0x1" + strings.Repeat("0", 40)}, [3]int64{}, [3]int64{}, false, false},
		{"one price", 39, pricer{price: "0x5f5e100"}, [3]int64{100, 113, 150}, [3]int64{100, 113, 150}, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.p.gas = 100_000
			h := newTestClient(t, tc.id, 1, tc.p.node(tc.id).serve(t))
			g, err := h.GasPrice(t.Context(), tc.id)
			if (err == nil) != tc.estimates {
				t.Fatalf("%+v, %v", g, err)
			}
			if err != nil {
				return
			}
			for i, f := range []Fees{g.Slow, g.Normal, g.Fast} {
				if roundMwei(f.GasTipCap) != tc.tips[i] || roundMwei(f.GasFeeCap) != tc.caps[i] || f.Legacy != tc.legacy {
					t.Errorf("%s: tip %s, cap %s, legacy %v; want %d, %d mwei", tiers[i].tier, f.GasTipCap, f.GasFeeCap, f.Legacy, tc.tips[i], tc.caps[i])
				}
			}
			for tier, want := range map[Tier]Fees{"": g.Normal, Slow: g.Slow, Normal: g.Normal, Fast: g.Fast} {
				cost, err := h.CostAt(t.Context(), pay(tc.id, common.Address{1}, "0x2222", 1), tier)
				limit := int64(120_000)
				maxCost := new(big.Int).Mul(big.NewInt(limit), want.GasFeeCap)
				if err != nil || cost.Gas != uint64(limit) || cost.Max.Cmp(maxCost) != 0 || cost.Tier != tier.orNormal() || cost.Expected.Cmp(cost.Max) > 0 {
					t.Errorf("%q: %+v, %v", tier, cost, err)
				}
			}
		})
	}
}

// roundMwei rounds up, as eighths does.
func roundMwei(x *big.Int) int64 {
	y := new(big.Int).Add(x, big.NewInt(999_999))
	return y.Div(y, big.NewInt(1e6)).Int64()
}

// TestNamelessBlock checks that a block without a hash is an error, not a panic.
func TestNamelessBlock(t *testing.T) {
	n := pricer{base: "0x3b9aca00", tip: "0x1", gas: 21000}.node(base)
	n.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if block, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" {
			delete(block, "hash")
		}
		return result, err
	})
	h := newTestClient(t, base, 1, n.serve(t))
	if g, err := h.GasPrice(t.Context(), base); err == nil {
		t.Errorf("GasPrice = %+v, want an error", g)
	}
	if cost, err := h.Cost(t.Context(), pay(base, common.Address{1}, "0x2222", 1)); err == nil {
		t.Errorf("Cost = %+v, want an error", cost)
	}
}

// TestHistoryRefusedByAGateway checks gateways that refuse eth_feeHistory with an HTTP
// status in place of a JSON-RPC error.
func TestHistoryRefusedByAGateway(t *testing.T) {
	for status, priced := range map[int]bool{http.StatusForbidden: true, http.StatusBadRequest: true, http.StatusTooManyRequests: false, http.StatusBadGateway: false} {
		n := pricer{base: "0x3b9aca00", tip: "0x5f5e100"}.node(1)
		n.set(func(w http.ResponseWriter, method string) bool {
			if method == "eth_feeHistory" {
				http.Error(w, "no", status)
			}
			return method == "eth_feeHistory"
		}, nil)
		if g, err := newTestClient(t, 1, 1, n.serve(t)).GasPrice(t.Context(), 1); (err == nil) != priced {
			t.Errorf("status %d: %+v, %v", status, g, err)
		}
	}
}

// TestAbsurdEstimate checks that an estimate no block can hold is refused before it
// overflows.
func TestAbsurdEstimate(t *testing.T) {
	for _, gas := range []uint64{maxGas + 1, math.MaxUint64 - 1, math.MaxUint64} {
		n := pricer{base: "0x1", tip: "0x1", gas: gas}.node(1)
		h := newTestClient(t, 1, 1, n.serve(t))
		if cost, err := h.Cost(t.Context(), pay(1, common.Address{1}, "0x2222", 1)); err == nil {
			t.Errorf("%d units: %+v", gas, cost)
		}
	}
}

// TestRaised checks that a replacement offers an eighth more, where nodes ask a tenth,
// and always something more.
func TestRaised(t *testing.T) {
	for _, x := range []int64{0, 1, 2, 7, 8, 9, 1000, 1e9 + 1} {
		y := minReplacement(big.NewInt(x)).Int64()
		if y <= x || y*1000 < x*1125 {
			t.Errorf("%d is raised to %d", x, y)
		}
	}
}

// FuzzFeeHistory checks that no answer leads to tips outside the tiers' bounds or order.
func FuzzFeeHistory(f *testing.F) {
	for _, seed := range []any{
		history("0x3b9aca00", [4]int64{1, 10, 20, 30}, [4]int64{0, 0, 0, 0}), history("0x0", [4]int64{1, 30, 20, 10}), history("0x1", [4]int64{}),
		map[string]any{"baseFeePerGas": []string{"0x1", "0x1"}, "gasUsedRatio": []float64{1}, "reward": [][]any{{nil, nil, nil}}}, nil, []int{},
	} {
		raw, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, raw string) {
		h, err := readFeeHistory(json.RawMessage(raw))
		if err != nil {
			return
		}
		tips, err := h.tips()
		if err != nil {
			return
		}
		for _, n := range networks {
			g := GasPrice{NextBaseFee: h.next(big.NewInt(1e9))}
			g.setFees(n, tips)
			checkTiers(t, n, g)
		}
	})
}

func checkTiers(t *testing.T, n Network, g GasPrice) {
	t.Helper()
	last := Fees{GasFeeCap: new(big.Int), GasTipCap: new(big.Int)}
	for i, f := range []Fees{g.Slow, g.Normal, g.Fast} {
		switch {
		case f.GasTipCap.Cmp(n.MinTip) < 0 || f.GasTipCap.Cmp(n.MaxTip) > 0:
		case f.GasTipCap.Cmp(f.GasFeeCap) > 0 || f.GasTipCap.Cmp(last.GasTipCap) < 0 || f.GasFeeCap.Cmp(last.GasFeeCap) < 0:
		case f.GasFeeCap.BitLen() > maxPriceBits+2:
		default:
			last = f
			continue
		}
		t.Fatalf("%s of %s: %s", tiers[i].tier, n.Name, fmt.Sprint(f))
	}
}
