package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is one run.
type report struct {
	Machine machine   `json:"machine"`
	Began   time.Time `json:"began"`
	Took    string    `json:"took"`
	Rows    []Row     `json:"rows"`
}

func (r report) unmeasured() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Verdict == unmeasured })
}

// print writes the table, and below it why a row has no figures.
func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s, took %s\n\n", r.Machine, r.Began.Format(time.RFC3339), r.Took)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "what\tours (p95)\treference (p95)\tratio\tgoal\t")
	for _, row := range r.Rows {
		reference, ratio := row.shown(row.Reference), "–"
		if row.Against != "" {
			reference += ", " + row.Against
		}
		if row.Ratio != 0 {
			ratio = fmt.Sprintf("%.2f%s", row.Ratio, row.times)
		}
		fmt.Fprintln(table, strings.Join([]string{row.What, row.shown(row.Ours), reference, ratio, orDash(row.Goal), string(row.Verdict)}, "\t"))
	}
	_ = table.Flush()
	var told []string // rows may lack figures for the same reason
	for _, row := range r.Rows {
		if row.Error == "" || slices.Contains(told, row.Error) {
			continue
		}
		told = append(told, row.Error)
		var without []string
		for _, other := range r.Rows {
			if other.Error == row.Error {
				without = append(without, other.What)
			}
		}
		fmt.Fprintf(w, "\n%s: %s\n", strings.Join(without, "; "), row.Error)
	}
}

func (r Row) shown(f *figure) string {
	switch {
	case f == nil:
		return "–"
	case f.Count == 1:
		return r.unit.show(f.Median)
	}
	return fmt.Sprintf("%s (%s)", r.unit.show(f.Median), r.unit.show(f.P95))
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
