package dex_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
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
		x.trade(usdc, wrapped, "150000000", 20)
		x.trade(usdc, native, "250000000", 0) // the permit's next nonce
		x.trade(usdc, symbol(t, c, "USDT"), "350000000", 20)
		x.trade(symbol(t, c, "USDT"), native, "50000000", 20)
		if want := c.Network.ID == 1; (x.resets == 1) != want {
			t.Errorf("chain %d: %d allowances were reset first", c.Network.ID, x.resets)
		}
		if x.permits != 4 {
			t.Errorf("chain %d: %d permits were signed", c.Network.ID, x.permits)
		}
		x.permitted(usdc, "200000000")
		x.trade(usdc, wrapped, "200000000", 20)
		if x.permits != 4 {
			t.Errorf("chain %d: a permit was signed that was not needed", c.Network.ID)
		}
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

	resets  int // allowances that had to be taken back to zero first
	permits int // signed
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
	if built.Spender != native {
		x.allow(ctx, in, built.Spender, r.AmountIn)
	}
	call, effects, err := x.carryOut(ctx, o, terms, built)
	if err == nil {
		err = swap.Check(terms, effects, x.p.Pins())
	}
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: %v", r.SrcChain, in, out, err)
	}
	x.settles(ctx, call, effects[len(effects)-1], o)
	if built.Spender == native {
		return
	}
	if left := x.word(ctx, in, "0xdd62ed3e", x.who.Address, built.Spender); left.Sign() != 0 { // allowance(address,address)
		x.t.Errorf("chain %d: an allowance of %s is left", r.SrcChain, left)
	}
	if left := x.word(ctx, permit2, "0x927da105", x.who.Address, in, call.To); left.Sign() != 0 { // allowance(address,address,address)
		x.t.Errorf("chain %d: a permit for %s is left", r.SrcChain, left)
	}
}

// carryOut signs the permit, if there is one, and has the late call made: the
// last step's call, and what every step does by its bytes.
func (x *trader) carryOut(ctx context.Context, o swap.Offer, terms swap.Terms, b swap.Built) (chain.Call, []swap.Effect, error) {
	x.t.Helper()
	order := swap.Order{Terms: terms, Offer: o, Plan: swap.Plan{Steps: b.Steps, Settlement: b.Settlement}}
	var effects []swap.Effect
	for i, s := range b.Steps {
		if s.Kind == swap.LateStep {
			call, err := x.p.Late(ctx, order, i)
			if err != nil {
				return chain.Call{}, nil, err
			}
			s.Call = &call
		}
		f, err := x.p.Decode(terms, s)
		if err != nil {
			return chain.Call{}, nil, err
		}
		effects = append(effects, f)
		if c := s.Call; c != nil {
			_, err := x.node.CallContract(ctx, ethereum.CallMsg{From: c.From, To: &c.To, Value: c.Value, Data: c.Data, Gas: c.Gas}, nil)
			return *c, effects, err
		}
		x.permits++
		signature, err := signedBy(x.who.Key, *s.Typed)
		if err != nil {
			return chain.Call{}, nil, err
		}
		order.Results = append(order.Results, swap.Result{Signature: signature})
	}
	return chain.Call{}, nil, errors.New("the plan ends with a signature")
}

// allow approves exactly the amount, as package swap does: where a token refuses
// to change what is left of an allowance, by way of zero.
func (x *trader) allow(ctx context.Context, token, spender common.Address, n *big.Int) {
	x.t.Helper()
	approve := func(n *big.Int) chain.Call {
		data := append(common.FromHex("0x095ea7b3"), common.LeftPadBytes(spender[:], 32)...) // approve(address,uint256)
		return chain.Call{ChainID: x.chain.Network.ID, From: x.who.Address, To: token, Value: new(big.Int), Data: append(data, common.BigToHash(n).Bytes()...), Gas: 100_000}
	}
	x.send(ctx, approve(big.NewInt(1)), x.who.Key) // left over from somewhere
	call := approve(n)
	if _, err := x.node.CallContract(ctx, ethereum.CallMsg{From: call.From, To: &call.To, Data: call.Data}, nil); err != nil {
		x.resets++
		x.send(ctx, approve(new(big.Int)), x.who.Key)
	}
	x.send(ctx, call, x.who.Key)
}

// permitted allows the router an amount at Permit2 beforehand, so that no permit
// is needed.
func (x *trader) permitted(token common.Address, amount string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	data := common.FromHex("0x87517c45") // approve(address,address,uint160,uint48)
	for _, word := range [][]byte{token[:], x.chain.Network.Contracts.UniversalRouter[:], wei(amount).Bytes(), big.NewInt(time.Now().Add(time.Hour).Unix()).Bytes()} {
		data = append(data, common.LeftPadBytes(word, 32)...)
	}
	x.send(ctx, chain.Call{ChainID: x.chain.Network.ID, From: x.who.Address, To: permit2, Value: new(big.Int), Data: data, Gas: 100_000}, x.who.Key)
}

// settles sends the call and compares balances before and after.
func (x *trader) settles(ctx context.Context, c chain.Call, f swap.Effect, o swap.Offer) {
	x.t.Helper()
	out, paid := f.Receives[0].Token, append([]swap.Payment{}, f.Pays...)
	before := x.balance(ctx, out, x.who.Address)
	fees := make([]*big.Int, len(paid))
	for i, p := range paid {
		fees[i] = x.either(ctx, p.Token, p.To)
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
		if x.either(ctx, p.Token, p.To).Cmp(fees[i]) <= 0 {
			x.t.Errorf("%s got no fee", p.To)
		}
	}
	for _, token := range []common.Address{native, x.chain.Network.Wrapped.Address, f.Spends[0].Token, out} {
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
	return x.word(ctx, token, "0x70a08231", who) // balanceOf(address)
}

// either is a balance in both forms of the native coin: fees on native output are
// paid in its wrapped form.
func (x *trader) either(ctx context.Context, token, who common.Address) *big.Int {
	x.t.Helper()
	n := x.balance(ctx, token, who)
	if token == native {
		n.Add(n, x.balance(ctx, x.chain.Network.Wrapped.Address, who))
	}
	return n
}

// word is the first word that a view function of addresses returns.
func (x *trader) word(ctx context.Context, at common.Address, fn string, args ...common.Address) *big.Int {
	x.t.Helper()
	data := common.FromHex(fn)
	for _, a := range args {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	b, err := x.node.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil || len(b) < 32 {
		x.t.Fatalf("%s of %s: %d bytes, %v", fn, at, len(b), err)
	}
	return new(big.Int).SetBytes(b[:32])
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
