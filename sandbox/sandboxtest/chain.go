package sandboxtest

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox"
	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/operator"
)

// Token returns the address of a chain's token; "" is the native coin, the zero address.
func Token(t testing.TB, c *sandbox.Chain, symbol string) common.Address {
	t.Helper()
	if symbol == "" {
		return common.Address{}
	}
	token, ok := c.Network.Token(symbol)
	if !ok {
		t.Fatalf("chain %d has no %s", c.ID, symbol)
	}
	return token.Address
}

// Units returns n whole tokens in base units.
func Units(n, decimals int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil))
}

// Balance returns a balance in base units; token zero is the native coin.
func Balance(t testing.TB, c *sandbox.Chain, of, token common.Address) *big.Int {
	t.Helper()
	if token != (common.Address{}) {
		return View(t, c, token, "balanceOf(address)", 0, of)
	}
	wei, err := c.Client().BalanceAt(t.Context(), of, nil)
	if err != nil {
		t.Fatal(err)
	}
	return wei
}

// View calls a view method, given by its signature, and returns the n-th word of its
// result.
func View(t testing.TB, c *sandbox.Chain, at common.Address, signature string, n int, args ...any) *big.Int {
	t.Helper()
	out, err := c.Client().CallContract(t.Context(), ethereum.CallMsg{To: &at, Data: Calldata(t, signature, args...)}, nil)
	if err != nil || len(out) < 32*(n+1) {
		t.Fatalf("%s of %s: %x, %v", signature, at, out, err)
	}
	return new(big.Int).SetBytes(out[32*n : 32*n+32])
}

// Calldata packs a call of the method with this signature. Its arguments must have
// elementary types.
func Calldata(t testing.TB, signature string, values ...any) []byte {
	t.Helper()
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	var args abi.Arguments
	for name := range strings.FieldsFuncSeq(list, func(c rune) bool { return c == ',' }) {
		typ, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abi.Argument{Type: typ})
	}
	packed, err := args.Pack(values...)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(crypto.Keccak256([]byte(signature))[:4], packed)
}

// Transact sends a call from an account and mines until it has a receipt, successful or
// not.
func Transact(t testing.TB, c *sandbox.Chain, from sandbox.Account, call operator.Call) *types.Receipt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	chain := operator.Chain{Network: c.Network, Client: c.Client(), MinTip: c.MinTip, WithMiningPaused: c.WithMiningPaused}
	hash, err := operator.NewAccount(from.Key).Send(ctx, chain, call)
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := c.MineTransaction(ctx, hash)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// MustTransact is Transact, and fails the test if the transaction reverted.
func MustTransact(t testing.TB, c *sandbox.Chain, from sandbox.Account, call operator.Call) *types.Receipt {
	t.Helper()
	receipt := Transact(t, c, from, call)
	if receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("transaction %s reverted", receipt.TxHash)
	}
	return receipt
}

// Deploy deploys a contract of the sandbox's set from an account and returns its address.
func Deploy(t testing.TB, c *sandbox.Chain, from sandbox.Account, name string) common.Address {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	nonce, err := c.Client().PendingNonceAt(ctx, from.Address)
	if err != nil {
		t.Fatal(err)
	}
	id := new(big.Int).SetUint64(c.ID)
	tx, err := types.SignNewTx(from.Key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, Gas: 5_000_000, GasTipCap: big.NewInt(2e9), GasFeeCap: big.NewInt(20e9), Data: Contract(t, name).Code,
	})
	if err == nil {
		err = c.Client().SendTransaction(ctx, tx)
	}
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := c.MineTransaction(ctx, tx.Hash())
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("deploy %s: %+v, %v", name, receipt, err)
	}
	return receipt.ContractAddress
}

// Contract returns a contract of the sandbox's set.
func Contract(t testing.TB, name string) *contracts.Contract {
	t.Helper()
	set, err := contracts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := set.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
