package swap

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A crasher ends the process, as far as the engine can tell, right after the nth outside
// effect: the effect happened and nothing recorded it.
type crasher struct {
	Sender
	left *atomic.Int32
	b    *bench
}

// dies stops the engine and the current move.
func (c crasher) dies() {
	if c.left.Add(-1) == 0 {
		c.b.stop()
		panic("killed")
	}
}

func (c crasher) Submit(ctx context.Context, key string, call chain.Call, p chain.Policy) (*chain.Tx, error) {
	tx, err := c.Sender.Submit(ctx, key, call, p)
	c.dies()
	return tx, err
}

func (c crasher) Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error) {
	tx, ev, err := c.Sender.Poll(ctx, key)
	if ev != nil {
		c.dies()
	}
	return tx, ev, err
}

// A dyingHand signs, and its signature may be lost in a crash.
type dyingHand struct {
	TypedSigner
	crasher
}

func (d dyingHand) SignTypedData(ctx context.Context, from common.Address, t apitypes.TypedData) ([]byte, error) {
	sig, err := d.TypedSigner.SignTypedData(ctx, from, t)
	d.dies()
	return sig, err
}

// TestCrashAnywhere kills an approve, permit and swap order after each outside effect
// before its record, and after each record: every transaction is mined once, and the
// order fills under its one digest.
func TestCrashAnywhere(t *testing.T) {
	run := func(t *testing.T, effect, commit int32) (ended bool) {
		b := newBench(t)
		b.trades()
		r, err := b.review(usdc, thousand)
		if err != nil {
			t.Fatal(err)
		}
		var effects, commits atomic.Int32
		effects.Store(effect)
		commits.Store(commit)
		c := crasher{b.service.engine.Sender, &effects, b}
		b.service.engine.Sender, b.service.engine.Signer = c, dyingHand{b.hand, c}
		stop := b.stop
		var once sync.Once
		b.service.engine.Notify = func(Order) {
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
		if o = b.ends(o.ID, Filled); o.Digest != r.Digest || len(o.Results) != 3 {
			t.Errorf("digest %s, results %+v", o.Digest, o.Results)
		}
		b.mined(2)
		b.allows(usdc, 0)
		if n := b.hand.signed.Load(); n != 2 {
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
	sent := func(step int) func(Order) bool {
		return func(o Order) bool { return o.Step == step && o.Sending != common.Hash{} }
	}
	for name, c := range map[string]struct {
		setUp func(*bench, *trader)
		when  func(Order) bool
		left  int
		mined uint64
	}{
		"before anything is signed": {func(b *bench, _ *trader) { b.hand.locked.Store(true) },
			func(o Order) bool { return o.Condition == WaitingForUnlock }, 0, 0},
		"while the approval is pending": {func(b *bench, _ *trader) { b.chain.Pause() }, sent(0), 0, 1},
		"before the permit": {func(b *bench, _ *trader) { b.service.engine.Signer = lockedHand{} },
			func(o Order) bool { return o.Step == 1 && o.Condition == WaitingForUnlock }, 1, 1},
		"after the permit": {func(_ *bench, tr *trader) {
			tr.set(func(tr *trader) { tr.mute = Refuse(ProviderDown, "a bad moment") })
		}, func(o Order) bool { return o.Step == 2 }, 1, 1},
		"while the swap is pending": {func(b *bench, _ *trader) {
			b.service.engine.Sender = pauses{b.service.engine.Sender, b}
		}, sent(2), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			tr := b.trades()
			r, err := b.review(usdc, thousand)
			if err != nil {
				t.Fatal(err)
			}
			c.setUp(b, tr)
			o := b.execute(r)
			b.until(o.ID, "at its phase", c.when)
			if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
				t.Fatal(err)
			}
			if name == "while the approval is pending" || name == "while the swap is pending" {
				b.until(o.ID, "cancelling", func(o Order) bool { return o.Condition == Cancelling })
			}
			b.chain.Resume()
			o = b.ends(o.ID, Cancelled)
			if left := Leftovers(o); len(left) != c.left || o.Holds {
				t.Errorf("leftovers %v, holds %t", left, o.Holds)
			}
			b.mined(c.mined)
			b.allows(usdc, int64(c.left)*thousand)
			if uses, err := b.service.o.Journal.Uses(o.allowanceKey()); err != nil || len(uses) != 0 {
				t.Errorf("in use: %v, %v", uses, err)
			}
		})
	}
}

// A lockedHand signs no messages.
type lockedHand struct{}

func (lockedHand) SignTypedData(context.Context, common.Address, apitypes.TypedData) ([]byte, error) {
	return nil, errLocked
}

// pauses stops the chain before the swap is sent.
type pauses struct {
	Sender
	b *bench
}

func (p pauses) Submit(ctx context.Context, key string, c chain.Call, policy chain.Policy) (*chain.Tx, error) {
	if c.To == router {
		p.b.chain.Pause()
	}
	return p.Sender.Submit(ctx, key, c, policy)
}
