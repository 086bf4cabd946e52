package main

import (
	"context"
	"slices"
	"strings"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// likelyPaid is the condition of an order whose output was received, as its provider reports.
const likelyPaid = "likely_paid"

// printOpenOrder prints the state of an order that has not ended.
func (l *daemonConn) printOpenOrder(ctx context.Context, o protocol.Order) error {
	facts := [][2]string{{"order", o.ID}}
	if o.CandidatePayment != nil {
		text, err := l.candidateText(ctx, *o.CandidatePayment)
		if err != nil {
			return err
		}
		facts = append(facts, [2]string{"seen", text})
	}
	if reason := l.reasonText(ctx, o); reason != "" {
		facts = append(facts, [2]string{"reason", reason})
	}
	out := l.t.result
	if o.Condition == likelyPaid {
		text, _ := messages.Text("order_likely_title", messages.Brand(o.Terms.Provider))
		out.Paragraph(screen.Good, text)
	} else {
		out.Paragraph(screen.Plain, waitingText(o))
	}
	if help := conditionHelp(o); help != "" {
		out.Paragraph(screen.Warn, help)
	}
	out.Facts(append(facts, l.reportedFacts(o)...))
	return nil
}

// printClosedOrder prints an order that is waited for no longer, with what was known when it was
// closed.
func (l *daemonConn) printClosedOrder(ctx context.Context, o protocol.Order) error {
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	c := o.Closing
	if c == nil {
		return l.printOpenOrder(ctx, o)
	}
	happened, _ := messages.Text("order_closed_"+c.By, clockTime(c.At))
	watched := "order_closed_unwatched"
	if c.Watched {
		watched = "order_closed_watched"
	}
	next, _ := messages.Text(watched)
	todo, _ := messages.Text("order_closed_do", l.settledBy(o), l.nameOf(o.Terms.DstChainID))
	if !handedOver(o) {
		todo, _ = messages.Text("order_closed_ended_do", l.nameOf(o.Terms.SrcChainID))
	}
	facts := [][2]string{{"order", o.ID}, {"closed", happened}, {"provider", l.claimText(o, c.Claim)}}
	if c.CandidatePayment != nil {
		text, err := l.candidateText(ctx, *c.CandidatePayment)
		if err != nil {
			return err
		}
		facts = append(facts, [2]string{"seen", text})
	}
	if tx := sentBy(o); tx != "" {
		facts = append(facts, [2]string{"deposit", l.link(o.Terms.SrcChainID, tx)})
	}
	l.t.result.Painted(screen.States[shownState(o)], stateText(o))
	l.t.result.Facts(append(facts, [2]string{"next", next}, [2]string{"to do", todo}))
	return nil
}

// handedOver reports whether others have the order's input. One that has not got so far is closed
// only where its network was shut down.
func handedOver(o protocol.Order) bool {
	return lastEffect(o.Steps).Kind != "order" && !slices.ContainsFunc(o.Steps, func(s protocol.Step) bool { return !s.Done })
}

// claimText says what a provider reported.
func (l *daemonConn) claimText(o protocol.Order, c *protocol.Claim) string {
	key := "order_claim_nothing"
	if c != nil {
		key = "order_claim_" + c.State
	}
	text, _ := messages.Text(key, messages.Brand(o.Terms.Provider))
	return text
}

// settledBy names who has the input of an order that others settle.
func (l *daemonConn) settledBy(o protocol.Order) string {
	if trusted := lastEffect(o.Steps).TrustedTo; trusted != "" {
		return messages.Trusted(trusted)
	}
	return messages.Brand(o.Terms.Provider)
}

// unprovenMessages has, for each condition of an order whose end is reported or seen but not
// proven, the start of its messages' keys, and the networks that they name.
var unprovenMessages = map[string]struct {
	key    string
	chains func(protocol.Order) []uint64
}{
	"awaiting_refund": {"order_refund", func(o protocol.Order) []uint64 { return []uint64{o.Terms.SrcChainID, o.Terms.DstChainID} }},
	"awaiting_proof":  {"order_unproven", func(o protocol.Order) []uint64 { return []uint64{o.Terms.DstChainID} }},
	"amount_unclear":  {"order_unclear", func(o protocol.Order) []uint64 { return []uint64{o.Terms.SrcChainID} }},
	"payment_seen":    {"order_seen", chainOfCandidate},
	likelyPaid:        {"order_likely", chainOfCandidate},
}

func chainOfCandidate(o protocol.Order) []uint64 {
	if o.CandidatePayment != nil {
		return []uint64{o.CandidatePayment.ChainID}
	}
	return []uint64{o.Terms.DstChainID}
}

// reportedFacts says of an end that is not proven what is missing, what happens next, and what
// the user can do.
func (l *daemonConn) reportedFacts(o protocol.Order) (facts [][2]string) {
	m, ok := unprovenMessages[o.Condition]
	if !o.Reported || !ok {
		return nil
	}
	var names []string
	for _, chain := range slices.Compact(m.chains(o)) {
		names = append(names, l.nameOf(chain))
	}
	where, who := strings.Join(names, " and "), l.settledBy(o)
	for _, f := range [][3]string{{"not proven", m.key + "_unproven", where}, {"next", "order_told_next_text", where}, {"to do", m.key + "_do", who}} {
		text, _ := messages.Text(f[1], f[2])
		facts = append(facts, [2]string{f[0], text})
	}
	return facts
}
