package chain

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

func bigHash(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }

// TestAllowances asks tokens that answer, that revert, and that do not exist: through
// Multicall3, one by one where the chain has none, and where a token makes the common
// call fail.
func TestAllowances(t *testing.T) {
	owner, spender := common.Address{1}, common.Address{2}
	token, broken, none := common.HexToAddress("0x70"), common.HexToAddress("0xb0"), common.HexToAddress("0x99")
	wordy, answer := common.HexToAddress("0x3a"), constantCode(bigHash(77))
	answer[len(answer)-3] = 64 // a longer answer; contracts read its first word
	c := newTestChain(t, 1, types.GenesisAlloc{
		token: {Balance: new(big.Int), Code: constantCode(bigHash(77))}, broken: {Balance: new(big.Int), Code: revertCode},
		wordy: {Balance: new(big.Int), Code: answer},
	})
	h := newTestClient(t, 1, 1, c.serve(t))
	if a, err := h.Allowance(t.Context(), 1, token, owner, spender); err != nil || a.Int64() != 77 {
		t.Errorf("allowance = %v, %v", a, err)
	}
	for _, bad := range []common.Address{broken, none} {
		if a, err := h.Allowance(t.Context(), 1, bad, owner, spender); err == nil {
			t.Errorf("allowance of %s = %v", bad, a)
		}
	}
	grantees := []Grantee{{token, spender}, {broken, spender}, {none, spender}, {wordy, spender}}
	check := func(how string) {
		t.Helper()
		all, err := h.Allowances(t.Context(), 1, owner, grantees)
		if err != nil || len(all) != 4 || all[0] == nil || all[0].Int64() != 77 || all[1] != nil || all[2] != nil || all[3] == nil || all[3].Int64() != 77 {
			t.Errorf("%s: %v, %v", how, all, err)
		}
	}
	check("one by one")
	to := func(args []json.RawMessage, a common.Address) bool {
		return strings.Contains(strings.ToLower(string(args[0])), strings.ToLower(a.Hex()))
	}
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method != "eth_call" || !to(args, multicall3) {
			return result, err
		}
		return aggregate(t, args[0], []multicallResult{{true, bigHash(77).Bytes()}, {false, nil}, {true, nil}, {true, append(bigHash(77).Bytes(), make([]byte, 32)...)}}), nil
	})
	calls := c.count("eth_call")
	check("multicall")
	if n := c.count("eth_call") - calls; n != 1 {
		t.Errorf("%d calls, want one", n)
	}
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_call" && to(args, multicall3) {
			return nil, &rpcError{Code: -32000, Message: "out of gas"}
		}
		return result, err
	})
	check("spoilt multicall")
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_call" {
			return nil, &rpcError{Code: -32000, Message: "header not found"}
		}
		return result, err
	})
	if all, err := h.Allowances(t.Context(), 1, owner, grantees); err == nil {
		t.Errorf("a node that cannot tell: %v", all)
	}
}

// TestWastefulToken checks that a token that uses up all its gas spoils only its own
// answer and costs the node few calls, each with a gas limit.
func TestWastefulToken(t *testing.T) {
	wasteful := common.HexToAddress("0xbad")
	alloc := types.GenesisAlloc{}
	tokens := make([]common.Address, maxBatchCalls)
	for i := range tokens {
		tokens[i] = bigAddress(int64(1000 + i))
		alloc[tokens[i]] = types.Account{Balance: new(big.Int), Code: constantCode(bigHash(77))}
	}
	tokens[123] = wasteful
	c := newTestChain(t, 1, alloc)
	h := newTestClient(t, 1, 1, c.serve(t))
	c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
		if method != "eth_call" {
			return result, err
		}
		var msg struct {
			To          common.Address
			Gas         hexutil.Uint64
			Input, Data hexutil.Bytes
		}
		if err := json.Unmarshal(args[0], &msg); err != nil || msg.Gas == 0 || msg.Gas > 1<<24 {
			t.Errorf("a call with %d gas: %v", msg.Gas, err)
		}
		input := append(msg.Input, msg.Data...)
		if msg.To == wasteful || msg.To == multicall3 && bytes.Contains(input, wasteful[:]) {
			return nil, &rpcError{Code: -32000, Message: "out of gas"}
		}
		if msg.To != multicall3 {
			return result, err
		}
		calls, err := aggregate3().Methods["aggregate3"].Inputs.Unpack(input[4:])
		if err != nil {
			return nil, err
		}
		all := make([]multicallResult, reflect.ValueOf(calls[0]).Len())
		for i := range all {
			all[i] = multicallResult{true, bigHash(77).Bytes()}
		}
		return aggregate(t, nil, all), nil
	})
	calls := c.count("eth_call")
	got, err := h.Balances(t.Context(), 1, common.Address{1}, tokens)
	if err != nil || len(got) != len(tokens) {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	for i, n := range got {
		if (n == nil) != (i == 123) || n != nil && n.Int64() != 77 {
			t.Errorf("token %d: %v", i, n)
		}
	}
	if n := c.count("eth_call") - calls; n > 20 {
		t.Errorf("%d calls", n)
	}
}

func bigAddress(n int64) common.Address { return common.BigToAddress(big.NewInt(n)) }

// TestPermitAllowances checks that values which Permit2 can hold are returned, and that
// any others are an error.
func TestPermitAllowances(t *testing.T) {
	permit2, owner := common.HexToAddress("0x22"), common.Address{1}
	grantees := []Grantee{{common.Address{3}, common.Address{4}}, {common.Address{5}, common.Address{6}}}
	maxUint160 := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))
	words := func(amount *big.Int, expiration, nonce int64) []byte {
		return slices.Concat(word(amount), word(big.NewInt(expiration)), word(big.NewInt(nonce)))
	}
	c := newTestChain(t, 1, types.GenesisAlloc{})
	h := newTestClient(t, 1, 1, c.serve(t))
	for _, tc := range []struct {
		name string
		out  []byte
		ok   bool
	}{
		{"the maximum of every field", words(maxUint160, 1<<48-1, 1<<48-1), true},
		{"nothing", words(new(big.Int), 0, 0), true},
		{"more than uint160", words(new(big.Int).Add(maxUint160, big.NewInt(1)), 0, 0), false},
		{"more than uint48", words(maxUint160, 1<<48, 0), false},
		{"a nonce above uint48", words(maxUint160, 0, 1<<48), false},
		{"no contract", nil, false},
		{"an erc-20's answer", word(maxUint160), false},
	} {
		c.set(nil, func(method string, args []json.RawMessage, result any, err error) (any, error) {
			if method != "eth_call" {
				return result, err
			}
			if !strings.Contains(string(args[0]), "927da105") {
				t.Errorf("%s: asked %s", tc.name, args[0])
			}
			return aggregate(t, args[0], []multicallResult{{true, words(big.NewInt(5), 6, 7)}, {true, tc.out}}), nil
		})
		all, err := h.PermitAllowances(t.Context(), 1, permit2, owner, grantees)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v, %v", tc.name, all, err)
		}
		if err == nil && (all[0].Amount.Int64() != 5 || all[0].Expiration != 6 || all[0].Nonce != 7) {
			t.Errorf("%s: %+v", tc.name, all[0])
		}
	}
	c.set(nil, nil)
	if all, err := h.PermitAllowances(t.Context(), 1, permit2, owner, grantees); err == nil {
		t.Errorf("a chain without permit2: %+v", all)
	}
}

// FuzzPermitAllowance checks that what is decoded encodes to the same bytes, within its
// types.
func FuzzPermitAllowance(f *testing.F) {
	f.Add(slices.Concat(word(big.NewInt(5)), word(big.NewInt(6)), word(big.NewInt(7))))
	f.Add([]byte{})
	f.Add(hexutil.MustDecode("0x" + strings.Repeat("ff", 96)))
	f.Fuzz(func(t *testing.T, out []byte) {
		a, err := readPermitAllowance(out)
		if err != nil {
			return
		}
		back := slices.Concat(word(a.Amount), word(new(big.Int).SetUint64(a.Expiration)), word(new(big.Int).SetUint64(a.Nonce)))
		if !slices.Equal(back, out) || a.Amount.BitLen() > 160 || a.Expiration >= 1<<48 || a.Nonce >= 1<<48 {
			t.Fatalf("%x is read as %+v", out, a)
		}
	})
}
