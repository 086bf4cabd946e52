package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/test/await"
)

// A liar stands between the engine and its sender and nodes and replaces the answers that
// a test sets.
type liar struct {
	Sender
	Nodes
	lookup   func(key string) (*chain.Tx, error)
	poll     func(key string) (chain.Tx, *chain.Evidence, error)
	cancel   func(p chain.Policy) (*chain.Tx, error)
	simulate func() (chain.Simulation, error)
	evidence func() (chain.Evidence, bool, error)
	polled   atomic.Int32
}

func (l *liar) Lookup(key string) (*chain.Tx, error) {
	if l.lookup != nil {
		return l.lookup(key)
	}
	return l.Sender.Lookup(key)
}

func (l *liar) Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error) {
	l.polled.Add(1)
	if l.poll != nil {
		return l.poll(key)
	}
	return l.Sender.Poll(ctx, key)
}

func (l *liar) Cancel(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error) {
	if l.cancel != nil {
		return l.cancel(p)
	}
	return l.Sender.Cancel(ctx, key, p)
}

func (l *liar) Simulate(ctx context.Context, calls []chain.Call) (chain.Simulation, error) {
	if l.simulate != nil {
		if sim, err := l.simulate(); err != nil {
			return sim, err
		}
	}
	return l.Nodes.Simulate(ctx, calls)
}

func (l *liar) Evidence(ctx context.Context, id uint64, tx common.Hash) (chain.Evidence, bool, error) {
	if l.evidence != nil {
		if ev, ok, err := l.evidence(); !ok || err != nil {
			return ev, ok, err
		}
	}
	return l.Nodes.Evidence(ctx, id, tx)
}

// useLiar installs l; no order may be in progress.
func (b *engineFixture) useLiar(l *liar) {
	l.Sender, l.Nodes = b.service.engine.Sender, b.service.engine.Nodes
	b.service.engine.Sender = l
	b.setNodes(l)
}

func (b *engineFixture) history(id string) []journal.Entry {
	b.t.Helper()
	_, lines, err := b.service.Order(id)
	if err != nil {
		b.t.Fatal(err)
	}
	return lines
}

func (b *engineFixture) logContains(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.logged, func(s string) bool { return strings.Contains(s, text) })
}

// useUnwrap gives the account wrapped coin and makes the bench's orders unwrap it after an
// approval.
func (b *engineFixture) useUnwrap() func(*swap.Terms, *swap.Offer) {
	b.t.Helper()
	b.waitState(b.order(nil).ID, swap.Filled)
	b.provider.kind, b.provider.first = swap.Swap, true
	return func(t *swap.Terms, _ *swap.Offer) { t.TokenIn, t.TokenOut = weth, native }
}

func TestEngineApprovesFirst(t *testing.T) {
	b := newEngineFixture(t)
	o := b.waitState(b.order(b.useUnwrap()).ID, swap.Filled)
	if len(o.Results) != 2 || o.Results[0].Evidence == nil {
		t.Errorf("results %+v", o.Results)
	}
	b.wantNonceAndWETH(3, 0)
}

// TestPendingApprovalIsNoEnd checks that an order with a pending approval does not end
// because its cancel is refused. Otherwise nothing would watch the nonce any more, and it
// would block every later transaction of the account.
func TestPendingApprovalIsNoEnd(t *testing.T) {
	b := newEngineFixture(t)
	unwrap := b.useUnwrap()
	var dear atomic.Bool
	dear.Store(true)
	l := &liar{}
	l.cancel = func(p chain.Policy) (*chain.Tx, error) {
		if dear.Load() {
			return nil, fmt.Errorf("%w: a spike", chain.ErrCeiling)
		}
		l.cancel = nil
		return nil, errors.New("once more")
	}
	b.useLiar(l)
	b.chain.Pause()
	defer b.chain.Resume()
	o := b.order(unwrap)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if o, _, _ = b.service.Order(o.ID); o.State.Final() {
		t.Fatalf("ended %s (%s) with its approval pending", o.State, o.Reason)
	}
	dear.Store(false)
	b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
	b.chain.Resume()
	if o = b.waitState(o.ID, swap.Cancelled); o.Verdict.Evidence == nil {
		t.Errorf("verdict %+v", o.Verdict)
	}
	b.wantNonceAndWETH(2, 1e17)
}

// TestCancelKeepsTheCeiling checks that the gas ceiling covers all transactions of a plan
// together, including the cancel.
func TestCancelKeepsTheCeiling(t *testing.T) {
	b := newEngineFixture(t)
	unwrap := b.useUnwrap()
	asked := make(chan *big.Int, 100)
	b.useLiar(&liar{cancel: func(p chain.Policy) (*chain.Tx, error) { asked <- p.Ceiling; return nil, errors.New("no") }})
	// The approval is mined, the unwrap is not.
	b.provider.decode = func(t swap.Terms, s swap.Step) (swap.Effect, error) {
		if f := b.provider.plain(t, s); f.Kind == swap.Approve {
			return f, nil
		}
		b.chain.Pause()
		return b.provider.plain(t, s), nil
	}
	defer b.chain.Resume()
	o := b.order(unwrap)
	o = b.waitUntil(o.ID, "at its second step", func(o swap.Order) bool { return o.Step == 1 && o.CurrentTx != common.Hash{} })
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	want := new(big.Int).Sub(o.Terms.GasCeiling, o.Results[0].Evidence.FeePaid)
	if got := <-asked; got.Cmp(want) != 0 {
		t.Errorf("cancelled under a ceiling of %s, of which only %s are left", got, want)
	}
}

// TestNodeTextIsNoNews checks that a node's changing error texts about a cancel neither
// fill the journal nor make the engine spin.
func TestNodeTextIsNoNews(t *testing.T) {
	b := newEngineFixture(t)
	var n atomic.Int32
	b.useLiar(&liar{cancel: func(chain.Policy) (*chain.Tx, error) {
		return nil, fmt.Errorf("%w: at %d", chain.ErrWouldRevert, n.Add(1))
	}})
	b.chain.Pause()
	defer b.chain.Resume()
	o := b.order(nil)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	before := len(b.history(o.ID))
	time.Sleep(400 * time.Millisecond)
	if grown := len(b.history(o.ID)) - before; grown > 2 || n.Load() > 40 {
		t.Errorf("%d lines and %d tries in 0.4 s", grown, n.Load())
	}
}

// A chattyProvider settles orders and claims something else about them at each request.
type chattyProvider struct {
	*wrapProvider
	said atomic.Int32
}

func (c *chattyProvider) Submit(context.Context, swap.Order) (string, error) { return "ref", nil }

func (c *chattyProvider) Status(context.Context, swap.Order) (swap.Claim, error) {
	return swap.Claim{State: swap.Settling, Reason: fmt.Sprint(c.said.Add(1))}, nil
}

func (c *chattyProvider) Proof(o swap.Order) (swap.Proof, error) {
	return swap.Proof{Arrival: &swap.Arrival{Chain: 1, Token: o.Terms.TokenOut, To: o.Terms.Recipient, Least: o.Terms.MinOut}}, nil
}

// TestClaimsAreNoProgress checks that the pauses grow even if the provider's claim
// changes at every poll.
func TestClaimsAreNoProgress(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.by = swap.ByProvider
	c := &chattyProvider{wrapProvider: b.provider}
	b.service.engine.Providers = map[swap.Kind]swap.Provider{swap.DEX: c}
	b.service.engine.Pause = func(still time.Duration) time.Duration { return 20*time.Millisecond + still }
	o := b.order(nil)
	b.waitUntil(o.ID, "claimed", func(o swap.Order) bool { return o.Claim != nil })
	before := c.said.Load()
	time.Sleep(400 * time.Millisecond)
	if n := c.said.Load() - before; n > 6 { // the pauses double
		t.Errorf("asked %d times in 0.4 s", n)
	}
}

// TestNewerRecordIsShown checks that a transaction record of a newer version is not acted
// on and causes no panic.
func TestNewerRecordIsShown(t *testing.T) {
	b := newEngineFixture(t)
	newer := chain.Tx{Key: "k", State: chain.TxUnknown}
	b.useLiar(&liar{
		lookup: func(string) (*chain.Tx, error) { return &newer, nil },
		poll:   func(string) (chain.Tx, *chain.Evidence, error) { return newer, nil, nil },
	})
	o := b.order(nil)
	b.waitUntil(o.ID, "shown as unknown", func(o swap.Order) bool { return o.Condition == swap.WrittenByNewer })
	if b.logContains("panic") || b.signer.signed.Load() != 0 {
		t.Errorf("logged %q, signed %d", b.logged, b.signer.signed.Load())
	}
}

// rejects returns a liar for which every step's transaction was refused by all nodes.
func rejects(until time.Time) *liar {
	tx := chain.Tx{State: chain.TxRejected, Reason: "no", Call: chain.Call{ChainID: 1}, Policy: chain.Policy{Until: until}, Attempts: []chain.Attempt{{Hash: common.Hash{1}, FeeCap: new(hexutil.Big), TipCap: new(hexutil.Big)}}}
	return &liar{
		lookup: func(string) (*chain.Tx, error) { return &tx, nil },
		poll:   func(string) (chain.Tx, *chain.Evidence, error) { return tx, nil, nil },
	}
}

// TestRejectedAndMined covers bytes that nodes claim to have refused though one node took
// them: what is on the chain decides.
func TestRejectedAndMined(t *testing.T) {
	b := newEngineFixture(t)
	var look atomic.Int32
	mined := chain.Evidence{Chain: 1, Tx: common.Hash{1}, Block: 7, Depth: 1, FeePaid: new(big.Int), Hosts: []string{"a"}}
	l := rejects(time.Now().Add(-time.Minute))
	l.evidence = func() (chain.Evidence, bool, error) { look.Add(1); return mined, false, nil }
	b.useLiar(l)
	o := b.order(nil)
	await.Until(t, 30*time.Second, "three looks at the transaction", func() bool { return look.Load() >= 3 })
	if o, _, _ = b.service.Order(o.ID); o.State.Final() {
		t.Fatalf("ended %s (%s) in a block that is not deep enough", o.State, o.Reason)
	}

	b = newEngineFixture(t)
	l = rejects(time.Now().Add(time.Minute))
	b.useLiar(l)
	b.setNodes(fixedEvidence{b.hub, mined})
	if o = b.waitState(b.order(nil).ID, swap.Failed); o.Verdict.Evidence == nil {
		t.Errorf("verdict %+v", o.Verdict)
	}
}

// fixedEvidence finds the same evidence for every transaction.
type fixedEvidence struct {
	Nodes
	ev chain.Evidence
}

func (s fixedEvidence) Evidence(context.Context, uint64, common.Hash) (chain.Evidence, bool, error) {
	return s.ev, true, nil
}

func (fixedEvidence) CheckReceipt(context.Context, chain.Evidence, bool) error { return nil }

// TestDeadlineWhileSigning covers a deadline that passes between the last check of the
// clock and the signature: the order expires and is not cancelled.
func TestDeadlineWhileSigning(t *testing.T) {
	b := newEngineFixture(t)
	end := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
	b.useLiar(&liar{simulate: func() (chain.Simulation, error) {
		time.Sleep(time.Until(end.Add(50 * time.Millisecond)))
		return chain.Simulation{}, nil
	}})
	b.waitState(b.order(func(t *swap.Terms, _ *swap.Offer) { t.Deadline = end }).ID, swap.Expired)
	b.wantNonceAndWETH(0, 0)
}

// TestGasAboveTheCeilingNeedsConsent checks that gas above the accepted ceiling is not
// paid without asking the user.
func TestGasAboveTheCeilingNeedsConsent(t *testing.T) {
	b := newEngineFixture(t)
	o := b.order(func(t *swap.Terms, _ *swap.Offer) { t.GasCeiling = big.NewInt(1) })
	b.waitUntil(o.ID, "in need of consent", func(o swap.Order) bool { return o.Condition == swap.NeedsConsent })
	if b.signer.signed.Load() != 0 {
		t.Error("signed above the ceiling")
	}
}

// TestProviderDownIsNoEnd checks that consent outlives a provider's temporary failure.
func TestProviderDownIsNoEnd(t *testing.T) {
	for _, code := range []swap.Code{swap.ProviderBusy, swap.ProviderDown, swap.ProviderInvalidResponse, swap.ProviderKey, swap.ClockSkew, swap.QuoteExpired} {
		t.Run(string(code), func(t *testing.T) {
			b := newEngineFixture(t)
			b.provider.kind = swap.Swap
			asked := 0
			b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
				if asked++; asked < 3 {
					return nil, swap.Refuse(code, "a bad moment")
				}
				return even(r)
			}
			o := b.order(func(t *swap.Terms, o *swap.Offer) {
				o.Expires, o.Request = time.Now().Add(-time.Second), swap.QuoteRequest{AmountIn: t.AmountIn, SlippageBps: 50}
			})
			b.waitState(o.ID, swap.Filled)
			b.wantNonceAndWETH(1, 1e17)
		})
	}
}

// TestVanishedBlockIsOfferedAgain covers a last step whose block vanishes after the step
// was proven and before the order is: its bytes are sent again.
func TestVanishedBlockIsOfferedAgain(t *testing.T) {
	b := newEngineFixture(t)
	var gone atomic.Int32
	gone.Store(5)
	l := &liar{}
	l.evidence = func() (chain.Evidence, bool, error) { return chain.Evidence{}, gone.Add(-1) < 0, nil }
	b.useLiar(l)
	o := b.order(nil)
	b.waitUntil(o.ID, "settling", func(o swap.Order) bool { return o.State == swap.Settling })
	before := l.polled.Load()
	b.waitState(o.ID, swap.Filled)
	if l.polled.Load() == before {
		t.Error("nobody looked after the transaction")
	}
}

// TestRefreshedRequestIsOurs checks that a provider's echo of the request is ignored.
func TestRefreshedRequestIsOurs(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.kind = swap.Swap
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		offers, err := even(r)
		offers[0].Provider, offers[0].Request = swap.Bridge, swap.QuoteRequest{Account: thief, AmountIn: big.NewInt(1), SlippageBps: 5000}
		return offers, err
	}
	o := b.order(func(t *swap.Terms, o *swap.Offer) {
		o.Expires, o.Request = time.Now().Add(-time.Second), swap.QuoteRequest{Account: t.Account, AmountIn: t.AmountIn, SlippageBps: 50}
	})
	if o = b.waitState(o.ID, swap.Filled); o.Offer.Provider != swap.DEX || o.Offer.Request.Account != b.from || o.Offer.Request.SlippageBps != 50 {
		t.Errorf("the refreshed offer is for %+v", o.Offer.Request)
	}
}

// TestOffersAreBounded checks that a provider's oversized replies are refused.
func TestOffersAreBounded(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		offers, err := even(r)
		offers[0].Raw = []byte(`"` + strings.Repeat("x", 128<<10) + `"`)
		return offers, err
	}
	_, err := ask(b, nil)
	refusedWith(t, err, swap.ProviderInvalidResponse)
}
