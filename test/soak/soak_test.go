//go:build faults && linux

package soak

import (
	"fmt"
	"testing"
	"time"

	"swapkeep/host/owner"
	"swapkeep/internal/clock"
)

// round returns the time between two visits, which is longer than the auto-lock takes.
func round() time.Duration {
	if *length >= 8*time.Hour {
		return time.Hour
	}
	return shortRound
}

const shortRound = 24 * time.Minute

// awayFor is how long after a visit the wallet is surely locked: auto-lock comes after 15
// minutes without use and is checked every half minute.
const awayFor = 17 * time.Minute

// TestSoak runs the day and adds its table to -report.
func TestSoak(t *testing.T) {
	began := time.Now()
	begin(t)
	h := open(t, "SWAPKEEP_LOG_LEVEL=debug")
	h.remember()
	beside := h.bystander(t)
	u := settleIn(t, h)
	day := clock.Now()
	var rows []row
	for n := range int(*length / round()) {
		goAt(t, calm)
		u.visit(n)
		beside.away(clock.Now().Add(awayFor))
		u.locked(beside, n)
		u.settleUp(beside.window)
		beside.away(day.Add(time.Duration(n+1) * round()))
		rows = append(rows, measure(u, beside, clock.Now().Sub(day)))
		t.Log(rows[n])
		if t.Failed() {
			break
		}
	}
	text, failed := verdict(rows)
	text = fmt.Sprintf("`make soak SOAK=%s`\n\n%s\n", *length, text) + u.summary(t, beside, day, began)
	tell(t, text)
	for _, f := range failed {
		t.Error(f)
	}
}

// until waits until a time of the daemon's clock.
func until(then time.Time) {
	<-clock.After(then.Sub(clock.Now()))
}

// late is the time without a fetch of prices, due every minute, after which the machine
// counts as too slow.
const late = 75 * time.Second

// away lets time pass as fast as the machine keeps up, judged by the fetch of prices each
// minute. A late fetch is waited for at a calm pace, a minute at most, and the pace is
// lower from then on.
func (b *bystander) away(then time.Time) {
	goAt(b.t, b.pace)
	for left := then.Sub(clock.Now()); left > 0; left = then.Sub(clock.Now()) {
		was := b.pace
		switch fetched := b.await(min(left, late)); {
		case fetched:
			b.pace = min(b.pace*1.05, fast)
		case left > late:
			goAt(b.t, calm)
			b.await(min(time.Minute, then.Sub(clock.Now())))
			b.pace = max(b.pace*2/3, calm)
		}
		if b.pace != was {
			goAt(b.t, b.pace)
		}
	}
}

// await reports whether prices were fetched within a time.
func (b *bystander) await(within time.Duration) bool {
	end := clock.NewTimer(within)
	defer end.Stop()
	select {
	case <-b.fetched:
		return true
	case <-end.C:
		return false
	}
}

// locked checks that the wallet has locked itself since the visit. The notification comes
// at once, but may be late on a busy machine.
func (u *user) locked(b *bystander, n int) {
	u.t.Helper()
	s := u.status()
	goAt(u.t, calm)
	for end := time.Now().Add(patience); b.idle.Load() <= int64(n) && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if s.Keys != "locked" || b.idle.Load() != int64(n+1) {
		u.t.Errorf("%s after the visit the wallet is %s; it locked by itself %d times in %d visits", awayFor, s.Keys, b.idle.Load(), n+1)
	}
}

func measure(u *user, b *bystander, at time.Duration) row {
	f := u.figures()
	return row{
		at: at.Round(time.Minute), rss: f.RSS, peak: f.Peak, heap: f.Heap, objects: f.Objects, goroutines: f.Goroutines, descriptors: f.Descriptors,
		orders: u.size("orders.db"), prices: u.size("prices.db"), log: u.size("swapkeepd.log"), old: u.size("swapkeepd.log.1"),
		made: u.made, open: len(u.orders), boards: int(b.boards.Load()), events: int(b.events.Load()),
	}
}

// summary checks that the expected events happened, as a soak of an idle daemon shows
// nothing. day is by the daemon's clock, began by the real one.
func (u *user) summary(t *testing.T, b *bystander, day, began time.Time) string {
	goAt(t, calm) // so that requests get current answers
	passed, took := clock.Now().Sub(day), time.Since(began)
	u.settleUp(b.window)
	s := u.status()
	minutes, rounds := int(passed/time.Minute), int(passed/round())
	old := u.size("swapkeepd.log.1")
	things := []happened{
		{"minutes that passed", minutes, minutes},
		{"prices fetched and told to a window", int(b.boards.Load()), minutes * 8 / 10},
		{"the same as events of the price API", int(b.events.Load()), minutes * 8 / 10},
		{"unlocked by the user", u.unlocks, rounds},
		{"locked by itself", int(b.idle.Load()), rounds},
		{"asked for quotes", u.quotes, 3 * rounds},
		{"refreshed quotes by itself", u.refreshed, rounds},
		{"plans refused whose quote was over", u.outdated, rounds},
		{"orders made", u.made, rounds},
		{"orders filled, with proof", u.filled, rounds - (rounds+3)/len(deals)},
		{"orders expired, with proof", u.lapsed, (rounds + 3) / len(deals)},
		{"log turned over", min(1, int(old)), 1},
	}
	charts := b.drawn(day)
	b.leave()
	for _, c := range append(charts, u.rolled(day)...) {
		h, wrong := c.judge(said)
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
	return tallied(things, took)
}
