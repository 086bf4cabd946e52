package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/plan"
	"swapkeep/test/await"
)

func speedupOf(o swap.Order) SpeedUpRequest {
	return SpeedUpRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Digest, Caller: passwordCaller}
}

// sentOrder returns an order whose transaction was sent while the chain makes no blocks.
func (b *engineFixture) sentOrder(change func(*swap.Terms, *swap.Offer)) swap.Order {
	b.t.Helper()
	b.chain.Pause()
	b.t.Cleanup(b.chain.Resume)
	return b.waitUntil(b.order(change).ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
}

// attempts lists the kinds of an order's signed attempts.
func attempts(o swap.Order) string {
	var kinds []string
	for _, a := range o.Attempts {
		kinds = append(kinds, string(a.Kind))
	}
	return strings.Join(kinds, " ")
}

func (b *engineFixture) waitSpedUp(id string) swap.Order {
	b.t.Helper()
	return b.waitUntil(id, "sped up", func(o swap.Order) bool { return len(o.Attempts) == 2 && o.Bump == nil })
}

func TestSpeedUp(t *testing.T) {
	b := newEngineFixture(t)
	o := b.sentOrder(nil)
	if len(o.Attempts) != 1 || o.Attempts[0].Tx != o.CurrentTx || o.Attempts[0].FeeCap.Sign() <= 0 || o.Attempts[0].Signed.IsZero() {
		t.Fatalf("attempts %+v", o.Attempts)
	}
	ask := speedupOf(o)
	got, err := b.service.SpeedUp(t.Context(), ask)
	if err != nil || got.Bump == nil || got.Bump.Replaces != o.CurrentTx {
		t.Fatalf("%+v, %v", got.Bump, err)
	}
	sped := b.waitSpedUp(o.ID)
	if attempts(sped) != "call bump" || sped.CurrentTx != sped.Attempts[1].Tx || sped.Attempts[1].FeeCap.Cmp(sped.Attempts[0].FeeCap) <= 0 {
		t.Errorf("attempts %+v", sped.Attempts)
	}
	if again, err := b.service.SpeedUp(t.Context(), ask); err != nil || again.ID != o.ID || again.Bump != nil {
		t.Errorf("repeated: %+v, %v", again.Bump, err)
	}
	ask.Tier = chain.Normal
	_, err = b.service.SpeedUp(t.Context(), ask)
	refusedWith(t, err, swap.RequestConflict)
	b.chain.Resume()
	o = b.waitState(o.ID, swap.Filled)
	if o.Results[0].Tx != sped.CurrentTx || b.signer.signed.Load() != 2 || o.Digest != sped.Digest {
		t.Errorf("mined %s, sped up %s, %d signatures", o.Results[0].Tx, sped.CurrentTx, b.signer.signed.Load())
	}
	b.wantNonceAndWETH(1, 1e17)
	_, err = b.service.SpeedUp(t.Context(), speedupOf(o))
	refusedWith(t, err, swap.OrderFinal)
}

func TestSpeedUpRefusals(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	unsent := b.order(nil)
	b.waitUntil(unsent.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	_, err := b.service.SpeedUp(t.Context(), speedupOf(unsent))
	refusedWith(t, err, swap.NothingPending)
	if _, err := b.service.Cancel(t.Context(), cancelOf(unsent)); err != nil {
		t.Fatal(err)
	}
	b.waitState(unsent.ID, swap.Cancelled)
	b.signer.locked.Store(false)

	o := b.sentOrder(nil)
	network, err := b.hub.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		code   swap.Code
		change func(*SpeedUpRequest)
	}{
		"no session":        {swap.ConsentDeclined, func(r *SpeedUpRequest) { r.Session = "" }},
		"another digest":    {swap.BadRequest, func(r *SpeedUpRequest) { r.Digest[0] ^= 1 }},
		"no uuid":           {swap.BadRequest, func(r *SpeedUpRequest) { r.Request = "" }},
		"unknown order":     {swap.OrderUnknown, func(r *SpeedUpRequest) { r.Order = "x" }},
		"unknown tier":      {swap.BadRequest, func(r *SpeedUpRequest) { r.Tier = "warp" }},
		"slow":              {swap.BadRequest, func(r *SpeedUpRequest) { r.Tier = chain.Slow }},
		"the same ceiling":  {swap.BadRequest, func(r *SpeedUpRequest) { r.GasCeiling = o.Terms.GasCeiling }},
		"a lower ceiling":   {swap.BadRequest, func(r *SpeedUpRequest) { r.GasCeiling = big.NewInt(1) }},
		"an absurd ceiling": {swap.BadRequest, func(r *SpeedUpRequest) { r.GasCeiling = new(big.Int).Mul(network.GasCeiling, big.NewInt(11)) }},
	} {
		r := speedupOf(o)
		c.change(&r)
		if _, err := b.service.SpeedUp(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	_, err = b.service.SpeedUp(t.Context(), speedupOf(o))
	refusedWith(t, err, swap.CancelInProgress)
	o = b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
	if attempts(o) != "call cancel" {
		t.Errorf("attempts %s", attempts(o))
	}
	b.chain.Resume()
	b.waitState(o.ID, swap.Cancelled)
	b.wantNonceAndWETH(1, 0)
}

// TestSpeedUpKeepsTheCeiling checks that a speed-up above the accepted ceiling is refused
// with the figures, and done once the user consents to more: terms and digest change, and
// the history records it.
func TestSpeedUpKeepsTheCeiling(t *testing.T) {
	b := newEngineFixture(t)
	b.chain.Pause() // prices stay as they are measured
	call := b.provider.call(swap.Terms{SrcChain: 1, Account: b.from, AmountIn: big.NewInt(1e17)})
	cost, err := b.hub.Cost(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	tight := new(big.Int).Div(new(big.Int).Mul(cost.Max, big.NewInt(105)), big.NewInt(100))
	o := b.sentOrder(func(t *swap.Terms, _ *swap.Offer) { t.GasCeiling = tight })
	_, err = b.service.SpeedUp(t.Context(), speedupOf(o))
	refusedWith(t, err, swap.GasCeiling)
	var refused *swap.Refusal
	if !errors.As(err, &refused) || refused.Data["ceiling"] != tight.String() {
		t.Fatalf("figures %v", refused.Data)
	}
	needed, ok := new(big.Int).SetString(refused.Data["needed"], 10)
	if !ok || needed.Cmp(tight) <= 0 {
		t.Errorf("needed %q of %s", refused.Data["needed"], tight)
	}
	ask := speedupOf(o)
	ask.GasCeiling = new(big.Int).Mul(tight, big.NewInt(3))
	got, err := b.service.SpeedUp(t.Context(), ask)
	if err != nil || got.Terms.GasCeiling.Cmp(ask.GasCeiling) != 0 || got.Digest == o.Digest || got.Digest != swap.Digest(got.Terms, got.Plan.Effects()) {
		t.Fatalf("ceiling %s, digest %s, %v", got.Terms.GasCeiling, got.Digest, err)
	}
	b.waitSpedUp(o.ID)
	if again, err := b.service.SpeedUp(t.Context(), ask); err != nil || again.Digest != got.Digest {
		t.Errorf("repeated: %v, %v", again.Digest, err)
	}
	if by, err := b.service.o.Journal.ByDigest(got.Digest); err != nil || by.ID != o.ID {
		t.Errorf("the new digest names %q, %v", by.ID, err)
	}
	b.chain.Resume()
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	want := fmt.Sprintf("raised the fee limit from %s to %s", plan.Units(tight, 18, "ETH"), plan.Units(ask.GasCeiling, 18, "ETH"))
	for _, l := range b.history(o.ID) {
		if strings.Contains(l.Note, want) && l.Cause.Reason == swap.UserRaisedCeiling && l.Cause.Data["ceiling"] == ask.GasCeiling.String() {
			return
		}
	}
	t.Errorf("the history does not say %q: %+v", want, b.history(o.ID))
}

// TestSpeedUpWaitsForUnlock checks that a speed-up that finds the keys locked waits, even
// over a restart, and is carried out once after the unlock.
func TestSpeedUpWaitsForUnlock(t *testing.T) {
	b := newEngineFixture(t)
	o := b.sentOrder(nil)
	b.signer.locked.Store(true)
	if _, err := b.service.SpeedUp(t.Context(), speedupOf(o)); err != nil {
		t.Fatal(err)
	}
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock && o.Bump != nil })
	b.halt()
	b.start()
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock && o.Bump != nil })
	b.signer.locked.Store(false)
	b.service.Wake()
	if o = b.waitSpedUp(o.ID); o.Condition != swap.NoCondition {
		t.Errorf("condition %q stayed", o.Condition)
	}
	b.chain.Resume()
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
}

// TestSpeedUpSurvivesCrashes stops the engine around the bump as a crash would: the
// request is neither lost nor carried out twice.
func TestSpeedUpSurvivesCrashes(t *testing.T) {
	crash := errors.New("crash")
	for name, bump := range map[string]func(s Sender, ctx context.Context, key string, p chain.Policy) (*chain.Tx, error){
		"before the bump": func(Sender, context.Context, string, chain.Policy) (*chain.Tx, error) { return nil, crash },
		"after the bump, before its record": func(s Sender, ctx context.Context, key string, p chain.Policy) (*chain.Tx, error) {
			if _, err := s.Bump(ctx, key, p); err != nil {
				return nil, err
			}
			return nil, crash
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			o := b.sentOrder(nil)
			b.halt()
			j := b.service.o.Journal
			ask := speedupOf(o)
			if _, err := b.service.SpeedUp(t.Context(), ask); err != nil { // the engine is stopped and does not see it
				t.Fatal(err)
			}
			if o, err := j.Get(o.ID); err != nil || o.Bump == nil {
				t.Fatalf("the wish is not on disk: %+v, %v", o.Bump, err)
			}
			l := &bumpSender{Sender: b.service.engine.Sender, bump: bump}
			b.service.engine.Sender = l
			ctx, cancel := context.WithCancel(t.Context())
			b.service.engine.Resume(ctx, []string{o.ID})
			l.awaitCalls(t, 1)
			cancel()
			b.service.engine.Wait()
			if o, err := j.Get(o.ID); err != nil || o.Bump == nil || len(o.Attempts) != 1 {
				t.Fatalf("recorded in spite of the crash: %+v, %v", o.Attempts, err)
			}
			b.start()
			sped := b.waitSpedUp(o.ID)
			if _, err := b.service.SpeedUp(t.Context(), ask); err != nil {
				t.Errorf("repeated: %v", err)
			}
			time.Sleep(100 * time.Millisecond)
			tx, err := b.service.o.Sender.Lookup(stepKey(o, 0))
			if err != nil || len(tx.Attempts) != 2 || attempts(sped) != "call bump" {
				t.Errorf("%d attempts in the ledger, shown %s, %v", len(tx.Attempts), attempts(sped), err)
			}
			b.chain.Resume()
			b.waitState(o.ID, swap.Filled)
			b.wantNonceAndWETH(1, 1e17)
		})
	}
}

// TestSpeedUpIsAsConsentedTo checks that the sender gets the tier, the rest of the
// ceiling and the transaction's own last moment. A bump that the sender cannot make yet
// stays requested until the transaction is mined.
func TestSpeedUpIsAsConsentedTo(t *testing.T) {
	b := newEngineFixture(t)
	o := b.sentOrder(nil)
	b.halt()
	var asked atomic.Pointer[chain.Policy]
	l := &bumpSender{Sender: b.service.engine.Sender, bump: func(s Sender, _ context.Context, key string, p chain.Policy) (*chain.Tx, error) {
		asked.Store(&p)
		return s.Lookup(key)
	}}
	b.service.engine.Sender = l
	r := speedupOf(o)
	r.Tier = chain.Normal
	if _, err := b.service.SpeedUp(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := b.service.Resume(b.runContext()); err != nil {
		t.Fatal(err)
	}
	l.awaitCalls(t, 3)
	tx, err := l.Lookup(stepKey(o, 0))
	if p := asked.Load(); err != nil || p.Tier != chain.Normal || p.Ceiling.Cmp(o.Terms.GasCeiling) != 0 || !p.Until.Equal(tx.Policy.Until) {
		t.Errorf("policy %+v of %+v, %v", asked.Load(), tx.Policy, err)
	}
	if o, _, err = b.service.Order(o.ID); err != nil || o.Bump == nil || len(o.Attempts) != 1 {
		t.Errorf("wish %+v, %d attempts, %v", o.Bump, len(o.Attempts), err)
	}
	b.chain.Resume()
	if o = b.waitState(o.ID, swap.Filled); o.Bump != nil {
		t.Error("the wish outlived its transaction")
	}
	b.wantNonceAndWETH(1, 1e17)
}

// A bumpSender is a Sender whose Bump a test sets.
type bumpSender struct {
	Sender
	bump   func(s Sender, ctx context.Context, key string, p chain.Policy) (*chain.Tx, error)
	called atomic.Int32
}

func (l *bumpSender) Bump(ctx context.Context, key string, p chain.Policy) (*chain.Tx, error) {
	defer l.called.Add(1)
	return l.bump(l.Sender, ctx, key, p)
}

func (l *bumpSender) awaitCalls(t *testing.T, n int32) {
	t.Helper()
	await.Until(t, 30*time.Second, "the sender is asked", func() bool { return l.called.Load() >= n })
}

// TestSpeedUpThatCannotBe checks that a speed-up that the sender refuses for good ends
// with its reason while the order goes on, and that a temporary failure does not end it.
func TestSpeedUpThatCannotBe(t *testing.T) {
	for _, n := range droppedBumpErrors {
		t.Run(n.err.Error(), func(t *testing.T) {
			b := newEngineFixture(t)
			o := b.sentOrder(nil)
			var says atomic.Pointer[error]
			moment := errors.New("a bad moment")
			says.Store(&moment)
			l := &bumpSender{bump: func(Sender, context.Context, string, chain.Policy) (*chain.Tx, error) { return nil, *says.Load() }}
			b.halt()
			l.Sender, b.service.engine.Sender = b.service.engine.Sender, l
			if err := b.service.Resume(b.runContext()); err != nil {
				t.Fatal(err)
			}
			if _, err := b.service.SpeedUp(t.Context(), speedupOf(o)); err != nil {
				t.Fatal(err)
			}
			l.awaitCalls(t, 3)
			if o, _, _ := b.service.Order(o.ID); o.Bump == nil {
				t.Error("given up after a bad moment")
			}
			final := fmt.Errorf("asked: %w", n.err)
			says.Store(&final)
			b.waitUntil(o.ID, "given up", func(o swap.Order) bool {
				return o.Bump == nil && o.Cause != nil && o.Cause.Reason == n.word && o.Reason == swap.NewCause(n.word).Text()
			})
			b.chain.Resume()
			b.waitState(o.ID, swap.Filled)
			b.wantNonceAndWETH(1, 1e17)
		})
	}
}

// runContext returns a context that halt cancels.
func (b *engineFixture) runContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	return ctx
}

// TestSpeedUpOfEveryStep checks that a pending approval can be sped up too, and that the
// attempts shown are those of the current step.
func TestSpeedUpOfEveryStep(t *testing.T) {
	b := newEngineFixture(t)
	unwrap := b.useUnwrap()
	o := b.sentOrder(unwrap)
	speedUp := func() {
		t.Helper()
		if _, err := b.service.SpeedUp(t.Context(), speedupOf(o)); err != nil {
			t.Fatal(err)
		}
		b.waitSpedUp(o.ID)
	}
	speedUp()
	b.signer.locked.Store(true) // the chain can be paused again before the next step is sent
	b.chain.Resume()
	b.waitUntil(o.ID, "at the second step", func(o swap.Order) bool {
		return o.Step == 1 && o.Condition == swap.WaitingForUnlock && len(o.Attempts) == 0
	})
	b.chain.Pause()
	b.signer.locked.Store(false)
	b.service.Wake()
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	speedUp()
	b.chain.Resume()
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(3, 0)
}

// TestCrashAtEachCommit stops the engine after each of its commits in turn, while a
// revoke is sent, sped up and mined: the next start continues correctly, nothing is
// signed twice and the nonce is used once.
func TestCrashAtEachCommit(t *testing.T) {
	for k := int32(1); ; k++ {
		b := newEngineFixture(t)
		g := swap.Grant{Token: weth, Spender: permit2, Kind: swap.ByToken}
		b.grant(g, 700)
		consent := consentTo(b.allowances()[0])
		crashed := b.crashAfter(k)
		b.chain.Pause()
		o, err := b.service.Revoke(t.Context(), consent)
		if err != nil {
			t.Fatal(err)
		}
		o = b.waitThroughCrash(crashed, o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
		if _, err := b.service.SpeedUp(t.Context(), speedupOf(o)); err != nil {
			t.Fatal(err)
		}
		o = b.waitThroughCrash(crashed, o.ID, "sped up", func(o swap.Order) bool { return o.Bump == nil && len(o.Attempts) == 2 })
		b.chain.Resume()
		b.waitThroughCrash(crashed, o.ID, "filled", func(o swap.Order) bool { return o.State == swap.Filled })
		if b.allowed(g) != 0 || b.signer.signed.Load() != 3 || b.stateHistory(o.ID) != "accepted approving settling filled" {
			t.Errorf("after commit %d: %d allowed, %d signatures, %s", k, b.allowed(g), b.signer.signed.Load(), b.stateHistory(o.ID))
		}
		b.wantNonceAndWETH(2, 0)
		if crashed.Load() == 0 {
			if k < 6 {
				t.Errorf("only %d commits", k-1)
			}
			return
		}
	}
}

// crashAfter stops the engine after its k-th commit from now.
func (b *engineFixture) crashAfter(k int32) *atomic.Int32 {
	var commits atomic.Int32
	crashed := &atomic.Int32{}
	tell, stop := b.service.engine.Notify, b.stop
	b.service.engine.Notify = func(o swap.Order) {
		tell(o)
		if commits.Add(1) == k {
			stop()
			crashed.Store(1)
		}
	}
	return crashed
}

// waitThroughCrash is until, but restarts the engine after a crash.
func (b *engineFixture) waitThroughCrash(crashed *atomic.Int32, id, what string, ok func(swap.Order) bool) swap.Order {
	b.t.Helper()
	return b.waitUntil(id, what, func(o swap.Order) bool {
		if crashed.CompareAndSwap(1, 2) {
			b.halt()
			b.start()
		}
		return ok(o) && crashed.Load() != 1
	})
}

// TestRaisedCeilingCounts checks that a raised ceiling counts towards the hourly limit
// and a resend within it does not, and that neither is done if the session ends or the
// deadline passes during confirmation.
func TestRaisedCeilingCounts(t *testing.T) {
	b := newEngineFixture(t)
	o := b.sentOrder(nil)
	present := true
	during := func() {}
	b.service.o.Valuer = dollarValuer{}
	b.service.o.Limits = func() Limits { return Limits{Hour: dollarsOf(150)} }
	b.service.o.Confirmer = confirmer(func(Act) error { during(); return nil })
	ask := speedupOf(o)
	ask.Caller = Caller{Session: "s", Present: func() bool { return present }}
	ask.GasCeiling = big.NewInt(2e17) // 200 dollars
	_, err := b.service.SpeedUp(t.Context(), ask)
	wantReasons(t, "a raise above the sum", err, "hourly_limit")
	ask.GasCeiling = nil
	during = func() { present = false }
	_, err = b.service.SpeedUp(t.Context(), ask)
	refusedWith(t, err, swap.SessionRequired)
	present, during = true, func() { b.clockOffset.Store(int64(time.Hour)) }
	_, err = b.service.SpeedUp(t.Context(), ask)
	refusedWith(t, err, swap.TooLate)
	b.clockOffset.Store(0)
	if now, err := b.service.o.Journal.Get(o.ID); err != nil || now.Bump != nil {
		t.Fatalf("%+v, %v", now.Bump, err)
	}
	during = func() {}
	if _, err := b.service.SpeedUp(t.Context(), ask); err != nil {
		t.Error(err)
	}
	b.waitSpedUp(o.ID)
}
