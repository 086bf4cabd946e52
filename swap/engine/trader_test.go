package engine

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/test/await"
)

var usdt = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")

// A trader is a provider whose plans swap on the sandbox's Uniswap v3 through the real
// Universal Router and the real Permit2: a permit, then a late swap that carries it.
// Fields that are nil or zero change nothing.
type trader struct {
	b    *engineFixture
	life time.Duration // of its quotes

	mu         sync.Mutex
	price      func(out *big.Int) *big.Int // what it offers, from what the chain would give
	err        error                       // error of every method
	lateErr    error                       // error of BuildDeferred
	alterBuilt func(*swap.Built)
	nonce      func(uint64) uint64

	quoted, made, late atomic.Int32
}

// useTrader makes b's provider a trader.
func (b *engineFixture) useTrader() *trader {
	b.t.Helper()
	tr := &trader{b: b, life: 30 * time.Second}
	b.halt()
	b.otherProvider = tr
	// Ten blocks a second put the chain's clock ahead of ours, and the router checks
	// deadlines by the chain's.
	if ahead := time.Until(time.Unix(int64(b.chain.Head().Time), 0)); ahead > 0 {
		b.clockOffset.Add(int64(ahead))
	}
	b.start()
	b.fundTokens()
	return tr
}

// fundTokens gives the account tokens.
func (b *engineFixture) fundTokens() {
	b.t.Helper()
	for _, token := range []common.Address{usdc, usdt} {
		if err := b.chain.Fund(b.t.Context(), b.from, token, big.NewInt(5000e6)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// set changes the trader while orders are in progress.
func (tr *trader) set(change func(*trader)) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	change(tr)
}

func (tr *trader) up() error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.err
}

func (tr *trader) Kind() swap.Kind { return swap.DEX }

func (tr *trader) Pins() swap.Pins { return testPins }

func (tr *trader) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	tr.quoted.Add(1)
	if err := tr.up(); err != nil {
		return nil, err
	}
	out, err := tr.b.poolQuote(ctx, r.TokenIn, r.TokenOut, r.AmountIn)
	if err != nil {
		return nil, err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.price != nil {
		out = tr.price(out)
	}
	return []swap.Offer{{AmountOut: out, MinOut: swap.MinAfterSlippage(out, r.SlippageBps), Expires: tr.b.now().Add(tr.life), Routing: "CLASSIC", Gas: 200_000}}, nil
}

func (tr *trader) Build(ctx context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	tr.made.Add(1)
	if err := tr.up(); err != nil {
		return swap.Built{}, err
	}
	kept, err := tr.b.hub.PermitAllowances(ctx, t.SrcChain, permit2, t.Account, []chain.Grantee{{Token: t.TokenIn, Spender: router}})
	if err != nil {
		return swap.Built{}, err
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	nonce := kept[0].Nonce
	if tr.nonce != nil {
		nonce = tr.nonce(nonce)
	}
	now := tr.b.now()
	typed := permitOf(t, nonce, now.Add(30*24*time.Hour), now.Add(30*time.Minute))
	granted, err := tr.Decode(t, swap.Step{Kind: swap.TypedStep, TypedData: &typed})
	if err != nil {
		return swap.Built{}, err
	}
	deadline := earlier(now.Add(10*time.Minute), t.Deadline).Truncate(time.Second)
	built := swap.Built{Settlement: swap.ByOwnCall, Spender: permit2, Steps: []swap.Step{
		{Kind: swap.TypedStep, TypedData: &typed},
		{Kind: swap.DeferredStep, Effect: swapEffect(t, o.MinOut, deadline, granted.Approves)},
	}}
	if tr.alterBuilt != nil {
		tr.alterBuilt(&built)
	}
	return built, nil
}

func swapEffect(t swap.Terms, least *big.Int, deadline time.Time, carried []swap.Approval) swap.Effect {
	return swap.Effect{Kind: swap.Swap, Chain: t.SrcChain, Target: router, Deadline: deadline.UTC(), Approves: carried,
		Spends: []swap.Spend{{Token: t.TokenIn, Amount: t.AmountIn}}, Receives: []swap.Receive{{Token: t.TokenOut, To: t.Recipient, Min: least}}}
}

func permitOf(t swap.Terms, nonce uint64, until, sign time.Time) apitypes.TypedData {
	n := func(v int64) string { return big.NewInt(v).String() }
	return apitypes.TypedData{PrimaryType: "PermitSingle",
		Types: apitypes.Types{
			"EIP712Domain":  {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
			"PermitSingle":  {{Name: "details", Type: "PermitDetails"}, {Name: "spender", Type: "address"}, {Name: "sigDeadline", Type: "uint256"}},
			"PermitDetails": {{Name: "token", Type: "address"}, {Name: "amount", Type: "uint160"}, {Name: "expiration", Type: "uint48"}, {Name: "nonce", Type: "uint48"}},
		},
		Domain: apitypes.TypedDataDomain{Name: "Permit2", ChainId: math.NewHexOrDecimal256(int64(t.SrcChain)), VerifyingContract: permit2.Hex()},
		Message: apitypes.TypedDataMessage{"spender": router.Hex(), "sigDeadline": n(sign.Unix()), "details": map[string]any{
			"token": t.TokenIn.Hex(), "amount": t.AmountIn.String(), "expiration": n(until.Unix()), "nonce": n(int64(nonce))}},
	}
}

// permitSingle is Permit2's struct for the calldata.
type permitSingle struct {
	Details struct {
		Token             common.Address
		Amount            *big.Int
		Expiration, Nonce *big.Int
	}
	Spender     common.Address
	SigDeadline *big.Int
}

// permitIn reads a permit from typed data.
func permitIn(d apitypes.TypedData) (p permitSingle) {
	number := func(v any) *big.Int { n, _ := new(big.Int).SetString(v.(string), 10); return n }
	details := d.Message["details"].(map[string]any)
	p.Details.Token = common.HexToAddress(details["token"].(string))
	p.Details.Amount, p.Details.Expiration, p.Details.Nonce = number(details["amount"]), number(details["expiration"]), number(details["nonce"])
	p.Spender, p.SigDeadline = common.HexToAddress(d.Message["spender"].(string)), number(d.Message["sigDeadline"])
	return p
}

func (p permitSingle) approval() swap.Approval {
	return swap.Approval{Token: p.Details.Token, Spender: p.Spender, Amount: p.Details.Amount, Until: time.Unix(p.Details.Expiration.Int64(), 0).UTC()}
}

func arguments(names ...string) (out abi.Arguments) {
	for _, n := range names {
		t, err := abi.NewType(n, "", nil)
		if err != nil {
			panic(err) // the types are constants in this file
		}
		out = append(out, abi.Argument{Type: t})
	}
	return out
}

var (
	executeArgs = arguments("bytes", "bytes[]", "uint256")
	swapArgs    = arguments("address", "uint256", "uint256", "bytes", "bool", "uint256[]")
	permitArgs  = sync.OnceValue(func() abi.Arguments {
		t, err := abi.NewType("tuple", "", []abi.ArgumentMarshaling{
			{Name: "details", Type: "tuple", Components: []abi.ArgumentMarshaling{
				{Name: "token", Type: "address"}, {Name: "amount", Type: "uint160"}, {Name: "expiration", Type: "uint48"}, {Name: "nonce", Type: "uint48"}}},
			{Name: "spender", Type: "address"}, {Name: "sigDeadline", Type: "uint256"},
		})
		if err != nil {
			panic(err)
		}
		return append(abi.Arguments{{Type: t}}, arguments("bytes")...)
	})
	executeSelector = common.FromHex("0x3593564c") // execute(bytes,bytes[],uint256)
)

func (tr *trader) BuildDeferred(_ context.Context, o swap.Order, step int) (chain.Call, error) {
	tr.late.Add(1)
	if err := tr.up(); err != nil {
		return chain.Call{}, err
	}
	tr.mu.Lock()
	mute := tr.lateErr
	tr.mu.Unlock()
	if mute != nil {
		return chain.Call{}, mute
	}
	if len(o.Results) != step || len(o.Results[step-1].Signature) != 65 {
		return chain.Call{}, errors.New("late call before its signature")
	}
	f := o.Plan.Steps[step].Effect
	sig := bytes.Clone(o.Results[step-1].Signature)
	if sig[64] < 27 {
		sig[64] += 27
	}
	permit, err1 := permitArgs().Pack(permitIn(*o.Plan.Steps[step-1].TypedData), sig)
	path := bytes.Join([][]byte{o.Terms.TokenIn[:], {0x00, 0x01, 0xf4}, o.Terms.TokenOut[:]}, nil) // the 0.05 % pool
	trade, err2 := swapArgs.Pack(o.Terms.Recipient, o.Terms.AmountIn, f.Receives[0].Min, path, true, []*big.Int{})
	data, err3 := executeArgs.Pack([]byte{0x0a, 0x00}, [][]byte{permit, trade}, big.NewInt(f.Deadline.Unix()))
	return chain.Call{ChainID: o.Terms.SrcChain, From: o.Terms.Account, To: router, Value: new(big.Int), Data: append(bytes.Clone(executeSelector), data...), Gas: 400_000},
		errors.Join(err1, err2, err3)
}

func (tr *trader) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	if s.Kind == swap.TypedStep {
		p := permitIn(*s.TypedData)
		return swap.Effect{Kind: swap.Permit, Chain: t.SrcChain, Target: permit2, Approves: []swap.Approval{p.approval()},
			Deadline: time.Unix(p.SigDeadline.Int64(), 0).UTC(), Nonce: p.Details.Nonce}, nil
	}
	if !bytes.HasPrefix(s.Call.Data, executeSelector) {
		return swap.Effect{}, swap.Refuse(swap.Undecodable, "not the router's execute")
	}
	vals, err := executeArgs.Unpack(s.Call.Data[4:])
	if err != nil {
		return swap.Effect{}, err
	}
	inputs := vals[1].([][]byte)
	granted, err := permitArgs().Unpack(inputs[0])
	if err != nil {
		return swap.Effect{}, err
	}
	trade, err := swapArgs.Unpack(inputs[1])
	if err != nil {
		return swap.Effect{}, err
	}
	permit := *abi.ConvertType(granted[0], new(permitSingle)).(*permitSingle)
	t.Recipient, t.AmountIn = trade[0].(common.Address), trade[1].(*big.Int)
	return swapEffect(t, trade[2].(*big.Int), time.Unix(vals[2].(*big.Int).Int64(), 0), []swap.Approval{permit.approval()}), nil
}

const thousand = 1000e6 // of a token with six decimals

// review requests a swap of amount of token to WETH and prepares the best offer.
func (b *engineFixture) review(token common.Address, amount int64) (swap.Review, error) {
	b.t.Helper()
	q, err := b.service.Quote(b.t.Context(), swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: token, AmountIn: big.NewInt(amount), DstChain: 1, TokenOut: weth}, []swap.Kind{swap.DEX}, nil)
	if err != nil {
		return swap.Review{}, err
	}
	return b.service.Prepare(b.t.Context(), q.Offers[0].ID)
}

func (b *engineFixture) execute(r swap.Review) swap.Order {
	b.t.Helper()
	o, err := b.service.Execute(b.t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

// swap swaps amount of token to WETH.
func (b *engineFixture) swap(token common.Address, amount int64) swap.Order {
	b.t.Helper()
	r, err := b.review(token, amount)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.execute(r)
}

// wantPermit2Allowance checks what Permit2 may still pull.
func (b *engineFixture) wantPermit2Allowance(token common.Address, want int64) {
	b.t.Helper()
	if got, err := b.hub.Allowance(b.t.Context(), 1, token, b.from, permit2); err != nil || got.Int64() != want {
		b.t.Errorf("Permit2 may pull %v of %s, want %d (%v)", got, token, want, err)
	}
}

// approvePermit2 lets Permit2 pull n of token, by another wallet's transaction.
func (b *engineFixture) approvePermit2(token common.Address, n int64) {
	b.t.Helper()
	b.approveFor(permit2, token, n)
}

func (b *engineFixture) approveFor(spender, token common.Address, n int64) {
	b.t.Helper()
	b.mineCall(approveCall(swap.Terms{SrcChain: 1, Account: b.from, TokenIn: token}, spender, big.NewInt(n)))
}

// mineCall has a call of the account's mined, sent by another wallet.
func (b *engineFixture) mineCall(c chain.Call) {
	b.t.Helper()
	key := uuid.NewString()
	s := b.service.o.Sender
	if _, err := s.Submit(b.t.Context(), key, c, chain.Policy{Until: time.Now().Add(time.Minute)}); err != nil {
		b.t.Fatal(err)
	}
	await.Until(b.t, 10*time.Second, "the call is mined", func() bool {
		tx, _, err := s.Poll(b.t.Context(), key)
		return err == nil && tx.State == chain.TxMined
	})
}

// wantNonce checks the account's transaction count.
func (b *engineFixture) wantNonce(want uint64) {
	b.t.Helper()
	r, err := b.hub.Reader(b.t.Context(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	if n, err := r.NonceAt(b.t.Context(), b.from, nil); err != nil || n != want {
		b.t.Errorf("%d transactions mined, want %d (%v)", n, want, err)
	}
}

func kinds(p swap.Plan) (out []swap.EffectKind) {
	for _, f := range p.Effects() {
		k := f.Kind
		if k == swap.Approve && !swap.GrantsAllowance(f) {
			k = "reset"
		}
		out = append(out, k)
	}
	return out
}
