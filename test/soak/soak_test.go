//go:build faults && linux

package soak

import (
	"fmt"
	"testing"
	"time"

	"swapkeep/host/owner"
	"swapkeep/internal/clock"
	"swapkeep/test/await"
)

// round returns the time between two visits, which is longer than the auto-lock takes.
func round() time.Duration {
	if *length >= 8*time.Hour {
		return time.Hour
	}
	return shortRound
}

const shortRound = 24 * time.Minute

// autoLockWait is how long after a visit the wallet is surely locked: auto-lock comes after 15
// minutes without use and is checked every half minute.
const autoLockWait = 17 * time.Minute

// TestSoak runs the day and adds its table to -report.
func TestSoak(t *testing.T) {
	began := time.Now()
	startWorld(t)
	h := startHome(t, "SWAPKEEP_LOG_LEVEL=debug")
	h.fillPrices()
	beside := h.startObserver(t)
	u := newUser(t, h)
	day := clock.Now()
	var rows []row
	for n := range int(*length / round()) {
		setPace(t, slowPace)
		u.visit(n)
		beside.passTime(clock.Now().Add(autoLockWait))
		u.checkLocked(beside, n)
		u.checkEnds(beside.window)
		beside.passTime(day.Add(time.Duration(n+1) * round()))
		rows = append(rows, measure(u, beside, clock.Now().Sub(day)))
		t.Log(rows[n])
		if t.Failed() {
			break
		}
	}
	text, failed := verdict(rows)
	text = fmt.Sprintf("`make soak SOAK=%s`\n\n%s\n", *length, text) + u.summary(t, beside, day, began)
	logTable(t, text)
	for _, f := range failed {
		t.Error(f)
	}
}

// waitUntil waits until a time of the daemon's clock.
func waitUntil(then time.Time) {
	<-clock.After(then.Sub(clock.Now()))
}

// fetchOverdue is the time without a fetch of prices, due every minute, after which the machine
// counts as too slow.
const fetchOverdue = 75 * time.Second

// passTime lets time pass as fast as the machine keeps up, judged by the fetch of prices each
// minute. A late fetch is waited for at a calm pace, a minute at most, and the pace is
// lower from then on.
func (b *observer) passTime(then time.Time) {
	setPace(b.t, b.awayPace)
	for left := then.Sub(clock.Now()); left > 0; left = then.Sub(clock.Now()) {
		was := b.awayPace
		switch fetched := b.awaitFetch(min(left, fetchOverdue)); {
		case fetched:
			b.awayPace = min(b.awayPace*1.05, fastPace)
		case left > fetchOverdue:
			setPace(b.t, slowPace)
			b.awaitFetch(min(time.Minute, then.Sub(clock.Now())))
			b.awayPace = max(b.awayPace*2/3, slowPace)
		}
		if b.awayPace != was {
			setPace(b.t, b.awayPace)
		}
	}
}

// awaitFetch reports whether prices were fetched within a time.
func (b *observer) awaitFetch(within time.Duration) bool {
	end := clock.NewTimer(within)
	defer end.Stop()
	select {
	case <-b.fetched:
		return true
	case <-end.C:
		return false
	}
}

// checkLocked checks that the wallet has locked itself since the visit. The notification comes
// at once, but may be late on a busy machine.
func (u *user) checkLocked(b *observer, n int) {
	u.t.Helper()
	s := u.status()
	setPace(u.t, slowPace)
	await.Holds(patience, func() bool { return b.idle.Load() > int64(n) })
	if s.Keys != "locked" || b.idle.Load() != int64(n+1) {
		u.t.Errorf("%s after the visit the wallet is %s; it locked by itself %d times in %d visits", autoLockWait, s.Keys, b.idle.Load(), n+1)
	}
}

func measure(u *user, b *observer, at time.Duration) row {
	f := u.figures()
	return row{
		at: at.Round(time.Minute), rss: f.RSS, peak: f.Peak, heap: f.Heap, objects: f.Objects, goroutines: f.Goroutines, descriptors: f.Descriptors,
		orders: u.size("orders.db"), prices: u.size("prices.db"), log: u.size("swapkeepd.log"), old: u.size("swapkeepd.log.1"),
		made: u.made, open: len(u.orders), boards: int(b.boards.Load()), events: int(b.events.Load()),
	}
}

// summary checks that the expected events happened, as a soak of an idle daemon shows
// nothing. day is by the daemon's clock, began by the real one.
func (u *user) summary(t *testing.T, b *observer, day, began time.Time) string {
	setPace(t, slowPace) // so that requests get current answers
	passed, took := clock.Now().Sub(day), time.Since(began)
	u.checkEnds(b.window)
	s := u.status()
	minutes, rounds := int(passed/time.Minute), int(passed/round())
	old := u.size("swapkeepd.log.1")
	things := []expectation{
		{"minutes that passed", minutes, minutes},
		{"prices fetched and told to a window", int(b.boards.Load()), minutes * 8 / 10},
		{"the same as events of the price API", int(b.events.Load()), minutes * 8 / 10},
		{"unlocked by the user", u.unlocks, rounds},
		{"locked by itself", int(b.idle.Load()), rounds},
		{"asked for quotes", u.quotes, 3 * rounds},
		{"refreshed quotes by itself", u.refreshed, rounds},
		{"plans refused whose quote was over", u.expiredPlans, rounds},
		{"orders made", u.made, rounds},
		{"orders filled, with proof", u.filled, rounds - (rounds+3)/len(userSwaps) - (rounds+1)/len(userSwaps)},
		{"orders received as reported", u.likelyPaid, (rounds + 1) / len(userSwaps)},
		{"orders expired, with proof", u.expiredOrders, (rounds + 3) / len(userSwaps)},
		{"log turned over", min(1, int(old)), 1},
	}
	charts := b.charts(day)
	b.detach()
	for _, c := range append(charts, u.storedCharts(day)...) {
		h, wrong := c.judge(priceRange)
		things = append(things, h)
		for _, w := range wrong[:min(5, len(wrong))] {
			t.Error(w)
		}
	}
	for _, x := range things {
		if x.count < x.least {
			t.Errorf("%s: %d, want at least %d", x.what, x.count, x.least)
		}
	}
	if old > 2*owner.MaxLog || len(s.Problems) > 0 || s.OpenOrders > 0 {
		t.Errorf("at the end: old log of %d bytes, %d open orders, problems %+v", old, s.OpenOrders, s.Problems)
	}
	return formatExpectations(things, took)
}
