//go:build linux || darwin

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// causeOrder returns an order from USDC on Base to USDC on Arbitrum One, and a connection that
// knows both.
func causeOrder() (*daemonConn, protocol.Order) {
	l := &daemonConn{networks: map[uint64]protocol.Network{8453: {ChainID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18}, 42161: {ChainID: 42161, Name: "Arbitrum One", Symbol: "ETH", Decimals: 18}},
		tokens: map[tokenID]protocol.Token{{8453, usdcBase}: {Symbol: "USDC", Decimals: 6}, {42161, usdcOne}: {Symbol: "USDC.e", Decimals: 6}}}
	return l, protocol.Order{Terms: protocol.Terms{Provider: "bridge", SrcChainID: 8453, TokenIn: usdcBase, DstChainID: 42161, TokenOut: usdcOne}}
}

// TestEveryCauseHasWords checks that the terminal shows the message table's words for each
// cause of the wire, with its figures filled in, and the daemon's text for none.
func TestEveryCauseHasWords(t *testing.T) {
	l, o := causeOrder()
	details := map[string]string{
		"minOut": "595506904", "offered": "594000000", "spent": "7000001", "allowed": "8000001", "spender": string(usdcBase), "tx": "0x05", "chainId": "8453", "state": "filled",
		"condition": "cancelling", "block": "77", "step": "2", "tier": "fast", "previous": "1000000000000000", "ceiling": "2000000000000000",
	}
	i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == "ReasonCode" })
	baseUnits := regexp.MustCompile(`\b\d{7,}`)
	for _, word := range protocol.Vocabularies[i].Words {
		got := l.causeText(t.Context(), o, &protocol.Cause{Reason: word, Error: "would_revert", Details: details}, "")
		if got == "" || strings.Contains(got, "$") || baseUnits.MatchString(strings.ReplaceAll(got, string(usdcBase), "")) {
			t.Errorf("%s: %q", word, got)
		}
	}
}

func TestCauseText(t *testing.T) {
	l, o := causeOrder()
	amounts := map[string]string{"of": "tokenIn", "got": "5000000", "wanted": "6000000"}
	for name, c := range map[string]struct {
		cause *protocol.Cause
		want  string
	}{
		"an output":  {&protocol.Cause{Reason: "price_fell", Details: map[string]string{"minOut": "595506904", "offered": "594000000"}}, "The price fell: you accepted at least 595.506904 USDC.e, and the best offer guarantees 594 USDC.e."},
		"a coin":     {&protocol.Cause{Reason: "user_raised_ceiling", Details: map[string]string{"previous": "1000000000000000", "ceiling": "2000000000000000"}}, "You raised the fee limit from 0.001 ETH to 0.002 ETH."},
		"a provider": {&protocol.Cause{Reason: "provider_reported", Details: map[string]string{"state": "refunded"}}, "Relay reports: refunded."},
		"a refusal": {&protocol.Cause{Reason: "refused_unsigned", Error: "not_as_accepted", Details: amounts},
			"Swapkeep stopped: The provider changed something you accepted. The value is 5 USDC; expected 6 USDC. Swapkeep's note: “so it is”"},
		"a quotation":                {&protocol.Cause{Reason: "not_broadcast", QuotedText: "underpriced", QuotedFrom: "node"}, "No RPC endpoint accepted the transaction, so nothing was sent. RPC endpoint's message: “underpriced”"},
		"none":                       {nil, "so it is"},
		"a newer daemon's":           {&protocol.Cause{Reason: "too_wet"}, "so it is"},
		"a newer daemon's error":     {&protocol.Cause{Reason: "refused", Error: "too_wet"}, "so it is"},
		"a newer daemon's condition": {&protocol.Cause{Reason: "waiting", Details: map[string]string{"condition": "too_wet"}}, "so it is"},
		"a figure that is absent":    {&protocol.Cause{Reason: "price_fell", Details: map[string]string{"minOut": "5"}}, "so it is"},
		"a figure that is none":      {&protocol.Cause{Reason: "price_fell", Details: map[string]string{"minOut": "5", "offered": "much"}}, "so it is"},
	} {
		if got := l.causeText(t.Context(), o, c.cause, "so it is"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := l.historyText(t.Context(), o, protocol.Entry{Condition: "waiting_unlock", Cause: &protocol.Cause{Reason: "waiting", Details: map[string]string{"condition": "waiting_unlock"}}}); got != "Unlock to continue" {
		t.Errorf("a condition is said as %q", got)
	}
	if got := l.historyText(t.Context(), o, protocol.Entry{Condition: "cancelling", Note: "so it is"}); got != "so it is (Cancelling)" {
		t.Errorf("a note is said as %q", got)
	}
}

// TestEveryProofHasWords checks that the terminal says how an end was proven in the message
// table's words.
func TestEveryProofHasWords(t *testing.T) {
	_, o := causeOrder()
	i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == "ProvenBy" })
	for _, by := range protocol.Vocabularies[i].Words {
		o.Verdict = &protocol.Verdict{ProvenBy: by}
		if got := proofText(o); got == "" || got == by {
			t.Errorf("%s: %q", by, got)
		}
	}
	if o.Verdict.ProvenBy = "too_wet"; proofText(o) != "too_wet" {
		t.Error("a newer daemon's proof is not named by its code")
	}
}
