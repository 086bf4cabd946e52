package series

import (
	"math/bits"
	"time"

	"swapkeep/priceapi/price"
)

// periods, and room for a bit of each step of the one that has the most.
var periods = price.Periods()

const stepWords = 6

// A coverage marks the steps of the periods' charts that a token has something of.
type coverage struct {
	since int64 // 0 = nothing
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

// cover marks what the rows of a ring have. A step of a chart is there when any row
// of it is, of the chart's own resolution or a finer one.
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

// A place is that of a step's bit.
type place struct {
	period, word int
	bit          uint64
}
