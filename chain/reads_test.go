package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestCostOfKinds runs the kinds of L1 fee and of charging on a real chain.
func TestCostOfKinds(t *testing.T) {
	key := newTestKey(t, "cost")
	for _, tc := range []struct {
		name  string
		id    uint64
		l1    int64
		known bool // the predeploy is there
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
		h := newTestHub(t, tc.id, 1, c.serve(t))
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
		most := new(big.Int).Mul(new(big.Int).SetUint64(limit), cost.Fees.GasFeeCap)
		most.Add(most, big.NewInt(tc.l1+tc.l1/4))
		expected := new(big.Int).Mul(new(big.Int).SetUint64(used), cost.Fees.price())
		expected.Add(expected, big.NewInt(tc.l1))
		if cost.Max.Cmp(most) != 0 || cost.Expected.Cmp(expected) != 0 {
			t.Errorf("%s: max %s, expected %s; want %s, %s", tc.name, cost.Max, cost.Expected, most, expected)
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
	h := newTestHub(t, 1, 1, c.serve(t))
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
			t.Errorf("%s: %v", name, got)
		}
	}
}

// aggregate encodes the answer of Multicall3, after checking the question.
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

// TestQuoter: the best tier wins, a tier without a pool is passed over, any
// other failure fails the quote.
func TestQuoter(t *testing.T) {
	quoter, usdc := common.HexToAddress("0x90"), common.HexToAddress("0xdc")
	weth := networks[0].WrappedNative
	tiers := map[int64]any{100: "revert", 500: int64(990), 3000: int64(1000), 10000: int64(900)}
	n := &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		if method != "eth_call" {
			return constant(1)(ctx, method, args)
		}
		var msg struct {
			To    common.Address
			Input hexutil.Bytes
		}
		if err := json.Unmarshal(args[0], &msg); err != nil {
			return nil, err
		}
		in := []byte(msg.Input)
		if msg.To != quoter || len(in) != 4+5*32 || hexutil.Encode(in[:4]) != "0xc6a5026a" ||
			common.BytesToAddress(in[4:36]) != weth || common.BytesToAddress(in[36:68]) != usdc ||
			new(big.Int).SetBytes(in[68:100]).Int64() != 55 || new(big.Int).SetBytes(in[132:164]).Sign() != 0 {
			return nil, &rpcError{Code: -32602, Message: "bad question"}
		}
		switch q := tiers[new(big.Int).SetBytes(in[100:132]).Int64()].(type) {
		case int64:
			return hexutil.Bytes(append(common.LeftPadBytes(big.NewInt(q).Bytes(), 32), make([]byte, 96)...)), nil
		case string:
			if q == "revert" {
				return nil, &rpcError{Code: 3, Message: "execution reverted"}
			}
		}
		return nil, &rpcError{Code: -32000, Message: "header not found"}
	}}
	h, err := NewHub([]Endpoint{{Chain: 1, URLs: []string{n.serve(t)}, QuoterV2: quoter}, {Chain: 39, URLs: []string{"http://127.0.0.1:1"}}, {Chain: 143, URLs: []string{"http://127.0.0.1:1"}}}, Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	quote := func(id uint64, in, out common.Address, amount int64) (*big.Int, error) {
		return h.QuoteExactInput(t.Context(), id, in, out, big.NewInt(amount))
	}
	if q, err := quote(1, Native, usdc, 55); err != nil || q.Int64() != 1000 {
		t.Errorf("quote = %v, %v", q, err)
	}
	if q, err := quote(1, Native, weth, 55); err != nil || q.Int64() != 55 {
		t.Errorf("wrap = %v, %v", q, err)
	}
	for name, try := range map[string]func() (*big.Int, error){
		"zero":               func() (*big.Int, error) { return quote(1, Native, usdc, 0) },
		"no wrapped coin":    func() (*big.Int, error) { return quote(39, Native, usdc, 55) },
		"no quoter":          func() (*big.Int, error) { return quote(143, Native, usdc, 55) },
		"no pool at all":     func() (*big.Int, error) { clear(tiers); fillTiers(tiers, "revert"); return quote(1, Native, usdc, 55) },
		"pools without coin": func() (*big.Int, error) { fillTiers(tiers, int64(0)); return quote(1, Native, usdc, 55) },
	} {
		if q, err := try(); !errors.Is(err, ErrNoQuote) {
			t.Errorf("%s: %v, %v", name, q, err)
		}
	}
	fillTiers(tiers, int64(1))
	tiers[500] = "down"
	if q, err := quote(1, Native, usdc, 55); err == nil || errors.Is(err, ErrNoQuote) {
		t.Errorf("one tier cannot be asked: %v, %v", q, err)
	}
}

func fillTiers(tiers map[int64]any, v any) {
	for _, fee := range feeTiers {
		tiers[fee] = v
	}
}
