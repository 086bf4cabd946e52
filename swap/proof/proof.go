// Package proof decides from chain evidence alone what became of an order. It does no I/O.
package proof

import (
	"maps"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/core/types"
)

// MatchAll assigns every pattern a log of its own and returns the logs' indexes, sorted.
// Where several patterns match the same log, one that has another choice gives way.
func MatchAll(patterns []swap.LogPattern, logs []*types.Log) (places []int, ok bool) {
	owner := make(map[int]int) // index of a log -> index of its pattern
	var assign func(i int, tried map[int]bool) bool
	assign = func(i int, tried map[int]bool) bool {
		for place, l := range logs {
			if tried[place] || !patterns[i].Matches(l) {
				continue
			}
			tried[place] = true
			if other, taken := owner[place]; !taken || assign(other, tried) {
				owner[place] = i
				return true
			}
		}
		return false
	}
	for i := range patterns {
		if !assign(i, map[int]bool{}) {
			return nil, false
		}
	}
	return slices.Sorted(maps.Keys(owner)), len(patterns) > 0
}
