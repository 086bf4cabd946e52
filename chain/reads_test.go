package chain

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestCostOfKinds checks the kinds of L1 fee and of charging on a real chain.
func TestCostOfKinds(t *testing.T) {
	key := newTestKey(t, "cost")
	for _, tc := range []struct {
		name  string
		id    uint64
		l1    int64
		known bool // the predeploy exists
	}{
		{"op", 10, 4321, true},
		{"op without predeploy, sandbox", 8453, 0, false},
		{"arbitrum", 42161, 0, true},
		{"monad", 143, 0, true},
		{"ethereum", 1, 0, true},
	} {
		alloc := funded(key.addr)
		if tc.known {
			alloc[gasPriceOracle] = types.Account{Balance: new(big.Int), Code: constantCode(common.BigToHash(big.NewInt(4321)))}
		}
		c := newTestChain(t, tc.id, alloc)
		h := newTestClient(t, tc.id, 1, c.serve(t))
		cost, err := h.Cost(t.Context(), pay(tc.id, key.addr, "0x2222", 1))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		limit, used := uint64(25200), uint64(21000)
		if tc.id == 143 {
			limit, used = 23100, 23100
		}
		if cost.Gas != limit || cost.L1.Int64() != tc.l1 {
			t.Errorf("%s: gas %d, L1 %s", tc.name, cost.Gas, cost.L1)
		}
		maxCost := new(big.Int).Mul(new(big.Int).SetUint64(limit), cost.Fees.GasFeeCap)
		maxCost.Add(maxCost, big.NewInt(tc.l1+tc.l1/4))
		expected := new(big.Int).Mul(new(big.Int).SetUint64(used), cost.Fees.price())
		expected.Add(expected, big.NewInt(tc.l1))
		if cost.Max.Cmp(maxCost) != 0 || cost.Expected.Cmp(expected) != 0 {
			t.Errorf("%s: max %s, expected %s; want %s, %s", tc.name, cost.Max, cost.Expected, maxCost, expected)
		}
	}
}

func TestBalances(t *testing.T) {
	key := newTestKey(t, "balances")
	token, broken, none := common.HexToAddress("0x70"), common.HexToAddress("0xb0"), common.HexToAddress("0x99")
	alloc := funded(key.addr)
	alloc[token] = types.Account{Balance: new(big.Int), Code: constantCode(common.BigToHash(big.NewInt(77)))}
	alloc[broken] = types.Account{Balance: new(big.Int), Code: revertCode}
	c := newTestChain(t, 1, alloc)
	h := newTestClient(t, 1, 1, c.serve(t))
	coin, err := h.Balance(t.Context(), 1, key.addr, Native)
	if err != nil || coin.Cmp(alloc[key.addr].Balance) != 0 {
		t.Errorf("coin = %v, %v", coin, err)
	}
	if _, err := h.Balance(t.Context(), 1, key.addr, none); err == nil {
		t.Error("an address without code has a token balance")
	}
	want := []any{alloc[key.addr].Balance.String(), "77", "nil", "0"}
	check := func(how string, got []*big.Int, err error) {
		t.Helper()
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", how, got, err)
		}
		for i, b := range got {
			text := "nil"
			if b != nil {
				text = b.String()
			}
			if text != want[i] {
				t.Errorf("%s: balance %d = %s, want %s", how, i, text, want[i])
			}
		}
	}
	tokens := []common.Address{Native, token, broken, none}
	got, err := h.Balances(t.Context(), 1, key.addr, tokens)
	check("one by one", got, err)

	calls := c.count("eth_call")
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method != "eth_call" || !strings.Contains(strings.ToLower(string(args[0])), strings.ToLower(multicall3.Hex())) {
			return result, err
		}
		return aggregate(t, args[0], []multicallResult{
			{true, common.LeftPadBytes(alloc[key.addr].Balance.Bytes(), 32)}, {true, common.LeftPadBytes([]byte{77}, 32)}, {false, nil}, {true, nil},
		}), nil
	})
	got, err = h.Balances(t.Context(), 1, key.addr, tokens)
	check("multicall", got, err)
	if n := c.count("eth_call") - calls; n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	for name, answer := range map[string]hexutil.Bytes{
		"garbage": {1, 2, 3}, "too few": aggregate(t, nil, []multicallResult{{true, nil}}),
	} {
		c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if method == "eth_call" {
				return answer, nil
			}
			return result, err
		})
		if got, err := h.Balances(t.Context(), 1, key.addr, tokens); err == nil {
			t.Errorf("%s: balances %v, want an error", name, got)
		}
	}
}

// aggregate encodes the answer of Multicall3, after checking the request.
func aggregate(t *testing.T, question json.RawMessage, results []multicallResult) hexutil.Bytes {
	t.Helper()
	if question != nil {
		var msg struct{ Input, Data hexutil.Bytes }
		if err := json.Unmarshal(question, &msg); err != nil {
			t.Error(err)
		}
		method := aggregate3().Methods["aggregate3"]
		if _, err := method.Inputs.Unpack(append(msg.Input, msg.Data...)[4:]); err != nil {
			t.Errorf("question: %v", err)
		}
		if got := hexutil.Encode(method.ID); got != "0x82ad56cb" {
			t.Errorf("selector %s", got)
		}
	}
	out, err := aggregate3().Methods["aggregate3"].Outputs.Pack(results)
	if err != nil {
		t.Error(err)
	}
	return out
}
