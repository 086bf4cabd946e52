package main

import (
	"fmt"
	"math/big"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
)

// summaryRows are the rows of the summary, which has a column per swap to stay narrow.
var summaryRows = []struct {
	head   string
	proven bool // known only for swaps that ended as planned
	cell   func(outcome) string
}{
	{"by", false, func(o outcome) string { return o.plan.way }},
	{"from", false, func(o outcome) string { return o.ledger.chain.Network.Name }},
	{"to", false, func(o outcome) string { return o.ledger.destination.Network.Name }},
	{"pays", false, func(o outcome) string { return o.ledger.pays.brief(o.plan.amount) }},
	{"minimum", true, func(o outcome) string { return o.ledger.gets.brief(o.floor) }},
	{"got", true, outcome.got},
	{"network fee", true, func(o outcome) string { return o.ledger.native.Text(o.audit.gas) }},
	{"wallet fee", true, outcome.fee},
	{"proven by", true, func(o outcome) string { return strings.ReplaceAll(o.order.Verdict.By, "_", " ") }},
	{"provider", true, func(o outcome) string { return count(len(o.audit.providerOrders), "order") }},
	{"approval", true, outcome.approval},
	{"daemon", false, func(o outcome) string {
		if o.killed == 0 {
			return "-"
		}
		return "killed " + times(o.killed)
	}},
	{"time", true, func(o outcome) string { return seconds(o.duration) }},
	{"end", false, outcome.end},
}

// got returns what arrived: the output, or the input for a refund.
func (o outcome) got() string {
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

// approval says how much of the approvals the swap left.
func (o outcome) approval() string {
	if len(o.audit.left) == 0 {
		return "-"
	}
	left := new(big.Int)
	for _, g := range o.audit.left {
		left.Add(left, g.left)
	}
	return "exact, " + amount.Decimal(left, o.ledger.pays.Decimals, briefPlaces) + " left"
}

// conclude prints the summary and the tally. It reports whether every swap ended as
// planned and the hostile answer was refused.
func (s *demoRun) conclude() bool {
	s.out.Heading("Summary")
	if len(s.outcomes) > 0 {
		s.out.Grid(summary(s.outcomes))
		s.out.Blank()
	}
	line, all := tally(s.swaps, s.outcomes)
	if all && !s.hostileRefused {
		line, all = line+", a hostile answer not refused", false
	}
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
			if o.ledger != nil && (!r.proven || o.ended()) || r.head == "end" {
				cell = r.cell(o)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// end returns the planned state, "interrupted" or "failed". A swap whose planned end is
// not proven and confirmed on the chain is no success, whatever else happened.
func (o outcome) end() string {
	switch {
	case o.ended():
		return o.plan.end
	case o.interrupted:
		return "interrupted"
	}
	return "failed"
}

// ended reports whether the swap ended as planned.
func (o outcome) ended() bool { return o.err == nil && o.order.State == o.plan.end }

// tally returns the last line of the demo, and whether all swaps ended as planned.
func tally(plans []plan, outcomes []outcome) (string, bool) {
	ends := map[string]int{}
	for _, o := range outcomes {
		ends[o.end()]++
	}
	line := fmt.Sprintf("demo: %d swaps, %d filled, %d refunded, %d failed", len(plans), ends[filled], ends[refunded], ends["failed"])
	if n := ends["interrupted"]; n > 0 {
		line += fmt.Sprintf(", %d interrupted", n)
	}
	rest := len(plans) - len(outcomes)
	if rest > 0 {
		line += fmt.Sprintf(", %d not tried", rest)
	}
	return line, len(plans) > 0 && rest == 0 && ends["failed"]+ends["interrupted"] == 0
}
