package series

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"pgregory.net/rapid"
)

// A model is a naive in-memory history: it keeps everything and builds candles on request.
type model struct {
	now    int64
	tokens map[price.ID]*memory
	totals poll.Totals
}

// A memory holds one token's data.
type memory struct {
	samples map[int64]sample // by minute
	// filled holds candles from Fill and those built while their finer ones were still
	// visible.
	filled [3]map[int64]bar
	hours  map[int64]bool // that have data, so that empty months are skipped quickly
}

func newModel(now int64) *model {
	m := &model{now: now, tokens: map[price.ID]*memory{}}
	for n := range modelTokens {
		m.tokens[token(n)] = &memory{map[int64]sample{}, [3]map[int64]bar{nil, {}, {}}, map[int64]bool{}}
	}
	return m
}

var steps = [...]int64{1, 15, 60}

// bar returns the candle of a span, from data up to now.
func (t *memory) bar(r price.Resolution, at, now int64) bar {
	if r == price.Minutes {
		if p, ok := t.samples[at]; ok && at <= now {
			return bar{p.value, p.value, p.value, p.value}
		}
		return noBar
	}
	b := noBar
	if !t.hours[floor(at, 60)] {
		return b
	}
	for i := at; i < at+steps[r]; i += steps[r-1] {
		b.join(t.bar(r-1, i, now))
	}
	if f, ok := t.filled[r][at]; ok && b.none() && at <= now {
		return f
	}
	return b
}

// settle stores the candles of spans that ended.
func (m *model) settle() {
	for _, t := range m.tokens {
		for _, r := range []price.Resolution{price.Quarters, price.Hours} {
			starts := map[int64]bool{}
			for at := range t.samples {
				starts[floor(at, steps[r])] = true
			}
			for at := range t.filled[price.Quarters] {
				starts[floor(at, steps[r])] = true
			}
			for at := range starts {
				if b := t.bar(r, at, m.now); at+steps[r] <= m.now && !b.none() {
					t.filled[r][at] = b
				}
			}
		}
	}
}

func (m *model) append(at int64, minute poll.Minute) {
	for id, p := range minute.Samples {
		m.tokens[id].hours[floor(at, 60)] = true
		now := sample{p.Value.Pack(), p.Source, max(at-maxAge, min(at, minuteOf(p.At)))}
		if was, ok := m.tokens[id].samples[at]; !ok || was.at <= now.at {
			m.tokens[id].samples[at] = now
		}
	}
	m.totals.Fetches++
	if minute.OK {
		m.totals.Successful++
	}
	m.totals.Took += minute.Took
	m.settle()
}

func (m *model) fill(r price.Resolution, source price.Source, id price.ID, cs []price.Candle) {
	oldest := floor(m.now, 60) - [...]int64{keepMinutes, keepQuarters, 31 * day}[r]
	joined, t := map[int64]bar{}, m.tokens[id]
	for _, c := range cs {
		if at := floor(minuteOf(c.At), steps[r]); minuteOf(c.At) <= m.now && at >= oldest {
			b, ok := joined[at]
			if !ok {
				b = noBar
			}
			b.join(pack(c))
			joined[at] = b
		}
	}
	for at, b := range joined {
		t.hours[floor(at, 60)] = true
		if r == price.Minutes {
			if _, there := t.samples[at]; !there {
				t.samples[at] = sample{b.close, source, at}
			}
		} else if _, there := t.filled[r][at]; !there {
			t.filled[r][at] = b
		}
	}
	m.settle()
}

func (m *model) chart(id price.ID, p price.Period) []price.Candle {
	from, step := first(p, m.now), int64(p.Step/time.Minute)
	var all []price.Candle
	for at := from; at <= m.now; at += step {
		b := noBar
		for i := at; i < at+step; i += steps[p.Raw] {
			b.join(m.tokens[id].bar(p.Raw, i, m.now))
		}
		if c, ok := b.unpack(at); ok {
			all = append(all, c)
		}
	}
	return all
}

func (m *model) near(id price.ID, at, tolerance int64) (price.Sample, bool) {
	best, far := price.Sample{}, tolerance+1
	oldest := floor(m.now, 60) - keepMinutes
	for i := floor(at-tolerance, 60) / 60; i <= floor(at+tolerance, 60)/60; i++ {
		p, ok := m.tokens[id].samples[i]
		if off := max(60*p.at-at, at-60*p.at); ok && i >= oldest && i <= m.now && off < far {
			best, _ = p.unpack()
			far = off
		}
	}
	return best, far <= tolerance
}

func (m *model) last(id price.ID) (price.Sample, bool) {
	for i := m.now; i >= m.now-keepMinutes; i-- {
		if p, ok := m.tokens[id].samples[i]; ok {
			return p.unpack()
		}
	}
	return price.Sample{}, false
}

// A pair is the real history and its model.
type pair struct {
	t     testing.TB
	s     *Store
	h     *fakeClock
	m     *model
	moves map[string]int
}

const modelTokens = 18 // more than a block

func drawToken(rt *rapid.T) price.ID {
	return token(rapid.IntRange(0, modelTokens-1).Draw(rt, "token"))
}

func drawValue(rt *rapid.T) price.Value {
	v, err := price.Parse(rapid.SampledFrom([]string{"0.000000000000000001", "0.99987", "1", "1.00013", "3050.123456789012345678", "99999999999999999999"}).Draw(rt, "value"))
	if err != nil {
		rt.Fatal(err)
	}
	return v
}

func (p *pair) set(t time.Time) {
	p.h.set(t)
	p.m.now = minuteOf(t)
}

func (p *pair) append(rt *rapid.T, at time.Time) {
	minute := poll.Minute{At: at, Took: time.Second, OK: rapid.Bool().Draw(rt, "ok"), Samples: map[price.ID]price.Sample{}}
	for range rapid.IntRange(0, 5).Draw(rt, "samples") {
		age := time.Duration(rapid.SampledFrom([]int{0, 0, 30, 90, 600, 100_000}).Draw(rt, "age")) * time.Second
		minute.Samples[drawToken(rt)] = price.Sample{Value: drawValue(rt), At: at.Add(-age), Source: price.Chainlink}
	}
	if err := p.s.Append(p.t.Context(), minute); err != nil {
		rt.Fatal(err)
	}
	p.m.append(minuteOf(at), minute)
}

// actions are the random operations. After the clock moves, a minute is written or the file
// reopened, either of which closes the spans that ended.
func (p *pair) actions() map[string]func(*rapid.T) {
	now := func() time.Time { return p.h.now() }
	move := func(name string, low, high int) func(*rapid.T) {
		return func(rt *rapid.T) {
			p.moves[name]++
			p.set(now().Add(time.Duration(rapid.IntRange(low, high).Draw(rt, "seconds")) * time.Second))
			p.append(rt, now())
		}
	}
	return map[string]func(*rapid.T){
		"minute": move("minute", 30, 90), "minutes": move("minutes", 60, 1200), "hours": move("hours", 1200, 30*3600),
		"days": move("days", 86400, 10*86400), "back": move("back", -600, 0),
		"late": func(rt *rapid.T) {
			p.moves["late"]++
			p.append(rt, now().Add(-time.Duration(rapid.IntRange(0, keepMinutes*60).Draw(rt, "late"))*time.Second))
		},
		"fill": func(rt *rapid.T) {
			p.moves["fill"]++
			r := price.Resolution(rapid.IntRange(0, 2).Draw(rt, "resolution"))
			id, cs := drawToken(rt), []price.Candle(nil)
			for range rapid.IntRange(1, 6).Draw(rt, "candles") {
				a, b := drawValue(rt), drawValue(rt)
				back := time.Duration(rapid.IntRange(-3, 3+50*int(steps[r])).Draw(rt, "back")) * time.Minute
				at := now().Add(-back)
				for _, c := range cs { // of two candles at one time either could be the close
					if c.At.Equal(at) {
						at = time.Time{}
					}
				}
				cs = append(cs, flat(at, a).Join(flat(at, b)))
			}
			if err := p.s.Fill(p.t.Context(), r, price.CoinGecko, map[price.ID][]price.Candle{id: cs}); err != nil {
				rt.Fatal(err)
			}
			for i := range cs { // the model needs them in order
				for j := range i {
					if cs[i].At.Before(cs[j].At) {
						cs[i], cs[j] = cs[j], cs[i]
					}
				}
			}
			p.m.fill(r, price.CoinGecko, id, cs)
		},
		"reopen": func(rt *rapid.T) {
			p.moves["reopen"]++
			if err := p.s.Close(); err != nil {
				rt.Fatal(err)
			}
			p.set(now().Add(time.Duration(rapid.IntRange(0, 50*3600).Draw(rt, "away")) * time.Second))
			p.start(rt)
			p.m.settle()
		},
		"": p.compare,
	}
}

// start opens the file and turns off syncing.
func (p *pair) start(rt *rapid.T) {
	var err error
	if p.s, err = Open(p.s.path, Options{Days: 31, Now: p.h.now}); err != nil || p.s.Damage() != "" {
		rt.Fatal(err, p.s.Damage())
	}
	p.s.db.NoSync = true
}

func (p *pair) compare(rt *rapid.T) {
	ctx, now := p.t.Context(), p.h.now()
	at := now.Add(-time.Duration(rapid.SampledFrom([]int{0, 7, 65, 24 * 60}).Draw(rt, "ago")) * time.Minute)
	near, err := p.s.Near(ctx, at, 30*time.Minute)
	last, err2 := p.s.Last(ctx)
	covered, err3 := p.s.Coverages(ctx, now)
	totals, err4 := p.s.Totals(ctx)
	if err != nil || err2 != nil || err3 != nil || err4 != nil || totals != p.m.totals {
		rt.Fatal(err, err2, err3, err4, totals, p.m.totals)
	}
	looked := rapid.IntRange(0, modelTokens-1).Draw(rt, "token")
	points := map[price.ID]map[string]int{}
	for _, c := range covered {
		points[c.ID] = c.Points
	}
	wantNear, wantLast := map[price.ID]price.Sample{}, map[price.ID]price.Sample{}
	for n := range modelTokens {
		id, count := token(n), map[string]int{}
		if s, ok := p.m.near(id, at.Unix(), 1800); ok {
			wantNear[id] = s
		}
		if s, ok := p.m.last(id); ok {
			wantLast[id] = s
		}
		if n != looked {
			continue
		}
		for _, period := range price.Periods() {
			got, err := p.s.Chart(ctx, id, period, now)
			want := p.m.chart(id, period)
			if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				rt.Fatalf("%s: chart of %s of token %d: %v\ngot  %v\nwant %v", now, period.Name, n, err, got, want)
			}
			count[period.Name] = len(want)
		}
		if points[id] != nil && !maps.Equal(points[id], count) {
			rt.Fatalf("token %d: covers %v, has %v", n, points[id], count)
		}
		if points[id] == nil && fmt.Sprint(count) != "map[24h:0 month:0 week:0]" {
			rt.Fatalf("token %d: not covered, has %v", n, count)
		}
	}
	if !maps.Equal(near, wantNear) || !maps.Equal(last, wantLast) {
		rt.Fatalf("near %v\nwant %v\nlast %v\nwant %v", near, wantNear, last, wantLast)
	}
}

// TestModel compares every result with the model's after each step of random histories.
func TestModel(t *testing.T) {
	t.Parallel()
	dir, n, moves := t.TempDir(), 0, map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		n++
		start := noon.Add(time.Duration(rapid.IntRange(0, 86400).Draw(rt, "start")) * time.Second)
		p := &pair{t: t, h: newFakeClock(start), m: newModel(minuteOf(start)), s: &Store{path: filepath.Join(dir, fmt.Sprint(n, ".db"))}, moves: moves}
		p.start(rt)
		defer func() { _ = p.s.Close() }()
		rt.Repeat(p.actions())
	})
	t.Log(moves)
	for _, name := range []string{"minute", "minutes", "hours", "days", "back", "late", "fill", "reopen"} {
		if moves[name] == 0 {
			t.Errorf("nothing of %q was tried", name)
		}
	}
}
