//go:build linux || darwin

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// causeOrder returns an order from USDC on Base to USDC on Arbitrum One, and a connection that
// knows both.
func causeOrder() (*daemonConn, protocol.Order) {
	l := &daemonConn{networks: map[uint64]protocol.Network{8453: {ChainID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18}, 42161: {ChainID: 42161, Name: "Arbitrum One", Symbol: "ETH", Decimals: 18}},
		tokens: map[tokenID]protocol.Token{{8453, usdcBase}: {Symbol: "USDC", Decimals: 6}, {8453, protocol.Native}: {Symbol: "ETH", Decimals: 18}, {42161, usdcOne}: {Symbol: "USDC.e", Decimals: 6}}}
	return l, protocol.Order{Terms: protocol.Terms{Provider: "bridge", SrcChainID: 8453, TokenIn: usdcBase, DstChainID: 42161, TokenOut: usdcOne}}
}

// TestEveryCauseHasWords checks that the terminal shows the message table's words for each
// cause of the wire, with its figures filled in, and the daemon's text for none.
func TestEveryCauseHasWords(t *testing.T) {
	l, o := causeOrder()
	details := map[string]string{
		"minOut": "595506904", "offered": "594000000", "spent": "7000001", "allowed": "8000001", "spender": string(usdcBase), "tx": "0x05", "chainId": "8453", "state": "filled",
		"condition": "cancelling", "block": "77", "hosts": "a.example, b.example", "step": "2", "tier": "fast", "previous": "1000000000000000", "ceiling": "2000000000000000", "token": string(usdcBase), "amount": "7000001",
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
		"an output":            {&protocol.Cause{Reason: "price_fell", Details: map[string]string{"minOut": "595506904", "offered": "594000000"}}, "The price fell: you accepted at least 595.506904 USDC.e, and the best offer guarantees 594 USDC.e."},
		"a coin":               {&protocol.Cause{Reason: "user_raised_ceiling", Details: map[string]string{"previous": "1000000000000000", "ceiling": "2000000000000000"}}, "You raised the fee limit from 0.001 ETH to 0.002 ETH."},
		"a provider":           {&protocol.Cause{Reason: "provider_reported", Details: map[string]string{"state": "refunded"}}, "Relay reports: refunded."},
		"a token of its own":   {&protocol.Cause{Reason: "returned", Details: map[string]string{"token": string(protocol.Native), "amount": "900000000000000"}}, "0.0009 ETH came back from the throwaway account."},
		"a token that is none": {&protocol.Cause{Reason: "returned", Details: map[string]string{"token": "much", "amount": "5"}}, "so it is"},
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

// TestEveryFindingHasWords checks the line that the terminal shows for each finding that the
// daemon knows, and that the daemon's text is for those that cannot be put into words.
func TestEveryFindingHasWords(t *testing.T) {
	l, o := causeOrder()
	const coins = "1000000000000000"
	lines := map[string]struct {
		data map[string]string
		want string
	}{
		"gas_insufficient":     {map[string]string{"missing": coins, "needed": "2" + coins[1:], "balance": "0"}, "You need 0.001 ETH more for the network fee: up to 0.002 ETH is needed, you have 0 ETH."},
		"gas_ceiling":          {map[string]string{"max": coins, "ceiling": "2"}, "The network fee could reach 0.001 ETH, above the limit of 0.000000000000000002 ETH on this network. Wait for a lower fee."},
		"gas_excessive":        {map[string]string{"expected": coins, "value": coins}, "The network fee is more than half of what you swap: 0.001 ETH for a swap worth 0.001 ETH. This is typical of scams."},
		"value_unknown":        {nil, "Swapkeep does not know what this swap is worth, so it cannot tell whether the network fee is too high."},
		"price_unknown":        {nil, "Swapkeep has no price of its own for this pair, so it cannot tell whether the offer is fair."},
		"price_impact":         {map[string]string{"offered": "1500000", "own": "2000000"}, "The offer is 1.5 USDC.e. By Swapkeep's own price it should be 2 USDC.e."},
		"output_unverified":    {map[string]string{"token": string(usdcOne)}, "The token you would receive (" + string(usdcOne) + ") is on no list that Swapkeep trusts. Anyone can create a token, give it any name and fake a market for it."},
		"output_lookalike":     {map[string]string{"token": string(usdcOne), "imitates": string(usdcBase)}, "The token you would receive (" + string(usdcOne) + ") uses the name of another token (" + string(usdcBase) + "). It is not that token. This is typical of scams."},
		"slippage_low":         {nil, "Slippage is very low: the swap may fail and still cost the network fee."},
		"slippage_high":        {nil, "Slippage is high: you may receive far less than quoted."},
		"wraps_first":          {map[string]string{"wrapped": string(usdcOne)}, "Your coin is wrapped first, in a separate transaction. It stays wrapped if the order does not fill."},
		"settlement_trusted":   {map[string]string{"trustedTo": "relay_router"}, "You send the amount and trust " + messages.Trusted("relay_router") + " to settle the swap. At worst you lose this amount and the network fee."},
		"not_simulated":        {nil, "The last step can be simulated only after you sign what comes before it. Swapkeep does not sign it unless the simulation shows what you accept here."},
		"fallback_used":        {map[string]string{"offer": "1", "reason": "would_revert"}, "The offer you selected is not possible now (Simulation failed: the swap would not succeed). This is the provider's next offer; review it again."},
		"minimum_lowered":      {map[string]string{"accepted": "2000000", "proposed": "1500000"}, "You would receive less: at least 1.5 USDC.e instead of 2 USDC.e."},
		"ceiling_raised":       {map[string]string{"accepted": coins, "proposed": "2" + coins[1:]}, "The network fee could be higher: up to 0.002 ETH instead of 0.001 ETH."},
		"fee_raised":           {map[string]string{"accepted": "20", "proposed": "45"}, "The fee would be higher: 0.45 % instead of 0.2 %."},
		"isolated_account":     {map[string]string{"extra": coins, "extraUSD": "0.31"}, "Made from a throwaway account: about 0.31 US dollars more. Swapkeep cannot decode the call, so an account that owns nothing but this amount and its network fee makes it. At worst it takes those two; what is left comes back by itself."},
		"decimals_unconfirmed": {map[string]string{"amountIn": "7", "minOut": "5", "tokens": string(usdcBase)}, "The amounts shown may be wrong by powers of ten: only a token list, the provider or a single host reported the decimals of " + string(usdcBase) + ". In base units you pay 7 and receive at least 5."},
	}
	i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == "FindingCode" })
	for _, code := range append(protocol.Vocabularies[i].Words, "too_wet") {
		line, known := lines[code]
		if !known {
			line.want = "so it is"
		}
		if got := l.findingText(t.Context(), protocol.Finding{Code: code, Text: "so it is", Data: line.data}, o.Terms); got != line.want {
			t.Errorf("%s: %q", code, got)
		}
	}
	if got := l.findingText(t.Context(), protocol.Finding{Code: "isolated_account", Data: map[string]string{"extra": coins}}, o.Terms); !strings.HasPrefix(got, "Made from a throwaway account: 0.001 ETH more.") {
		t.Errorf("a coin without a price: %q", got)
	}
	for name, data := range map[string]map[string]string{"absent": {"accepted": "20"}, "none": {"accepted": "20", "proposed": "much"}} {
		if got := l.findingText(t.Context(), protocol.Finding{Code: "fee_raised", Text: "so it is", Data: data}, o.Terms); got != "so it is" {
			t.Errorf("a figure that is %s: %q", name, got)
		}
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
