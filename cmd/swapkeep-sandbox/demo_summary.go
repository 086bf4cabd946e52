package main

import "fmt"

// summaryRows are the lines of the summary, a column to each swap: that way it
// stays narrow.
var summaryRows = []struct {
	head   string
	proven bool // known of filled swaps only
	cell   func(outcome) string
}{
	{"network", false, func(o outcome) string { return o.network }},
	{"pays", false, func(o outcome) string { return o.pays.text(o.plan.amount) }},
	{"got", true, func(o outcome) string { return o.gets.text(o.got) }},
	{"floor", true, func(o outcome) string { return o.gets.text(o.order.Terms.FloorOut.Int()) }},
	{"gas paid", true, func(o outcome) string { return o.pays.text(o.order.Verdict.Evidence.FeePaid.Int()) }},
	{"wallet fee", true, func(o outcome) string { return o.gets.orNone(o.fee) }},
	{"proof", true, func(o outcome) string {
		e := o.order.Verdict.Evidence
		return fmt.Sprintf("block %d, %d deep", e.Block, e.Depth)
	}},
	{"daemon", false, func(o outcome) string {
		if o.killed == 0 {
			return "-"
		}
		return "killed " + times(o.killed)
	}},
	{"time", true, func(o outcome) string { return seconds(o.took) }},
	{"end", false, outcome.end},
}

// conclude prints the summary and the last line, and reports whether every
// swap was filled.
func (s *show) conclude() bool {
	s.out.heading("Summary")
	if len(s.outcomes) > 0 {
		s.out.table(summary(s.outcomes))
		s.out.blank()
	}
	line, all := tally(len(s.swaps), s.outcomes)
	how := good
	if !all {
		how = bad
	}
	s.out.line(s.out.paint(how, line))
	return all
}

func summary(outcomes []outcome) [][]string {
	rows := [][]string{{""}}
	for i := range outcomes {
		rows[0] = append(rows[0], fmt.Sprintf("swap %d", i+1))
	}
	for _, r := range summaryRows {
		row := []string{r.head}
		for _, o := range outcomes {
			cell := "-"
			if !r.proven || o.end() == "filled" {
				cell = r.cell(o)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// end is filled or failed: what is not proven filled, and seen on the chain,
// is no success, whatever it is besides.
func (o outcome) end() string {
	if o.err == nil && o.order.State == "filled" {
		return "filled"
	}
	return "failed"
}

// tally is the last line. It is true when all the swaps of the story were filled.
func tally(planned int, outcomes []outcome) (string, bool) {
	filled := 0
	for _, o := range outcomes {
		if o.end() == "filled" {
			filled++
		}
	}
	line := fmt.Sprintf("demo: %d swaps, %d filled, %d failed", planned, filled, len(outcomes)-filled)
	if rest := planned - len(outcomes); rest > 0 {
		line += fmt.Sprintf(", %d not tried", rest)
	}
	return line, planned > 0 && filled == planned
}
