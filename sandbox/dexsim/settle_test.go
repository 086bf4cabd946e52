package dexsim_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"
)

// manual starts a sandbox that mines blocks on request only, so that prices do not change
// between a quote and its execution.
func manual(t *testing.T, chains ...uint64) *sandbox.Sandbox {
	return sandboxtest.StartWith(t, sandbox.Options{Chains: chains, Period: -1})
}

// TestExecutedOutputIsTheQuote checks that a swap pays every recipient exactly the quoted
// amount, as nobody trades in between.
func TestExecutedOutputIsTheQuote(t *testing.T) {
	s := manual(t, 1, 8453)
	if err := s.DEX().Set(dexsim.Settings{MakerFeeBips: 20, MakerRecipient: s.Accounts()[2].Address}); err != nil {
		t.Fatal(err)
	}
	fee := fields{"integratorFees": []fields{{"bips": 20, "recipient": receiver}}, "permitAmount": "EXACT"}
	with := func(more fields) fields {
		all := fields{}
		for _, m := range []fields{fee, more} {
			for name, value := range m {
				all[name] = value
			}
		}
		return all
	}
	cases := []struct {
		name    string
		chain   uint64
		in, out string // "" is the native coin
		amount  *big.Int
		more    fields
	}{
		{"native in", 1, "", "USDC", sandboxtest.Units(1, 18), fee},
		{"native in over V2", 1, "", "USDC", sandboxtest.Units(1, 18), with(fields{"protocols": []string{"V2"}})},
		{"native in with the wallet's protocols", 1, "", "DAI", sandboxtest.Units(2, 18), with(fields{"protocols": []string{"V2", "V3", "UNISWAPX_V2"}})},
		{"token in, with a permit", 8453, "USDC", "WETH", sandboxtest.Units(1000, 6), fee},
		{"token in, without integrator fee", 8453, "USDC", "DAI", sandboxtest.Units(1000, 6), nil},
		{"native out", 8453, "USDC", "", sandboxtest.Units(1000, 6), fee},
		{"two pools", 8453, "DAI", "USDT", sandboxtest.Units(1000, 18), fee},
		{"a token without return values", 1, "USDT", "DAI", sandboxtest.Units(50, 6), fee},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := s.Chain(tc.chain)
			in, out := native, native
			paid := native
			if tc.in != "" {
				in = sandboxtest.Token(t, c, tc.in)
				mustExecute(t, s, transaction{To: in, From: s.Accounts()[0].Address, ChainID: tc.chain, Gas: "100000", Value: "0x00",
					Data: sandboxtest.Calldata(t, "approve(address,uint256)", c.Network.Contracts.Permit2, tc.amount)})
			}
			if tc.out != "" {
				out = sandboxtest.Token(t, c, tc.out)
				paid = out
			}
			q := quote(t, s, tc.chain, in, out, tc.amount, tc.more)
			if q.Routing != "CLASSIC" {
				t.Fatalf("routing %s", q.Routing)
			}
			before := map[common.Address]*big.Int{}
			feeToken := paid
			if paid == native {
				feeToken = c.Network.Wrapped.Address // the router pays fees before it unwraps
			}
			for i, o := range q.outputs {
				if i > 0 {
					paid = feeToken
				}
				before[o.Recipient] = sandboxtest.Balance(t, c, o.Recipient, paid)
			}
			receipt := mustExecute(t, s, swap(t, s, q))
			for i, o := range q.outputs {
				at := feeToken
				if i == 0 {
					at = out
				}
				gained := new(big.Int).Sub(sandboxtest.Balance(t, c, o.Recipient, at), before[o.Recipient])
				if i == 0 && at == native {
					gained.Add(gained, new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed)))
				}
				if gained.String() != o.Amount {
					t.Errorf("output %d: %s got %s, the quote said %s", i, o.Recipient, gained, o.Amount)
				}
			}
		})
	}
}

func TestWrapAndUnwrap(t *testing.T) {
	s := manual(t, 8453)
	c := s.Chain(8453)
	weth := c.Network.Wrapped.Address
	amount := sandboxtest.Units(1, 17)
	before := sandboxtest.Balance(t, c, s.Accounts()[0].Address, weth)

	q := quote(t, s, 8453, native, weth, amount, nil)
	if q.Routing != "WRAP" {
		t.Fatalf("routing %s", q.Routing)
	}
	mustExecute(t, s, swap(t, s, q))
	if got := new(big.Int).Sub(sandboxtest.Balance(t, c, s.Accounts()[0].Address, weth), before); got.Cmp(amount) != 0 {
		t.Errorf("wrapped %s of %s", got, amount)
	}

	q = quote(t, s, 8453, weth, native, amount, nil)
	if q.Routing != "UNWRAP" {
		t.Fatalf("routing %s", q.Routing)
	}
	mustExecute(t, s, swap(t, s, q))
	if got := sandboxtest.Balance(t, c, s.Accounts()[0].Address, weth); got.Cmp(before) != 0 {
		t.Errorf("after unwrapping: %s, before: %s", got, before)
	}
}

// TestExecutionEnforcesTheMinimum checks that the router reverts once the price is below the
// quote's minimum.
func TestExecutionEnforcesTheMinimum(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	usdc := sandboxtest.Token(t, c, "USDC")
	q := quote(t, s, 1, native, usdc, sandboxtest.Units(1, 18), fields{"slippageTolerance": 0.1})
	victim := swap(t, s, q)
	mustExecute(t, s, swap(t, s, quote(t, s, 1, native, usdc, sandboxtest.Units(3000, 18), fields{"protocols": []string{"V3"}})))
	if receipt := execute(t, s, victim); receipt.Status != types.ReceiptStatusFailed {
		t.Error("the swap went through below its minimum")
	}
}

func TestPermitDataFollowsTheChain(t *testing.T) {
	s := manual(t, 8453)
	c := s.Chain(8453)
	usdc := sandboxtest.Token(t, c, "USDC")
	amount := sandboxtest.Units(100, 6)
	mustExecute(t, s, transaction{To: usdc, From: s.Accounts()[0].Address, ChainID: 8453, Gas: "100000", Value: "0x00",
		Data: sandboxtest.Calldata(t, "approve(address,uint256)", c.Network.Contracts.Permit2, sandboxtest.Units(1000, 6))})
	nonceAndAmount := func(q quoteReply) (string, string) {
		var p struct {
			Values struct {
				Details struct{ Nonce, Amount string }
			}
		}
		if err := json.Unmarshal(q.Permit, &p); err != nil {
			t.Fatal(err)
		}
		return p.Values.Details.Nonce, p.Values.Details.Amount
	}

	exact := fields{"permitAmount": "EXACT"}
	first := quote(t, s, 8453, usdc, native, amount, exact)
	if nonce, permitted := nonceAndAmount(first); nonce != "0" || permitted != amount.String() {
		t.Errorf("first permit: nonce %s, amount %s", nonce, permitted)
	}
	mustExecute(t, s, swap(t, s, first))
	second := quote(t, s, 8453, usdc, native, amount, nil)
	if nonce, permitted := nonceAndAmount(second); nonce != "1" || permitted != "1461501637330902918203684832716283019655932542975" {
		t.Errorf("second permit: nonce %s, amount %s", nonce, permitted)
	}
	mustExecute(t, s, swap(t, s, second))
	if third := quote(t, s, 8453, usdc, native, amount, exact); string(third.Permit) != "null" {
		t.Errorf("the router may take everything, yet a permit is asked for: %s", third.Permit)
	}
}

func TestCheckApproval(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	me := s.Accounts()[0].Address
	type reply struct {
		Approval *transaction `json:"approval"`
		Cancel   *transaction `json:"cancel"`
	}
	check := func(token common.Address, amount *big.Int) reply {
		r, _ := mustAsk[reply](t, s, http.MethodPost, "/check_approval",
			fields{"walletAddress": me, "token": token, "amount": amount.String(), "chainId": 1})
		return r
	}
	if r := check(native, sandboxtest.Units(1, 18)); r.Approval != nil || r.Cancel != nil {
		t.Error("the native coin needs no approval")
	}
	usdt := sandboxtest.Token(t, c, "USDT")
	r := check(usdt, sandboxtest.Units(5, 6))
	if r.Approval == nil || r.Cancel != nil {
		t.Fatalf("first approval: %+v", r)
	}
	mustExecute(t, s, transaction{To: usdt, From: me, ChainID: 1, Gas: "100000", Value: "0x00",
		Data: sandboxtest.Calldata(t, "approve(address,uint256)", c.Network.Contracts.Permit2, sandboxtest.Units(1, 6))})
	if r = check(usdt, sandboxtest.Units(5, 6)); r.Approval == nil || r.Cancel == nil {
		t.Fatalf("USDT with a small allowance wants a reset first: %+v", r)
	}
	mustExecute(t, s, *r.Cancel)
	mustExecute(t, s, *r.Approval)
	if r = check(usdt, sandboxtest.Units(5, 6)); r.Approval != nil || r.Cancel != nil {
		t.Errorf("enough is allowed: %+v", r)
	}
}

func TestSwapsTellsWhatBecameOfATransaction(t *testing.T) {
	s := manual(t, 1)
	receipt := mustExecute(t, s, swap(t, s, quote(t, s, 1, native, sandboxtest.Token(t, s.Chain(1), "USDC"), sandboxtest.Units(1, 18), nil)))
	unknown := common.HexToHash("0x01")
	reply, _ := mustAsk[struct {
		Swaps []struct{ Status, SwapType string }
	}](t, s, http.MethodGet,
		"/swaps?txHashes="+receipt.TxHash.Hex()+","+unknown.Hex(), nil)
	if len(reply.Swaps) != 2 || reply.Swaps[0].Status != "SUCCESS" || reply.Swaps[1].Status != "NOT_FOUND" {
		t.Errorf("swaps are %+v, want SUCCESS and NOT_FOUND", reply.Swaps)
	}
}
