package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A crashingSender ends the process, as far as the engine can tell, right after the nth outside
// effect: the effect happened and nothing recorded it.
type crashingSender struct {
	Sender
	left *atomic.Int32
	b    *engineFixture
}

// crash stops the engine and the current move.
func (c crashingSender) crash() {
	if c.left.Add(-1) == 0 {
		c.b.stop()
		panic("killed")
	}
}

func (c crashingSender) Submit(ctx context.Context, key string, call chain.Call, p chain.Policy) (*chain.Tx, error) {
	tx, err := c.Sender.Submit(ctx, key, call, p)
	c.crash()
	return tx, err
}

func (c crashingSender) Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error) {
	tx, ev, err := c.Sender.Poll(ctx, key)
	if ev != nil {
		c.crash()
	}
	return tx, ev, err
}

// A crashingSigner signs, and its signature may be lost in a crash.
type crashingSigner struct {
	TypedSigner
	crashingSender
}

func (d crashingSigner) SignTypedData(ctx context.Context, from common.Address, t apitypes.TypedData) ([]byte, error) {
	sig, err := d.TypedSigner.SignTypedData(ctx, from, t)
	d.crash()
	return sig, err
}

// TestCrashAnywhere kills an approve, permit and swap order after each outside effect
// before its record, and after each record: every transaction is mined once, and the
// order fills under its one digest.
func TestCrashAnywhere(t *testing.T) {
	run := func(t *testing.T, effect, commit int32) (ended bool) {
		b := newEngineFixture(t)
		b.useTrader()
		r, err := b.review(usdc, thousand)
		if err != nil {
			t.Fatal(err)
		}
		var effects, commits atomic.Int32
		effects.Store(effect)
		commits.Store(commit)
		c := crashingSender{b.service.engine.Sender, &effects, b}
		b.service.engine.Sender, b.service.engine.Signer = c, crashingSigner{b.signer, c}
		stop := b.stop
		var once sync.Once
		b.service.engine.Notify = func(swap.Order) {
			if commits.Add(-1) == 0 {
				once.Do(stop)
			}
		}
		o := b.execute(r)
		stopped := make(chan struct{})
		go func() { b.service.Wait(); close(stopped) }()
		select {
		case <-stopped:
		case <-time.After(20 * time.Second):
			t.Fatal("neither killed nor done")
		}
		o, _, err = b.service.Order(o.ID)
		if err != nil {
			t.Fatal(err)
		}
		ended = o.State.Final()
		b.start()
		if o = b.waitState(o.ID, swap.Filled); o.Digest != r.Digest || len(o.Results) != 3 {
			t.Errorf("digest %s, results %+v", o.Digest, o.Results)
		}
		b.wantNonce(2)
		b.wantPermit2Allowance(usdc, 0)
		if n := b.signer.signed.Load(); n != 2 {
			t.Errorf("%d transactions were signed", n)
		}
		return ended
	}
	for name, at := range map[string]func(int32) (int32, int32){
		"after effect": func(n int32) (int32, int32) { return n, -1 },
		"after commit": func(n int32) (int32, int32) { return -1, n },
	} {
		n := int32(1)
		for ended := false; !ended && n < 30; n++ {
			effect, commit := at(n)
			t.Run(fmt.Sprintf("%s %d", name, n), func(t *testing.T) { ended = run(t, effect, commit) })
		}
		if n < 5 || n == 30 {
			t.Errorf("%s: %d points", name, n)
		}
	}
}

// TestCancelAtEachPhase cancels an order in each phase. What spends is never mined after
// that, what was approved is offered for revoke, and the allowance is free for the next
// order.
func TestCancelAtEachPhase(t *testing.T) {
	sent := func(step int) func(swap.Order) bool {
		return func(o swap.Order) bool { return o.Step == step && o.CurrentTx != common.Hash{} }
	}
	for name, c := range map[string]struct {
		setUp func(*engineFixture, *trader)
		when  func(swap.Order) bool
		left  int
		mined uint64
	}{
		"before anything is signed": {func(b *engineFixture, _ *trader) { b.signer.locked.Store(true) },
			func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock }, 0, 0},
		"while the approval is pending": {func(b *engineFixture, _ *trader) { b.chain.Pause() }, sent(0), 0, 1},
		"before the permit": {func(b *engineFixture, _ *trader) { b.service.engine.Signer = lockedSigner{} },
			func(o swap.Order) bool { return o.Step == 1 && o.Condition == swap.WaitingForUnlock }, 1, 1},
		"after the permit": {func(_ *engineFixture, tr *trader) {
			tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
		}, func(o swap.Order) bool { return o.Step == 2 }, 1, 1},
		"while the swap is pending": {func(b *engineFixture, _ *trader) {
			b.service.engine.Sender = pausingSender{b.service.engine.Sender, b}
		}, sent(2), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			tr := b.useTrader()
			r, err := b.review(usdc, thousand)
			if err != nil {
				t.Fatal(err)
			}
			c.setUp(b, tr)
			o := b.execute(r)
			b.waitUntil(o.ID, "at its phase", c.when)
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			if name == "while the approval is pending" || name == "while the swap is pending" {
				b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
			}
			b.chain.Resume()
			o = b.waitState(o.ID, swap.Cancelled)
			if left := Leftovers(o); len(left) != c.left || o.AllowanceLocked {
				t.Errorf("leftovers %v, holds %t", left, o.AllowanceLocked)
			}
			b.wantNonce(c.mined)
			b.wantPermit2Allowance(usdc, int64(c.left)*thousand)
			if uses, err := b.service.o.Journal.Uses(allowanceKeyOf(o)); err != nil || len(uses) != 0 {
				t.Errorf("in use: %v, %v", uses, err)
			}
		})
	}
}

// A lockedSigner signs no messages.
type lockedSigner struct{}

func (lockedSigner) SignTypedData(context.Context, common.Address, apitypes.TypedData) ([]byte, error) {
	return nil, errLocked
}

// pausingSender stops the chain before the swap is sent.
type pausingSender struct {
	Sender
	b *engineFixture
}

func (p pausingSender) Submit(ctx context.Context, key string, c chain.Call, policy chain.Policy) (*chain.Tx, error) {
	if c.To == router {
		p.b.chain.Pause()
	}
	return p.Sender.Submit(ctx, key, c, policy)
}
