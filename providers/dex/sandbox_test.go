package dex_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandbox swaps on the real contracts, through a simulator that was written
// independently of this provider. The chain must do what Decode promises.
func TestSandbox(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t)
	if err := s.DEX().Set(dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee, Auctions: dexsim.AuctionsNever}); err != nil {
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
		wrapped, usdc := c.Network.Wrapped.Address, sandboxtest.Token(t, c, "USDC")
		x.trade(native, usdc, "100000000000000000", 20)
		x.trade(native, sandboxtest.Token(t, c, "DAI"), "200000000000000000", 20)
		x.trade(native, wrapped, "300000000000000000", 0)
		x.trade(wrapped, native, "200000000000000000", 0)
		x.trade(usdc, wrapped, "150000000", 20)
		x.trade(usdc, native, "250000000", 0) // with the permit's next nonce
		x.trade(usdc, sandboxtest.Token(t, c, "USDT"), "350000000", 20)
		x.trade(sandboxtest.Token(t, c, "USDT"), native, "50000000", 20)
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

// TestSandboxReach swaps on the chains that were not in the spec's table.
func TestSandboxReach(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t, 56, 143, 43114)
	if err := s.DEX().Set(dexsim.Settings{Auctions: dexsim.AuctionsNever}); err != nil {
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
		usdc, wrapped := sandboxtest.Token(t, c, "USDC"), c.Network.Wrapped.Address
		x.trade(native, usdc, "1000000000000000000", 20)
		x.trade(native, wrapped, "1000000000000000000", 0)
		x.trade(wrapped, usdc, "1000000000000000000", 20)
	}
}

// A trader swaps on one chain of the sandbox.
type trader struct {
	t     *testing.T
	p     *dex.Provider
	node  *ethclient.Client
	chain *sandbox.Chain
	who   sandbox.Account

	resets  int // allowances that had to be reset to zero first
	permits int // signed
}

// trade runs a swap from quote to receipt and compares balances with the decoded effect.
func (x *trader) trade(in, out common.Address, amount string, feeBps int) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	o, terms, built := x.built(ctx, in, out, amount, feeBps)
	r := o.Request
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
	x.settles(call, effects[len(effects)-1], o)
	if built.Spender == native {
		return
	}
	if left := sandboxtest.View(x.t, x.chain, in, "allowance(address,address)", 0, x.who.Address, built.Spender); left.Sign() != 0 {
		x.t.Errorf("chain %d: an allowance of %s is left", r.SrcChain, left)
	}
	if left := sandboxtest.View(x.t, x.chain, permit2, "allowance(address,address,address)", 0, x.who.Address, in, call.To); left.Sign() != 0 {
		x.t.Errorf("chain %d: a permit for %s is left", r.SrcChain, left)
	}
}

// built quotes a swap and builds its plan under terms made from the offer.
func (x *trader) built(ctx context.Context, in, out common.Address, amount string, feeBps int) (swap.Offer, swap.Terms, swap.Built) {
	x.t.Helper()
	r := request(x.chain.Network.ID, in, out, amount, feeBps)
	r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
	offers, err := x.p.Quote(ctx, r)
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: quote: %v", r.SrcChain, in, out, err)
	}
	o := offers[0]
	terms := swap.Terms{
		Provider: swap.DEX, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: in, TokenOut: out, AmountIn: r.AmountIn, MinOut: o.MinOut, Deadline: time.Now().Add(20 * time.Minute),
		FeeBps: feeBps, FeeReceiver: r.FeeReceiver, MakerFeeBps: 20, GasCeiling: big.NewInt(1e18),
	}
	built, err := x.p.Build(ctx, o, terms)
	if err != nil {
		x.t.Fatalf("chain %d, %s to %s: build: %v", r.SrcChain, in, out, err)
	}
	return o, terms, built
}

// carryOut signs the permit, if there is one, and requests the deferred call. It returns the
// last step's call, and the effect of every step by its bytes.
func (x *trader) carryOut(ctx context.Context, o swap.Offer, terms swap.Terms, b swap.Built) (chain.Call, []swap.Effect, error) {
	x.t.Helper()
	order := swap.Order{Consent: swap.Consent{Terms: terms, Offer: o, Plan: swap.Plan{Steps: b.Steps, Settlement: b.Settlement}}}
	var effects []swap.Effect
	for i, s := range b.Steps {
		if s.Kind == swap.DeferredStep {
			call, err := x.p.BuildDeferred(ctx, order, i)
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
		signature, err := providertest.SignTyped(x.who.Key, *s.TypedData)
		if err != nil {
			return chain.Call{}, nil, err
		}
		order.Results = append(order.Results, swap.Result{Signature: signature})
	}
	return chain.Call{}, nil, errors.New("the plan ends with a signature")
}

// allow approves exactly the amount, as package swap does, by way of zero if the token
// refuses to change an existing allowance.
func (x *trader) allow(ctx context.Context, token, spender common.Address, n *big.Int) {
	x.t.Helper()
	approve := func(n *big.Int) chain.Call {
		data := sandboxtest.Calldata(x.t, "approve(address,uint256)", spender, n)
		return chain.Call{ChainID: x.chain.Network.ID, From: x.who.Address, To: token, Value: new(big.Int), Data: data, Gas: 100_000}
	}
	x.send(approve(big.NewInt(1))) // left over from earlier
	call := approve(n)
	if _, err := x.node.CallContract(ctx, ethereum.CallMsg{From: call.From, To: &call.To, Data: call.Data}, nil); err != nil {
		x.resets++
		x.send(approve(new(big.Int)))
	}
	x.send(call)
}

// permitted allows the router an amount at Permit2 in advance, so that no permit is needed.
func (x *trader) permitted(token common.Address, amount string) {
	x.t.Helper()
	until := big.NewInt(time.Now().Add(time.Hour).Unix())
	data := sandboxtest.Calldata(x.t, "approve(address,address,uint160,uint48)", token, x.chain.Network.Contracts.UniversalRouter, wei(amount), until)
	x.send(chain.Call{To: permit2, Data: data, Gas: 100_000})
}

// settles sends the call and compares balances before and after.
func (x *trader) settles(c chain.Call, f swap.Effect, o swap.Offer) {
	x.t.Helper()
	out, paid := f.Receives[0].Token, append([]swap.Payment{}, f.Pays...)
	before := x.balance(out, x.who.Address)
	fees := make([]*big.Int, len(paid))
	for i, p := range paid {
		fees[i] = x.either(p.Token, p.To)
	}
	inBefore := x.balance(f.Spends[0].Token, x.who.Address)
	receipt := x.send(c)
	gas := new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed))
	got := new(big.Int).Sub(x.balance(out, x.who.Address), before)
	spent := new(big.Int).Sub(inBefore, x.balance(f.Spends[0].Token, x.who.Address))
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
		if x.either(p.Token, p.To).Cmp(fees[i]) <= 0 {
			x.t.Errorf("%s got no fee", p.To)
		}
	}
	for _, token := range []common.Address{native, x.chain.Network.Wrapped.Address, f.Spends[0].Token, out} {
		if left := x.balance(token, c.To); c.To != x.chain.Network.Wrapped.Address && left.Sign() != 0 {
			x.t.Errorf("%s of %s stays in the router", left, token)
		}
	}
}

func (x *trader) balance(token, who common.Address) *big.Int {
	x.t.Helper()
	return sandboxtest.Balance(x.t, x.chain, who, token)
}

// either returns a balance in both forms of the native coin: fees on a native output are
// paid in its wrapped form.
func (x *trader) either(token, who common.Address) *big.Int {
	x.t.Helper()
	n := x.balance(token, who)
	if token == native {
		n.Add(n, x.balance(x.chain.Network.Wrapped.Address, who))
	}
	return n
}

func (x *trader) send(c chain.Call) *types.Receipt {
	x.t.Helper()
	return sandboxtest.MustTransact(x.t, x.chain, x.who, operator.Call{To: c.To, Value: c.Value, Data: c.Data, Gas: c.Gas})
}
