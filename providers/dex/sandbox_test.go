package dex_test

import (
	"context"
	"crypto/ecdsa"
	"math/big"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/dex"
	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandbox swaps on the real contracts, through a simulator that was written
// apart from this provider: what Decode promises is what the chain then does.
func TestSandbox(t *testing.T) {
	s := sandboxtest.Start(t)
	if err := s.DEX().Set(dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee}); err != nil {
		t.Fatal(err)
	}
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for _, c := range s.Chains() {
		node, err := ethclient.DialContext(t.Context(), c.RPC())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		x := &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[0]}
		wrapped, usdc := c.Network.Wrapped.Address, symbol(t, c, "USDC")
		x.trade(native, usdc, "100000000000000000", 20)
		x.trade(native, symbol(t, c, "DAI"), "200000000000000000", 20)
		x.trade(native, wrapped, "300000000000000000", 0)
		x.trade(wrapped, native, "200000000000000000", 0)
	}
}

func symbol(t *testing.T, c *sandbox.Chain, name string) common.Address {
	t.Helper()
	for _, token := range c.Network.Tokens {
		if token.Symbol == name {
			return token.Address
		}
	}
	t.Fatalf("chain %d has no %s", c.Network.ID, name)
	return common.Address{}
}

// A trader swaps on one chain of the sandbox.
type trader struct {
	t     *testing.T
	p     *dex.Provider
	node  *ethclient.Client
	chain *sandbox.Chain
	who   sandbox.Account
}

// trade takes a swap from quote to receipt and holds the balances against the
// decoded effect.
func (x *trader) trade(in, out common.Address, amount string, feeBps int) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	r := request(x.chain.Network.ID, in, out, amount, feeBps)
	r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
	offers, err := x.p.Quote(ctx, r)
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: quote: %v", r.SrcChain, in, out, err)
	}
	o := offers[0]
	terms := swap.Terms{
		Provider: swap.DEX, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: in, TokenOut: out, AmountIn: r.AmountIn, FloorOut: o.MinOut, Deadline: time.Now().Add(20 * time.Minute),
		FeeBps: feeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: 20, GasCeiling: big.NewInt(1e18),
	}
	built, err := x.p.Build(ctx, o, terms)
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: build: %v", r.SrcChain, in, out, err)
	}
	step := built.Steps[0]
	effect, err := x.p.Decode(terms, step)
	if err == nil {
		err = swap.Check(terms, []swap.Effect{effect}, x.p.Pins())
	}
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: %v", r.SrcChain, in, out, err)
	}
	x.settles(ctx, *step.Call, effect, o)
}

// settles sends the call and compares balances before and after.
func (x *trader) settles(ctx context.Context, c chain.Call, f swap.Effect, o swap.Offer) {
	x.t.Helper()
	out, paid := f.Receives[0].Token, append([]swap.Payment{}, f.Pays...)
	before := x.balance(ctx, out, x.who.Address)
	fees := make([]*big.Int, len(paid))
	for i, p := range paid {
		fees[i] = x.balance(ctx, p.Token, p.To)
	}
	inBefore := x.balance(ctx, f.Spends[0].Token, x.who.Address)
	receipt := x.send(ctx, c, x.who.Key)
	gas := new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed))
	got := new(big.Int).Sub(x.balance(ctx, out, x.who.Address), before)
	spent := new(big.Int).Sub(inBefore, x.balance(ctx, f.Spends[0].Token, x.who.Address))
	if out == native {
		got.Add(got, gas)
	}
	if f.Spends[0].Token == native {
		spent.Sub(spent, gas)
	}
	if spent.Cmp(f.Spends[0].Amount) != 0 || got.Cmp(f.Receives[0].Min) < 0 {
		x.t.Errorf("chain %d: %s left, said %s; %s arrived, promised %s", f.Chain, spent, f.Spends[0].Amount, got, f.Receives[0].Min)
	}
	if len(paid) != len(o.Fees) {
		x.t.Errorf("%d fees are paid, the quote has %d", len(paid), len(o.Fees))
	}
	for i, p := range paid {
		if x.balance(ctx, p.Token, p.To).Cmp(fees[i]) <= 0 {
			x.t.Errorf("%s got no fee", p.To)
		}
	}
	for _, token := range []common.Address{native, x.chain.Network.Wrapped.Address, out} {
		if left := x.balance(ctx, token, c.To); c.To != x.chain.Network.Wrapped.Address && left.Sign() != 0 {
			x.t.Errorf("%s of %s stays in the router", left, token)
		}
	}
}

func (x *trader) balance(ctx context.Context, token, who common.Address) *big.Int {
	x.t.Helper()
	if token == native {
		n, err := x.node.BalanceAt(ctx, who, nil)
		if err != nil {
			x.t.Fatal(err)
		}
		return n
	}
	data := append(common.FromHex("0x70a08231"), common.LeftPadBytes(who[:], 32)...) // balanceOf(address)
	b, err := x.node.CallContract(ctx, ethereum.CallMsg{To: &token, Data: data}, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return new(big.Int).SetBytes(b)
}

func (x *trader) send(ctx context.Context, c chain.Call, key *ecdsa.PrivateKey) *types.Receipt {
	x.t.Helper()
	nonce, err := x.node.PendingNonceAt(ctx, c.From)
	if err != nil {
		x.t.Fatal(err)
	}
	id := new(big.Int).SetUint64(c.ChainID)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data, Gas: c.Gas, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11),
	})
	if err == nil {
		err = x.node.SendTransaction(ctx, tx)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	for {
		if r, err := x.node.TransactionReceipt(ctx, tx.Hash()); err == nil {
			if r.Status != types.ReceiptStatusSuccessful {
				x.t.Fatalf("chain %d: the transaction reverted", c.ChainID)
			}
			return r
		}
		select {
		case <-ctx.Done():
			x.t.Fatal("no receipt in time")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
