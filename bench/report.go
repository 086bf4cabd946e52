package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is the result of one run.
type report struct {
	Source  source          `json:"source"`
	Machine machine         `json:"machine"`
	Began   time.Time       `json:"began"`
	Took    string          `json:"took"`
	Short   bool            `json:"short,omitempty"`
	Rows    []Row           `json:"rows"`
	Curves  []measuredCurve `json:"curves,omitempty"`
}

func (r report) unmeasured() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Verdict == unmeasured }) ||
		slices.ContainsFunc(r.Curves, func(c measuredCurve) bool { return c.Error != "" })
}

var columns = []string{"what", "ours (p95)", "peer (p95)", "limit (p95)", "ratio", "goal", ""}

// cells returns a row in these columns.
func (r Row) cells() []string {
	var peers []string
	for _, p := range r.Peers {
		peers = append(peers, r.beside(p))
	}
	limit, ratio := "", ""
	if r.Limit != nil {
		limit = r.beside(*r.Limit)
	}
	if r.Ratio != 0 {
		ratio = showRatio(r.Ratio) + r.times
	}
	cells := []string{r.What, r.shown(r.Ours), strings.Join(peers, "; "), limit, ratio, r.Goal}
	for i, c := range cells {
		if c == "" {
			cells[i] = "–"
		}
	}
	return append(cells, string(r.Verdict))
}

func (r Row) beside(s side) string { return s.Name + ": " + r.shown(s.figure) }

func (r Row) shown(f *figure) string {
	switch {
	case f == nil:
		return ""
	case f.Count == 1:
		return r.unit.show(f.Median)
	}
	return fmt.Sprintf("%s (%s)", r.unit.show(f.Median), r.unit.show(f.P95))
}

// showRatio gives two digits below a tenth, where two decimals would give one or none.
func showRatio(v float64) string {
	switch size := math.Abs(v); {
	case size < 0.1:
		return fmt.Sprintf("%.2g", v)
	case size < 100:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// print writes the table, and below it why rows have no figures.
func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%s; %s\n%s, took %s\n", r.Source, r.Machine, r.Began.Format(time.RFC3339), r.Took)
	if r.Short {
		fmt.Fprintln(w, shortly)
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprintln(table, strings.Join(row.cells(), "\t"))
	}
	_ = table.Flush()
	for _, why := range r.reasons() {
		fmt.Fprintf(w, "\n%s\n", why)
	}
}

// shortly is the note on the figures of a short run.
const shortly = "A short run: few samples, a history of 100 tokens instead of 1,000, no browsers. Its figures are for nothing but to see that everything is measured."

// reasons says why rows and curves have no figures, grouped by reason.
func (r report) reasons() (all []string) {
	var told []string
	without := map[string][]string{}
	tell := func(what, why string) {
		if why == "" {
			return
		}
		if without[why] == nil {
			told = append(told, why)
		}
		without[why] = append(without[why], what)
	}
	for _, row := range r.Rows {
		tell(row.What, row.Error)
	}
	for _, c := range r.Curves {
		tell(c.Title, c.Error)
	}
	for _, why := range told {
		all = append(all, strings.Join(without[why], "; ")+": "+why)
	}
	return all
}
