package bridge_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/bridge"
	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandbox swaps through a simulator that was written independently of this provider, on
// contracts that swap, take deposits and pay. The chain must do what Decode promises, and
// Proof must find the end there.
func TestSandbox(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{1, 56, 8453, 42161, 43114}, Period: time.Second, Instant: true, BridgeKey: testKey})
	x := newTrader(t, s)
	usdc := func(id uint64) common.Address { return symbol(t, x.chains[id], "USDC") }
	fill := bridgesim.Outcome{Kind: bridgesim.Fill}
	back := bridgesim.Outcome{Kind: bridgesim.Refund}
	for _, c := range []struct {
		name    string
		src     uint64
		in      common.Address
		dst     uint64
		out     common.Address
		amount  string
		feeBps  int
		outcome bridgesim.Outcome
		want    swap.State
	}{
		{"tokens", 8453, usdc(8453), 42161, usdc(42161), "25000000", 40, fill, swap.Filled},
		{"coins", 8453, native, 1, native, "100000000000000000", 40, fill, swap.Filled},
		{"tokens for coins", 42161, usdc(42161), 8453, native, "35000000", 0, fill, swap.Filled},
		{"tokens through a router", 8453, symbol(t, x.chains[8453], "DAI"), 42161, usdc(42161), "30000000000000000000", 40, fill, swap.Filled},
		{"tokens that a router pays", 8453, usdc(8453), 42161, symbol(t, x.chains[42161], "DAI"), "31000000", 40, fill, swap.Filled},
		{"a refund of tokens", 8453, usdc(8453), 42161, usdc(42161), "45000000", 40, back, swap.Refunded},
		{"a refund of coins", 8453, native, 42161, native, "110000000000000000", 0, back, swap.Refunded},
		{"a refund of what a router deposited", 8453, symbol(t, x.chains[8453], "DAI"), 42161, usdc(42161), "55000000000000000000", 40, back, swap.Refunded},
		{"a swap of tokens", 1, symbol(t, x.chains[1], "USDT"), 1, native, "200000000", 40, fill, swap.Filled},
		{"a swap of coins", 8453, native, 8453, usdc(8453), "120000000000000000", 0, fill, swap.Filled},
		{"a swap of coins on a chain apart", 56, native, 56, usdc(56), "130000000000000000", 0, fill, swap.Filled},
		{"coins from Avalanche", 43114, native, 8453, native, "2000000000000000000", 40, fill, swap.Filled},
		{"tokens to Avalanche", 8453, usdc(8453), 43114, usdc(43114), "27000000", 40, fill, swap.Filled},
		{"a swap of tokens on Avalanche", 43114, usdc(43114), 43114, native, "28000000", 0, fill, swap.Filled},
		{"tokens from there", 56, usdc(56), 8453, usdc(8453), "26000000000000000000", 0, fill, swap.Filled},
	} {
		x.name = c.name
		settings := bridgesim.DefaultSettings
		settings.APIKey, settings.PaceMS, settings.Outcome = testKey, 0, c.outcome
		if err := s.Bridge().Set(settings); err != nil {
			t.Fatal(err)
		}
		r := request(c.src, c.in, c.dst, c.out, c.amount, c.feeBps)
		r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
		x.trade(r, c.want)
	}
}

// TestSandboxWraps checks that the wrapped coin does the wrapping.
func TestSandboxWraps(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{56}, Period: time.Second, Instant: true})
	x := newTrader(t, s)
	wrapped := x.chains[56].Network.Wrapped.Address
	for _, pair := range [][2]common.Address{{native, wrapped}, {wrapped, native}} {
		r := request(56, pair[0], 56, pair[1], "5000000000000000", 0)
		r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
		o, terms, built := x.plan(t.Context(), r)
		before := x.balance(t.Context(), 56, wrapped, x.who.Address)
		x.pays(t.Context(), o, terms, built)
		change := new(big.Int).Sub(x.balance(t.Context(), 56, wrapped, x.who.Address), before)
		if want := r.AmountIn; change.CmpAbs(want) != 0 || (change.Sign() > 0) != (pair[1] == wrapped) {
			t.Errorf("the wrapped coins changed by %s", change)
		}
	}
}

// TestSandboxKey checks that there is no quote without the key, for that reason.
func TestSandboxKey(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: time.Second, Instant: true, BridgeKey: testKey})
	p, err := bridge.New(bridge.Config{Base: s.BaseURL("bridge"), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := request(8453, native, 8453, usdcBase, "120000000000000000", 0)
	if _, err := p.Quote(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: swap.ProviderKey}) {
		t.Error(err)
	}
}

// TestSandboxPushes checks that the end of a deposit is pushed without polling.
func TestSandboxPushes(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: time.Second, Instant: true, BridgeKey: testKey})
	x := newTrader(t, s)
	settings := bridgesim.DefaultSettings
	settings.APIKey, settings.PaceMS, settings.Outcome = testKey, 10, bridgesim.Outcome{Kind: bridgesim.Fill, DelayMS: 500}
	if err := s.Bridge().Set(settings); err != nil {
		t.Fatal(err)
	}
	r := request(8453, native, 42161, native, "100000000000000000", 0)
	r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	o, terms, built := x.plan(ctx, r)
	order := x.pays(ctx, o, terms, built)
	claims, ended := make(chan swap.Claim, 64), make(chan error, 1)
	listening, stop := context.WithCancel(ctx)
	go func() { ended <- x.p.Watch(listening, order, func(c swap.Claim) { claims <- c }) }()
	for {
		select {
		case c := <-claims:
			if !c.State.Final() {
				continue
			}
			if c.State != swap.Filled || c.Chain != 42161 || c.Tx == (common.Hash{}) {
				t.Errorf("pushed %+v", c)
			}
			stop()
			if err := <-ended; err == nil {
				t.Error("a stream that was cut off says nothing")
			}
			return
		case err := <-ended:
			t.Fatalf("the stream ended: %v", err)
		case <-ctx.Done():
			t.Fatal("nothing was pushed")
		}
	}
}

// A trader swaps on the chains of a sandbox.
type trader struct {
	t      *testing.T
	p      *bridge.Provider
	sim    *bridgesim.Server
	chains map[uint64]*sandbox.Chain
	nodes  map[uint64]*ethclient.Client
	who    sandbox.Account
	name   string
}

func newTrader(t *testing.T, s *sandbox.Sandbox) *trader {
	t.Helper()
	x := &trader{t: t, sim: s.Bridge(), chains: map[uint64]*sandbox.Chain{}, nodes: map[uint64]*ethclient.Client{}, who: s.Accounts()[0]}
	var err error
	key := func(context.Context) (string, error) { return testKey, nil }
	if x.p, err = bridge.New(bridge.Config{Base: s.BaseURL("bridge"), Sandbox: true, Key: key}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.p.Close)
	for _, c := range s.Chains() {
		node, err := ethclient.DialContext(t.Context(), c.RPC())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		x.chains[c.Network.ID], x.nodes[c.Network.ID] = c, node
	}
	return x
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

// trade runs a swap from quote to proof.
func (x *trader) trade(r swap.QuoteRequest, want swap.State) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 30*time.Second)
	defer cancel()
	o, terms, built := x.plan(ctx, r)
	before := x.balance(ctx, r.DstChain, r.TokenOut, r.Recipient)
	order := x.pays(ctx, o, terms, built)
	ref, err := x.p.Submit(ctx, order)
	if err != nil {
		x.t.Fatalf("%s: submit: %v", x.name, err)
	}
	order.ProviderOrderID = ref
	if again, err := x.p.Submit(ctx, order); err != nil || again != ref {
		x.t.Errorf("%s: submitted again: %q, %v", x.name, again, err)
	}
	c := x.settled(ctx, order, want)
	proof, err := x.p.Proof(order)
	if err != nil {
		x.t.Fatal(err)
	}
	switch {
	case proof.Own: // the balance shows what arrived; for coins the account also paid gas
		got := new(big.Int).Sub(x.balance(ctx, r.DstChain, r.TokenOut, r.Recipient), before)
		if r.TokenOut == native {
			got.Add(got, x.gas(ctx, order))
		}
		if got.Cmp(terms.MinOut) < 0 {
			x.t.Errorf("%s: %s arrived, promised %s", x.name, got, terms.MinOut)
		}
	case want == swap.Filled:
		x.arrived(ctx, c, *proof.Arrival)
	default:
		x.arrived(ctx, c, *proof.Refund)
	}
}

// plan quotes, builds and checks a swap.
func (x *trader) plan(ctx context.Context, r swap.QuoteRequest) (swap.Offer, swap.Terms, swap.Built) {
	x.t.Helper()
	offers, err := x.p.Quote(ctx, r)
	if err != nil {
		x.t.Fatalf("%s: quote: %v", x.name, err)
	}
	o := offers[0]
	terms := swap.Terms{
		Provider: swap.Bridge, Account: r.Account, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: r.TokenIn, TokenOut: r.TokenOut, AmountIn: r.AmountIn, MinOut: o.MinOut, Deadline: time.Now().Add(20 * time.Minute),
		FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver, GasCeiling: big.NewInt(1e18), Refund: o.Refund,
	}
	built, err := x.p.Build(ctx, o, terms)
	if err != nil {
		x.t.Fatalf("%s: build: %v", x.name, err)
	}
	f, err := x.p.Decode(terms, built.Steps[0])
	if err == nil {
		err = swap.Check(terms, []swap.Effect{f}, x.p.Pins())
	}
	if err != nil {
		x.t.Fatalf("%s: %v", x.name, err)
	}
	return o, terms, built
}

// pays does what package swap does: it approves exactly the amount, sends and waits. No
// allowance may be left, and exactly the input must have gone.
func (x *trader) pays(ctx context.Context, o swap.Offer, t swap.Terms, b swap.Built) swap.Order {
	x.t.Helper()
	if b.Spender != native {
		x.send(ctx, chain.Call{ChainID: t.SrcChain, To: t.TokenIn, Value: new(big.Int), Data: statuses("0x095ea7b3", b.Spender, t.AmountIn)})
	}
	before := x.balance(ctx, t.SrcChain, t.TokenIn, t.Account)
	receipt := x.send(ctx, *b.Steps[0].Call)
	spent := new(big.Int).Sub(before, x.balance(ctx, t.SrcChain, t.TokenIn, t.Account))
	if t.TokenIn == native {
		spent.Sub(spent, paidFor(receipt))
	}
	if spent.Cmp(t.AmountIn) != 0 {
		x.t.Errorf("%s: %s left the account, not %s", x.name, spent, t.AmountIn)
	}
	if b.Spender != native {
		if left := x.read(ctx, t.SrcChain, t.TokenIn, statuses("0xdd62ed3e", t.Account, b.Spender)); left.Sign() != 0 {
			x.t.Errorf("%s: an allowance of %s is left", x.name, left)
		}
	}
	return swap.Order{
		ID: "test", Consent: swap.Consent{Terms: t, Offer: o, Plan: swap.Plan(b)},
		Progress: swap.Progress{Results: []swap.Result{{Tx: receipt.TxHash, Evidence: &chain.Evidence{Chain: t.SrcChain, Tx: receipt.TxHash, Time: time.Now(), Success: true}}}},
	}
}

func paidFor(r *types.Receipt) *big.Int {
	return new(big.Int).Mul(r.EffectiveGasPrice, new(big.Int).SetUint64(r.GasUsed))
}

func (x *trader) gas(ctx context.Context, o swap.Order) *big.Int {
	x.t.Helper()
	sum := new(big.Int)
	r, err := x.nodes[o.Terms.SrcChain].TransactionReceipt(ctx, o.Results[0].Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	return sum.Add(sum, new(big.Int).Mul(big.NewInt(2), paidFor(r))) // twice, for the approval too, which needs less
}

// settled polls until the provider's final status.
func (x *trader) settled(ctx context.Context, o swap.Order, want swap.State) swap.Claim {
	x.t.Helper()
	for {
		c, err := x.p.Status(ctx, o)
		if err == nil && c.State.Final() {
			if c.State != want {
				x.t.Fatalf("%s: the provider claims %+v", x.name, c)
			}
			return c
		}
		select {
		case <-ctx.Done():
			x.t.Fatalf("%s: no end in time: %+v, %v", x.name, c, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// arrived checks that the transaction the provider named is the solver's, and pays enough.
func (x *trader) arrived(ctx context.Context, c swap.Claim, a swap.Arrival) {
	x.t.Helper()
	if c.Chain != a.Chain {
		x.t.Fatalf("%s: paid on chain %d, not on %d", x.name, c.Chain, a.Chain)
	}
	node := x.nodes[c.Chain]
	tx, _, err := node.TransactionByHash(ctx, c.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	receipt, err := node.TransactionReceipt(ctx, c.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	from, err := types.LatestSignerForChainID(tx.ChainId()).Sender(tx)
	if err != nil || !slices.Contains(a.From, from) || receipt.Status != types.ReceiptStatusSuccessful {
		x.t.Errorf("%s: paid by %s, status %d: %v", x.name, from, receipt.Status, err)
	}
	got := tx.Value()
	if a.Token != native {
		got = new(big.Int)
		for _, l := range receipt.Logs {
			if l.Address == a.Token && len(l.Topics) == 3 && l.Topics[0] == transferTopic && common.BytesToAddress(l.Topics[2][:]) == a.To {
				got.Add(got, new(big.Int).SetBytes(l.Data))
			}
		}
	}
	if got.Cmp(a.Least) < 0 {
		x.t.Errorf("%s: %s arrived, awaited %s", x.name, got, a.Least)
	}
}

var transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

func statuses(selector string, args ...any) []byte {
	data := common.FromHex(selector)
	for _, a := range args {
		switch a := a.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(a[:], 32)...)
		case *big.Int:
			data = append(data, common.BigToHash(a).Bytes()...)
		}
	}
	return data
}

func (x *trader) balance(ctx context.Context, id uint64, token, who common.Address) *big.Int {
	x.t.Helper()
	if token != native {
		return x.read(ctx, id, token, statuses("0x70a08231", who))
	}
	n, err := x.nodes[id].BalanceAt(ctx, who, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

// read returns the first word that a view function returns.
func (x *trader) read(ctx context.Context, id uint64, at common.Address, data []byte) *big.Int {
	x.t.Helper()
	b, err := x.nodes[id].CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil || len(b) < 32 {
		x.t.Fatalf("%s: view of %s: %d bytes, %v", x.name, at, len(b), err)
	}
	return new(big.Int).SetBytes(b[:32])
}

func (x *trader) send(ctx context.Context, c chain.Call) *types.Receipt {
	x.t.Helper()
	node, id := x.nodes[c.ChainID], new(big.Int).SetUint64(c.ChainID)
	nonce, err := node.PendingNonceAt(ctx, x.who.Address)
	if err != nil {
		x.t.Fatal(err)
	}
	tx, err := types.SignNewTx(x.who.Key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data, Gas: 400_000, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11),
	})
	if err == nil {
		err = node.SendTransaction(ctx, tx)
	}
	if err != nil {
		x.t.Fatalf("%s: %v", x.name, err)
	}
	for {
		r, err := node.TransactionReceipt(ctx, tx.Hash())
		if err == nil { // a receipt is there an instant before views see its block as the head
			var head uint64
			if head, err = node.BlockNumber(ctx); err == nil && head < r.BlockNumber.Uint64() {
				err = ethereum.NotFound
			}
		}
		if err == nil {
			if r.Status != types.ReceiptStatusSuccessful {
				x.t.Fatalf("%s: the transaction reverted", x.name)
			}
			return r
		}
		select {
		case <-ctx.Done():
			x.t.Fatalf("%s: no receipt in time", x.name)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
