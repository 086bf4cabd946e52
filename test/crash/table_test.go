//go:build faults && linux

package crash

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// A resultTable is the table of a matrix: a row for each kill, then one for each flow.
type resultTable struct {
	mu   sync.Mutex
	rows []row
}

type row struct {
	kill
	way, outcome string
	took         time.Duration
}

const failed = "FAILED"

// note runs a case and adds its row, also if it fails.
func (b *resultTable) note(t *testing.T, k kill, way string, run func() string) {
	began, outcome := time.Now(), failed
	defer func() {
		if t.Failed() {
			outcome = failed
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rows = append(b.rows, row{k, way, outcome, time.Since(began)})
	}()
	outcome = run()
}

func (b *resultTable) String() string {
	slices.SortFunc(b.rows, func(x, y row) int {
		return cmp.Or(strings.Compare(x.flow.name, y.flow.name), strings.Compare(x.point, y.point), cmp.Compare(x.hit, y.hit), strings.Compare(x.way, y.way))
	})
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "flow\tpoint\thit\ton disk\tback\toutcome\tseconds")
	for _, r := range b.rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%.1f\n", r.flow.name, r.point, r.hit, r.when, r.way, r.outcome, r.took.Seconds())
	}
	_ = w.Flush()
	text.WriteByte('\n')
	b.summary(&text)
	return text.String()
}

// summary counts by flow. Points are counted by name; a point that is passed more than once
// may be killed at several hits.
func (b *resultTable) summary(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "flow\tpoints\tkills\tfailed\tseconds")
	var flows []string
	for _, r := range b.rows {
		flows = append(flows, r.flow.name)
	}
	for _, name := range append(slices.Compact(flows), "") { // "": all
		points, kills, bad, took := map[string]bool{}, 0, 0, time.Duration(0)
		for _, r := range b.rows {
			if name != "" && r.flow.name != name {
				continue
			}
			points[r.point] = true
			kills++
			took += r.took
			if r.outcome == failed {
				bad++
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f\n", cmp.Or(name, "all"), len(points), kills, bad, took.Seconds())
	}
	_ = w.Flush()
}

// count returns how many rows have this outcome.
func (b *resultTable) count(outcome string) (n int) {
	for _, r := range b.rows {
		if r.outcome == outcome {
			n++
		}
	}
	return n
}
