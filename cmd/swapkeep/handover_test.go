package main

import (
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
)

// The review says to whom the input is handed and who may settle the order.
func TestEffectsThatOthersSettle(t *testing.T) {
	const usdc, contract = protocol.Address("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), protocol.Address("0x4cD00E387622C35bDDB9b4c962C136462338BC31")
	l := &daemonConn{tokens: map[tokenID]protocol.Token{{1, usdc}: {Symbol: "USDC", Decimals: 6, Address: usdc}}}
	w := reviewer{daemonConn: l, ctx: t.Context()}
	spends := []protocol.Spend{{Token: usdc, Amount: "25000000"}}
	for want, e := range map[string]protocol.Effect{
		"pays 25 USDC, unverifiable data, settlement relies on X, via ":         {Kind: "opaque", TrustedTo: "X"},
		"pays 25 USDC, deposit, settlement relies on X, via ":                   {Kind: "deposit", TrustedTo: "X"},
		"pays 25 USDC, may be settled by " + string(contract) + " only, until ": {Kind: "order", Settler: contract, Deadline: time.Unix(1_800_000_000, 0)},
	} {
		e.ChainID, e.Spends, e.Target = 1, spends, contract
		if said, err := w.effect(e); err != nil || !strings.HasPrefix(said, want) {
			t.Errorf("%q, %v; want %q", said, err, want)
		}
	}
}
