package swap

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestCovers checks that a pattern covers another if it matches all that the other does.
func TestCovers(t *testing.T) {
	base := func() LogPattern {
		return LogPattern{Address: fillsFor, Topics: []common.Hash{{1}, {2}}, Amount: common.Big2, AtLeast: true}
	}
	for name, tc := range map[string]struct {
		change func(p, q *LogPattern)
		want   bool
	}{
		"the same":        {func(p, q *LogPattern) {}, true},
		"of anybody":      {func(p, q *LogPattern) { p.Address = common.Address{} }, true},
		"of one":          {func(p, q *LogPattern) { q.Address = common.Address{} }, false},
		"any topic":       {func(p, q *LogPattern) { p.Topics[1] = common.Hash{} }, true},
		"one topic":       {func(p, q *LogPattern) { q.Topics[1] = common.Hash{} }, false},
		"fewer topics":    {func(p, q *LogPattern) { p.Topics = p.Topics[:1] }, false},
		"any amount":      {func(p, q *LogPattern) { p.Amount = nil }, true},
		"an amount":       {func(p, q *LogPattern) { q.Amount = nil }, false},
		"at least less":   {func(p, q *LogPattern) { p.Amount = common.Big1 }, true},
		"at least more":   {func(p, q *LogPattern) { p.Amount = common.Big3 }, false},
		"of exactly more": {func(p, q *LogPattern) { q.Amount, q.AtLeast = common.Big3, false }, true},
		"exactly":         {func(p, q *LogPattern) { p.AtLeast = false }, false},
		"exactly both":    {func(p, q *LogPattern) { p.AtLeast, q.AtLeast = false, false }, true},
		"exactly another": {func(p, q *LogPattern) { p.AtLeast, q.AtLeast, q.Amount = false, false, common.Big3 }, false},
	} {
		p, q := base(), base()
		tc.change(&p, &q)
		if got := p.covers(q); got != tc.want {
			t.Errorf("%s: covers = %t, want %t", name, got, tc.want)
		}
	}
}
