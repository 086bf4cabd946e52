package series

import (
	"math/bits"
	"time"

	"swapkeep/priceapi/price"
)

// periods and stepWords: one bit per step of the longest chart.
var periods = price.Periods()

const stepWords = 6

// A coverage marks the chart steps for which a token has data.
type coverage struct {
	since int64 // oldest minute; 0 = no data
	steps [3][stepWords]uint64
}

func (c *coverage) points() map[string]int {
	points := make(map[string]int, len(periods))
	for i, p := range periods {
		n := 0
		for _, w := range c.steps[i] {
			n += bits.OnesCount64(w)
		}
		points[p.Name] = n
	}
	return points
}

// cover marks the steps that the rows of a ring cover. A chart step counts if it has any
// row of the chart's own resolution or a finer one.
func (v snapshot) cover(g ring, marks []coverage) {
	g.each(v.tx, v.tokens, g.oldest(v.now), floor(v.now, g.step), func(w row) bool {
		var places []place
		for i, p := range periods {
			step := int64(p.Step / time.Minute)
			if n := w.at - first(p, v.now); n >= 0 && p.Raw >= g.res {
				places = append(places, place{i, int(n / step / 64), 1 << (n / step % 64)})
			}
		}
		w.each(func(token int, _ []byte) {
			m := &marks[token]
			if m.since == 0 || w.at < m.since {
				m.since = w.at
			}
			for _, p := range places {
				m.steps[p.period][p.word] |= p.bit
			}
		})
		return true
	})
}

type place struct {
	period, word int
	bit          uint64
}
