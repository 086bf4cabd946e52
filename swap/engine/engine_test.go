package engine

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/sandbox"
	"swapkeep/sandbox/network"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// Errors of the test's signer.
var (
	errLocked = errors.New("locked")
	errGone   = errors.New("no wallet has the account")
)

// A fakeSigner is a signer that can be locked and counts its transaction signatures.
type fakeSigner struct {
	key    *ecdsa.PrivateKey
	other  func(common.Address) *ecdsa.PrivateKey // keys of isolated accounts; nil = none
	locked atomic.Bool
	gone   atomic.Bool // no wallet has the account
	strict bool        // seals nothing while locked
	signed atomic.Int32
	asked  chan chan struct{} // nil: sign at once; else each signature waits until the channel sent here is closed
}

func (h *fakeSigner) SignTx(_ context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	if h.locked.Load() {
		return nil, errLocked
	}
	if h.gone.Load() {
		return nil, errGone
	}
	if h.asked != nil {
		goOn := make(chan struct{})
		h.asked <- goOn
		<-goOn
	}
	h.signed.Add(1)
	key := h.key
	if from != crypto.PubkeyToAddress(key.PublicKey) {
		if key = h.other(from); key == nil {
			return nil, errGone
		}
	}
	return types.SignTx(tx, types.LatestSignerForChainID(id), key)
}

func (h *fakeSigner) SignTypedData(_ context.Context, _ common.Address, d apitypes.TypedData) ([]byte, error) {
	if h.locked.Load() {
		return nil, errLocked
	}
	if h.gone.Load() {
		return nil, errGone
	}
	hash, _, err := apitypes.TypedDataAndHash(d)
	if err != nil {
		return nil, err
	}
	return crypto.Sign(hash, h.key)
}

// Seal is the vault's: an HMAC under a key that needs an unlocked wallet. Unless strict
// it seals while locked: in the tests a user acts right before the lock.
func (h *fakeSigner) Seal(account common.Address, message []byte) (code [32]byte, err error) {
	if h.locked.Load() && h.strict {
		return code, errLocked
	}
	if h.gone.Load() {
		return code, errGone
	}
	return sealBy(h.key, account, message), nil
}

func sealBy(key *ecdsa.PrivateKey, account common.Address, message []byte) [32]byte {
	m := hmac.New(sha256.New, crypto.FromECDSA(key))
	m.Write(account[:])
	m.Write(message)
	return [32]byte(m.Sum(nil))
}

// setNodes replaces the nodes of the engine and of its planner.
func (b *engineFixture) setNodes(n Nodes) {
	b.service.engine.Nodes, b.service.engine.Planner.Nodes = n, n
}

// sealed returns o with the seal that the user's consent gave it before the lock.
func (h *fakeSigner) sealed(o swap.Order) swap.Order {
	s := swap.Seal{Version: sealVersion, UserAct: swap.UserAct{Action: "execute", ActedAt: time.Now().UTC()}}
	x := consentOf(o)
	s.MAC = sealBy(h.key, x.account, x.message(s))
	o.Seal = &s
	return o
}

// A wrapProvider is a provider whose plans really wrap the native coin, so that the engine can
// be tested on a real chain without a provider's API. Tests may replace decode and quote.
type wrapProvider struct {
	kind   swap.EffectKind // Wrap, or Swap for a plan that depends on a price
	decode func(swap.Terms, swap.Step) (swap.Effect, error)
	quote  func(swap.QuoteRequest) ([]swap.Offer, error)
	typed  *apitypes.TypedData // signed before the call, which is then a late step
	first  bool                // approve the input before the call
	by     swap.SettledBy      // zero = ByOwnCall
	built  atomic.Int32
	late   atomic.Int32
}

func (w *wrapProvider) Kind() swap.Kind { return swap.DEX }

func (w *wrapProvider) Pins() swap.Pins {
	return swap.Pins{{Chain: 1, Role: swap.Wrapper, Address: weth}, {Chain: 1, Role: swap.Router, Address: weth}, {Chain: 1, Role: swap.Verifier, Address: permit2}, {Chain: 1, Role: swap.Spender, Address: permit2}}
}

func (w *wrapProvider) Quote(_ context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	return w.quote(r)
}

func (w *wrapProvider) call(t swap.Terms) chain.Call {
	c := chain.Call{ChainID: t.SrcChain, From: t.Account, To: weth, Value: t.AmountIn, Data: common.FromHex("0xd0e30db0")} // deposit()
	if t.TokenIn == weth {
		c.Value, c.Data = new(big.Int), append(common.FromHex("0x2e1a7d4d"), common.BigToHash(t.AmountIn).Bytes()...) // withdraw(uint256)
	}
	return c
}

func (w *wrapProvider) Build(_ context.Context, _ swap.Offer, t swap.Terms) (swap.Built, error) {
	w.built.Add(1)
	c := w.call(t)
	spender := common.Address{}
	if w.first {
		spender = permit2
	}
	if w.typed == nil {
		return swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &c}}, Settlement: cmp.Or(w.by, swap.ByOwnCall), Spender: spender}, nil
	}
	late := swap.Step{Kind: swap.DeferredStep, Effect: w.plain(t, swap.Step{Kind: swap.CallStep, Call: &c})}
	return swap.Built{Steps: []swap.Step{{Kind: swap.TypedStep, TypedData: w.typed}, late}, Settlement: swap.ByOwnCall}, nil
}

func (w *wrapProvider) BuildDeferred(_ context.Context, o swap.Order, step int) (chain.Call, error) {
	w.late.Add(1)
	if len(o.Results) != step || len(o.Results[step-1].Signature) != 65 {
		return chain.Call{}, errors.New("late call before its signature")
	}
	return w.call(o.Terms), nil
}

func (w *wrapProvider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	if w.decode != nil {
		return w.decode(t, s)
	}
	return w.plain(t, s), nil
}

func (w *wrapProvider) plain(t swap.Terms, s swap.Step) swap.Effect {
	if s.Kind == swap.TypedStep {
		return swap.Effect{Kind: swap.Permit, Chain: 1, Target: permit2, Deadline: t.Deadline,
			Approves: []swap.Approval{{Token: t.TokenIn, Spender: weth, Amount: t.AmountIn, Until: t.Deadline}}}
	}
	f := swap.Effect{Kind: w.kind, Chain: s.Call.ChainID, Target: s.Call.To,
		Spends: []swap.Spend{{Token: native, Amount: s.Call.Value}}, Receives: []swap.Receive{{Token: weth, To: t.Account, Min: s.Call.Value}}}
	if w.kind == swap.Swap {
		f.Deadline = t.Deadline
	}
	if t.TokenIn == weth {
		amount := new(big.Int).SetBytes(s.Call.Data[4:])
		f.Spends, f.Receives = []swap.Spend{{Token: weth, Amount: amount}}, []swap.Receive{{Token: native, To: t.Account, Min: amount}}
	}
	return f
}

// A engineFixture is an engine on a real chain with a real journal.
type engineFixture struct {
	t             *testing.T
	chain         *sandbox.Chain
	hub           *chain.MultiClient
	db            *bolt.DB
	signer        *fakeSigner
	from          common.Address
	provider      *wrapProvider
	otherProvider swap.Provider     // replaces p if not nil
	clockOffset   atomic.Int64      // offset of the engine's clock in nanoseconds
	wrapNodes     func(Nodes) Nodes // wraps the engine's nodes; nil = they are used as they are
	wrapSender    func(Sender) Sender
	isolated      IsolatedVault
	recognition   atomic.Pointer[swap.Recognition] // of every token; nil = the chain's own are listed
	service       *Service
	stop          func()
	made          int
	mu            sync.Mutex
	logged        []string
}

// passwordCaller is a browser user who gives the password with each action.
var passwordCaller = Caller{Session: "s", Origin: "test", Password: true, Present: func() bool { return true }}

// ownPrices are the initial prices of a chain's pools, known from another source.
type ownPrices struct{ *sandbox.Chain }

func (p ownPrices) Out(_ context.Context, _ uint64, in common.Address, _ uint64, out common.Address, amount *big.Int) (*big.Int, error) {
	from, to := p.token(in), p.token(out)
	if from == nil || to == nil {
		return nil, errors.New("no price")
	}
	tens := func(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	num := new(big.Int).Mul(amount, new(big.Int).Mul(big.NewInt(from.MicroUSD), tens(to.Decimals)))
	return num.Div(num, new(big.Int).Mul(big.NewInt(to.MicroUSD), tens(from.Decimals))), nil
}

func (p ownPrices) Worth(ctx context.Context, id uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	return p.Out(ctx, id, token, id, common.Address{}, amount)
}

func (p ownPrices) token(a common.Address) *network.Token {
	for _, t := range append(p.Network.Tokens, p.Network.Wrapped) {
		if t.Address == a || a == native && t.Address == p.Network.Wrapped.Address {
			return &t
		}
	}
	return nil
}

// recognize lists the chain's own tokens unless b.known says otherwise.
func (b *engineFixture) recognize(_ context.Context, id uint64, token common.Address) swap.Recognition {
	if known := b.recognition.Load(); known != nil {
		return *known
	}
	return swap.Recognition{Listed: id == 1 && ownPrices{b.chain}.token(token) != nil}
}

// poolQuote returns what amount buys in the 0.05 % pool of Uniswap v3.
func (b *engineFixture) poolQuote(ctx context.Context, in, out common.Address, amount *big.Int) (*big.Int, error) {
	data := crypto.Keccak256([]byte("quoteExactInputSingle((address,address,uint256,uint24,uint160))"))[:4]
	for _, word := range []*big.Int{in.Big(), out.Big(), amount, big.NewInt(500), new(big.Int)} {
		data = append(data, common.BigToHash(word).Bytes()...)
	}
	said, err := b.hub.Ask(ctx, 1, []chain.Question{{To: b.chain.Network.Contracts.QuoterV2, Data: data}})
	if err != nil || len(said[0]) < 32 {
		return nil, fmt.Errorf("no pool: %w", err)
	}
	return new(big.Int).SetBytes(said[0][:32]), nil
}

// world is the chain that the tests share, started on first use.
var world = sync.OnceValues(func() (*sandbox.Sandbox, error) {
	return sandbox.Start(context.Background(), sandbox.Options{Chains: []uint64{1}, Period: 100 * time.Millisecond, Instant: true})
})

func newEngineFixture(t *testing.T) *engineFixture {
	s, err := world()
	if err != nil {
		t.Fatal(err) // the error names the command to run when the contracts are missing
	}
	return newEngineFixtureOn(t, s, 2)
}

// newEngineFixtureOn returns a bench on a sandbox where a transaction is final at depth blocks.
func newEngineFixtureOn(t *testing.T, s *sandbox.Sandbox, depth uint64) *engineFixture {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	b := &engineFixture{t: t, chain: s.Chain(1), signer: &fakeSigner{key: key}, from: crypto.PubkeyToAddress(key.PublicKey), provider: &wrapProvider{kind: swap.Wrap}}
	if err := b.chain.Fund(t.Context(), b.from, native, big.NewInt(2e18)); err != nil {
		t.Fatal(err)
	}
	b.hub, err = chain.NewMultiClient([]chain.Endpoint{{Chain: 1, URLs: []string{b.chain.RPC()}, Depth: depth}}, chain.Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.hub.Close)
	if b.db, err = bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.halt(); _ = b.db.Close() })
	b.start()
	return b
}

// start makes a service as after a start of the daemon.
func (b *engineFixture) start() {
	b.t.Helper()
	j, err := journal.Open(b.db)
	if err != nil {
		b.t.Fatal(err)
	}
	sender, err := chain.NewSender(b.db, b.hub, b.signer, chain.SenderOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	var nodes Nodes = b.hub
	if b.wrapNodes != nil {
		nodes = b.wrapNodes(nodes)
	}
	var sends Sender = sender
	if b.wrapSender != nil {
		sends = b.wrapSender(sends)
	}
	var p swap.Provider = b.provider
	if b.otherProvider != nil {
		p = b.otherProvider
	}
	b.service, err = NewService(Options{Isolated: b.isolated, Journal: j, Providers: map[swap.Kind]swap.Provider{p.Kind(): p}, Nodes: nodes, Sender: sends, Signer: b.signer, Sealer: b.signer,
		Pricer: ownPrices{b.chain}, Recognize: b.recognize, Confirmer: ByCall{}, Fees: swap.DefaultFees(), Unlocked: func() bool { return !b.signer.locked.Load() }, IsLocked: func(err error) bool { return errors.Is(err, errLocked) },
		OpenOrders: 10, Now: b.now, Pause: func(time.Duration) time.Duration { return 20 * time.Millisecond },
		Log: func(_ swap.Order, err error) { b.mu.Lock(); b.logged = append(b.logged, err.Error()); b.mu.Unlock() }})
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	if err := b.service.Resume(ctx); err != nil {
		b.t.Fatal(err)
	}
}

// now is the engine's clock.
func (b *engineFixture) now() time.Time { return time.Now().Add(time.Duration(b.clockOffset.Load())) }

// halt stops the engine wherever it is, as the end of the daemon would.
func (b *engineFixture) halt() {
	if b.stop != nil {
		b.stop()
		b.service.Wait()
		b.stop = nil
	}
}

// order journals an accepted plan of the bench's provider and starts it.
func (b *engineFixture) order(change func(*swap.Terms, *swap.Offer)) swap.Order {
	b.t.Helper()
	one := big.NewInt(1e17)
	t := swap.Terms{Provider: swap.DEX, Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: one, DstChain: 1, TokenOut: weth, Recipient: b.from,
		MinOut: one, Deadline: time.Now().Add(time.Minute).UTC().Truncate(time.Second), RefundTo: b.from, GasCeiling: big.NewInt(1e17)}
	offer := swap.Offer{ID: "offer", Provider: swap.DEX, Request: swap.QuoteRequest{AmountIn: one}, AmountOut: one, MinOut: one, Expires: time.Now().Add(30 * time.Second)}
	b.made++ // plans made in the same second would be identical
	t.Deadline = t.Deadline.Add(time.Duration(b.made) * time.Second)
	if change != nil {
		change(&t, &offer)
	}
	built, err := b.provider.Build(b.t.Context(), offer, t)
	if err != nil {
		b.t.Fatal(err)
	}
	plan := swap.Plan{Settlement: built.Settlement, Spender: built.Spender}
	if plan.Spender != (common.Address{}) {
		plan.Steps = []swap.Step{approveStep(t, plan.Spender, t.AmountIn, new(big.Int))}
	}
	for _, s := range built.Steps {
		if s.Kind != swap.DeferredStep {
			s.Effect = b.provider.plain(t, s)
		}
		plan.Steps = append(plan.Steps, s)
	}
	digest := swap.Digest(t, plan.Effects())
	o, made, err := b.service.o.Journal.Create(b.signer.sealed(swap.Order{ID: uuid.Must(uuid.NewV7()).String(), Consent: swap.Consent{Request: uuid.NewString(), Digest: digest, Terms: t,
		Offer: offer, Plan: plan}, Progress: swap.Progress{State: swap.Accepted}, Created: time.Now(), Updated: time.Now()}), digest)
	if err != nil || !made {
		b.t.Fatal(made, err)
	}
	b.service.engine.Start(o.ID)
	return o
}

// waitUntil waits until ok holds for the order.
func (b *engineFixture) waitUntil(id, what string, ok func(swap.Order) bool) swap.Order {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		o, lines, err := b.service.Order(id)
		if err != nil {
			b.t.Fatal(err)
		}
		if untold := uncaused(o, lines); untold != "" {
			b.t.Fatal(untold)
		}
		if ok(o) {
			return o
		}
		if o.State.Final() {
			b.t.Fatalf("order ended %s (%s) before it was %s", o.State, o.Reason, what)
		}
	}
	o, lines, _ := b.service.Order(id)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Fatalf("never %s: %s %q %s\n%+v\n%s", what, o.State, o.Condition, o.Reason, lines, strings.Join(b.logged, "\n"))
	return o
}

func (b *engineFixture) waitState(id string, s swap.State) swap.Order {
	b.t.Helper()
	return b.waitUntil(id, string(s), func(o swap.Order) bool { return o.State == s })
}

// wantNonceAndWETH checks the account's nonce and its WETH balance in wei.
func (b *engineFixture) wantNonceAndWETH(nonce uint64, wrapped int64) {
	b.t.Helper()
	r, err := b.hub.Reader(b.t.Context(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	if n, err := r.NonceAt(b.t.Context(), b.from, nil); err != nil || n != nonce {
		b.t.Errorf("%d transactions mined, want %d (%v)", n, nonce, err)
	}
	if got, err := b.hub.Balance(b.t.Context(), 1, b.from, weth); err != nil || got.Int64() != wrapped {
		b.t.Errorf("holds %v WETH, want %d (%v)", got, wrapped, err)
	}
}

func TestEngineFills(t *testing.T) {
	b := newEngineFixture(t)
	o := b.waitState(b.order(nil).ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	if o.Verdict == nil || o.Verdict.Received == nil || o.Verdict.Received.Amount.Int64() != 1e17 || o.Verdict.Sources != swap.OneHost || o.Verdict.Evidence.Depth < 2 {
		t.Errorf("verdict %+v", o.Verdict)
	}
	_, lines, err := b.service.Order(o.ID)
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, l := range lines {
		if s := string(l.State); len(states) == 0 || states[len(states)-1] != s {
			states = append(states, s)
		}
	}
	if got := strings.Join(states, " "); got != "accepted executing settling filled" {
		t.Errorf("history: %s", got)
	}
}

// TestEngineTypedAndDeferred covers a signature and then a call whose bytes exist only after
// it: the late bytes must have the accepted effect.
func TestEngineTypedAndDeferred(t *testing.T) {
	b := newEngineFixture(t)
	b.waitState(b.order(nil).ID, swap.Filled)
	b.provider.kind = swap.Swap
	b.provider.typed = &apitypes.TypedData{PrimaryType: "Note",
		Types:   apitypes.Types{"EIP712Domain": {{Name: "chainId", Type: "uint256"}}, "Note": {{Name: "n", Type: "uint256"}}},
		Domain:  apitypes.TypedDataDomain{ChainId: math.NewHexOrDecimal256(1)},
		Message: apitypes.TypedDataMessage{"n": "1"}}
	unwrap := func(t *swap.Terms, _ *swap.Offer) { t.TokenIn, t.TokenOut = weth, native }
	o := b.waitState(b.order(unwrap).ID, swap.Filled)
	if len(o.Results) != 2 || len(o.Results[0].Signature) != 65 || b.provider.late.Load() == 0 {
		t.Errorf("results %+v", o.Results)
	}
	b.wantNonceAndWETH(2, 0)

	b.provider.kind, b.provider.typed = swap.Wrap, nil
	b.waitState(b.order(nil).ID, swap.Filled)
	b.provider.kind, b.provider.typed = swap.Swap, o.Plan.Steps[0].TypedData
	honest := b.provider.plain
	b.provider.decode = func(t swap.Terms, s swap.Step) (swap.Effect, error) {
		f := honest(t, s)
		if s.Kind != swap.TypedStep {
			f.Receives[0].To = thief
		}
		return f, nil
	}
	before := b.signer.signed.Load()
	if o = b.waitState(b.order(unwrap).ID, swap.Cancelled); b.signer.signed.Load() != before || len(o.Results) != 1 {
		t.Errorf("late bytes that pay another were signed: %+v", o)
	}
}

func TestEngineWaitsForUnlock(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	o := b.order(nil)
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.halt() // a restart changes nothing
	b.start()
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.signer.locked.Store(false)
	b.service.Wake()
	if o = b.waitState(o.ID, swap.Filled); o.Condition != swap.NoCondition {
		t.Errorf("condition %q stayed", o.Condition)
	}
	b.wantNonceAndWETH(1, 1e17)
}

func TestEngineExpiresUnsigned(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	o := b.order(func(t *swap.Terms, _ *swap.Offer) {
		t.Deadline = time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
	})
	if o = b.waitState(o.ID, swap.Expired); o.Verdict.Sources != swap.NothingSigned {
		t.Errorf("verdict %+v", o.Verdict)
	}
	b.signer.locked.Store(false)
	b.service.Wake()
	time.Sleep(100 * time.Millisecond)
	b.wantNonceAndWETH(0, 0)
}

func cancelOf(o swap.Order) CancelRequest {
	return CancelRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Digest, Caller: passwordCaller}
}

func TestEngineCancels(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	unsigned := b.order(nil)
	b.waitUntil(unsigned.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	if _, err := b.service.Cancel(t.Context(), CancelRequest{Request: uuid.NewString(), Order: unsigned.ID, Caller: passwordCaller}); err == nil {
		t.Error("cancelled without the digest that was shown")
	}
	if _, err := b.service.Cancel(t.Context(), cancelOf(unsigned)); err != nil {
		t.Fatal(err)
	}
	b.waitState(unsigned.ID, swap.Cancelled)
	b.wantNonceAndWETH(0, 0)

	b.signer.locked.Store(false)
	b.chain.Pause()
	sent := b.order(func(t *swap.Terms, _ *swap.Offer) { t.AmountIn = big.NewInt(2e17); t.MinOut = t.AmountIn })
	b.waitUntil(sent.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	r := cancelOf(sent)
	if _, err := b.service.Cancel(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.waitUntil(sent.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
	if _, err := b.service.Cancel(t.Context(), r); err != nil {
		t.Errorf("repeated: %v", err)
	}
	b.chain.Resume()
	o := b.waitState(sent.ID, swap.Cancelled)
	b.wantNonceAndWETH(1, 0)
	if o.Verdict.Evidence == nil || !o.Verdict.Evidence.Success {
		t.Errorf("verdict %+v", o.Verdict)
	}
	_, err := b.service.Cancel(t.Context(), cancelOf(o))
	refusedWith(t, err, swap.OrderFinal)
}

// TestCancelWithoutTheAccount checks that a sent transaction, which needs the account's
// key to be cancelled, cannot be cancelled while no wallet has the account. An order that
// was never sent ends without the key, and a cancel that was sent continues.
func TestCancelWithoutTheAccount(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	unsent := b.order(nil)
	b.waitUntil(unsent.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.signer.gone.Store(true)
	b.signer.locked.Store(false)
	if _, err := b.service.Cancel(t.Context(), cancelOf(unsent)); err != nil {
		t.Fatal(err)
	}
	b.waitState(unsent.ID, swap.Cancelled)

	b.signer.gone.Store(false)
	b.chain.Pause()
	sent := b.order(func(t *swap.Terms, _ *swap.Offer) { t.AmountIn = big.NewInt(2e17); t.MinOut = t.AmountIn })
	b.waitUntil(sent.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	b.signer.gone.Store(true)
	_, err := b.service.Cancel(t.Context(), cancelOf(sent))
	refusedWith(t, err, swap.CannotCancel)
	b.signer.gone.Store(false)
	if _, err := b.service.Cancel(t.Context(), cancelOf(sent)); err != nil {
		t.Fatal(err)
	}
	b.waitUntil(sent.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
	b.signer.gone.Store(true)
	time.Sleep(300 * time.Millisecond) // a few polls
	if o := b.waitUntil(sent.ID, "open", func(swap.Order) bool { return true }); o.Condition != swap.Cancelling {
		t.Errorf("says %q of a cancel that is on its way", o.Condition)
	}
	b.chain.Resume()
	b.waitState(sent.ID, swap.Cancelled)
}

// TestEngineRefusesChangedDeferredBytes checks that bytes which decode differently right before
// signing are not signed, whatever the review showed.
func TestEngineRefusesChangedDeferredBytes(t *testing.T) {
	for name, lie := range map[string]func(*swap.Effect){
		"recipient": func(f *swap.Effect) { f.Receives[0].To = thief },
		"target":    func(f *swap.Effect) { f.Target = thief },
		"amount":    func(f *swap.Effect) { f.Spends[0].Amount = big.NewInt(1) },
		"allowance": func(f *swap.Effect) {
			f.Approves = []swap.Approval{{Token: weth, Spender: thief, Amount: big.NewInt(1)}}
		},
		"kind": func(f *swap.Effect) { f.Kind = swap.Unwrap },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			b.provider.decode = func(t swap.Terms, s swap.Step) (swap.Effect, error) {
				f := b.provider.plain(t, s)
				lie(&f)
				return f, nil
			}
			o := b.waitState(b.order(nil).ID, swap.Cancelled)
			if b.signer.signed.Load() != 0 || o.Reason == "" {
				t.Errorf("signed %d, reason %q", b.signer.signed.Load(), o.Reason)
			}
			b.wantNonceAndWETH(0, 0)
		})
	}
}

func TestEngineRefreshesQuotes(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.kind = swap.Swap
	floor := big.NewInt(1e17)
	var asked []int
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		asked = append(asked, r.SlippageBps)
		min := swap.MinAfterSlippage(big.NewInt(1.005e17), r.SlippageBps) // better than the minimum, but not with 1 % slippage
		return []swap.Offer{{Provider: swap.DEX, AmountOut: big.NewInt(1.005e17), MinOut: min, Expires: time.Now().Add(time.Minute), Request: r}}, nil
	}
	o := b.order(func(t *swap.Terms, o *swap.Offer) {
		o.Expires = time.Now().Add(-time.Second)
		o.Request.SlippageBps = 100
	})
	o = b.waitState(o.ID, swap.Filled)
	if len(asked) != 2 || asked[0] != 100 || asked[1] >= 100 || o.Offer.MinOut.Cmp(floor) < 0 {
		t.Errorf("asked with slippage %v, got a minimum of %s", asked, o.Offer.MinOut)
	}
	b.wantNonceAndWETH(1, 1e17)
}

func TestEngineNeedsConsent(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.kind = swap.Swap
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		return []swap.Offer{{Provider: swap.DEX, AmountOut: big.NewInt(0.99e17), MinOut: swap.MinAfterSlippage(big.NewInt(0.99e17), r.SlippageBps), Expires: time.Now().Add(time.Minute)}}, nil
	}
	o := b.order(func(t *swap.Terms, o *swap.Offer) {
		t.Deadline = time.Now().Add(3 * time.Second).UTC().Truncate(time.Second)
		o.Expires, o.Request.SlippageBps = time.Now().Add(-time.Second), 50
	})
	b.waitUntil(o.ID, "in need of consent", func(o swap.Order) bool { return o.Condition == swap.NeedsConsent })
	if o = b.waitState(o.ID, swap.Expired); b.signer.signed.Load() != 0 {
		t.Error("signed below the accepted minimum")
	}
	b.wantNonceAndWETH(0, 0)
}

// TestEngineStopsAnywhere restarts the engine repeatedly while an order is under way: it
// is paid once.
func TestEngineStopsAnywhere(t *testing.T) {
	b := newEngineFixture(t)
	o := b.order(nil)
	for range 25 {
		time.Sleep(7 * time.Millisecond)
		b.halt()
		b.start()
	}
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	if n := b.signer.signed.Load(); n != 1 {
		t.Logf("%d signatures were made, of which one was journaled", n)
	}
}

// TestStopFinishesASignature checks that a daemon that stops during a signature waits for
// it and journals it, and that the next one sends those same bytes.
func TestStopFinishesASignature(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.asked = make(chan chan struct{})
	o := b.order(nil)
	signing := <-b.signer.asked
	stopped := make(chan struct{})
	go func() {
		b.halt()
		close(stopped)
	}()
	select {
	case <-stopped:
		t.Error("it stopped in the middle of a signature")
	case <-time.After(200 * time.Millisecond):
	}
	close(signing)
	<-stopped
	b.signer.asked = nil
	b.start()
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	if n := b.signer.signed.Load(); n != 1 {
		t.Errorf("%d signatures were made", n)
	}
}

// TestExecuteOnce checks that a plan executes once, whichever window or uuid requests it,
// and that a repeated request returns the order it made.
func TestExecuteOnce(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		return []swap.Offer{{AmountOut: r.AmountIn, MinOut: r.AmountIn, Expires: time.Now().Add(time.Minute), Routing: "WRAP"}}, nil
	}
	ctx := t.Context()
	q, err := b.service.Quote(ctx, swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}, []swap.Kind{swap.DEX}, nil)
	if err != nil {
		t.Fatal(err)
	}
	review, err := b.service.Prepare(ctx, q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if review.Blocked() || len(review.Findings) != 0 || review.Gas.Max.Sign() <= 0 {
		t.Fatalf("review: %+v, gas %+v", review.Findings, review.Gas)
	}
	first := ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Caller: passwordCaller}
	if _, err := b.service.Execute(ctx, ExecuteRequest{Request: first.Request, Digest: review.Digest}); err == nil {
		t.Fatal("executed without a session")
	}
	var wg sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() {
			r := first
			if i >= 4 {
				r.Request = uuid.NewString()
			}
			if o, err := b.service.Execute(ctx, r); err == nil {
				ids[i] = o.ID
			} else if !errors.Is(err, &swap.Refusal{Code: swap.PlanExecuted}) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	orders, _, err := b.service.Orders(common.Address{}, false, "", 50)
	if err != nil || len(orders) != 1 {
		t.Fatalf("%d orders, %v", len(orders), err)
	}
	o := b.waitState(orders[0].ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	if _, kept := b.service.Reviewed(review.Digest, false); kept {
		t.Error("its plan stays in memory")
	}
	_, err = b.service.Prepare(ctx, q.Offers[0].ID)
	refusedWith(t, err, swap.QuoteUnknown) // nor does its offer
	winner := ExecuteRequest{Request: o.Request, Digest: review.Digest, Caller: passwordCaller}
	if again, err := b.service.Execute(ctx, winner); err != nil || again.ID != o.ID {
		t.Errorf("repeated: %v, %v", again.ID, err)
	}
	winner.Digest[0] ^= 1
	_, err = b.service.Execute(ctx, winner)
	refusedWith(t, err, swap.RequestConflict)
	late := review
	late.Expires = time.Now().Add(-time.Second)
	b.service.KeepReviews(b.service.Generation(), late)
	_, err = b.service.Execute(ctx, ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Caller: passwordCaller})
	refusedWith(t, err, swap.PlanExecuted) // also once the plan has expired
	b.service.DropPlans()
	_, err = b.service.Execute(ctx, ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Caller: passwordCaller})
	refusedWith(t, err, swap.PlanExecuted)
	_, err = b.service.Prepare(ctx, q.Offers[0].ID)
	refusedWith(t, err, swap.QuoteUnknown)
}
