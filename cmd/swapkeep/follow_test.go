//go:build linux || darwin

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

const (
	usdcBase    = protocol.Address("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	usdcOne     = protocol.Address("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	thePayer    = protocol.Address("0x14dC79964da2C08b23698B3D3cc7Ca32193d9955")
	payment     = protocol.Hash("0x0d8cc9e8620e16efc7e5ff0275e87b86b767973b3520cec13bf18b4f18e01399")
	transferSee = "payment_seen"
)

// reportedOrder returns an order that has had a condition for that long, by its history.
func reportedOrder(condition string, ago ...time.Duration) (r orderDetails) {
	r.Order.value = protocol.Order{ID: "1", State: "settling", Condition: condition, Reported: condition != "",
		Claim: &protocol.Claim{State: "filled", Tx: payment}, Terms: protocol.Terms{SrcChainID: 8453, DstChainID: 1}}
	r.History = []protocol.Entry{{Time: time.Now().Add(-time.Hour), Condition: "awaiting_proof"}, {Time: time.Now().Add(-time.Hour)}}
	for _, d := range ago {
		r.History = append(r.History, protocol.Entry{Time: time.Now().Add(-d), Condition: condition})
	}
	return r
}

// TestPatience: waiting stops at once if the payment that the provider names was seen and
// proves nothing, otherwise after a while.
func TestPatience(t *testing.T) {
	untold, unread, signed, unclear := reportedOrder("amount_unclear", 0), reportedOrder("", 0), reportedOrder("", 0), reportedOrder("amount_unclear", 0)
	untold.Order.value.Claim, unclear.Order.value.Claim = nil, &protocol.Claim{State: "settling"}
	signed.Order.value.Steps = []protocol.Step{{Effect: protocol.Effect{Kind: "order"}}}
	back := reportedOrder("awaiting_proof", -time.Hour)
	long := follower{reported: time.Now().Add(-proofWait), ended: time.Now().Add(-longProofWait)}
	named, other := reportedOrder(transferSee, 0), reportedOrder(transferSee, 0)
	named.Order.value.CandidatePayment, other.Order.value.CandidatePayment = &protocol.CandidatePayment{Tx: payment}, &protocol.CandidatePayment{Tx: "0x02"}
	beyond, returned := reportedOrder("awaiting_proof", 0), reportedOrder("provider says refunded, watching for proof", 0)
	beyond.Order.value.Terms.DstChainID, returned.Order.value.Terms.DstChainID = 137, 137
	returned.Order.value.Claim = &protocol.Claim{State: "refunded"}
	for name, c := range map[string]struct {
		r    orderDetails
		want bool
		f    follower
	}{
		"filled on a far network":         {beyond, false, follower{}},
		"refunded where somebody does":    {returned, false, follower{}},
		"nothing is told":                 {reportedOrder("", time.Hour), false, follower{}},
		"just told":                       {reportedOrder("awaiting_proof", 0), false, follower{}},
		"told, and no history of it":      {reportedOrder("awaiting_refund"), false, follower{}},
		"told for a while":                {reportedOrder("awaiting_refund", proofWait+time.Second, 0), true, follower{}},
		"told otherwise before":           {reportedOrder(transferSee, proofWait-time.Second), false, follower{}},
		"the named payment is seen":       {named, true, follower{}},
		"another payment is seen, so far": {other, false, follower{}},
		"nobody has told anything":        {untold, true, follower{}},
		"told no end":                     {unclear, true, follower{}},
		"a clock was set back":            {back, false, follower{reported: time.Now()}},
		"and that is long ago":            {back, true, long},
		"nodes say nothing":               {unread, false, follower{ended: time.Now()}},
		"nor for long":                    {unread, true, long},
		"a deposit may never end":         {unread, true, follower{ended: trackSince(long.ended, mayNeverEnd(unread.Order.value))}},
		"a signed order ends by itself":   {signed, false, follower{ended: trackSince(long.ended, mayNeverEnd(signed.Order.value))}},
	} {
		c.f.daemonConn = &daemonConn{networks: map[uint64]protocol.Network{1: {ChainID: 1}, 8453: {ChainID: 8453}}}
		if c.f.proofOverdue(c.r) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}

// TestFollowEndsWithTheReport: no command waits forever for the proof of a reported end.
func TestFollowEndsWithTheReport(t *testing.T) {
	for _, condition := range []string{"awaiting_proof", "awaiting_refund", "amount_unclear", transferSee} {
		for _, asJSON := range []bool{false, true} {
			r := reportedOrder(condition, proofWait+time.Second)
			told, o := r.Order.value, needy("note")
			o.Proposal, o.State, o.Condition, o.Reported, o.Claim, o.Reason = nil, told.State, condition, true, told.Claim, "look at transaction 0x05"
			d := deskFor(o)
			d.answers["swap.order"] = protocol.OrderResult{Order: o, History: r.History}
			l, out := d.at(t)
			l.t.json = asJSON
			err := l.follow(t.Context(), o.ID, "filled", -1)
			if !errors.Is(err, errReported) || exitOf(err) != exitReported || !strings.Contains(err.Error(), messages.Condition(condition)) {
				t.Errorf("%s: %v", condition, err)
			}
			text := strings.Join(strings.Fields(out.String()), " ")
			wants := []string{"(" + messages.Condition(condition) + ")", "not proven ", "next Swapkeep keeps checking", "to do ", "reason look at transaction 0x05"}
			if asJSON {
				wants = []string{`"reported":true`}
			}
			for _, want := range wants {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in %s", condition, want, text)
				}
			}
			if strings.Contains(text, "is waited for here") {
				t.Errorf("%s: %s", condition, text)
			}
		}
	}
}

// shown returns the output of swapkeep orders show.
func shown(t *testing.T, o protocol.Order) string {
	t.Helper()
	on, out := onPaper()
	l := &daemonConn{t: on, networks: map[uint64]protocol.Network{
		8453: {ChainID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18, Explorer: "https://basescan.org"}, 42161: {ChainID: 42161, Name: "Arbitrum One", Symbol: "ETH", Decimals: 18}},
		tokens: map[tokenID]protocol.Token{{8453, usdcBase}: {Symbol: "USDC", Decimals: 6}, {42161, usdcOne}: {Symbol: "USDC", Decimals: 6}, {8453, thePayer}: {Symbol: "WETH", Decimals: 18}, {8453, protocol.Native}: {Symbol: "ETH", Decimals: 18}}}
	if err := l.printOrder(t.Context(), protocol.OrderResult{Order: o}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestOrderIsShownWhole: what orders show prints about an order that others settle.
func TestOrderIsShownWhole(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	o := reportedOrder(transferSee).Order.value
	o.ProviderOrderID, o.Reason = "0xtheirs", "look at transaction 0x05 of chain 8453"
	o.CandidatePayment = &protocol.CandidatePayment{End: "filled", ChainID: 42161, Tx: payment, Token: usdcOne, Amount: "24900000", From: thePayer, Time: at}
	o.Submission = &protocol.Submitted{First: at, Last: at.Add(time.Minute), Tries: 3, Accepted: true}
	o.Terms = protocol.Terms{Provider: "intent", Account: "0xme", SrcChainID: 8453, TokenIn: usdcBase, AmountIn: "25000000", DstChainID: 42161, TokenOut: usdcOne, Recipient: "0xme", MinimumReceived: "24800000", RefundTo: "0xother", GasCeiling: "1"}
	o.Steps = []protocol.Step{{Kind: "call", Effect: protocol.Effect{Kind: "opaque", TrustedTo: "the filler"}}}
	wants := func(o protocol.Order, all ...string) {
		t.Helper()
		text := shown(t, o)
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	wants(o, "Awaiting settlement (Payment seen, not yet confirmed)", "not proven Whether the transfer on Arbitrum One belongs to this order", "next Swapkeep keeps checking Arbitrum One", "to do Check the receiving account.",
		"seen 24.9 USDC on Arbitrum One, from "+string(thePayer)+", 2026-11-20 12:00, transaction "+string(payment), "reason look at transaction 0x05 of chain 8453",
		"refund 25 USDC to 0xother, if not filled", "provider's id 0xtheirs", "submitted 3 times, from 2026-11-20 12:00 to 2026-11-20 12:01; the provider has the order",
		"claim Hyperstream reports: completed. Transaction "+string(payment))
	o.CandidatePayment.End, o.CandidatePayment.ChainID, o.CandidatePayment.Token = "refunded", 8453, usdcBase
	o.Terms.Refund, o.Terms.Wrap = &protocol.Spend{Token: usdcBase, Amount: "24000000"}, thePayer
	o.Submission = &protocol.Submitted{First: at, Last: at, Tries: 1}
	wants(o, "as the refund would be, transaction https://basescan.org/tx/0x0d8c", "refund minimum 24 USDC to 0xother", "wraps ETH into WETH ("+string(thePayer)+"): not done", "submitted 2026-11-20 12:00; unknown whether the provider has the order")
	o.Wrapped, o.Submission.Refused = true, true
	wants(o, ": done", "may still be valid")

	own := protocol.Order{State: "executing", Condition: "waiting_unlock", Terms: o.Terms}
	own.Terms.Refund, own.Terms.Wrap = nil, ""
	wants(own, "swapkeep keys unlock", "refund to 0xother")
	own.Terms.RefundTo = "0xme"
	if text := shown(t, own); strings.Contains(text, "refund") || strings.Contains(text, "goes on") || strings.Contains(text, "reports") {
		t.Errorf("%s", text)
	}
}
