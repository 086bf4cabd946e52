package series

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

// prefilled returns a history that is full for n tokens.
func prefilled(b *testing.B, tokens int) (*Store, *fakeClock) {
	b.Helper()
	h := newFakeClock(noon)
	s := open(b, filepath.Join(b.TempDir(), "prices.db"), h)
	for r := range price.Hours + 1 {
		g := s.rings[r]
		now := minuteOf(noon)
		const rows = 64 // per call, because the map of a call is large
		for at := g.oldest(now); at <= now; at += rows * g.step {
			candles := map[price.ID][]price.Candle{}
			for n := range tokens {
				for i := at; i <= min(now, at+(rows-1)*g.step); i += g.step {
					candles[token(n)] = append(candles[token(n)], flat(timeOf(i), worth(n, timeOf(i))))
				}
			}
			ok(b, s.Fill(b.Context(), r, price.DefiLlama, candles))
		}
	}
	return s, h
}

// written returns how many bytes this process has written so far.
func written(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, is := strings.CutPrefix(line, "wchar: "); is {
			n, _ := strconv.Atoi(strings.TrimSpace(value))
			return n
		}
	}
	return 0
}

// BenchmarkAppend measures the commit of a minute to a full history. MB/day extrapolates
// from the minutes that it ran.
func BenchmarkAppend(b *testing.B) {
	for _, tokens := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint(tokens), func(b *testing.B) {
			s, h := prefilled(b, tokens)
			run(b, s, h, tokens, noon.Add(130*time.Minute)) // until every slot is taken
			m := minute(h.now(), tokens)
			before, n := written(b), 0
			for b.Loop() {
				h.move(time.Minute)
				m.At = h.now()
				n++
				ok(b, s.Append(b.Context(), m))
			}
			i, err := os.Stat(s.path)
			ok(b, err)
			b.ReportMetric(float64(written(b)-before)/float64(n)*1440/1e6, "MB/day")
			b.ReportMetric(float64(i.Size())/1e6, "MB-file")
		})
	}
}

// BenchmarkRead measures the reads of a full history.
func BenchmarkRead(b *testing.B) {
	for _, tokens := range []int{1000, 10_000} {
		s, h := prefilled(b, tokens)
		for _, full := range []bool{false, true} { // filled only, and after a day of its own minutes
			if full && tokens > 1000 {
				continue
			}
			if full {
				run(b, s, h, tokens, h.now().Add(26*time.Hour))
			}
			name := fmt.Sprintf("%d/own=%t/", tokens, full)
			for _, p := range price.Periods() {
				b.Run(name+p.Name, func(b *testing.B) {
					for b.Loop() {
						if c, err := s.Chart(b.Context(), token(tokens/2), p, h.now()); err != nil || len(c) < 178 {
							b.Fatal(len(c), err)
						}
					}
				})
			}
			b.Run(name+"near", func(b *testing.B) {
				for b.Loop() {
					if n, err := s.Near(b.Context(), h.now().Add(-24*time.Hour), 30*time.Minute); err != nil || len(n) != tokens {
						b.Fatal(len(n), err)
					}
				}
			})
			b.Run(name+"last", func(b *testing.B) {
				for b.Loop() {
					if n, err := s.Last(b.Context()); err != nil || len(n) != tokens {
						b.Fatal(len(n), err)
					}
				}
			})
			b.Run(name+"coverages", func(b *testing.B) {
				for b.Loop() {
					if n, err := s.Coverages(b.Context(), h.now()); err != nil || len(n) != tokens {
						b.Fatal(len(n), err)
					}
				}
			})
			b.Run(name+"open", func(b *testing.B) {
				for b.Loop() {
					ok(b, s.Close())
					var err error
					s, err = Open(s.path, Options{Now: h.now})
					ok(b, err)
				}
			})
		}
		ok(b, s.Close())
	}
}
