package engine

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// TestPollIntervals checks that a few orders poll at their own intervals, that a thousand
// together poll at most ten times a second, that old orders poll no less often than they
// would alone, and that neither delays an order that needs a signature.
func TestPollIntervals(t *testing.T) {
	var l pollLimiter
	orders := map[string]*inProgress{}
	order := func(id string) *inProgress {
		if orders[id] == nil {
			orders[id] = &inProgress{id: id}
		}
		return orders[id]
	}
	perSecond := func(n int, of pollClass, alone func(int) time.Duration) (sum float64) {
		pauses := make([]time.Duration, n)
		for range 2 { // the first pass does not know the later ones yet
			for i := range n {
				pauses[i] = l.pause(order(fmt.Sprint(of, i)), alone(i), of)
			}
		}
		for _, p := range pauses {
			sum += 1 / p.Seconds()
		}
		return sum
	}
	second := func(int) time.Duration { return time.Second }
	if got := perSecond(5, pollWatched, second); got != 5 {
		t.Errorf("five orders: %.2f looks a second", got)
	}
	if got := perSecond(1000, pollWatched, second); got > pollRates[pollWatched]+0.01 || got < pollRates[pollWatched]-0.01 {
		t.Errorf("a thousand orders: %.2f looks a second", got)
	}
	for _, c := range []struct{ alone, most time.Duration }{{time.Second, 101 * time.Second}, {time.Minute, 101 * time.Second}, {time.Hour, time.Hour}} {
		if got := l.pause(order("one more"), c.alone, pollWatched); got > c.most {
			t.Errorf("among a thousand, one that would look every %s waits %s", c.alone, got)
		}
	}
	if got := l.pause(order("to be signed"), time.Second, pollUrgent); got != time.Second {
		t.Errorf("among a thousand that are watched, one that is to be signed waits %s", got)
	}
	l.remove(order("to be signed"))
	if got := perSecond(600, pollInFlight, second); got > pollRates[pollInFlight]+0.01 || l.pause(order("just sent"), time.Second, pollWatched) < 50*time.Second {
		t.Errorf("six hundred that are sent: %.2f looks a second", got)
	}
	l.remove(order("just sent"))
	for i := range 600 {
		l.remove(order(fmt.Sprint(pollInFlight, i)))
	}
	if got := l.pause(order("just sent"), time.Second, pollInFlight); got != time.Second {
		t.Errorf("among a thousand that are watched, one that was just sent waits %s", got)
	}
	l.remove(order("just sent"))
	if got := perSecond(300, pollUrgent, second); got > pollRates[pollUrgent]+0.01 || got < pollRates[pollUrgent]-0.01 {
		t.Errorf("three hundred to be signed: %.2f looks a second", got)
	}
	aged := func(i int) time.Duration {
		if i == 0 {
			return time.Second
		}
		return time.Hour
	}
	perSecond(1000, pollWatched, aged)
	if got := l.pause(order(fmt.Sprint(pollWatched, 0)), time.Second, pollWatched); got != time.Second {
		t.Errorf("a new order among old ones waits %s", got)
	}
	for p := range l.demands {
		l.remove(p)
	}
	if got := l.pause(order("last"), time.Second, pollWatched); got != time.Second || len(l.demands) != 1 {
		t.Errorf("after all others have ended, one waits %s, and %d are known", got, len(l.demands))
	}
}

// TestPollClass checks that an order polls at the high rate while it has to be signed,
// handed over or cancelled, and while others wait for it.
func TestPollClass(t *testing.T) {
	tx, calls := common.Hash{1}, func(by swap.SettledBy, n int) swap.Plan {
		return swap.Plan{Settlement: by, Steps: make([]swap.Step, n)}
	}
	for _, c := range []struct {
		what string
		o    swap.Order
		want pollClass
	}{
		{"just accepted", swap.Order{Progress: swap.Progress{State: swap.Accepted}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 1)}}, pollUrgent},
		{"its approval is sent", swap.Order{Progress: swap.Progress{State: swap.Approving, CurrentTx: tx}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
		{"its call is to be signed", swap.Order{Progress: swap.Progress{State: swap.Executing, Step: 1}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
		{"its call is sent", swap.Order{Progress: swap.Progress{State: swap.Executing, Step: 1, CurrentTx: tx}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollInFlight},
		{"its call is sent, and to be sped up", swap.Order{Progress: swap.Progress{State: swap.Executing, Step: 1, CurrentTx: tx, Bump: &swap.Bump{}}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
		{"its call is sent, and others wait for its allowance", swap.Order{Progress: swap.Progress{State: swap.Executing, Step: 1, CurrentTx: tx, AllowanceLocked: true}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
		{"its call is sent, and to be made void", swap.Order{Progress: swap.Progress{State: swap.Executing, Step: 1, CurrentTx: tx, Condition: swap.Cancelling}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
		{"its deposit is sent, and to be told", swap.Order{Progress: swap.Progress{State: swap.Executing, CurrentTx: tx}, Consent: swap.Consent{Plan: calls(swap.ByProvider, 1)}}, pollUrgent},
		{"its call is sent, and cancelled", swap.Order{Progress: swap.Progress{State: swap.Executing, CurrentTx: tx, Cancel: true}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 1)}}, pollUrgent},
		{"it settles", swap.Order{Progress: swap.Progress{State: swap.Settling, Step: 1}, Consent: swap.Consent{Plan: calls(swap.ByProvider, 1)}}, pollWatched},
		{"it waits for a person", swap.Order{Progress: swap.Progress{State: swap.Accepted, Condition: swap.NeedsConsent}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 1)}}, pollWatched},
		{"it waits for another's allowance", swap.Order{Progress: swap.Progress{State: swap.Approving, Condition: swap.WaitingForAllowance}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollWatched},
		{"it waits for one that looks alike", swap.Order{Progress: swap.Progress{State: swap.Submitting, Condition: swap.WaitingForSimilar}, Consent: swap.Consent{Plan: calls(swap.ByProvider, 1)}}, pollWatched},
		{"it waits for another's allowance, and is cancelled", swap.Order{Progress: swap.Progress{State: swap.Approving, Condition: swap.WaitingForAllowance, Cancel: true}, Consent: swap.Consent{Plan: calls(swap.ByOwnCall, 2)}}, pollUrgent},
	} {
		if got := pollClassOf(c.o); got != c.want {
			t.Errorf("%s: share %d, want %d", c.what, got, c.want)
		}
	}
}

// TestWaking checks that an order with a scheduled wake-up that is then woken at once
// polls at once, and that a later wake-up does not postpone an earlier one.
func TestWaking(t *testing.T) {
	if startDelay(0) != 0 || startDelay(startsPerSecond-1) != 0 || startDelay(1000) > 100*time.Second || startDelay(1000) < 99*time.Second {
		t.Errorf("turns: %s, %s", startDelay(startsPerSecond-1), startDelay(1000))
	}
	p := &inProgress{wake: make(chan time.Duration, 1)}
	for _, after := range []time.Duration{time.Hour, 0, time.Minute} {
		wake(p, after)
	}
	done := make(chan bool, 1)
	go func() { done <- sleep(t.Context(), time.Hour, p.wake) }()
	select {
	case early := <-done:
		if !early {
			t.Error("its rest was over")
		}
	case <-time.After(5 * time.Second):
		t.Error("it still rests")
	}
	wake(p, time.Hour)
	began := time.Now()
	if sleep(t.Context(), 50*time.Millisecond, p.wake); time.Since(began) > 5*time.Second {
		t.Error("a later turn put it off")
	}
}

// TestFreshQuoteIsUsedAtOnce checks that a fresh quote is used at once, however long the
// order's pause is.
func TestFreshQuoteIsUsedAtOnce(t *testing.T) {
	b := newEngineFixture(t)
	b.service.engine.Pause = func(time.Duration) time.Duration { return time.Hour }
	b.provider.kind = swap.Swap
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		return []swap.Offer{{Provider: swap.DEX, AmountOut: big.NewInt(1.1e17), MinOut: swap.MinAfterSlippage(big.NewInt(1.1e17), r.SlippageBps), Expires: time.Now().Add(time.Minute), Request: r}}, nil
	}
	o := b.order(func(_ *swap.Terms, o *swap.Offer) {
		o.Expires, o.Request.SlippageBps = time.Now().Add(-time.Second), 100
	})
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
}

// TestOpenEntriesWithoutAnOrder checks that the next start drops open entries without an
// order, and that an order that cannot be read does not slow down others.
func TestOpenEntriesWithoutAnOrder(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
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
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	time.Sleep(100 * time.Millisecond)
	e := b.service.engine
	e.mu.Lock()
	started := len(e.orders)
	e.mu.Unlock()
	e.pollLimiter.mu.Lock()
	counted := len(e.pollLimiter.demands)
	e.pollLimiter.mu.Unlock()
	if started != 2 || counted != 1 {
		t.Errorf("%d are started, and %d count", started, counted)
	}
	if open, err := e.Journal.Open(); err != nil || len(open) != 2 {
		t.Errorf("%d open entries, %v", len(open), err)
	} else if n, err := e.Journal.CountActive(open); err != nil || n != 1 {
		t.Errorf("%d are busy, %v", n, err)
	}
	b.signer.locked.Store(false)
	b.service.Wake()
	b.waitState(o.ID, swap.Filled)
}
