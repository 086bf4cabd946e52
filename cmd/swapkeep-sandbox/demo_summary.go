package main

import (
	"fmt"
	"slices"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
)

// summaryRows are the lines of the summary, a column to each swap: that way it
// stays narrow.
var summaryRows = []struct {
	head   string
	proven bool // known of filled swaps only
	cell   func(outcome) string
}{
	{"network", false, func(o outcome) string { return o.network }},
	{"pays", false, func(o outcome) string { return o.pays.brief(o.plan.amount) }},
	{"got", true, func(o outcome) string { return o.gets.brief(o.audit.got) }},
	{"floor", true, func(o outcome) string { return o.gets.brief(o.floor) }},
	{"gas paid", true, func(o outcome) string { return o.native.Text(o.audit.gas) }},
	{"wallet fee", true, func(o outcome) string { return o.gets.brief(o.audit.fee) }},
	{"block", true, func(o outcome) string {
		mined := o.audit.mined()
		return fmt.Sprintf("%d, %d deep", mined[len(mined)-1].receipt.BlockNumber, o.audit.deep)
	}},
	{"approval", true, outcome.approval},
	{"speed-up", true, outcome.speedup},
	{"daemon", false, func(o outcome) string {
		if o.killed == 0 {
			return "-"
		}
		return "killed " + times(o.killed)
	}},
	{"time", true, func(o outcome) string { return seconds(o.took) }},
	{"end", false, outcome.end},
}

// approval says what the swap's approval left.
func (o outcome) approval() string {
	if !slices.ContainsFunc(o.audit.mined(), func(tx *signed) bool { return tx.what() == approval }) {
		return "-"
	}
	return "exact, " + amount.Decimal(o.audit.left.allowance, o.pays.Decimals, briefPlaces) + " left"
}

// speedup says what tip was offered first, and what got the swap into a block.
func (o outcome) speedup() string {
	if o.plan.bumps == 0 {
		return "-"
	}
	first, last := o.audit.signed[0], o.audit.signed[len(o.audit.signed)-1]
	return "tip " + amount.Decimal(first.GasTipCap(), 9, 1) + " -> " + gwei(last.GasTipCap())
}

// conclude prints the summary and the last line, and reports whether every
// swap was filled.
func (s *show) conclude() bool {
	s.out.Heading("Summary")
	if len(s.outcomes) > 0 {
		s.out.Grid(summary(s.outcomes))
		s.out.Blank()
	}
	line, all := tally(len(s.swaps), s.outcomes)
	how := screen.Good
	if !all {
		how = screen.Bad
	}
	s.out.Painted(how, line)
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
