package main

import (
	"fmt"
	"math/big"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
)

// summaryRows are the rows of the summary. Each swap has a column, which keeps the table
// narrow.
var summaryRows = []struct {
	head string
	show func(outcome) bool // whether the cell is filled in
	cell func(outcome) string
}{
	{"route", outcome.started, func(o outcome) string { return o.plan.way }},
	{"from", outcome.started, func(o outcome) string { return o.ledger.chain.Network.Name }},
	{"to", outcome.started, func(o outcome) string { return o.ledger.destination.Network.Name }},
	{"pays", outcome.started, func(o outcome) string { return o.ledger.pays.brief(o.plan.amount) }},
	{"minimum", outcome.audited, func(o outcome) string { return o.ledger.gets.brief(o.floor) }},
	{"received", outcome.audited, outcome.received},
	{"network fee", outcome.audited, func(o outcome) string { return o.ledger.native.Text(o.audit.gas) }},
	{"wallet fee", outcome.audited, outcome.fee},
	{"proven by", outcome.audited, func(o outcome) string {
		if o.plan.end == likely {
			return "not linked"
		}
		return strings.ReplaceAll(o.order.Verdict.ProvenBy, "_", " ")
	}},
	{"provider", outcome.audited, func(o outcome) string { return count(len(o.audit.providerOrders), "order") }},
	{"approval", outcome.audited, outcome.approval},
	{"daemon", outcome.started, func(o outcome) string {
		if o.killed == 0 {
			return "-"
		}
		return "killed " + times(o.killed)
	}},
	{"time", outcome.audited, func(o outcome) string { return seconds(o.duration) }},
	{"result", func(outcome) bool { return true }, func(o outcome) string {
		if r := o.result(); r != likely {
			return r
		}
		return "as reported"
	}},
}

// received returns the amount that arrived: the output, or the input for a refund.
func (o outcome) received() string {
	if o.plan.end == refunded {
		return o.ledger.pays.brief(o.audit.back) + " refunded"
	}
	return o.ledger.gets.brief(o.audit.got)
}

// fee returns the wallet's fee as paid on the chain. If none was paid there, it returns
// the review's fee basis.
func (o outcome) fee() string {
	switch {
	case o.plan.end == refunded:
		return "-"
	case o.audit.fee.Sign() != 0:
		return o.ledger.gets.brief(o.audit.fee)
	}
	return o.ledger.review.FeeBasis
}

// approval returns how much of the approved amount the swap did not use.
func (o outcome) approval() string {
	if len(o.audit.left) == 0 {
		return "-"
	}
	unused := new(big.Int)
	for _, g := range o.audit.left {
		unused.Add(unused, g.left)
	}
	return "exact, " + amount.Decimal(unused, o.ledger.pays.Decimals, briefPlaces) + " left"
}

// conclude prints the summary and the tally. It reports whether every swap ended as
// planned and the hostile answer was refused.
func (s *demoRun) conclude() bool {
	s.out.Heading("Summary")
	if len(s.outcomes) > 0 {
		s.out.Grid(summary(s.outcomes))
		s.out.Blank()
	}
	line, ok := tally(s.swaps, s.outcomes)
	if ok && !s.hostileRefused {
		line, ok = line+", the hostile answer was not refused", false
	}
	style := screen.Good
	if !ok {
		style = screen.Bad
	}
	s.out.Painted(style, line)
	return ok
}

// summary returns the cells of the summary: a row of headings, then the summaryRows. A value
// that is unknown is "-".
func summary(outcomes []outcome) [][]string {
	rows := [][]string{{""}}
	for i := range outcomes {
		rows[0] = append(rows[0], fmt.Sprintf("swap %d", i+1))
	}
	for _, r := range summaryRows {
		row := []string{r.head}
		for _, o := range outcomes {
			cell := "-"
			if r.show(o) {
				cell = r.cell(o)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// result returns the planned state if the swap ended in it, otherwise "interrupted" or
// "failed".
func (o outcome) result() string {
	switch {
	case o.endedAsPlanned():
		return o.plan.end
	case o.interrupted:
		return "interrupted"
	}
	return "failed"
}

// started reports whether the swap could start.
func (o outcome) started() bool { return o.ledger != nil }

// endedAsPlanned reports whether the swap reached its planned state and the chain confirms
// it.
func (o outcome) endedAsPlanned() bool { return o.err == nil && endOf(o.order) == o.plan.end }

// audited reports whether the values that are read from the chain at a planned end are
// known.
func (o outcome) audited() bool { return o.started() && o.endedAsPlanned() }

// tally returns the last line of the demo, and whether all planned swaps were run and ended
// as planned.
func tally(plans []plan, outcomes []outcome) (string, bool) {
	results := map[string]int{}
	for _, o := range outcomes {
		results[o.result()]++
	}
	line := fmt.Sprintf("demo: %d swaps, %d filled, %d refunded, %d failed", len(plans), results[filled], results[refunded], results["failed"])
	if n := results[likely]; n > 0 {
		line += fmt.Sprintf(", %d received as reported", n)
	}
	if n := results["interrupted"]; n > 0 {
		line += fmt.Sprintf(", %d interrupted", n)
	}
	untried := len(plans) - len(outcomes)
	if untried > 0 {
		line += fmt.Sprintf(", %d not tried", untried)
	}
	return line, len(plans) > 0 && untried == 0 && results["failed"]+results["interrupted"] == 0
}
