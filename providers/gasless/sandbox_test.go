package gasless_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"swapkeep/providers/gasless"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandbox settles orders on contracts with the real domains, types and events, through
// a simulator that was written independently of this provider. The chain must do what
// Decode says, and Proof must find it there.
func TestSandbox(t *testing.T) {
	s := sandboxtest.Start(t, 1, 5330, 43114)
	x := &trader{t: t, sim: s.Gasless(), who: s.Accounts()[0]}
	var err error
	if x.p, err = gasless.New(gasless.Config{Base: s.BaseURL("gasless"), Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.p.Close)
	for _, c := range s.Chains() {
		if x.node, err = ethclient.DialContext(t.Context(), c.RPC()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(x.node.Close)
		x.chain = c
		wrapped, usdc := c.Network.Wrapped.Address, sandboxtest.Token(t, c, "USDC")
		x.trade("JAM", usdc, wrapped, "100000000", 40)
		x.trade("JAM", usdc, native, "120000000", 40) // its arrival leaves no log
		x.trade("JAM", native, usdc, "50000000000000000", 0)
		if c.Network.ID == 5330 {
			continue
		}
		x.trade("RFQ", usdc, wrapped, "140000000", 40)
		x.trade("RFQ", native, c.Network.Tokens[len(c.Network.Tokens)-1].Address, "60000000000000000", 0)
		x.trade("RFQ", sandboxtest.Token(t, c, "USDT"), usdc, "70000000", 0)
		x.part(usdc, wrapped, "80000000")
	}
}

// TestRecordedIsSimulated: the simulator's self-executed RFQ quote has every member of the
// recorded ones, with its type. Orders of several makers are not simulated.
func TestRecordedIsSimulated(t *testing.T) {
	s := sandboxtest.Start(t, 1)
	usdc := sandboxtest.Token(t, s.Chains()[0], "USDC")
	ask := fmt.Sprintf("/pmm/ethereum/v3/quote?gasless=false&skip_validation=true&sell_tokens=%s&buy_tokens=%s&sell_amounts=100000000&taker_address=%s",
		usdc.Hex(), s.Chains()[0].Network.Wrapped.Address.Hex(), s.Accounts()[0].Address.Hex())
	for file, router := range map[string]bool{"pmm-v3-single-settlement-base.json": false, "pmm-v3-single-router-ethereum.json": true} {
		settings := gaslesssim.DefaultSettings
		settings.RFQ.Router = router
		if err := s.Gasless().Set(settings); err != nil {
			t.Fatal(err)
		}
		reply, err := http.Get(s.BaseURL("gasless") + ask)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		if err := errors.Join(err, reply.Body.Close()); err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v: %s", file, reply.StatusCode, err, body)
		}
		for _, lack := range providertest.MissingMembers(t, providertest.LiveReply(t, "bebop/"+file), body) {
			t.Errorf("%s: %s", file, lack)
		}
	}
}

// A trader swaps on one chain of the sandbox.
type trader struct {
	t     *testing.T
	p     *gasless.Provider
	sim   *gaslesssim.Server
	node  *ethclient.Client
	chain *sandbox.Chain
	who   sandbox.Account
}

// only makes one protocol quote and the other refuse.
func (x *trader) only(protocol string) {
	x.t.Helper()
	settings := gaslesssim.DefaultSettings
	if protocol == "JAM" {
		settings.RFQ.NoQuote = 102
	} else {
		settings.JAM.NoQuote = 108
	}
	if err := x.sim.Set(settings); err != nil {
		x.t.Fatal(err)
	}
}

// trade carries a swap from quote to proof and compares the balances with the decoded
// effect.
func (x *trader) trade(protocol string, in, out common.Address, amount string, feeBps int) {
	x.t.Helper()
	x.only(protocol)
	ctx, cancel := context.WithTimeout(x.t.Context(), 30*time.Second)
	defer cancel()
	order, effect := x.places(ctx, in, out, amount, feeBps)
	if order.Offer.Routing != protocol {
		x.t.Fatalf("an offer by %s", order.Offer.Routing)
	}
	before := x.balances(effect)
	var err error
	if order.ProviderOrderID, err = x.p.Submit(ctx, order); err != nil {
		x.t.Fatalf("%s: submit: %v", protocol, err)
	}
	if again, err := x.p.Submit(ctx, order); err != nil || again != order.ProviderOrderID {
		x.t.Errorf("%s: submitted again: %q, %v", protocol, again, err)
	}
	claim := x.settled(ctx, order)
	x.moved(effect, before, order.Plan.Spender)
	x.proven(ctx, order, claim)
}

// places carries a swap from quote to signature.
func (x *trader) places(ctx context.Context, in, out common.Address, amount string, feeBps int) (swap.Order, swap.Effect) {
	x.t.Helper()
	r := request(x.chain.Network.ID, in, out, amount, feeBps)
	r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
	offers, err := x.p.Quote(ctx, r)
	if err != nil || len(offers) != 1 {
		x.t.Fatalf("chain %d, %s to %s: %d offers, %v", r.SrcChain, in, out, len(offers), err)
	}
	offers[0].Request = r.WithActualFee(offers[0].Fees)
	terms := termsOf(offers[0])
	terms.Deadline = time.Now().Add(20 * time.Minute)
	built, err := x.p.Build(ctx, offers[0], terms)
	if err != nil {
		x.t.Fatal(err)
	}
	effect, err := x.p.Decode(terms, built.Steps[0])
	if err != nil {
		x.t.Fatal(err)
	}
	return x.signs(offers[0], terms, built), effect
}

// signs does what package swap does before submission: it wraps, approves exactly the
// amount and signs.
func (x *trader) signs(o swap.Offer, terms swap.Terms, built swap.Built) swap.Order {
	x.t.Helper()
	if terms.Wrap != native {
		x.send(operator.Call{To: terms.Wrap, Value: terms.AmountIn, Data: sandboxtest.Calldata(x.t, "deposit()")})
	}
	x.send(operator.Call{To: terms.Input(), Data: sandboxtest.Calldata(x.t, "approve(address,uint256)", built.Spender, terms.AmountIn)})
	signature, err := providertest.SignTyped(x.who.Key, *built.Steps[0].TypedData)
	if err != nil {
		x.t.Fatal(err)
	}
	return swap.Order{
		ID: "test", Consent: swap.Consent{Terms: terms, Offer: o,
			Plan: swap.Plan(built)}, Progress: swap.Progress{Results: []swap.Result{{Signature: signature}}},
	}
}

// settled polls until the provider's final status.
func (x *trader) settled(ctx context.Context, o swap.Order) swap.Claim {
	x.t.Helper()
	for {
		c, err := x.p.Status(ctx, o)
		if err == nil && c.State.Final() {
			if c.State != swap.Filled || c.Tx == (common.Hash{}) || c.Chain != o.Terms.SrcChain {
				x.t.Fatalf("chain %d: the provider claims %+v", o.Terms.SrcChain, c)
			}
			return c
		}
		select {
		case <-ctx.Done():
			x.t.Fatalf("chain %d: no end in time: %+v, %v", o.Terms.SrcChain, c, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (x *trader) balances(f swap.Effect) []*big.Int {
	x.t.Helper()
	list := []*big.Int{sandboxtest.Balance(x.t, x.chain, x.who.Address, f.Spends[0].Token), sandboxtest.Balance(x.t, x.chain, f.Receives[0].To, f.Receives[0].Token)}
	for _, p := range f.Pays {
		list = append(list, sandboxtest.Balance(x.t, x.chain, p.To, p.Token))
	}
	return list
}

// moved compares the balances afterwards with the effect. The account pays no gas for a
// signed order.
func (x *trader) moved(f swap.Effect, before []*big.Int, spender common.Address) {
	x.t.Helper()
	after := x.balances(f)
	spent, got := new(big.Int).Sub(before[0], after[0]), new(big.Int).Sub(after[1], before[1])
	if spent.Cmp(f.Spends[0].Amount) != 0 || got.Cmp(f.Receives[0].Min) < 0 {
		x.t.Errorf("chain %d: %s left, said %s; %s arrived, promised %s", f.Chain, spent, f.Spends[0].Amount, got, f.Receives[0].Min)
	}
	for i, p := range f.Pays {
		if after[2+i].Cmp(before[2+i]) <= 0 {
			x.t.Errorf("chain %d: %s got no fee", f.Chain, p.To)
		}
	}
	if left := sandboxtest.View(x.t, x.chain, f.Spends[0].Token, "allowance(address,address)", 0, x.who.Address, spender); left.Sign() != 0 {
		x.t.Errorf("chain %d: an allowance of %s is left", f.Chain, left)
	}
}

// part settles half of an order, which the signature permits. It must match the order's
// trace and not its fill.
func (x *trader) part(in, out common.Address, amount string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 30*time.Second)
	defer cancel()
	settings := gaslesssim.DefaultSettings
	settings.JAM.NoQuote, settings.RFQ.Outcome = 108, "part"
	if err := x.sim.Set(settings); err != nil {
		x.t.Fatal(err)
	}
	order, effect := x.places(ctx, in, out, amount, 0)
	before := x.balances(effect)
	if _, err := x.p.Submit(ctx, order); err != nil {
		x.t.Fatal(err)
	}
	claim := x.settled(ctx, order)
	after := x.balances(effect)
	if left := new(big.Int).Sub(before[0], after[0]); new(big.Int).Lsh(left, 1).Cmp(effect.Spends[0].Amount) != 0 || after[1].Cmp(before[1]) <= 0 {
		x.t.Errorf("%s left", left)
	}
	proof, err := x.p.Proof(order)
	if err != nil {
		x.t.Fatal(err)
	}
	receipt, err := x.node.TransactionReceipt(ctx, claim.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	if !shown(receipt, proof.Trace) {
		x.t.Error("a part leaves no trace")
	}
	if shown(receipt, proof.Fill) {
		x.t.Error("a part is taken for the whole")
	}
}

// proven finds each pattern of the proof in the transaction that the provider named, and
// the first pattern nowhere else on the chain.
func (x *trader) proven(ctx context.Context, o swap.Order, c swap.Claim) {
	x.t.Helper()
	proof, err := x.p.Proof(o)
	if err != nil {
		x.t.Fatal(err)
	}
	receipt, err := x.node.TransactionReceipt(ctx, c.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	for i, p := range proof.Fill {
		var found []*types.Log
		logs, err := x.node.FilterLogs(ctx, ethereum.FilterQuery{Addresses: []common.Address{p.Address}, FromBlock: big.NewInt(0)})
		if err != nil {
			x.t.Fatal(err)
		}
		for _, l := range logs {
			if fits(p, l) && (l.TxHash == c.Tx || i == 0) {
				found = append(found, &l)
			}
		}
		if len(found) != 1 || found[0].TxHash != c.Tx {
			x.t.Errorf("chain %d, %s: pattern %d is in %d logs", o.Terms.SrcChain, o.Offer.Routing, i, len(found))
		}
	}
	if !shown(receipt, proof.Trace) {
		x.t.Errorf("chain %d, %s: a fill leaves no trace", o.Terms.SrcChain, o.Offer.Routing)
	}
	block, err := x.node.HeaderByNumber(ctx, receipt.BlockNumber)
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful || !time.Unix(int64(block.Time), 0).Before(proof.Ends) {
		x.t.Errorf("chain %d: mined with status %d after the end %s: %v", o.Terms.SrcChain, receipt.Status, proof.Ends, err)
	}
}

// shown reports whether a transaction has logs for all of the patterns.
func shown(r *types.Receipt, patterns []swap.LogPattern) bool {
	for _, p := range patterns {
		if !slices.ContainsFunc(r.Logs, func(l *types.Log) bool { return l.Address == p.Address && fits(p, *l) }) {
			return false
		}
	}
	return true
}

func fits(p swap.LogPattern, l types.Log) bool {
	if len(l.Topics) != len(p.Topics) {
		return false
	}
	for i, t := range p.Topics {
		if t != (common.Hash{}) && t != l.Topics[i] {
			return false
		}
	}
	if p.Amount == nil {
		return true
	}
	n := new(big.Int).SetBytes(l.Data[:32]).Cmp(p.Amount)
	return n == 0 || n > 0 && p.AtLeast
}

func (x *trader) send(c operator.Call) {
	x.t.Helper()
	sandboxtest.MustTransact(x.t, x.chain, x.who, c)
}
