package source

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

// TestSpans checks that the requested points are in the middle of the steps from since
// until now, each in one span, and that spans and points stay within their limits.
func TestSpans(t *testing.T) {
	for _, x := range []struct {
		back, step time.Duration
		points     int
	}{
		{24 * time.Hour, 15 * time.Minute, 96}, {7 * 24 * time.Hour, time.Hour, 168}, {30 * 24 * time.Hour, 4 * time.Hour, 180},
		{24 * time.Hour, time.Minute, 1440}, {0, time.Hour, 0}, {-time.Hour, time.Hour, 0}, {time.Minute, time.Minute, 1},
		{100 * 365 * 24 * time.Hour, time.Minute, 9_999}, {time.Duration(1 << 62), 15 * time.Minute, 9_999},
	} {
		seen, before := 0, testNow.Add(x.step)
		for _, s := range spansOf(testNow.Add(-x.back), testNow, x.step) {
			last := s.start.Add(time.Duration(s.points-1) * x.step)
			if s.points < 1 || s.points > pointsPerCoin || last.After(testNow) || !last.Before(before) || s.start.Sub(s.start.Truncate(x.step)) != x.step/2 {
				t.Errorf("%s by %s: %d points from %s until %s, before %s", x.back, x.step, s.points, s.start, last, before)
			}
			seen, before = seen+s.points, s.start
		}
		if seen < x.points || seen > x.points+1 {
			t.Errorf("%s by %s: %d points, want %d", x.back, x.step, seen, x.points)
		}
	}
}

// TestPast reads a day's chart in 15-minute steps from a service that behaves as
// documented.
func TestPast(t *testing.T) {
	at := newStage(t)
	d := subjects[0].opened(t, at, quick()).(*DefiLlama)
	var mu sync.Mutex
	var queries []string
	at.serve(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		queries = append(queries, r.URL.RawQuery)
		mu.Unlock()
		q := r.URL.Query()
		start, _ := strconv.ParseInt(q.Get("start"), 10, 64)
		span, _ := strconv.Atoi(q.Get("span"))
		period, err := time.ParseDuration(q.Get("period"))
		if err != nil {
			t.Error(err)
		}
		var coins []string
		for _, k := range strings.Split(strings.TrimPrefix(r.URL.Path, "/chart/"), ",") {
			if strings.HasPrefix(k, "superseed:") {
				continue
			}
			var points []string
			for i := range span {
				ts := start + int64(i)*int64(period.Seconds()) + 90 // not exactly the requested time
				points = append(points, `{"timestamp":`+strconv.FormatInt(ts, 10)+`,"price":`+strconv.Itoa(1000+i)+`}`)
			}
			coins = append(coins, strconv.Quote(k)+`:{"symbol":"X","confidence":0.99,"prices":[`+strings.Join(points, ",")+`]}`)
		}
		answer(w, http.StatusOK, []byte(`{"coins":{`+strings.Join(coins, ",")+`}}`))
	})
	candles, err := d.Past(t.Context(), append(crowd(40, 1), supr), testNow.Add(-24*time.Hour), 15*time.Minute)
	if err != nil || len(candles) != 41 {
		t.Fatalf("%d tokens, %v", len(candles), err)
	}
	for id, all := range candles {
		first, last := all[0], all[len(all)-1]
		if len(all) != 96 || !first.At.Equal(testNow.Add(-24*time.Hour)) || !last.At.Equal(testNow.Add(-15*time.Minute)) || first.Open.Fixed(0) != "1000" || last.Close.Fixed(0) != "1095" {
			t.Fatalf("%v: %d candles from %+v until %+v", id, len(all), first, last)
		}
	}
	for _, q := range queries {
		if !strings.Contains(q, "period=15m&searchWidth=7m&span=96&start=1795270050") {
			t.Errorf("asked for %s", q)
		}
	}
	if len(queries) != 3 { // 42 keys, 2,000 points per call
		t.Errorf("%d calls", len(queries))
	}
	for _, step := range []time.Duration{0, -time.Minute, time.Second, 90 * time.Second} {
		if _, err := d.Past(t.Context(), testTokens, testNow.Add(-time.Hour), step); !errors.Is(err, ErrStep) {
			t.Errorf("a step of %s: %v", step, err)
		}
	}
}

// TestJoin checks that several prices in a step become one candle, in order of time.
func TestJoin(t *testing.T) {
	s := series{prices: map[int64]price.Value{}}
	for second, text := range map[int64]string{10: "5", 3500: "2", 1800: "9", 3600: "4", 7300: "1"} {
		s.prices[testNow.Unix()+second] = must(price.Parse(text))
	}
	all := candlesOf(s, testNow, time.Hour)
	if len(all) != 3 {
		t.Fatalf("%d candles", len(all))
	}
	c := all[0]
	if c.Open.Fixed(0)+c.High.Fixed(0)+c.Low.Fixed(0)+c.Close.Fixed(0) != "5922" || !c.At.Equal(testNow) || all[1].Close.Fixed(0) != "4" {
		t.Errorf("joined candles are %+v", all)
	}
	if late := candlesOf(s, testNow.Add(time.Hour), time.Hour); len(late) != 2 {
		t.Errorf("%d candles after the first", len(late))
	}
}
