//go:build faults && linux

package torture

import (
	"slices"
	"testing"
	"time"
)

func TestJudgeNumbers(t *testing.T) {
	for _, x := range []struct {
		rounds, only int
		want         []int
	}{{3, -1, []int{0, 1, 2}}, {6, 16, []int{16}}, {0, 0, []int{0}}, {0, -1, nil}} {
		if got := roundNumbers(x.rounds, x.only); !slices.Equal(got, x.want) {
			t.Errorf("%d rounds, %d alone: %v, want %v", x.rounds, x.only, got, x.want)
		}
	}
}

// TestJudgeRests checks that in peace a daemon is ended only if its clock leapt by days,
// and only after half of the time.
func TestJudgeRests(t *testing.T) {
	for _, x := range []struct {
		pid   int
		leapt []int
		left  time.Duration
		want  bool
	}{
		{7, []int{3, 7}, longestPeace / 3, true},
		{7, []int{3, 7}, longestPeace, false},
		{7, []int{3}, longestPeace / 3, false},
		{0, []int{0}, longestPeace / 3, false},
	} {
		if got := rests(x.pid, x.leapt, x.left); got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
	}
}
