// Package hostile attacks the real engine, on the sandbox's chains, through the providers that
// settle deposits.
package hostile

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/big"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/bridge"
	"swapkeep/providers/intent"
	"swapkeep/rest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/time/rate"
)

const (
	srcChain, dstChain = 8453, 42161
	depth              = 3 // on the destination, in confirmations
	key                = "hostile"
)

// A wallet is the service and the engine of package swap, with a real journal, on real chains. Its
// providers are simulators that pay nothing: whatever arrives was paid by a test.
type wallet struct {
	s         *sandbox.Sandbox
	providers map[swap.Kind]swap.Provider
	service   *engine.Service
	accounts  map[common.Address]sandbox.Account // filled before the account's first order
	mine      common.Address                     // another account of this wallet
	logged    sync.Map                           // by order, the latest temporary failure
}

func newWallet(t *testing.T) *wallet {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{srcChain, dstChain}, Period: -1, Instant: true, BridgeKey: key})
	w := &wallet{s: s, accounts: map[common.Address]sandbox.Account{}, mine: s.Accounts()[1].Address}
	for range 32 {
		one, err := crypto.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		a := sandbox.Account{Address: crypto.PubkeyToAddress(one.PublicKey), Key: one}
		w.accounts[a.Address] = a
	}
	fast := intentsim.DefaultSettings()
	fast.PacePercent, fast.Outcome.Ending = 0, "never"
	silent := bridgesim.DefaultSettings
	silent.APIKey, silent.PaceMS, silent.Outcome.Kind = key, 0, bridgesim.Never
	if err := errors.Join(s.Intent().Set(fast), s.Bridge().Set(silent)); err != nil {
		t.Fatal(err)
	}
	limits := rest.Limits{Rate: rate.Inf, Attempt: time.Second, Backoff: time.Millisecond, Failures: 1000}
	i, err := intent.New(intent.Config{Base: s.BaseURL("intent"), Sandbox: true, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.Close)
	b, err := bridge.New(bridge.Config{Base: s.BaseURL("bridge"), Sandbox: true, Limits: limits, Key: func(context.Context) (string, error) { return key, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w.providers = map[swap.Kind]swap.Provider{swap.Intent: i, swap.Bridge: b}
	return w
}

// start starts a service without orders, as the daemon does, until the test ends.
func (w *wallet) start(t *testing.T) {
	var endpoints []chain.Endpoint
	for id, confirmations := range map[uint64]uint64{srcChain: 1, dstChain: depth} {
		endpoints = append(endpoints, chain.Endpoint{Chain: id, URLs: w.s.Chain(id).RPCs(), Depth: confirmations})
	}
	nodes, err := chain.NewMultiClient(endpoints, chain.Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Close)
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	orders, err := journal.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := chain.NewSender(db, nodes, w, chain.SenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.service, err = engine.NewService(engine.Options{
		Journal: orders, Providers: w.providers, Nodes: nodes, Sender: sender, Signer: w, Sealer: w, Pricer: w, Confirmer: engine.ByCall{}, Fees: swap.DefaultFees(),
		Recognize: func(context.Context, uint64, common.Address) swap.Recognition { return swap.Recognition{Listed: true} },
		Mine:      func(a common.Address) bool { return a == w.mine },
		Unlocked:  func() bool { return true }, IsLocked: func(error) bool { return false },
		OpenOrders: 100, Now: time.Now, Pause: func(time.Duration) time.Duration { return 20 * time.Millisecond }, Log: func(o swap.Order, err error) { w.logged.Store(o.ID, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); w.service.Wait() })
	if err := w.service.Resume(ctx); err != nil {
		t.Fatal(err)
	}
}

func (w *wallet) SignTx(_ context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	return types.SignTx(tx, types.LatestSignerForChainID(id), w.accounts[from].Key)
}

func (w *wallet) SignTypedData(context.Context, common.Address, apitypes.TypedData) ([]byte, error) {
	return nil, errors.New("a deposit needs no signed message")
}

// Seal is a plain hash: nobody alters the orders in this test.
func (w *wallet) Seal(_ common.Address, message []byte) ([32]byte, error) {
	return sha256.Sum256(message), nil
}

// Out knows one price: one dollar for what is swapped here.
func (w *wallet) Out(_ context.Context, _ uint64, _ common.Address, _ uint64, _ common.Address, amount *big.Int) (*big.Int, error) {
	return amount, nil
}

// Worth is what Out says: nothing here depends on it.
func (w *wallet) Worth(_ context.Context, _ uint64, _ common.Address, amount *big.Int) (*big.Int, error) {
	return amount, nil
}

// account returns an account without orders that has coins and tokens on both chains.
func (w *wallet) account(t *testing.T) sandbox.Account {
	t.Helper()
	for at, a := range w.accounts {
		if sandboxtest.Balance(t, w.s.Chain(srcChain), at, common.Address{}).Sign() > 0 {
			continue
		}
		for _, c := range w.s.Chains() { // deep enough to outlast a reorganisation
			for token, n := range map[common.Address]*big.Int{{}: sandboxtest.Units(1, 18), w.usdc(t, c.ID): sandboxtest.Units(1000, 6)} {
				if err := c.Fund(t.Context(), at, token, n); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Mine(depth); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	t.Fatal("every account was used")
	return sandbox.Account{}
}

func (w *wallet) usdc(t *testing.T, id uint64) common.Address {
	return sandboxtest.Token(t, w.s.Chain(id), "USDC")
}

// deposits has an account hand over so many tokens for tokens on the other chain, and returns the order once
// the provider knows it.
func (w *wallet) deposits(t *testing.T, by swap.Kind, who common.Address, units int64) swap.Order {
	t.Helper()
	got, err := w.service.Quote(t.Context(), swap.QuoteRequest{Account: who, Recipient: who, RefundTo: who, SrcChain: srcChain, TokenIn: w.usdc(t, srcChain),
		AmountIn: sandboxtest.Units(units, 6), DstChain: dstChain, TokenOut: w.usdc(t, dstChain), SlippageBps: 50}, []swap.Kind{by}, nil)
	if err != nil {
		t.Fatal(err)
	}
	review, err := w.service.Prepare(t.Context(), got.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	r := engine.ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Caller: engine.Caller{Session: "s", Password: true, Present: func() bool { return true }}}
	for _, f := range review.Findings {
		if f.Severity == swap.Acknowledge {
			r.Acknowledge = append(r.Acknowledge, f.Code)
		}
	}
	o, err := w.service.Execute(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return w.until(t, o.ID, "handed over", func(o swap.Order) bool { return o.State == swap.Settling && o.ProviderOrderID != "" && o.Claim != nil })
}

// until waits for an order to satisfy ok.
func (w *wallet) until(t *testing.T, id, what string, ok func(swap.Order) bool) (o swap.Order) {
	t.Helper()
	if !await.Holds(30*time.Second, func() bool {
		var err error
		if o, _, err = w.service.Order(id); err != nil {
			t.Fatal(err)
		}
		return ok(o)
	}) {
		failure, _ := w.logged.Load(id)
		t.Fatalf("never %s: %s %q %s, claim %+v, verdict %+v: %v", what, o.State, o.Condition, o.Reason, o.Claim, o.Verdict, failure)
	}
	return o
}
