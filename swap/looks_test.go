package swap

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// TestLooks checks that a few orders poll at their own intervals, that a thousand
// together poll at most ten times a second, that old orders poll no less often than they
// would alone, and that neither delays an order that needs a signature.
func TestLooks(t *testing.T) {
	var l looks
	perSecond := func(n int, of share, alone func(int) time.Duration) (sum float64) {
		pauses := make([]time.Duration, n)
		for range 2 { // the first pass does not know the later ones yet
			for i := range n {
				pauses[i] = l.pause(fmt.Sprint(of, i), alone(i), of)
			}
		}
		for _, p := range pauses {
			sum += 1 / p.Seconds()
		}
		return sum
	}
	second := func(int) time.Duration { return time.Second }
	if got := perSecond(5, onlyWatched, second); got != 5 {
		t.Errorf("five orders: %.2f looks a second", got)
	}
	if got := perSecond(1000, onlyWatched, second); got > mostLooks[onlyWatched]+0.01 || got < mostLooks[onlyWatched]-0.01 {
		t.Errorf("a thousand orders: %.2f looks a second", got)
	}
	for _, c := range []struct{ alone, most time.Duration }{{time.Second, 101 * time.Second}, {time.Minute, 101 * time.Second}, {time.Hour, time.Hour}} {
		if got := l.pause("one more", c.alone, onlyWatched); got > c.most {
			t.Errorf("among a thousand, one that would look every %s waits %s", c.alone, got)
		}
	}
	if got := l.pause("to be signed", time.Second, inAHurry); got != time.Second {
		t.Errorf("among a thousand that are watched, one that is to be signed waits %s", got)
	}
	l.leave("to be signed")
	if got := perSecond(600, onItsWay, second); got > mostLooks[onItsWay]+0.01 || l.pause("just sent", time.Second, onlyWatched) < 50*time.Second {
		t.Errorf("six hundred that are sent: %.2f looks a second", got)
	}
	l.leave("just sent")
	for i := range 600 {
		l.leave(fmt.Sprint(onItsWay, i))
	}
	if got := l.pause("just sent", time.Second, onItsWay); got != time.Second {
		t.Errorf("among a thousand that are watched, one that was just sent waits %s", got)
	}
	l.leave("just sent")
	if got := perSecond(300, inAHurry, second); got > mostLooks[inAHurry]+0.01 || got < mostLooks[inAHurry]-0.01 {
		t.Errorf("three hundred to be signed: %.2f looks a second", got)
	}
	aged := func(i int) time.Duration {
		if i == 0 {
			return time.Second
		}
		return time.Hour
	}
	perSecond(1000, onlyWatched, aged)
	if got := l.pause(fmt.Sprint(onlyWatched, 0), time.Second, onlyWatched); got != time.Second {
		t.Errorf("a new order among old ones waits %s", got)
	}
	for id := range l.wants {
		l.leave(id)
	}
	if got := l.pause("last", time.Second, onlyWatched); got != time.Second || len(l.wants) != 1 {
		t.Errorf("after all others have ended, one waits %s, and %d are known", got, len(l.wants))
	}
}

// TestShareOfLooks checks that an order polls at the high rate while it has to be signed,
// handed over or cancelled, and while others wait for it.
func TestShareOfLooks(t *testing.T) {
	tx, calls := common.Hash{1}, func(by SettledBy, n int) Plan { return Plan{Settlement: by, Steps: make([]Step, n)} }
	for _, c := range []struct {
		what string
		o    Order
		want share
	}{
		{"just accepted", Order{State: Accepted, Plan: calls(ByOwnCall, 1)}, inAHurry},
		{"its approval is sent", Order{State: Approving, Plan: calls(ByOwnCall, 2), Sending: tx}, inAHurry},
		{"its call is to be signed", Order{State: Executing, Plan: calls(ByOwnCall, 2), Step: 1}, inAHurry},
		{"its call is sent", Order{State: Executing, Plan: calls(ByOwnCall, 2), Step: 1, Sending: tx}, onItsWay},
		{"its call is sent, and to be sped up", Order{State: Executing, Plan: calls(ByOwnCall, 2), Step: 1, Sending: tx, Bump: &Bump{}}, inAHurry},
		{"its call is sent, and others wait for its allowance", Order{State: Executing, Plan: calls(ByOwnCall, 2), Step: 1, Sending: tx, Holds: true}, inAHurry},
		{"its call is sent, and to be made void", Order{State: Executing, Plan: calls(ByOwnCall, 2), Step: 1, Sending: tx, Condition: Cancelling}, inAHurry},
		{"its deposit is sent, and to be told", Order{State: Executing, Plan: calls(ByProvider, 1), Sending: tx}, inAHurry},
		{"its call is sent, and cancelled", Order{State: Executing, Plan: calls(ByOwnCall, 1), Sending: tx, Cancel: true}, inAHurry},
		{"it settles", Order{State: Settling, Plan: calls(ByProvider, 1), Step: 1}, onlyWatched},
		{"it waits for a person", Order{State: Accepted, Plan: calls(ByOwnCall, 1), Condition: NeedsConsent}, onlyWatched},
		{"it waits for another's allowance", Order{State: Approving, Plan: calls(ByOwnCall, 2), Condition: WaitingForAllowance}, onlyWatched},
		{"it waits for one that looks alike", Order{State: Submitting, Plan: calls(ByProvider, 1), Condition: WaitingForTwin}, onlyWatched},
		{"it waits for another's allowance, and is cancelled", Order{State: Approving, Plan: calls(ByOwnCall, 2), Condition: WaitingForAllowance, Cancel: true}, inAHurry},
	} {
		if got := c.o.share(); got != c.want {
			t.Errorf("%s: share %d, want %d", c.what, got, c.want)
		}
	}
}

// TestWaking checks that an order with a scheduled wake-up that is then woken at once
// polls at once, and that a later wake-up does not postpone an earlier one.
func TestWaking(t *testing.T) {
	if inTurn(0) != 0 || inTurn(atOnceMost-1) != 0 || inTurn(1000) > 100*time.Second || inTurn(1000) < 99*time.Second {
		t.Errorf("turns: %s, %s", inTurn(atOnceMost-1), inTurn(1000))
	}
	c := make(chan time.Duration, 1)
	for _, after := range []time.Duration{time.Hour, 0, time.Minute} {
		wake(c, after)
	}
	done := make(chan bool, 1)
	go func() { done <- rest(t.Context(), time.Hour, c) }()
	select {
	case early := <-done:
		if !early {
			t.Error("its rest was over")
		}
	case <-time.After(5 * time.Second):
		t.Error("it still rests")
	}
	wake(c, time.Hour)
	began := time.Now()
	if rest(t.Context(), 50*time.Millisecond, c); time.Since(began) > 5*time.Second {
		t.Error("a later turn put it off")
	}
}

// TestFreshQuoteIsUsedAtOnce checks that a fresh quote is used at once, however long the
// order's pause is.
func TestFreshQuoteIsUsedAtOnce(t *testing.T) {
	b := newBench(t)
	b.service.engine.Pause = func(time.Duration) time.Duration { return time.Hour }
	b.p.kind = Swap
	b.p.quote = func(r QuoteRequest) ([]Offer, error) {
		return []Offer{{Provider: DEX, AmountOut: big.NewInt(1.1e17), MinOut: floorOf(big.NewInt(1.1e17), r.SlippageBps), Expires: time.Now().Add(time.Minute), Request: r}}, nil
	}
	o := b.order(func(_ *Terms, o *Offer) { o.Expires, o.Request.SlippageBps = time.Now().Add(-time.Second), 100 })
	b.until(o.ID, "sent", func(o Order) bool { return o.Sending != common.Hash{} })
}

// TestOpenEntriesWithoutAnOrder checks that the next start drops open entries without an
// order, and that an order that cannot be read does not slow down others.
func TestOpenEntriesWithoutAnOrder(t *testing.T) {
	b := newBench(t)
	b.hand.locked.Store(true)
	o := b.order(nil)
	b.halt()
	err := b.db.Update(func(tx *bolt.Tx) error {
		for i := range 500 {
			if err := tx.Bucket(openBucket).Put(fmt.Append(nil, i), []byte{1}); err != nil {
				return err
			}
		}
		return tx.Bucket(orderBucket).Put([]byte("1"), []byte("{"))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.start()
	b.until(o.ID, "waiting", func(o Order) bool { return o.Condition == WaitingForUnlock })
	time.Sleep(100 * time.Millisecond)
	e := b.service.engine
	e.mu.Lock()
	started := len(e.wake)
	e.mu.Unlock()
	e.looks.mu.Lock()
	counted := len(e.looks.wants)
	e.looks.mu.Unlock()
	if started != 2 || counted != 1 {
		t.Errorf("%d are started, and %d count", started, counted)
	}
	if open, err := e.Journal.Open(); err != nil || len(open) != 2 {
		t.Errorf("%d open entries, %v", len(open), err)
	} else if n, err := e.Journal.busy(open); err != nil || n != 1 {
		t.Errorf("%d are busy, %v", n, err)
	}
	b.hand.locked.Store(false)
	b.service.Wake()
	b.ends(o.ID, Filled)
}
