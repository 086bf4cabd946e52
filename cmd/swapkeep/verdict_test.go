package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
)

// TestVerdictFacts: the whole proof of an end is printed, and the network fee is that of
// the account's own transaction, never a filler's.
func TestVerdictFacts(t *testing.T) {
	l := &daemonConn{networks: map[uint64]protocol.Network{1: {ChainID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18}, 10: {ChainID: 10, Name: "OP Mainnet", Symbol: "ETH", Decimals: 18}},
		tokens: map[tokenID]protocol.Token{{1, "0xdai"}: {Symbol: "DAI", Decimals: 2}}}
	mine, theirs := protocol.Hash("0x01"), protocol.Hash("0x02")
	o := protocol.Order{Terms: protocol.Terms{Account: "0xme", SrcChainID: 1}, Steps: []protocol.Step{{Tx: mine}}, Reason: "so it is", Verdict: &protocol.Verdict{
		State: "filled", ProvenBy: "arrival", Sources: "two_hosts", Receipt: "recomputed", Spent: &protocol.Spend{Token: "0xdai", Amount: "1250"},
		Evidence: &protocol.Evidence{ChainID: 10, Tx: theirs, Block: 7, Depth: 5, From: "0xfiller", FeePaid: "1000000000000000000"},
		Deposit:  &protocol.Evidence{ChainID: 1, Tx: mine, Block: 3, Depth: 9, From: "0xme", FeePaid: "2000000000000000000"},
		Logs:     []protocol.LogRef{{ChainID: 10, LogIndex: 2}, {ChainID: 10, LogIndex: -1}, {ChainID: 10, LogIndex: -1, BalanceIncrease: true}},
		Absence:  &protocol.Absence{ChainID: 1, From: 5, Through: 9, Time: time.Unix(0, 0), Hosts: []string{"a", "b"}},
	}}
	facts, err := l.verdictFacts(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(facts)
	for _, want := range []string{
		"[reason so it is]", "[network fee 2 ETH]", "[proven by A transaction that names this order paid the recipient after your deposit.]", "[proof 0x02, block 7, 5 deep]", "[deposit 0x01, block 3, 9 deep]",
		"[counts log 3 of it, the ETH sent with it, what its block added to the balance, for this order only]", "[searched Ethereum, blocks 5 to 9 (", ", by a and b: nothing]", "[sources two or more RPC hosts agree]", "[receipts the block's receipts were recomputed]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	o.Verdict.Deposit, o.Steps = nil, nil
	if ownFee(o) != nil {
		t.Error("a filler's fee is shown as ours")
	}
	o.Verdict.Evidence.From = "0xme"
	if ownFee(o) != o.Verdict.Evidence {
		t.Error("our own fee is not shown")
	}
	if got := claimText(protocol.Claim{State: "failed", ProviderStatus: "failure", Reason: "no liquidity", Tx: theirs}, "bridge"); got != "Relay reports: failed. Provider's message: “failure: no liquidity” Transaction 0x02" {
		t.Errorf("claim: %q", got)
	}
}

// TestReceivedSaysWhere: for a cross-chain swap the network on which the payment or
// refund arrived is printed.
func TestReceivedSaysWhere(t *testing.T) {
	l := &daemonConn{networks: map[uint64]protocol.Network{1: {ChainID: 1, Name: "Ethereum"}, 10: {ChainID: 10, Name: "OP Mainnet"}},
		tokens: map[tokenID]protocol.Token{{1, "0xdai"}: {Symbol: "DAI", Decimals: 2}, {10, "0xdai"}: {Symbol: "DAI", Decimals: 2}}}
	for _, c := range []struct {
		dst         uint64
		state, want string
	}{{10, "filled", "12.5 DAI on OP Mainnet"}, {10, "refunded", "12.5 DAI on Ethereum"}, {1, "filled", "12.5 DAI"}} {
		got, err := l.receivedText(context.Background(), protocol.Order{Terms: protocol.Terms{SrcChainID: 1, DstChainID: c.dst},
			Verdict: &protocol.Verdict{State: c.state, Received: &protocol.Spend{Token: "0xdai", Amount: "1250"}}})
		if err != nil || got != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

// TestKeptText checks where the unspent input of an ended order is said to be.
func TestKeptText(t *testing.T) {
	l := &daemonConn{networks: map[uint64]protocol.Network{1: {ChainID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18}},
		tokens: map[tokenID]protocol.Token{{1, "0xdai"}: {Symbol: "DAI", Decimals: 2}, {1, "0xweth"}: {Symbol: "WETH", Decimals: 2}}}
	terms := protocol.Terms{Provider: "dex", Account: "0xme", SrcChainID: 1, TokenIn: "0xdai", AmountIn: "1250"}
	spent := func(token protocol.Address, amount protocol.Amount) *protocol.Verdict {
		return &protocol.Verdict{Spent: &protocol.Spend{Token: token, Amount: amount}}
	}
	revoke := terms
	revoke.Provider = walletOrders
	for name, c := range map[string]struct {
		order protocol.Order
		want  string
	}{
		"filled":                       {protocol.Order{State: "filled", Terms: terms, Verdict: spent("0xdai", "1250")}, ""},
		"filled, nothing reported":     {protocol.Order{State: "filled", Terms: terms}, ""},
		"refunded":                     {protocol.Order{State: "refunded", Terms: terms}, ""},
		"failed":                       {protocol.Order{State: "failed", Terms: terms}, "Your 12.5 DAI is still in 0xme on Ethereum."},
		"cancelled after the wrap":     {protocol.Order{State: "cancelled", Terms: terms, Wrapped: true}, "Your 12.5 DAI is in 0xme on Ethereum, as wrapped coin. It has the same value; you can swap or unwrap it."},
		"partly filled":                {protocol.Order{State: "filled", Terms: terms, Verdict: spent("0xdai", "1000")}, "Partly filled: you paid 10 DAI; 2.5 DAI stayed in your account."},
		"partly filled of the wrapped": {protocol.Order{State: "filled", Terms: terms, Wrapped: true, Verdict: spent("0xweth", "1000")}, "Partly filled: you paid 10 WETH; 2.5 WETH stayed in your account."},
		"a failed revoke":              {protocol.Order{State: "failed", Terms: revoke}, "Nothing moved. The approval is unchanged."},
	} {
		if got, err := l.keptText(t.Context(), c.order); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestStateText checks the words of states that depend on more than their code.
func TestStateText(t *testing.T) {
	short := &protocol.Verdict{BelowMinimum: true}
	for _, c := range []struct {
		provider string
		state    string
		verdict  *protocol.Verdict
		want     string
	}{
		{"dex", "approving", nil, "Approving"}, {walletOrders, "approving", nil, "Revoking the approval"},
		{"dex", "filled", nil, "Received"}, {"dex", "filled", short, "Received less"}, {walletOrders, "filled", nil, "Revoked"},
		{"dex", "refunded", short, "Refunded less"}, {"dex", "dancing", nil, "dancing"},
	} {
		o := protocol.Order{State: c.state, Terms: protocol.Terms{Provider: c.provider}, Verdict: c.verdict}
		if got := stateText(o); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.state, c.provider, got, c.want)
		}
	}
}

// TestClaimText checks that a claim is said with its words, and a newer daemon's state by its code.
func TestClaimText(t *testing.T) {
	for want, c := range map[string]protocol.Claim{
		"Relay reports: completed. Transaction 0x01": {State: "filled", Tx: "0x01"},
		"dancing": {State: "dancing"},
	} {
		if got := claimText(c, "bridge"); got != want {
			t.Errorf("claim %+v: %q, want %q", c, got, want)
		}
	}
}
