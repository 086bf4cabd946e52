//go:build faults && linux

package torture

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A report is what a round did, and what it found.
type report struct {
	number int
	seed   uint64 // of this round
	took   time.Duration

	tally    sync.Mutex
	counts   map[string]int
	findings []string
}

func newReport(n int) *report {
	return &report{number: n, seed: *seed ^ uint64(n)*0x9e3779b97f4a7c15, counts: map[string]int{}}
}

func (r *report) count(what string, n int) {
	r.tally.Lock()
	defer r.tally.Unlock()
	r.counts[what] += n
}

// find records a violation, each one once.
func (r *report) find(format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	r.tally.Lock()
	defer r.tally.Unlock()
	if slices.Contains(r.findings, said) {
		return
	}
	r.tell("FOUND %s", said)
	r.findings = append(r.findings, said)
}

func (r *report) tell(format string, args ...any) {
	if *verbose {
		fmt.Fprintf(os.Stderr, "%s round %d: %s\n", time.Now().Format("15:04:05.000"), r.number, fmt.Sprintf(format, args...))
	}
}

func (r *report) line() string {
	return fmt.Sprintf("round %d: %d swaps, %d kills, %d findings, %s", r.number, r.counts["swaps"], kills(r.counts), len(r.findings), r.took.Round(time.Second))
}

func total(all []*report, what string) (n int) {
	for _, r := range all {
		n += r.counts[what]
	}
	return n
}

// kills counts the kills of daemons and relays, at any time and at points.
func kills(counts map[string]int) int {
	return counts["harm: daemon killed"] + 2*counts["harm: daemon killed twice"] + counts["harm: relay killed"] + counts["daemon died at a point"]
}

// command returns the command that plays the rounds, or a single one, again.
func command() string {
	if *only >= 0 {
		return fmt.Sprintf("make torture SEED=%d ROUND=%d SWAPS=%d", *seed, *only, *swaps)
	}
	return fmt.Sprintf("make torture SEED=%d ROUNDS=%d SWAPS=%d", *seed, *rounds, *swaps)
}

// summary returns the table of all rounds, as printed in the docs.
func summary(all []*report, took time.Duration) string {
	sums, findings := map[string]int{}, 0
	for _, r := range all {
		findings += len(r.findings)
		for what, n := range r.counts {
			sums[what] += n
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| `%s` | |\n|---|---|\n", command())
	row := func(what string, figure any) { fmt.Fprintf(&b, "| %s | %v |\n", what, figure) }
	row("rounds", len(all))
	row("took", took.Round(time.Second))
	row("kills", kills(sums))
	row("findings", findings)
	for _, what := range slices.Sorted(maps.Keys(sums)) {
		row(what, sums[what])
	}
	return b.String()
}
