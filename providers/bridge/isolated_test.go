package bridge_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/bridge"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// A wallet is package swap's own service with a real journal, on the chains of a sandbox.
type wallet struct {
	who     sandbox.Account
	vault   providertest.IsolatedVault
	hub     *chain.MultiClient
	service *engine.Service
}

func (w *wallet) SignTx(_ context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	if from == w.who.Address {
		return types.SignTx(tx, types.LatestSignerForChainID(id), w.who.Key)
	}
	key, err := w.vault.KeyOf(from)
	if err != nil {
		return nil, err
	}
	return types.SignTx(tx, types.LatestSignerForChainID(id), key)
}

var errNone = errors.New("there is none")

func (w *wallet) SignTypedData(context.Context, common.Address, apitypes.TypedData) ([]byte, error) {
	return nil, errNone
}

func (w *wallet) Seal(_ common.Address, message []byte) ([32]byte, error) {
	return sha256.Sum256(message), nil
}

func (w *wallet) Out(context.Context, uint64, common.Address, uint64, common.Address, *big.Int) (*big.Int, error) {
	return nil, errNone
}

func (w *wallet) Worth(context.Context, uint64, common.Address, *big.Int) (*big.Int, error) {
	return nil, errNone
}

func newWallet(t *testing.T, s *sandbox.Sandbox) *wallet {
	t.Helper()
	w := &wallet{who: s.Accounts()[0]}
	var endpoints []chain.Endpoint
	for _, c := range s.Chains() {
		endpoints = append(endpoints, chain.Endpoint{Chain: c.Network.ID, URLs: c.RPCs(), Depth: 1})
	}
	var err error
	if w.hub, err = chain.NewMultiClient(endpoints, chain.Options{Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.hub.Close)
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	orders, err := journal.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := chain.NewSender(db, w.hub, w, chain.SenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := bridge.New(bridge.Config{Base: s.BaseURL("bridge"), Sandbox: true, Key: func(context.Context) (string, error) { return testKey, nil }})
	if err != nil {
		t.Fatal(err)
	}
	w.service, err = engine.NewService(engine.Options{
		Journal: orders, Providers: map[swap.Kind]swap.Provider{swap.Bridge: p}, Nodes: w.hub, Sender: sender, Signer: w, Sealer: w, Isolated: &w.vault, Pricer: w,
		Recognize: func(context.Context, uint64, common.Address) swap.Recognition { return swap.Recognition{Listed: true} },
		Confirmer: engine.ByCall{}, Fees: swap.DefaultFees(), Unlocked: func() bool { return true }, IsLocked: func(error) bool { return false },
		OpenOrders: 100, Now: time.Now, Pause: func(time.Duration) time.Duration { return 20 * time.Millisecond },
		Log: func(o swap.Order, err error) { t.Log(o.ID, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() { stop(); w.service.Wait(); p.Close(); _ = db.Close() })
	if err := w.service.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	return w
}

// review quotes a swap, and returns its review.
func (w *wallet) review(ctx context.Context, r swap.QuoteRequest) (swap.Review, error) {
	r.Account, r.Recipient, r.RefundTo = w.who.Address, w.who.Address, w.who.Address
	got, err := w.service.Quote(ctx, r, []swap.Kind{swap.Bridge}, nil)
	if err != nil {
		return swap.Review{}, err
	}
	return w.service.Prepare(ctx, got.Offers[0].ID)
}

// order carries out a review until its order has ended and is as it should be.
func (w *wallet) order(t *testing.T, r swap.Review, done func(swap.Order) bool) (o swap.Order) {
	t.Helper()
	var acts []string
	for _, f := range r.Findings {
		if f.Severity == swap.Acknowledge {
			acts = append(acts, f.Code)
		}
	}
	o, err := w.service.Execute(t.Context(), engine.ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Acknowledge: acts, Caller: engine.Caller{Session: "s", Password: true, Present: func() bool { return true }}})
	if err != nil {
		t.Fatal(err)
	}
	if !await.Holds(time.Minute, func() bool {
		o, _, err = w.service.Order(o.ID)
		return err != nil || o.Verdict != nil && done(o)
	}) || err != nil {
		t.Fatalf("%s %s %s, claim %+v, %+v, %+v (%v)", o.State, o.Condition, o.Reason, o.Claim, o.Verdict, o.Isolation, err)
	}
	return o
}

// TestUnpinnedRouters swaps through routers that are not built in, each from an account of
// its own, to a proven end, on networks where the bridge has such routers; and through the
// built-in ones without that.
func TestUnpinnedRouters(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{56, 143, 42161}, Period: -1, Instant: true, BridgeKey: testKey})
	if err := s.Chain(42161).Shift(time.Hour); err != nil { // a payment that is older than the deposit proves nothing
		t.Fatal(err)
	}
	w := newWallet(t, s)
	token := func(id uint64, name string) common.Address { return symbol(t, s.Chain(id), name) }
	balance := func(t *testing.T, id uint64, at, of common.Address) *big.Int {
		t.Helper()
		n, err := w.hub.Balance(t.Context(), id, of, at)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, c := range []struct {
		name    string
		src     uint64
		in      common.Address
		dst     uint64
		out     common.Address
		amount  string
		outcome bridgesim.Kind
		want    swap.State
	}{
		{"a token for the coin", 56, token(56, "USDT"), 56, native, "30000000000000000000", bridgesim.Fill, swap.Filled},
		{"the coin for a token", 143, native, 143, token(143, "USDC"), "2000000000000000000", bridgesim.Fill, swap.Filled},
		{"to another chain", 56, token(56, "USDT"), 42161, token(42161, "USDC"), "31000000000000000000", bridgesim.Fill, swap.Filled},
		{"refunded", 56, token(56, "USDT"), 42161, token(42161, "USDC"), "32000000000000000000", bridgesim.Refund, swap.Refunded},
	} {
		for version, isolated := range map[string]bool{"v2.1": true, "v3.2": false} {
			t.Run(c.name+" by "+version, func(t *testing.T) {
				settings := bridgesim.DefaultSettings
				settings.APIKey, settings.PaceMS, settings.Router, settings.Outcome.Kind = testKey, 0, version, c.outcome
				if err := s.Bridge().Set(settings); err != nil {
					t.Fatal(err)
				}
				x, err := w.review(t.Context(), request(c.src, c.in, c.dst, c.out, c.amount, 0))
				if err != nil {
					t.Fatal(err)
				}
				extra := 0
				for _, f := range x.Findings {
					if f.Code == "isolated_account" {
						extra++
					}
				}
				last := x.Plan.Steps[len(x.Plan.Steps)-1]
				if x.Terms.IsIsolated() != isolated || (extra == 1) != isolated || last.Effect.Kind != swap.Opaque || last.Call.From != x.Terms.From() || last.Effect.TrustedTo == "" {
					t.Fatalf("terms %+v, %+v, %d findings", x.Terms, last, extra)
				}
				in, out := balance(t, c.src, c.in, w.who.Address), balance(t, c.dst, c.out, w.who.Address)
				o := w.order(t, x, func(o swap.Order) bool { return !isolated || o.Isolation != nil && len(o.Isolation.Returned) > 0 })
				if v := o.Verdict; o.State != c.want || v.BelowMinimum || v.Received == nil {
					t.Fatalf("%s %s, %+v", o.State, o.Reason, v)
				}
				spent, got := new(big.Int).Sub(in, balance(t, c.src, c.in, w.who.Address)), new(big.Int).Sub(balance(t, c.dst, c.out, w.who.Address), out)
				if c.in != native && spent.Cmp(o.Terms.AmountIn) != 0 || c.want == swap.Filled && c.out != native && got.Cmp(o.Terms.MinOut) < 0 {
					t.Errorf("%s left, %s arrived", spent, got)
				}
				if !isolated {
					return
				}
				if c.in != native && balance(t, c.src, c.in, o.Terms.Isolated).Sign() != 0 {
					t.Error("some of the input is left in the isolated account")
				}
				settings.CallShortBips = 100
				if err := s.Bridge().Set(settings); err != nil {
					t.Fatal(err)
				}
				if _, err := w.review(t.Context(), request(c.src, c.in, c.dst, c.out, c.amount, 0)); c.src == c.dst && !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) {
					t.Errorf("a call that pays less than the minimum: %v", err)
				}
				if allowed, err := w.hub.Allowance(t.Context(), c.src, c.in, w.who.Address, last.Call.To); c.in != native && (err != nil || allowed.Sign() != 0) {
					t.Errorf("the account lets the router take %s (%v)", allowed, err)
				}
			})
		}
	}
}
