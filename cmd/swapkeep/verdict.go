package main

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// verdictFacts returns the proof of an order's final state.
func (l *daemonConn) verdictFacts(ctx context.Context, o protocol.Order) (facts [][2]string, err error) {
	v := o.Verdict
	if v == nil {
		return nil, nil
	}
	if v.Received != nil {
		got, err := l.receivedText(ctx, o)
		if err != nil {
			return nil, err
		}
		facts = append(facts, [2]string{"received", got})
	}
	if reason := l.reasonText(ctx, o); reason != "" && !provenSays(o) {
		facts = append(facts, [2]string{"reason", reason})
	}
	if fee := ownFee(o); fee != nil {
		facts = append(facts, [2]string{"network fee", native(l.networks[fee.ChainID]).Text(fee.FeePaid.Int())})
	}
	if how := proofText(o); how != "" {
		facts = append(facts, [2]string{"proven by", how})
	}
	for _, e := range []struct {
		name string
		of   *protocol.Evidence
	}{{"proof", v.Evidence}, {"deposit", v.Deposit}} {
		if e.of != nil {
			facts = append(facts, [2]string{e.name, l.evidenceText(*e.of)})
		}
	}
	if len(v.Logs) > 0 {
		facts = append(facts, [2]string{"counts", l.countsText(v.Logs)})
	}
	if a := v.Absence; a != nil {
		facts = append(facts, [2]string{"searched", fmt.Sprintf("%s, blocks %d to %d (%s), by %s: nothing", l.nameOf(a.ChainID), a.From, a.Through, moment(a.Time), strings.Join(a.Hosts, " and "))})
	}
	if v.Sources != "" {
		facts = append(facts, [2]string{"sources", messages.Source(v.Sources)})
	}
	if v.Receipt != "" {
		facts = append(facts, [2]string{"receipts", messages.Receipt(v.Receipt)})
	}
	return facts, nil
}

// provenSays reports whether the cause only repeats what proofText says.
func provenSays(o protocol.Order) bool {
	return o.Cause != nil && o.Verdict.ProvenBy != "" && slices.Contains([]string{"deadline_passed", "withdrawn", "nonce_used", "cancel_mined", "reverted"}, o.Cause.Reason)
}

// proofText says what proved an order's end; a code of a newer daemon is returned as it is.
func proofText(o protocol.Order) string {
	if words, ok := messages.ProvenBy(o.Verdict.ProvenBy, o.Cancelling, o.Terms.Provider); ok {
		return words
	}
	return o.Verdict.ProvenBy
}

// keptText says where the input of an ended order is, as far as it was not spent; "" if it was
// spent or refunded.
func (l *daemonConn) keptText(ctx context.Context, o protocol.Order) (string, error) {
	t := o.Terms
	amount, spent := t.AmountIn.Int(), (*big.Int)(nil)
	if o.Verdict != nil && o.Verdict.Spent != nil {
		spent = o.Verdict.Spent.Amount.Int()
	}
	partly := o.State == "filled" && spent != nil && amount != nil && spent.Cmp(amount) < 0
	if !partly && !slices.Contains([]string{"failed", "expired", "cancelled"}, o.State) {
		return "", nil
	}
	if t.Provider == walletOrders {
		text, _ := messages.Text("order_funds_allowance")
		return text, nil
	}
	token := t.TokenIn
	if partly {
		token = o.Verdict.Spent.Token // the wrapped coin of an input that was wrapped first
	}
	c, err := l.coin(ctx, t.SrcChainID, token)
	if err != nil {
		return "", err
	}
	key, values := "order_funds_kept", []string{c.Exact(amount), string(t.Account), l.nameOf(t.SrcChainID)}
	isolated, back := isolatedInput(o)
	switch {
	case partly:
		key, values = "order_partly", []string{c.Exact(spent), c.Exact(new(big.Int).Sub(amount, spent))}
	case o.Wrapped:
		key = "order_funds_wrapped"
	case isolated != "":
		key = isolated
		if back != nil {
			values[0] = c.Exact(back)
		}
	}
	text, _ := messages.Text(key, values...)
	return text, nil
}

// receivedText formats what arrived: for a refund, on the source chain.
func (l *daemonConn) receivedText(ctx context.Context, o protocol.Order) (string, error) {
	v, where, wanted := o.Verdict, o.Terms.DstChainID, "was enforced"
	if v.State == "refunded" {
		where, wanted = o.Terms.SrcChainID, "was agreed on"
	}
	c, err := l.coin(ctx, where, v.Received.Token)
	if err != nil {
		return "", err
	}
	got := c.Exact(v.Received.Amount.Int())
	if o.Terms.SrcChainID != o.Terms.DstChainID {
		got += " on " + l.nameOf(where)
	}
	if v.BelowMinimum {
		got += ", which is LESS than " + wanted
	}
	return got, nil
}

// ownFee returns the evidence of the account's own transaction that ended an order, or
// that was the order's deposit; nil if there is none.
func ownFee(o protocol.Order) *protocol.Evidence {
	own := func(e *protocol.Evidence) bool {
		return e != nil && slices.ContainsFunc(o.Steps, func(s protocol.Step) bool { return s.Tx == e.Tx })
	}
	switch v := o.Verdict; {
	case own(v.Deposit):
		return v.Deposit
	case v.Evidence != nil && (own(v.Evidence) || v.Evidence.From == "" || v.Evidence.From == o.Terms.Account):
		return v.Evidence
	}
	return nil
}

func (l *daemonConn) evidenceText(e protocol.Evidence) string {
	return fmt.Sprintf("%s, block %d, %d deep", l.link(e.ChainID, e.Tx), e.Block, e.Depth)
}

// countsText describes which part of the evidence counts for the order.
func (l *daemonConn) countsText(logs []protocol.LogRef) string {
	var parts []string
	for _, log := range logs {
		switch {
		case log.BalanceIncrease:
			parts = append(parts, "what its block added to the balance")
		case log.LogIndex < 0:
			parts = append(parts, "the "+cmp.Or(native(l.networks[log.ChainID]).Symbol, "coin")+" sent with it")
		default:
			parts = append(parts, fmt.Sprintf("log %d of it", log.LogIndex+1))
		}
	}
	return strings.Join(parts, ", ") + ", for this order only"
}

// candidateText describes a payment that may be the expected one or belong to another order.
func (l *daemonConn) candidateText(ctx context.Context, s protocol.CandidatePayment) (string, error) {
	c, err := l.coin(ctx, s.ChainID, s.Token)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s on %s, from %s", c.Exact(s.Amount.Int()), l.nameOf(s.ChainID), s.From)
	if !s.Time.IsZero() {
		text += ", " + moment(s.Time)
	}
	if s.End == "refunded" {
		text += ", as the refund would be"
	}
	return text + ", transaction " + l.link(s.ChainID, s.Tx), nil
}

// claimText formats a provider's claim, which proves nothing.
func claimText(c protocol.Claim, provider string) string {
	text, ok := messages.Text("order_claim_"+c.State, messages.Brand(provider))
	if !ok { // a newer daemon's state
		text = c.State
	}
	if said := strings.Join(slices.DeleteFunc([]string{c.ProviderStatus, c.Reason}, func(s string) bool { return s == "" }), ": "); said != "" {
		text += quoted("order_said_provider", said)
	}
	if c.Tx != "" {
		text += " Transaction " + string(c.Tx)
	}
	return strings.TrimSpace(text)
}
