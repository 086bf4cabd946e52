package dex_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandboxAuction signs orders that the real reactors fill, for a filler that was
// written independently of this provider. The chain must do what Decode promises, and show
// what Proof names.
func TestSandboxAuction(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t, 1, 10, 8453, 42161, 43114)
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	traders := map[uint64]*trader{}
	for i, c := range s.Chains() {
		node, err := ethclient.DialContext(t.Context(), c.RPC())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		traders[c.Network.ID] = &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[i+4]} // each may have five open orders
	}
	phase := func(name string, o dexsim.Outcome, act func(x *trader, usdc, wrapped common.Address)) {
		if err := s.DEX().Set(dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee, Auctions: dexsim.AuctionsAlways, Outcome: o}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			for _, id := range []uint64{1, 8453, 42161, 43114} {
				t.Run(strconv.FormatUint(id, 10), func(t *testing.T) {
					t.Parallel()
					x := *traders[id]
					x.t = t
					act(&x, sandboxtest.Token(t, x.chain, "USDC"), x.chain.Network.Wrapped.Address)
				})
			}
		})
	}
	phase("filled", dexsim.Outcome{}, func(x *trader, usdc, wrapped common.Address) {
		x.trade(native, usdc, "500000000000000000", 20) // auctions do not take the native coin
		x.ends(x.auction(usdc, wrapped, "100000000", 20), swap.Filled)
		x.ends(x.auction(usdc, native, "110000000", 20), swap.Filled)
		x.ends(x.auction(usdc, sandboxtest.Token(x.t, x.chain, "USDT"), "120000000", 0), swap.Filled)
	})
	phase("never", dexsim.Outcome{Fill: "never"}, func(x *trader, usdc, wrapped common.Address) {
		open := x.auction(usdc, wrapped, "130000000", 20)
		if c := x.claim(open); c.State != swap.Settling || c.ProviderStatus != "open" {
			x.t.Errorf("claim = %+v, want settling, with status open", c)
		}
		x.invalidate(open)
		x.ends(open, swap.Cancelled)
	})
	phase("silent", dexsim.Outcome{Claim: "silent"}, func(x *trader, usdc, wrapped common.Address) {
		c, err := x.p.Status(x.t.Context(), x.auction(usdc, wrapped, "10000000", 20))
		if !errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}) {
			x.t.Errorf("of an order that the provider does not know: %+v, %v", c, err)
		}
	})
	for _, how := range []string{"worse", "stranger"} {
		phase(how, dexsim.Outcome{Cosign: how}, func(x *trader, usdc, wrapped common.Address) {
			if c := x.claim(x.auction(usdc, wrapped, "20000000", 20)); !strings.HasPrefix(c.Reason, "the cosigner's data is not sound") {
				x.t.Errorf("claim = %+v, want a reason: the cosigner's data is not sound", c)
			}
		})
	}
	traders[10].trade(native, sandboxtest.Token(t, traders[10].chain, "USDC"), "100000000000000000", 20)
	traders[10].trade(sandboxtest.Token(t, traders[10].chain, "USDC"), traders[10].chain.Network.Wrapped.Address, "50000000", 20) // the API has no auctions there
}

// auction runs an auction from the quote until the provider accepts the order.
func (x *trader) auction(in, out common.Address, amount string, feeBps int) swap.Order {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	o, terms, built := x.built(ctx, in, out, amount, feeBps)
	if want := map[bool]string{true: "DUTCH_V2", false: "DUTCH_V3"}[terms.SrcChain == 1]; o.Routing != want || built.Settlement != swap.ByProvider || len(built.Steps) != 1 {
		x.t.Fatalf("chain %d: %s, %+v", terms.SrcChain, o.Routing, built)
	}
	x.allow(ctx, in, built.Spender, terms.AmountIn)
	step := built.Steps[0]
	f, err := x.p.Decode(terms, step)
	if err == nil {
		err = swap.Check(terms, []swap.Effect{f}, x.p.Pins())
	}
	if err != nil {
		x.t.Fatalf("chain %d: %v", terms.SrcChain, err)
	}
	step.Effect = f
	signature, err := providertest.SignTyped(x.who.Key, *step.TypedData)
	if err != nil {
		x.t.Fatal(err)
	}
	order := swap.Order{
		Consent:  swap.Consent{Terms: terms, Offer: o, Plan: swap.Plan{Steps: []swap.Step{step}, Settlement: built.Settlement, Spender: built.Spender}},
		Progress: swap.Progress{Step: 1, Results: []swap.Result{{Signature: signature}}},
	}.Clone()
	for range 2 { // as after a lost answer
		if order.ProviderOrderID, err = x.p.Submit(ctx, order); err != nil {
			x.t.Fatalf("chain %d: submit: %v", terms.SrcChain, err)
		}
	}
	return order
}

func (x *trader) claim(o swap.Order) swap.Claim {
	x.t.Helper()
	c, err := x.p.Status(x.t.Context(), o)
	if err != nil {
		x.t.Fatalf("chain %d: status: %v", o.Terms.SrcChain, err)
	}
	return c
}

// ends polls until the provider reports the order's end, and compares it with the chain: a
// fill is where the proof looks, and pays what was decoded.
func (x *trader) ends(o swap.Order, want swap.State) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	c := x.claim(o)
	for ; !c.State.Final(); c = x.claim(o) {
		select {
		case <-ctx.Done():
			x.t.Fatalf("chain %d: still %+v", o.Terms.SrcChain, c)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if c.State != want || c.Reason != "" {
		x.t.Errorf("chain %d: the claim is %+v, want %s", o.Terms.SrcChain, c, want)
	}
	proof, err := x.p.Proof(o)
	if err != nil {
		x.t.Fatal(err)
	}
	if !x.used(*proof.Nonce) {
		x.t.Errorf("chain %d: the order ended and its nonce is unused", o.Terms.SrcChain)
	}
	logs := x.matching(ctx, proof.Fill[0])
	if (len(logs) == 1) != (want == swap.Filled) {
		x.t.Fatalf("chain %d: %d events of a fill", o.Terms.SrcChain, len(logs))
	}
	if want == swap.Filled {
		if logs[0].TxHash != c.Tx || c.Chain != o.Terms.SrcChain {
			x.t.Errorf("chain %d: filled in %s, and the claim is %+v", o.Terms.SrcChain, logs[0].TxHash, c)
		}
		x.paid(ctx, o, logs[0])
	}
}

// paid compares the balances around the fill with the order's effect.
func (x *trader) paid(ctx context.Context, o swap.Order, fill types.Log) {
	x.t.Helper()
	f, before, at := o.Plan.Steps[0].Effect, new(big.Int).SetUint64(fill.BlockNumber-1), new(big.Int).SetUint64(fill.BlockNumber)
	moved := func(token, who common.Address) *big.Int {
		return new(big.Int).Sub(x.balanceAt(ctx, token, who, at), x.balanceAt(ctx, token, who, before))
	}
	if left := moved(f.Spends[0].Token, o.Terms.Account); new(big.Int).Neg(left).Cmp(f.Spends[0].Amount) != 0 {
		x.t.Errorf("chain %d: %s left, said %s", f.Chain, left, f.Spends[0].Amount)
	}
	got := moved(f.Receives[0].Token, f.Receives[0].To)
	if got.Cmp(f.Receives[0].Min) < 0 {
		x.t.Errorf("chain %d: %s arrived, promised %s", f.Chain, got, f.Receives[0].Min)
	}
	all := new(big.Int).Set(got)
	for _, p := range f.Pays {
		all.Add(all, moved(p.Token, p.To))
	}
	for _, p := range f.Pays {
		maxFee := new(big.Int).Mul(all, big.NewInt(int64(p.Bps)))
		fee := new(big.Int).Sub(moved(p.Token, p.To), big.NewInt(2)) // two roundings
		if fee.Mul(fee, big.NewInt(10_000)).Cmp(maxFee) > 0 || fee.Sign() <= 0 {
			x.t.Errorf("chain %d: %s got %s of %s, said %d bps", f.Chain, p.To, fee, all, p.Bps)
		}
	}
	if len(f.Pays) != len(o.Offer.Fees) {
		x.t.Errorf("chain %d: %d fees are paid, the quote has %d", f.Chain, len(f.Pays), len(o.Offer.Fees))
	}
}

// invalidate sends the account's call that invalidates the order.
func (x *trader) invalidate(o swap.Order) {
	x.t.Helper()
	c, err := x.p.CancelCall(o)
	if err != nil {
		x.t.Fatal(err)
	}
	c.Gas = 100_000
	x.send(c)
}

// used reads a nonce's bit at Permit2.
func (x *trader) used(n swap.NonceBit) bool {
	x.t.Helper()
	bits := sandboxtest.View(x.t, x.chain, n.Contract, "nonceBitmap(address,uint256)", 0, n.Owner, new(big.Int).Rsh(n.Nonce, 8))
	return bits.Bit(int(new(big.Int).And(n.Nonce, big.NewInt(255)).Int64())) == 1
}

// matching returns the logs on the chain that match a proof's pattern.
func (x *trader) matching(ctx context.Context, p swap.LogPattern) []types.Log {
	x.t.Helper()
	q := ethereum.FilterQuery{FromBlock: new(big.Int), Addresses: []common.Address{p.Address}}
	for _, topic := range p.Topics {
		if topic == (common.Hash{}) {
			q.Topics = append(q.Topics, nil)
		} else {
			q.Topics = append(q.Topics, []common.Hash{topic})
		}
	}
	logs, err := x.node.FilterLogs(ctx, q)
	if err != nil {
		x.t.Fatal(err)
	}
	return slices.DeleteFunc(logs, func(l types.Log) bool {
		return len(l.Topics) != len(p.Topics) || new(big.Int).SetBytes(l.Data[:32]).Cmp(p.Amount) != 0
	})
}

func (x *trader) balanceAt(ctx context.Context, token, who common.Address, block *big.Int) *big.Int {
	x.t.Helper()
	if token == native {
		n, err := x.node.BalanceAt(ctx, who, block)
		if err != nil {
			x.t.Fatal(err)
		}
		return n
	}
	data := append(common.FromHex("0x70a08231"), common.LeftPadBytes(who[:], 32)...) // balanceOf(address)
	b, err := x.node.CallContract(ctx, ethereum.CallMsg{To: &token, Data: data}, block)
	if err != nil || len(b) < 32 {
		x.t.Fatalf("balance of %s: %v", token, err)
	}
	return new(big.Int).SetBytes(b[:32])
}
