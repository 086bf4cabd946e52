package series

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// A fakeClock is a clock that tests set.
type fakeClock struct{ at atomic.Int64 }

func newFakeClock(t time.Time) *fakeClock {
	h := &fakeClock{}
	h.set(t)
	return h
}

func (h *fakeClock) set(t time.Time)       { h.at.Store(t.UnixMilli()) }
func (h *fakeClock) now() time.Time        { return time.UnixMilli(h.at.Load()).UTC() }
func (h *fakeClock) move(by time.Duration) { h.at.Add(by.Milliseconds()) }

func token(n int) price.ID {
	return price.ID{Chain: uint64(1 + n%5), Address: common.BigToAddress(big.NewInt(int64(n + 1)))}
}

func usd(t testing.TB, text string) price.Value {
	t.Helper()
	v, err := price.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// worth returns a price that differs by token and minute.
func worth(n int, at time.Time) price.Value {
	v, _ := price.Parse(fmt.Sprintf("%d.%06d", 1+n, at.Unix()/60%1_000_000))
	return v
}

// minute returns a minute with prices of the first n tokens.
func minute(at time.Time, tokens int) poll.Minute {
	m := poll.Minute{At: at, Took: time.Second, OK: true, Samples: map[price.ID]price.Sample{}}
	for n := range tokens {
		m.Samples[token(n)] = price.Sample{Value: worth(n, at), At: at, Source: price.DefiLlama}
	}
	return m
}

func open(t testing.TB, path string, h *fakeClock) *Store {
	t.Helper()
	s, err := Open(path, Options{Now: h.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func begin(t testing.TB) (*Store, *fakeClock) {
	t.Helper()
	h := newFakeClock(noon)
	return open(t, filepath.Join(t.TempDir(), "prices.db"), h), h
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func appended(t testing.TB, s *Store, m poll.Minute) {
	t.Helper()
	ok(t, s.Append(t.Context(), m))
}

func chart(t testing.TB, s *Store, n int, period string, now time.Time) []price.Candle {
	t.Helper()
	p, found := price.PeriodNamed(period)
	if !found {
		t.Fatalf("no period %q", period)
	}
	c, err := s.Chart(t.Context(), token(n), p, now)
	ok(t, err)
	return c
}

// run appends a minute per clock minute until the clock shows to.
func run(t testing.TB, s *Store, h *fakeClock, tokens int, to time.Time) {
	t.Helper()
	s.db.NoSync = true // durability is not tested here
	for ; !h.now().After(to); h.move(time.Minute) {
		appended(t, s, minute(h.now(), tokens))
	}
	s.db.NoSync = false
	h.move(-time.Minute)
}

func flat(at time.Time, v price.Value) price.Candle {
	return price.Candle{At: at, Open: v, High: v, Low: v, Close: v}
}

func TestMinuteIsRead(t *testing.T) {
	s, h := begin(t)
	at := h.now()
	m := poll.Minute{At: at.Add(20 * time.Second), Took: 1500 * time.Millisecond, OK: true, Samples: map[price.ID]price.Sample{
		token(0):                               {Value: usd(t, "3050.12"), At: at.Add(-4*time.Minute - time.Second), Source: price.DefiLlama},
		token(1):                               {Value: usd(t, "0.99987"), At: at.Add(time.Hour), Source: price.Chainlink}, // its clock is ahead
		token(2):                               {Value: usd(t, "7"), At: at.Add(-20 * time.Hour), Source: price.CoinGecko}, // older than an entry can record
		token(3):                               {At: at, Source: price.DefiLlama},                                          // no price
		token(4):                               {Value: usd(t, "1"), At: at},                                               // no source
		{Chain: 0, Address: common.Address{1}}: {Value: usd(t, "1"), At: at, Source: price.DIA},                            // no chain
	}}
	appended(t, s, m)
	appended(t, s, poll.Minute{At: at.Add(30 * time.Second), Took: 500 * time.Millisecond})
	want := map[price.ID]price.Sample{
		token(0): {Value: usd(t, "3050.12"), At: at.Add(-5 * time.Minute), Source: price.DefiLlama},
		token(1): {Value: usd(t, "0.99987"), At: at, Source: price.Chainlink},
		token(2): {Value: usd(t, "7"), At: at.Add(-255 * time.Minute), Source: price.CoinGecko},
	}
	if last, err := s.Last(t.Context()); err != nil || !maps.Equal(last, want) {
		t.Errorf("last: %v, %v", last, err)
	}
	if totals, err := s.Totals(t.Context()); err != nil || totals != (poll.Totals{Fetches: 2, Successful: 1, Took: 2 * time.Second}) {
		t.Errorf("totals: %+v, %v", totals, err)
	}
	ok(t, s.Check(t.Context()))
	if s.Damage() != "" {
		t.Error(s.Damage())
	}
}

func TestMerge(t *testing.T) {
	s, h := begin(t)
	put := func(value string, age time.Duration) {
		appended(t, s, poll.Minute{At: h.now(), Samples: map[price.ID]price.Sample{token(0): {Value: usd(t, value), At: h.now().Add(-age), Source: price.DIA}}})
	}
	for _, c := range []struct {
		value string
		age   time.Duration
		want  string
	}{
		{"1", 2 * time.Minute, "1"}, {"2", 3 * time.Minute, "1"}, {"3", 2 * time.Minute, "3"}, {"4", 0, "4"}, {"5", 10 * time.Hour, "4"},
	} {
		put(c.value, c.age)
		if last, err := s.Last(t.Context()); err != nil || last[token(0)].Value != usd(t, c.want) {
			t.Errorf("after %s of %s: %v, %v; want %s", c.value, c.age, last, err, c.want)
		}
	}
}

func TestRefusedMinutes(t *testing.T) {
	s, h := begin(t)
	for _, c := range []struct {
		by   time.Duration
		want error
	}{
		{0, nil}, {5 * time.Minute, nil}, {6 * time.Minute, ErrTime}, {365 * 24 * time.Hour, ErrTime}, {-25 * time.Hour, nil},
		{-25*time.Hour - time.Minute, ErrTime}, {-100 * 365 * 24 * time.Hour, ErrTime},
	} {
		if err := s.Append(t.Context(), minute(h.now().Add(c.by), 1)); !errors.Is(err, c.want) {
			t.Errorf("by %s: %v, want %v", c.by, err, c.want)
		}
	}
	if err := s.Append(t.Context(), poll.Minute{}); !errors.Is(err, ErrTime) {
		t.Errorf("no time: %v", err)
	}
	if totals, err := s.Totals(t.Context()); err != nil || totals.Fetches != 3 {
		t.Errorf("Totals = %+v, %v; want 3 fetches", totals, err)
	}
}

// TestDay runs for longer than minutes are kept.
func TestDay(t *testing.T) {
	t.Parallel()
	s, h := begin(t)
	end := noon.Add(28*time.Hour + 7*time.Minute)
	run(t, s, h, 2, end)
	for _, c := range []struct {
		period      string
		points      int
		first, last time.Time
	}{
		{"24h", 288, end.Add(-24*time.Hour + 3*time.Minute), end.Add(-2 * time.Minute)},
		{"week", 57, noon, end.Add(-7 * time.Minute)},
		{"month", 8, noon, noon.Add(28 * time.Hour)},
	} {
		got := chart(t, s, 1, c.period, end)
		if len(got) != c.points || !got[0].At.Equal(c.first) || !got[len(got)-1].At.Equal(c.last) {
			t.Fatalf("%s: %d candles, from %v to %v", c.period, len(got), got[0].At, got[len(got)-1].At)
		}
		p, _ := price.PeriodNamed(c.period)
		for i, candle := range got {
			ends := candle.At.Add(p.Step - time.Minute)
			if i == len(got)-1 {
				ends = end
			}
			want := price.Candle{At: candle.At, Open: worth(1, candle.At), Low: worth(1, candle.At), High: worth(1, ends), Close: worth(1, ends)}
			if candle != want {
				t.Errorf("%s: %v, want %v", c.period, candle, want)
			}
		}
	}
	covered, err := s.Coverages(t.Context(), end)
	ok(t, err)
	if len(covered) != 2 || !covered[1].Since.Equal(noon) || !maps.Equal(covered[1].Points, map[string]int{"24h": 288, "week": 57, "month": 8}) {
		t.Errorf("coverage: %+v", covered)
	}
	if near, err := s.Near(t.Context(), end.Add(-24*time.Hour).Add(20*time.Second), time.Minute); err != nil || near[token(0)].At != end.Add(-24*time.Hour) {
		t.Errorf("a day ago: %v, %v", near, err)
	}
}

// TestTokenComesLater checks that older rows, which are shorter, stay readable.
func TestTokenComesLater(t *testing.T) {
	s, h := begin(t)
	run(t, s, h, 20, noon.Add(20*time.Minute))
	run(t, s, h, 40, noon.Add(40*time.Minute))
	if got := chart(t, s, 39, "24h", h.now()); len(got) != 5 || !got[0].At.Equal(noon.Add(20*time.Minute)) {
		t.Errorf("the later one: %v", got)
	}
	if got := chart(t, s, 19, "24h", h.now()); len(got) != 9 {
		t.Errorf("the earlier one: %v", got)
	}
	if got := chart(t, s, 99, "24h", h.now()); got != nil {
		t.Errorf("an unknown one: %v", got)
	}
}

// TestLateMinute checks that a minute appended after its spans were closed is included in
// their candles.
func TestLateMinute(t *testing.T) {
	s, h := begin(t)
	run(t, s, h, 1, noon.Add(90*time.Minute))
	late := minute(noon.Add(20*time.Minute), 1)
	peak := usd(t, "1000")
	late.Samples[token(0)] = price.Sample{Value: peak, At: late.At, Source: price.DIA}
	appended(t, s, late)
	for _, c := range []struct {
		period string
		i      int
	}{{"24h", 4}, {"week", 0}, {"month", 0}} {
		if got := chart(t, s, 0, c.period, h.now()); got[c.i].High != peak {
			t.Errorf("%s: %v, want %v as the high of candle %d", c.period, got, peak, c.i)
		}
	}
	if last := chart(t, s, 0, "month", h.now()); last[0].Close != worth(0, h.now()) {
		t.Errorf("the close moved: %v", last)
	}
}

// TestEndsWhileAway checks that spans that end while the daemon is down or the machine
// sleeps are closed at the next Open or Append, even if their minutes are no longer kept.
func TestEndsWhileAway(t *testing.T) {
	for _, c := range []struct {
		name string
		away time.Duration
		shut bool
	}{{"short, shut", time.Hour, true}, {"short, asleep", time.Hour, false}, {"days, shut", 60 * time.Hour, true}, {"days, asleep", 60 * time.Hour, false}, {"ring's length", 27 * time.Hour, false}} {
		t.Run(c.name, func(t *testing.T) {
			s, h := begin(t)
			run(t, s, h, 1, noon.Add(7*time.Minute))
			if c.shut {
				ok(t, s.Close())
			}
			h.move(c.away)
			if c.shut {
				s = open(t, s.path, h)
			}
			appended(t, s, minute(h.now(), 1))
			h.move(30 * time.Hour) // what was not closed is out of reach now
			want := price.Candle{At: noon, Open: worth(0, noon), Low: worth(0, noon), High: worth(0, noon.Add(7*time.Minute)), Close: worth(0, noon.Add(7*time.Minute))}
			if c.away == time.Hour {
				want.At = noon
			}
			if got := chart(t, s, 0, "week", h.now()); len(got) == 0 || got[0] != want {
				t.Errorf("week: %v, want %v", got, want)
			}
		})
	}
}

func TestFill(t *testing.T) {
	s, h := begin(t)
	run(t, s, h, 1, noon.Add(10*time.Minute))
	now := h.now()
	v := func(text string) price.Value { return usd(t, text) }
	fill := func(r price.Resolution, cs ...price.Candle) {
		t.Helper()
		ok(t, s.Fill(t.Context(), r, price.CoinGecko, map[price.ID][]price.Candle{token(0): cs, token(1): cs}))
	}
	before := now.Add(-24 * time.Hour)
	fill(price.Minutes, flat(before, v("5")), flat(noon, v("6")), flat(now.Add(time.Hour), v("7")), flat(now.Add(-26*time.Hour), v("8")))
	fill(price.Minutes, flat(before, v("99")))
	near, err := s.Near(t.Context(), before, time.Minute)
	ok(t, err)
	if want := (price.Sample{Value: v("5"), At: before, Source: price.CoinGecko}); near[token(0)] != want || near[token(1)] != want {
		t.Errorf("a day ago: %v", near)
	}
	last, err := s.Last(t.Context())
	ok(t, err)
	if last[token(0)].Value != worth(0, now) || last[token(1)].Value != v("6") {
		t.Errorf("last: %v", last)
	}
	days := func(n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }
	fill(price.Quarters, flat(days(3), v("30")), flat(days(3).Add(time.Minute), v("31")), flat(days(9), v("32")))
	fill(price.Hours, flat(days(3), v("33")), flat(days(20), v("40")), flat(days(40), v("41")))
	week := chart(t, s, 1, "week", now)
	if want := (price.Candle{At: days(3).Truncate(30 * time.Minute), Open: v("30"), Low: v("30"), High: v("31"), Close: v("31")}); len(week) != 3 || week[0] != want || week[1].Close != v("5") {
		t.Errorf("week: %v", week)
	}
	month := chart(t, s, 1, "month", now)
	if len(month) != 4 || month[0].Close != v("40") || month[1].Close != v("31") || month[2].Close != v("5") || month[3].Close != v("6") {
		t.Errorf("month: %v", month)
	}
	// Fills without usable data change nothing.
	ok(t, s.Fill(t.Context(), price.Minutes, price.Unknown, map[price.ID][]price.Candle{token(7): {flat(noon, v("1"))}}))
	ok(t, s.Fill(t.Context(), price.Hours, price.DIA, map[price.ID][]price.Candle{token(7): {{At: noon, Open: v("1")}}}))
	ok(t, s.Fill(t.Context(), price.Resolution(9), price.DIA, map[price.ID][]price.Candle{token(7): {flat(noon, v("1"))}}))
	if got, err := s.Coverages(t.Context(), now); err != nil || len(got) != 2 {
		t.Errorf("coverage: %v, %v", got, err)
	}
}

// TestFilledQuartersReachMonth checks that hours built from filled quarters outlive the
// quarters.
func TestFilledQuartersReachMonth(t *testing.T) {
	s, h := begin(t)
	ok(t, s.Fill(t.Context(), price.Quarters, price.CoinGecko, map[price.ID][]price.Candle{token(0): {flat(noon, usd(t, "3"))}}))
	for range 15 {
		h.move(24 * time.Hour)
		appended(t, s, minute(h.now(), 0))
	}
	if got := chart(t, s, 0, "month", h.now()); len(got) != 1 || got[0] != flat(noon, usd(t, "3")) {
		t.Errorf("month: %v", got)
	}
}

// TestClockJumps checks that a clock that is a year ahead, or years behind, for an hour
// costs only the slots of that hour.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{366 * 24 * time.Hour, 10 * time.Hour, 27 * time.Hour, -10 * time.Hour, -30 * time.Hour, -56 * 365 * 24 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			t.Parallel()
			s, h := begin(t)
			run(t, s, h, 1, noon.Add(24*time.Hour))
			end := h.now()
			before := [3][]price.Candle{}
			for i, p := range price.Periods() {
				before[i] = chart(t, s, 0, p.Name, end)
			}
			h.move(jump)
			wrong := h.now()
			for ; h.now().Before(wrong.Add(time.Hour)); h.move(time.Minute) {
				m := minute(h.now(), 1)
				m.Samples[token(0)] = price.Sample{Value: usd(t, "99999"), At: h.now(), Source: price.DIA}
				appended(t, s, m)
			}
			h.set(end)
			appended(t, s, minute(end, 1))
			for i, p := range price.Periods() {
				got := chart(t, s, 0, p.Name, end)
				if len(got) < len(before[i])-int(time.Hour/p.Step)-1 {
					t.Errorf("%s: %d candles of %d are left", p.Name, len(got), len(before[i]))
				}
				if jump > 0 || jump < -25*time.Hour-30*24*time.Hour { // otherwise those minutes are in the shown past
					for _, c := range got {
						if c.High == usd(t, "99999") {
							t.Errorf("%s shows what was never then: %v", p.Name, c)
						}
					}
				}
			}
			if last, err := s.Last(t.Context()); err != nil || last[token(0)].Value != worth(0, end) {
				t.Errorf("last: %v, %v", last, err)
			}
			run(t, s, h, 1, end.Add(25*time.Hour))
			if got := chart(t, s, 0, "24h", h.now()); len(got) != 288 {
				t.Errorf("a day later: %d candles", len(got))
			}
		})
	}
}

// TestBackOverAnHour sets the clock back over the start of an hour. The hour that becomes
// the oldest again was never closed; in a ring without a spare hour its slot would have
// been overwritten.
func TestBackOverAnHour(t *testing.T) {
	s, h := begin(t)
	appended(t, s, minute(h.now(), 1))
	h.move(time.Duration(s.rings[price.Hours].keep+hour)*time.Minute + 30*time.Second)
	appended(t, s, minute(h.now(), 1))
	ok(t, s.Fill(t.Context(), price.Hours, price.CoinGecko, map[price.ID][]price.Candle{token(1): {flat(h.now(), usd(t, "7"))}}))
	h.move(-10 * time.Minute)
	appended(t, s, minute(h.now(), 1))
	h.move(2 * time.Hour)
	appended(t, s, minute(h.now(), 1))
	if got := chart(t, s, 1, "month", h.now()); len(got) != 1 || got[0].Close != usd(t, "7") {
		t.Errorf("after the clock went back over an hour: %v", got)
	}
}

// TestBackAfterFill checks that a row just filled is kept when the clock goes back before it.
// Its slot once held a quarter whose minutes are still there, and which must not be built again.
func TestBackAfterFill(t *testing.T) {
	s, h := begin(t)
	appended(t, s, minute(h.now(), 1))
	h.move(time.Duration(s.rings[price.Quarters].slots) * 15 * time.Minute)
	appended(t, s, poll.Minute{At: h.now(), OK: true})
	filled := h.now()
	ok(t, s.Fill(t.Context(), price.Quarters, price.CoinGecko, map[price.ID][]price.Candle{token(1): {flat(filled, usd(t, "5"))}}))
	h.move(-8 * time.Minute)
	appended(t, s, poll.Minute{At: h.now(), OK: true})
	h.move(30 * time.Hour)
	appended(t, s, poll.Minute{At: h.now(), OK: true})
	if c := chart(t, s, 1, "week", h.now()); len(c) != 1 || !c[0].At.Equal(filled.Truncate(time.Hour)) {
		t.Errorf("chart %v, want the candle of %s", c, filled)
	}
}

func TestFacts(t *testing.T) {
	s, h := begin(t)
	at := h.now()
	want := map[price.ID]price.Facts{
		token(0): {MarketCap: price.Max, Diluted: true, CapSource: price.Blockscout, CapAt: at, Holders: 1 << 60, HoldersAt: at.Add(-time.Hour)},
		token(1): {MarketCap: usd(t, "123456789012345678.123456789012345678")},
		token(2): {},
	}
	ok(t, s.SetFacts(t.Context(), want))
	want[token(2)] = price.Facts{Holders: 3, HoldersAt: at}
	ok(t, s.SetFacts(t.Context(), map[price.ID]price.Facts{token(2): want[token(2)]}))
	ok(t, s.SetFacts(t.Context(), nil))
	ok(t, s.Close())
	s = open(t, s.path, h)
	if got, err := s.Facts(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Facts = %v, %v; want %v", got, err, want)
	}
}

// TestDaysChange checks that rows move to a ring of another size.
func TestDaysChange(t *testing.T) {
	t.Parallel()
	s, h := begin(t)
	var cs []price.Candle
	for n := range 32 * 24 {
		at := noon.Add(-time.Duration(n) * time.Hour)
		cs = append(cs, flat(at, worth(0, at)))
	}
	ok(t, s.Fill(t.Context(), price.Hours, price.DefiLlama, map[price.ID][]price.Candle{token(0): cs}))
	want := chart(t, s, 0, "month", noon)
	if len(want) != 180 {
		t.Fatalf("%d candles", len(want))
	}
	for _, days := range []int{366, 31, 100} {
		ok(t, s.Close())
		var err error
		s, err = Open(s.path, Options{Days: days, Now: h.now})
		ok(t, err)
		if got := chart(t, s, 0, "month", noon); !reflect.DeepEqual(got, want) {
			t.Errorf("%d days: %d candles", days, len(got))
		}
		n := 0
		ok(t, s.db.View(func(tx *bolt.Tx) error { return tx.ForEach(func([]byte, *bolt.Bucket) error { n++; return nil }) }))
		if n != 7 {
			t.Errorf("%d buckets", n)
		}
	}
	ok(t, s.Close())
	for _, days := range []int{-1, 30, 367} {
		if _, err := Open(s.path, Options{Days: days}); !errors.Is(err, ErrDays) {
			t.Errorf("%d days: %v", days, err)
		}
	}
}

func TestTooManyTokens(t *testing.T) {
	t.Parallel()
	s, _ := begin(t)
	many := map[price.ID][]price.Candle{}
	for n := range maxTokens {
		many[token(n)] = []price.Candle{flat(noon, usd(t, "1"))}
	}
	ok(t, s.Fill(t.Context(), price.Hours, price.DIA, many))
	if err := s.Append(t.Context(), minute(noon, maxTokens+1)); !errors.Is(err, ErrTokens) {
		t.Errorf("one more: %v", err)
	}
	appended(t, s, minute(noon, 3))
	if totals, err := s.Totals(t.Context()); err != nil || totals.Fetches != 1 {
		t.Errorf("Totals = %+v, %v; want 1 fetch", totals, err)
	}
	ok(t, s.Check(t.Context()))
}

func TestClosed(t *testing.T) {
	s, h := begin(t)
	ok(t, s.Close())
	ok(t, s.Close())
	if err := s.Append(t.Context(), minute(h.now(), 1)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := s.Check(t.Context()); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
